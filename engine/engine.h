/* The deterministic core: events in; bars, orders, fills, ledger rows and equity out.
 *
 * It owns order books, bars, indicators, strategies, the risk gate, the paper exchange and the accounts. It
 * reads no clock, starts no thread, touches no disk: time comes with the events, results leave by the sink.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/account.h"
#include "engine/command.h"
#include "exchange/bar.h"
#include "exchange/book.h"
#include "exchange/book_measure.h"
#include "exchange/corporate_action.h"
#include "exchange/fill.h"
#include "exchange/filter.h"
#include "exchange/market_kind.h"
#include "exchange/trading_calendar.h"
#include "exchange/trading_day.h"
#include "record/ledger_cause.h"
#include "record/ledger_row.h"
#include "strategy/policy/policy.h"
#include "strategy/record.h"
#include "strategy/risk.h"

struct engine;
struct event;
struct intent;
struct strategy_input;

/* What happens to a stop that the market crossed, and returned from, while nothing was streamed. */
enum missed_stops {
    MISSED_STOPS_FILL, /* it fills at the first price seen after, and an alert says so */
    MISSED_STOPS_KEEP, /* it keeps resting, and an alert says so */
};

struct engine_config {
    const struct symbol *symbols; /* copied */
    int n_symbols;
    const struct account_spec *accounts; /* copied */
    int n_accounts;
    int64_t interval_ns;        /* of the bars that strategies see */
    int64_t latency_ns;         /* between a decision and its effect at the venue */
    int64_t equity_interval_ns; /* of market time between two equity points; 0: at bars and fills only */
    enum missed_stops missed_stops;
    enum fill_model fill_model;
    int32_t slippage_e6; /* takers trade at prices this much worse than shown: 500 = 0.05 % */
    enum fill_beyond beyond;
    /* By the rules of programs before layout 8, only for their logs: in a market with sessions a stop
     * triggers on any trade that is received while orders are filled, whenever it was; an amend may set an
     * order's price beyond those of its group; what ends at once in a closed market ends as
     * ORDER_NO_LIQUIDITY. */
    bool before_8;
    /* How long a policy waits for a bar that is late, from the receipt of its round's first one on: the first
     * event that was received so much later ends the wait. 0: until a later bar of its symbols comes. */
    int64_t policy_wait_ns;
    /* Shared objects (strategy/external.h) are called where they decide, as built-ins: in backtests, whose
     * process may run them. Else they are asked, as processes are. */
    bool direct;
};

struct equity_point {
    int64_t ts_ns;
    int account;
    int64_t equity, cash; /* currency_scale */
    int64_t peak;         /* highest equity so far: equity / peak - 1 is the drawdown */
};

/* An account by the rules for stocks (exchange/margin.h): currency_scale. Without a margin there is no more
 * to buy with than cash. */
struct margin_figures {
    int64_t equity, initial, maintenance; /* and what its positions need */
    int64_t excess;                       /* equity - maintenance */
    int64_t power;                        /* the most that it can buy of a stock */
    int64_t debt;                         /* borrowed currency */
    int64_t day_trades;                   /* in MARGIN_DAY_TRADE_DAYS business days */
    bool day_trader;                      /* the pattern day trader's rule holds for it */
    int64_t settled, unsettled;           /* cash */
    int64_t settles_ns;                   /* when the last of it is settled; 0: all is */
    int64_t violations;                   /* of good faith */
};

/* What an order needs of what an account has: units of `scale` of an asset. */
struct engine_lack {
    const char *asset;
    int scale;
    int64_t needed, available;
    int64_t unsettled; /* cash that is not available, since it is not settled */
    bool refused;      /* needed > available, or more than money can be */
};

/* What a policy decided for an asset: quanta, price units and money as in strategy/policy/rules.h. */
struct engine_policy_decision {
    const struct policy *policy;
    const struct policy_symbol *units;
    float action;                 /* of task day-trade the direction */
    struct policy_day_action day; /* of that task, as it was carried out; else 0 */
    struct policy_memory memory;  /* before it decided */
    int64_t equity, available;
    struct policy_order order;
    bool leaves;                     /* its stop was reached already */
    const struct policy_vote *votes; /* [policy->n_members] of an ensemble's members */
    const char *why;                 /* the tag of its market order; its stop's is "stop" */
};

