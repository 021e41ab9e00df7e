/* What sets of gates' limits admit of simulated studies, on noise of 16 kinds and signals of 20: each
 * study is computed once, and every set judges its figures. Prints each kind's counts and the table of
 * docs/studies.md, Gates. Checked of the defaults: of noise more than 2 of 40 are admitted in one run of
 * 20 at most, of a signal over 2000 rows at least 9 of 10; and that gates which are off are found to let
 * too much through, and the paper's ratio too little; and that each gate alone refuses some noise.
 *
 *     trainer-gate-studies; PAPERTAPE_LONG=1: the counts of the table, 7 min of one core */
#include <math.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/trainer/study/simulated.h"

enum { NOISES = 8, SIGNALS = 10, SIZES = 2, KINDS = SIZES * (NOISES + SIGNALS) };
enum { SETS_MAX = 16 };
#define SURE 1.959963984540054 /* of a normal distribution 95 % are nearer */

static const struct size {
    int trials, rows;
} sizes[SIZES] = {{12, 800}, {20, 2000}};

/* signal, seeing, alike, fee, drift */
static const struct simulated_kind noises[NOISES] = {
    {0, 0, 0, 0, 0.3, 0, 0},       {0, 0, 0, 0, 0.95, 0, 0},     {0, 0, 0, 0, 0.3, 0.0005, 0},
    {0, 0, 0, 0, 0.95, 0.0005, 0}, {0, 0, 0, 0, 0.3, 0, 0.03},   {0, 0, 0, 0, 0.95, 0, 0.03},
    {0, 0, 0, 0, 0.3, 0, -0.03},   {0, 0, 0, 0, 0.95, 0, -0.03},
};
static const struct simulated_kind signals[SIGNALS] = {
    {0, 0, 0.3, 0.2, 0.7, 0.0005, 0},    {0, 0, 0.3, 0.5, 0.7, 0.0005, 0},
    {0, 0, 0.3, 0.8, 0.7, 0.0005, 0},    {0, 0, 0.3, 1, 0.7, 0.0005, 0},
    {0, 0, 0.3, 0.5, 0.7, 0.0005, 0.03}, {0, 0, 0.5, 0.2, 0.7, 0.0005, 0},
    {0, 0, 0.5, 0.5, 0.7, 0.0005, 0},    {0, 0, 0.5, 0.8, 0.7, 0.0005, 0},
    {0, 0, 0.5, 1, 0.7, 0.0005, 0},      {0, 0, 0.5, 0.5, 0.7, 0.0005, 0.03},
};

struct set {
    const char *words;
    enum simulated_ratio ratio;
    struct gate_limits limits;
};

static struct set sets[SETS_MAX];
static int n_sets;

/* Returns its number. */
static int add_set(const char *words, enum simulated_ratio ratio, double excess, double pbo, double deflated)
{
    struct gate_limits limits = gate_defaults();
    limits.min_excess = excess;
    limits.max_pbo = pbo;
    limits.min_deflated = deflated;
    sets[n_sets] = (struct set){words, ratio, limits};
    return n_sets++;
}

static struct {
    struct simulated_kind kinds[KINDS];
    int studies[KINDS], admitted[KINDS][SETS_MAX], otherwise, all;
} tally;

static void judge_kind(struct random *random, int kind, int studies)
{
    const struct simulated_kind *of = &tally.kinds[kind];
    struct gate_verdict verdicts[GATES_MAX];
    struct simulated_figures figures;
    bool all;
    for (int i = 0; i < studies; i++) {
        simulated_study(random, of, &figures);
        for (int s = 0; s < n_sets; s++) {
            gate_judge(&sets[s].limits, &figures.by[sets[s].ratio], verdicts, &all);
            tally.admitted[kind][s] += all;
        }
        tally.otherwise += figures.otherwise;
    }
    tally.studies[kind] = studies;
    tally.all += studies;
    printf("%-6s %2d x %4d, signal %.1f of %3.0f %%, alike %.2f, fee %.4f, drift %+.2f: %d:",
           of->signal > 0 ? "signal" : "noise", of->trials, of->rows, of->signal, 100 * of->seeing, of->alike,
           of->fee, of->drift, studies);
    for (int s = 0; s < n_sets; s++)
        printf(" %d", tally.admitted[kind][s]);
    printf("\n");
    fflush(stdout);
}

