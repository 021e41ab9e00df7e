/* The universe: which of the symbols that are streamed, or that a backtest has bars of, strategies and
 * policies may open positions in, by a rule that is looked at again at stated times.
 *
 *   volume>1e6 & age>30d; top 10 by volume; over 7d; every 1d at 00:00
 *
 * Parts are separated by ";", in any order, each once at most. At least one of the first two is needed:
 *
 * - MEASURE>VALUE, >=, < or <=, joined by "&": a symbol must fulfil all of them, as filters of lists have it.
 *   VALUE is a number, of shares also "2%", of ages a duration;
 * - top N by MEASURE, bottom N by MEASURE: of those the N with the highest, or lowest, measure; of equal ones
 *   those that come first among the symbols;
 * - over D: the window that measures look back, from the time on: 1d without it;
 * - every D at HH:MM: the times, in UTC: 1d and 00:00 without them. D is a whole part or a multiple of a day
 *   (days are counted from a Monday, so that every 1w is on Mondays).
 *
 * Measures are of bars that closed at the time or before: no other is read, so that a backtest knows no more
 * than a daemon. One that there is not is NaN: it fulfils nothing, and has no rank.
 *
 * A symbol that leaves is not sold. Its positions stay with their stops and exits; what strategies and
 * policies have on order to open is cancelled, and new such orders are refused (ORDER_RISK_UNIVERSE). Orders
 * by hand pass. */
#ifndef ENGINE_UNIVERSE_H
#define ENGINE_UNIVERSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows: name, kind of its values, what it is. */
#define ENGINE_UNIVERSE_MEASURES(X) \
    X(VOLUME, "volume", NUMBER, "closes times volumes in the window, a day of it, in the quote currency") \
    X(VOLATILITY, "volatility", SHARE, "deviation of the window's returns of bars, of a day") \
    X(CHANGE, "change", SHARE, "the last close against the last one before the window") \
    X(PRICE, "price", NUMBER, "the last close in the window") \
    X(AGE, "age", AGE, "time since the first bar opened")

enum engine_universe_measure {
#define ROW(word, name, kind, summary) UNIVERSE_##word,
    ENGINE_UNIVERSE_MEASURES(ROW)
#undef ROW
        UNIVERSE_MEASURES,
};

const char *engine_universe_measure_name(enum engine_universe_measure measure);

enum engine_universe_op { UNIVERSE_ABOVE, UNIVERSE_AT_LEAST, UNIVERSE_BELOW, UNIVERSE_AT_MOST };

enum {
    UNIVERSE_CONDITIONS_MAX = 8,
    UNIVERSE_TEXT_MAX = 256,
    UNIVERSE_ERROR_MAX = 512,
};

struct engine_universe_rule {
    struct {
        enum engine_universe_measure measure;
        enum engine_universe_op op;
        double value; /* shares as shares, ages in ns */
    } conditions[UNIVERSE_CONDITIONS_MAX];
    int n_conditions;
    int n_best; /* 0: all that fulfil the conditions */
    bool bottom;
    enum engine_universe_measure by;
    int64_t over_ns, every_ns;
    int64_t at_ns; /* the times are those that are at_ns after a multiple of every_ns since 1970-01-05 */
    char text[UNIVERSE_TEXT_MAX]; /* as it was written */
};

/* 0; -EINVAL; err: one sentence that says what would be right. */
int engine_universe_parse(const char *text, struct engine_universe_rule *ret,
                          char err[static UNIVERSE_ERROR_MAX]);

/* The last of the rule's times that is not after a moment; the first one after it. */
int64_t engine_universe_last(const struct engine_universe_rule *rule, int64_t ns);
int64_t engine_universe_next(const struct engine_universe_rule *rule, int64_t ns);

/* Is a measure used? */
bool engine_universe_uses(const struct engine_universe_rule *rule, enum engine_universe_measure measure);

/* The measure of the first condition, or of the rank. */
enum engine_universe_measure engine_universe_first(const struct engine_universe_rule *rule);

/* Why no symbol is in, in words: the highest first measure of any, NaN: there is none, and whose it is. */
const char *engine_universe_empty_text(const struct engine_universe_rule *rule, double highest,
                                       const char *symbol, char ret[static UNIVERSE_TEXT_MAX]);

/* A symbol's closed bars as columns without gaps in the columns (missing bars are left out), oldest first:
 * `close` in new shares after each split, so that a split is no change. */
struct engine_universe_bars {
    size_t n;
    int64_t interval_ns;
    const int64_t *open_ns;
    const double *close, *traded; /* close, and close times volume as traded */
    const double *price;          /* close as traded */
};

/* The measures at a time, of the first `n` of the bars, which all closed by then: [UNIVERSE_MEASURES], in the
 * units of conditions. NaN: there is none, or it takes all bars of the window, and the rule does not use it.
 */
void engine_universe_measure(const struct engine_universe_rule *rule, const struct engine_universe_bars *bars,
                             size_t n, int64_t ns, double ret[static UNIVERSE_MEASURES]);

/* Which of n_symbols are in, by their measures: in[s]. `order`: room for n_symbols. Returns how many. */
size_t engine_universe_pick(const struct engine_universe_rule *rule,
                            const double (*measures)[UNIVERSE_MEASURES], size_t n_symbols, bool *in,
                            size_t *order);

#endif
