#include "exchange/replay/alpaca/file_bars.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/bars_name.h"
#include "exchange/fail.h"
#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/sessions.h"
#include "exchange/replay/bar_trades.h"

#define DAY_NS (EASTERN_DAY_S * MADE_SECOND)

enum {
    STOCK_DIGITS = 2, /* of a stock's prices, unless the file has more */
    TRADES_MORE = 2,  /* of each further minute of a bar */
    SPREAD_MAX = 3,   /* ticks */
    PAIR_LETTERS_MIN = 6,
    LEVELS_IN_PRICE = 20000,
};

struct file_bars {
    const char *path;
    char name[SYMBOL_NAME_MAX];
    bool crypto;
    struct bars_file file;
    int64_t length_ns;
    bool by_session;    /* its bars begin and end with sessions, not by the clock */
    int64_t tick, unit; /* steps of prices and sizes */
    int64_t size;       /* a typical trade's */
};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), len = strlen(end);
    return n > len && strcmp(name + n - len, end) == 0;
}

static const char *const dollars[] = {"USD", "USDC", "USDT"};

/* Where the quote asset begins in a name without a separator; NULL: it is no pair. */
static const char *joined_quote(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof(dollars) / sizeof(*dollars) && len >= PAIR_LETTERS_MIN; i++)
        if (ends_with(name, dollars[i]))
            return name + len - strlen(dollars[i]);
    return NULL;
}

static bool is_quote(const char *text)
{
    for (size_t i = 0; i < sizeof(dollars) / sizeof(*dollars); i++)
        if (strcmp(text, dollars[i]) == 0)
            return true;
    return strcmp(text, "BTC") == 0;
}

int replay_file_bars_symbol_of(const char *name, char ret[static SYMBOL_NAME_MAX], bool *ret_crypto)
{
    const char *mark = strpbrk(name, "-/"), *quote = NULL;
    size_t base = mark ? (size_t)(mark - name) : 0;
    if (mark && (is_quote(mark + 1) || *mark == '/'))
        quote = mark + 1;
    else if (!mark && (quote = joined_quote(name)))
        base = (size_t)(quote - name);
    *ret_crypto = quote != NULL;
    int n = quote ? snprintf(ret, SYMBOL_NAME_MAX, "%.*s/%s", (int)base, name, quote)
                  : snprintf(ret, SYMBOL_NAME_MAX, "%s", name);
    for (char *c = ret; !quote && *c; c++)
        if (*c == '-')
            *c = '.';
    return n > 0 && n < SYMBOL_NAME_MAX ? 0 : -EINVAL;
}

/* A number of the file at scale 9, by way of the digits that it has there, so that it is exactly the text's.
 */
static bool to_e9(double x, int digits, int128_t *ret)
{
    int64_t units;
    int scale = digits < MADE_SCALE ? digits : MADE_SCALE;
    if (decimal_from_double(x, scale, &units) != 0)
        return false;
    *ret = (int128_t)units * decimal_pow10(MADE_SCALE - scale);
    return true;
}

static int64_t price_e9(const struct file_bars *f, double x)
{
    int128_t price = 0;
    to_e9(x, f->file.price_digits, &price);
    return (int64_t)price;
}

/* Where the session ends that holds a time within the day's hours. */
static int64_t session_end(const struct trading_day *day, int64_t ns)
{
    return ns < day->open_ns ? day->open_ns : ns < day->close_ns ? day->close_ns : day->late_ns;
}

/* What part of [open, end) the market is open in; false: none. */
static bool clip(const struct file_bars *f, int64_t *open_ns, int64_t *end_ns)
{
    struct trading_day day;
    bool daily = f->length_ns >= DAY_NS;
    if (f->crypto)
        return true;
    /* A day's bar stands at midnight in New York or in UTC. */
    int64_t date = replay_eastern_date(*open_ns);
    if (daily && *open_ns % DAY_NS == 0)
        date = *open_ns / DAY_NS;
    if (replay_sessions_on(date, &day) == SESSIONS_CLOSED)
        return false;
    int64_t from_ns = daily ? day.open_ns : day.early_ns, to_ns = daily ? day.close_ns : day.late_ns;
    *open_ns = daily || *open_ns < from_ns ? from_ns : *open_ns;
    if (!daily && f->by_session)
        to_ns = session_end(&day, *open_ns);
    *end_ns = daily || *end_ns > to_ns ? to_ns : *end_ns;
    return *open_ns < *end_ns;
}

