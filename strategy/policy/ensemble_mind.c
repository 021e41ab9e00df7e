/* What an ensemble remembers for an account: a mind of each member, and where members weigh by what they
 * earned, another of each for its shadow account. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "indicators_gpu/indicators.h"
#include "strategy/policy/ensemble_internal.h"

/* One asset, as it was shown last. */
struct look {
    double close;
    int64_t open_ns; /* 0: no bar yet */
    double unit;     /* units in an action of 1; 0: not known yet */
};

struct policy_mind {
    const struct ensemble_policy *ensemble;
    struct policy_mind *voices[ENSEMBLE_MEMBERS_MAX];
    struct policy_mind *alone[ENSEMBLE_MEMBERS_MAX]; /* the shadows'; NULL: there are none */
    struct shadow *shadows[ENSEMBLE_MEMBERS_MAX];
    struct look *looks;        /* [n_assets] */
    double *closes;            /* [n_assets], of the looks */
    float *said;               /* [n][n_assets] */
    struct policy_vote *votes; /* [n_assets][n], of the last actions; not remembered */
    int64_t asked_ns;          /* the last row that it was asked of; 0: none yet */
    int64_t shadows_ns;        /* the last row that its shadows went by; 0: none yet */
};

static const struct policy *member(const struct policy_mind *mind, int m)
{
    return &mind->ensemble->members[m]->policy;
}

static int n_assets(const struct policy_mind *mind)
{
    return mind->ensemble->policy.n_assets;
}

/* ---- made and left ---- */

static void mind_destroy(struct policy_mind *mind)
{
    if (!mind)
        return;
    for (int m = 0; m < mind->ensemble->n; m++) {
        member(mind, m)->mind->destroy(mind->voices[m]);
        member(mind, m)->mind->destroy(mind->alone[m]);
        policy_shadow_destroy(mind->shadows[m]);
    }
    free(mind->looks);
    free(mind->closes);
    free(mind->said);
    free(mind->votes);
    free(mind);
}

static int open_member(struct policy_mind *mind, int m)
{
    const struct policy *policy = member(mind, m);
    int r = policy->mind->create(policy, &mind->voices[m]);
    if (r < 0 || mind->ensemble->combine != ENSEMBLE_SHARPE)
        return r;
    r = policy->mind->create(policy, &mind->alone[m]);
    return r < 0 ? r : policy_shadow_create(policy, mind->ensemble->window_bars, &mind->shadows[m]);
}

static int mind_create(const struct policy *policy, struct policy_mind **ret)
{
    const struct ensemble_policy *ensemble = (const struct ensemble_policy *)policy;
    struct policy_mind *mind = calloc(1, sizeof *mind);
    size_t assets = (size_t)policy->n_assets, members = (size_t)ensemble->n;
    if (!mind)
        return -ENOMEM;
    mind->ensemble = ensemble;
    mind->looks = calloc(assets, sizeof *mind->looks);
    mind->closes = calloc(assets, sizeof *mind->closes);
    mind->said = calloc(members * assets, sizeof *mind->said);
    mind->votes = calloc(members * assets, sizeof *mind->votes);
    int r = mind->looks && mind->closes && mind->said && mind->votes ? 0 : -ENOMEM;
    for (int m = 0; m < ensemble->n && r == 0; m++)
        r = open_member(mind, m);
    if (r < 0) {
        mind_destroy(mind);
        return r;
    }
    *ret = mind;
    return 0;
}

/* ---- what it sees ---- */

static int64_t mind_first(const struct policy_mind *mind)
{
    int64_t first_ns = 0;
    for (int m = 0; m < mind->ensemble->n; m++) {
        int64_t its_ns = member(mind, m)->mind->first(mind->voices[m]);
        if (its_ns == 0)
            return 0;
        first_ns = its_ns > first_ns ? its_ns : first_ns;
    }
    return first_ns;
}

/* An action of 1 is worth the same money in each asset, at its first close from row 0 on. */
static void find_units(struct policy_mind *mind)
{
    const struct policy_rules *rules = &mind->ensemble->policy.rules;
    int64_t first_ns = mind_first(mind);
    for (int i = 0; i < n_assets(mind) && first_ns > 0; i++) {
        struct look *look = &mind->looks[i];
        if (look->unit == 0 && look->open_ns >= first_ns && look->close > 0)
            look->unit = rules->capital / (look->close * rules->norm_action);
    }
}

static void mind_see(struct policy_mind *mind, int asset, int64_t open_ns, const struct indicator_bar *bar)
{
    struct look *look = &mind->looks[asset];
    for (int m = 0; m < mind->ensemble->n; m++) {
        member(mind, m)->mind->see(mind->voices[m], asset, open_ns, bar);
        if (mind->alone[m])
            member(mind, m)->mind->see(mind->alone[m], asset, open_ns, bar);
    }
    if (open_ns >= look->open_ns) {
        look->open_ns = open_ns;
        look->close = bar->close;
    }
    for (int i = 0; i < n_assets(mind); i++)
        if (mind->looks[i].unit == 0) {
            find_units(mind);
            break;
        }
}

/* The row to go on with: after the last one, or where it begins; what was seen at rows before the newest one
 * is over. False: it does not begin before open_ns is over. */
static bool next_row(const struct policy_mind *mind, int64_t last_ns, int64_t open_ns, int64_t *ret_ns)
{
    const struct policy *policy = &mind->ensemble->policy;
    int64_t first_ns = mind_first(mind), row_ns = first_ns + (policy->lookback - 1) * policy->interval_ns;
    if (first_ns == 0 || open_ns < row_ns || open_ns <= last_ns)
        return false;
    if (last_ns > 0)
        row_ns = last_ns + policy->interval_ns;
    for (int i = 0; i < n_assets(mind); i++)
        row_ns = mind->looks[i].open_ns > row_ns ? mind->looks[i].open_ns : row_ns;
    *ret_ns = row_ns < open_ns ? row_ns : open_ns;
    return true;
}