/* ---- shares ---- */

struct share {
    double is, low, high; /* Wilson's interval */
};

static struct share share_of(int n, int of)
{
    double p = (double)n / of, z = SURE * SURE / of, middle = (p + z / 2) / (1 + z);
    double half = sqrt(p * (1 - p) * z + z * z / 4) / (1 + z);
    return (struct share){p, middle - half, middle + half};
}

/* The probability that of 40 more than 2 are admitted. */
static double more_than_2_of_40(double share)
{
    double none = pow(1 - share, 38);
    return 1 - none * ((1 - share) * (1 - share) + 40 * share * (1 - share) + 780 * share * share);
}

/* Kinds that are looked at together. */
static const struct group {
    const char *name;
    double signal;
    int rows; /* 0: any */
} groups[] = {{"noise", 0, 0},
              {"noise, 800 rows", 0, 800},
              {"noise, 2000 rows", 0, 2000},
              {"signal 0.3, 800 rows", 0.3, 800},
              {"signal 0.5, 800 rows", 0.5, 800},
              {"signal 0.3, 2000 rows", 0.3, 2000},
              {"signal 0.5, 2000 rows", 0.5, 2000}};
enum { GROUPS = sizeof groups / sizeof *groups, NOISE = 0, FIRST_SIGNAL = 3 };

/* Admitted of all of them, of the kind of which least, and of that of which most are. */
struct shares {
    struct share all, least, most;
};

static struct shares shares_of(int set, const struct group *group)
{
    int n = 0, of = 0;
    struct shares shares = {.least.is = INFINITY, .most.is = -INFINITY};
    for (int k = 0; k < KINDS; k++)
        if (tally.kinds[k].signal == group->signal &&
            (group->rows == 0 || tally.kinds[k].rows == group->rows)) {
            struct share share = share_of(tally.admitted[k][set], tally.studies[k]);
            shares.least = share.is < shares.least.is ? share : shares.least;
            shares.most = share.is > shares.most.is ? share : shares.most;
            n += tally.admitted[k][set];
            of += tally.studies[k];
        }
    shares.all = share_of(n, of);
    return shares;
}

/* Of all kinds together; and of none of them it is certain that it is otherwise. */
static bool few_of_noise(int set)
{
    struct shares noise = shares_of(set, &groups[NOISE]);
    return more_than_2_of_40(noise.all.is) <= 0.05 && more_than_2_of_40(noise.most.low) <= 0.05;
}

/* The same of each signal over 2000 rows. */
static bool most_of_signals(int set)
{
    bool most = true;
    for (int g = FIRST_SIGNAL; g < GROUPS; g++) {
        struct shares signal = shares_of(set, &groups[g]);
        most = most && (groups[g].rows < 2000 || (signal.all.is >= 0.9 && signal.least.high >= 0.9));
    }
    return most;
}

/* ---- the table ---- */

/* A share, as digits as it has. */
static const char *percent(double share)
{
    static char texts[2][32]; /* of two in one call */
    static int at;
    at = !at;
    snprintf(texts[at], sizeof texts[at], share < 0.0995 ? "%.2g %%" : "%.0f %%", 100 * share);
    return texts[at];
}

static void print_table(void)
{
    printf("| gates | noise: mean (worst kind) | more than 2 of 40 (worst kind) |");
    for (int g = FIRST_SIGNAL; g < GROUPS; g++)
        printf(" %s |", groups[g].name);
    printf("\n|---|---|---|---|---|---|---|\n");
    for (int s = 0; s < n_sets; s++) {
        struct shares noise = shares_of(s, &groups[NOISE]);
        printf("| %s | %s (%s) |", sets[s].words, percent(noise.all.is), percent(noise.most.is));
        printf(" %s (%s) |", percent(more_than_2_of_40(noise.all.is)),
               percent(more_than_2_of_40(noise.most.is)));
        for (int g = FIRST_SIGNAL; g < GROUPS; g++) {
            struct shares signal = shares_of(s, &groups[g]);
            printf(" %.0f to %.0f %% |", 100 * signal.least.is, 100 * signal.most.is);
        }
        printf("\n");
    }
}

