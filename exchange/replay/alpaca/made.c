#include "exchange/replay/alpaca/made.h"

#include <errno.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/file_bars.h"
#include "exchange/replay/alpaca/sessions.h"
#include "exchange/replay/chance.h"

#define E9(whole) ((whole)*MADE_E9)

enum {
    UNIT_BITS = 20,   /* of lattice values and fractions */
    SWING_BITS = 30,  /* of what is added up */
    SWING_1S = 13422, /* by which a stock moves in a second, a quarter: 5e-5 of its price in all */
    ROOT_2 = 46341,   /* 2^15 √2 */
    EXTENDED_SHARE = 8,
    BUSY_MINUTES = 30, /* after the opening and before the close */
    IEX_IN = 4,        /* one tick in so many is IEX's */
    REVISED_IN = 512,
    HALTED_DAY_IN = 5,
    HALT_MINUTES = 5,
};

/* IBM is hard to borrow and F is not lent, so that there is something to refuse. */
static const struct made_symbol listed[] = {
    {"AAPL", "Apple Inc. Common Stock", "NASDAQ", MADE_STOCK, 'C', 'Q', E9(230), MADE_E9 / 100, 0, 0, 24, 4},
    {"MSFT", "Microsoft Corporation Common Stock", "NASDAQ", MADE_STOCK, 'C', 'Q', E9(420), MADE_E9 / 100, 0,
     0, 20, 4},
    {"SPY", "SPDR S&P 500 ETF Trust", "ARCA", MADE_STOCK, 'B', 'P', E9(590), MADE_E9 / 100, 0, 0, 30, 2},
    {"IBM", "International Business Machines Corporation", "NYSE", MADE_STOCK, 'A', 'N', E9(225),
     MADE_E9 / 100, 0, 0, 10, 3, MADE_NOT_EASY_TO_BORROW},
    {"F", "Ford Motor Company", "NYSE", MADE_STOCK, 'A', 'N', E9(11), MADE_E9 / 100, 0, 0, 8, 6,
     MADE_NOT_SHORTABLE},
    {"FAKEPACA", "Fake Alpaca", "NASDAQ", MADE_TEST, 'N', 'N', E9(134), MADE_E9 / 100, 0, 0, 40, 4},
    {"BTC/USD", "Bitcoin / US Dollar", "CRYPTO", MADE_CRYPTO, 0, 0, E9(65000), MADE_E9 / 100, 5 * MADE_E9,
     MADE_E9 / 50, 40, 8},
    {"ETH/USD", "Ethereum / US Dollar", "CRYPTO", MADE_CRYPTO, 0, 0, E9(3200), MADE_E9 / 100, MADE_E9 / 2,
     MADE_E9 / 2, 30, 10},
    {"DOGE/USD", "Dogecoin / US Dollar", "CRYPTO", MADE_CRYPTO, 0, 0, MADE_E9 / 6, MADE_E9 / 100000,
     MADE_E9 / 20000, E9(1500), 12, 14},
};

void replay_made_init(struct made *made, uint64_t seed)
{
    *made = (struct made){.seed = seed, .path_seed = seed, .n_symbols = sizeof(listed) / sizeof(*listed)};
    memcpy(made->symbols, listed, sizeof(listed));
    for (int i = 0; i < MADE_SYMBOLS_MAX; i++)
        for (int k = 0; k < MADE_OCTAVES; k++)
            made->paths[i].index[k] = INT64_MIN;
}

int replay_made_find(const struct made *made, const char *name)
{
    for (int i = 0; i < made->n_symbols; i++)
        if (strcmp(made->symbols[i].name, name) == 0)
            return i;
    return -1;
}

int replay_made_file_add(struct made *made, struct file_bars *bars)
{
    if (made->n_symbols > 0 && !made->symbols[0].bars)
        made->n_symbols = 0;
    if (made->n_symbols == MADE_SYMBOLS_MAX || replay_made_find(made, replay_file_bars_name(bars)) >= 0)
        return -EINVAL;
    made->symbols[made->n_symbols++] = replay_file_bars_symbol(bars);
    return 0;
}

