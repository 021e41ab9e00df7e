/* The environment's own structures, for its files and for tests that look inside. */
#ifndef TRAINER_ENV_INTERNAL_H
#define TRAINER_ENV_INTERNAL_H

#include "trainer/env/columns.h"
#include "trainer/env/env.h"
#include "trainer/env/pool.h"
#include "trainer/env/view.h"

struct env {
    struct env_view view;
    const struct env_market *market;
    enum env_backend backend; /* never ENV_BEST */
    env_step_fn *step;
    env_observe_fn *observe;
    struct env_pool *pool;
    void *memory;              /* all columns */
    int32_t *starts, *lengths; /* of env_windows(); [copies], made when first asked for */
};

/* What the market was made for: its features and sessions are as these say. */
const struct env_params *env_market_params(const struct env_market *market);

/* env_fingerprint() of what is read of it: the same for markets of the same content, at any address. */
uint64_t env_market_fingerprint(const struct env_market *market);

/* May `to` continue from a state of `from`? 0; -EINVAL unless copies, assets, all parameters and the market
 * are the same: err names the first that is not. */
int env_check_same(const struct env *from, const struct env *to, char err[static ENV_ERROR_MAX]);

/* Is the capital of ENV_MARKET a unit of the quote at least, and exact? 0, or -EINVAL. */
int env_check_capital(const struct env_params *params, double money_units, char err[static ENV_ERROR_MAX]);

/* 0; -EINVAL for an action that is not finite, or no level: err names copy and asset. */
int env_check_actions(const struct env *env, const struct env_step_io *io, char err[static ENV_ERROR_MAX]);

/* The parameters' rules about windows, for one copy; 0 rows: to the end. NULL, or what is wrong. */
const char *env_window_fault(const struct env_view *view, int64_t start, int64_t rows);

/* Which kernels a backend has on this processor. NULL: not built, or not on this processor. */
const struct env_kernels *env_backend_kernels(enum env_backend backend);

/* The widest that works. */
enum env_backend env_backend_best(void);

/* A hash of content: 64 bits of all bytes, in four chains of xor, multiplication and rotation, at the speed
 * of memory. Each step is a bijection of what came before and of the next word, so contents that differ in
 * one word never have the same hash; others with a chance of about 2^-64. It guards against mistakes, not
 * against a deliberate collision. Continues from `before`, 0 at first; NULL with 0 bytes is fine. The number
 * of bytes counts, too. */
uint64_t env_fingerprint(uint64_t before, const void *data, size_t bytes);

#endif
