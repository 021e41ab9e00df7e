#include "strategy/policy/runtime.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "indicators_gpu/features/chain.h"
#include "indicators_gpu/features/stream.h"
#include "strategy/policy/observation.h"
#include "strategy/policy/rows.h"
#include "strategy/policy/session_columns.h"

static const int64_t SECOND_NS = 1000000000;

/* One symbol's bars so far. */
struct sight {
    struct feature_set *set; /* NULL: its close and its volume */
    struct feature_plan *plan;
    struct feature_stream *stream;
    size_t at, n;     /* its columns of a row */
    int64_t since_ns; /* the first bar at which all of its features have values; 0: none yet */
    /* Of a market with a calendar: its bars without the nights, and the last one. */
    struct feature_chain chain;
    int64_t seen_ns;
};

/* The struct policy_runtime of a trained policy. */
struct trained_runtime {
    const struct trained_policy *trained;
    struct policy_rows rows;
    struct sight *sights; /* [n_assets] */
    size_t width;         /* of a row */
    size_t session_at;    /* of its session's columns, after all symbols' features */
    float *observation;   /* the account, then the rows, newest first */
    float *row;           /* one symbol's features */
    struct net_memory *memory;
    int64_t newest_ns; /* the newest row; 0: none yet */
    int64_t asked_ns;  /* the last row that was decided; 0: none yet */
};

static int n_assets(const struct trained_runtime *runtime)
{
    return runtime->trained->policy.n_assets;
}

static float *row_of(const struct trained_runtime *runtime, size_t age)
{
    return runtime->observation + 1 + n_assets(runtime) + age * runtime->width;
}

/* ---- creation and end ---- */

static int open_sight(const struct trained_policy *trained, int asset, struct sight *sight)
{
    const struct policy *policy = &trained->policy;
    char err[256];
    if (!trained->sets)
        return 0;
    int r = feature_set_parse(trained->sets[asset], &sight->set, err, sizeof err);
    if (r == 0)
        r = feature_plan_create(sight->set, policy->interval_ns / SECOND_NS, &sight->plan, err, sizeof err);
    if (r == 0)
        r = feature_stream_open(sight->plan, &sight->stream);
    return r;
}

static void runtime_destroy(struct policy_runtime *own)
{
    struct trained_runtime *runtime = (struct trained_runtime *)own;
    if (!runtime)
        return;
    for (int i = 0; runtime->sights && i < n_assets(runtime); i++) {
        feature_stream_close(runtime->sights[i].stream);
        feature_plan_destroy(runtime->sights[i].plan);
        feature_set_destroy(runtime->sights[i].set);
    }
    policy_net_memory_destroy(runtime->memory);
    free(runtime->sights);
    free(runtime->observation);
    free(runtime->row);
    free(runtime);
}

static int runtime_create(const struct policy *policy, struct policy_runtime **ret)
{
    const struct trained_policy *trained = (const struct trained_policy *)policy;
    struct trained_runtime *runtime = calloc(1, sizeof *runtime);
    if (!runtime)
        return -ENOMEM;
    runtime->trained = trained;
    runtime->rows = policy_rows_of(policy, NULL);
    runtime->sights = calloc((size_t)policy->n_assets, sizeof *runtime->sights);
    int r = runtime->sights ? 0 : -ENOMEM;
    size_t widest = 2;
    for (int i = 0; i < policy->n_assets && r == 0; i++) {
        struct sight *sight = &runtime->sights[i];
        r = open_sight(trained, i, sight);
        sight->n = sight->set ? sight->set->n : 2;
        sight->at = runtime->width;
        runtime->width += sight->n;
        widest = sight->n > widest ? sight->n : widest;
    }
    runtime->session_at = runtime->width;
    runtime->width += policy_session_columns_count(trained->session_columns);
    if (r == 0)
        r = policy_net_memory_create(trained->model, &runtime->memory);
    if (r == 0) {
        size_t seen = 1 + (size_t)policy->n_assets + (size_t)policy->lookback * runtime->width;
        runtime->observation = calloc(seen, sizeof *runtime->observation);
        runtime->row = malloc(widest * sizeof *runtime->row);
        r = runtime->observation && runtime->row ? 0 : -ENOMEM;
    }
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
    struct trained_runtime *runtime = (struct trained_runtime *)own;
    runtime->rows = policy_rows_of(&runtime->trained->policy, calendar);
}

