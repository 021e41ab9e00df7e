/* What an ensemble's runtime decides, against its members' own runtimes asked apart: over bars with gaps and
 * late ones, moved to another runtime at random moments, to the bit. */
#include <errno.h>

#include "strategy/policy/cache.h"
#include "strategy/policy/ensemble_internal.h"
#include "tests/strategy/ensemble_made.h"
#include "tests/strategy/runtime_tape.h"

enum { ROWS = 260, MEMBERS = 3, WINDOW = 40 };

#define INTERVAL_NS INT64_C(300000000000)
#define START_NS    INT64_C(1745200200000000000)

/* One bar as it comes: late ones after the row's end. */
struct come {
    int asset;
    size_t row, at; /* shown before row `at` is decided */
    struct indicator_bar bar;
};

struct world {
    struct come come[ROWS * ENSEMBLE_ASSETS];
    size_t n;
    bool any[ROWS]; /* a bar that is not late */
    double cash[ROWS], qty[ROWS][ENSEMBLE_ASSETS];
};

static double unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static int by_time(const void *a, const void *b)
{
    const struct come *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->asset - y->asset;
}

static void make_world(struct world *w, struct random *random)
{
    memset(w, 0, sizeof *w);
    for (int i = 0; i < ENSEMBLE_ASSETS; i++) {
        double price = 40 + 100 * unit(random);
        for (size_t row = i == 1 ? 9 : 0; row < ROWS; row++) {
            double open = price, close = price * (1 + 0.03 * (unit(random) - 0.49));
            bool missing = random_chance(random, 6) || (row > 120 && row < 125),
                 late = random_chance(random, 5);
            price = close;
            if (missing && row > 9 && row < ROWS - 1)
                continue;
            late = late && row > 9 && row < ROWS - 3;
            w->come[w->n++] = (struct come){.asset = i,
                                            .row = row,
                                            .at = row + (late ? (size_t)random_between(random, 1, 2) : 0),
                                            .bar = {open, fmax(open, close) * 1.001,
                                                    fmin(open, close) * 0.999, close, 1000 * unit(random),
                                                    (double)(START_NS + (int64_t)row * INTERVAL_NS) / 1e9}};
            w->any[row] |= !late;
        }
    }
    qsort(w->come, w->n, sizeof *w->come, by_time);
    for (size_t row = ROWS; row-- > 0;) {
        bool same = row + 1 < ROWS && (!w->any[row] || !w->any[row + 1]); /* nothing fills between */
        w->cash[row] = same ? w->cash[row + 1] : 5000 * unit(random);
        for (int i = 0; i < ENSEMBLE_ASSETS; i++)
            w->qty[row][i] = same ? w->qty[row + 1][i] : 20 * unit(random);
    }
}

/* ---- states ---- */

static bool same_state(const struct policy *policy, struct policy_runtime *a, struct policy_runtime *b)
{
    static struct runtime_tape tapes[2];
    struct indicator_stream_fields fields = runtime_tape_fields(&tapes[0], false);
    policy->runtime->visit(a, &fields);
    fields = runtime_tape_fields(&tapes[1], false);
    policy->runtime->visit(b, &fields);
    return tapes[0].n == tapes[1].n &&
           memcmp(tapes[0].numbers, tapes[1].numbers, tapes[0].n * sizeof(double)) == 0;
}

/* ---- members asked apart ---- */

struct apart {
    const struct ensemble_policy *ensemble;
    struct policy_runtime *voices[MEMBERS], *alone[MEMBERS];
    struct shadow *shadows[MEMBERS];
    double close[ENSEMBLE_ASSETS], units[ENSEMBLE_ASSETS];
    int64_t seen_ns[ENSEMBLE_ASSETS];
};

static void apart_open(struct apart *a, const struct policy *policy)
{
    *a = (struct apart){.ensemble = (const struct ensemble_policy *)policy};
    for (int m = 0; m < MEMBERS; m++) {
        const struct policy *member = policy->members[m];
        CHECK_INT(member->runtime->create(member, &a->voices[m]), 0);
        CHECK_INT(member->runtime->create(member, &a->alone[m]), 0);
        CHECK_INT(policy_shadow_create(member, WINDOW, &a->shadows[m]), 0);
    }
}

