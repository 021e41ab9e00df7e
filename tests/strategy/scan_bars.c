/* scan_bars() against scan() on the reference's own averages: the same marks, to the bit. Walks, flat
 * stretches, and prices that come back, where the averages meet and differ only by rounding. */
#include "indicators_gpu/indicators.h"
#include "strategy/strategy.h"
#include "tests/check.h"
#include "tests/random.h"

enum { BARS_MOST = 5000, WORDS = BARS_MOST / 64 + 1, RUNS = 400 };

static double closes[BARS_MOST], fast[BARS_MOST], slow[BARS_MOST];

static void walk(struct random *random, size_t n)
{
    int64_t tick = random_between(random, 1, 3) == 1 ? 1 : 100, steps = random_between(random, 0, 30);
    int64_t price = tick * random_between(random, 1000, 60000), calm = random_between(random, 0, 90);
    double unit = random_chance(random, 50) ? 100 : 1e8;
    for (size_t i = 0; i < n; i++) {
        if (!random_chance(random, (int)calm))
            price += tick * random_between(random, -steps, steps);
        if (random_chance(random, 1))
            calm = random_between(random, 0, 100);
        price = price < tick ? tick : price;
        closes[i] = (double)price / unit;
    }
}

static void average(double *out, size_t n, double period)
{
    struct indicator_spec spec = {.row = indicator_find("sma"), .options = {period}};
    const struct indicator_columns in = {.close = closes};
    CHECK_INT(indicator_reference(&spec, &in, n, &out), 0);
}

static uint64_t compare(struct random *random, const struct strategy *strategy)
{
    double params[STRATEGY_PARAMS_MAX];
    uint64_t marks[3][WORDS] = {{0}}, expected[3][WORDS] = {{0}}, n_marks = 0;
    size_t n = (size_t)random_between(random, 1, BARS_MOST);
    walk(random, n);
    strategy_defaults(strategy, params);
    params[0] = (double)random_between(random, 1, 60);
    params[1] = params[0] + (double)random_between(random, 1, random_chance(random, 20) ? 2000 : 90);
    average(fast, n, params[0]);
    average(slow, n, params[1]);
    const double *const indicators[] = {fast, slow};
    struct strategy_columns columns = {.n = n, .interval_ns = 1, .close = closes, .indicators = indicators};
    strategy->scan(params, &columns, &(struct strategy_marks){expected[0], expected[1], expected[2]});
    columns.indicators = NULL;
    strategy->scan_bars(params, &columns, &(struct strategy_marks){marks[0], marks[1], marks[2]});
    CHECK(memcmp(marks, expected, sizeof marks) == 0);
    for (size_t w = 0; w < WORDS; w++)
        n_marks += (uint64_t)__builtin_popcountll(marks[0][w]);
    return n_marks;
}

int main(void)
{
    struct random random = random_seeded("strategy/scan_bars", 99);
    const struct strategy *strategy = strategy_find("sma-cross");
    uint64_t n_marks = 0;
    for (int run = 0; run < RUNS; run++)
        n_marks += compare(&random, strategy);
    CHECK(n_marks > 10 * RUNS);
    printf("%" PRIu64 " crosses\n", n_marks);
    return check_done("strategy/scan_bars");
}