/* Advances by a row, which repeats the one before; without a trade there is no volume. */
static void push_row(struct trained_runtime *runtime)
{
    int lookback = runtime->trained->policy.lookback;
    float *newest = row_of(runtime, 0);
    memmove(newest + runtime->width, newest, (size_t)(lookback - 1) * runtime->width * sizeof *newest);
    for (int i = 0; !runtime->trained->sets && i < n_assets(runtime); i++)
        newest[n_assets(runtime) + i] = 0;
}

/* The session of the newest row, which opens at that time. */
static void show_session(struct trained_runtime *runtime, int64_t open_ns)
{
    const struct policy_rows *rows = &runtime->rows;
    float *to = row_of(runtime, 0) + runtime->session_at, norm = (float)runtime->trained->norm_tech;
    if (runtime->session_at == runtime->width)
        return;
    policy_session_columns_fill(runtime->trained->session_columns, rows->calendar, rows->interval_ns, open_ns,
                                to);
    for (size_t k = runtime->session_at; k < runtime->width; k++)
        *to++ *= norm;
}

/* Advances by n rows, the first of which follows the one that opens at *ns, which becomes the last one's
 * time; of very many only the last ones are kept. */
static void push_rows(struct trained_runtime *runtime, int64_t n, int64_t *ns)
{
    int lookback = runtime->trained->policy.lookback;
    bool timed = runtime->trained->session_columns != 0;
    for (n = timed || n < lookback ? n : lookback; n > 0; n--) {
        if (timed)
            *ns = policy_rows_next(&runtime->rows, *ns);
        if (n > lookback)
            continue;
        push_row(runtime);
        show_session(runtime, *ns);
    }
}

/* Advances to that time. */
static void go_to(struct trained_runtime *runtime, int64_t open_ns)
{
    int64_t ns = runtime->newest_ns;
    if (open_ns <= ns)
        return;
    push_rows(runtime, policy_rows_between(&runtime->rows, ns, open_ns), &ns);
    show_session(runtime, open_ns); /* where the calendar does not reach, that is another time than ns */
    runtime->newest_ns = open_ns;
}

/* The close from its row on, the volume in its row only. */
static void show_bar(struct trained_runtime *runtime, int asset, const struct indicator_bar *bar, int64_t age)
{
    int lookback = runtime->trained->policy.lookback, n = n_assets(runtime);
    float norm = (float)runtime->trained->norm_tech;
    for (int64_t k = 0; k <= age && k < lookback; k++)
        row_of(runtime, (size_t)k)[asset] = (float)bar->close * norm;
    if (age < lookback)
        row_of(runtime, (size_t)age)[n + asset] = (float)bar->volume * norm;
}

/* The bar as its indicators see it. */
static struct indicator_bar chained(const struct trained_runtime *runtime, struct sight *sight,
                                    int64_t open_ns, const struct indicator_bar *bar)
{
    bool first = policy_rows_begins(&runtime->rows, sight->seen_ns, open_ns);
    sight->seen_ns = open_ns;
    return runtime->trained->policy.session == SESSION_ALL ? *bar
                                                           : feature_chain_next(&sight->chain, bar, first);
}

static bool show_features(struct trained_runtime *runtime, struct sight *sight, int64_t open_ns,
                          const struct indicator_bar *bar, int64_t age)
{
    int lookback = runtime->trained->policy.lookback;
    float norm = (float)runtime->trained->norm_tech;
    const struct indicator_bar shown = chained(runtime, sight, open_ns, bar);
    if (feature_stream_update(sight->stream, &shown, runtime->row) != 1)
        return false;
    for (int64_t k = 0; k <= age && k < lookback; k++)
        for (size_t f = 0; f < sight->n; f++)
            row_of(runtime, (size_t)k)[sight->at + f] = runtime->row[f] * norm;
    return true;
}

