/* Verdicts on planted episodes: every kind and its edges. verdict_oracle.py recomputes the two tests. */
#include "strategy/metrics/verdict.h"

#include <errno.h>

#include "strategy/metrics/verdict_internal.h"
#include "tests/check.h"
#include "tests/random.h"

enum { STEPS_MAX = 6000, ASSETS_MAX = 2 };

/* An episode that is made of what is held: `weights`, set by the test, at a cost of `fee` of what changes. */
struct planted {
    size_t n;
    int n_assets;
    double fee;
    double weights[ASSETS_MAX * STEPS_MAX], moves[ASSETS_MAX * STEPS_MAX];
    double equity[STEPS_MAX], benchmark[STEPS_MAX];
    struct verdict_input input;
};

static double uniform(struct random *random)
{
    return (double)(random_next(random) >> 11) / 9007199254740992.0 - 0.5;
}

static struct planted *planted(size_t n, int n_assets, uint64_t seed, double deviation)
{
    struct planted *plant = calloc(1, sizeof *plant);
    struct random random = {seed};
    plant->n = n;
    plant->n_assets = n_assets;
    for (size_t i = 0; i < n * (size_t)n_assets; i++)
        plant->moves[i] = deviation * 3.46 * uniform(&random);
    return plant;
}

/* One asset's trade from a share of the equity to another. */
static void trade(struct planted *plant, double from, double to, double equity)
{
    struct verdict_input *input = &plant->input;
    double changed = fabs(to - from) * equity;
    bool grows = fabs(to) > fabs(from);
    if (changed == 0)
        return;
    input->buys += to > from;
    input->sells += to < from;
    *(grows ? &input->opened : &input->closed) += changed;
    input->fees += plant->fee * changed;
}

static struct verdict judge(struct planted *plant)
{
    double equity = 1000, held = 1000;
    struct verdict verdict = {0};
    size_t n = plant->n;
    plant->input = (struct verdict_input){.n = n,
                                          .n_assets = plant->n_assets,
                                          .initial = 1000,
                                          .equity = plant->equity,
                                          .benchmark = plant->benchmark,
                                          .weights = plant->weights,
                                          .moves = plant->moves};
    for (size_t t = 0; t < n; t++) {
        double own = 1, market = 1;
        for (int a = 0; a < plant->n_assets; a++) {
            const double *w = plant->weights + (size_t)a * n;
            double before = t > 0 ? w[t - 1] : 0;
            trade(plant, before, w[t], equity);
            own += w[t] * plant->moves[(size_t)a * n + t] - plant->fee * fabs(w[t] - before);
            market += plant->moves[(size_t)a * n + t] / plant->n_assets;
        }
        plant->equity[t] = equity *= own;
        plant->benchmark[t] = held *= market;
    }
    CHECK_INT(metrics_verdict(&plant->input, &verdict), 0);
    return verdict;
}

static void set_weights(struct planted *plant, double weight)
{
    for (size_t i = 0; i < plant->n * (size_t)plant->n_assets; i++)
        plant->weights[i] = weight;
}

/* Knows each move of the first asset with a probability. */
static void follow(struct planted *plant, double skill, uint64_t seed)
{
    struct random random = {seed};
    for (size_t t = 0; t < plant->n; t++) {
        double drawn = uniform(&random) + 0.5, other = uniform(&random);
        plant->weights[t] = drawn < skill ? plant->moves[t] > 0 : other > 0;
    }
}

static void test_no_trades(void)
{
    struct planted *plant = planted(500, 1, 1, 0.01);
    struct verdict v = judge(plant);
    CHECK_INT(v.kind, VERDICT_NO_TRADES);
    CHECK_NEAR(v.total_return, 0, 0);
    CHECK_NEAR(v.excess, -v.benchmark_return, 1e-15);
    CHECK(isnan(v.p) && isnan(v.low) && v.n_random == 0);
    free(plant);
}

