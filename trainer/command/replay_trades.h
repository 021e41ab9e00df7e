/* --trades of env-replay: `time,symbol,side,qty,price,fee,kind`, one row a trade; kind is open, stop or, with
 * execution reference, close. */
#ifndef TRAINER_COMMAND_REPLAY_TRADES_H
#define TRAINER_COMMAND_REPLAY_TRADES_H

#include "trainer/env/env.h"

struct replay_trades;

/* Names are borrowed, [n_assets]. 0 or -errno. */
int replay_trades_open(const char *path, struct env *env, const struct env_market *market,
                       const char *const names[], bool reference, struct replay_trades **ret);

/* 0, or -errno of what could not be written. */
int replay_trades_close(struct replay_trades *trades, struct env *env);

#endif
