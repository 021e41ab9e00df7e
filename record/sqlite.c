#include "record/sqlite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exchange/decimal.h"

enum { PARAMETER_MAX = 64 };

static void bind_volume(sqlite3_stmt *stmt, int at, const struct record_field *field, const void *row)
{
    char text[DECIMAL_TEXT_MAX];
    int128_t units;
    memcpy(&units, (const char *)row + field->offset, sizeof units);
    decimal_format(units, 0, text);
    sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_value(sqlite3_stmt *stmt, int at, const struct record_field *field, const void *row,
                       const struct record_ids *ids)
{
    int64_t number = record_field_number(field, row);
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_STRING:
        sqlite3_bind_text(stmt, at, record_field_text(field, row), -1, SQLITE_STATIC);
        return;
    case RECORD_VOLUME:
        bind_volume(stmt, at, field, row);
        return;
    case RECORD_WORD:
        sqlite3_bind_text(stmt, at, record_field_word(field, row), -1, SQLITE_STATIC);
        return;
    case RECORD_HASH:
        sqlite3_bind_blob(stmt, at, (const char *)row + field->offset, (int)field->size, SQLITE_STATIC);
        return;
    case RECORD_SYMBOL:
        number = ids->symbol_id(ids->ctx, (int)number);
        break;
    default:
        break;
    }
    bool none = field->kind == RECORD_ACCOUNT ? number < 0
                : field->kind == RECORD_SYMBOL
                    ? number == 0
                    : (field->flags & RECORD_NULLABLE) == RECORD_NULLABLE && record_field_none(field, row);
    if (none)
        sqlite3_bind_null(stmt, at);
    else if (field->kind == RECORD_REAL)
        sqlite3_bind_double(stmt, at, record_field_real(field, row));
    else
        sqlite3_bind_int64(stmt, at, number);
}

void record_sqlite_places(sqlite3_stmt *stmt, const struct record *record, struct record_places *ret)
{
    ret->record = record;
    for (int i = 0; i < record->n; i++) {
        char name[PARAMETER_MAX];
        snprintf(name, sizeof name, ":%s", record->fields[i].column);
        ret->at[i] = (uint8_t)sqlite3_bind_parameter_index(stmt, name);
    }
}

void record_sqlite_bind_at(sqlite3_stmt *stmt, const struct record_places *places, const void *row,
                           const struct record_ids *ids)
{
    for (int i = 0; i < places->record->n; i++)
        if (places->at[i] > 0)
            bind_value(stmt, places->at[i], &places->record->fields[i], row, ids);
}

void record_sqlite_bind(sqlite3_stmt *stmt, const struct record *record, const void *row,
                        const struct record_ids *ids)
{
    struct record_places places;
    record_sqlite_places(stmt, record, &places);
    record_sqlite_bind_at(stmt, &places, row, ids);
}

static const char *column_text(sqlite3_stmt *stmt, int at)
{
    const char *text = (const char *)sqlite3_column_text(stmt, at);
    return text ? text : "";
}

static bool read_word(sqlite3_stmt *stmt, int at, const struct record_field *field, void *row)
{
    int value = record_words_parse(field->words, column_text(stmt, at));
    record_field_set_number(field, row, value < 0 ? 0 : value);
    return value >= 0;
}

static bool read_hash(sqlite3_stmt *stmt, int at, const struct record_field *field, void *row)
{
    const void *blob = sqlite3_column_blob(stmt, at);
    if (!blob || (size_t)sqlite3_column_bytes(stmt, at) != field->size)
        return false;
    memcpy((char *)row + field->offset, blob, field->size);
    return true;
}

/* An account or a symbol: null is -1. */
static bool read_reference(sqlite3_stmt *stmt, int at, const struct record_field *field, void *row,
                           const struct record_ids *ids)
{
    int64_t id = sqlite3_column_int64(stmt, at);
    bool null = sqlite3_column_type(stmt, at) == SQLITE_NULL, there = true;
    if (!null && field->kind == RECORD_ACCOUNT && ids && ids->account)
        there = ids->account(ids->ctx, id);
    if (!null && field->kind == RECORD_SYMBOL && ids && ids->symbol)
        there = (id = ids->symbol(ids->ctx, id)) >= 0;
    record_field_set_number(field, row, null || !there ? -1 : id);
    return there;
}

static bool read_volume(sqlite3_stmt *stmt, int at, const struct record_field *field, void *row)
{
    const char *text = column_text(stmt, at);
    int128_t units;
    if (decimal_parse128(text, strlen(text), 0, &units) < 0)
        return false;
    memcpy((char *)row + field->offset, &units, sizeof units);
    return true;
}

