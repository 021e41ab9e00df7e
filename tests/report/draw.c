/* Writes pages for pages.py: draw FOLDER. small.html is compared byte by byte with golden.html: its numbers
 * are sums and products of whole ones. hard.html has what a chart must survive. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/page_parts.h"
#include "tests/report/draws.h"

#define HOUR  INT64_C(3600000000000)
#define FIRST INT64_C(1704067200000000000) /* 2024-01-01 */
enum { N = 400, MANY = 300000 };

struct run {
    int64_t x[N];
    double equity[N], holding[N], drawdown[N], exposure[N];
    int64_t buy_x[8], sell_x[8];
    double buy[8], sell[8];
    size_t n_buys, n_sells;
};

/* Hours with two days missing; it holds every other 25 of them. */
static void make(struct run *run)
{
    double price = 1024, equity = 1024, best = 1024;
    for (int i = 0; i < N; i++) {
        double move = ((i * 37) % 64 - 31) / 4096.0;
        bool in = i / 25 % 2 == 1;
        run->x[i] = FIRST + (i + (i >= 250 ? 48 : 0)) * HOUR;
        price += price * move;
        equity += in ? equity * move : 0;
        best = equity > best ? equity : best;
        run->holding[i] = price;
        run->equity[i] = equity;
        run->drawdown[i] = 100 * (equity / best - 1);
        run->exposure[i] = in ? 100 : 0;
        if (i % 50 == 25) {
            run->buy_x[run->n_buys] = run->x[i];
            run->buy[run->n_buys++] = price;
        } else if (i % 50 == 0 && i > 0) {
            run->sell_x[run->n_sells] = run->x[i];
            run->sell[run->n_sells++] = price;
        }
    }
}

static void draw_equity(struct text *text, const struct run *run)
{
    const struct report_series list[] = {
        {REPORT_LINE, 0, "policy", run->x, run->equity, NULL, N},
        {REPORT_LINE, 2, "holding", run->x, run->holding, NULL, N},
    };
    const struct report_chart chart = {
        .title = "Equity", .y_name = "USDT", .time = true, .gap = HOUR, .also = 1024, .series = list, .n = 2};
    report_page_chart(text, &chart, "Equity after each bar.");
}

static void draw_trades(struct text *text, const struct run *run)
{
    const struct report_series list[] = {
        {REPORT_BUYS, 3, "bought", run->buy_x, run->buy, NULL, run->n_buys},
        {REPORT_SELLS, 4, "sold", run->sell_x, run->sell, NULL, run->n_sells},
        {REPORT_LINE, 2, "BTCUSDT", run->x, run->holding, NULL, N},
    };
    const struct report_chart chart = {
        .title = "Trades", .y_name = "USDT", .time = true, .gap = HOUR, .also = NAN, .series = list, .n = 3};
    report_page_chart(text, &chart, "Trades on the close.");
}

static void draw_below(struct text *text, const struct run *run)
{
    const struct report_series drop[] = {{REPORT_DROP, 4, NULL, run->x, run->drawdown, NULL, N}};
    const struct report_series spread[] = {{REPORT_SPREAD, 0, NULL, run->x, run->exposure, NULL, N}};
    const struct report_chart drawdown = {REPORT_LOW, "Drawdown", NULL, "%", true, HOUR, false, 0, drop, 1};
    const struct report_chart exposure = {REPORT_LOW, "Exposure", NULL, "%", true, HOUR, false, 0, spread, 1};
    report_page_chart(text, &drawdown, "Below the highest equity before.");
    report_page_chart(text, &exposure, "Positions as a share of equity.");
}

