#include "trainer/env/env.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "strategy/policy/limit_rules.h"
#include "trainer/env/begin.h"
#include "trainer/env/internal.h"
#include "trainer/env/refusal.h"

enum {
    LINE = 64,
    HUGE_PAGE = 2 << 20,
    COPIES_MAX = 1 << 26,
    THREADS_MAX = 1024,
    EPISODES_FIT = 4,
    EPISODE_ROWS_MAX = 500,
};

static const double QTY_MAX = 1e30, WORTH_MAX = 1e37;

static size_t rounded_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Places all columns in `memory`, or with NULL only counts: the bytes. */
static size_t lay_columns(struct env *env, char *memory)
{
    size_t n, bytes = 0;
    const struct env_column *columns = env_columns(&n);
    const struct env_params *params = &env->view.params;
    for (size_t i = 0; i < n; i++) {
        if (!env_column_used(&columns[i], params))
            continue;
        if (memory)
            env_column_set(&columns[i], &env->view, memory + bytes);
        size_t elements = env->view.state.stride * (columns[i].assets ? (size_t)env->view.state.n : 1);
        bytes += rounded_up(elements * env_column_size(&columns[i], params), LINE);
    }
    return bytes;
}

static int allocate_columns(struct env *env, char err[static ENV_ERROR_MAX])
{
    size_t bytes = lay_columns(env, NULL);
    size_t alignment = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : LINE;
    bytes = rounded_up(bytes, alignment);
    env->memory = aligned_alloc(alignment, bytes);
    if (!env->memory)
        return env_refuse(-ENOMEM, err, "copies: %zu: no memory for %zu bytes", env->view.state.copies,
                          bytes);
    if (alignment == HUGE_PAGE)
        madvise(env->memory, bytes, MADV_HUGEPAGE); /* faster where the system grants it */
    memset(env->memory, 0, bytes);
    lay_columns(env, env->memory);
    return 0;
}

const char *env_window_fault(const struct env_view *view, int64_t start, int64_t rows)
{
    int64_t all = (int64_t)view->market.rows, least = 2 * (int64_t)view->params.lookback + 1;
    if (start < 0)
        return "a row from 0 on is right";
    if (start < view->market.first_row)
        return "the market's features have no values there yet";
    if (rows != 0 && rows < least)
        return "an episode needs 2 * lookback + 1 rows";
    if (start > all - (rows ? rows : least))
        return "the market ends before the episode does";
    return NULL;
}

/* Rows of an episode whose start is drawn, where the parameters give none: EPISODES_FIT of them fit into the
 * longest stretch of rows, each of at most EPISODE_ROWS_MAX. */
static int64_t fitting_episode(const struct env_view *view)
{
    const int64_t least = 2 * (int64_t)view->params.lookback + 1;
    int64_t rows = (int64_t)view->market.rows - view->params.start;
    for (int32_t i = 0; i < view->market.n_blocks; i++) {
        int64_t length = view->market.blocks[i].to - view->market.blocks[i].from;
        rows = i == 0 || length > rows ? length : rows;
    }
    rows = rows / EPISODES_FIT < EPISODE_ROWS_MAX ? rows / EPISODES_FIT : EPISODE_ROWS_MAX;
    return rows > least ? rows : least;
}

/* The parameters' rules about a market's blocks: NULL, or what is wrong. */
static const char *block_fault(const struct env_view *view)
{
    int64_t rows = view->params.episode_bars;
    if (view->params.start != 0)
        return "the market's blocks say where episodes begin: 0 is right";
    if (rows != 0 && rows < 2 * (int64_t)view->params.lookback + 1)
        return "an episode needs 2 * lookback + 1 rows";
    for (int32_t i = 0; i < view->market.n_blocks; i++)
        if (env_block_starts(view, &view->market.blocks[i]) > 0)
            return NULL;
    return "no block of the market has room for an episode";
}

