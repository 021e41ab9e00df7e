/* A backtest: accounts, each with its strategy, over the bars of a market, with the bar fill model. The
 * same bars through a live engine whose fill model is FILL_BAR give the same orders, fills and ledger, row
 * by row: the engine itself runs here (BACKTEST_ENGINE), or, for an account within what it covers, the
 * vectorised backtest (BACKTEST_COLUMNS: indicators as columns, bars that matter as bit masks, the account
 * updated only there), which gives the same, as the tests prove.
 *
 * Events. Row r of symbol s, where it is present, is a closed kline received at its end, with the sequence
 * number r * n_symbols + s + 1; rows before `from` are history in the same order. A gap makes no event.
 *
 * External columns. Each value is an event (EVENT_COLUMN) before the bars of the first row that ends when it
 * is published or later, with that end as its time and the number of the event before.
 *
 * Sessions. With a calendar the engine has it first (EVENT_CALENDAR), and each change of its phase once
 * (EVENT_SESSION): before the bars of the first row that has some and opens then or later. So an account
 * decides and trades in the sessions that it chose (account_spec's session), as a live one does. The market's
 * rows must be those of that choice; the others are missing.
 *
 * Splits and dividends. Each is an EVENT_ACTION, as a live engine has it: in the order of at_ns, before the
 * bars (with trades: the trade) of the first row that has some and ends after at_ns, which is the row that
 * has the ex-date's first prices; at one moment before a change of the session. The bars are as they were
 * traded (raw): those before a split are in old shares.
 *
 * Universe. With one, strategies and policies open positions only in the symbols that are in it: what changes
 * at a time is an EVENT_UNIVERSE each, after the bars that end then and before those that open then.
 *
 * Ids. Where orders or the ledger are kept, several accounts run together, and their ids and the ledger's
 * hashes are those of one live engine with these accounts. Where they are not, each account runs by itself,
 * on as many threads as there are, and ids count from 1 in each.
 *
 * Equity at a row's close is ((cash + q0 * c0) + q1 * c1) + ... over the symbols held, in their order, in
 * doubles, each product and each sum rounded once: cash is the currency (before the first bar the opening
 * cash) less unpaid interest, q what is held (below 0: short), c the row's close in the market's columns.
 * What is quoted in another currency has no price in this one and does not count.
 *
 * What the vectorised backtest covers: every strategy, order and limit that an account in one currency uses
 * on bars, long and short, except on margin, with sales that settle later, and limits of daily loss and of
 * drawdown, which depend on each price; symbols of different assets, all quoted in the account's currency; at
 * most 16 orders of a symbol at once; no margin call; with a calendar its regular sessions; and, where orders
 * or the ledger are kept, one account. Neither a universe, splits and dividends, nor orders that a strategy
 * describes itself, nor strategies that see other symbols, read external columns or are processes.
 * BACKTEST_AUTO uses the engine for the rest, also where that shows only while it runs: `restarts`. */
#ifndef ENGINE_BACKTEST_BACKTEST_H
#define ENGINE_BACKTEST_BACKTEST_H

#include "engine/backtest/external.h"
#include "engine/engine.h"
#include "engine/market/market.h"
#include "exchange/corporate_action.h"
#include "exchange/trading_calendar.h"
#include "strategy/intent_fault.h"
#include "strategy/params.h"

struct intent;

enum backtest_way { BACKTEST_AUTO, BACKTEST_ENGINE, BACKTEST_COLUMNS };

/* The stages that are timed, in the order of a run. */
enum backtest_stage {
    STAGE_LOAD,
    STAGE_INDICATORS,
    STAGE_SIGNALS,
    STAGE_SIMULATE,
    STAGE_METRICS,
    BACKTEST_STAGES
};

/* One trade of a symbol, in its integer units. */
struct backtest_tick {
    int64_t ts_ns, id, price, qty;
    bool buyer_maker; /* the taker sold */
};

/* One symbol's trades, by time and id, each within a row of the market that is there. */
struct backtest_ticks {
    const struct backtest_tick *ticks;
    size_t n;
};

/* A split or a dividend of a symbol of the market. */
struct backtest_action {
    int symbol;
    int64_t at_ns; /* when it takes effect: ex_ns, or later where it was reported late */
    struct corporate_action action;
};