/* The one whose market it is: of a new name the old one. */
static int market_of(const struct made *made, int symbol)
{
    while (made->symbols[symbol].before > 0)
        symbol = made->symbols[symbol].before - 1;
    return symbol;
}

static uint64_t mixed(uint64_t state)
{
    struct chance chance = {state};
    return chance_next(&chance);
}

uint64_t replay_made_hash(const struct made *made, int symbol, enum made_purpose purpose, uint64_t at)
{
    const uint64_t seed = purpose == MADE_PATHS ? made->path_seed : made->seed;
    return mixed(mixed(mixed(seed ^ (uint64_t)purpose << 56) + (uint64_t)symbol) ^ at);
}

/* −2^20 … 2^20 at a point of an octave's lattice. */
static int32_t lattice(const struct made *made, int symbol, int octave, int64_t index)
{
    uint64_t at = (uint64_t)octave << 48 ^ ((uint64_t)index & 0xffffffffffff);
    return (int32_t)(replay_made_hash(made, symbol, MADE_PATHS, at) >> 43) - (1 << UNIT_BITS);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The sum of all octaves, in units of 2^-30. */
static int64_t swing(struct made *made, int symbol, int64_t ms)
{
    struct made_path *path = &made->paths[symbol];
    int64_t sum = 0, amplitude = (int64_t)SWING_1S * made->symbols[symbol].swing;
    for (int k = 0; k < MADE_OCTAVES; k++) {
        int64_t period = 1000LL << k, index = floor_div(ms, period);
        if (path->index[k] != index) {
            path->index[k] = index;
            path->at[k] = lattice(made, symbol, k, index);
            path->next[k] = lattice(made, symbol, k, index + 1);
        }
        int64_t part = ((ms - index * period) << UNIT_BITS) / period;
        int64_t value = (path->at[k] * ((1 << UNIT_BITS) - part) + path->next[k] * part) >> UNIT_BITS;
        sum += (value * amplitude) >> UNIT_BITS;
        amplitude = amplitude * ROOT_2 >> 15;
    }
    return sum;
}

/* (1 + x/8)^8, which is e^x near enough and never below zero. */
static int64_t growth(int64_t x)
{
    int64_t y = (1LL << SWING_BITS) + x / 8;
    for (int i = 0; i < 3; i++)
        y = y * y >> SWING_BITS;
    return y;
}

/* Prices are divided, and sizes multiplied, by shares/per from its first moment on. */
static void split_at(const struct made *made, int symbol, int64_t ns, int64_t *shares, int64_t *per)
{
    *shares = *per = 1;
    for (int i = 0; i < made->n_actions; i++) {
        const struct made_action *a = &made->actions[i];
        if (a->kind == MADE_ACTION_SPLIT && a->symbol == symbol && a->from_ns <= ns) {
            *shares *= a->shares;
            *per *= a->per;
        }
    }
}

int64_t replay_made_price(struct made *made, int symbol, int64_t ns)
{
    int64_t shares, per;
    symbol = market_of(made, symbol);
    if (made->symbols[symbol].bars)
        return replay_file_bars_price(made->symbols[symbol].bars, ns);
    split_at(made, symbol, ns, &shares, &per);
    int64_t y = growth(swing(made, symbol, floor_div(ns, 1000000)));
    return (int64_t)(((int128_t)made->symbols[symbol].price * y >> SWING_BITS) * per / shares);
}

bool replay_made_halt_on(const struct made *made, int symbol, int64_t date, int nth, struct made_halt *ret)
{
    const struct made_symbol *s = &made->symbols[symbol];
    struct trading_day day;
    if (s->class != MADE_STOCK || replay_sessions_on(date, &day) == SESSIONS_CLOSED)
        return false;
    uint64_t hash = replay_made_hash(made, symbol, MADE_HALTS, (uint64_t)date);
    if (!s->bars && hash % HALTED_DAY_IN == 0 && nth-- == 0) {
        int64_t minutes = (day.close_ns - day.open_ns) / MADE_MINUTE;
        int64_t from = day.open_ns + (15 + (int64_t)(hash >> 32) % (minutes - 60)) * MADE_MINUTE;
        bool utp = s->tape == 'C';
        *ret =
            (struct made_halt){from, from + HALT_MINUTES * MADE_MINUTE, utp ? "LUDP" : "M",
                               utp ? "Volatility Trading Pause" : "Limit Up-Limit Down (LULD) Trading Pause"};
        return true;
    }
    for (int i = 0; i < made->n_actions; i++) {
        const struct made_action *a = &made->actions[i];
        if (a->kind != MADE_ACTION_HALT || a->symbol != symbol || a->date != date || nth-- > 0)
            continue;
        bool utp = s->tape == 'C';
        *ret = (struct made_halt){a->from_ns, a->to_ns, utp ? "T1" : "D",
                                  utp ? "Halt News Pending" : "News Released"};
        return true;
    }
    return false;
}

bool replay_made_known_at(const struct made *made, int symbol, int64_t ns)
{
    for (int i = 0; i < made->n_actions; i++)
        if (made->actions[i].kind == MADE_ACTION_RENAME && made->actions[i].renamed == symbol)
            return made->actions[i].from_ns <= ns;
    return true;
}

bool replay_made_listed_at(const struct made *made, int symbol, int64_t ns)
{
    for (int i = 0; i < made->n_actions; i++) {
        const struct made_action *a = &made->actions[i];
        if ((a->kind == MADE_ACTION_END || a->kind == MADE_ACTION_RENAME) && a->symbol == symbol &&
            a->from_ns <= ns)
            return false;
    }
    return true;
}

static bool halted(const struct made *made, int symbol, int64_t ns)
{
    struct made_halt halt;
    int64_t date = replay_eastern_date(ns);
    for (int i = 0; replay_made_halt_on(made, symbol, date, i, &halt); i++)
        if (halt.from_ns <= ns && ns < halt.to_ns)
            return true;
    return false;
}

static bool open_at(const struct made *made, int symbol, int64_t ns)
{
    return made->symbols[symbol].class != MADE_STOCK ||
           (replay_sessions_phase(ns) != MARKET_PHASE_CLOSED && !halted(made, symbol, ns));
}

bool replay_made_trades_at(const struct made *made, int symbol, int64_t ns)
{
    return replay_made_listed_at(made, symbol, ns) && open_at(made, symbol, ns);
}

bool replay_made_quiet(const struct made *made, int symbol, int64_t minute, int64_t ret_ohlc[static 4])
{
    const struct file_bars *bars = made->symbols[market_of(made, symbol)].bars;
    return bars && replay_made_trades_at(made, symbol, minute * MADE_MINUTE) &&
           replay_file_bars_quiet(bars, minute, ret_ohlc);
}

bool replay_made_closing(const struct made *made, int symbol, int64_t ns, int64_t *ret_price)
{
    const struct file_bars *bars = made->symbols[market_of(made, symbol)].bars;
    struct trading_day day;
    return bars && made->symbols[symbol].class == MADE_STOCK &&
           replay_sessions_on(replay_eastern_date(ns), &day) != SESSIONS_CLOSED && ns == day.close_ns &&
           replay_made_trades_at(made, symbol, ns) &&
           replay_file_bars_last(bars, day.open_ns, day.close_ns, ret_price);
}

/* How many quotes a minute has. */
static int64_t count_ticks(const struct made *made, int symbol, int64_t ns, struct chance *chance,
                           bool *ret_extended)
{
    const struct made_symbol *s = &made->symbols[symbol];
    struct trading_day day;
    *ret_extended = false;
    if (s->class != MADE_STOCK)
        return s->rate / 2 + chance_below(chance, s->rate);
    if (replay_sessions_on(replay_eastern_date(ns), &day) == SESSIONS_CLOSED || ns < day.early_ns ||
        ns >= day.late_ns || halted(made, symbol, ns))
        return 0;
    if (ns < day.open_ns || ns >= day.close_ns) {
        *ret_extended = true;
        return chance_below(chance, 2 * s->rate / EXTENDED_SHARE + 1);
    }
    bool busy =
        ns < day.open_ns + BUSY_MINUTES * MADE_MINUTE || ns >= day.close_ns - BUSY_MINUTES * MADE_MINUTE;
    int64_t n = chance_below(chance, 2 * s->rate) + (busy ? s->rate : 0);
    return n < MADE_TICKS_MAX ? n : MADE_TICKS_MAX;
}

static void sort_times(int64_t *times, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        int64_t time = times[i], j = i;
        for (; j > 0 && times[j - 1] > time; j--)
            times[j] = times[j - 1];
        times[j] = time;
    }
}