static bool span_of(const struct file_bars *f, size_t i, int64_t *ret_open_ns, int64_t *ret_end_ns)
{
    *ret_open_ns = f->file.open_time_ns[i];
    *ret_end_ns = *ret_open_ns + f->length_ns;
    return clip(f, ret_open_ns, ret_end_ns);
}

static bool shape_of(const struct file_bars *f, size_t i, struct bar_shape *ret)
{
    const struct bars_file *file = &f->file;
    int64_t open_ns, end_ns;
    if (!span_of(f, i, &open_ns, &end_ns))
        return false;
    *ret = (struct bar_shape){.open_ns = open_ns,
                              .length_ns = end_ns - open_ns,
                              .open = price_e9(f, file->open[i]),
                              .high = price_e9(f, file->high[i]),
                              .low = price_e9(f, file->low[i]),
                              .close = price_e9(f, file->close[i]),
                              .tick = f->tick,
                              .unit = f->unit};
    return to_e9(file->volume[i], file->volume_digits, &ret->volume);
}

/* The trades of a bar; a negative count: it cannot be traded. */
static int trades_of(const struct file_bars *f, uint64_t seed, const struct bar_shape *shape,
                     struct bar_trade trades[static BAR_TRADES_MAX], struct chance *chance)
{
    int64_t minutes = shape->length_ns / MADE_MINUTE;
    int64_t most = BAR_TRADES_MIN + TRADES_MORE * (minutes < BAR_TRADES_MAX ? minutes : BAR_TRADES_MAX);
    chance->state = seed;
    for (const char *c = f->name; *c; c++)
        chance->state = chance->state * 31 + (unsigned char)*c;
    chance->state ^= (uint64_t)shape->open_ns;
    chance->state = chance_next(chance);
    return bar_trades_make(shape, chance, most < BAR_TRADES_MAX ? (int)most : BAR_TRADES_MAX, trades);
}

/* Can it be played? 0 or -EINVAL with the error. */
static int check_bar(const struct file_bars *f, size_t i, char error[static SOURCE_ERROR_MAX])
{
    struct bar_trade trades[BAR_TRADES_MAX];
    struct bar_shape shape;
    struct chance chance;
    const struct bars_file *file = &f->file;
    int128_t high;
    char where[256];
    int64_t open_ns, end_ns;
    snprintf(where, sizeof(where), "%.200s: bar %zu", f->path, i + 1);
    if (file->open_time_ns[i] % MADE_MINUTE != 0 || (i > 0 && span_of(f, i - 1, &open_ns, &end_ns) &&
                                                     f->length_ns < DAY_NS && file->open_time_ns[i] < end_ns))
        return fail_with(
            -EINVAL, error, SOURCE_ERROR_MAX,
            "bar is off the interval: %s: whole minutes, an interval apart, or another --interval", where);
    if (!to_e9(file->high[i], file->price_digits, &high) || high > INT64_MAX / 2 ||
        price_e9(f, file->low[i]) <= 0)
        return fail_with(-EINVAL, error, SOURCE_ERROR_MAX,
                         "bar cannot be traded: %s: prices above 0 and below 4e9", where);
    if (!span_of(f, i, &open_ns, &end_ns))
        return fail_with(
            -EINVAL, error, SOURCE_ERROR_MAX,
            "bar outside of any session: %s: a stock's hours, 4:00 to 20:00 in New York on a trading day, "
            "in UTC; or a pair's name as BTC-USD",
            where);
    if (!shape_of(f, i, &shape) || trades_of(f, 0, &shape, trades, &chance) < 0)
        return fail_with(-EINVAL, error, SOURCE_ERROR_MAX,
                         "bar cannot be traded: %s: a volume of at most 18 digits, below 9e9 for each trade",
                         where);
    return 0;
}

static int check_all(struct file_bars *f, char error[static SOURCE_ERROR_MAX])
{
    double volume = 0;
    for (size_t i = 0; i < f->file.n && !f->crypto && f->length_ns < DAY_NS; i++)
        f->by_session |= f->file.open_time_ns[i] % f->length_ns != 0;
    for (size_t i = 0; i < f->file.n; i++) {
        int rc = check_bar(f, i, error);
        if (rc < 0)
            return rc;
        volume += f->file.volume[i];
    }
    int128_t size = 0;
    double mean = volume / (double)f->file.n / BAR_TRADES_MIN;
    if (!to_e9(mean < 1e8 ? mean : 1e8, MADE_SCALE, &size) || size < f->unit)
        size = f->unit;
    f->size = (int64_t)size;
    return 0;
}

