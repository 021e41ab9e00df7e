/* External columns: series of numbers from outside, as funding rates or an index, of which a strategy reads
 * the newest that was published by the end of its bar. An indicator's text names one as "col:NAME", its value
 * itself, or behind an @, "sma:20@col:NAME": the indicator over its values at the bars. With an age,
 * "col:NAME,8h", there is no value where the newest was published longer ago. */
#ifndef STRATEGY_COLUMN_H
#define STRATEGY_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRATEGY_COLUMN_PREFIX "col:"

enum { COLUMN_NAME_MAX = 24 };

struct column_source {
    char name[COLUMN_NAME_MAX]; /* "": it reads no column */
    int64_t age_ns;             /* how long a value holds after it was published; 0: until the next one */
};

/* One value of a column. */
struct column_value {
    int64_t timestamp_ns; /* of what it says */
    int64_t published_ns; /* from then on it is seen */
    double value;
};

/* A letter, then letters, digits and _, at most 23. */
bool strategy_column_name(const char *name);

/* Does the text begin as a column's, "col:"? */
bool strategy_column_is(const char *text);

/* Of such a text. 0; -EINVAL with a clause that says what would be right. */
int strategy_column_parse(const char *text, struct column_source *ret, char *err, size_t err_size);

#endif
