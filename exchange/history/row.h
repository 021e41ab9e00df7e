/* The rows of a series' file: 64-bit words, the first one the time. Those of one time are ascending by
 * another word. */
#ifndef EXCHANGE_HISTORY_ROW_H
#define EXCHANGE_HISTORY_ROW_H

#include "exchange/market.h"

enum {
    HISTORY_BAR_WORDS = 10,
    HISTORY_BAR_KEY = 0, /* the word by which a row is found again: its open time */
    HISTORY_TRADE_WORDS = 7,
    HISTORY_TRADE_KEY = 1, /* beside its time its id */
};

void history_row_of_bar(const struct bar *bar, int64_t ret[static HISTORY_BAR_WORDS]);
struct bar history_row_bar(const int64_t row[static HISTORY_BAR_WORDS]);
void history_row_of_trade(const struct market_trade *trade, int64_t ret[static HISTORY_TRADE_WORDS]);
struct market_trade history_row_trade(const int64_t row[static HISTORY_TRADE_WORDS]);

#endif