static char pick_exchange(struct chance *chance)
{
    static const char letters[] = "PQNKZDBJ"; /* not V, which is IEX */
    return letters[chance_below(chance, sizeof(letters) - 1)];
}

static int64_t pick_size(const struct made_symbol *s, struct chance *chance, int64_t shares, int64_t per)
{
    if (s->class == MADE_CRYPTO)
        return s->size * chance_heavy(chance, 5) / 16 + chance_below(chance, s->size / 8) + 1;
    int64_t n = chance_below(chance, 4) == 0 ? chance_range(chance, 1, 99) : 100 * chance_heavy(chance, 3);
    n = n * shares / per;
    return (n > 0 ? n : 1) * MADE_E9;
}

static void make_quote(struct made *made, int symbol, struct chance *chance, struct made_tick *tick,
                       int64_t shares, int64_t per)
{
    const struct made_symbol *s = &made->symbols[symbol];
    int64_t price = replay_made_price(made, symbol, tick->ts_ns);
    int64_t widest = s->class == MADE_CRYPTO ? 400 : 3;
    tick->bid = price / s->tick * s->tick;
    tick->bid -= chance_below(chance, widest) / 2 * s->tick;
    if (tick->bid < s->tick)
        tick->bid = s->tick;
    tick->ask = tick->bid + chance_range(chance, 1, widest) * s->tick;
    tick->bid_size = pick_size(s, chance, shares, per);
    tick->ask_size = pick_size(s, chance, shares, per);
    if (s->class == MADE_STOCK) {
        tick->iex = chance_below(chance, IEX_IN) == 0;
        tick->bid_exchange = tick->iex ? 'V' : pick_exchange(chance);
        tick->ask_exchange = tick->iex ? 'V' : pick_exchange(chance);
    } else {
        tick->bid_exchange = tick->ask_exchange = s->home;
    }
}

