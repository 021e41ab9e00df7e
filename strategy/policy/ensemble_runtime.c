/* An ensemble's memory for an account: a runtime of each member, and where members are weighted by their
 * performance, another of each for its shadow account. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "indicators_gpu/indicators.h"
#include "strategy/policy/ensemble_internal.h"
#include "strategy/policy/rows.h"

/* One asset's last bar. */
struct look {
    double close;
    int64_t open_ns; /* 0: no bar yet */
    double unit;     /* units in an action of 1; 0: not known yet */
};

/* The struct policy_runtime of an ensemble. */
struct ensemble_runtime {
    const struct ensemble_policy *ensemble;
    struct policy_rows rows;
    struct policy_runtime *voices[ENSEMBLE_MEMBERS_MAX];
    struct policy_runtime *alone[ENSEMBLE_MEMBERS_MAX]; /* the shadows'; NULL: there are none */
    struct shadow *shadows[ENSEMBLE_MEMBERS_MAX];
    struct look *looks;        /* [n_assets] */
    double *closes;            /* [n_assets], of the looks */
    float *said;               /* [n][n_assets] */
    struct policy_vote *votes; /* [n_assets][n], of the last actions; not saved */
    int64_t asked_ns;          /* the last row that was decided; 0: none yet */
    int64_t shadows_ns;        /* the last row of its shadows; 0: none yet */
};

static const struct policy *member(const struct ensemble_runtime *runtime, int m)
{
    return &runtime->ensemble->members[m]->policy;
}

static int n_assets(const struct ensemble_runtime *runtime)
{
    return runtime->ensemble->policy.n_assets;
}

/* ---- creation and end ---- */

static void runtime_destroy(struct policy_runtime *own)
{
    struct ensemble_runtime *runtime = (struct ensemble_runtime *)own;
    if (!runtime)
        return;
    for (int m = 0; m < runtime->ensemble->n; m++) {
        member(runtime, m)->runtime->destroy(runtime->voices[m]);
        member(runtime, m)->runtime->destroy(runtime->alone[m]);
        policy_shadow_destroy(runtime->shadows[m]);
    }
    free(runtime->looks);
    free(runtime->closes);
    free(runtime->said);
    free(runtime->votes);
    free(runtime);
}

static int open_member(struct ensemble_runtime *runtime, int m)
{
    const struct policy *policy = member(runtime, m);
    int r = policy->runtime->create(policy, &runtime->voices[m]);
    if (r < 0 || runtime->ensemble->combine != ENSEMBLE_SHARPE)
        return r;
    r = policy->runtime->create(policy, &runtime->alone[m]);
    return r < 0 ? r : policy_shadow_create(policy, runtime->ensemble->window_bars, &runtime->shadows[m]);
}

static int runtime_create(const struct policy *policy, struct policy_runtime **ret)
{
    const struct ensemble_policy *ensemble = (const struct ensemble_policy *)policy;
    struct ensemble_runtime *runtime = calloc(1, sizeof *runtime);
    size_t assets = (size_t)policy->n_assets, members = (size_t)ensemble->n;
    if (!runtime)
        return -ENOMEM;
    runtime->ensemble = ensemble;
    runtime->rows = policy_rows_of(policy, NULL);
    runtime->looks = calloc(assets, sizeof *runtime->looks);
    runtime->closes = calloc(assets, sizeof *runtime->closes);
    runtime->said = calloc(members * assets, sizeof *runtime->said);
    runtime->votes = calloc(members * assets, sizeof *runtime->votes);
    int r = runtime->looks && runtime->closes && runtime->said && runtime->votes ? 0 : -ENOMEM;
    for (int m = 0; m < ensemble->n && r == 0; m++)
        r = open_member(runtime, m);
    if (r < 0) {
        runtime_destroy((struct policy_runtime *)runtime);
        return r;
    }
    *ret = (struct policy_runtime *)runtime;
    return 0;
}

/* ---- bars ---- */

static void runtime_use(struct policy_runtime *own, const struct trading_calendar *calendar)
{
    struct ensemble_runtime *runtime = (struct ensemble_runtime *)own;
    runtime->rows = policy_rows_of(&runtime->ensemble->policy, calendar);
    for (int m = 0; m < runtime->ensemble->n; m++) {
        member(runtime, m)->runtime->use(runtime->voices[m], calendar);
        if (runtime->alone[m])
            member(runtime, m)->runtime->use(runtime->alone[m], calendar);
    }
}

static int64_t first_row(const struct ensemble_runtime *runtime)
{
    int64_t first_ns = 0;
    for (int m = 0; m < runtime->ensemble->n; m++) {
        int64_t its_ns = member(runtime, m)->runtime->first(runtime->voices[m]);
        if (its_ns == 0)
            return 0;
        first_ns = its_ns > first_ns ? its_ns : first_ns;
    }
    return first_ns;
}

