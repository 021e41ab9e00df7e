#include "db/row_hash.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static void spell_plain(sqlite3_str *text, sqlite3_value *value)
{
    const unsigned char *bytes = sqlite3_value_text(value);
    if (bytes)
        sqlite3_str_append(text, (const char *)bytes, sqlite3_value_bytes(value));
}

static void spell(sqlite3_str *text, sqlite3_value *value)
{
    double real;
    uint64_t bits;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        sqlite3_str_appendf(text, "%lld", sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(value);
        memcpy(&bits, &real, sizeof bits);
        sqlite3_str_appendf(text, "r%016llx", (unsigned long long)bits);
        break;
    case SQLITE_TEXT:
        sqlite3_str_appendf(text, "t%d:", sqlite3_value_bytes(value));
        sqlite3_str_append(text, (const char *)sqlite3_value_text(value), sqlite3_value_bytes(value));
        break;
    case SQLITE_BLOB:
        sqlite3_str_appendf(text, "b%d:", sqlite3_value_bytes(value));
        if (sqlite3_value_bytes(value) > 0)
            sqlite3_str_append(text, sqlite3_value_blob(value), sqlite3_value_bytes(value));
        break;
    default:
        sqlite3_str_appendchar(text, 1, 'n');
    }
}

/* The value that a column has in rows from before it existed. */
static bool is_none(sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    return type == SQLITE_NULL || (type == SQLITE_INTEGER && sqlite3_value_int64(value) == 0) ||
           (type == SQLITE_TEXT && sqlite3_value_bytes(value) == 0);
}

static void seal(sqlite3_context *context, int n, sqlite3_value **values)
{
    int rule = n > 0 ? sqlite3_value_int(values[0]) : 0;
    if (rule < 1) {
        sqlite3_result_error(context, "seal(): there is no such rule", -1);
        return;
    }
    sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));
    for (int i = 1; i < n; i++) {
        bool later = rule > 2 && i > rule;
        if (later && is_none(values[i]))
            continue;
        if (later)
            sqlite3_str_appendf(text, "|%d=", i);
        else if (i > 1)
            sqlite3_str_appendchar(text, 1, '|');
        if (rule == 1)
            spell_plain(text, values[i]);
        else
            spell(text, values[i]);
    }
    unsigned char hash[EVP_MAX_MD_SIZE];
    bool failed = sqlite3_str_errcode(text) != SQLITE_OK ||
                  EVP_Digest(sqlite3_str_value(text) ? sqlite3_str_value(text) : "",
                             (size_t)sqlite3_str_length(text), hash, NULL, EVP_sha256(), NULL) != 1;
    sqlite3_free(sqlite3_str_finish(text));
    if (failed)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_blob(context, hash, DB_ROW_HASH_SIZE, SQLITE_TRANSIENT);
}

int db_row_hash_register(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "seal", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                      NULL, seal, NULL, NULL, NULL);
}