static void print_share(const char *words, const struct share *share)
{
    printf("%s %.2f (%.2f to %.2f)", words, 100 * share->is, 100 * share->low, 100 * share->high);
}

static void print_defaults(int set)
{
    struct shares noise = shares_of(set, &groups[NOISE]);
    printf("at the defaults, %%, with the limits of 95 %%:\n");
    for (int g = 0; g < GROUPS; g++) {
        struct shares shares = shares_of(set, &groups[g]);
        printf("%-21s", groups[g].name);
        print_share("", &shares.all);
        print_share(", of kinds", &shares.least);
        print_share(" to", &shares.most);
        printf("\n");
    }
    printf("of 40 on noise more than 2: %s (at most %s)", percent(more_than_2_of_40(noise.all.is)),
           percent(more_than_2_of_40(noise.all.high)));
    printf("; of the worst kind %s (at most %s)\n", percent(more_than_2_of_40(noise.most.is)),
           percent(more_than_2_of_40(noise.most.high)));
}

int main(void)
{
    bool whole = getenv("PAPERTAPE_LONG") != NULL;
    int noise = whole ? 4000 : 20, signal = whole ? 1000 : 10;
    struct random random = random_seeded("trainer/gate_studies", 20261122);
    const struct gate_limits are = gate_defaults();
    int defaults = add_set("the defaults", SIMULATED_SKILL, are.min_excess, are.max_pbo, are.min_deflated);
    add_set("pbo ≤ 0.3, skill ≥ 0.9", SIMULATED_SKILL, are.min_excess, 0.3, 0.9);
    add_set("pbo ≤ 0.2, skill ≥ 0.9", SIMULATED_SKILL, are.min_excess, 0.2, 0.9);
    add_set("pbo ≤ 0.3, skill ≥ 0.8", SIMULATED_SKILL, are.min_excess, 0.3, 0.8);
    add_set("pbo ≤ 0.3, skill without the part beyond holding ≥ 0.9", SIMULATED_CAPPED, are.min_excess, 0.3,
            0.9);
    int paper = add_set("pbo ≤ 0.2, the paper's ratio ≥ 0.95", SIMULATED_PAPER, are.min_excess, 0.2, 0.95);
    add_set("the defaults without excess", SIMULATED_SKILL, -INFINITY, are.max_pbo, are.min_deflated);
    int alone = add_set("excess ≥ 0.1 alone", SIMULATED_SKILL, 0.1, 1, 0);
    add_set("pbo ≤ 0.4 alone", SIMULATED_SKILL, -INFINITY, 0.4, 0);
    add_set("skill ≥ 0.9 alone", SIMULATED_SKILL, -INFINITY, 1, 0.9);
    int off = add_set("drawdown and trades alone", SIMULATED_SKILL, -INFINITY, 1, 0);
    printf("admitted by, in this order:\n");
    for (int s = 0; s < n_sets; s++)
        printf("  %s\n", sets[s].words);
    for (int i = 0, k = 0; i < SIZES; i++)
        for (int of = 0; of < NOISES + SIGNALS; of++, k++) {
            tally.kinds[k] = of < NOISES ? noises[of] : signals[of - NOISES];
            tally.kinds[k].trials = sizes[i].trials;
            tally.kinds[k].rows = sizes[i].rows;
            judge_kind(&random, k, of < NOISES ? noise : signal);
        }
    printf("%d studies of each kind of noise, %d of each of a signal: a kind's share has a standard error of "
           "%.2g points where it is 1 %% of noise, at most %.2g of a signal\n",
           noise, signal, 100 * sqrt(0.01 * 0.99 / noise), 100 * sqrt(0.25 / signal));
    print_table();
    print_defaults(defaults);
    printf("in %d of %d the objective chose another than the best Sharpe\n", tally.otherwise, tally.all);
    CHECK(few_of_noise(defaults));
    CHECK(most_of_signals(defaults));
    CHECK(!few_of_noise(off));
    for (int s = alone; s < off; s++) /* each refuses some noise */
        CHECK(shares_of(s, &groups[NOISE]).all.high < shares_of(off, &groups[NOISE]).all.low);
    CHECK(!most_of_signals(paper));
    CHECK(tally.otherwise > 0);
    return check_done("trainer/gate_studies");
}
