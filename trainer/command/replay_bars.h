/* The bars of env-replay. */
#ifndef TRAINER_COMMAND_REPLAY_BARS_H
#define TRAINER_COMMAND_REPLAY_BARS_H

#include "engine/market/market.h"
#include "trainer/command/replay_params.h"

/* Loads FOLDER/{SYMBOL}USDT_{INTERVAL}.csv.gz of the symbols, or .csv where that is not there, with the
 * filters of an exchangeInfo (NULL: by default), and finds the row of first_bar. 0 with *ret for
 * market_store_close(); what market_store_load_files() says; -EINVAL where the bars are of another interval,
 * no bar opens at first_bar, one symbol has none then, or another close than first_close; with a sentence.
 * `params_path` is for that. */
int trainer_replay_bars_load(const struct replay_params *params, const char *params_path, const char *folder,
                             const char *exchange_info, struct market **ret, size_t *ret_first,
                             char err[static MARKET_ERROR_MAX]);

#endif