/* The inputs of a decision, emitted when it is taken; for explanations. Pointers live for the call. */
struct engine_decision { /* a strategy, or a policy, saw a bar */
    int account, symbol;
    const struct bar *bar;
    bool acted; /* false: on history, or in a currency that is not the account's */
    bool kept;  /* was decided before, and is ordered now, as a session opens */
    const struct strategy_input *input;
    const char *const *indicator_names;
    size_t n_indicators; /* of input->indicators */
    const struct intent *intents;
    size_t n_intents;
    const struct engine_policy_decision *policy; /* NULL: a strategy's; else there is no input, no intent */
};
struct engine_verdict { /* an order was checked, after the venue's filters */
    const struct order *order;
    const struct risk_limits *limits;
    const struct risk_facts *facts; /* NULL: refused before the risk gate was asked */
    enum order_reason reason;
};
struct engine_take { /* a fill, before it is booked */
    const struct order *order;
    struct book_level level; /* what was shown at its price */
    int64_t taken_before;    /* of it, taken by the account's earlier orders */
    int64_t queue_ahead;     /* a maker's, before the trade that filled it; -1: not known */
    bool from_book;          /* a level of the order book, else the best quote, or a trade */
    const struct bar *bar;   /* FILL_BAR: the bar that filled it; else NULL */
};
struct engine_trace {
    void *ctx;
    void (*decision)(void *ctx, const struct engine_decision *decision);
    void (*verdict)(void *ctx, const struct engine_verdict *verdict);
    void (*take)(void *ctx, const struct engine_take *take);
};

/* A venue's changes of what it had reported: their trace. */
enum revision_kind { REVISION_CORRECTION, REVISION_CANCEL, REVISION_BAR };
struct engine_revision {
    enum revision_kind kind;
    int symbol;
    int64_t ts_ns, at_ns;                       /* of the engine; of the trade, or the bar's opening */
    const struct market_correction *correction; /* NULL: BAR */
    const struct bar *old, *now;                /* the bar before and after; NULL: not kept, or no bar */
    enum bar_source
        source; /* which source's bar: a trade's is the one made of trades, which `bar` does not emit again */
    bool applied; /* false: what it belongs to is not kept any more, and no bar changes */
};

/* The order book's measures during a bar. */
struct engine_book_bar {
    int symbol;
    int64_t open_ns;
    struct {
        double open, high, low, close;
    } measures[BOOK_MEASURES];
};

/* What an account's position was valued at, at a point of equity. */
struct engine_mark {
    int account, symbol;
    int64_t ts_ns;   /* the point's */
    int64_t qty;     /* qty_scale; below 0: short */
    int64_t mark;    /* price_scale; 0: there was no price yet, and it is valued at its cost */
    int64_t mark_ns; /* struct engine_symbol_view's */
};

enum engine_venue_request { ENGINE_VENUE_PLACE, ENGINE_VENUE_CANCEL };

enum { ENGINE_ALERT_MAX = 513 }; /* of an alert's text, with the NUL */

/* Of a symbol's bars the newest are shown to an account that is made later. As many as a daemon fetches at
 * its start, at most: daemon/config.h. */
enum { ENGINE_RECENT_BARS_MAX = 1000 };

/* What an alert is about: an account and a symbol by their indexes, -1 for none, an order, 0 for none. */
struct engine_subject {
    int account, symbol;
    uint64_t order;
};
#define ENGINE_OF(account, symbol, order) (&(const struct engine_subject){account, symbol, order})