/* Curves of five seeds: the middle one, and the band of all. */
static void draw_learning(struct text *text)
{
    enum { UPDATES = 60 };
    int64_t steps[UPDATES];
    double low[UPDATES], middle[UPDATES], high[UPDATES], huge[UPDATES];
    for (int i = 0; i < UPDATES; i++) {
        steps[i] = 4096 * (i + 1);
        middle[i] = 8.0 * i / (i + 16);
        low[i] = middle[i] - 1 - i % 3 / 4.0;
        high[i] = middle[i] + 1 + i % 5 / 4.0;
        huge[i] = i == 0 ? 1 : huge[i - 1] * 1.25;
    }
    const struct report_series list[] = {
        {REPORT_LINE, 0, "median", steps, middle, NULL, UPDATES},
        {REPORT_BAND, 0, "5 seeds", steps, high, low, UPDATES},
    };
    const struct report_series one[] = {{REPORT_LINE, 1, NULL, steps, huge, NULL, UPDATES}};
    const struct report_chart learning = {REPORT_HALF, "Return of an episode", "steps", NULL,
                                          .also = NAN, .series = list,         .n = 2};
    const struct report_chart loss = {REPORT_HALF,   "Value loss",
                                      "steps",       "log scale",
                                      .also = NAN,   .logarithmic = report_chart_is_wide(huge, UPDATES),
                                      .series = one, .n = 1};
    report_page_pair(text);
    report_page_chart(text, &learning, "The median of five seeds, and from the least to the highest.");
    report_page_chart(text, &loss, "It grows.");
    report_page_pair_end(text);
}

static void draw_bars(struct text *text)
{
    static const double counts[] = {1, 4, 9, 16, 25, 36, 25, 16, 9, 4, 1, 0}, levels[] = {120, 3, 77};
    static const char *const names[] = {"0: nothing", "1: buy", "2: sell"};
    static const double xy[] = {-1, -0.5, 0, 0.25, 1, 0.75, 2, NAN};
    const struct report_bars bars = {REPORT_HALF, "Actions", "action", "steps", counts, 12, -1, 1, NAN, NULL};
    const struct report_bars words = {REPORT_HALF, "Levels", "level", "steps", levels, 3, 0, 3, 1, names};
    const struct report_points points = {REPORT_HALF, "Points", "x", "y", xy, 4, 0.5, 0};
    report_page_pair(text);
    report_page_bars(text, &bars, "A histogram.");
    report_page_bars(text, &words, "A histogram of words.");
    report_page_points(text, &points, "Points and a line.");
    report_page_pair_end(text);
}

/* Months of two years, a distribution, a heat map of both signs with an empty cell. */
static void draw_parts(struct text *text)
{
    static const struct report_month months[] = {{2023, 11, -0.0125}, {2023, 12, 0.25}, {2024, 2, NAN}};
    static const struct report_month years[] = {{2023, 0, 0.234375}, {2024, 0, -0.5}};
    static const char *const x[] = {"5", "10", "15", "20"}, *const y[] = {"50", "100", "150"};
    static const double cells[] = {-1, -0.5, 0, 0.5, 1, 1.5, 2, NAN, -2, 0.25, 0.125, 1};
    double percent[64];
    const struct report_heat heat = {"Sharpe", "fast", "slow", "sharpe", x, y, cells, 4, 3, 2};
    for (int i = 0; i < 64; i++)
        percent[i] = (i * 37 % 64 - 24) / 8.0;
    report_page_section(text, "Parts");
    report_part_months(text, months, 3, years, 2);
    report_part_distribution(text, REPORT_HALF, "Returns of days", "%", "days", percent, 64);
    report_page_heat(text, &heat, "By fast and slow.");
}

static int write_page(struct text *text, const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    report_page_end(text);
    int r = report_page_write(text, path);
    printf("%s: %zu bytes\n", name, text->len);
    text_finish(text);
    return r;
}

static int draw_small(const char *folder)
{
    static const char *const names[] = {"trade", "profit", "held"};
    static struct run run;
    struct text text = {0};
    make(&run);
    report_page_begin(&text, "A small run");
    report_page_sentence(&text, "Better: +12.00 %, holding +3.00 %.", 1);
    report_page_sentence(&text, "Below holding.", 0);
    report_page_sentence(&text, "Not evaluated.", -1);
    report_page_paragraph(&text, "Bars, dates and costs.");
    report_page_facts(&text);
    report_page_fact(&text, "Bars", "BTCUSDT, 1h", "the symbols");
    report_page_fact_number(&text, "Fee", 0.00125, 4, NULL);
    report_page_fact_number(&text, "Sharpe", NAN, 4, "of no trade");
    report_page_fact_fixed(&text, "Fees", 1234.5, 2, "USDT");
    report_page_facts_end(&text);
    report_page_details(&text, "All of it", "[a]\nx = <1 & 2>\n");
    report_page_heading(&text, "Equity");
    draw_equity(&text, &run);
    draw_trades(&text, &run);
    report_page_table(&text, names, 3);
    report_page_row(&text);
    report_page_cell(&text, "1");
    report_page_value(&text, -12.5, 4);
    report_page_cell(&text, "3 h");
    report_page_row_end(&text);
    report_page_table_end(&text);
    draw_below(&text, &run);
    draw_learning(&text);
    draw_bars(&text);
    draw_parts(&text);
    return write_page(&text, folder, "small.html");
}

