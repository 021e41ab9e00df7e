/* A trained policy's runtime against the matrix of all bars: whatever is missing, whatever comes late, and
 * from a state on the way, it decides what its networks say of the observation that the rules make. And the
 * cache that keeps such policies, and which ones no account trades by. */
#include "strategy/policy/runtime.h"

#include <errno.h>

#include "indicators_gpu/features/features.h"
#include "strategy/policy/cache.h"
#include "strategy/policy/observation.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/strategy/runtime_tape.h"
#include "tests/strategy/trained_made.h"

enum { SYMBOLS = 3, ROWS = 220, WIDTH = 4, LOOKBACK = 5 };

#define INTERVAL_NS INT64_C(300000000000)
#define START_NS    INT64_C(1745200200000000000)

static const char set_text[] = "set tiny\nclose\nema:5 /close-1\nrsi:7 /100\nadx:4@15m /100\n";

struct bars {
    double columns[6][ROWS]; /* open, high, low, close, volume, seconds; of bars that are there, in order */
    size_t row[ROWS], n;
    bool there[ROWS];
    float *matrix; /* [n][WIDTH] */
};

static double unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static void make_bars(struct bars *bars, struct random *random, bool features, const bool *nothing,
                      size_t from)
{
    double price = 50 + 100 * unit(random);
    memset(bars, 0, sizeof *bars);
    for (size_t row = from; row < ROWS; row++) {
        double open = price, close = price * (1 + 0.02 * (unit(random) - 0.5));
        price = close;
        if (nothing[row] || (row > from && random_chance(random, 8)))
            continue;
        const double bar[6] = {open,
                               (open > close ? open : close) * (1 + 0.01 * unit(random)),
                               (open < close ? open : close) * (1 - 0.01 * unit(random)),
                               close,
                               1000 * unit(random),
                               (double)(START_NS + (int64_t)row * INTERVAL_NS) / 1e9};
        for (int c = 0; c < 6; c++)
            bars->columns[c][bars->n] = bar[c];
        bars->there[row] = true;
        bars->row[bars->n++] = row;
    }
    if (!features)
        return;
    struct feature_set *set;
    char err[512] = "";
    const struct feature_options exact = {.backend = FEATURE_EXACT, .threads = 1};
    const struct feature_bars in = {.columns = {bars->columns[0], bars->columns[1], bars->columns[2],
                                                bars->columns[3], bars->columns[4], bars->columns[5]},
                                    .n = bars->n,
                                    .interval_s = 300};
    bars->matrix = malloc(bars->n * WIDTH * sizeof(float));
    CHECK_INT(feature_set_parse(set_text, &set, err, sizeof err), 0);
    CHECK_INT(feature_matrix(set, &in, &exact, bars->matrix, NULL, err, sizeof err), 0);
    CHECK_STR(err, "");
    feature_set_destroy(set);
}

/* What a symbol shows in a row: the last whole values up to it. False: none so far. */
static bool shown(const struct bars *bars, bool features, size_t row, float *ret)
{
    bool any = false;
    for (size_t k = 0; k < bars->n && bars->row[k] <= row; k++) {
        bool whole = true;
        if (!features) {
            ret[0] = (float)bars->columns[3][k];
            ret[1] = bars->row[k] == row ? (float)bars->columns[4][k] : 0;
            any = true;
            continue;
        }
        for (int f = 0; f < WIDTH; f++)
            whole = whole && isfinite(bars->matrix[k * WIDTH + (size_t)f]);
        if (whole)
            memcpy(ret, bars->matrix + k * WIDTH, WIDTH * sizeof *ret);
        any = any || whole;
    }
    if (!features && any && !bars->there[row])
        ret[1] = 0;
    return any;
}

struct world {
    struct bars bars[SYMBOLS];
    struct trained_policy *trained;
    bool features;
    size_t first; /* row 0 */
    double cash[ROWS], qty[ROWS][SYMBOLS];
};

static void find_first(struct world *w)
{
    float row[WIDTH];
    for (w->first = 0; w->first < ROWS; w->first++) {
        int n = 0;
        for (int i = 0; i < SYMBOLS; i++)
            n += shown(&w->bars[i], w->features, w->first, row);
        if (n == SYMBOLS)
            return;
    }
}