/* The engine's output, in order. Pointers live for the call. Any member may be NULL. */
struct engine_sink {
    void *ctx;
    void (*bar)(void *ctx, int symbol, enum bar_source source, const struct bar *bar);
    void (*order)(void *ctx, const struct order *order); /* created or changed */
    void (*fill)(void *ctx, const struct fill *fill);
    void (*ledger)(void *ctx, const struct ledger_row *row);
    void (*cause)(void *ctx, const struct ledger_cause *cause); /* of that row, after it */
    void (*accrual)(void *ctx, const struct ledger_accrual *accrual);
    void (*position)(void *ctx, int account, int symbol, const struct position *position, int64_t ts_ns);
    void (*equity)(void *ctx, const struct equity_point *point);
    /* At EVENT_STOP, after the point of equity that it belongs to: of each position that is not 0. */
    void (*mark)(void *ctx, const struct engine_mark *mark);
    void (*alert)(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                  const char *text);
    /* The condition of that code whose alert's text begins with `about` is over; also called where there
     * was none. */
    void (*alert_over)(void *ctx, const char *code, const char *about);
    void (*need_snapshot)(void *ctx, int symbol); /* answer with EVENT_SNAPSHOT */
    /* Bars between two open times, both included, are missing: answer with EVENT_BARS. */
    void (*need_bars)(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns);
    /* An account was created (before its first ledger row), or reset (after its last one), has other terms
     * (another strategy or policy, other rates), or is closed. engine_command() is what asked for it. */
    void (*account)(void *ctx, int account);
    /* A command was carried out; order_id is that of the first order made, amended or cancelled, 0 for none.
     */
    void (*command_done)(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id);
    const struct engine_trace *trace; /* NULL: no trace is needed */
    void (*revision)(void *ctx, const struct engine_revision *revision);
    void (*action)(void *ctx, int symbol, const struct corporate_action *action, int64_t ts_ns);
    /* After the ledger's row of it. */
    void (*receivable)(void *ctx, const struct receivable_row *row);
    void (*fee_rate)(void *ctx, const struct fee_rate_change *change);
    void (*session)(void *ctx, const struct market_session *session, int64_t ts_ns);
    /* With the bar that closed, before it; only of a symbol whose book, or quote, was there. */
    void (*book_bar)(void *ctx, const struct engine_book_bar *bar);
    /* An order of an account with EXECUTION_VENUE_PAPER is to be placed at its venue, or cancelled there:
     * answer with EVENT_VENUE_ORDER. */
    void (*venue)(void *ctx, enum engine_venue_request request, const struct order *order);
};

/* Copies the configuration. 0; -EINVAL for one that contradicts itself, or a strategy that bars of this
 * interval cannot serve (engine_runner_specs() of engine/specs.h says why); -ENOMEM. */
int engine_create(const struct engine_config *config, const struct engine_sink *sink, struct engine **ret);
void engine_destroy(struct engine *engine);

/* Recovery: what a former run left, before the first event. */
int engine_restore_balance(struct engine *engine, int account, const char *asset, int scale, int64_t total);
int engine_restore_borrowed(struct engine *engine, int account, const char *asset, int scale,
                            int64_t borrowed);
/* With one lot of all that is held; engine_restore_lots() replaces it by the true ones: -EINVAL for lots that
 * are not the position's. */
int engine_restore_position(struct engine *engine, int account, int symbol, const struct position *position);
int engine_restore_lots(struct engine *engine, int account, int symbol, const struct lots *lots);
int engine_restore_order(struct engine *engine, const struct order *order); /* live ones, by ascending id */
void engine_restore_equity(struct engine *engine, int account, int64_t deposits, int64_t peak, int64_t day,
                           int64_t day_equity);
/* After that: struct account's; without it what the day began with. */
void engine_restore_day(struct engine *engine, int account, int64_t point, int64_t day_base);
void engine_restore_killed(struct engine *engine, int account, int64_t killed_ns); /* 0: it trades */
void engine_restore_closed(struct engine *engine, int account, int64_t closed_ns); /* 0: it is open */
/* Of an account with EXECUTION_VENUE_PAPER: its orders' prefix there; "": it is not attached;
 * ENGINE_VENUE_RESET. */
void engine_restore_at_venue(struct engine *engine, int account, const char *prefix);
/* After the positions: the time of the account's last INTEREST row, 0 without one. Its shorts are charged
 * from there on, or from when they were borrowed. */
void engine_restore_interest(struct engine *engine, int account, int64_t charged_ns);
/* A split or a dividend that took effect: it is not applied again. 0, -EINVAL, -ENOMEM. */
int engine_restore_action(struct engine *engine, int symbol, const char *id, int64_t ex_ns);
void engine_restore_ids(struct engine *engine, uint64_t last_order, uint64_t last_fill, uint64_t last_ledger,
                        const uint8_t hash[static LEDGER_HASH_SIZE]);
void engine_restore_paused(struct engine *engine, bool paused);
/* Dividends that are booked and not paid, by account in the order of their rows: 0, -EINVAL, -ENOMEM. What an
 * account's fills of a UTC day came to, and the rates that were emitted last. */