static int64_t runtime_first(const struct policy_runtime *own)
{
    return first_row((const struct ensemble_runtime *)own);
}

/* An action of 1 has the same value in each asset, at its first close from row 0 on. */
static void find_units(struct ensemble_runtime *runtime)
{
    const struct policy_rules *rules = &runtime->ensemble->policy.rules;
    int64_t first_ns = first_row(runtime);
    for (int i = 0; i < n_assets(runtime) && first_ns > 0; i++) {
        struct look *look = &runtime->looks[i];
        if (look->unit == 0 && look->open_ns >= first_ns && look->close > 0)
            look->unit = rules->capital / (look->close * rules->norm_action);
    }
}

static void runtime_see(struct policy_runtime *own, int asset, int64_t open_ns,
                        const struct indicator_bar *bar)
{
    struct ensemble_runtime *runtime = (struct ensemble_runtime *)own;
    struct look *look = &runtime->looks[asset];
    for (int m = 0; m < runtime->ensemble->n; m++) {
        member(runtime, m)->runtime->see(runtime->voices[m], asset, open_ns, bar);
        if (runtime->alone[m])
            member(runtime, m)->runtime->see(runtime->alone[m], asset, open_ns, bar);
    }
    if (open_ns >= look->open_ns) {
        look->open_ns = open_ns;
        look->close = bar->close;
    }
    for (int i = 0; i < n_assets(runtime); i++)
        if (runtime->looks[i].unit == 0) {
            find_units(runtime);
            break;
        }
}

static bool runtime_ready(const struct policy_runtime *own, int64_t open_ns)
{
    const struct ensemble_runtime *runtime = (const struct ensemble_runtime *)own;
    int64_t first_ns = first_row(runtime), behind = runtime->ensemble->policy.lookback - 1;
    if (first_ns == 0 || open_ns < first_ns)
        return false;
    return runtime->asked_ns > 0 || open_ns >= policy_rows_after(&runtime->rows, first_ns, behind);
}

/* The row to continue with: after the last one, or where it begins; bars of rows before the newest one are
 * complete. False: it does not begin before open_ns is over. */
static bool next_row(const struct ensemble_runtime *runtime, int64_t last_ns, int64_t open_ns,
                     int64_t *ret_ns)
{
    const struct policy *policy = &runtime->ensemble->policy;
    int64_t first_ns = first_row(runtime), row_ns;
    if (first_ns == 0 || open_ns < first_ns || open_ns <= last_ns)
        return false;
    row_ns = last_ns > 0 ? policy_rows_next(&runtime->rows, last_ns)
                         : policy_rows_after(&runtime->rows, first_ns, policy->lookback - 1);
    if (last_ns == 0 && open_ns < row_ns)
        return false;
    for (int i = 0; i < n_assets(runtime); i++)
        row_ns = runtime->looks[i].open_ns > row_ns ? runtime->looks[i].open_ns : row_ns;
    *ret_ns = row_ns < open_ns ? row_ns : open_ns;
    return true;
}

/* ---- the shadow accounts ---- */

static void shadow_row(struct ensemble_runtime *runtime, int m, int64_t row_ns)
{
    struct shadow *shadow = runtime->shadows[m];
    float actions[SYMBOLS_MAX];
    const double *qty;
    bool any = false; /* a row without bars only advances time */
    for (int i = 0; i < n_assets(runtime); i++)
        any = any || runtime->looks[i].open_ns == row_ns;
    policy_shadow_mark(shadow, runtime->closes);
    double cash = policy_shadow_holds(shadow, &qty);
    if (!member(runtime, m)->runtime->act(runtime->alone[m], row_ns, cash, qty, any ? actions : NULL))
        return;
    for (int i = 0; i < n_assets(runtime); i++) {
        const struct look *look = &runtime->looks[i];
        if (look->open_ns == row_ns && look->unit > 0)
            policy_shadow_trade(shadow, i, actions[i], look->unit, look->close);
    }
}

void ensemble_shadows_pass(struct policy_runtime *own, int64_t open_ns)
{
    struct ensemble_runtime *runtime = (struct ensemble_runtime *)own;
    int64_t row_ns;
    if (runtime->ensemble->combine != ENSEMBLE_SHARPE ||
        !next_row(runtime, runtime->shadows_ns, open_ns, &row_ns))
        return;
    for (int i = 0; i < n_assets(runtime); i++)
        runtime->closes[i] = runtime->looks[i].close;
    for (; row_ns <= open_ns; row_ns = policy_rows_next(&runtime->rows, row_ns))
        for (int m = 0; m < runtime->ensemble->n; m++)
            shadow_row(runtime, m, row_ns);
    runtime->shadows_ns = open_ns;
}