/* A trade that is reported late, cancelled or corrected: rare, and only of stocks. */
static void revise(const struct made_symbol *s, struct chance *chance, int64_t minute_end_ns,
                   struct made_trade *t)
{
    switch (chance_below(chance, REVISED_IN)) {
    case 0:
        t->reported_ns = minute_end_ns + chance_range(chance, 2 * MADE_SECOND, 25 * MADE_SECOND);
        break;
    case 1:
        t->revision = MADE_CANCELLED;
        break;
    case 2:
        t->revision = MADE_CORRECTED;
        t->new_price = t->price + chance_range(chance, -3, 3) * s->tick;
        if (t->new_price < s->tick)
            t->new_price = s->tick;
        t->new_size = t->size + (t->odd ? 0 : 100 * MADE_E9);
        t->new_id = t->id + 1; /* ids of ticks leave room for it */
        break;
    default:
        break;
    }
    if (t->revision != MADE_STANDS)
        t->revised_ns = t->ts_ns + chance_range(chance, 2 * MADE_SECOND, 20 * MADE_SECOND);
}

static void make_trade(const struct made_symbol *s, struct chance *chance, struct made_tick *tick, int64_t id,
                       int64_t minute_end_ns, bool extended, int64_t shares, int64_t per)
{
    struct made_trade *t = &tick->trade;
    bool between = s->class != MADE_CRYPTO && chance_below(chance, 16) == 0;
    *t = (struct made_trade){
        .ts_ns = tick->ts_ns + MADE_TAKEN_NS,
        .id = id,
        .size = pick_size(s, chance, shares, per),
        .buy = chance_below(chance, 2) == 1,
        .exchange = tick->iex ? 'V' : tick->ask_exchange,
        .extended = extended,
    };
    t->reported_ns = t->ts_ns;
    t->price = between ? (tick->bid + tick->ask) / 2 : t->buy ? tick->ask : tick->bid;
    t->odd = s->class != MADE_CRYPTO && t->size < 100 * MADE_E9;
    tick->traded = true;
    if (s->class == MADE_STOCK)
        revise(s, chance, minute_end_ns, t);
}