int engine_restore_receivable(struct engine *engine, int account, const struct receivable *receivable);
void engine_restore_volume(struct engine *engine, int account, int64_t day, int64_t notional);
void engine_restore_tier(struct engine *engine, int account, const struct fee_rates *rates);
void engine_restore_charge_ids(struct engine *engine, uint64_t last_receivable, uint64_t last_fee_rate);

/* Makes the opening deposits of accounts without a ledger, as the first event otherwise does: a run that is
 * recorded leaves it to that event, so that a replay makes the same rows. */
int engine_start(struct engine *engine, int64_t now_ns);

/* An EVENT_CALENDAR of a calendar whose days outlive it; seq and recv_ns are the caller's to set. 0 or
 * -ENOMEM. */
int engine_calendar_event(const struct trading_calendar *calendar, struct event *ret);

/* Takes one event. 0, -ENOMEM, or -EINVAL for an event that names what does not exist. After -ENOMEM the
 * engine must be destroyed and restored from what was committed: an order or a row may be missing. */
int engine_handle(struct engine *engine, const struct event *event);

/* ---- outside strategies: strategy/external.h ---- */

/* What they are to decide, in the order in which it is to be given back, as EVENT_DECISION with the sequence
 * number and receive time that the caller has then. Requests on history change no account, and may wait.
 * While engine_request_waits(), the last event is handled only up to a decision: any other event gives that
 * up, as if nothing had been decided. A request waits through a state that is saved and loaded. A decision
 * takes effect at the time of the bar's event; one that was received an interval after the bar is as one on
 * history. */
struct strategy_request;
size_t engine_requests(const struct engine *engine);
/* The first; false: there is none. Its pointers live until the next event. */
bool engine_request_next(const struct engine *engine, struct strategy_request *ret);
bool engine_request_waits(const struct engine *engine);
/* Their hosts are opened again, after engine_configure(): those that were halted are asked again, and
 * processes that left nothing with the engine are shown the recent bars again. */
void engine_requests_begin(struct engine *engine);

enum { ENGINE_FAILURES_MOST = 3 }; /* bars in a row without a decision: then a strategy is halted */
/* How an account's strategy answers; `asked` false: it is no outside one, and the rest is 0. */
struct engine_answers {
    bool asked, halted;
    uint64_t late, invalid, ended; /* decisions that did not come, by why */
};
struct engine_answers engine_answers(const struct engine *engine, int account);
/* What its strategy left with the engine of a symbol; NULL and 0: nothing. Until the next event. */
const void *engine_strategy_kept(const struct engine *engine, int account, int symbol, uint32_t *ret_len);

/* A symbol's state for screens and status messages. */
struct engine_symbol_view {
    int64_t last, bid, bid_qty, ask, ask_qty; /* 0 before the first */
    int64_t mark;                             /* what positions are valued at */
    int64_t mark_ns;     /* when that price was made: a trade's receive time, a bar's end; 0: not known */
    int64_t last_ns;     /* receive time of the last market event */
    int64_t change_open; /* price 24 h ago, 0 when unknown */
    int64_t ahead_ns;    /* of its venue's clock: EVENT_VENUE_CLOCK */
    enum book_state book;
    uint64_t book_gaps, book_crossed; /* numbers missed; books that stood crossed */
    uint64_t bars;                    /* closed, since start, history included */
    struct bar last_bar;              /* valid when bars > 0 */
    struct bar forming;               /* the venue's forming bar; open_ns 0: there is none */
    bool stale;
    bool out;                    /* of the universe: EVENT_UNIVERSE */
    enum market_phase phase;     /* of its calendar; OPEN without one */
    bool extended;               /* it is also traded before and after its session */
    enum market_trading trading; /* MARKET_ENDED: the venue lists it no longer */
    struct market_bands bands;   /* its price limits, as the venue last reported */
};

/* The time that rows are dated by: of the last event, or with FILL_BAR of the last bar. */
int64_t engine_now(const struct engine *engine);
int64_t engine_received(const struct engine *engine); /* the last event's receive time */
bool engine_paused(const struct engine *engine);
bool engine_storage_failing(const struct engine *engine); /* nothing opens: EVENT_STORAGE */
int64_t engine_interval(const struct engine *engine);     /* of its bars */
int engine_symbols(const struct engine *engine);
int engine_accounts(const struct engine *engine);
const struct symbol *engine_symbol(const struct engine *engine, int symbol);
/* The days of the symbol's calendar, as the last EVENT_CALENDAR had them; n 0: it has no calendar, or its
 * days are not known. Until the next event. */