/* ---- what must be survived ---- */

static void draw_one(struct text *text, const char *name, const int64_t *x, const double *y, size_t n,
                     bool time, bool logarithmic)
{
    for (int shape = REPORT_LINE; shape <= REPORT_SELLS; shape++) {
        const struct report_series list[] = {
            {(enum report_shape)shape, shape % REPORT_COLOURS, name, x, y, y, n}};
        const struct report_chart chart = {
            shape % 2 ? REPORT_HALF : REPORT_WIDE, name, NULL, name, time, 0, logarithmic, NAN, list, 1};
        report_page_chart(text, &chart, name);
    }
}

/* Heat maps of one cell, of as many as there may be, of no number, of huge ones. */
static void draw_heats(struct text *text, struct random *random, const char *odd)
{
    enum { SIDE = REPORT_HEAT_SIDE_MAX };
    static double values[SIDE * SIDE];
    static char words[SIDE][24];
    const char *labels[SIDE];
    for (int i = 0; i < SIDE; i++) {
        snprintf(words[i], sizeof words[i], "%d", i * 1000);
        labels[i] = words[i];
    }
    for (int way = 0; way < 4; way++) {
        for (int i = 0; i < SIDE * SIDE; i++)
            values[i] = way == 0   ? NAN
                        : way == 1 ? draw_bell(random)
                        : way == 2 ? ldexp(draw_bell(random), (int)random_between(random, -900, 900))
                                   : 0;
        const struct report_heat all = {odd, odd, odd, "huge", labels, labels, values, SIDE, SIDE, 3};
        const struct report_heat one = {odd, odd, odd, "one", labels, labels, values, 1, 1, 3};
        report_page_heat(text, &all, odd);
        report_page_heat(text, &one, odd);
    }
}

static int draw_hard(const char *folder)
{
    static const char odd[] =
        "<b>&amp; \"x\" </title><script>é \xff\x01\xc3 \xed\xa0\x80 \xef\xbf\xbf "
        "a name that is far too long for a legend or for any axis, and longer still, to the end";
    static int64_t x[MANY];
    static double y[MANY];
    struct random random = random_seeded("report/draw", 0x4a7d);
    struct text text = {0};
    report_page_begin(&text, odd);
    report_page_sentence(&text, odd, 1);
    report_page_paragraph(&text, odd);
    report_page_heading(&text, odd);
    report_page_details(&text, odd, odd);
    report_page_table(&text, (const char *const[]){odd}, 1);
    report_page_table_end(&text);
    draw_one(&text, odd, x, y, 0, true, false);
    draw_one(&text, "one point", x, y, 1, true, true);
    draw_one(&text, "one place", x, y, 9, false, false);
    for (size_t i = 0; i < MANY; i++) {
        x[i] = FIRST + (int64_t)i * HOUR / 60;
        y[i] = NAN;
    }
    draw_one(&text, "no number", x, y, MANY, true, true);
    for (size_t i = 0; i < MANY; i += 2)
        y[i] = 1e9 + draw_unit(&random);
    draw_one(&text, "dots", x, y, MANY, true, false);
    for (size_t i = 0; i < MANY; i++)
        y[i] = i % 1000 == 0 ? INFINITY : ldexp(draw_bell(&random), (int)random_between(&random, -900, 900));
    draw_one(&text, "huge", x, y, MANY, true, true);
    for (size_t i = 0; i < MANY; i++)
        y[i] = ldexp(1 + draw_unit(&random), (int)random_between(&random, -200, 200));
    draw_one(&text, "logarithms", x, y, MANY, true, true);
    x[0] = INT64_MIN;
    x[1] = INT64_MAX;
    draw_one(&text, "ages", x, y, 2, true, true);
    draw_heats(&text, &random, odd);
    report_part_months(&text, NULL, 0, NULL, 0);
    report_part_distribution(&text, REPORT_HALF, odd, "%", "n", y, 0);
    report_part_distribution(&text, REPORT_HALF, odd, "%", "n", y, MANY);
    return write_page(&text, folder, "hard.html");
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    return draw_small(folder) < 0 || draw_hard(folder) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