static void apart_close(struct apart *a)
{
    for (int m = 0; m < MEMBERS; m++) {
        a->ensemble->policy.members[m]->runtime->destroy(a->voices[m]);
        a->ensemble->policy.members[m]->runtime->destroy(a->alone[m]);
        policy_shadow_destroy(a->shadows[m]);
    }
}

static int64_t apart_first(const struct apart *a)
{
    int64_t first_ns = 0;
    for (int m = 0; m < MEMBERS; m++) {
        int64_t its_ns = a->ensemble->policy.members[m]->runtime->first(a->voices[m]);
        if (its_ns == 0)
            return 0;
        first_ns = its_ns > first_ns ? its_ns : first_ns;
    }
    return first_ns;
}

static void apart_see(struct apart *a, int asset, int64_t open_ns, const struct indicator_bar *bar)
{
    const struct policy *policy = &a->ensemble->policy;
    for (int m = 0; m < MEMBERS; m++) {
        policy->members[m]->runtime->see(a->voices[m], asset, open_ns, bar);
        policy->members[m]->runtime->see(a->alone[m], asset, open_ns, bar);
    }
    if (open_ns >= a->seen_ns[asset]) {
        a->seen_ns[asset] = open_ns;
        a->close[asset] = bar->close;
    }
    for (int i = 0; i < ENSEMBLE_ASSETS; i++)
        if (a->units[i] == 0 && apart_first(a) > 0 && a->seen_ns[i] >= apart_first(a))
            a->units[i] = policy->rules.capital / (a->close[i] * policy->rules.norm_action);
}

static void apart_shadows(struct apart *a, int64_t open_ns)
{
    for (int m = 0; m < MEMBERS; m++) {
        const struct policy *member = a->ensemble->policy.members[m];
        float actions[ENSEMBLE_ASSETS];
        const double *qty;
        policy_shadow_mark(a->shadows[m], a->close);
        double cash = policy_shadow_holds(a->shadows[m], &qty);
        CHECK(cash >= 0);
        CHECK(member->runtime->act(a->alone[m], open_ns, cash, qty, actions));
        for (int i = 0; i < ENSEMBLE_ASSETS; i++)
            if (a->seen_ns[i] == open_ns)
                policy_shadow_trade(a->shadows[m], i, actions[i], a->units[i], a->close[i]);
    }
}

static void apart_act(struct apart *a, int64_t open_ns, double cash, const double *qty, float *ret,
                      struct policy_vote votes[ENSEMBLE_ASSETS][MEMBERS])
{
    const struct policy *policy = &a->ensemble->policy;
    for (int m = 0; m < MEMBERS; m++) {
        float actions[ENSEMBLE_ASSETS];
        CHECK(policy->members[m]->runtime->act(a->voices[m], open_ns, cash, qty, ret ? actions : NULL));
        for (int i = 0; i < ENSEMBLE_ASSETS && ret; i++)
            votes[i][m] =
                (struct policy_vote){.action = actions[i], .sharpe = policy_shadow_sharpe(a->shadows[m])};
    }
    for (int i = 0; i < ENSEMBLE_ASSETS && ret; i++)
        ret[i] = ensemble_vote(a->ensemble->combine, MEMBERS, votes[i], a->units[i], policy->assets[i].least);
}

/* ---- the run ---- */

struct counts {
    size_t decided, weighed, moved;
};

static void check_votes(const struct policy *policy, const struct policy_runtime *runtime,
                        struct policy_vote votes[ENSEMBLE_ASSETS][MEMBERS], struct counts *counts)
{
    for (int i = 0; i < ENSEMBLE_ASSETS; i++) {
        struct policy_vote reported[MEMBERS];
        policy->runtime->votes(runtime, i, reported);
        for (int m = 0; m < MEMBERS; m++) {
            CHECK(reported[m].action == votes[i][m].action && reported[m].weight == votes[i][m].weight);
            counts->weighed += reported[m].weight != 1.0 / MEMBERS;
        }
    }
}