const struct trading_calendar *engine_calendar(const struct engine *engine, int symbol);
/* How far its venue's time, by which its sessions are, is ahead of the engine's. */
int64_t engine_symbol_ahead_ns(const struct engine *engine, int symbol);
void engine_symbol_view(const struct engine *engine, int symbol, struct engine_symbol_view *ret);
/* The last price that an account sees and is valued at; 0: none. With FILL_BAR one of before or after the
 * session only where it trades then; else the view's. */
int64_t engine_price(const struct engine *engine, int account, int symbol);
/* What the venue's filters look at of an order with a number; `ahead`: so many legs of its group come before
 * it. */
struct filter_request engine_filter_request(const struct engine *engine, const struct order *order,
                                            int ahead);
void engine_margin_figures(const struct engine *engine, int account, struct margin_figures *ret);
/* What an order, or a group, would be if it were given now. Amounts are in units of the symbol's quote
 * currency, estimated of the first leg, of a group's others nothing is. */
struct engine_dry_run {
    enum order_reason reason;          /* why it would be refused: then only the legs are set */
    struct order legs[ORDER_LEGS_MAX]; /* as they would be taken, with the ids that they would have now */
    int n_legs;
    int64_t price; /* that it may trade at: its limit, its stop price, else the best price shown; 0: none */
    int64_t notional, fee;                     /* of all of it: what fills at once, the rest at that price */
    int64_t fill_qty, fill_notional, fill_fee; /* what fills at once of what is shown; 0: it waits */
    bool would_take;                           /* post-only, and it would: it is cancelled when it arrives */
    const char *asset;                         /* what its reserve is of; units of asset_scale */
    int asset_scale;
    int64_t reserved, available; /* by how much it changes the reserve; what is not reserved now */
};
/* Nothing of the engine changes, and nothing is emitted: `engine` is put back as it was. 0 or -ENOMEM. Each
 * leg names an account and a symbol that there are; n_legs is 1 to ORDER_LEGS_MAX. */
int engine_dry_run(struct engine *engine, enum order_grouping grouping, const struct order *requests,
                   int n_legs, struct engine_dry_run *ret);
/* The amounts behind a refusal of an account's balance or margin, right after it: of `legs` the first that
 * lacks something. False: the reason has none, or no leg lacks anything by itself. */
bool engine_lack(const struct engine *engine, enum order_reason reason, const struct order *legs, int n_legs,
                 struct engine_lack *ret);
/* The same of `amount` that is withdrawn. */
bool engine_lack_of_cash(const struct engine *engine, enum order_reason reason, int account, int64_t amount,
                         struct engine_lack *ret);
const struct account *engine_account(const struct engine *engine, int account);
/* Now, at the last prices (at cost before the first): the currency, plus longs and less shorts of the
 * symbols that are quoted in it, less unpaid interest. What is held in other currencies' symbols is not
 * counted: there is no price for it in this one. May be negative, of an account that is short. */
int64_t engine_equity(const struct engine *engine, int account);
/* Equity less it is the P&L of the UTC day that is: what the account was worth at its last point of equity
 * before the day, and what deposits, withdrawals, transfers and resets changed since. */
int64_t engine_day_base(const struct engine *engine, int account);
/* Has it no open order, position, other asset, loan or policy, so that it may be closed? */
bool engine_account_ends(const struct engine *engine, int account);
const struct account_spec *engine_account_spec(const struct engine *engine,
                                               int account); /* as it is run now */
