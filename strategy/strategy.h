/* A trading strategy: a row with a name, parameters and the indicators that it reads, and a function called
 * at each closed bar that returns order intents. It gets numbers only; it never touches an account, a book or
 * a clock. */
#ifndef STRATEGY_STRATEGY_H
#define STRATEGY_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/order.h"
#include "strategy/params.h"

struct strategy_external;
struct strategy_record;

/* Does it alone say for which share of equity a position is opened? */
enum strategy_opens {
    STRATEGY_OPENS_NONE, /* no, or it is the most alone */
    STRATEGY_OPENS_EACH, /* each position */
    STRATEGY_OPENS_ALL,  /* those of all symbols together, the same in each */
};

struct strategy_param {
    const char *name, *summary;
    double fallback, min, max;
    bool integer;
    const char
        *words; /* NULL; or what 0, 1 … are called, with blanks between: `integer`, from 0 to the last */
    bool later; /* one of the last ones: what was stored without it has its default */
    enum strategy_opens opens;
};

/* A symbol that the account trades, as its strategy sees it: its last closed bar that the strategy has seen,
 * and its position now. Members are those of strategy_input. */
struct strategy_peer {
    const char *name;
    int symbol;    /* its number in the engine, and of a host's hello */
    int64_t ts_ns; /* the bar's close; 0: there was none yet, and its prices and indicators are NaN */
    bool fresh;    /* `together`: it is the bar of this time */
    double open, high, low, close, volume;
    const double *indicators;
    double qty, entry, stop, profit;
    bool live_orders, shorts;
    int orders;
    double leverage;
    const struct strategy_record *record;
};

/* At a closed bar, of one symbol and account. Prices and quantities are plain numbers here. */
struct strategy_input {
    int64_t ts_ns;       /* the bar's close */
    int64_t interval_ns; /* of the bars */
    /* When the session of the bar opened, and when it closes, of the choice of its account: of `extended`
     * from the first of its hours to the last. 0: its market has no calendar, or the account's choice is
     * `all`. */
    int64_t session_open_ns, session_close_ns;
    double open, high, low, close, volume; /* the bar */
    const double *indicators; /* one value an output, in the order of the specs; NaN while warming up */
    double qty;               /* position; negative: short */
    double entry;             /* average price of the position; 0 when flat */
    double equity, cash;      /* of the account, in its currency */
    bool live_orders;         /* an order of this symbol is still working (stops and profits apart) */
    int orders;      /* of its own, of this symbol, that still work, and that CANCEL would cancel: all but a
                      * bracket's exits and the protective stop */
    bool shorts;     /* the account may be short of this symbol */
    double leverage; /* the most of its equity that the account's margin lets it hold of this symbol; 1
                      * without a margin; 0 counts as 1. */
    double stop, profit; /* prices of the active protective stop and take-profit; 0 for none */
    int positions;       /* symbols with a position or an entry, this one included */
    int symbols;         /* that the account trades */
    const struct strategy_record *record; /* of this symbol */
    /* Of a strategy with `peers` or `together`: the account's symbols, in an order that stays, and which of
     * them this one is; else NULL. Bars of one time close one after the other: with `peers` alone those of
     * others may be of the time before. */
    const struct strategy_peer *peers;
    int n_peers, self;
};

enum intent_kind {
    /* Buy for `fraction` of equity: at market, or at `limit` until good_ns. What was filled is then protected
     * by a stop at `stop` and sold at `profit`, where they are not 0; one ends the other. */
    INTENT_ENTER,
    /* Close the position at market, long or short; its stop and profit end too. Or close `fraction` of it,
     * in whole lots: what protects it shrinks to what is left once that is filled. */
    INTENT_EXIT,
    INTENT_STOP, /* move the protective stop to `stop`: below the price; of a short above it */
    /* Hold `fraction` of equity, negative: short. Buys or sells the difference at market; through 0 it closes
     * first, and then opens the other way round. */
    INTENT_TARGET,
    /* ENTER the other way round, where `shorts` allows it: sells for `fraction` of equity. What was filled is
     * bought back at `stop`, above the price, or at `profit`, below it. */
    INTENT_SHORT,
    /* One order of any type, by the fields of an order below. Its venue and the account's limits take it or
     * refuse it as they do an order by hand. */
    INTENT_ORDER,
    INTENT_CANCEL, /* cancels those that `orders` counts */
    INTENT_KINDS,
};