static void runtime_see(struct policy_runtime *own, int asset, int64_t open_ns,
                        const struct indicator_bar *bar)
{
    struct trained_runtime *runtime = (struct trained_runtime *)own;
    struct sight *sight = &runtime->sights[asset];
    bool has = true;
    if (runtime->newest_ns == 0) {
        runtime->newest_ns = open_ns;
        show_session(runtime, open_ns);
    }
    go_to(runtime, open_ns);
    int64_t age = policy_rows_between(&runtime->rows, open_ns, runtime->newest_ns);
    if (sight->set)
        has = show_features(runtime, sight, open_ns, bar, age);
    else
        show_bar(runtime, asset, bar, age);
    if (has && sight->since_ns == 0)
        sight->since_ns = open_ns;
}

static int64_t runtime_first(const struct policy_runtime *own)
{
    const struct trained_runtime *runtime = (const struct trained_runtime *)own;
    int64_t first_ns = 0;
    for (int i = 0; i < n_assets(runtime); i++) {
        int64_t since_ns = runtime->sights[i].since_ns;
        if (since_ns == 0)
            return 0;
        first_ns = since_ns > first_ns ? since_ns : first_ns;
    }
    return first_ns;
}

/* Rows are counted up to the first decision only: a calendar need not reach back to row 0 for ever. */
static bool runtime_ready(const struct policy_runtime *own, int64_t open_ns)
{
    const struct trained_runtime *runtime = (const struct trained_runtime *)own;
    int64_t first_ns = runtime_first(own);
    if (first_ns == 0 || open_ns < first_ns)
        return false;
    return runtime->asked_ns > 0 ||
           policy_rows_between(&runtime->rows, first_ns, open_ns) >= runtime->trained->policy.lookback - 1;
}

/* ---- decisions ---- */

float policy_trained_level_action(const struct trained_policy *trained, float level)
{
    int middle = trained->layout.shape.levels / 2;
    return (level - (float)middle) * (float)(trained->action_span / (double)middle);
}

/* A level or a number as the action that it is; of task day-trade the second is a size. */
static float action_of(const struct trained_policy *trained, int place, float said)
{
    bool day = trained->policy.day_trade;
    int levels = trained->layout.shape.levels;
    if (day && place == 1) {
        float size = levels > 0 ? said / (float)(levels - 1) : said;
        return size < 0 ? 0.0f : size > 1 ? 1.0f : size;
    }
    float action = levels > 0 ? policy_trained_level_action(trained, said) : said;
    return !day ? action : action < -1 ? -1.0f : action > 1 ? 1.0f : action;
}

static bool decide(struct trained_runtime *runtime, float *ret_actions)
{
    const struct trained_policy *trained = runtime->trained;
    int n = policy_actions(&trained->policy);
    float said[SYMBOLS_MAX + 1];
    policy_net_model_act(trained->model, runtime->memory, runtime->observation, said);
    for (int i = 0; i < n; i++)
        if (!isfinite(said[i]))
            return false;
    for (int i = 0; i < n && ret_actions; i++)
        ret_actions[i] = action_of(trained, i, said[i]);
    return true;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The rows before this one at which a recurrent network decides without an order: those since the last
 * decision, or since the first one, whose bars are complete. */
static int64_t passed(const struct trained_runtime *runtime, int64_t first_ns, int64_t open_ns)
{
    const struct policy_rows *rows = &runtime->rows;
    int64_t behind = runtime->asked_ns > 0 ? policy_rows_between(rows, runtime->asked_ns, open_ns) - 1
                                           : policy_rows_between(rows, first_ns, open_ns) -
                                                 (runtime->trained->policy.lookback - 1);
    return at_most(behind, policy_rows_between(rows, runtime->newest_ns, open_ns));
}

static bool runtime_act(struct policy_runtime *own, int64_t open_ns, double cash, const double *qty,
                        float *ret_actions)
{
    struct trained_runtime *runtime = (struct trained_runtime *)own;
    const struct trained_policy *trained = runtime->trained;
    const struct policy *policy = &trained->policy;
    int64_t first_ns = runtime_first(own);
    bool recurrent = trained->layout.shape.recurrent > 0, decided = true;
    if (open_ns <= runtime->asked_ns || !runtime_ready(own, open_ns))
        return false;
    runtime->observation[0] = (float)(cash * trained->norm_cash);
    for (int i = 0; i < policy->n_assets; i++)
        runtime->observation[1 + i] = (float)(qty[i] * trained->norm_stocks);
    if (recurrent) {
        int64_t ns = runtime->newest_ns, ahead = policy_rows_between(&runtime->rows, ns, open_ns);
        for (int64_t n = passed(runtime, first_ns, open_ns); n > 0; n--) {
            push_rows(runtime, ahead - n, &ns);
            ahead = n;
            decide(runtime, NULL);
        }
        push_rows(runtime, ahead, &ns);
        runtime->newest_ns = open_ns > runtime->newest_ns ? open_ns : runtime->newest_ns;
    }
    go_to(runtime, open_ns);
    runtime->asked_ns = open_ns;
    if (recurrent || ret_actions)
        decided = decide(runtime, ret_actions);
    return decided;
}

/* ---- saving and restoring ---- */

static void visit_time(const struct indicator_stream_fields *fields, int64_t *time_ns)
{
    uint64_t value = (uint64_t)*time_ns;
    fields->count(fields->ctx, &value, INT64_MAX / 2);
    *time_ns = (int64_t)value;
}

static void visit_floats(const struct indicator_stream_fields *fields, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double value = (double)values[i];
        fields->number(fields->ctx, &value);
        values[i] = (float)value;
    }
}