size_t replay_made_minute(struct made *made, int symbol, int64_t minute,
                          struct made_tick ticks[static MADE_TICKS_MAX])
{
    const struct made_symbol *s = &made->symbols[symbol];
    int64_t begin_ns = minute * MADE_MINUTE, end_ns = begin_ns + MADE_MINUTE, times[MADE_TICKS_MAX];
    struct chance chance;
    int64_t shares, per;
    bool extended;
    if (!replay_made_listed_at(made, symbol, begin_ns))
        return 0;
    symbol = market_of(made, symbol);
    s = &made->symbols[symbol];
    if (s->bars)
        return open_at(made, symbol, begin_ns) ? replay_file_bars_minute(s->bars, made->seed, minute, ticks)
                                               : 0;
    chance.state = replay_made_hash(made, symbol, MADE_MINUTES, (uint64_t)minute);
    int64_t n = count_ticks(made, symbol, begin_ns, &chance, &extended);
    if (n == 0)
        return 0;
    split_at(made, symbol, begin_ns, &shares, &per);
    for (int64_t i = 0; i < n; i++)
        times[i] =
            begin_ns + chance_below(&chance, (60 * 1000 - 1) * 1000LL) * 1000 + chance_below(&chance, 1000);
    sort_times(times, n);
    for (int64_t i = 0; i < n; i++) {
        struct made_tick *tick = &ticks[i];
        *tick = (struct made_tick){.ts_ns = times[i]};
        make_quote(made, symbol, &chance, tick, shares, per);
        if (chance_below(&chance, 2) == 0)
            make_trade(s, &chance, tick, (minute * MADE_TICKS_MAX + i) * 2, end_ns, extended, shares, per);
    }
    return (size_t)n;
}

/* A level's size changes every eight seconds, each level's at its own time. */
static int64_t level_size(const struct made *made, int symbol, int64_t price, int64_t ns)
{
    const struct made_symbol *s = &made->symbols[symbol];
    uint64_t key = replay_made_hash(made, symbol, MADE_SIZES, (uint64_t)price);
    uint64_t epoch = ((uint64_t)ns + key % (8 * MADE_SECOND)) / (8 * MADE_SECOND);
    uint64_t hash = mixed(key ^ epoch);
    return s->size * (1 + (int64_t)(hash % 40)) + (int64_t)(hash >> 40) % s->size;
}

void replay_made_book(const struct made *made, int symbol, const struct made_tick *tick,
                      struct made_book *ret)
{
    int64_t step = made->symbols[symbol].level;
    int64_t bid = (tick->bid - 1) / step * step, ask = (tick->ask / step + 1) * step;
    ret->bids[0] = (struct made_level){tick->bid, tick->bid_size};
    ret->asks[0] = (struct made_level){tick->ask, tick->ask_size};
    for (int i = 1; i < MADE_LEVELS; i++) {
        int64_t below = bid - (i - 1) * step, above = ask + (i - 1) * step;
        ret->bids[i] = (struct made_level){below, level_size(made, symbol, below, tick->ts_ns)};
        ret->asks[i] = (struct made_level){above, level_size(made, symbol, above, tick->ts_ns)};
    }
}
