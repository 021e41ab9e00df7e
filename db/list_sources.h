/* What the long lists are selected from: the tables, columns and texts of each; of db/list*.c alone. */
#ifndef DB_LIST_SOURCES_H
#define DB_LIST_SOURCES_H

#include "db/list_filter.h"

enum {
    DB_LIST_SQL_MAX = 4096,
    DB_LIST_BARS_MAX = DB_LIST_SQL_MAX / 4,
    DB_LIST_TEXTS_MAX = 9, /* that a filter looks into */
};

struct db_list_column {
    const char *name, *sql;   /* sql: null for no value */
    enum db_list_value value; /* sorted the greatest first, but texts */
    const char *shown;        /* sql: the words that a filter's "=" looks into; NULL: those of `sql` */
};

struct db_list_source {
    const char *from;  /* r: with the number r.id */
    const char *total; /* of all rows of it */
    struct {
        const char *sql;               /* may have the pattern, "%s" */
        bool (*can)(const char *text); /* NULL, or: can it have this text at all? */
        const char *named;             /* NULL, or: the same, whether it finds a row there */
    } words[DB_LIST_TEXTS_MAX];        /* what a filter looks into */
    bool by_number;                    /* column 0 is the number */
    const struct db_list_column *columns;
    int n;
    const char *number; /* SQL: a row's own number, "#883"; NULL: r.id */
};

extern const struct db_list_source db_list_sources[DB_LISTS];

#define DB_LIST_NAMED " LEFT JOIN symbols s ON s.id = r.symbol LEFT JOIN accounts a ON a.id = r.account"
#define DB_LIST_TRIPS_FROM(trips) \
    trips " r" DB_LIST_NAMED " LEFT JOIN fills f ON f.id = r.id LEFT JOIN orders o ON o.id = f.order_id"
#define DB_LIST_EXIT_REASON "coalesce(nullif(o.tag, ''), iif(o.by_hand, 'by hand', o.type))"

/* What the bars of the query's symbol and interval are selected from: the columns of record/market.h's bars,
 * and `id`; of one table, whose key then is the order of numbers. 0 or -errno. */
int db_list_select_bars(struct db_reader *reader, const struct db_list_query *query,
                        char ret[static DB_LIST_BARS_MAX]);

#endif