/* ---- decisions ---- */

/* Asks each member; false where one of them decides nothing. */
static bool ask(struct ensemble_runtime *runtime, int64_t row_ns, double cash, const double *qty, bool wanted)
{
    bool decided = true;
    for (int m = 0; m < runtime->ensemble->n; m++) {
        float *said = wanted ? runtime->said + (size_t)m * (size_t)n_assets(runtime) : NULL;
        decided &= member(runtime, m)->runtime->act(runtime->voices[m], row_ns, cash, qty, said);
    }
    return decided;
}

static bool combine(struct ensemble_runtime *runtime, float *ret_actions)
{
    const struct ensemble_policy *ensemble = runtime->ensemble;
    bool finite = true;
    double sharpes[ENSEMBLE_MEMBERS_MAX];
    for (int m = 0; m < ensemble->n; m++)
        sharpes[m] = runtime->shadows[m] ? policy_shadow_sharpe(runtime->shadows[m]) : NAN;
    for (int i = 0; i < n_assets(runtime); i++) {
        struct policy_vote *votes = runtime->votes + (size_t)i * (size_t)ensemble->n;
        for (int m = 0; m < ensemble->n; m++)
            votes[m] = (struct policy_vote){.action = runtime->said[m * n_assets(runtime) + i],
                                            .sharpe = sharpes[m]};
        ret_actions[i] = ensemble_vote(ensemble->combine, ensemble->n, votes, runtime->looks[i].unit,
                                       ensemble->policy.assets[i].least);
        finite = finite && isfinite(ret_actions[i]);
    }
    return finite;
}

static bool runtime_act(struct policy_runtime *own, int64_t open_ns, double cash, const double *qty,
                        float *ret_actions)
{
    struct ensemble_runtime *runtime = (struct ensemble_runtime *)own;
    float actions[SYMBOLS_MAX];
    int64_t row_ns;
    if (!next_row(runtime, runtime->asked_ns, open_ns, &row_ns))
        return false;
    ensemble_shadows_pass(own, open_ns);
    for (; row_ns < open_ns; row_ns = policy_rows_next(&runtime->rows, row_ns))
        ask(runtime, row_ns, cash, qty, false);
    runtime->asked_ns = open_ns;
    bool decided = ask(runtime, open_ns, cash, qty, ret_actions);
    if (!decided || !ret_actions || !combine(runtime, actions))
        return decided && !ret_actions;
    for (int i = 0; i < n_assets(runtime); i++)
        ret_actions[i] = actions[i];
    return true;
}

static void runtime_votes(const struct policy_runtime *own, int asset, struct policy_vote *ret)
{
    const struct ensemble_runtime *runtime = (const struct ensemble_runtime *)own;
    for (int m = 0; m < runtime->ensemble->n; m++)
        ret[m] = runtime->votes[asset * runtime->ensemble->n + m];
}

/* ---- saving and restoring ---- */

static void visit_time(const struct indicator_stream_fields *fields, int64_t *time_ns)
{
    uint64_t value = (uint64_t)*time_ns;
    fields->count(fields->ctx, &value, INT64_MAX / 2);
    *time_ns = (int64_t)value;
}

static void runtime_visit(struct policy_runtime *own, const struct indicator_stream_fields *fields)
{
    struct ensemble_runtime *runtime = (struct ensemble_runtime *)own;
    visit_time(fields, &runtime->asked_ns);
    visit_time(fields, &runtime->shadows_ns);
    for (int i = 0; i < n_assets(runtime); i++) {
        visit_time(fields, &runtime->looks[i].open_ns);
        fields->number(fields->ctx, &runtime->looks[i].close);
        fields->number(fields->ctx, &runtime->looks[i].unit);
    }
    for (int m = 0; m < runtime->ensemble->n; m++) {
        member(runtime, m)->runtime->visit(runtime->voices[m], fields);
        if (runtime->alone[m])
            member(runtime, m)->runtime->visit(runtime->alone[m], fields);
        if (runtime->shadows[m])
            policy_shadow_visit(runtime->shadows[m], fields);
    }
}

const struct policy_runtime_ops ensemble_runtime_ops = {.use = runtime_use,
                                                        .create = runtime_create,
                                                        .destroy = runtime_destroy,
                                                        .see = runtime_see,
                                                        .first = runtime_first,
                                                        .ready = runtime_ready,
                                                        .act = runtime_act,
                                                        .visit = runtime_visit,
                                                        .votes = runtime_votes};