/* Features were multiplied and sessions laid out when the market was made. */
static int check_made_for(const struct env_params *params, const struct env_params *made,
                          char err[static ENV_ERROR_MAX])
{
    if (params->norm_tech != made->norm_tech)
        return env_refuse(-EINVAL, err, "norm_tech: %.12g: this market was made for %.12g", params->norm_tech,
                          made->norm_tech);
    if (params->task == ENV_DAY_TRADE && (params->session_close_s != made->session_close_s ||
                                          strcmp(params->session_zone, made->session_zone) != 0))
        return env_refuse(-EINVAL, err, "session_close_s: %d in %s: this market was made for %d in %s",
                          params->session_close_s, params->session_zone, made->session_close_s,
                          made->session_zone);
    return 0;
}

/* Quantities and what they may be worth stay far within float32: in each row the largest action may be
 * bought, at the lowest price, and all be worth the highest; so may the benchmark. */
static int check_scale(const struct env_params *params, const struct env_market *market,
                       char err[static ENV_ERROR_MAX])
{
    const struct env_market_view *view = env_market_view(market);
    const double capital = params->initial_capital.high;
    double worth = capital;
    for (int32_t i = 0; i < view->n; i++) {
        float least = view->close[i], dearest = least;
        for (size_t r = 0; r < view->rows; r++) {
            float close = view->close[r * (size_t)view->row_stride + (size_t)i];
            least = fminf(least, close);
            dearest = fmaxf(dearest, close);
        }
        double most = POLICY_ACTION_MAX * capital / ((double)least * params->norm_action);
        if (most > QTY_MAX)
            return env_refuse(
                -EINVAL, err,
                "norm_action: %.12g: an action of %g would be %.3g of %s at %.3g; at most %g is right",
                params->norm_action, POLICY_ACTION_MAX, most, env_market_asset(market, i), (double)least,
                QTY_MAX);
        worth += ((double)view->rows * most + capital / (double)least) * (double)dearest;
        if (params->execution == ENV_REFERENCE && worth > WORTH_MAX)
            return env_refuse(
                -EINVAL, err,
                "initial_capital: %.12g: %s bought at %.3g may be worth %.3g at %.3g; at most %g "
                "is right",
                capital, env_market_asset(market, i), (double)least, worth, (double)dearest, WORTH_MAX);
    }
    return 0;
}

static int check_options(const struct env_params *params, const struct env_market_view *market,
                         const struct env_options *options, char err[static ENV_ERROR_MAX])
{
    int rc = env_params_check(params, market->n, err);
    if (rc < 0)
        return rc;
    if (options->copies < 1 || options->copies > COPIES_MAX)
        return env_refuse(-EINVAL, err, "copies: %lld: from 1 to %d is right", (long long)options->copies,
                          COPIES_MAX);
    if (options->threads < 0 || options->threads > THREADS_MAX)
        return env_refuse(-EINVAL, err, "threads: %d: from 1 to %d is right, or 0 for one", options->threads,
                          THREADS_MAX);
    if ((unsigned)options->backend > ENV_AVX512 || !env_backend_works(options->backend))
        return env_refuse(-EINVAL, err, "backend: %s: this processor lacks it; best is right everywhere",
                          env_backend_name(options->backend));
    if (params->execution == ENV_MARKET && !market->bars)
        return env_refuse(-EINVAL, err, "execution: market: this market was made for execution reference");
    if (params->task == ENV_DAY_TRADE && !market->session)
        return env_refuse(-EINVAL, err, "task: day-trade: this market was made for task portfolio");
    return 0;
}

/* The backend's own kernel, or the scalar one. */
static void choose_kernels(struct env *env, enum env_backend backend)
{
    const struct env_params *params = &env->view.params;
    const struct env_market_view *market = &env->view.market;
    env->backend = backend == ENV_BEST ? env_backend_best() : backend;
    const struct env_kernels *kernels = env_backend_kernels(env->backend);
    bool ends = market->open_ns && market->gaps; /* purchases end with the session */
    if (policy_has_limits(&params->limits) || ends)
        env->step = env_scalar_kernels.step[params->execution][params->task]; /* the only one that has that */
    else
        env->step = kernels->step[params->execution][params->task];
    if (!env->step)
        env->step = env_scalar_kernels.step[params->execution][params->task];
    env->observe = kernels->observe ? kernels->observe : env_scalar_kernels.observe;
}

