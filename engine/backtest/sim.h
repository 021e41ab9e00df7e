/* One account, vectorised: the rules of engine/runner.c, intent.c, gate.c, reserve.c, loan.c, kept.c and
 * match_bar.c for an account in one currency, written again over flat structs, and run only at the bars where
 * they can have an effect: bars that a strategy's scan() marks, bars at which orders arrive, bars that reach
 * a price at which an order rests, and those at which interest is booked. The rules themselves are the same
 * functions: exchange/bar_rules.h, fill_rules.h, filter.h, margin.h, sizing.h, strategy/risk.h, intent.h,
 * record.h.
 *
 * Internal to engine/backtest, for the files sim*.c and vectorised.c. */
#ifndef ENGINE_BACKTEST_SIM_H
#define ENGINE_BACKTEST_SIM_H

#include "engine/backtest/run.h"
#include "exchange/bar_rules.h"
#include "strategy/record.h"
#include "strategy/strategy.h"

enum {
    SIM_LIVE_MAX = 16, /* orders of a symbol that live at once, or amends on their way */
    SIM_AHEAD = 8,
};

/* A live order, with the fields that matter here. */
struct sim_order {
    uint64_t id, group, parent;
    int64_t qty, filled, cost, price, stop_price;
    int64_t reserved; /* of the currency, by a purchase */
    int64_t effective_ns, updated_ns, expires_ns;
    int64_t ends_ns; /* of a strategy's entry: its session's end; 0: none */
    const char *tag;
    uint32_t amends;
    uint8_t side, type, tif, state;
    bool reduce_only, triggered;
    bool emulated; /* its venue does not take it: held here */
    bool shrinks;  /* closes a share: exits beside it are lowered as it fills */
};

/* A new price of a stop, on its way. */
struct sim_amend {
    uint64_t order_id;
    int64_t created_ns, effective_ns, stop_price;
};

/* The only order of its symbol, at market, in a run that keeps no orders: all that can happen is that it
 * trades at the next open. */
struct sim_plain {
    uint64_t id; /* 0: there is none */
    int64_t qty, reserved, ends_ns;
    bool buy;
};

/* Bars of a symbol that exist, one after the other, and their indicators and marks. */
struct columns_sparse;
struct sim_bars {
    size_t n;
    size_t first;                        /* row of bar 0 … */
    const uint32_t *rows;                /* … or of each, where some are missing */
    const double *const *outputs;        /* [output][bar] */
    const struct columns_sparse *sparse; /* [output] those of higher bars; NULL: all are columns */
    /* Marks; NULL: every bar. `shorted` only where the account may be short. */
    const uint64_t *flat, *holding, *shorted;
};

struct sim_symbol {
    const struct symbol *listed; /* `own` */
    const struct market_series *series;
    int64_t unit;
    const struct fee_rates *fees;
    int32_t fee_bound_e6;
    double price_units, qty_units; /* 10^scale */
    bool lends;                    /* the account may be short of it */

    struct sim_bars bars;
    const uint64_t *marks; /* of them, for what is held now: sim_choose_marks() */
    size_t at;             /* the next bar */
    size_t next_row;       /* at which it must be examined; SIZE_MAX: at none of these bars */

    /* Where the bars have no outputs: the next bars that are marked for a flat position, and their outputs.
     */
    size_t ahead[SIM_AHEAD], n_ahead;
    double *ahead_outputs;

    int64_t qty, cost, closed_ns; /* qty below 0: short */
    double calm_below;            /* of a short: up to this price there is no margin call */
    int64_t last;                 /* close of the last bar that was examined */
    struct record_keeper keeper;
    struct sim_order live[SIM_LIVE_MAX]; /* by id */
    struct sim_plain plain;
    int n_live, n_pending; /* n_pending: of them on their way, checked at each bar */
    int n_entering;        /* of them orders that may open a position */
    struct sim_amend amends[SIM_LIVE_MAX];
    int n_amends;
    bool sessions;                            /* its market closes */
    bool idle;                                /* the strategy said so, at the bar before `at` */
    struct strategy_idle until;               /* for how long */
    struct intent kept[STRATEGY_INTENTS_MAX]; /* of its session's last bar: ordered as the next one opens */
    size_t n_kept, kept_row;                  /* kept_row: that bar's */
    struct symbol own;                        /* backtest_run_symbol() */
    unsigned char *memory;                    /* the strategy's state */
};

