/* Every strategy, with any parameters in their ranges, on bars of every kind (flat, tiny, huge, without
 * volume, with gaps) and with whatever account: its specifications can be read, its order intents are ones
 * that a market can grant, it keeps within its memory, two at once do not disturb each other, and what comes
 * later changes nothing. */
#include "engine/backtest/columns.h"
#include "tests/random.h"
#include "tests/strategy/ask.h"

enum { BARS = 1500, ROUNDS = 12 };

#define MINUTE_NS 60000000000LL

static double prices[2][5][BARS], columns[2][ASK_VALUES_MAX][BARS];
static int64_t opens[2][BARS];
static struct intent wanted[BARS][STRATEGY_INTENTS_MAX];
static size_t n_wanted[BARS];

enum kind { WALK, FLAT, STEPS, TINY, HUGE, KINDS };

static double unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static double next_close(struct random *random, enum kind kind, double before)
{
    switch (kind) {
    case FLAT:
        return before;
    case STEPS:
        return random_chance(random, 3) ? 50 + (double)random_between(random, 0, 100) : before;
    default:
        return before * exp(0.02 * (unit(random) - 0.5));
    }
}

/* Bars [from, BARS) of one of the two histories. */
static void make_bars(struct random *random, int at, enum kind kind, size_t from, int64_t interval_ns)
{
    static const double begin[KINDS] = {100, 100, 100, 1e-8, 1e12};
    for (size_t i = from; i < BARS; i++) {
        double before = i > 0 ? prices[at][3][i - 1] : begin[kind], close = next_close(random, kind, before);
        double wick = kind == FLAT || random_chance(random, 30) ? 0 : 0.01 * unit(random);
        prices[at][0][i] = before;
        prices[at][1][i] = fmax(before, close) * (1 + wick);
        prices[at][2][i] = fmin(before, close) * (1 - wick);
        prices[at][3][i] = close;
        prices[at][4][i] = kind == FLAT ? 0 : (double)random_between(random, 0, 1000);
        int64_t gap = random_chance(random, 2) ? random_between(random, 1, 2000) : 0;
        opens[at][i] = i > 0 ? opens[at][i - 1] + (1 + gap) * interval_ns
                             : 1700000000000000000 / interval_ns * interval_ns;
    }
}

static void compute(const struct runner_spec *specs, size_t n_specs, int at, int64_t interval_ns, size_t n)
{
    double *out[ASK_VALUES_MAX], (*p)[BARS] = prices[at];
    char err[SPECS_ERROR_MAX];
    for (size_t k = 0; k < ASK_VALUES_MAX; k++)
        out[k] = columns[at][k];
    const struct columns_job job = {
        {n, interval_ns, opens[at], p[0], p[1], p[2], p[3], p[4], NULL}, out, NULL};
    CHECK_INT(backtest_columns_compute(specs, n_specs, &job, 1, 1, err), 0);
}

/* Any value of the range, its ends, or the default. */
static void random_params(struct random *random, struct ask *ask)
{
    const struct strategy *strategy = ask->strategy;
    for (size_t k = 0; k < strategy->n_params; k++) {
        const struct strategy_param *param = &strategy->params[k];
        double few = param->integer ? fmin(param->max, param->min + 40) : param->max;
        int choice = (int)random_between(random, 0, 9);
        double value = choice == 0   ? param->min
                       : choice == 1 ? param->max
                       : choice < 5  ? param->fallback
                                     : param->min + unit(random) * (few - param->min);
        ask->params[k] = param->integer ? floor(value) : value;
    }
}

