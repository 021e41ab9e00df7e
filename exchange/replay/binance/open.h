/* What the options name, ready to play into a tape. */
#ifndef EXCHANGE_REPLAY_BINANCE_OPEN_H
#define EXCHANGE_REPLAY_BINANCE_OPEN_H

#include "exchange/replay/options.h"
#include "exchange/replay/source.h"

/* 0, or a negative errno with an error in one line. */
int replay_open_source(const struct options *options, struct tape *tape, struct replay_source **ret,
                       char error[static SOURCE_ERROR_MAX]);

#endif
