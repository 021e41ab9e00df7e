/* Bars of a longer interval: from trades those of the daemon's own builder, from shorter bars the same ones,
 * in batches cut anywhere; and what is refused. */
#include "spark/native/papertape_spark.h"

#include <errno.h>

#include "exchange/bar.h"
#include "tests/random.h"
#include "tests/spark/made.h"

enum { TRADES = 6000, SYMBOLS = 3, ALL = TRADES * SYMBOLS, SCALE = 8 };

static struct random rng;
static const char *const symbols[SYMBOLS] = {"A", "B", "BB"};

struct trades {
    const char *symbol[ALL];
    int64_t time[ALL], id[ALL];
    double price[ALL], qty[ALL];
};

/* Prices of two digits and quantities of three; several trades a moment, and hours without any. */
static struct trades *trades_make(void)
{
    struct trades *t = calloc(1, sizeof(*t));
    for (int k = 0; k < ALL; k++) {
        bool first = k % TRADES == 0;
        int64_t pause =
            random_chance(&rng, 30) ? 0 : random_between(&rng, 0, random_chance(&rng, 1) ? 9000000 : 20000);
        t->symbol[k] = symbols[k / TRADES];
        t->time[k] = first ? 1700000000123000 : t->time[k - 1] + pause * 1000;
        t->id[k] = first ? 5 : t->id[k - 1] + 1;
        t->price[k] = (double)random_between(&rng, 10000, 10900) / 100;
        t->qty[k] = (double)random_between(&rng, 0, 99999) / 1000;
    }
    return t;
}

struct found {
    int64_t n;
    char symbol[ALL][4];
    int64_t time[ALL], count[ALL];
    double prices[5][ALL];
};

static void take(struct found *found, struct ArrowArray *out, struct ArrowSchema *schema)
{
    const int32_t *ends = out->children[0]->buffers[1];
    const char *bytes = out->children[0]->buffers[2];
    CHECK_STR(schema->children[7]->name, "count");
    for (int64_t i = 0; i < out->length; i++, found->n++) {
        snprintf(found->symbol[found->n], 4, "%.*s", ends[i + 1] - ends[i], bytes + ends[i]);
        found->time[found->n] = ((const int64_t *)out->children[1]->buffers[1])[i];
        for (int c = 0; c < 5; c++)
            found->prices[c][found->n] = ((const double *)out->children[2 + c]->buffers[1])[i];
        found->count[found->n] = ((const int64_t *)out->children[7]->buffers[1])[i];
    }
    out->release(out);
    schema->release(schema);
}

static struct found *build(const struct made_column columns[], int n_columns, int64_t rows,
                           const char *interval, bool trades)
{
    char err[PAPERTAPE_SPARK_ERROR_MAX] = "";
    struct papertape_spark *run = NULL;
    struct found *found = calloc(1, sizeof(*found));
    struct ArrowArray batch, out;
    struct ArrowSchema schema, out_schema;
    CHECK_INT(papertape_spark_bars(interval, trades, SCALE, &run, err, sizeof(err)), 0);
    for (int64_t from = 0; from < rows;) {
        int64_t n = random_between(&rng, 0, random_chance(&rng, 30) ? 3 : 900);
        n = n < rows - from ? n : rows - from;
        made_batch(columns, n_columns, from, n, &batch, &schema);
        CHECK_INT(papertape_spark_bars_update(run, &batch, &schema, &out, &out_schema, err, sizeof(err)), 0);
        CHECK_STR(err, "");
        take(found, &out, &out_schema);
        from += n;
    }
    CHECK_INT(papertape_spark_bars_finish(run, &out, &out_schema, err, sizeof(err)), 0);
    take(found, &out, &out_schema);
    papertape_spark_close(run);
    CHECK_INT(made_alive, 0);
    return found;
}