/* Row by row; rows without any bar pass before the next bar is seen, as the engine does it. */
static void run(const struct policy *policy, const struct world *w, struct random *random,
                struct counts *counts)
{
    struct policy_runtime *runtime, *still;
    struct apart apart;
    size_t next = 0, gone = 0; /* rows that the members went by */
    bool sharpe = ((const struct ensemble_policy *)policy)->combine == ENSEMBLE_SHARPE;
    apart_open(&apart, policy);
    CHECK_INT(policy->runtime->create(policy, &runtime), 0);
    CHECK_INT(policy->runtime->create(policy, &still), 0);
    for (size_t row = 0; row < ROWS; row++) {
        int64_t open_ns = START_NS + (int64_t)row * INTERVAL_NS;
        float actions[ENSEMBLE_ASSETS], right[ENSEMBLE_ASSETS], ours[ENSEMBLE_ASSETS];
        struct policy_vote votes[ENSEMBLE_ASSETS][MEMBERS];
        if (!w->any[row])
            continue;
        if (row > 0 && !w->any[row - 1]) {
            policy->runtime->act(runtime, open_ns - INTERVAL_NS, w->cash[row - 1], w->qty[row - 1], NULL);
            policy->runtime->act(still, open_ns - INTERVAL_NS, w->cash[row - 1], w->qty[row - 1], NULL);
        }
        int64_t begin_ns = apart_first(&apart) + (policy->lookback - 1) * INTERVAL_NS;
        for (; gone < row; gone++) { /* the gap */
            int64_t gap_ns = START_NS + (int64_t)gone * INTERVAL_NS;
            if (apart_first(&apart) == 0 || gap_ns < begin_ns)
                continue;
            apart_shadows(&apart, gap_ns);
            apart_act(&apart, gap_ns, w->cash[gone], w->qty[gone], NULL, NULL);
        }
        for (; next < w->n && w->come[next].at <= row; next++) {
            const struct come *come = &w->come[next];
            int64_t its_ns = START_NS + (int64_t)come->row * INTERVAL_NS;
            policy->runtime->see(runtime, come->asset, its_ns, &come->bar);
            policy->runtime->see(still, come->asset, its_ns, &come->bar);
            apart_see(&apart, come->asset, its_ns, &come->bar);
        }
        begin_ns = apart_first(&apart) + (policy->lookback - 1) * INTERVAL_NS;
        bool started = apart_first(&apart) > 0 && open_ns >= begin_ns, wanted = random_chance(random, 70);
        CHECK_INT(policy->runtime->first(runtime), apart_first(&apart));
        CHECK_INT(policy->runtime->act(runtime, open_ns, w->cash[row], w->qty[row], wanted ? actions : NULL),
                  started);
        CHECK_INT(policy->runtime->act(still, open_ns, w->cash[row], w->qty[row], wanted ? ours : NULL),
                  started);
        CHECK(!policy->runtime->act(runtime, open_ns, w->cash[row], w->qty[row], right)); /* once */
        gone = row + 1;
        if (started) {
            apart_shadows(&apart, open_ns);
            apart_act(&apart, open_ns, w->cash[row], w->qty[row], wanted ? right : NULL, votes);
        }
        if (started && wanted) {
            CHECK(memcmp(actions, right, sizeof right) == 0);
            CHECK(memcmp(ours, right, sizeof right) == 0);
            check_votes(policy, runtime, votes, counts);
            counts->decided++;
        }
        CHECK(same_state(policy, runtime, still));
        if (random_chance(random, 15)) {
            runtime = runtime_moved(policy, runtime);
            counts->moved++;
        }
    }
    int known = 0; /* one that never buys has none */
    for (int m = 0; m < MEMBERS; m++)
        known += isfinite(policy_shadow_sharpe(apart.shadows[m]));
    CHECK(known > 0 || !sharpe);
    policy->runtime->destroy(runtime);
    policy->runtime->destroy(still);
    apart_close(&apart);
}