/* One that took effect on an account, whether or not it held the symbol. */
struct backtest_taken {
    int symbol;
    struct corporate_action action;
    int64_t ts_ns;
    uint64_t input_seq;
    size_t n_fills; /* of the account, before it */
    int64_t change; /* SPLIT: by so much what is held grew, of a short shrank; qty_scale */
    int64_t paid; /* DIVIDEND: into the account, now or at its pay date, of a short less than 0; the symbol's
                   * quote units */
};

/* Which symbols are in the universe: engine/backtest/universe.h. */
struct backtest_universe;

#define BACKTEST_LIMIT_NS (10 * INT64_C(1000000000)) /* of a call of a process, by default */

struct backtest;

struct backtest_config {
    const struct market *market;
    /* NULL, or [n_symbols]: the fill model is FILL_QUOTE instead of FILL_BAR, the engine runs, and before a
     * row's bars close its trades are played. Each also becomes the best bid and the best ask, with
     * unlimited quantity on both. */
    const struct backtest_ticks *ticks;
    /* By at_ns, at one moment as corporate_action_order(); no id of a symbol twice. The engine runs. */
    const struct backtest_action *actions;
    size_t n_actions;
    /* NULL: every symbol is in; or of this market. The engine runs. */
    const struct backtest_universe *universe;
    /* NULL, or the market's calendar, which covers all rows: of the symbols that name one or whose bars have
     * sessions. Bars of a day or more trade as without it. */
    const struct trading_calendar *calendar;
    /* NULL, or the venue whose rules of orders hold (exchange/order_rules.h), of symbols whose class is
     * known. */
    const char *venue;
    /* Symbols of no known class, as files' are, are the venue's stocks where they trade by the calendar, and
     * else its crypto. */
    bool class_by_calendar;
    /* Before and after the session strategies give limit orders, as the venue takes them and in a daemon with
     * [venue] extended_hours = off; else every order of an account that chose these hours fills. */
    bool limits_outside;
    const struct external_columns *external; /* NULL, or columns that strategies may read */
    size_t from, to; /* rows [from, to) are traded; those before warm the indicators only */
    const struct account_spec *accounts; /* strategies, cash, fees, limits */
    int n_accounts;
    int64_t latency_ns;
    int32_t slippage_e6;
    /* Of a call of a process that decides: a backtest in which an answer is late, or wrong, fails. 0:
     * BACKTEST_LIMIT_NS. */
    int64_t strategy_limit_ns;
    enum backtest_way way;
    int threads;         /* 0: one a core */
    bool orders, ledger; /* keep them? fills are always kept */
    bool (*progress)(void *ctx,
                     double share); /* NULL, or called now and then with 0..1; false: stop, -ECANCELED */
    /* NULL, or called with a strategy's order intents at the close of a row, in both ways of running,
     * whatever their outcome, in the order of each symbol's rows; n_intents > 0; traded rows only. With it
     * the accounts run on the caller's thread. */
    void (*decided)(void *ctx, int account, int symbol, size_t row, const struct intent *intents,
                    size_t n_intents);
    /* NULL, or called when what was reported of an account so far is void: it runs again, by the engine. */
    void (*restarts)(void *ctx, int account);
    /* NULL, or called once an account has run to its last row, after so many seconds, on the thread that ran
     * it, of several accounts at once; also in a run that is then stopped, or fails. Of `run` that account
     * alone may be read. */
    void (*ended)(void *ctx, const struct backtest *run, int account, double seconds);
    void *ctx;
};

/* One closed or, at the end, open trade: from flat to flat, of one account and symbol. */
struct backtest_trade {
    int symbol;
    size_t entry_row, exit_row; /* rows of the first and of the last fill; to when open */
    int64_t entry_ns, exit_ns;  /* 0: still open, valued at the last close */
    int64_t qty;                /* the most that was held, qty_scale; negative: short */
    int64_t cost, proceeds;     /* of all purchases and of all sales, in the symbol's quote units */
    int64_t dividends;          /* that it was paid, of a short less than 0 */
    int64_t fees, profit;       /* profit: with dividends, after fees */
};