static void columns_of(const struct trades *t, struct made_column ret[5])
{
    ret[0] = (struct made_column){"symbol", "u", t->symbol, NULL};
    ret[1] = (struct made_column){"timestamp", "tsu:UTC", t->time, NULL};
    ret[2] = (struct made_column){"id", "l", t->id, NULL};
    ret[3] = (struct made_column){"price", "g", t->price, NULL};
    ret[4] = (struct made_column){"qty", "g", t->qty, NULL};
}

static void check_bar(const struct found *found, int64_t row, const char *symbol, const struct bar *bar)
{
    const double want[] = {decimal_to_double(bar->open, SCALE), decimal_to_double(bar->high, SCALE),
                           decimal_to_double(bar->low, SCALE), decimal_to_double(bar->close, SCALE),
                           decimal_to_double(bar->volume, SCALE)};
    CHECK_STR(found->symbol[row], symbol);
    CHECK_INT(found->time[row], bar->open_ns);
    CHECK_INT(found->count[row], bar->trades);
    for (int c = 0; c < 5; c++)
        CHECK_NEAR(found->prices[c][row], want[c], 0.0);
}

/* The daemon's builder, trade by trade. */
static void test_trades(const struct trades *t, const char *interval)
{
    struct made_column columns[5];
    int64_t interval_ns, row = 0;
    columns_of(t, columns);
    struct found *found = build(columns, 5, ALL, interval, true);
    CHECK_INT(bar_interval_parse_any(interval, &interval_ns), 0);
    for (int s = 0; s < SYMBOLS; s++) {
        struct bar_builder builder;
        struct bar bar;
        bar_builder_init(&builder, interval_ns);
        builder.loose = true;
        for (int k = s * TRADES; k < (s + 1) * TRADES; k++) {
            int64_t price, qty;
            CHECK(decimal_from_double(t->price[k], SCALE, &price) == 0 &&
                  decimal_from_double(t->qty[k], SCALE, &qty) == 0);
            if (bar_builder_trade(&builder, t->time[k] * 1000, t->id[k], price, qty, &bar) != BAR_NONE)
                check_bar(found, row++, symbols[s], &bar);
        }
        if (bar_builder_close(&builder, INT64_MAX, &bar) != BAR_NONE)
            check_bar(found, row++, symbols[s], &bar);
    }
    CHECK_INT(found->n, row);
    free(found);
}

/* Shorter bars of the trades give the longer ones of the trades; only the counts differ. */
static void test_shorter(const struct trades *t)
{
    struct made_column columns[5], shorter[7];
    columns_of(t, columns);
    struct found *minutes = build(columns, 5, ALL, "1m", true),
                 *quarters = build(columns, 5, ALL, "15m", true);
    static const char *const names[] = {"open", "high", "low", "close", "volume"};
    const char **text = calloc((size_t)minutes->n, sizeof(*text));
    int64_t *time = calloc((size_t)minutes->n, sizeof(*time));
    for (int64_t i = 0; i < minutes->n; i++) {
        text[i] = minutes->symbol[i];
        time[i] = minutes->time[i] / 1000;
    }
    shorter[0] = (struct made_column){"symbol", "u", text, NULL};
    shorter[1] = (struct made_column){"timestamp", "tsu:", time, NULL};
    for (int c = 0; c < 5; c++)
        shorter[2 + c] = (struct made_column){names[c], "g", minutes->prices[c], NULL};
    struct found *joined = build(shorter, 7, minutes->n, "15m", false);
    CHECK(minutes->n > quarters->n);
    CHECK_INT(joined->n, quarters->n);
    int64_t counted = 0;
    for (int64_t i = 0; i < joined->n; i++) {
        CHECK_STR(joined->symbol[i], quarters->symbol[i]);
        CHECK_INT(joined->time[i], quarters->time[i]);
        for (int c = 0; c < 5; c++)
            CHECK_NEAR(joined->prices[c][i], quarters->prices[c][i], 0.0);
        counted += joined->count[i];
    }
    CHECK_INT(counted, minutes->n);
    /* Bars of minutes are not cut into seconds; the last symbol's step is known at its end alone. */
    char err[PAPERTAPE_SPARK_ERROR_MAX] = "";
    struct papertape_spark *run = NULL;
    struct ArrowArray batch, out;
    struct ArrowSchema schema, out_schema;
    CHECK_INT(papertape_spark_bars("1s", false, SCALE, &run, err, sizeof(err)), 0);
    made_batch(shorter, 7, 0, minutes->n, &batch, &schema);
    int r = papertape_spark_bars_update(run, &batch, &schema, &out, &out_schema, err, sizeof(err));
    if (r == 0) {
        out.release(&out);
        out_schema.release(&out_schema);
        r = papertape_spark_bars_finish(run, &out, &out_schema, err, sizeof(err));
    }
    CHECK_INT(r, -EINVAL);
    CHECK(strstr(err, "its bars open 60 s apart, or a multiple of that") != NULL);
    papertape_spark_close(run);
    free(text);
    free(time);
    free(joined);
    free(minutes);
    free(quarters);
}

