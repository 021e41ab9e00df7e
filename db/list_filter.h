/* What a filter of a list means, struct db_list_query: in memory, and as a condition of SQL. */
#ifndef DB_LIST_FILTER_H
#define DB_LIST_FILTER_H

#include "db/list.h"

/* The parts of "!symbol=BTC", which may be "symbol!=BTC". */
struct db_list_filter {
    bool inverse;      /* it looks for what has not the words */
    bool equal;        /* "<=" or ">=" */
    char op;           /* '=', '<' or '>'; 0: there is none */
    const char *words; /* of the filter; "": any row */
    const char *value; /* the words after it; NULL: there is none */
    size_t name;       /* bytes of the words before it */
};

/* What a column's values are, and how a filter has them: numbers as they are, of a percentage with "%" after
 * it or not; a change in percent that is shown rounded, of which "=" finds what is shown so; ns since 1970;
 * seconds, "94", or as they are shown, "94s", "12m", "10h", "3d", of which "=" finds what is shown so. */
enum db_list_value {
    DB_LIST_TEXT,
    DB_LIST_NUMBER,
    DB_LIST_PERCENT,
    DB_LIST_CHANGE,
    DB_LIST_TIME,
    DB_LIST_SPAN,
};

struct db_list_filter db_list_filter_parse(const char *text);

/* Is it the column of this name that the words name? */
bool db_list_filter_names(const struct db_list_filter *filter, const char *column);

/* Could the words before "=" be a column's name at all? Others are a text like any. */
bool db_list_filter_named(const struct db_list_filter *filter);

/* What is wrong with the filter's value for a column of such values; NULL: nothing. */
const char *db_list_filter_wrong(const struct db_list_filter *filter, enum db_list_value value);

/* Is a number above or below the filter's, or equal to it? Of any value but texts and times. */
bool db_list_filter_compares(const struct db_list_filter *filter, enum db_list_value value, double number);

/* A word before "=", "<" or ">" that is no column's name is an error that says which there are; a value that
 * nothing can be above, below or equal to is one, too. 0 or -ERANGE. */
int db_list_filter_check(struct db_reader *reader, enum db_list list, const char *text);

enum {
    DB_LIST_PATTERN_MAX = 2 * DB_LIST_WORDS_MAX + 3 /* a text, each character escaped, between two % */
};

/* The condition of a filter, whose pattern or number is parameter `number` and goes to `bound`. 0 or
 * -errno. */
int db_list_filter_put(struct db_reader *reader, const struct db_list_query *query, const char *text,
                       int number, char *sql, size_t size, char bound[static DB_LIST_PATTERN_MAX]);

#endif