/* What an order's quantity is computed from, as the order is made; in whole lots. */
enum intent_size {
    INTENT_OF_EQUITY,   /* `fraction` of equity, at its limit, else its stop price, else at the market's */
    INTENT_OF_POSITION, /* `fraction` of the position, 0..1 */
    INTENT_OF_UNITS,    /* `qty` */
};

struct intent {
    enum intent_kind kind;
    double fraction;     /* of equity. ENTER, SHORT: 0..leverage; TARGET: -leverage..leverage, negative where
                          * `shorts` allows it, 0 is EXIT. EXIT: of the position, 0..1; 0 and 1: all of it */
    double stop, profit; /* ENTER, SHORT: prices or 0; STOP: stop */
    double limit;        /* ENTER, SHORT: price, or 0 for at market */
    int64_t good_ns;     /* ENTER, SHORT at a limit: when it expires; 0: never. ORDER: with ORDER_GTD */
    /* ORDER alone. `limit` and `stop` are its prices, where its type has them: a limit, and the price that
     * triggers it; of ENTER and SHORT see above. */
    enum order_side side;
    enum order_type type;
    enum order_tif tif;
    enum intent_size size;
    double qty;
    double trail, trail_share; /* of a trailing stop one of the two: a distance, or 0..1 of the price */
    bool reduce_only;
    int symbol;      /* of a strategy with `together`: which of the peers; else not read */
    const char *why; /* static text, recorded with the order */
};

/* The bars of one symbol as columns, n rows each, without gaps, oldest first. */
struct strategy_columns {
    size_t n;
    int64_t interval_ns;
    const int64_t *open_ns;
    const double *open, *high, *low, *close, *volume;
    const double *const *indicators; /* [output][row] in the order of the specs; NaN while warming up:
                                      * at the beginning, nowhere else */
};

/* Which bars matter: bit i % 64 of word i / 64 is bar i's. */
struct strategy_marks {
    uint64_t *flat;    /* to an account that holds nothing of the symbol */
    uint64_t *holding; /* to one that is long of it */
    uint64_t *shorted; /* to one that is short of it; NULL: the account may not be short */
};

/* After a bar at which it returned no intent: how long on_bar() would return none and change nothing, as long
 * as the symbol's position, orders and record stay as they are. Calls at other bars do no harm. */
struct strategy_idle {
    int64_t until_ns;             /* before the first bar that closes then or later, … */
    double low, high;             /* … while closes are neither below `low` nor above `high` */
    double share_low, share_high; /* … and qty * close / equity neither; both infinite: whatever it is */
};