/* Writes a symbol's outputs at n <= SIM_AHEAD bars, ascending, one bar's after the other's. */
typedef void sim_outputs(void *ctx, int symbol, const size_t *bars, size_t n, double *out);

struct sim {
    const struct backtest_config *config;
    sim_outputs *outputs; /* where the bars have none */
    void *outputs_ctx;
    const struct account_spec *spec;
    int account; /* index in the configuration */
    struct backtest_account *ret;
    size_t cap_fills, cap_orders, cap_ledger;
    struct curve curve;
    struct sim_symbol *symbols; /* [n_symbols] */
    double *ahead_outputs;      /* of all of them */
    unsigned char *memories;    /* likewise */
    int n_symbols;
    size_t n_outputs;
    struct risk_rate rate;
    int64_t cash, reserved;
    int64_t need;       /* of the purchase that was accepted last */
    double money_units; /* 10^currency_scale */
    int entered;        /* symbols held, or being entered */
    uint64_t last_order, last_fill, last_ledger;
    uint8_t hash[LEDGER_HASH_SIZE];
    bool started, plain; /* plain: orders may be so */
    bool shares;         /* the strategy may wait for a share to leave its bounds */
    bool lends;          /* some symbol may be short; else what follows is 0: */
    int shorts;          /* symbols that are */
    int64_t unpaid;      /* interest that the cash did not suffice for */
    int64_t interest_ns; /* the last hour that interest was booked for */
    size_t interest_row; /* of the next interest; SIZE_MAX: nothing is due */
    size_t checked_row;  /* the cover was checked up to its symbol `checked_symbol` */
    int checked_symbol;
    bool calm; /* calm_below are those of the cash and the holdings as they are */
    const struct trading_calendar *calendar; /* NULL: there is none, or no symbol has one */
    struct session_span session;             /* that is open, or opens next, at the last row examined */
    bool open;
    size_t change_row;        /* the first row at or after it opens, or closes; SIZE_MAX: never */
    struct session_span seen; /* of the last decision */
    bool opening;             /* it opens: no bar of `row` has closed */
    int64_t now_ns;
    uint64_t seq;
    size_t row;
    int failed; /* -ENOMEM; -ENOTSUP: more than is covered here: the engine must run instead */
};

/* NULL, or why the account is not covered: a clause. */
const char *backtest_sim_covers(const struct backtest_config *config, const struct account_spec *spec);

int backtest_sim_open(struct sim *sim, const struct backtest_config *config, int account, size_t n_outputs,
                      struct backtest_account *ret);
/* Frees all except what it gave to `ret`. */
void backtest_sim_close(struct sim *sim);
/* The symbols' bars, from the first one after those before. */
void backtest_sim_give(struct sim *sim, int symbol, const struct sim_bars *bars);
/* Simulates everything before row `end`, which lies within the bars of all symbols. 0 or sim->failed. */
int backtest_sim_rows(struct sim *sim, size_t end);
/* The run is over: fills in what is left of `ret`. 0, -ENOMEM, or -ENOTSUP: the value exceeded what can be
 * counted (FILL_MONEY_MAX), where the engine stops counting. */
int backtest_sim_finish(struct sim *sim);

/* ---- sim_book.c: what is emitted and booked ---- */

void backtest_sim_begin(struct sim *sim, int64_t ts_ns); /* the opening deposit, once */
/* Books a trade: the fill, the ledger's rows, cash, position, record. Returns its notional. */
int64_t backtest_sim_book(struct sim *sim, struct sim_symbol *symbol, uint64_t order_id, enum order_side side,
                          int64_t price, int64_t qty, bool maker);
/* An order in its present state, where orders are kept: new at first. */
void backtest_sim_report_new(struct sim *sim, const struct sim_symbol *symbol, const struct sim_order *order,
                             enum order_reason reason);
void backtest_sim_report_ended(struct sim *sim, const struct sim_order *order, enum order_reason reason);
static inline void sim_report(struct sim *sim, const struct sim_order *order)
{
    backtest_sim_report_ended(sim, order, ORDER_OK);
}
void backtest_sim_entering(struct sim *sim, struct sim_symbol *symbol, int change);
void backtest_sim_pay_interest(struct sim *sim, int64_t amount);
void backtest_sim_curve(struct sim *sim); /* the equity's cash is as it is now, from this row on */