int env_create(const struct env_params *params, const struct env_market *market,
               const struct env_options *options, struct env **ret, char err[static ENV_ERROR_MAX])
{
    if (!params || !market || !options)
        return env_refuse(-EINVAL, err, "%s: NULL: %s is needed",
                          !params   ? "params"
                          : !market ? "market"
                                    : "options",
                          !params   ? "what env_params_preset() fills in"
                          : !market ? "what env_market_create() makes"
                                    : "the number of copies");
    const struct env_market_view *sold = env_market_view(market);
    int rc = check_options(params, sold, options, err);
    if (rc == 0)
        rc = check_made_for(params, env_market_params(market), err);
    if (rc == 0)
        rc = check_scale(params, market, err);
    if (rc == 0 && params->execution == ENV_MARKET)
        rc = env_check_capital(params, sold->symbols[0].money_units, err);
    if (rc < 0)
        return rc;
    struct env *env = calloc(1, sizeof *env);
    if (!env)
        return env_refuse(-ENOMEM, err, "env: no memory for %zu bytes", sizeof *env);
    env->market = market;
    struct env_view *view = &env->view;
    *view = (struct env_view){
        .params = *params,
        .market = *sold,
        .seed = options->seed,
        .action_size = params->task == ENV_DAY_TRADE ? 2 : sold->n,
        .observation_size = 1 + sold->n + params->lookback * sold->n_features,
        .interval_ns = sold->interval_ns,
        .state = {.copies = options->copies, .stride = env_stride(options->copies), .n = sold->n},
    };
    if (view->params.start < sold->first_row && sold->n_blocks == 0)
        view->params.start = sold->first_row;
    if (view->params.random_start && view->params.episode_bars == 0)
        view->params.episode_bars = fitting_episode(view);
    const char *fault = sold->n_blocks > 0
                            ? block_fault(view)
                            : env_window_fault(view, view->params.start, view->params.episode_bars);
    if (fault) {
        rc = env_refuse(-EINVAL, err, "start: %lld: %s: rows %zu, lookback %d, episode_bars %lld",
                        (long long)view->params.start, fault, sold->rows, params->lookback,
                        (long long)params->episode_bars);
        goto fail;
    }
    choose_kernels(env, options->backend);
    if (!env->step) {
        rc = env_refuse(-EINVAL, err, "execution, task: this pair is not supported");
        goto fail;
    }
    rc = allocate_columns(env, err);
    if (rc < 0)
        goto fail;
    rc = env_pool_create(options->threads ? options->threads : 1, &env->pool);
    if (rc < 0) {
        env_refuse(rc, err, "threads: %d: %s", options->threads, strerror(-rc));
        goto fail;
    }
    env_reset(env, NULL);
    *ret = env;
    return 0;

fail:
    env_destroy(env);
    return rc;
}

void env_destroy(struct env *env)
{
    if (!env)
        return;
    env_pool_destroy(env->pool);
    free(env->memory);
    free(env->starts);
    free(env->lengths);
    free(env);
}

size_t env_copies(const struct env *env)
{
    return env->view.state.copies;
}

int env_action_size(const struct env *env)
{
    return env->view.action_size;
}

int env_observation_size(const struct env *env)
{
    return env->view.observation_size;
}

struct reset {
    const struct env_view *view;
    const uint8_t *mask;
};

static void reset_range(void *data, size_t first, size_t end)
{
    const struct reset *reset = data;
    for (size_t e = first; e < end; e++)
        if (!reset->mask || reset->mask[e])
            env_begin(reset->view, e, reset->view->params.execution);
}

void env_reset(struct env *env, const uint8_t *mask)
{
    struct reset reset = {&env->view, mask};
    env_pool_run(env->pool, env->view.state.copies, reset_range, &reset);
}