/* Bought once; in ever smaller pieces, as 99 % of the free cash each time; a little a bar, to the end. */
static void test_only_holds(void)
{
    struct planted *plant = planted(500, 2, 2, 0.01);
    plant->fee = 0.001;
    set_weights(plant, 0.5);
    CHECK_INT(judge(plant).kind, VERDICT_ONLY_HOLDS);
    for (size_t t = 0; t < 500; t++)
        plant->weights[t] = plant->weights[500 + t] = 0.5 * (1 - pow(0.01, (double)t + 1));
    CHECK_INT(judge(plant).kind, VERDICT_ONLY_HOLDS);
    for (size_t t = 0; t < 500; t++)
        plant->weights[t] = plant->weights[500 + t] = (double)t / 1000;
    struct verdict v = judge(plant);
    CHECK_INT(v.kind, VERDICT_ONLY_HOLDS);
    CHECK(isnan(v.p) && isfinite(v.low));
    set_weights(plant, -0.4); /* sold short, and never bought back */
    CHECK_INT(judge(plant).kind, VERDICT_ONLY_HOLDS);
    set_weights(plant, 0.5); /* a remainder is sold: below, then above a hundredth of what was bought */
    plant->weights[499] = 0.5 - 0.009;
    CHECK_INT(judge(plant).kind, VERDICT_ONLY_HOLDS);
    plant->weights[499] = 0.4;
    CHECK(judge(plant).kind != VERDICT_ONLY_HOLDS);
    free(plant);
}

static void test_fees(void)
{
    struct planted *plant = planted(2000, 1, 3, 0.01);
    follow(plant, 0.3, 4);
    CHECK_INT(judge(plant).kind, VERDICT_BETTER);
    plant->fee = 0.01;
    struct verdict v = judge(plant);
    CHECK_INT(v.kind, VERDICT_FEES_EXCEED_GAIN);
    CHECK(v.gain > 0 && v.fees > v.gain && v.total_return < 0);
    CHECK_NEAR(v.gain - v.fees, 1000 * v.total_return, 1e-9);
    plant->fee = 0;
    for (size_t t = 0; t < 2000; t++) /* it is always wrong: no fee did it */
        plant->weights[t] = plant->moves[t] < 0;
    CHECK_INT(judge(plant).kind, VERDICT_BELOW_HOLDING);
    free(plant);
}

/* A coin decides; and one half, kept by trading back, which falls less in a market that falls. */
static void test_luck(void)
{
    int kinds[VERDICT_BETTER + 1] = {0};
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct planted *plant = planted(1500, 1, 100 + seed, 0.01);
        follow(plant, 0, 200 + seed);
        kinds[judge(plant).kind]++;
        free(plant);
    }
    CHECK_INT(kinds[VERDICT_BETTER], 0);
    CHECK_INT(kinds[VERDICT_BELOW_HOLDING] + kinds[VERDICT_WITHIN_LUCK], 40);
    CHECK(kinds[VERDICT_WITHIN_LUCK] > 8 && kinds[VERDICT_BELOW_HOLDING] > 8);
    struct planted *plant = planted(1500, 1, 5, 0.01);
    for (size_t t = 0; t < 1500; t++) {
        plant->moves[t] -= 0.0003;
        plant->weights[t] = t % 2 ? 0.5 : 0.45;
    }
    struct verdict v = judge(plant);
    CHECK_INT(v.kind, VERDICT_WITHIN_LUCK);
    CHECK(v.excess > 0);
    free(plant);
}