/* Counts n orders as refused. */
void backtest_sim_refused(struct sim *sim, const struct sim_symbol *symbol, enum order_reason reason, int n);

static inline int sim_index(const struct sim *sim, const struct sim_symbol *symbol)
{
    return (int)(symbol - sim->symbols);
}

static inline size_t sim_row_of(const struct sim_bars *bars, size_t bar)
{
    return bars->rows ? bars->rows[bar] : bars->first + bar;
}

/* The first bar in [from, to) of a row or later. */
static inline size_t sim_find_row(const struct sim_bars *bars, size_t row, size_t from, size_t to)
{
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (sim_row_of(bars, middle) < row)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static inline double sim_number(int64_t units, double of_one)
{
    return (double)units / of_one;
}

/* The market's price in exact units; the columns hold such prices only. */
static inline int64_t sim_units(double price, double of_one)
{
    double units = price * of_one;
    return units < 0x1p52 ? (int64_t)(units + 0.5) : (int64_t)units;
}

/* A volume as the engine sees it: the number that it is at the symbol's scale. */
static inline double sim_volume(double volume, int qty_scale)
{
    int128_t units = 0;
    decimal128_from_double(volume, qty_scale, &units);
    return decimal_to_double(units, qty_scale);
}

/* After a change of its bars, or of what is held. */
static inline void sim_choose_marks(struct sim_symbol *symbol)
{
    const struct sim_bars *bars = &symbol->bars;
    symbol->marks = symbol->qty == 0 ? bars->flat : symbol->qty > 0 ? bars->holding : bars->shorted;
}

/* What is held of a symbol, at a price; what is borrowed is rounded up. */
static inline int64_t sim_value(const struct sim_symbol *symbol, int64_t price)
{
    int64_t rest, value;
    if (symbol->qty >= 0)
        return (int64_t)fill_divide((int128_t)price * symbol->qty, symbol->unit, &rest);
    value = (int64_t)fill_divide((int128_t)price * -symbol->qty, symbol->unit, &rest);
    return -(value + (rest != 0));
}

/* How much of what is held a purchase, or a sale, can close. */
static inline int64_t sim_reducible(const struct sim_symbol *symbol, enum order_side side)
{
    int64_t held = side == ORDER_BUY ? -symbol->qty : symbol->qty;
    return held > 0 ? held : 0;
}

static inline enum order_side sim_closing_side(const struct sim_symbol *symbol)
{
    return symbol->qty < 0 ? ORDER_BUY : ORDER_SELL;
}

/* May the order open a position? */
static inline bool sim_opens(const struct sim_symbol *symbol, const struct sim_order *order)
{
    return !order->reduce_only && (order->side == ORDER_BUY || symbol->lends);
}

/* ---- sim_live.c: orders ---- */

struct sim_order *backtest_sim_find(struct sim_symbol *symbol, uint64_t id); /* NULL: not live */
/* Ends an order (FILLED already, or as `state`): its reserve is free, a bracket's exits start or end. */
void backtest_sim_end(struct sim *sim, struct sim_symbol *symbol, uint64_t id, enum order_state state,
                      enum order_reason reason);
void backtest_sim_reserve(struct sim *sim, struct sim_symbol *symbol, struct sim_order *live);
void backtest_sim_lift(struct sim *sim, struct sim_order *live);
/* One order or a bracket, all or none, as engine_match_submit_group(). */
enum order_reason backtest_sim_submit(struct sim *sim, struct sim_symbol *symbol, struct sim_order *legs,
                                      int n_legs);
bool backtest_sim_amend(struct sim *sim, struct sim_symbol *symbol, struct sim_order *live,
                        int64_t stop_price);
/* At the last prices, as the bar of `symbol` closes. */
int64_t backtest_sim_equity(const struct sim *sim, const struct sim_symbol *symbol);
/* What is held of a symbol, as the bar of symbol `now` closes. */
int64_t backtest_sim_value(const struct sim *sim, const struct sim_symbol *symbol, int now);

void backtest_sim_push(struct sim *sim, struct sim_symbol *symbol, const struct sim_order *order,
                       int64_t reserved);

/* ---- sim_loan.c: shorts, as loan.c and reserve.c, of an account that may be short of some symbol ---- */

/* The cash that is neither reserved nor covers shorts; `left`: once what is held of the symbol is closed. */
int64_t backtest_sim_spendable(const struct sim *sim, const struct sim_symbol *symbol, bool left);
/* May an order that is not reduce-only be accepted? */
enum order_reason backtest_sim_loan_check(const struct sim *sim, const struct sim_symbol *symbol,
                                          enum order_side side, int64_t qty, int64_t price);
int64_t backtest_sim_loan_affordable(const struct sim *sim, const struct sim_symbol *symbol,
                                     enum order_side side, int64_t price, int64_t qty);
/* A trade was booked; `held`: the position before. */
void backtest_sim_loan_moved(struct sim *sim, struct sim_symbol *symbol, int64_t held);
/* Books the interest that is due before the bars of a row, with `opens` also as its first one opens, and
 * checks the cover at all bars before the one of symbol `s` there: -ENOTSUP in sim->failed where the engine
 * would make a margin call. */
void backtest_sim_loans_until(struct sim *sim, size_t row, int s, bool opens);

/* ---- sim_idle.c: bars that a strategy said it does nothing at (struct strategy_idle) ---- */

/* After it decided at the symbol's bar, with so many intents. */
void backtest_sim_idle_take(struct sim *sim, struct sim_symbol *symbol, const struct strategy_input *input,
                            size_t n_intents);
/* The first bar in [at, n) that the strategy is to see, of an idle symbol without orders on their way; n:
 * there is none. */
size_t backtest_sim_idle_end(const struct sim *sim, const struct sim_symbol *symbol);
/* Passes over the rows before `end` at which all symbols are idle, where bounds of shares are given: what one
 * of them is worth changes the others' shares. */
void backtest_sim_idle_rows(struct sim *sim, size_t end);

/* ---- sim_plain.c ---- */

bool backtest_sim_plain_run(const struct sim *sim); /* may orders be plain? */
/* A purchase, or a sale of what is held, as backtest_sim_submit() does it. False, with nothing done: it
 * cannot be plain. */
bool backtest_sim_plain_submit(struct sim *sim, struct sim_symbol *symbol, bool buy, int64_t qty);
/* Another order comes: the plain order becomes an ordinary one. */
void backtest_sim_plain_end(struct sim *sim, struct sim_symbol *symbol);
/* A purchase ends without a fill. */
void backtest_sim_plain_drop(struct sim *sim, struct sim_symbol *symbol);
void backtest_sim_plain_fill(struct sim *sim, struct sim_symbol *symbol, int64_t open);
int64_t backtest_sim_affordable(const struct sim *sim, const struct sim_symbol *symbol, int64_t price,
                                int64_t qty);

/* ---- sim_bar.c: what a bar does to the symbol's orders, as engine_match_bar() ---- */
void backtest_sim_bar(struct sim *sim, struct sim_symbol *symbol, const struct bar_prices *prices);

/* ---- sim_session.c: sessions, as kept.c ---- */

void backtest_sim_sessions_begin(struct sim *sim);
/* What opened or closed until the bars of row `row` open; at the end, until the last bar of the run does. */
void backtest_sim_sessions(struct sim *sim, size_t row);
void backtest_sim_sessions_end(struct sim *sim);
/* The session of a time; {0} where the symbol's market never closes, or is closed then. */
struct session_span backtest_sim_session(struct sim *sim, const struct sim_symbol *symbol, int64_t open_ns);
/* A session's last bar ends with it. */
int64_t backtest_sim_bar_end(struct sim *sim, const struct sim_symbol *symbol, int64_t open_ns);
/* Is what is decided on that bar ordered as the next session opens? */
bool backtest_sim_waits(const struct sim *sim, const struct strategy_input *input);
/* When an entry that is made now ends; 0: with no session. */
int64_t backtest_sim_ends(struct sim *sim, const struct sim_symbol *symbol);
/* Ends the symbol's entries of sessions that are over at a time. */
void backtest_sim_end_entries(struct sim *sim, struct sim_symbol *symbol, int64_t ns);
/* The row of the last bar of the session that is open; SIZE_MAX: it is closed. */
size_t backtest_sim_last_row(const struct sim *sim);

/* ---- sim_intent.c: the strategy's order intents, as runner.c and intent.c ---- */
/* At the close of a bar that is marked; `act`: it is traded, and not history. */
void backtest_sim_decide(struct sim *sim, struct sim_symbol *symbol, size_t bar, bool act);
/* What was kept is ordered now. */
void backtest_sim_kept(struct sim *sim, struct sim_symbol *symbol);

#endif