int env_windows(struct env *env, const int64_t *starts, const int64_t *bars, char err[static ENV_ERROR_MAX])
{
    struct env_view *view = &env->view;
    size_t copies = view->state.copies;
    if (view->market.n_blocks > 0)
        return env_refuse(-EINVAL, err, "windows: the market's blocks say where episodes begin: none");
    for (size_t e = 0; e < copies; e++) {
        int64_t start = starts ? starts[e] : view->params.start;
        int64_t rows = bars ? bars[e] : view->params.episode_bars;
        const char *fault = env_window_fault(view, start, rows);
        if (fault)
            return env_refuse(-EINVAL, err, "copy %zu: start %lld, bars %lld: %s: the market has %zu rows", e,
                              (long long)start, (long long)rows, fault, view->market.rows);
    }
    if (starts && !env->starts)
        env->starts = calloc(copies, sizeof *env->starts);
    if (bars && !env->lengths)
        env->lengths = calloc(copies, sizeof *env->lengths);
    if ((starts && !env->starts) || (bars && !env->lengths))
        return env_refuse(-ENOMEM, err, "copies: %zu: no memory for their windows", copies);
    for (size_t e = 0; e < copies; e++) {
        if (starts)
            env->starts[e] = (int32_t)starts[e];
        if (bars)
            env->lengths[e] = (int32_t)bars[e];
    }
    view->starts = starts ? env->starts : NULL;
    view->lengths = bars ? env->lengths : NULL;
    return 0;
}

struct stepping {
    struct env *env;
    const struct env_step_io *io;
};

static void step_range(void *data, size_t first, size_t end)
{
    const struct stepping *stepping = data;
    stepping->env->step(&stepping->env->view, stepping->io, first, end);
}

/* Is any of them not finite? Without branches, so that the compiler vectorises it. */
static bool any_not_finite(const float *values, size_t n)
{
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        found |= (bits & 0x7fffffffu) + 0x00800000u; /* into the sign where the exponent is all ones */
    }
    return found >> 31;
}

static bool any_no_level(const float *values, size_t n, int levels)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found |= !(values[i] >= 0 && values[i] < (float)levels && values[i] == (float)(int)values[i]);
    return found;
}

int env_check_actions(const struct env *env, const struct env_step_io *io, char err[static ENV_ERROR_MAX])
{
    const struct env_view *view = &env->view;
    bool discrete = view->params.actions == ENV_DISCRETE;
    size_t n = view->state.copies * (size_t)view->action_size;
    if (!any_not_finite(io->actions, n) && (!discrete || !any_no_level(io->actions, n, view->params.levels)))
        return 0;
    for (size_t e = 0; e < view->state.copies; e++) {
        for (int k = 0; k < view->action_size; k++) {
            float action = io->actions[e * io->copy_step + (size_t)k * io->action_step];
            bool bad = any_not_finite(&action, 1);
            if (!bad && !(discrete && any_no_level(&action, 1, view->params.levels)))
                continue;
            const char *what = view->params.task == ENV_DAY_TRADE ? (k ? "size" : "direction")
                                                                  : env_market_asset(env->market, k);
            if (bad || !discrete)
                return env_refuse(-EINVAL, err, "action: copy %zu, %s: %g: a finite number is right", e, what,
                                  (double)action);
            return env_refuse(-EINVAL, err, "action: copy %zu, %s: %g: a level from 0 to %d is right", e,
                              what, (double)action, view->params.levels - 1);
        }
    }
    return 0;
}

int env_step(struct env *env, const struct env_io *io, char err[static ENV_ERROR_MAX])
{
    size_t copies = env->view.state.copies, actions = (size_t)env->view.action_size;
    struct env_step_io step = {
        .actions = io->actions,
        .copy_step = io->actions_by_column ? 1 : actions,
        .action_step = io->actions_by_column ? copies : 1,
        .rewards = io->rewards,
        .terminated = io->terminated,
        .truncated = io->truncated,
        .final_obs = io->final_obs,
    };
    int rc = env_check_actions(env, &step, err);
    if (rc < 0)
        return rc;
    struct stepping stepping = {env, &step};
    if (env->view.traded)
        step_range(&stepping, 0, copies); /* trades are reported in order: one thread */
    else
        env_pool_run(env->pool, copies, step_range, &stepping);
    return 0;
}

int env_trades(struct env *env, env_trade_fn *trade, void *ctx)
{
    if (env->backend != ENV_SCALAR)
        return -ENOTSUP;
    env->view.traded = trade;
    env->view.traded_ctx = ctx;
    return 0;
}

struct observing {
    const struct env *env;
    float *ret;
};

static void observe_range(void *data, size_t first, size_t end)
{
    const struct observing *observing = data;
    observing->env->observe(&observing->env->view, observing->ret, first, end);
}

void env_observe(const struct env *env, float *ret)
{
    struct observing observing = {env, ret};
    env_pool_run(env->pool, env->view.state.copies, observe_range, &observing);
}