static void test_better(void)
{
    struct planted *plant = planted(STEPS_MAX, 2, 6, 0.005);
    follow(plant, 0.2, 7);
    struct verdict v = judge(plant);
    char text[VERDICT_TEXT_MAX];
    CHECK_INT(v.kind, VERDICT_BETTER);
    CHECK_INT(v.n_random, VERDICT_SHIFTS);
    CHECK_NEAR(v.p, 0.001, 1e-12);
    CHECK(v.low > 0 && v.low < v.excess && v.excess < v.high);
    CHECK(strncmp(metrics_verdict_text(&v, text), "Better than holding by ", 23) == 0);
    struct verdict again = judge(plant);
    CHECK(memcmp(&again.low, &v.low, sizeof v.low) == 0 && memcmp(&again.p, &v.p, sizeof v.p) == 0);
    for (size_t t = 0; t < STEPS_MAX; t++) /* shorts, as day-trade has them */
        plant->weights[t] = 2 * plant->weights[t] - 1;
    CHECK_INT(judge(plant).kind, VERDICT_BETTER);
    free(plant);
}

/* Steps that are too few for either test; equity that ends at nothing; prices that stand still. */
static void test_edges(void)
{
    struct verdict v;
    for (size_t n = 1; n < 40; n++) {
        struct planted *plant = planted(n, 1, n, 0.01);
        for (size_t t = 0; t < n; t++)
            plant->weights[t] = plant->moves[t] > 0;
        v = judge(plant);
        CHECK(v.kind != VERDICT_BETTER && v.kind != VERDICT_NONE);
        CHECK_INT(isnan(v.p) || v.kind == VERDICT_ONLY_HOLDS,
                  n < VERDICT_STEPS_LEAST || v.kind == VERDICT_ONLY_HOLDS);
        CHECK(v.n_random <= (int)n);
        free(plant);
    }
    struct planted *plant = planted(300, 1, 8, 0);
    for (size_t t = 0; t < 300; t++)
        plant->weights[t] = t % 2 != 0;
    v = judge(plant);
    CHECK_INT(v.kind, VERDICT_BELOW_HOLDING);
    CHECK_NEAR(v.low, 0, 0);
    CHECK_NEAR(v.p, 1, 0);
    plant->fee = 0.001;
    CHECK_INT(judge(plant).kind, VERDICT_FEES_EXCEED_GAIN);
    free(plant);

    plant = planted(300, 1, 9, 0.01);
    follow(plant, 0.5, 10);
    plant->weights[200] = 3;
    plant->moves[200] = -0.5; /* more than there is */
    v = judge(plant);
    CHECK_INT(v.kind, VERDICT_BELOW_HOLDING);
    CHECK(isnan(v.p) && isnan(v.low));
    free(plant);
}

static void test_refused(void)
{
    struct planted *plant = planted(100, 1, 11, 0.01);
    struct verdict v = {.kind = VERDICT_BETTER};
    follow(plant, 1, 12);
    judge(plant);
    double *const columns[] = {plant->equity, plant->benchmark, plant->weights, plant->moves};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double kept = columns[i][50];
        columns[i][50] = i % 2 ? NAN : INFINITY;
        CHECK_INT(metrics_verdict(&plant->input, &v), -EINVAL);
        columns[i][50] = kept;
    }
    struct verdict_input input = plant->input;
    input.n = 0;
    CHECK_INT(metrics_verdict(&input, &v), -EINVAL);
    input = plant->input;
    input.initial = 0;
    CHECK_INT(metrics_verdict(&input, &v), -EINVAL);
    CHECK_INT(v.kind, VERDICT_BETTER); /* untouched */
    free(plant);
}

static struct verdict of_excess(double excess, enum verdict_kind kind)
{
    return (struct verdict){.kind = kind, .excess = excess, .p = 0.001, .low = 0.01, .n_steps = 1000};
}

static enum verdict_kind with_below(int n, int below, struct verdict *ret)
{
    struct verdict each[32];
    for (int i = 0; i < n; i++)
        each[i] =
            of_excess(i < below ? -0.1 : 0.1 * (i + 1), i < below ? VERDICT_BELOW_HOLDING : VERDICT_BETTER);
    *ret = metrics_verdict_of_seeds(each, n);
    return ret->kind;
}

