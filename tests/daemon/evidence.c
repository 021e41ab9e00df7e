/* The test by which a challenger becomes champion (daemon/arena/evidence.h): its closed form against a
 * quadrature, that its two parts are supermartingales over all that may come, its level when it is looked at
 * every day, how often it is wrong where its conditions do not hold, and its power. */
#include <math.h>
#include <stdlib.h>

#include "daemon/arena/evidence.h"
#include "tests/check.h"
#include "tests/random.h"

enum { DAYS = 1000, FIRST = 20 }; /* looked at; from when on */

static const double ALPHA = 0.05;

static double uniform(struct random *random)
{
    return ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct random *random)
{
    double u = uniform(random), v = uniform(random);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* ---- its value ---- */

/* The mean of exp(lambda S - lambda² V / 2) over the half-normal, by Simpson's rule. */
static double by_quadrature(double sum, double variance)
{
    enum { STEPS = 200000 };
    const double t = ARENA_EVIDENCE_SPREAD, end = 14 * t;
    double total = 0;
    for (int i = 0; i <= STEPS; i++) {
        double lambda = end * i / STEPS, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        double density = 2 / (t * sqrt(2 * M_PI)) * exp(-lambda * lambda / (2 * t * t));
        total += weight * density * exp(lambda * sum - lambda * lambda * variance / 2);
    }
    return total * end / STEPS / 3;
}

static void test_value(void)
{
    struct random random = random_seeded("daemon/evidence", 20261122);
    struct arena_evidence none = {0};
    CHECK_NEAR(arena_evidence_value(&none), 1, 1e-15);
    for (int i = 0; i < 20; i++) {
        struct arena_evidence evidence = {0}, small = {0};
        double squares = 0, sum = 0, variance = 0;
        int n = (int)random_between(&random, 1, 60);
        for (int k = 1; k <= n; k++) {
            double d = 0.01 * (normal(&random) + 0.3);
            squares += d * d;
            double x = d / sqrt(squares / k);
            sum += x;
            variance += x * x;
            arena_evidence_add(&evidence, d);
            arena_evidence_add(&small, 0x1p-20 * d);
        }
        double wanted = by_quadrature(sum, variance);
        CHECK_NEAR(exp(arena_evidence_symmetric(&evidence)) / wanted, 1, 1e-9);
        CHECK_NEAR(exp(arena_evidence_symmetric(&small)) / wanted, 1,
                   1e-9); /* whatever the differences are measured in */
        CHECK_NEAR(arena_evidence_bounded(&small), arena_evidence_bounded(&evidence), 1e-9);
        CHECK_NEAR(arena_evidence_value(&evidence), fmin(wanted, exp(evidence.wealth)), 1e-9 * wanted);
        double before = arena_evidence_value(&evidence);
        arena_evidence_add(&evidence, 0); /* a day without a difference says nothing */
        CHECK_NEAR(arena_evidence_value(&evidence), before, 0);
        CHECK_INT(evidence.days, n + 1);
    }
}

/* The sum of a run that goes one way for years, or one wild loss after another. */
static void test_far(void)
{
    double before = INFINITY;
    for (int i = -200; i <= 200; i++) {
        double variance = 1000, a = variance + 1 / (ARENA_EVIDENCE_SPREAD * ARENA_EVIDENCE_SPREAD);
        struct arena_evidence evidence = {.n = 1, .sum = -0.5 * i * sqrt(a), .variance = variance};
        double is = arena_evidence_symmetric(&evidence);
        CHECK(isfinite(is) && is < before);
        CHECK(isfinite(arena_evidence_value(&evidence)));
        before = is;
        if (i >= 20 && i <= 74) /* where an erfc still has a value */
            CHECK_NEAR(is,
                       log(2 / (ARENA_EVIDENCE_SPREAD * sqrt(a))) + 0.125 * i * i +
                           log(0.5 * erfc(0.5 * i / sqrt(2))),
                       1e-11);
    }
    struct arena_evidence rises = {0}, falls = {0};
    for (int i = 0; i < 20000; i++) {
        arena_evidence_add(&rises, 0.01);
        arena_evidence_add(&falls, -0.01);
    }
    CHECK_NEAR(arena_evidence_value(&rises), 1e300, 0);
    CHECK(arena_evidence_value(&falls) >= 0 && arena_evidence_value(&falls) < 1e-300);
}

/* Of all signs that given sizes can have: the mean is at most 1, and never rises with another day. */
static void test_signs(void)
{
    enum { N = 12 };
    struct random random = random_seeded("daemon/evidence", 7);
    for (int round = 0; round < 10; round++) {
        double size[N], before = 1;
        for (int i = 0; i < N; i++)
            size[i] = round == 0 ? 1 : exp(3 * normal(&random));
        for (int n = 1; n <= N; n++) {
            double mean = 0;
            for (int signs = 0; signs < 1 << n; signs++) {
                struct arena_evidence evidence = {0};
                for (int i = 0; i < n; i++)
                    arena_evidence_add(&evidence, signs >> i & 1 ? size[i] : -size[i]);
                mean += exp(arena_evidence_symmetric(&evidence)) / (1 << n);
            }
            CHECK(mean <= before + 1e-12);
            before = mean;
        }
    }
}

/* Of all that may come where each day is a small gain or a large loss, of mean 0: the mean stays 1; and is
 * below it where the mean is. */
static void test_leaning(void)
{
    enum { N = 12 };
    struct random random = random_seeded("daemon/evidence", 8);
    for (int round = 0; round < 10; round++) {
        double gain[N], loss[N], mean = 0, worse = 0;
        for (int i = 0; i < N; i++) {
            gain[i] = 0.01 * (0.5 + 0.5 * uniform(&random));
            loss[i] = 0.01 * (0.5 + 4.5 * uniform(&random)); /* ten times the least gain at most */
        }
        for (int way = 0; way < 1 << N; way++) {
            struct arena_evidence fair = {0}, poor = {0};
            double likely = 1;
            for (int i = 0; i < N; i++) {
                bool gains = way >> i & 1;
                likely *= (gains ? loss[i] : gain[i]) / (gain[i] + loss[i]);
                arena_evidence_add(&fair, gains ? gain[i] : -loss[i]);
                arena_evidence_add(&poor, gains ? 0.9 * gain[i] : -loss[i]);
            }
            mean += likely * exp(arena_evidence_bounded(&fair));
            worse += likely * exp(arena_evidence_bounded(&poor));
        }
        CHECK_NEAR(mean, 1, 1e-12);
        CHECK(worse < 1);
    }
}

/* ---- level and power ---- */

enum kind {
    NORMAL,
    TAILS,  /* Student's t of 3 degrees of freedom, in its own deviations */
    SWINGS, /* quiet and wild times follow their own past */
    LEANS,  /* a gamma's negative of shape `of`: its skewness is -2 / sqrt(of) */
    RARE, /* small gains, and with a chance of `of` the loss that takes all of them; or, with an edge, more */
    FOLLOWS, /* `of` of yesterday's comes again today */
};

struct market {
    const char *name;
    double edge; /* of a day's deviation */
    enum kind kind;
    double of;
    double most; /* crowned at most in such a share; 0: at most by the level that is claimed */
};

/* Marsaglia and Tsang 2000, for shapes below 1 by one above. */
static double gamma_of(struct random *random, double shape)
{
    double lift = shape < 1 ? pow(uniform(random), 1 / shape) : 1,
           d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
    for (;;) {
        double x = normal(random), v = pow(1 + x / sqrt(9 * d), 3);
        if (v > 0 && log(uniform(random)) < 0.5 * x * x + d - d * v + d * log(v))
            return lift * d * v;
    }
}

/* Of mean 0. */
static double shock_of(struct random *random, const struct market *market, double before)
{
    double of = market->of;
    switch (market->kind) {
    case TAILS:
        return normal(random) /
               sqrt(pow(normal(random), 2) + pow(normal(random), 2) + pow(normal(random), 2));
    case LEANS:
        return (of - gamma_of(random, of)) / sqrt(of);
    case RARE:
        return uniform(random) < of ? -sqrt((1 - of) / of) : sqrt(of / (1 - of));
    case FOLLOWS:
        return of * before + normal(random);
    default:
        return normal(random);
    }
}

/* The first day on which it is crowned; 0: never. *ret_naive: does a test of one look reject on any? */
static int crowned(struct random *random, const struct market *market, bool *ret_naive)
{
    struct arena_evidence evidence = {0};
    double scale = 0.01, sum = 0, squares = 0, shock = 0;
    int day_crowned = 0;
    *ret_naive = false;
    for (int day = 1; day <= DAYS && !(day_crowned && (*ret_naive || market->most > 0)); day++) {
        shock = shock_of(random, market, shock);
        double d = scale * (shock + market->edge);
        if (market->kind == SWINGS)
            scale = 0.01 * sqrt(0.05 + 0.9 * pow(scale / 0.01, 2) / 1.05 + 0.1 * pow(d / 0.01, 2));
        arena_evidence_add(&evidence, d);
        sum += d;
        squares += d * d;
        if (day < FIRST)
            continue;
        if (!day_crowned && arena_evidence_value(&evidence) >= 1 / ALPHA)
            day_crowned = day;
        *ret_naive |= sum / sqrt(squares) > 1.645;
    }
    return day_crowned;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void test_level(void)
{
    static const struct market markets[] = {
        {"normal noise", 0, NORMAL, 0, 0},
        {"wild tails", 0, TAILS, 0, 0},
        {"swinging noise", 0, SWINGS, 0, 0},
        {"a little worse", -0.05, NORMAL, 0, 0},
        {"edge 0.1 a day", 0.1, NORMAL, 0, 1},
        {"edge 0.2 a day", 0.2, NORMAL, 0, 1},
        {"edge 0.5 a day", 0.5, NORMAL, 0, 1},
        /* the second of the two conditions holds, or nearly */
        {"skewness -1", 0, LEANS, 4, 0.05},
        {"skewness -2", 0, LEANS, 1, 0.06},
        {"skewness -4", 0, LEANS, 0.25, 0.08},
        {"loss in 5 days", 0, RARE, 0.2, 0.06},
        {"loss in 10 days", 0, RARE, 0.1, 0.08},
        /* neither holds */
        {"loss in 20 days", 0, RARE, 0.05, 0.21},
        {"worse, in 20", -0.02, RARE, 0.05, 0.2},
        {"loss in 50 days", 0, RARE, 0.02, 0.53},
        {"loss in 100 days", 0, RARE, 0.01, 0.77},
        {"follows by 0.1", 0, FOLLOWS, 0.1, 0.06},
        {"follows by 0.2", 0, FOLLOWS, 0.2, 0.095},
        {"follows by 0.3", 0, FOLLOWS, 0.3, 0.14},
        {"follows by 0.5", 0, FOLLOWS, 0.5, 0.28},
    };
    const int most_runs = getenv("PAPERTAPE_LONG") ? 20000 : 1000;
    struct random random = random_seeded("daemon/evidence", 40);
    int *days = calloc((size_t)most_runs, sizeof *days);
    for (size_t m = 0; m < sizeof markets / sizeof *markets; m++) {
        const struct market *market = &markets[m];
        int n = 0, naive = 0, runs = market->most > 0 && market->edge <= 0 ? most_runs / 2 : most_runs;
        for (int i = 0; i < runs; i++) {
            bool rejected;
            int day = crowned(&random, market, &rejected);
            if (day)
                days[n++] = day;
            naive += rejected;
        }
        qsort(days, (size_t)n, sizeof *days, compare);
        double share = (double)n / runs, bound = ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / runs);
        printf("evidence: %-16s crowned %5.1f %% of %d within %d days, half of those by day %d", market->name,
               100 * share, runs, DAYS, n ? days[n / 2] : 0);
        if (market->most > 0)
            printf("\n");
        else
            printf("; a test of one look %5.1f %%\n", 100.0 * naive / runs);
        CHECK(share <= (market->most > 0 ? market->most : bound));
        if (market->edge == 0 && !(market->most > 0))
            CHECK((double)naive / runs > 4 * ALPHA); /* what the test is there for */
        if (market->edge == 0.1)
            CHECK(share > 0.5);
        if (market->edge >= 0.2)
            CHECK(share > 0.99);
        if (market->edge >= 0.5)
            CHECK(days[n / 2] < 110);
    }
    free(days);
}

/* ---- of days ---- */

static void test_days(void)
{
    struct arena_days a = {0}, b = {0};
    for (int day = 0; day < 10; day++) {
        if (day != 4) /* a day that one of the two has not */
            arena_days_add(&a, (100 + day) * ARENA_DAY_NS, 1000 * pow(1.02, day));
        arena_days_add(&b, (100 + day) * ARENA_DAY_NS, 500 * pow(1.01, day));
    }
    struct arena_evidence evidence = arena_evidence_of(&a, &b, 101, 109);
    CHECK_INT(evidence.days, 6); /* 102 to 108, without 104 */
    CHECK_INT(evidence.n, 6);
    CHECK_INT(arena_evidence_of(&a, NULL, 0, 1000).days, 8);
    CHECK_INT(arena_evidence_of(&a, &b, 0, 102).days, 1);
    CHECK_INT(arena_evidence_of(&a, &b, 109, 1000).days, 0);
    CHECK_INT(arena_evidence_of(&a, &(struct arena_days){0}, 0, 1000).days, 0);
    CHECK_INT(arena_evidence_of(&(struct arena_days){0}, NULL, 0, 1000).days, 0);
    struct arena_evidence cash = arena_evidence_of(&b, NULL, 0, 1000), by_hand = {0};
    for (int i = 0; i < 9; i++)
        arena_evidence_add(&by_hand, 0.01);
    CHECK_INT(cash.days, 9);
    CHECK_NEAR(arena_evidence_value(&cash), arena_evidence_value(&by_hand), 1e-9);
    struct arena_evidence turned = arena_evidence_of(&b, &a, 101, 109);
    CHECK(arena_evidence_value(&evidence) > 1 && arena_evidence_value(&turned) < 1);
    arena_days_finish(&a);
    arena_days_finish(&b);
}

int main(void)
{
    test_value();
    test_far();
    test_signs();
    test_leaning();
    test_days();
    test_level();
    return check_done("daemon/evidence");
}