/* ---- the shadow accounts ---- */

static void shadow_row(struct policy_mind *mind, int m, int64_t row_ns)
{
    struct shadow *shadow = mind->shadows[m];
    float actions[SYMBOLS_MAX];
    const double *qty;
    bool any = false; /* a row without bars only passes */
    for (int i = 0; i < n_assets(mind); i++)
        any = any || mind->looks[i].open_ns == row_ns;
    policy_shadow_mark(shadow, mind->closes);
    double cash = policy_shadow_holds(shadow, &qty);
    if (!member(mind, m)->mind->act(mind->alone[m], row_ns, cash, qty, any ? actions : NULL))
        return;
    for (int i = 0; i < n_assets(mind); i++) {
        const struct look *look = &mind->looks[i];
        if (look->open_ns == row_ns && look->unit > 0)
            policy_shadow_trade(shadow, i, actions[i], look->unit, look->close);
    }
}

void ensemble_shadows_pass(struct policy_mind *mind, int64_t open_ns)
{
    int64_t row_ns;
    if (mind->ensemble->combine != ENSEMBLE_SHARPE || !next_row(mind, mind->shadows_ns, open_ns, &row_ns))
        return;
    for (int i = 0; i < n_assets(mind); i++)
        mind->closes[i] = mind->looks[i].close;
    for (; row_ns <= open_ns; row_ns += mind->ensemble->policy.interval_ns)
        for (int m = 0; m < mind->ensemble->n; m++)
            shadow_row(mind, m, row_ns);
    mind->shadows_ns = open_ns;
}

/* ---- what it does ---- */

/* The members, each by itself: false where one of them decides nothing. */
static bool ask(struct policy_mind *mind, int64_t row_ns, double cash, const double *qty, bool wanted)
{
    bool decided = true;
    for (int m = 0; m < mind->ensemble->n; m++) {
        float *said = wanted ? mind->said + (size_t)m * (size_t)n_assets(mind) : NULL;
        decided &= member(mind, m)->mind->act(mind->voices[m], row_ns, cash, qty, said);
    }
    return decided;
}

static bool combine(struct policy_mind *mind, float *ret_actions)
{
    const struct ensemble_policy *ensemble = mind->ensemble;
    bool finite = true;
    double sharpes[ENSEMBLE_MEMBERS_MAX];
    for (int m = 0; m < ensemble->n; m++)
        sharpes[m] = mind->shadows[m] ? policy_shadow_sharpe(mind->shadows[m]) : NAN;
    for (int i = 0; i < n_assets(mind); i++) {
        struct policy_vote *votes = mind->votes + (size_t)i * (size_t)ensemble->n;
        for (int m = 0; m < ensemble->n; m++)
            votes[m] =
                (struct policy_vote){.action = mind->said[m * n_assets(mind) + i], .sharpe = sharpes[m]};
        ret_actions[i] = ensemble_vote(ensemble->combine, ensemble->n, votes, mind->looks[i].unit,
                                       ensemble->policy.assets[i].least);
        finite = finite && isfinite(ret_actions[i]);
    }
    return finite;
}

static bool mind_act(struct policy_mind *mind, int64_t open_ns, double cash, const double *qty,
                     float *ret_actions)
{
    float actions[SYMBOLS_MAX];
    int64_t row_ns;
    if (!next_row(mind, mind->asked_ns, open_ns, &row_ns))
        return false;
    ensemble_shadows_pass(mind, open_ns);
    for (; row_ns < open_ns; row_ns += mind->ensemble->policy.interval_ns)
        ask(mind, row_ns, cash, qty, false);
    mind->asked_ns = open_ns;
    bool decided = ask(mind, open_ns, cash, qty, ret_actions);
    if (!decided || !ret_actions || !combine(mind, actions))
        return decided && !ret_actions;
    for (int i = 0; i < n_assets(mind); i++)
        ret_actions[i] = actions[i];
    return true;
}

static void mind_votes(const struct policy_mind *mind, int asset, struct policy_vote *ret)
{
    for (int m = 0; m < mind->ensemble->n; m++)
        ret[m] = mind->votes[asset * mind->ensemble->n + m];
}

/* ---- what it remembers ---- */

static void visit_time(const struct indicator_stream_fields *fields, int64_t *time_ns)
{
    uint64_t value = (uint64_t)*time_ns;
    fields->count(fields->ctx, &value, INT64_MAX / 2);
    *time_ns = (int64_t)value;
}

static void mind_visit(struct policy_mind *mind, const struct indicator_stream_fields *fields)
{
    visit_time(fields, &mind->asked_ns);
    visit_time(fields, &mind->shadows_ns);
    for (int i = 0; i < n_assets(mind); i++) {
        visit_time(fields, &mind->looks[i].open_ns);
        fields->number(fields->ctx, &mind->looks[i].close);
        fields->number(fields->ctx, &mind->looks[i].unit);
    }
    for (int m = 0; m < mind->ensemble->n; m++) {
        member(mind, m)->mind->visit(mind->voices[m], fields);
        if (mind->alone[m])
            member(mind, m)->mind->visit(mind->alone[m], fields);
        if (mind->shadows[m])
            policy_shadow_visit(mind->shadows[m], fields);
    }
}

const struct policy_mind_ops ensemble_mind = {.create = mind_create,
                                              .destroy = mind_destroy,
                                              .see = mind_see,
                                              .first = mind_first,
                                              .act = mind_act,
                                              .visit = mind_visit,
                                              .votes = mind_votes};