static void test_runtime(struct random *random, enum ensemble_combine combine, int levels)
{
    static struct world w;
    const char *const names[MEMBERS] = {"m-1.safetensors", "m-2.safetensors", "m-3.safetensors"};
    const struct ensemble_member members[MEMBERS] = {
        {.lookback = 3, .levels = levels},
        {.lookback = 5, .levels = levels, .features = true},
        {.lookback = 2, .levels = levels, .features = true, .recurrent = 16},
    };
    const char *path = scratch_path("runtime.ensemble.json");
    char err[POLICY_ERROR_MAX] = "";
    struct policy *policy = NULL;
    struct counts counts = {0};
    for (int m = 0; m < MEMBERS; m++)
        ensemble_member(random, names[m], &members[m]);
    CHECK_INT(ensemble_write(path, names, MEMBERS, combine, WINDOW, err), 0);
    CHECK_INT(policy_load(path, NULL, &policy, err), 0);
    CHECK_STR(err, "");
    if (!policy)
        exit(EXIT_FAILURE);
    make_world(&w, random);
    run(policy, &w, random, &counts);
    CHECK(counts.decided > 100 && counts.moved > 10);
    CHECK(combine == ENSEMBLE_MEAN ? counts.weighed == 0 : counts.weighed > 50);
    printf("%s, %s: %zu decisions as their members' own runtimes make them, %zu times moved\n",
           ensemble_combine_name(combine), levels ? "discrete" : "continuous", counts.decided, counts.moved);
    policy_destroy(policy);
}

/* One policy twice, by its mean, does what that policy does. */
static void test_twice(struct random *random)
{
    static struct world w;
    const char *const names[] = {"twice.safetensors", "twice.safetensors"};
    const char *path = scratch_path("twice.ensemble.json");
    char err[POLICY_ERROR_MAX] = "";
    struct policy *policy = NULL;
    struct policy_runtime *runtime, *own;
    size_t decided = 0, next = 0;
    ensemble_member(random, names[0], &(struct ensemble_member){.features = true, .recurrent = 16});
    CHECK_INT(ensemble_write(path, names, 2, ENSEMBLE_MEAN, 9, err), 0);
    CHECK_INT(policy_load(path, NULL, &policy, err), 0);
    if (!policy)
        exit(EXIT_FAILURE);
    const struct policy *member = policy->members[0];
    make_world(&w, random);
    CHECK_INT(policy->runtime->create(policy, &runtime), 0);
    CHECK_INT(member->runtime->create(member, &own), 0);
    for (size_t row = 0; row < ROWS; row++) {
        int64_t open_ns = START_NS + (int64_t)row * INTERVAL_NS;
        float actions[ENSEMBLE_ASSETS], right[ENSEMBLE_ASSETS];
        for (; next < w.n && w.come[next].at <= row; next++) {
            const struct come *come = &w.come[next];
            int64_t its_ns = START_NS + (int64_t)come->row * INTERVAL_NS;
            policy->runtime->see(runtime, come->asset, its_ns, &come->bar);
            member->runtime->see(own, come->asset, its_ns, &come->bar);
        }
        bool ours = policy->runtime->act(runtime, open_ns, w.cash[row], w.qty[row], actions);
        CHECK_INT(ours, member->runtime->act(own, open_ns, w.cash[row], w.qty[row], right));
        CHECK(!ours || memcmp(actions, right, sizeof right) == 0);
        decided += ours;
    }
    CHECK(decided > 200);
    policy->runtime->destroy(runtime);
    member->runtime->destroy(own);
    policy_destroy(policy);
}

int main(void)
{
    struct random random = random_seeded("strategy/ensemble_runtime", 20261123);
    for (int levels = 0; levels <= 5; levels += 5)
        for (enum ensemble_combine combine = ENSEMBLE_MEAN; combine <= ENSEMBLE_SHARPE; combine++)
            test_runtime(&random, combine, levels);
    test_twice(&random);
    return check_done("strategy/ensemble_runtime");
}
