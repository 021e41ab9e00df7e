#include "daemon/universe_look.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader.h"

/* A symbol's bars as a rule measures them. */
struct taken_bars {
    const struct universe_symbol *symbol;
    int64_t *open_ns;
    double *close, *traded;
    size_t n, capacity;
    double price; /* of the last, as it was traded */
    bool failed;  /* there is no memory */
};

static bool grow(struct taken_bars *taken)
{
    const size_t capacity = taken->capacity ? 2 * taken->capacity : 4096;
    int64_t *open_ns = reallocarray(taken->open_ns, capacity, sizeof *open_ns);
    taken->open_ns = open_ns ? open_ns : taken->open_ns;
    double *close = reallocarray(taken->close, capacity, sizeof *close);
    taken->close = close ? close : taken->close;
    double *traded = reallocarray(taken->traded, capacity, sizeof *traded);
    taken->traded = traded ? traded : taken->traded;
    taken->failed = !open_ns || !close || !traded;
    taken->capacity = taken->failed ? taken->capacity : capacity;
    return !taken->failed;
}

/* In present shares, of which price times volume is what it was. */
static void take_bar(void *ctx, const struct bar *bar)
{
    struct taken_bars *taken = ctx;
    if (taken->failed || (taken->n == taken->capacity && !grow(taken)))
        return;
    taken->open_ns[taken->n] = bar->open_ns;
    taken->close[taken->n] = decimal_to_double(bar->close, taken->symbol->price_scale);
    taken->traded[taken->n] =
        taken->close[taken->n] * decimal_to_double(bar->volume, taken->symbol->qty_scale);
    taken->n++;
}

/* The bars that closed in the window, and the one before it, of which changes are counted. 0, -ENOENT: there
 * are none, or -errno. */
static int read_bars(struct db_reader *reader, const struct universe_look *look, struct taken_bars *taken)
{
    const char *name = taken->symbol->name;
    const int64_t before_ns = look->at_ns - look->rule.over_ns - look->interval_ns;
    int64_t from_ns = before_ns;
    int r =
        db_reader_newest_bar(reader, name, look->interval_ns, BAR_VENUE, INT64_MIN, before_ns, 1, &from_ns);
    if (r == 0 || r == -ENOENT)
        r = db_reader_split_bars(reader, name, look->interval_ns, BAR_VENUE, from_ns,
                                 look->at_ns - look->interval_ns, take_bar, taken);
    return taken->failed ? -ENOMEM : r;
}

static void take_price(void *ctx, const struct bar *bar)
{
    struct taken_bars *taken = ctx;
    taken->price = decimal_to_double(bar->close, taken->symbol->price_scale);
}

/* What the bars of the window do not say: when the first of all opened, and the last close as it was traded.
 */
static int measure_more(struct db_reader *reader, const struct universe_look *look, struct taken_bars *taken,
                        double ret[static UNIVERSE_MEASURES])
{
    const char *name = taken->symbol->name;
    int64_t first_ns = 0;
    int r = db_reader_first_bar(reader, name, look->interval_ns, BAR_VENUE, &first_ns);
    if (r == 0 && first_ns < look->at_ns)
        ret[UNIVERSE_AGE] = (double)(look->at_ns - first_ns);
    if (r < 0 || isnan(ret[UNIVERSE_PRICE]))
        return r;
    const int64_t last_ns = taken->open_ns[taken->n - 1];
    r = db_reader_bars(reader, name, look->interval_ns, BAR_VENUE, last_ns, last_ns, take_price, taken);
    ret[UNIVERSE_PRICE] = taken->price;
    return r;
}

/* 0; what there are no bars for is NaN. */
static int measure(struct db_reader *reader, const struct universe_look *look,
                   const struct universe_symbol *symbol, double ret[static UNIVERSE_MEASURES])
{
    struct taken_bars taken = {.symbol = symbol};
    int r = read_bars(reader, look, &taken);
    const struct engine_universe_bars bars = {.n = taken.n,
                                              .interval_ns = look->interval_ns,
                                              .open_ns = taken.open_ns,
                                              .close = taken.close,
                                              .traded = taken.traded,
                                              .price = taken.close};
    engine_universe_measure(&look->rule, &bars, taken.n, look->at_ns, ret);
    if (r == 0)
        r = measure_more(reader, look, &taken, ret);
    free(taken.open_ns);
    free(taken.close);
    free(taken.traded);
    return r == -ENOENT ? 0 : r;
}

static int pick(struct universe_look *look, const double (*measures)[UNIVERSE_MEASURES])
{
    const size_t n = (size_t)look->n;
    bool *in = calloc(n, sizeof *in);
    size_t *order = calloc(n, sizeof *order);
    const int r = in && order ? 0 : -ENOMEM;
    if (r == 0)
        look->n_in = (int)engine_universe_pick(&look->rule, measures, n, in, order);
    for (size_t i = 0; r == 0 && i < n; i++)
        look->symbols[i].in = in[i];
    free(in);
    free(order);
    return r;
}

static int measure_all(struct universe_look *look, struct db_reader *reader)
{
    double(*measures)[UNIVERSE_MEASURES] = calloc((size_t)look->n, sizeof *measures);
    int r = measures ? 0 : -ENOMEM;
    for (int i = 0; r == 0 && i < look->n; i++) {
        r = measure(reader, look, &look->symbols[i], measures[i]);
        const double value = measures[i][engine_universe_first(&look->rule)];
        if (r == 0 && !isnan(value) && !(value <= look->highest)) {
            look->highest = value;
            look->highest_symbol = i;
        }
    }
    if (r == 0)
        r = pick(look, (const double(*)[UNIVERSE_MEASURES])measures);
    free(measures);
    return r;
}

void daemon_universe_look(struct universe_look *look)
{
    struct db_reader *reader;
    char why[DB_ERROR_MAX];
    int r = db_reader_open(look->database, &reader, why, sizeof why);
    if (r == 0) {
        r = look->n > 0 ? measure_all(look, reader) : 0;
        if (r < 0)
            snprintf(why, sizeof why, "%s", r == -ENOMEM ? "out of memory" : db_reader_error(reader));
        db_reader_close(reader);
    }
    look->error[0] = '\0';
    if (r < 0)
        snprintf(look->error, sizeof look->error, UNIVERSE_UNREAD ": %.400s: in and out stay as they were",
                 why);
}

int daemon_universe_look_begin(struct universe_look *look, const struct engine_universe_rule *rule,
                               const char *database, const struct engine *engine, int64_t at_ns)
{
    const int n = engine_symbols(engine);
    struct universe_symbol *symbols = calloc((size_t)n + 1, sizeof *symbols);
    if (!symbols)
        return -ENOMEM;
    for (int s = 0; s < n; s++) {
        const struct symbol *symbol = engine_symbol(engine, s);
        memcpy(symbols[s].name, symbol->name, sizeof symbols[s].name);
        symbols[s].price_scale = symbol->price_scale;
        symbols[s].qty_scale = symbol->qty_scale;
    }
    free(look->symbols);
    *look = (struct universe_look){.rule = *rule,
                                   .interval_ns = engine_interval(engine),
                                   .at_ns = at_ns,
                                   .highest = NAN,
                                   .symbols = symbols,
                                   .n = n};
    snprintf(look->database, sizeof look->database, "%s", database);
    return 0;
}

void daemon_universe_look_finish(struct universe_look *look)
{
    free(look->symbols);
    look->symbols = NULL;
}
