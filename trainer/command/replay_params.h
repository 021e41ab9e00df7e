/* PARAMS.json of env-replay (docs/environment.md, "Files"). */
#ifndef TRAINER_COMMAND_REPLAY_PARAMS_H
#define TRAINER_COMMAND_REPLAY_PARAMS_H

#include <jansson.h>

#include "exchange/symbol.h"
#include "trainer/env/params.h"

enum { REPLAY_ERROR_MAX = 1024 };

struct replay_params {
    int n_symbols;
    char (*symbols)[SYMBOL_NAME_MAX]; /* [n_symbols]: "BTC" */
    double *min_order_qty;            /* [n_symbols] */
    int64_t first_ns, interval_ns;
    double *first_close; /* [n_symbols] closes of the first bar, or NULL: the file has none */
    size_t bars;
    struct env_params env;
    json_t *json; /* as it was read */
};

/* Reads it. `preset` and `execution` are the command line's, NULL where it has none. 0, for
 * trainer_replay_params_finish(); -ENOENT and other errors of opening; -EINVAL with a sentence; *ret is
 * untouched on failure. */
int trainer_replay_params_read(const char *path, const char *preset, const char *execution,
                               struct replay_params *ret, char err[static REPLAY_ERROR_MAX]);
void trainer_replay_params_finish(struct replay_params *params);

#endif