struct strategy {
    const char *name, *summary;
    const struct strategy_param *params;
    size_t n_params;
    bool shorts;       /* it also sells short, where the account may */
    bool needs_shorts; /* and opens nothing where that may not */
    bool peers;        /* it reads the last bars of the account's other symbols */
    /* It is called once for a time, when the bars of all of the account's symbols of that time have closed;
     * where some are missing once it has waited for them, or a later bar comes, as policies do
     * (engine/driver.c). The bar, position and indicators of its input are peers[0]'s; it has one state, and
     * returns at most STRATEGY_INTENTS_MAX intents of each symbol, of symbols whose bar is fresh. */
    bool together;
    int symbols_min; /* symbols that the account must trade at least */
    /* NULL, or why these parameters, each within its range, contradict each other: static text that names
     * one. No function: they never do. */
    const char *(*check)(const double *params);
    /* Writes the indicator specs for these parameters: "sma:20", or of closed bars of a longer interval
     * "ema:9@4h", whose value holds until the next one closes. Returns how many. */
    size_t (*specs)(const double *params, char specs[][STRATEGY_SPEC_TEXT]);
    /* Bytes of state that it keeps of each symbol, at most STRATEGY_STATE_MAX; 0: STRATEGY_STATE_SIZE. */
    size_t state_size;
    /* Decides. `state` is strategy_state_size() bytes, zeroed at the start, 8-aligned, the strategy's own.
     * Returns the number of intents written (at most STRATEGY_INTENTS_MAX). */
    size_t (*on_bar)(const double *params, void *state, const struct strategy_input *input,
                     struct intent *intents);
    /* NULL, or a vectorised search for the bars that matter: marks each bar at which on_bar(), for an account
     * that holds nothing, a long or a short, may return an intent or change its memory. on_bar() must do
     * nothing at bars without a mark; marks may be too many, never too few, and a mark depends on bars up to
     * it only. The words are zeroed; open_ns and volume are NULL. The columns may begin anywhere in the
     * history, and more than once: a bar that depends on bars before them must be marked. */
    void (*scan)(const double *params, const struct strategy_columns *columns,
                 const struct strategy_marks *marks);
    /* NULL, or the same from the bars alone (`indicators` and open_ns are NULL), of a strategy whose
     * indicators are of windows: faster, since those are then computed at the marked bars only. Not asked
     * with parameters whose indicators are not. */
    void (*scan_bars)(const double *params, const struct strategy_columns *columns,
                      const struct strategy_marks *marks);
    /* NULL, or says so, of a strategy whose bars depend on the time and on the account: for those without
     * scan() and scan_bars(). Called after on_bar(), with the same input and the memory that it left; not of
     * a market with a calendar. *ret comes as if nothing ended it. */
    void (*idle)(const double *params, const void *state, const struct strategy_input *input,
                 struct strategy_idle *ret);
    const struct strategy_external *external; /* NULL: a built-in; else strategy/external.h */
};

/* Does it see other symbols' bars? */
static inline bool strategy_sees_peers(const struct strategy *strategy)
{
    return strategy->peers || strategy->together;
}

static inline size_t strategy_state_size(const struct strategy *strategy)
{
    return strategy->state_size > 0 ? strategy->state_size : STRATEGY_STATE_SIZE;
}

/* All strategies, sorted by name. */
const struct strategy *const *strategy_list(size_t *ret_n);

/* By name, or NULL: a built-in, or an outside one that is open already; strategy_open() of external.h opens.
 */
const struct strategy *strategy_find(const char *name);

/* Writes the error with the nearest strategy: "\"sma-cros\": unknown strategy: did you mean sma-cross?"
 * `also`: another valid word there, as "none", or NULL. */
void strategy_unknown(const char *name, const char *also, char *err, size_t err_size);

void strategy_defaults(const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX]);

/* The first parameter that is outside its range, or not whole where that is needed; NULL: all are valid. */
const struct strategy_param *strategy_misfit(const struct strategy *strategy, const double *params);

/* The word that a value is called; NULL: the parameter is a number. */
const char *strategy_param_word(const struct strategy_param *param, double value,
                                char buf[static STRATEGY_WORD_MAX]);
/* That word, or the number by "%g". */
const char *strategy_param_text(const struct strategy_param *param, double value,
                                char buf[static STRATEGY_WORD_MAX]);

/* All of its words: "sma or ema"; "" of a number. */
const char *strategy_param_words(const struct strategy_param *param, char buf[static STRATEGY_WORDS_MAX]);

/* How many parameters are stored: those at the end that came later and have their defaults are not. */
size_t strategy_params_stored(const struct strategy *strategy, const double *params);
/* The first n were stored: gives the others their defaults. False: these are not parameters of it. */
bool strategy_params_complete(const struct strategy *strategy, size_t n,
                              double params[static STRATEGY_PARAMS_MAX]);

/* Sets one parameter from text. 0; -ENOENT for an unknown name, with the nearest; -EINVAL for what
 * config_key_read() refuses. `why` has CONFIG_WHY_MAX bytes; NULL: not wanted. */
int strategy_set(const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX], const char *name,
                 const char *text, char *why);

#endif
