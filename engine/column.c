#include "engine/column.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

enum { CAP_FIRST = 16 };

/* ---- values ---- */

int engine_column_sound(const struct column_value *value, char err[static COLUMN_ERROR_MAX])
{
    char of[CLOCK_TEXT_MAX], seen[CLOCK_TEXT_MAX];
    if (!isfinite(value->value))
        return fail_with(-EINVAL, err, COLUMN_ERROR_MAX, "the value is not finite: a number is needed");
    if (value->timestamp_ns <= 0 || value->published_ns <= 0)
        return fail_with(-EINVAL, err, COLUMN_ERROR_MAX, "its times are needed, after 1970");
    if (value->published_ns >= value->timestamp_ns)
        return 0;
    return fail_with(-EINVAL, err, COLUMN_ERROR_MAX,
                     "published at %s, before its timestamp %s: at that time or later is right",
                     clock_utc_text(value->published_ns, seen), clock_utc_text(value->timestamp_ns, of));
}

int engine_column_follows(const struct column_value *before, const struct column_value *value,
                          char err[static COLUMN_ERROR_MAX])
{
    char last[CLOCK_TEXT_MAX], now[CLOCK_TEXT_MAX];
    if (value->published_ns <= before->published_ns)
        return fail_with(-EINVAL, err, COLUMN_ERROR_MAX,
                         "published at %s: the one before was published at %s, and each is later than that",
                         clock_utc_text(value->published_ns, now),
                         clock_utc_text(before->published_ns, last));
    if (value->timestamp_ns < before->timestamp_ns)
        return fail_with(-EINVAL, err, COLUMN_ERROR_MAX,
                         "its timestamp %s is before %s, that of the one before: times rise",
                         clock_utc_text(value->timestamp_ns, now),
                         clock_utc_text(before->timestamp_ns, last));
    return 0;
}

const struct column_value *engine_column_newest(const struct column_value *values, size_t n, int64_t end_ns)
{
    size_t low = 0, high = n; /* those before low were published by then, those from high on later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (values[middle].published_ns <= end_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &values[low - 1] : NULL;
}

double engine_column_seen(const struct column_source *source, const struct column_value *newest,
                          int64_t end_ns)
{
    if (!newest || (source->age_ns > 0 && end_ns - newest->published_ns > source->age_ns))
        return NAN;
    return newest->value;
}

/* ---- in the engine ---- */

static struct column_values *find(const struct engine *engine, int symbol, const char *name)
{
    for (uint32_t i = 0; i < engine->n_columns; i++)
        if (engine->columns[i].symbol == symbol && strcmp(engine->columns[i].name, name) == 0)
            return &engine->columns[i];
    return NULL;
}

int engine_column_check(const struct engine *engine, const struct event_column *event,
                        char err[static COLUMN_ERROR_MAX])
{
    if (event->symbol < -1 || event->symbol >= engine->n_symbols)
        return fail_with(-EINVAL, err, COLUMN_ERROR_MAX, "there is no such symbol");
    if (!memchr(event->name, '\0', sizeof event->name) || !strategy_column_name(event->name))
        return fail_with(-EINVAL, err, COLUMN_ERROR_MAX,
                         "a column's name is a letter, then letters, digits and _, at most %d",
                         COLUMN_NAME_MAX - 1);
    int r = engine_column_sound(&event->value, err);
    const struct column_values *known = find(engine, event->symbol, event->name);
    if (r == 0 && known && known->n > 0)
        r = engine_column_follows(&known->values[known->n - 1], &event->value, err);
    if (r < 0)
        return r;
    if (!known && engine->n_columns == COLUMN_SERIES_MAX)
        return fail_with(-E2BIG, err, COLUMN_ERROR_MAX,
                         "there are %d columns of symbols, the most that are kept", COLUMN_SERIES_MAX);
    if (known && known->n == COLUMN_VALUES_MAX && known->values[1].published_ns > engine->recv_ns)
        return fail_with(-ENOSPC, err, COLUMN_ERROR_MAX,
                         "%d of its values are not published yet, the most that are kept: give it later",
                         COLUMN_VALUES_MAX - 1);
    return 0;
}

static struct column_values *add(struct engine *engine, int symbol, const char *name)
{
    struct column_values *moved = reallocarray(engine->columns, engine->n_columns + 1, sizeof *moved);
    if (!moved)
        return NULL;
    engine->columns = moved;
    struct column_values *to = &moved[engine->n_columns++];
    *to = (struct column_values){.symbol = symbol};
    memcpy(to->name, name, strnlen(name, sizeof to->name - 1));
    return to;
}

int engine_column_push(struct engine *engine, int symbol, const char *name, const struct column_value *value)
{
    struct column_values *to = find(engine, symbol, name);
    if (!to && !(to = add(engine, symbol, name)))
        return -ENOMEM;
    if (to->n == COLUMN_VALUES_MAX)
        memmove(to->values, to->values + 1, --to->n * sizeof *to->values);
    if (to->n == to->cap) {
        uint32_t cap = to->cap ? 2 * to->cap : CAP_FIRST;
        struct column_value *moved = reallocarray(to->values, cap, sizeof *moved);
        if (!moved)
            return -ENOMEM;
        to->values = moved;
        to->cap = cap;
    }
    to->values[to->n++] = *value;
    return 0;
}

int engine_column_event(struct engine *engine, const struct event *event)
{
    char why[COLUMN_ERROR_MAX];
    const struct event_column *column = &event->column;
    if (engine_column_check(engine, column, why) < 0)
        return -EINVAL;
    return engine_column_push(engine, column->symbol, column->name, &column->value);
}

int64_t engine_column_last(const struct engine *engine, int symbol, const char *name)
{
    const struct column_values *known = find(engine, symbol, name);
    return known && known->n > 0 ? known->values[known->n - 1].published_ns : 0;
}

void engine_column_look(const struct engine *engine, int symbol, int64_t end_ns, struct strategy_slot *slot)
{
    for (size_t i = 0; i < slot->n_columns; i++) {
        struct slot_column *column = &slot->columns[i];
        const struct column_value *newest = NULL;
        for (int of = -1; of <= symbol; of += symbol + 1) { /* of every symbol, and its own, which wins */
            const struct column_values *known = find(engine, of, column->source.name);
            const struct column_value *at =
                known ? engine_column_newest(known->values, known->n, end_ns) : NULL;
            if (at && (!newest || at->published_ns >= newest->published_ns))
                newest = at;
        }
        column->now = engine_column_seen(&column->source, newest, end_ns);
    }
}

void engine_column_move(struct engine *engine, const int *to)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < engine->n_columns; i++) {
        struct column_values column = engine->columns[i];
        if (column.symbol >= 0)
            column.symbol = to[column.symbol];
        if (column.symbol >= 0 || engine->columns[i].symbol < 0)
            engine->columns[kept++] = column;
        else
            free(column.values);
    }
    engine->n_columns = kept;
}

void engine_column_finish(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->n_columns; i++)
        free(engine->columns[i].values);
    free(engine->columns);
    engine->columns = NULL;
    engine->n_columns = 0;
}

void engine_column_each(const struct engine *engine, void (*of)(void *ctx, const char *name), void *ctx)
{
    for (int a = 0; a < engine->n_accounts; a++) {
        const struct strategy_slot *slot = engine->runners[a].slots;
        for (size_t i = 0; slot && i < slot->n_columns; i++)
            of(ctx, slot->columns[i].source.name);
    }
}