/* Binomial tails: 5 of 5 have 1/32, 4 of 5 have 6/32; 9 of 10 have 11/1024, 8 of 10 have 56/1024. */
static void test_seeds(void)
{
    struct verdict v;
    char text[VERDICT_TEXT_MAX];
    CHECK_INT(with_below(1, 0, &v), VERDICT_BETTER);
    CHECK_INT(with_below(3, 0, &v), VERDICT_BETTER);
    CHECK_INT(with_below(3, 1, &v), VERDICT_WITHIN_LUCK);
    CHECK_INT(with_below(5, 0, &v), VERDICT_BETTER);
    CHECK_INT(with_below(5, 1, &v), VERDICT_WITHIN_LUCK);
    CHECK(strstr(metrics_verdict_text(&v, text), "only 4 of 5 seeds are above") != NULL);
    CHECK_INT(with_below(10, 1, &v), VERDICT_BETTER);
    CHECK_INT(v.n_above, 9);
    CHECK_INT(with_below(10, 2, &v), VERDICT_WITHIN_LUCK);
    CHECK_INT(with_below(10, 5, &v), VERDICT_BELOW_HOLDING); /* the lower of the middle two */
    struct verdict four[] = {of_excess(0.4, VERDICT_BETTER), of_excess(0.1, VERDICT_WITHIN_LUCK),
                             of_excess(0.3, VERDICT_BETTER), of_excess(0.2, VERDICT_BETTER)};
    v = metrics_verdict_of_seeds(four, 4);
    CHECK_NEAR(v.excess, 0.2, 0);
    CHECK_INT(v.n_seeds, 4);
    CHECK_INT(v.kind, VERDICT_BETTER);
}

static void test_words(void)
{
    char text[VERDICT_TEXT_MAX];
    for (int kind = VERDICT_NO_TRADES; kind <= VERDICT_BETTER; kind++) {
        const struct verdict v = {
            .kind = (enum verdict_kind)kind, .p = 1, .low = -1e300, .high = 1e300, .n_seeds = 1000000};
        CHECK_INT(metrics_verdict_of_word(metrics_verdict_word((enum verdict_kind)kind)), kind);
        CHECK_INT(metrics_verdict_good((enum verdict_kind)kind), kind == VERDICT_BETTER);
        CHECK(strlen(metrics_verdict_text(&v, text)) < VERDICT_TEXT_MAX);
    }
    CHECK(metrics_verdict_word(VERDICT_NONE) == NULL);
    CHECK_INT(metrics_verdict_of_word(NULL), VERDICT_NONE);
    CHECK_INT(metrics_verdict_of_word("worse"), VERDICT_NONE);
    CHECK_STR(metrics_verdict_text(&(struct verdict){0}, text), "Not evaluated.");
}

/* White noise takes the least length; dependence over time a longer one. */
static void test_block(void)
{
    static double x[STEPS_MAX], room[STEPS_MAX];
    struct random random = {13};
    for (size_t t = 0; t < STEPS_MAX; t++)
        x[t] = uniform(&random);
    CHECK_NEAR(metrics_verdict_block(x, STEPS_MAX, room), cbrt(STEPS_MAX), 3);
    for (size_t t = 1; t < STEPS_MAX; t++)
        x[t] = 0.9 * x[t - 1] + uniform(&random);
    CHECK(metrics_verdict_block(x, STEPS_MAX, room) > 2.5 * cbrt(STEPS_MAX));
    for (size_t t = 0; t < STEPS_MAX; t++)
        x[t] = 1;
    CHECK(metrics_verdict_block(x, STEPS_MAX, room) >= 1);
}

int main(void)
{
    test_no_trades();
    test_only_holds();
    test_fees();
    test_luck();
    test_better();
    test_edges();
    test_refused();
    test_seeds();
    test_words();
    test_block();
    return check_done("verdict");
}