static void refuses(const struct made_column columns[], int n_columns, const char *part)
{
    char err[PAPERTAPE_SPARK_ERROR_MAX] = "";
    struct papertape_spark *run = NULL;
    struct ArrowArray batch, out;
    struct ArrowSchema schema, out_schema;
    CHECK_INT(papertape_spark_bars("5m", true, SCALE, &run, err, sizeof(err)), 0);
    made_batch(columns, n_columns, 0, 20, &batch, &schema);
    CHECK_INT(papertape_spark_bars_update(run, &batch, &schema, &out, &out_schema, err, sizeof(err)),
              -EINVAL);
    if (!strstr(err, part))
        fprintf(stderr, "  \"%s\" without \"%s\"\n", err, part);
    CHECK(strstr(err, part) != NULL);
    CHECK_INT(made_alive, 0);
    papertape_spark_close(run);
}

static void test_refusals(struct trades *t)
{
    char err[PAPERTAPE_SPARK_ERROR_MAX] = "";
    struct papertape_spark *run = NULL;
    struct made_column columns[5];
    columns_of(t, columns);
    CHECK_INT(papertape_spark_bars("7m", true, SCALE, &run, err, sizeof(err)), -EINVAL);
    CHECK(strstr(err, "7m: an interval is needed: 1s 1m") != NULL);
    CHECK_INT(papertape_spark_bars("5m", true, 19, &run, err, sizeof(err)), -EINVAL);
    const double qty = t->qty[3];
    t->qty[3] = 0.0000000123;
    refuses(columns, 5, "more than 8 digits after the point: digits=9");
    t->qty[3] = -1;
    refuses(columns, 5, "a qty of 0 or more");
    t->qty[3] = NAN;
    refuses(columns, 5, "a qty of 0 or more");
    t->qty[3] = qty;
    const int64_t time = t->time[4], id = t->id[4];
    t->time[4] = t->time[3];
    t->id[4] = t->id[3];
    refuses(columns, 5, "a trade's id comes twice");
    t->id[4] = t->id[3] - 1;
    refuses(columns, 5, "ids do not rise");
    const struct made_column without[] = {columns[0], columns[1], columns[3], columns[4]};
    refuses(without, 4, "a column id (bigint) is needed");
    t->time[4] = t->time[3] - 1;
    refuses(columns, 5, "it comes after a later trade");
    t->time[4] = time;
    t->id[4] = id;
}

int main(void)
{
    rng = random_seeded("spark/bars", 32);
    struct trades *trades = trades_make();
    test_trades(trades, "1m");
    test_trades(trades, "15m");
    test_trades(trades, "1d");
    test_trades(trades, "1w");
    test_trades(trades, "1mo");
    test_shorter(trades);
    test_refusals(trades);
    free(trades);
    return check_done("spark/bars");
}
