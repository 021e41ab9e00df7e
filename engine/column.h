/* External columns in the engine (strategy/column.h): their values come as events, and each bar sees the
 * newest that was published by its end, of its symbol or of every symbol, whichever was published later.
 * Values may come before they are published; the last COLUMN_VALUES_MAX of each are kept, so that a strategy
 * that starts again on the recent bars sees at them what it would have seen. */
#ifndef ENGINE_COLUMN_H
#define ENGINE_COLUMN_H

#include "engine/engine.h"
#include "engine/event.h"

enum {
    COLUMN_VALUES_MAX = ENGINE_RECENT_BARS_MAX,
    COLUMN_SERIES_MAX = 4096, /* columns, of each of their symbols */
    COLUMN_ERROR_MAX = 256,
};

/* Is it a value? Finite, its times within 1970 and 2262, and not published before what it is of. 0; -EINVAL
 * with one clause. */
int engine_column_sound(const struct column_value *value, char err[static COLUMN_ERROR_MAX]);
/* Does it follow another of the same column and symbol? It is published later, and of no earlier time. */
int engine_column_follows(const struct column_value *before, const struct column_value *value,
                          char err[static COLUMN_ERROR_MAX]);

/* Would engine_handle() take it? 0; -EINVAL; -E2BIG: there are COLUMN_SERIES_MAX of others; -ENOSPC: it may
 * be given later; err: one clause that says what would be right. */
int engine_column_check(const struct engine *engine, const struct event_column *event,
                        char err[static COLUMN_ERROR_MAX]);

/* When the newest value of a column of that symbol was published that the engine has; 0: it has none. */
int64_t engine_column_last(const struct engine *engine, int symbol, const char *name);

/* The name of each column that some account's strategy reads, of its first symbol; again where several do. */
void engine_column_each(const struct engine *engine, void (*of)(void *ctx, const char *name), void *ctx);

/* The newest of n values, by published_ns, that was published by a time; NULL: none. */
const struct column_value *engine_column_newest(const struct column_value *values, size_t n, int64_t end_ns);

/* What a source sees of such a value at the end of a bar; NULL: none. */
double engine_column_seen(const struct column_source *source, const struct column_value *newest,
                          int64_t end_ns);

#endif