/* False where the member cannot hold it. */
static bool read_number(const struct record_field *field, void *row, int64_t number)
{
    record_field_set_number(field, row, number);
    return field->kind == RECORD_BOOL || record_field_number(field, row) == number;
}

static bool read_value(sqlite3_stmt *stmt, int at, const struct record_field *field, void *row,
                       const struct record_ids *ids)
{
    bool null = sqlite3_column_type(stmt, at) == SQLITE_NULL;
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_STRING:
        return record_field_set_text(field, row, column_text(stmt, at));
    case RECORD_REAL:
        record_field_set_real(field, row, null ? NAN : sqlite3_column_double(stmt, at));
        return true;
    case RECORD_VOLUME:
        return read_volume(stmt, at, field, row);
    case RECORD_WORD:
        if (null && record_field_is(field, RECORD_NULLABLE)) {
            record_field_set_number(field, row, 0);
            return true;
        }
        return read_word(stmt, at, field, row);
    case RECORD_HASH:
        return read_hash(stmt, at, field, row);
    case RECORD_ACCOUNT:
    case RECORD_SYMBOL:
        return read_reference(stmt, at, field, row, ids);
    default:
        return read_number(
            field, row, null && record_field_is(field, RECORD_UNKNOWN) ? -1 : sqlite3_column_int64(stmt, at));
    }
}

const struct record_field *record_sqlite_read(sqlite3_stmt *stmt, const struct record *record, void *row,
                                              const struct record_ids *ids)
{
    for (int i = 0; i < record->n; i++)
        if (!read_value(stmt, i, &record->fields[i], row, ids))
            return &record->fields[i];
    return NULL;
}

void record_sqlite_params(sqlite3_stmt *stmt, const struct record_param *params)
{
    int n = sqlite3_bind_parameter_count(stmt);
    for (int at = 1; params && params->kind != RECORD_PARAMS_END && at <= n; at++, params++)
        switch (params->kind) {
        case RECORD_PARAM_REAL:
            sqlite3_bind_double(stmt, at, params->real);
            break;
        case RECORD_PARAM_TEXT:
            sqlite3_bind_text(stmt, at, params->bytes, -1, SQLITE_STATIC);
            break;
        case RECORD_PARAM_BLOB:
            sqlite3_bind_blob(stmt, at, params->bytes, (int)params->number, SQLITE_STATIC);
            break;
        default:
            sqlite3_bind_int64(stmt, at, params->number);
        }
}

static void take_bytes(sqlite3_stmt *stmt, int at, const struct record_into *into)
{
    const void *blob = sqlite3_column_blob(stmt, at);
    if (blob && (size_t)sqlite3_column_bytes(stmt, at) == into->size)
        memcpy(into->at, blob, into->size);
}

void record_sqlite_take(sqlite3_stmt *stmt, const struct record_into *into)
{
    for (int at = 0; into && into->kind != RECORD_INTO_END; at++, into++)
        switch (into->kind) {
        case RECORD_INTO_INT:
            *(int *)into->at = sqlite3_column_int(stmt, at);
            break;
        case RECORD_INTO_BOOL:
            *(bool *)into->at = sqlite3_column_int(stmt, at) != 0;
            break;
        case RECORD_INTO_REAL:
            *(double *)into->at =
                sqlite3_column_type(stmt, at) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(stmt, at);
            break;
        case RECORD_INTO_STRING:
            *(const char **)into->at = (const char *)sqlite3_column_text(stmt, at);
            break;
        case RECORD_INTO_CHARS:
            snprintf(into->at, into->size, "%s", column_text(stmt, at));
            break;
        case RECORD_INTO_BYTES:
            take_bytes(stmt, at, into);
            break;
        default:
            *(int64_t *)into->at = sqlite3_column_int64(stmt, at);
        }
}

const void *record_sqlite_blob(sqlite3_stmt *stmt, const struct record *record, size_t *ret_size)
{
    const void *blob = sqlite3_column_blob(stmt, record->n);
    *ret_size = (size_t)sqlite3_column_bytes(stmt, record->n);
    return blob;
}

int record_sqlite_ask(sqlite3 *db, const char *sql, const struct record_param *params,
                      const struct record_into *into)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    record_sqlite_params(stmt, params);
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        record_sqlite_take(stmt, into);
    int end = sqlite3_finalize(stmt);
    return end == SQLITE_OK ? rc : end;
}