/* The account's state is drawn from the bar, so that two runs over the same bars see the same. */
static void random_account(struct ask *ask, int at, size_t i)
{
    struct random drawn = {(uint64_t)opens[at][i]};
    int choice = (int)random_between(&drawn, 0, 9);
    struct strategy_input *input = &ask->input;
    input->ts_ns = opens[at][i] + input->interval_ns;
    input->open = prices[at][0][i];
    input->high = prices[at][1][i];
    input->low = prices[at][2][i];
    input->close = prices[at][3][i];
    input->volume = prices[at][4][i];
    input->equity = choice == 9 ? -1 : 10000 * unit(&drawn);
    input->qty = choice < 5 ? 0 : choice < 8 ? 1000 * unit(&drawn) / input->close : -1 / input->close;
    input->entry = input->qty == 0 ? 0 : input->close;
    input->stop = input->qty > 0 && choice == 6 ? input->close * (1 - 0.1 * unit(&drawn)) : 0;
    input->live_orders = random_chance(&drawn, 10);
    input->symbols = (int)random_between(&drawn, 1, 5);
    input->positions = (int)random_between(&drawn, 0, input->symbols);
    input->shorts = random_chance(&drawn, 60);
    ask->record.losses = ask->record.losing = (uint32_t)(i / 100);
}

static size_t step(struct ask *ask, int at, size_t i, size_t n_outputs)
{
    double values[ASK_VALUES_MAX];
    for (size_t k = 0; k < n_outputs; k++)
        values[k] = columns[at][k][i];
    random_account(ask, at, i);
    return ask_values(ask, n_outputs, values);
}

static bool same(const struct intent *a, const struct intent *b)
{
    return a->kind == b->kind && a->fraction == b->fraction && a->stop == b->stop && a->profit == b->profit &&
           a->limit == b->limit && a->good_ns == b->good_ns && a->why == b->why;
}

static size_t test_round(struct random *random, const struct strategy *strategy, enum kind kind, bool any)
{
    static const int64_t intervals[] = {MINUTE_NS, 5 * MINUTE_NS, 15 * MINUTE_NS, 60 * MINUTE_NS};
    int64_t interval_ns = intervals[random_between(random, 0, 3)];
    struct ask a = ask_new(strategy->name);
    do
        if (any)
            random_params(random, &a);
    while (strategy->check && strategy->check(a.params));
    /* The one strategy that rests its stop at the close of bars without a range: the engine refuses it. */
    a.loose = strcmp(strategy->name, "sma-cross-rsi") == 0;
    a.input.interval_ns = interval_ns;
    struct ask b = a;

    struct runner_spec specs[STRATEGY_SPECS_MAX];
    size_t n_specs, acted = 0, cut = (size_t)random_between(random, 1, BARS - 1);
    char err[SPECS_ERROR_MAX];
    CHECK_INT(engine_runner_specs(strategy, a.params, interval_ns, specs, &n_specs, err), 0);
    size_t n_outputs = engine_runner_outputs(specs, n_specs);
    make_bars(random, 0, kind, 0, interval_ns);
    memcpy(prices[1], prices[0], sizeof prices[0]);
    memcpy(opens[1], opens[0], sizeof opens[0]);
    make_bars(random, 1, (enum kind)random_between(random, 0, KINDS - 1), cut, interval_ns);
    compute(specs, n_specs, 0, interval_ns, BARS);
    compute(specs, n_specs, 1, interval_ns, random_chance(random, 50) ? BARS : cut);
    for (size_t i = 0; i < BARS; i++) {
        n_wanted[i] = step(&a, 0, i, n_outputs);
        memcpy(wanted[i], a.intents, sizeof a.intents);
        acted += n_wanted[i];
        if (i >= cut)
            continue;
        CHECK_INT(step(&b, 1, i, n_outputs), n_wanted[i]);
        for (size_t k = 0; k < n_wanted[i]; k++)
            CHECK(same(&wanted[i][k], &b.intents[k]));
        CHECK(memcmp(a.state, b.state, sizeof a.state) == 0);
    }
    return acted;
}

int main(void)
{
    struct random random = random_seeded("strategy/any", 6);
    size_t n;
    const struct strategy *const *all = strategy_list(&n);
    for (size_t i = 0; i < n; i++) {
        size_t acted = 0;
        if (all[i]->together) /* of all symbols at once: oracle/together.py, engine/together */
            continue;
        for (int round = 0; round < ROUNDS * KINDS; round++)
            acted += test_round(&random, all[i], (enum kind)(round % KINDS), round >= KINDS);
        printf("%s: %zu intents\n", all[i]->name, acted);
        CHECK(acted > 20);
    }
    return check_done("strategy/any");
}
