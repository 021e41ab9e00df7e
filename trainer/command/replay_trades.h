/* --trades of env-replay: `ts_ns,symbol,side,price,qty,notional,fee,kind`, one row a trade. Columns that
 * `papertape backtest --trades` has are written as it writes them; with execution reference, whose quantities
 * are no lots, as numbers. kind is open, stop (inside the bar) or, with execution reference, close. */
#ifndef TRAINER_COMMAND_REPLAY_TRADES_H
#define TRAINER_COMMAND_REPLAY_TRADES_H

#include "engine/market/market.h"
#include "trainer/env/env.h"

struct replay_trades;

/* `bars` are those that env_market was made of, asset by asset; borrowed. 0 or -errno. */
int trainer_replay_trades_open(const char *path, struct env *env, const struct env_market *env_market,
                               const struct market *bars, bool reference, struct replay_trades **ret);

/* 0, or -errno of what could not be written. */
int trainer_replay_trades_close(struct replay_trades *trades, struct env *env);

/* The same for callers that receive trades themselves. */
int trainer_replay_trades_create(const char *path, const struct env_market *env_market,
                                 const struct market *bars, bool reference, struct replay_trades **ret);
void trainer_replay_trades_write(const struct replay_trades *trades, const struct env_trade *trade);
int trainer_replay_trades_destroy(struct replay_trades *trades);

#endif