static int set_interval(struct file_bars *f, int64_t interval_ns, char error[static SOURCE_ERROR_MAX])
{
    struct bars_name name;
    f->length_ns = interval_ns > 0 ? interval_ns : f->file.interval_ns;
    /* A stock's times are seldom an interval apart: its name may know better. */
    if (interval_ns == 0 && bars_name_parse(f->path, &name) == 0 && name.interval_ns > 0 &&
        name.interval_ns < f->length_ns)
        f->length_ns = name.interval_ns;
    if (f->length_ns < MADE_MINUTE || f->length_ns % MADE_MINUTE != 0 || f->length_ns > DAY_NS)
        return fail_with(-EINVAL, error, SOURCE_ERROR_MAX,
                         "not this venue's bars: %.200s: bars of 1m to 1d, or --interval", f->path);
    return 0;
}

/* A pair's market has no calendar. */
static int read_file(struct file_bars *f, const struct file_bars_reading *reading,
                     char error[static BARS_FILE_ERROR_MAX])
{
    char name[SYMBOL_NAME_MAX], title[SYMBOL_NAME_MAX];
    struct bars_file_options options = {.zone = reading->zone,
                                        .session = SESSION_REGULAR,
                                        .closed_stay_out = true,
                                        .keep_straddling = reading->keep_straddling};
    bool crypto = false;
    if (bars_file_symbol(f->path, NULL, name) == 0)
        replay_file_bars_symbol_of(name, title, &crypto);
    if (!crypto)
        options.calendar = reading->calendar;
    return bars_file_read_with(f->path, &options, &f->file, error);
}

static int fill(struct file_bars *f, int64_t interval_ns, const struct file_bars_reading *reading,
                char error[static SOURCE_ERROR_MAX])
{
    char text[BARS_FILE_ERROR_MAX];
    struct bars_file *file = &f->file;
    int rc = read_file(f, reading, text);
    if (rc < 0)
        return fail_with(rc, error, SOURCE_ERROR_MAX, "%.500s", text);
    if ((rc = set_interval(f, interval_ns, error)) < 0)
        return rc;
    if (replay_file_bars_symbol_of(file->symbol, f->name, &f->crypto) < 0)
        return fail_with(-EINVAL, error, SOURCE_ERROR_MAX, "name is too long: %.200s: at most %d letters",
                         f->path, SYMBOL_NAME_MAX - 1);
    if (!f->crypto && file->price_digits < STOCK_DIGITS)
        file->price_digits = STOCK_DIGITS;
    f->tick = decimal_pow10(MADE_SCALE - (file->price_digits < MADE_SCALE ? file->price_digits : MADE_SCALE));
    f->unit =
        decimal_pow10(MADE_SCALE - (file->volume_digits < MADE_SCALE ? file->volume_digits : MADE_SCALE));
    return check_all(f, error);
}

int replay_file_bars_open(const char *path, int64_t interval_ns, const struct file_bars_reading *reading,
                          struct file_bars **ret, char error[static SOURCE_ERROR_MAX])
{
    struct file_bars *f = calloc(1, sizeof(*f));
    if (!f)
        return fail_with(-ENOMEM, error, SOURCE_ERROR_MAX, "out of memory");
    f->path = path;
    int rc = fill(f, interval_ns, reading, error);
    if (rc < 0)
        replay_file_bars_close(f);
    else
        *ret = f;
    return rc;
}

void replay_file_bars_close(struct file_bars *f)
{
    if (f)
        bars_file_finish(&f->file);
    free(f);
}

const char *replay_file_bars_name(const struct file_bars *f)
{
    return f->name;
}

struct made_symbol replay_file_bars_symbol(struct file_bars *f)
{
    int64_t price = price_e9(f, f->file.open[0]), level = price / LEVELS_IN_PRICE / f->tick * f->tick;
    struct made_symbol symbol = {.title = f->name,
                                 .exchange = f->crypto ? "CRYPTO" : "NASDAQ",
                                 .class = f->crypto ? MADE_CRYPTO : MADE_STOCK,
                                 .tape = f->crypto ? 0 : 'C',
                                 .home = f->crypto ? 0 : 'Q',
                                 .price = price,
                                 .tick = f->tick,
                                 .level = level > 0 ? level : f->tick,
                                 .size = f->size,
                                 .bars = f};
    memcpy(symbol.name, f->name, sizeof(symbol.name));
    return symbol;
}