static void build(const struct world *w, size_t row, float *ret)
{
    const struct trained_policy *trained = w->trained;
    float norm = (float)trained->norm_tech, seen[WIDTH];
    *ret++ = (float)(w->cash[row] * trained->norm_cash);
    for (int i = 0; i < SYMBOLS; i++)
        *ret++ = (float)(w->qty[row][i] * trained->norm_stocks);
    for (size_t age = 0; age < LOOKBACK; age++) {
        float *to = ret + age * (w->features ? SYMBOLS * WIDTH : 2 * SYMBOLS);
        for (int i = 0; i < SYMBOLS; i++) {
            CHECK(shown(&w->bars[i], w->features, row - age, seen));
            for (int f = 0; f < WIDTH && w->features; f++)
                to[i * WIDTH + f] = seen[f] * norm;
            if (!w->features) {
                to[i] = seen[0] * norm;
                to[SYMBOLS + i] = seen[1] * norm;
            }
        }
    }
}

/* [ROWS][SYMBOLS]: what the networks say, row by row. */
static void compute(const struct world *w, float (*ret)[SYMBOLS])
{
    struct net_memory *memory;
    float observation[1 + SYMBOLS + LOOKBACK * SYMBOLS * WIDTH];
    CHECK_INT(policy_net_memory_create(w->trained->model, &memory), 0);
    for (size_t row = w->first + LOOKBACK - 1; row < ROWS; row++) {
        build(w, row, observation);
        policy_net_model_act(w->trained->model, memory, observation, ret[row]);
        for (int i = 0; i < SYMBOLS && w->trained->layout.shape.levels > 0; i++)
            ret[row][i] = policy_trained_level_action(w->trained, ret[row][i]);
    }
    policy_net_memory_destroy(memory);
}

static void see(const struct world *w, struct policy_runtime *runtime, int symbol, size_t k)
{
    const struct bars *bars = &w->bars[symbol];
    const struct indicator_bar bar = {bars->columns[0][k], bars->columns[1][k], bars->columns[2][k],
                                      bars->columns[3][k], bars->columns[4][k], bars->columns[5][k]};
    w->trained->policy.runtime->see(runtime, symbol, START_NS + (int64_t)bars->row[k] * INTERVAL_NS, &bar);
}

static bool traded(const struct world *w, size_t row)
{
    return w->bars[0].there[row] || w->bars[1].there[row] || w->bars[2].there[row];
}

/* Row by row; rows without any bar pass before the next bar is seen, as the engine does it. */
static size_t in_order(const struct world *w, struct random *random, float (*right)[SYMBOLS])
{
    const struct policy *policy = &w->trained->policy;
    struct policy_runtime *runtime;
    size_t next[SYMBOLS] = {0}, decided = 0;
    CHECK_INT(policy->runtime->create(policy, &runtime), 0);
    for (size_t row = 0; row < ROWS; row++) {
        int64_t open_ns = START_NS + (int64_t)row * INTERVAL_NS;
        float actions[SYMBOLS];
        if (!traded(w, row))
            continue;
        if (row > 0 && !traded(w, row - 1))
            policy->runtime->act(runtime, open_ns - INTERVAL_NS, w->cash[row - 1], w->qty[row - 1], NULL);
        for (int i = 0; i < SYMBOLS; i++)
            if (w->bars[i].there[row])
                see(w, runtime, i, next[i]++);
        bool wanted = random_chance(random, 70);
        bool decides =
            policy->runtime->act(runtime, open_ns, w->cash[row], w->qty[row], wanted ? actions : NULL);
        CHECK_INT(decides, row >= w->first + LOOKBACK - 1);
        CHECK_INT(policy->runtime->first(runtime),
                  row >= w->first ? START_NS + (int64_t)w->first * INTERVAL_NS : 0);
        CHECK(!policy->runtime->act(runtime, open_ns, w->cash[row], w->qty[row], actions)); /* once a row */
        if (decides && wanted) {
            CHECK(memcmp(actions, right[row], sizeof actions) == 0);
            decided++;
        }
        if (random_chance(random, 20))
            runtime = runtime_moved(policy, runtime);
    }
    policy->runtime->destroy(runtime);
    return decided;
}

/* All bars of one symbol, then those of the next, as a daemon fetches its history: the last row is seen as if
 * they had come row by row, and row 0 is found. */
