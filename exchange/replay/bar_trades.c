#include "exchange/replay/bar_trades.h"

#define NS_PER_S 1000000000LL

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* A price on the way from a to b, with some noise, on the tick, within the bar. */
static int64_t between(const struct bar_shape *s, struct chance *chance, int64_t a, int64_t b, int64_t i,
                       int64_t n)
{
    int64_t price = a + (int64_t)((int128_t)(b - a) * i / n);
    int64_t noise = (int64_t)(((int128_t)(s->high - s->low) * chance_bell(chance)) >> 24);
    return clamp((price + noise) / s->tick * s->tick, s->low, s->high);
}

/* Shares of the volume: each at least one unit, the last takes what is left. */
static bool share(const struct bar_shape *s, struct chance *chance, struct bar_trade *trades, int n)
{
    int64_t unit = s->volume / s->unit >= n ? s->unit : 1;
    int128_t left = s->volume;
    for (int i = 0; i < n; i++) {
        int128_t mean = left / (n - i) / unit;
        int128_t units =
            i == n - 1 ? 0 : mean / 4 + (int128_t)((mean * 3 / 2 * chance_below(chance, 1 << 20)) >> 20);
        int128_t qty = i == n - 1 ? left : (units > 0 ? units : 1) * unit;
        if (qty > INT64_MAX)
            return false;
        trades[i].qty = (int64_t)qty;
        left -= qty;
    }
    return true;
}

int bar_trades_make(const struct bar_shape *s, struct chance *chance, int most, struct bar_trade *trades)
{
    int n = (int)clamp(s->length_ns / (2 * NS_PER_S), BAR_TRADES_MIN, most);
    int128_t units = s->volume / s->unit;
    if (units >= BAR_TRADES_SHAPED && units < n)
        n = (int)units;
    if (s->volume < n)
        n = (int)s->volume;
    if (n == 0)
        return 0;
    /* A rising bar mostly sees its low first. */
    bool low_first = (s->close >= s->open) == (chance_below(chance, 4) > 0);
    int64_t first = low_first ? s->low : s->high, second = low_first ? s->high : s->low;
    int at_first = n >= 4 ? (int)chance_range(chance, 1, (n - 2) / 2) : n - 1;
    int at_second = n >= 4 ? (int)chance_range(chance, (n - 2) / 2 + 1, n - 2) : n - 1;
    int64_t before = s->open;
    for (int i = 0; i < n; i++) {
        struct bar_trade *t = &trades[i];
        if (i == 0)
            t->price = s->open;
        else if (i == n - 1)
            t->price = s->close;
        else if (i == at_first)
            t->price = first;
        else if (i == at_second)
            t->price = second;
        else if (i < at_first)
            t->price = between(s, chance, s->open, first, i, at_first);
        else if (i < at_second)
            t->price = between(s, chance, first, second, i - at_first, at_second - at_first);
        else
            t->price = between(s, chance, second, s->close, i - at_second, n - 1 - at_second);
        int64_t slot = s->length_ns / n;
        t->ts_ns = s->open_ns + slot * i + chance_below(chance, 1000) * (slot / 1000);
        t->buy = t->price > before || (t->price == before && (chance_next(chance) & 1));
        before = t->price;
    }
    return share(s, chance, trades, n) ? n : -1;
}
