#include "exchange/history/row.h"

enum { BUYER_MAKER = 1, ODD = 2 };

void history_row_of_bar(const struct bar *bar, int64_t ret[static HISTORY_BAR_WORDS])
{
    ret[0] = bar->open_ns;
    ret[1] = bar->open;
    ret[2] = bar->high;
    ret[3] = bar->low;
    ret[4] = bar->close;
    ret[5] = bar->trades;
    ret[6] = (int64_t)(bar->volume >> 64); /* the upper halves, then the lower ones */
    ret[7] = (int64_t)(bar->quote_volume >> 64);
    ret[8] = (int64_t)(uint64_t)bar->volume;
    ret[9] = (int64_t)(uint64_t)bar->quote_volume;
}

static int128_t whole_of(int64_t high, int64_t low)
{
    return (int128_t)((uint128_t)(uint64_t)high << 64 | (uint64_t)low);
}

struct bar history_row_bar(const int64_t row[static HISTORY_BAR_WORDS])
{
    return (struct bar){
        .open_ns = row[0],
        .open = row[1],
        .high = row[2],
        .low = row[3],
        .close = row[4],
        .trades = row[5],
        .volume = whole_of(row[6], row[8]),
        .quote_volume = whole_of(row[7], row[9]),
        .first_trade_id = -1,
        .last_trade_id = -1,
    };
}

void history_row_of_trade(const struct market_trade *trade, int64_t ret[static HISTORY_TRADE_WORDS])
{
    ret[0] = trade->ts_ns;
    ret[1] = trade->id;
    ret[2] = trade->price;
    ret[3] = trade->qty;
    ret[4] = trade->first_id;
    ret[5] = trade->last_id;
    ret[6] = (trade->buyer_maker ? BUYER_MAKER : 0) | (trade->odd ? ODD : 0);
}

struct market_trade history_row_trade(const int64_t row[static HISTORY_TRADE_WORDS])
{
    return (struct market_trade){
        .ts_ns = row[0],
        .id = row[1],
        .price = row[2],
        .qty = row[3],
        .first_id = row[4],
        .last_id = row[5],
        .buyer_maker = (row[6] & BUYER_MAKER) != 0,
        .odd = (row[6] & ODD) != 0,
    };
}