static void runtime_visit(struct policy_runtime *own, const struct indicator_stream_fields *fields)
{
    struct trained_runtime *runtime = (struct trained_runtime *)own;
    size_t n_hidden;
    float *hidden = policy_net_memory_hidden(runtime->memory, &n_hidden);
    visit_time(fields, &runtime->newest_ns);
    visit_time(fields, &runtime->asked_ns);
    for (int i = 0; i < n_assets(runtime); i++) {
        visit_time(fields, &runtime->sights[i].since_ns);
        if (runtime->sights[i].stream)
            feature_stream_visit(runtime->sights[i].stream, fields);
        if (runtime->trained->policy.session != SESSION_ALL) { /* others have the bytes of before it was */
            visit_time(fields, &runtime->sights[i].seen_ns);
            fields->number(fields->ctx, &runtime->sights[i].chain.factor);
            fields->number(fields->ctx, &runtime->sights[i].chain.close);
        }
    }
    visit_floats(fields, row_of(runtime, 0), (size_t)runtime->trained->policy.lookback * runtime->width);
    visit_floats(fields, hidden, n_hidden);
}

static const struct policy_runtime_ops trained_runtime_ops = {.use = runtime_use,
                                                              .create = runtime_create,
                                                              .destroy = runtime_destroy,
                                                              .see = runtime_see,
                                                              .first = runtime_first,
                                                              .ready = runtime_ready,
                                                              .act = runtime_act,
                                                              .visit = runtime_visit};

/* ---- which policies have one ---- */

/* The value of a key in the environment's text, into buf. False: there is none, or it does not fit. */
static bool policy_trained_environment_get(const struct trained_policy *trained, const char *key, char *buf,
                                           size_t cap)
{
    size_t len = strlen(key);
    for (const char *line = trained->environment; line && *line;) {
        const char *end = strchrnul(line, '\n');
        if ((size_t)(end - line) > len && strncmp(line, key, len) == 0 && line[len] == '=') {
            size_t n = (size_t)(end - line) - len - 1;
            if (n >= cap)
                return false;
            memcpy(buf, line + len + 1, n);
            buf[n] = '\0';
            return true;
        }
        line = *end ? end + 1 : end;
    }
    return false;
}

static int refuse_key(const struct trained_policy *trained, const char *key, const char *right,
                      char why[static POLICY_ERROR_MAX])
{
    char value[64];
    if (!policy_trained_environment_get(trained, key, value, sizeof value))
        return fail_with(-EINVAL, why, POLICY_ERROR_MAX, "its environment has no %s: %s is right here", key,
                         right);
    if (strcmp(value, right) == 0)
        return 0;
    return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                     "it was trained with %s = %s, and an account here trades as %s does", key, value, right);
}