static void by_symbol(const struct world *w, float (*right)[SYMBOLS])
{
    const struct policy *policy = &w->trained->policy;
    struct policy_runtime *runtime;
    float actions[SYMBOLS];
    size_t row = ROWS - 1;
    CHECK_INT(policy->runtime->create(policy, &runtime), 0);
    for (int i = 0; i < SYMBOLS; i++)
        for (size_t k = 0; k < w->bars[i].n; k++)
            see(w, runtime, i, k);
    CHECK_INT(policy->runtime->first(runtime), START_NS + (int64_t)w->first * INTERVAL_NS);
    CHECK(policy->runtime->act(runtime, START_NS + (int64_t)row * INTERVAL_NS, w->cash[row], w->qty[row],
                               actions));
    CHECK(memcmp(actions, right[row], sizeof actions) == 0);
    policy->runtime->destroy(runtime);
}

static void made_params(struct env_params *params, int levels)
{
    char err[ENV_ERROR_MAX];
    CHECK_INT(env_params_preset("market", params, err), 0);
    params->lookback = LOOKBACK;
    params->norm_tech = 0.01;
    params->norm_stocks = 0.1;
    params->norm_cash = 0.001;
    params->buy_cost_pct = params->sell_cost_pct = (struct env_range){0.001, 0.001};
    if (levels > 0) {
        params->actions = ENV_DISCRETE;
        params->levels = levels;
        params->action_span = 2.5;
    }
}

static int write_and_load(struct trained_made *made, const char *path, struct policy **ret, char *err)
{
    CHECK_INT(policy_trained_write(path, &made->source, err), 0);
    return policy_load(path, NULL, ret, err);
}

static void test_runtime(struct random *random, bool features, int levels, int recurrent)
{
    static struct world w;
    static float right[ROWS][SYMBOLS];
    bool nothing[ROWS] = {false};
    const struct net_shape shape = {
        .n_pi = 2, .pi = {24, 16}, .n_vf = 1, .vf = {8}, .recurrent = recurrent, .layer_norm = features};
    struct env_params params;
    struct trained_made made;
    struct policy *policy = NULL;
    char err[POLICY_ERROR_MAX] = "";
    made_params(&params, levels);
    trained_made_open(&made, random, shape, SYMBOLS, features ? set_text : NULL, WIDTH, &params);
    CHECK_INT(write_and_load(&made, scratch_path("runtime.safetensors"), &policy, err), 0);
    CHECK_STR(err, "");
    if (!policy)
        exit(EXIT_FAILURE);
    w.trained = (struct trained_policy *)policy;
    w.features = features;
    for (size_t row = 0; row < ROWS; row++)
        nothing[row] = random_chance(random, 5) || (row > 100 && row < 110);
    nothing[ROWS - 1] = false;
    for (int i = 0; i < SYMBOLS; i++)
        make_bars(&w.bars[i], random, features, nothing, i == 1 ? 12 : 0);
    for (size_t row = ROWS; row-- > 0;) {
        bool same =
            row + 1 < ROWS && !traded(&w, row) && !traded(&w, row + 1); /* nothing fills between them */
        w.cash[row] = same ? w.cash[row + 1] : 5000 * unit(random);
        for (int i = 0; i < SYMBOLS; i++)
            w.qty[row][i] = same ? w.qty[row + 1][i] : 10 * unit(random);
    }
    find_first(&w);
    CHECK(w.first >= 12 && w.first < 60);
    compute(&w, right);
    size_t decided = in_order(&w, random, right);
    CHECK(decided > 50);
    if (recurrent == 0)
        by_symbol(&w, right);
    printf("runtime: %s, %s%s: %zu decisions as computed\n", features ? "features" : "closes and volumes",
           levels > 0 ? "discrete" : "continuous", recurrent > 0 ? ", recurrent" : "", decided);
    for (int i = 0; i < SYMBOLS; i++)
        free(w.bars[i].matrix);
    policy_destroy(policy);
    trained_made_close(&made);
}

/* ---- the cache ---- */

