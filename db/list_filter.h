/* What a filter of a list means, struct db_list_query: in memory, and as a condition of SQL. */
#ifndef DB_LIST_FILTER_H
#define DB_LIST_FILTER_H

#include "db/list.h"

/* The parts of "!symbol=BTC". */
struct db_list_filter {
    bool inverse;      /* it looks for what has not the words */
    const char *words; /* of the filter; "": any row */
    const char *value; /* the words after "="; NULL: there is none */
};

struct db_list_filter db_list_filter_parse(const char *text);

/* Is it the column of this name that the words name? */
bool db_list_filter_names(const struct db_list_filter *filter, const char *column);

/* A word before "=" that is no column's name is an error that says which there are. 0 or -ERANGE. */
int db_list_filter_check(struct db_reader *reader, enum db_list list, const char *text);

enum {
    DB_LIST_PATTERN_MAX = 2 * DB_LIST_WORDS_MAX + 3 /* a text, each character escaped, between two % */
};

/* The condition of a filter, whose pattern or number is parameter `number` and goes to `bound`. 0 or
 * -errno. */
int db_list_filter_put(struct db_reader *reader, enum db_list list, const char *text, int number, char *sql,
                       size_t size, char bound[static DB_LIST_PATTERN_MAX]);

#endif