static int check_environment(const struct trained_policy *trained, char why[static POLICY_ERROR_MAX])
{
    char buy[64], sell[64];
    if (trained->world)
        return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                         "it was trained in %.64s: one that was trained on a market is right",
                         trained->world);
    int r = refuse_key(trained, "execution", "market", why);
    if (r == 0)
        r = refuse_key(trained, "shorts", "false", why);
    if (r < 0)
        return r;
    if (policy_trained_environment_get(trained, "buy_cost_pct", buy, sizeof buy) &&
        policy_trained_environment_get(trained, "sell_cost_pct", sell, sizeof sell) && strcmp(buy, sell) != 0)
        return fail_with(
            -EINVAL, why, POLICY_ERROR_MAX,
            "it was trained with buy_cost_pct %s and sell_cost_pct %s: an account has one rate for both", buy,
            sell);
    return 0;
}

int policy_trained_observation_check(const struct trained_policy *trained, const char *hash,
                                     char why[static POLICY_ERROR_MAX])
{
    const char *right = trained->observation_hash;
    if (!right || strcmp(right, hash) == 0)
        return 0;
    return fail_with(
        -EINVAL, why, POLICY_ERROR_MAX,
        "observation_hash: it was trained on %.12s…, and the symbols, interval, features, norms, lookback, "
        "calendar and session of its metadata give %.12s…: the file as it was trained is right",
        right, hash);
}

/* Compares the observation that a runtime builds with the policy's hash. */
static int check_observation(const struct trained_runtime *runtime, char why[static POLICY_ERROR_MAX])
{
    const struct trained_policy *trained = runtime->trained;
    char hash[OBSERVATION_HASH_SIZE];
    size_t n = (size_t)trained->policy.n_assets;
    const struct feature_set **sets = trained->sets ? calloc(n, sizeof *sets) : NULL;
    for (size_t i = 0; i < n && sets; i++)
        sets[i] = runtime->sights[i].set;
    const struct observation_layout layout = {.n_assets = trained->policy.n_assets,
                                              .assets = trained->policy.assets,
                                              .sets = sets,
                                              .interval_ns = trained->policy.interval_ns,
                                              .session = trained->policy.session,
                                              .session_columns = trained->session_columns,
                                              .lookback = trained->policy.lookback,
                                              .norm_cash = trained->norm_cash,
                                              .norm_stocks = trained->norm_stocks,
                                              .norm_tech = trained->norm_tech};
    int r = trained->sets && !sets ? -ENOMEM : policy_observation_hash(&layout, hash);
    free(sets);
    if (r < 0)
        snprintf(why, POLICY_ERROR_MAX, "out of memory");
    return r < 0 ? r : policy_trained_observation_check(trained, hash, why);
}

/* Creates a runtime to check its feature sets and observation. */
static int check_sight(const struct trained_policy *trained, char why[static POLICY_ERROR_MAX])
{
    const struct policy *policy = &trained->policy;
    struct policy_runtime *own;
    int r = runtime_create(policy, &own);
    if (r < 0) {
        snprintf(why, POLICY_ERROR_MAX, "%s",
                 r == -ENOMEM ? "out of memory" : "features: its sets do not fit its interval");
        return r;
    }
    const struct trained_runtime *runtime = (const struct trained_runtime *)own;
    size_t seen = 1 + (size_t)policy->n_assets + (size_t)policy->lookback * runtime->width;
    bool fits = seen == (size_t)trained->layout.shape.observation &&
                trained->layout.shape.actions == policy_actions(policy);
    r = fits ? check_observation(runtime, why) : 0;
    runtime_destroy(own);
    if (fits)
        return r;
    return fail_with(-EINVAL, why, POLICY_ERROR_MAX,
                     "its network takes %d numbers and gives %d actions, and its market has %zu and %d",
                     trained->layout.shape.observation, trained->layout.shape.actions, seen,
                     policy_actions(policy));
}

int policy_trained_runtime_prepare(struct trained_policy *trained, char why[static POLICY_ERROR_MAX])
{
    int r = check_environment(trained, why);
    if (r == 0)
        r = check_sight(trained, why);
    if (r == 0)
        trained->policy.runtime = &trained_runtime_ops;
    return r;
}