void replay_file_bars_range(const struct file_bars *f, int64_t *ret_from_ns, int64_t *ret_to_ns)
{
    int64_t end_ns;
    span_of(f, 0, ret_from_ns, &end_ns);
    span_of(f, f->file.n - 1, &end_ns, ret_to_ns);
}

/* How many bars open at `ns` or before. */
static size_t bars_to(const struct file_bars *f, int64_t ns)
{
    size_t low = 0, high = f->file.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->file.open_time_ns[middle] <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The bar that holds `ns`; false: none. A day's bar may stand hours before its session, or after its date's
 * begin in New York. */
static bool bar_at(const struct file_bars *f, int64_t ns, size_t *ret, struct bar_shape *ret_shape)
{
    for (size_t i = bars_to(f, ns), looked = 0; i > 0 && looked < 2; i--, looked++) {
        int64_t open_ns, end_ns;
        if (!span_of(f, i - 1, &open_ns, &end_ns) || ns < open_ns || ns >= end_ns)
            continue;
        *ret = i - 1;
        return shape_of(f, i - 1, ret_shape);
    }
    return false;
}

/* How the text of the file would have it. */
static double at_digits(double x, int digits)
{
    int64_t units;
    return decimal_from_double(x, digits, &units) == 0 ? decimal_to_double(units, digits) : NAN;
}

static int split_bar(struct file_bars *f, size_t i, double ratio)
{
    const struct bars_file *file = &f->file;
    double *prices[] = {&file->open[i], &file->high[i], &file->low[i], &file->close[i]};
    char error[SOURCE_ERROR_MAX];
    for (size_t k = 0; k < sizeof(prices) / sizeof(*prices); k++)
        *prices[k] = at_digits(*prices[k] / ratio, file->price_digits);
    double volume = at_digits(file->volume[i] * ratio, file->volume_digits);
    double least = pow(10, -file->volume_digits);
    file->volume[i] = file->volume[i] > 0 && volume < least ? least : volume;
    return check_bar(f, i, error);
}

int replay_file_bars_split(struct file_bars *f, int64_t ns, int64_t shares, int64_t per)
{
    double ratio = (double)shares / (double)per;
    size_t first = f->file.n;
    int64_t open_ns, end_ns;
    while (first > 0 && span_of(f, first - 1, &open_ns, &end_ns) && open_ns >= ns)
        first--;
    if (first == 0 || first == f->file.n)
        return 0; /* all of it is of one side */
    double step = log(f->file.close[first - 1] / f->file.open[first]);
    int r = 0;
    for (size_t i = first; r == 0 && fabs(step - log(ratio)) >= fabs(step) && i < f->file.n; i++)
        r = split_bar(f, i, ratio);
    return r;
}

int64_t replay_file_bars_next(const struct file_bars *f, int64_t ns)
{
    for (size_t i = bars_to(f, ns - DAY_NS); i < f->file.n; i++) {
        int64_t open_ns, end_ns;
        if (span_of(f, i, &open_ns, &end_ns) && open_ns >= ns)
            return open_ns;
    }
    return INT64_MAX;
}

bool replay_file_bars_last(const struct file_bars *f, int64_t from_ns, int64_t to_ns, int64_t *ret_price)
{
    struct bar_shape shape;
    for (size_t i = bars_to(f, to_ns); i > 0 && f->file.open_time_ns[i - 1] > from_ns - DAY_NS; i--) {
        int64_t open_ns, end_ns;
        if (!span_of(f, i - 1, &open_ns, &end_ns) || end_ns > to_ns || open_ns < from_ns ||
            !shape_of(f, i - 1, &shape) || shape.volume == 0)
            continue;
        *ret_price = shape.close;
        return true;
    }
    return false;
}

int64_t replay_file_bars_price(const struct file_bars *f, int64_t ns)
{
    size_t n = bars_to(f, ns - f->length_ns);
    return n > 0 ? price_e9(f, f->file.close[n - 1]) : price_e9(f, f->file.open[0]);
}

static int64_t quote_size(const struct file_bars *f, struct chance *chance)
{
    if (!f->crypto)
        return 100 * chance_heavy(chance, 4) * MADE_E9;
    return f->size * chance_heavy(chance, 5) / 16 / f->unit * f->unit + f->unit;
}

/* The quote that a trade takes: within the bar, or a tick wide where the bar has a single price. */
static void make_quote(const struct file_bars *f, const struct bar_shape *shape, struct chance *chance,
                       bool buy, struct made_tick *tick)
{
    int64_t spread = chance_range(chance, 1, SPREAD_MAX) * f->tick, price = tick->trade.price;
    int64_t low = shape->low, high = shape->high;
    if (low == high) {
        low -= low > f->tick ? f->tick : 0;
        high += f->tick;
    }
    tick->bid = buy ? (price - spread > low ? price - spread : low) : price;
    tick->ask = buy ? price : (price + spread < high ? price + spread : high);
    tick->bid_size = quote_size(f, chance);
    tick->ask_size = quote_size(f, chance);
    tick->bid_exchange = tick->ask_exchange = f->crypto ? 0 : 'V';
}

static void make_tick(const struct file_bars *f, const struct bar_shape *shape, struct chance *chance,
                      const struct bar_trade *trade, struct made_tick *tick)
{
    bool single = shape->low == shape->high;
    bool buy = !single && trade->price == shape->low    ? false
               : !single && trade->price == shape->high ? true
               : single && trade->price <= f->tick      ? false
                                                        : trade->buy;
    /* A trade is of its quote's minute. */
    bool late = (trade->ts_ns + MADE_TAKEN_NS) / MADE_MINUTE != trade->ts_ns / MADE_MINUTE;
    int64_t ts_ns = trade->ts_ns - (late ? MADE_TAKEN_NS : 0);
    *tick = (struct made_tick){.ts_ns = ts_ns, .iex = true, .traded = true};
    tick->trade = (struct made_trade){
        .ts_ns = ts_ns + MADE_TAKEN_NS,
        .reported_ns = ts_ns + MADE_TAKEN_NS,
        .price = trade->price,
        .size = trade->qty,
        .exchange = f->crypto ? 0 : 'V',
        .buy = buy,
    };
    make_quote(f, shape, chance, buy, tick);
}

/* The marks of a stock's trade: outside of the session; its first print. */
static void mark(const struct bar_shape *shape, bool first, struct made_trade *t)
{
    struct trading_day day;
    if (replay_sessions_on(replay_eastern_date(t->ts_ns), &day) == SESSIONS_CLOSED)
        return;
    t->extended = t->ts_ns < day.open_ns || t->ts_ns >= day.close_ns;
    t->opening = first && shape->open_ns == day.open_ns;
    if (t->opening)
        t->exchange = 'Q'; /* the official print is of the exchange that lists it */
}

size_t replay_file_bars_minute(const struct file_bars *f, uint64_t seed, int64_t minute,
                               struct made_tick ticks[static MADE_TICKS_MAX])
{
    struct bar_trade trades[BAR_TRADES_MAX];
    struct bar_shape shape;
    struct chance chance;
    int64_t begin_ns = minute * MADE_MINUTE;
    size_t bar, n = 0;
    if (!bar_at(f, begin_ns, &bar, &shape))
        return 0;
    int made = trades_of(f, seed, &shape, trades, &chance);
    for (int i = 0; i < made && n < MADE_TICKS_MAX; i++) {
        struct made_tick tick;
        make_tick(f, &shape, &chance, &trades[i], &tick);
        if (trades[i].ts_ns < begin_ns || trades[i].ts_ns >= begin_ns + MADE_MINUTE)
            continue;
        tick.trade.id = (minute * MADE_TICKS_MAX + (int64_t)n) * 2;
        if (!f->crypto)
            mark(&shape, i == 0, &tick.trade);
        ticks[n++] = tick;
    }
    return n;
}

bool replay_file_bars_quiet(const struct file_bars *f, int64_t minute, int64_t ret_ohlc[static 4])
{
    struct bar_shape shape;
    size_t bar;
    if (!bar_at(f, minute * MADE_MINUTE, &bar, &shape) || shape.volume != 0 ||
        shape.open_ns != minute * MADE_MINUTE)
        return false;
    ret_ohlc[0] = shape.open;
    ret_ohlc[1] = shape.high;
    ret_ohlc[2] = shape.low;
    ret_ohlc[3] = shape.close;
    return true;
}