/* Orders that were refused for their quantity, for one of the two reasons. */
struct backtest_shortage {
    uint64_t n;
    int symbol;  /* of the first */
    bool others; /* of other symbols, too */
};

/* Rates by volume, from a moment on: `tiers` is the text of the account's rules then. */
struct backtest_fee_rate {
    struct fee_rate_change change; /* `tiers` is NULL */
    char tiers[FEE_TIERS_TEXT_MAX];
};

struct backtest_account {
    enum backtest_way way; /* how it was run */
    double *equity;        /* [to - from], at each row's close, in currency units as a plain number */
    struct fill *fills;    /* in their order */
    size_t n_fills;
    struct order *orders; /* as they ended, by id; NULL unless kept */
    size_t n_orders;
    struct ledger_row *ledger; /* NULL unless kept */
    size_t n_ledger;
    struct backtest_trade *trades; /* by their ends */
    size_t n_trades;
    struct backtest_taken *taken; /* as they took effect; NULL: there is none */
    size_t n_taken;
    struct receivable_row *receivables; /* as they came; NULL: there is none */
    size_t n_receivables;
    struct backtest_fee_rate *fee_rates; /* likewise */
    size_t n_fee_rates;
    size_t exposed;                  /* rows at whose close something was held */
    int64_t fees;                    /* sum over fills; currency units */
    int128_t turnover;               /* sum of fills' notionals, which outgrows an int64_t */
    uint64_t refused[ORDER_REASONS]; /* orders refused, by reason */
    struct backtest_shortage
        short_of_cash, /* BAD_QTY: one lot cost more than what was free, but not more than the opening cash */
        short_of_lot; /* other BAD_QTY, LOT_SIZE, MARKET_LOT_SIZE: the lot is too large for what was wanted */
    uint64_t intents[INTENT_FAULTS]; /* intents refused as invalid, by what was wrong */
    int64_t final_equity, final_cash;
    int64_t killed_ns; /* when its drawdown locked it; 0: it still trades */
};

struct backtest {
    struct backtest_account *accounts; /* [n_accounts] */
    int n_accounts;
    size_t from, to;
    double seconds[BACKTEST_STAGES]; /* LOAD and METRICS are the caller's to add */
};

/* The trades of an account's fills, and of the splits and dividends between them, into a new array, and the
 * sums of fees and notionals over them: of a run that was stored, too. Of `config` the market and `to` count.
 * 0 or -ENOMEM. */
int backtest_trades_sum(const struct backtest_config *config, struct backtest_account *account);

/* The next split or dividend that took effect before the account's fill of that index, and before a time;
 * NULL: there is none yet. *next, 0 at first, counts those that were returned. */
const struct backtest_taken *backtest_taken_next(const struct backtest_account *account, size_t n_fills,
                                                 int64_t before_ns, size_t *next);

/* How many bars an account's indicators need before they all have values, and how many there are before row
 * `to`. */
struct backtest_needs {
    size_t bars;
    char output[STRATEGY_SPEC_TEXT]; /* the output that needs most, as sma_20; empty: the strategy reads none
                                      */
    size_t most_there;               /* of the symbol that has most */
    int n_short, first_short;        /* symbols that have fewer than `bars`; the first, or -1 */
};

/* May the account be short of one of the symbols at least? */
bool backtest_may_short(const struct backtest_config *config, const struct account_spec *account);

/* 0, or -EINVAL for indicators that cannot be on these bars (err). A run in which every symbol is short is
 * refused by backtest_run(). */
int backtest_needs(const struct backtest_config *config, const struct account_spec *account,
                   struct backtest_needs *ret, char *err, size_t err_size);

/* Runs it. 0 with *ret, to be finished by the caller; -EINVAL for a configuration that contradicts itself or
 * a strategy that cannot run on these bars (err: one sentence that says what would be right); -ECANCELED;
 * -ENOMEM. */
int backtest_run(const struct backtest_config *config, struct backtest *ret, char *err, size_t err_size);
void backtest_finish(struct backtest *backtest);

/* The first of an account's actions that took effect at a moment or later; n_taken: none did. */
size_t backtest_taken_from(const struct backtest_account *account, int64_t from_ns);

#endif