/* May the account be short of one of the symbols at least? */
bool engine_may_short(const struct engine *engine, int account);
/* Has it reached its limit of a day's loss? */
bool engine_account_daily_loss(const struct engine *engine, int account);
const struct book *engine_book(const struct engine *engine, int symbol);
int engine_find_symbol(const struct engine *engine, const char *name); /* index or -ENOENT */
/* The same in either case of letters, as files may have it. */
int engine_find_symbol_written(const struct engine *engine, const char *name);
int engine_find_account(const struct engine *engine, const char *name); /* index or -ENOENT */
/* The command that is being carried out; NULL outside of its event. For the sink's calls. */
const struct event_command *engine_command(const struct engine *engine);
/* A live order by its account's client id, or by its id; NULL when there is none. */
const struct order *engine_find_order(const struct engine *engine, uint64_t id);
const struct order *engine_find_client_order(const struct engine *engine, int account, const char *client_id);
/* Live orders: the i-th of n. */
size_t engine_orders(const struct engine *engine);
const struct order *engine_order(const struct engine *engine, size_t i);
/* Of an account with EXECUTION_VENUE_PAPER. Attached: EVENT_VENUE_ACCOUNT said what it holds; halted: it was
 * reset there, and sends nothing more. */
bool engine_venue_attached(const struct engine *engine, int account);
bool engine_venue_halted(const struct engine *engine, int account);
/* The last order that its venue reported; where that has none of the name, it is another account. 0: none. */
uint64_t engine_venue_seen(const struct engine *engine, int account, int *ret_symbol);
#define ENGINE_VENUE_RESET "reset"
/* For engine_restore_at_venue(). */
const char *engine_venue_prefix(const struct engine *engine, int account);
/* The client id that an order of its has at the venue: PREFIX-ID. A duplicate, made by a request that reached
 * the venue twice, has that of the first one. */
void engine_venue_client_id(const struct engine *engine, int account, uint64_t order_id,
                            char ret[static ORDER_CLIENT_ID_MAX]);
/* The order that has it, of any state; 0: another's, or from elsewhere. */
uint64_t engine_venue_order_of(const struct engine *engine, int account, const char *client_id);
/* The venue's id of an order there. "": it is not known: only VENUE_ORDER_IDS_MAX are, of the orders that
 * live and the last ones that ended. */
const char *engine_venue_id(const struct engine *engine, int account, uint64_t order_id);
/* Among the same, the order that has this id of the venue's and the client id of order `client`. 0: none; of
 * an older order that proves nothing. */
uint64_t engine_venue_booked(const struct engine *engine, int account, uint64_t client, const char *venue_id);
/* Is a live order to be cancelled at the venue? So that the request is repeated after a restart. */
bool engine_venue_cancels(const struct engine *engine, uint64_t order_id);
/* Is a live order held here, and was not sent yet? */
bool engine_venue_waits(const struct engine *engine, uint64_t order_id);
/* The strategy's indicators on a symbol at its last bar: names[i], values[i]; returns how many. */
size_t engine_indicators(const struct engine *engine, int account, int symbol, const char *names[],
                         double values[], size_t cap);

/* The order intents of its strategy that were refused as invalid, by what was wrong: [INTENT_FAULTS]. */
const uint64_t *engine_intents_refused(const struct engine *engine, int account);
/* The account's closed trades in a symbol: flat to flat, after fees. */
const struct strategy_record *engine_record(const struct engine *engine, int account, int symbol);

/* What the account's policy decided last, for screens: a state does not hold it, so after a restart it
 * comes from the replay, or is empty until the next decision. */
struct engine_policy_view {
    bool acting;        /* it has seen enough bars to decide */
    bool holds_warming; /* it has not, and holds a position, whose stops and exits alone are kept */
    int64_t decided_ns; /* 0: not known */
    int n;              /* its assets, in its order; 0 where decided_ns is */
    int symbols[SYMBOLS_MAX];
    float actions[SYMBOLS_MAX];
};
/* Is it the tag of an order that a policy's decision gave? */
bool engine_policy_gave(const char *tag);
/* False without a policy: all zero. */
bool engine_policy_view(const struct engine *engine, int account, struct engine_policy_view *ret);

/* The newest ids given, and the hash of the last ledger row. */
struct engine_ids {
    uint64_t last_order, last_fill, last_ledger;
    uint8_t hash[LEDGER_HASH_SIZE];
};
void engine_ids(const struct engine *engine, struct engine_ids *ret);

struct engine_counters {
    uint64_t events, decisions, orders, rejected, fills;
    uint64_t refused[ORDER_REASONS];
    uint64_t impossible; /* state changes that the table of states refused: bugs */
};
const struct engine_counters *engine_counters(const struct engine *engine);

#endif
