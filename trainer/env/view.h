/* What a backend steps: the whole environment as plain values and pointers, the same for scalar C, SIMD and a
 * device's kernels. */
#ifndef TRAINER_ENV_VIEW_H
#define TRAINER_ENV_VIEW_H

#include "trainer/env/state.h"
#include "trainer/env/trade.h"

/* What happens to one copy is written once, in headers (begin.h, finish.h, scalar/reference.h,
 * scalar/market.h, scalar/day_trade.h, scalar/observe.h), as ENV_RULE functions of (const struct env_view *,
 * …, size_t copy): the scalar kernels call them in a loop, a device's kernels from a thread a copy. So they
 * are both C and C++ (void pointers are cast), keep nothing in arrays of n_assets, and call only other rules
 * and libm's exact functions. */
#define ENV_RULE   FILL_RULE
#define ENV_APART  FILL_APART
#define ENV_ROLLED FILL_ROLLED
#define ENV_FOUR   FILL_FOUR

struct env_view {
    struct env_params params;
    struct env_market_view market;
    struct env_state state;
    struct env_ended ended;
    uint64_t seed;
    int32_t action_size, observation_size;
    const int32_t *starts, *lengths; /* [copies] of env_windows(), or NULL */
    int64_t interval_ns;
    env_trade_fn *traded; /* NULL, or called by the scalar kernels for each trade: env_trades() */
    void *traded_ctx;
};

/* One step's columns, as struct env_io; already checked. */
struct env_step_io {
    const float *actions;
    size_t copy_step, action_step; /* action k of copy e is at actions[e * copy_step + k * action_step] */
    float *rewards;
    uint8_t *terminated, *truncated;
    float *final_obs;
};

/* Steps copies [first, end); `first` is a multiple of ENV_LANES, `end` too or the number of copies. */
typedef void env_step_fn(const struct env_view *view, const struct env_step_io *io, size_t first, size_t end);

/* Writes rows [first, end) of the observations. */
typedef void env_observe_fn(const struct env_view *view, float *ret, size_t first, size_t end);

/* A backend: [execution][task]; NULL where it has none and the scalar one is taken. */
struct env_kernels {
    env_step_fn *step[2][2];
    env_observe_fn *observe;
};
extern const struct env_kernels env_scalar_kernels, env_baseline_kernels, env_avx2_kernels,
    env_avx512_kernels;

#endif
