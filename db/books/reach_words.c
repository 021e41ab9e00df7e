/* What rests on the database alone, in words and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "db/books/reach.h"
#include "record/json.h"

static const char *const why_names[DB_REACH_WHYS] = {
    [DB_REACH_RETENTION] = "retention", [DB_REACH_HOLE] = "hole",       [DB_REACH_BEFORE] = "before",
    [DB_REACH_UNLOGGED] = "unlogged",   [DB_REACH_MISSING] = "missing",
};
static const char *const row_names[DB_REACH_TABLES] = {
    [DB_REACH_LEDGER] = "ledger rows", [DB_REACH_FILLS] = "fills", [DB_REACH_ORDERS] = "orders"};

const char *db_reach_why_name(enum db_reach_why why)
{
    return why_names[why];
}

static bool has(const struct db_reach_range *range, int table)
{
    return range->rows[table].last >= range->rows[table].first;
}

/* "ledger rows 1..812, fills 1..45 and orders 1..30" */
static size_t write_rows(const struct db_reach_range *range, char *to, size_t size)
{
    int left = 0;
    size_t at = 0;
    for (int t = 0; t < DB_REACH_TABLES; t++)
        left += has(range, t);
    for (int t = 0, n = left; t < DB_REACH_TABLES; t++) {
        if (!has(range, t))
            continue;
        at += (size_t)snprintf(to + at, size - at, "%s%s %" PRIu64 "..%" PRIu64,
                               left == n   ? ""
                               : left == 1 ? " and "
                                           : ", ",
                               row_names[t], range->rows[t].first, range->rows[t].last);
        left--;
    }
    return at;
}

static void write_why(const struct db_reach_range *range, char *to, size_t size)
{
    unsigned long long from = range->from_seq, upto = range->to_seq;
    switch (range->why) {
    case DB_REACH_RETENTION:
        snprintf(to, size, "retention removed events %llu to %llu from the log", from, upto);
        break;
    case DB_REACH_HOLE:
        snprintf(to, size, "events %llu to %llu were never recorded, as the disk refused them", from, upto);
        break;
    case DB_REACH_BEFORE:
        snprintf(to, size, "events %llu to %llu were missing before what is removed was noted", from, upto);
        break;
    case DB_REACH_UNLOGGED:
        snprintf(to, size, "it was written without an event log");
        break;
    default:
        snprintf(to, size, "events %llu to %llu are missing from the log, and retention did not remove them",
                 (unsigned long long)range->lost_from, (unsigned long long)range->lost_to);
    }
}

void db_reach_rows_words(const struct db_reach_range *range, char ret[static DB_REACH_WORDS_MAX])
{
    ret[0] = '\0';
    write_rows(range, ret, DB_REACH_WORDS_MAX);
}

void db_reach_words(const struct db_reach_range *range, char ret[static DB_REACH_WORDS_MAX])
{
    size_t at = write_rows(range, ret, DB_REACH_WORDS_MAX);
    at += (size_t)snprintf(ret + at, DB_REACH_WORDS_MAX - at, " rest on the database alone: ");
    write_why(range, ret + at, DB_REACH_WORDS_MAX - at);
}

json_t *db_reach_json(const struct db_reach *reach)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < reach->n; i++) {
        const struct db_reach_range *range = &reach->ranges[i];
        for (int t = 0; t < DB_REACH_TABLES; t++)
            if (has(range, t))
                json_array_append_new(
                    list, json_pack("{s:s, s:I, s:I, s:I, s:I, s:s}", "table", db_reach_names[t], "first",
                                    (json_int_t)range->rows[t].first, "last", (json_int_t)range->rows[t].last,
                                    "from_seq", (json_int_t)range->from_seq, "to_seq",
                                    (json_int_t)range->to_seq, "why", why_names[range->why]));
    }
    return list;
}
