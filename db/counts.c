#include "db/counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/sqlite.h"

#define NAME(at, counted, table, ...) [DB_COUNT_##counted] = table,
#define NO_NAME(...)
static const char *const names[DB_COUNTED] = {DB_TABLES(NAME, NO_NAME, NO_NAME)};

enum db_counted db_counted_find(const char *table)
{
    int i = 0;
    while (i < DB_COUNTED && strcmp(names[i], table) != 0)
        i++;
    return (enum db_counted)i;
}

void db_counts_format(const struct db_counts *counts, char text[static DB_COUNTS_TEXT])
{
    int n = 0;
    for (int i = 0; i < DB_COUNTED; i++)
        n += snprintf(text + n, DB_COUNTS_TEXT - (size_t)n, "%s%s %" PRId64, i == 0 ? "" : ", ", names[i],
                      counts->rows[i]);
}

bool db_counts_parse(const char *text, struct db_counts *ret)
{
    struct db_counts counts;
    char again[DB_COUNTS_TEXT];
    const char *at = text;
    for (int i = 0; i < DB_COUNTED; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(at, names[i], len) != 0 || sscanf(at + len, "%" SCNd64, &counts.rows[i]) != 1)
            return false;
        at += strcspn(at, ",");
        at += i + 1 < DB_COUNTED && strlen(at) > 2 ? 2 : 0;
    }
    db_counts_format(&counts, again); /* there is one spelling */
    if (strcmp(again, text) != 0)
        return false;
    *ret = counts;
    return true;
}

int db_counts_take(sqlite3 *db, struct db_counts *ret)
{
    struct db_counts counts;
    for (int i = 0; i < DB_COUNTED; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", names[i]);
        int rc = record_sqlite_ask(db, sql, NULL, RECORD_INTO(&counts.rows[i]));
        if (rc != SQLITE_ROW)
            return rc;
    }
    *ret = counts;
    return SQLITE_OK;
}
