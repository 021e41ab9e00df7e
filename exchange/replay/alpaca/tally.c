#include "exchange/replay/alpaca/tally.h"

#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/sessions.h"

bool replay_tally_quiet(const struct made *made, int symbol, int64_t minute, struct tally *ret)
{
    int64_t ohlc[4];
    if (tally_priced(ret) || !replay_made_quiet(made, symbol, minute, ohlc))
        return false;
    *ret = (struct tally){
        .begin_ns = minute * MADE_MINUTE, .open = ohlc[0], .high = ohlc[1], .low = ohlc[2], .close = ohlc[3]};
    return true;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void replay_tally_trade(struct tally *tally, const struct made_trade *trade, int64_t as_of_ns)
{
    int64_t price = trade->price, size = trade->size;
    if (trade->reported_ns > as_of_ns)
        return;
    if (trade->revision != MADE_STANDS && trade->revised_ns <= as_of_ns) {
        if (trade->revision == MADE_CANCELLED)
            return;
        price = trade->new_price;
        size = trade->new_size;
    }
    tally->count++;
    tally->volume += size;
    tally->turnover += (int128_t)price * size;
    if (trade->odd)
        return;
    if (!tally_priced(tally))
        tally->open = tally->high = tally->low = price;
    tally->high = max64(tally->high, price);
    tally->low = min64(tally->low, price);
    tally->close = price;
}

void replay_tally_join(struct tally *tally, const struct tally *later)
{
    tally->count += later->count;
    tally->volume += later->volume;
    tally->turnover += later->turnover;
    if (!tally_priced(later))
        return;
    bool first = !tally_priced(tally);
    tally->open = first ? later->open : tally->open;
    tally->high = first ? later->high : max64(tally->high, later->high);
    tally->low = first ? later->low : min64(tally->low, later->low);
    tally->close = later->close;
}

bool replay_tally_same(const struct tally *a, const struct tally *b)
{
    return a->open == b->open && a->high == b->high && a->low == b->low && a->close == b->close &&
           a->volume == b->volume && a->count == b->count && a->turnover == b->turnover;
}

int64_t replay_tally_vwap(const struct tally *tally)
{
    return tally->volume > 0 ? (int64_t)(tally->turnover / tally->volume) : 0;
}

bool replay_tally_minute(struct made *made, int symbol, int64_t minute, enum made_feed feed, int64_t as_of_ns,
                         struct tally *ret)
{
    struct made_tick ticks[MADE_TICKS_MAX];
    size_t n = replay_made_minute(made, symbol, minute, ticks);
    *ret = (struct tally){.begin_ns = minute * MADE_MINUTE};
    for (size_t i = 0; i < n; i++)
        if (ticks[i].traded && (feed == MADE_FEED_ALL || ticks[i].iex))
            replay_tally_trade(ret, &ticks[i].trade, as_of_ns);
    if (n == 0)
        replay_tally_quiet(made, symbol, minute, ret);
    return tally_priced(ret);
}

void replay_tally_day(const struct made *made, int symbol, int64_t ns, int64_t *ret_begin_ns,
                      int64_t *ret_end_ns)
{
    enum { DAY_S = EASTERN_DAY_S };
    if (made->symbols[symbol].class == MADE_STOCK) {
        int64_t date = replay_eastern_date(ns);
        *ret_begin_ns = replay_eastern_utc_s(date, 0) * MADE_SECOND;
        *ret_end_ns = replay_eastern_utc_s(date + 1, 0) * MADE_SECOND;
    } else {
        *ret_begin_ns = ns / (DAY_S * MADE_SECOND) * DAY_S * MADE_SECOND;
        *ret_end_ns = *ret_begin_ns + DAY_S * MADE_SECOND;
    }
}

/* All prices times mul/div, to the nearest unit; sizes the other way round where they change too. */
static void scale(struct tally *t, int128_t mul, int128_t div, bool sizes)
{
    int64_t *prices[] = {&t->open, &t->high, &t->low, &t->close};
    for (int i = 0; i < 4; i++)
        *prices[i] = (int64_t)((*prices[i] * mul + div / 2) / div);
    if (sizes)
        t->volume = (int64_t)((int128_t)t->volume * div / mul);
    else
        t->turnover = t->turnover / div * mul;
}

/* The last price before an ex-date, for a dividend's share of it. */
static int64_t price_before(struct made *made, int symbol, int64_t ns)
{
    return replay_made_price(made, symbol, ns - MADE_SECOND);
}

static void adjust_to(struct made *made, int symbol, unsigned what, int64_t now_ns, struct tally *tally)
{
    for (int i = 0; i < made->n_actions; i++) {
        const struct made_action *a = &made->actions[i];
        if (a->symbol != symbol || a->from_ns <= tally->begin_ns || a->from_ns > now_ns)
            continue;
        if (a->kind == MADE_ACTION_SPLIT && (what & TALLY_SPLITS)) {
            scale(tally, a->per, a->shares, true);
        } else if (a->kind == MADE_ACTION_DIVIDEND && (what & TALLY_DIVIDENDS)) {
            int64_t price = price_before(made, symbol, a->from_ns);
            if (a->cash < price)
                scale(tally, price - a->cash, price, false);
        }
    }
}

bool replay_tally_span(struct made *made, int symbol, int64_t begin_ns, int64_t end_ns, enum made_feed feed,
                       unsigned adjust, int64_t as_of_ns, struct tally *ret)
{
    *ret = (struct tally){.begin_ns = begin_ns};
    for (int64_t ns = begin_ns; ns < end_ns && ns + MADE_MINUTE <= as_of_ns; ns += MADE_MINUTE) {
        struct tally minute;
        replay_tally_minute(made, symbol, ns / MADE_MINUTE, feed, as_of_ns, &minute);
        if ((minute.count > 0 || tally_priced(&minute)) && adjust)
            adjust_to(made, symbol, adjust, as_of_ns, &minute);
        replay_tally_join(ret, &minute);
    }
    return tally_priced(ret);
}