static void test_cache(struct random *random)
{
    struct env_params params;
    struct trained_made made, other;
    struct policy *policy = NULL;
    char err[POLICY_ERROR_MAX] = "", dir[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    const struct net_shape shape = {.n_pi = 1, .pi = {16}, .n_vf = 1, .vf = {16}};
    scratch_make(dir);
    snprintf(path, sizeof path, "%s", scratch_path("cache.safetensors"));
    made_params(&params, 0);
    trained_made_open(&made, random, shape, 2, NULL, 0, &params);
    trained_made_open(&other, random, shape, 2, NULL, 0, &params);
    CHECK_INT(write_and_load(&made, path, &policy, err), 0);
    if (!policy)
        exit(EXIT_FAILURE);
    struct policy_cache *cache = policy_cache_open(dir);
    struct policies policies = policy_cache_find(cache);
    CHECK(!policies.find(policies.ctx, policy->id));
    for (int i = 0; i < 2; i++) /* the second time it is there */
        CHECK_INT(policy_keep(policy, path, dir, err), 0);
    const struct policy *found = policies.find(policies.ctx, policy->id);
    CHECK(found && found != policy && memcmp(found->id, policy->id, POLICY_ID_SIZE) == 0 && found->runtime);
    policy_cache_close(cache);
    /* A file that was changed since it was read is not kept for it. */
    scratch_remove(dir);
    CHECK_INT(policy_trained_write(path, &other.source, err), 0);
    CHECK_INT(policy_keep(policy, path, dir, err), -ESTALE);
    CHECK(strstr(err, "its file is another than the one that was read"));
    cache = policy_cache_open(dir);
    policies = policy_cache_find(cache);
    CHECK(!policies.find(policies.ctx, policy->id));
    policy_cache_close(cache);
    CHECK(policy_keep(policy, "/nonexistent", dir, err) < 0);
    policy_destroy(policy);
    trained_made_close(&made);
    trained_made_close(&other);
}

static void refused(struct random *random, const struct env_params *params, int n, const char *why)
{
    struct trained_made made;
    struct policy *policy = NULL;
    char err[POLICY_ERROR_MAX] = "";
    struct net_shape shape = {.n_pi = 1, .pi = {16}, .n_vf = 1, .vf = {16}, .observation = 4, .actions = 2};
    trained_made_open(&made, random, shape, n, NULL, 0, params);
    if (n == 1 && params->task == ENV_DAY_TRADE) { /* two actions of one asset */
        free(made.params);
        free(made.mean);
        free(made.scale);
        shape = made.layout.shape;
        shape.actions = 2;
        trained_made_networks(&made, random, &shape);
    }
    CHECK_INT(write_and_load(&made, scratch_path("refused.safetensors"), &policy, err), -EINVAL);
    CHECK(strstr(err, "refused.safetensors: ") && strstr(err, why));
    policy_destroy(policy);
    trained_made_close(&made);
}

static void test_refused(struct random *random)
{
    struct env_params params;
    made_params(&params, 0);
    refused(random, &params, 0, "it was trained in cartpole");
    params.execution = ENV_REFERENCE;
    refused(random, &params, 2, "execution = reference, and an account here trades as market does");
    made_params(&params, 0);
    params.sell_cost_pct = (struct env_range){0.002, 0.002};
    refused(random, &params, 2, "buy_cost_pct 0.001 and sell_cost_pct 0.002");
    made_params(&params, 0);
    params.task = ENV_DAY_TRADE;
    params.shorts = true;
    refused(random, &params, 1, "shorts = true, and an account here trades as false does");
}

/* ---- what its observations are ---- */

/* As a trainer has it, which keeps the sets and not their text. */
static void made_hash(const struct trained_made *made, const struct env_params *params,
                      const char *const *sets, char ret[static OBSERVATION_HASH_SIZE])
{
    struct feature_set *parsed[2] = {NULL, NULL};
    char err[512];
    for (int i = 0; i < 2 && sets; i++)
        CHECK_INT(feature_set_parse(sets[i], &parsed[i], err, sizeof err), 0);
    const struct observation_layout layout = {.n_assets = 2,
                                              .assets = made->assets,
                                              .sets = sets ? (const struct feature_set *const *)parsed : NULL,
                                              .interval_ns = made->source.interval_ns,
                                              .lookback = params->lookback,
                                              .norm_cash = params->norm_cash,
                                              .norm_stocks = params->norm_stocks,
                                              .norm_tech = params->norm_tech};
    CHECK_INT(policy_observation_hash(&layout, ret), 0);
    for (int i = 0; i < 2; i++)
        feature_set_destroy(parsed[i]);
}

static bool names(const char *err, const char *hash)
{
    char digits[13];
    snprintf(digits, sizeof digits, "%.12s", hash);
    return strstr(err, digits) != NULL;
}

/* 0, or refused with both hashes: what it was trained on, and what it says now; the sentence is whole. */
static void loads(struct trained_made *made, const char *now)
{
    struct policy *policy = NULL;
    char err[POLICY_ERROR_MAX] = "";
    int r = write_and_load(made, scratch_path("observation.safetensors"), &policy, err);
    CHECK_INT(r, now ? -EINVAL : 0);
    CHECK(!now || (names(err, made->source.observation_hash) && names(err, now)));
    CHECK(!now || (strstr(err, "as it was trained is right") && strlen(err) < 300 + 200));
    if (r < 0 && (!now || !names(err, now)))
        fprintf(stderr, "%s\n", err);
    policy_destroy(policy);
}

static void test_observation(struct random *random, bool features)
{
    static const char fitted[] =
        "set tiny\nfitted 0 3600\nclose minmax 1 0.25\nema:5 /close-1 zscore 0.5 2\nrsi:7 /100\n";
    static const char swapped[] =
        "set tiny\nfitted 0 3600\nema:5 /close-1 zscore 0.5 2\nclose minmax 1 0.25\nrsi:7 /100\n";
    static const char refitted[] =
        "set tiny\nfitted 0 3600\nclose minmax 1 0.25\nema:5 /close-1 zscore 0.5 3\nrsi:7 /100\n";
    const struct net_shape shape = {.n_pi = 1, .pi = {16}, .n_vf = 1, .vf = {16}};
    struct env_params params, other;
    struct trained_made made;
    char hash[OBSERVATION_HASH_SIZE], now[OBSERVATION_HASH_SIZE];
    made_params(&params, 0);
    trained_made_open(&made, random, shape, 2, features ? fitted : NULL, 3, &params);
    loads(&made, NULL); /* as older files are */
    made_hash(&made, &params, made.source.sets, hash);
    made.source.observation_hash = hash;
    loads(&made, NULL);

    /* Features in another order, of other figures; symbols, scales, the interval that are others. */
    for (int k = 0; k < 2 && features; k++) {
        made.sets[k] = k ? refitted : swapped;
        made_hash(&made, &params, made.source.sets, now);
        CHECK(strcmp(now, hash) != 0);
        loads(&made, now);
        made.sets[k] = fitted;
    }
    struct policy_asset first = made.assets[0];
    made.assets[0] = made.assets[1];
    made.assets[1] = first;
    made_hash(&made, &params, made.source.sets, now);
    loads(&made, now);
    made.assets[1] = made.assets[0];
    made.assets[0] = first;
    made.source.interval_ns *= 3;
    made_hash(&made, &params, made.source.sets, now);
    loads(&made, now);
    made.source.interval_ns /= 3;
    for (int k = 0; k < 3; k++) {
        other = params;
        *(k == 0 ? &other.norm_cash : k == 1 ? &other.norm_stocks : &other.norm_tech) *= 2;
        trained_environment_text(&other, made.environment, sizeof made.environment);
        made_hash(&made, &other, made.source.sets, now);
        loads(&made, now);
    }
    trained_environment_text(&params, made.environment, sizeof made.environment);

    /* The hash itself. */
    char before = hash[11];
    snprintf(now, sizeof now, "%s", hash);
    hash[11] = before == '0' ? '1' : '0';
    loads(&made, now);
    hash[11] = 'x';
    struct policy *policy;
    char err[POLICY_ERROR_MAX] = "";
    CHECK_INT(write_and_load(&made, scratch_path("observation.safetensors"), &policy, err), -EINVAL);
    CHECK(strstr(err, "observation_hash") && strstr(err, "64 digits"));
    hash[11] = before;
    loads(&made, NULL);
    trained_made_close(&made);
}

int main(void)
{
    struct random random = random_seeded("runtime", 20261122);
    test_runtime(&random, false, 0, 0);
    test_runtime(&random, true, 0, 0);
    test_runtime(&random, true, 5, 0);
    test_runtime(&random, false, 3, 16);
    test_runtime(&random, true, 0, 32);
    test_cache(&random);
    test_refused(&random);
    test_observation(&random, false);
    test_observation(&random, true);
    return check_done("strategy/runtime");
}
