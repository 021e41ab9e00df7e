/* The engine's internals, shared by its own files only: the engine itself, live orders, and what its files do
 * for each other. market_state.h has a symbol's market, runner.h what trades for an account, request.h what
 * outside strategies are asked. */
#ifndef ENGINE_CORE_H
#define ENGINE_CORE_H

#include "engine/market_state.h"
#include "engine/request.h"
#include "engine/runner.h"
#include "engine/specs.h"
#include "exchange/fill_rules.h"
#include "exchange/trading_calendar.h"

enum {
    HELD_BARS_MAX = 256,
    CALENDARS_MAX = 16,
    CALENDAR_DAYS_MAX = 1 << 16,
};

#define MONEY_MAX FILL_MONEY_MAX
/* A bar this late is not history yet, however short its interval: clocks differ, and frames take time to
 * arrive. */
#define DELAY_ALLOWED_NS (5 * INT64_C(1000000000))

/* A live order, and what it reserves of the balance. */
struct live_order {
    struct order order;
    int64_t reserved;   /* quote for a buy, base for a sale, of its whole pool: engine/reserve.c */
    uint32_t amends;    /* on their way */
    bool cancel_queued; /* its reserve is free already; at its venue only once the cancel is reported */
    bool missed; /* a stop that was crossed while nothing was streamed: it triggers at the next price */
    bool
        returns; /* at its venue: cancelled for one that closes a part, it is placed again for what is left */
    bool waits;  /* at a venue: it was not sent yet, for the cancel of another or for its price */
    bool shrinks;        /* a strategy's exit of a share: exits beside it are lowered as it fills */
    bool takes;          /* its limit has crossed what is shown since it came to rest, or to an opening */
    int64_t split_fills; /* by how much splits have raised what it filled: of a bracket's entry */
    int64_t queue_ahead; /* of others at its price before it, as far as the book shows; -1: not known */
};

/* A change that takes effect later, in order of time. */
enum pending_kind { PENDING_ORDER, PENDING_CANCEL, PENDING_AMEND };
struct pending {
    int64_t created_ns, effective_ns;
    uint64_t order_id;
    enum pending_kind kind;
    struct order_amend amend;
};

/* A resting order's place among those of its symbol. */
struct standing {
    int turn;      /* stops, limited purchases, limited sales */
    int64_t price; /* ascending; 0 for stops */
    uint64_t id;
};

/* What is known of an external column, of one symbol or, -1, of every symbol. */
struct column_values {
    char name[COLUMN_NAME_MAX];
    int symbol;
    struct column_value *values; /* [n], by published_ns, which rises: the last COLUMN_VALUES_MAX */
    uint32_t n, cap;
};

struct event_connection;
struct event_symbol;
struct event_venue_clock;
struct event_action;
struct event_calendar;
struct event_venue_account;
struct event_venue_order;
struct engine {
    struct engine_sink sink;
    struct trading_calendar *calendars; /* their days are the engine's */
    int n_calendars;
    struct account_spec *specs;      /* [n_accounts] as configured or made */
    struct market_state *markets;    /* [n_symbols] */
    struct account *accounts;        /* [n_accounts] */
    struct strategy_runner *runners; /* [n_accounts] */
    struct risk_rate *rates;         /* [n_accounts] */
    struct risk_facts refused_by;    /* of what the risk gate refused last, for its words; not saved */
    int64_t interest_due_ns;         /* the next full hour; 0 before the first event */
    int64_t margin_due_ns;           /* the end of the business day; 0 before the first event */
    int n_symbols, n_accounts, cap_accounts;
    int64_t next_equity_ns; /* with equity_interval_ns: when the next point of every account is due */
    int64_t interval_ns, latency_ns, equity_interval_ns, policy_wait_ns;
    int64_t wait_until_ns; /* no policy's wait ends before; INT64_MAX: no policy waits. Derived */
    enum missed_stops missed_stops;
    enum fill_model fill_model;
    int32_t slippage_e6;
    enum fill_beyond beyond;
    bool before_8;                      /* struct engine_config */
    int64_t auction_due_ns;             /* no auction is due before; INT64_MAX: no auction waits. Derived */
    const struct market_state *outside; /* whose bar before or after the session is at hand; else NULL */

    struct column_values *columns; /* external ones, [n_columns], as they came */
    uint32_t n_columns;

    struct live_order *orders;
    size_t n_orders, cap_orders;
    struct pending *pending;
    size_t n_pending, cap_pending, first_pending;
    int64_t *dealt; /* for engine_match_trade(): what each account's orders got of the trade */
    int cap_dealt;
    struct standing
        *standing; /* for match.c: the orders that a trade or a quote is passed to, in their turn */
    size_t cap_standing;
    int64_t next_expiry_ns; /* no live order expires before; INT64_MAX: no live order expires */

    uint64_t last_order, last_fill, last_ledger, last_receivable, last_fee_rate;
    int64_t pay_due_ns;  /* no dividend is paid before; INT64_MAX: no dividend waits. Derived */
    int64_t fees_due_ns; /* no account's rates change by its volume before; 0: not known. Derived */
    uint8_t hash[LEDGER_HASH_SIZE];
    struct ledger_cause cause;      /* what is being booked; see engine_cause(). Not saved */
    const struct event_command *by; /* engine_command(); not saved */
    /* The engine's time: of the events; with FILL_BAR of the bars, where it may go back by up to an
     * interval from one symbol's bar to another's, and of commands. */
    int64_t now_ns;
    int64_t recv_ns; /* of the last event */
    /* How far the time of the last kline's venue is behind ours: from ten minutes on by the kline itself,
     * else by EVENT_VENUE_CLOCK. FILL_BAR's commands are dated by it, and measures in logs without that
     * event. */
    int64_t behind_ns;
    uint64_t input_seq;
    uint64_t venue_ended;    /* the order whose end its venue reports with this event; 0: none */
    bool paused, flattening; /* flattening: until trading resumes, what still fills is sold again */
    bool storage_failing, out_of_memory;
    bool to_begin;      /* some account may have no ledger yet; not saved: a loaded engine checks */
    bool bar_closed;    /* by this event, live */
    bool account_moved; /* some account->moved is set */
    bool killing;       /* some account->killing is set */
    bool watches;       /* some account has a limit of drawdown; follows from their rules */
    bool venues;        /* some account's orders are filled at its venue; the same */
    bool margins;       /* some account has a margin; the same */
    bool closes;        /* some runner->closing is set; derived */
    bool ends;          /* some symbol that has ended may have orders; derived */
    bool measures;      /* some slot reads measures of its book; derived */
    bool direct;        /* struct engine_config; not part of the state */
    struct bar_requests requests;
    struct waiting_event waiting;
    struct fetched_bars fetched; /* while waiting.fetched */
    struct engine_counters counters;
};

/* No event is so late, since silence ends a connection long before: our clock is wrong then. */
#define ENGINE_CLOCK_OFF_NS (600 * INT64_C(1000000000))

/* The venue's time of a moment of recv_ns. With FILL_BAR the engine's other times are the bars', so the
 * venue's. */
static inline int64_t engine_venue_ns(const struct engine *engine, int symbol, int64_t recv_ns)
{
    return recv_ns + engine->markets[symbol].ahead_ns;
}

/* How far the venue's time is ahead of the engine's. */
static inline int64_t engine_ahead_ns(const struct engine *engine, int symbol)
{
    return engine->fill_model == FILL_BAR ? 0 : engine->markets[symbol].ahead_ns;
}

/* Is the order filled at its venue? Then nothing here fills, ends or amends it. */
static inline bool engine_at_venue(const struct engine *engine, const struct order *order)
{
    return engine->accounts[order->account].rules.execution == EXECUTION_VENUE_PAPER;
}

/* Was its venue asked to cancel it? Then what ends it here waits for that. */
static inline bool engine_venue_asked(const struct engine *engine, const struct live_order *live)
{
    return live->cancel_queued && engine_at_venue(engine, &live->order);
}

/* venue_update.c: 0 or -EINVAL */
int engine_venue_order_event(struct engine *engine, const struct event_venue_order *event);
/* venue_order.c: what an account holds of a symbol, as its strategy sees it. At its venue a fee that is taken
 * from what was bought leaves less than an order can sell: that is nothing. */
int64_t engine_venue_held(const struct engine *engine, int account, int symbol);
/* after its price moved: exits that are held here */
void engine_venue_price(struct engine *engine, int symbol);
/* venue_account.c: 0 or -EINVAL */
int engine_venue_account_event(struct engine *engine, const struct event_venue_account *event);
void engine_venue_forget(struct engine *engine, int account); /* it is reset: it may be attached again */

/* engine.c */
void engine_alert(struct engine *engine, const char *code, const struct engine_subject *of,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
void engine_alert_over(struct engine *engine, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* recent.c */
int engine_recent_push(struct recent_bars *recent, const struct bar *bar);         /* 0 or -ENOMEM */
const struct bar *engine_recent_bar(const struct recent_bars *recent, uint32_t i); /* i < n, oldest first */
void engine_recent_finish(struct recent_bars *recent);

/* account_open.c */
/* Adds an account with the engine's symbols; its ledger starts with engine_start() or account_begin().
 * Returns its index; -EINVAL for units that contradict a symbol's, -ENOSPC above ACCOUNTS_MAX, -ENOMEM. */
int account_add(struct engine *engine, const struct account_spec *spec);
void account_close(struct engine *engine, int account);
int account_reserve(struct engine *engine, int n);      /* room for n accounts, zeroed; 0 or -ENOMEM */
int account_arrays(struct engine *engine, int account); /* one entry a symbol, zeroed; 0 or -ENOMEM */
/* Finds every symbol's balances again, and adds those that are missing: after the engine's symbols, or
 * account->assets, were replaced. 0, -EINVAL, -ENOMEM. */
int account_bind(struct engine *engine, int account);
/* A balance's index among the assets, made if need be: only while accounts are set up, as balances move.
 * -EINVAL for the account's currency with another scale than its own, -ENOMEM. */
int account_place(struct engine *engine, int account, const char *asset, int scale);
/* NULL when there is none. */
struct balance *account_find_balance(const struct account *account, const char *asset);

/* account.c */
struct balance *account_base(struct engine *engine, int account, int symbol);
struct balance *account_quote(struct engine *engine, int account, int symbol);
struct balance *account_currency(struct engine *engine, int account);
/* What orders do not reserve of it; those of an account with a margin may reserve more than there is. */
static inline int64_t account_available(const struct balance *balance)
{
    return balance->total > balance->reserved ? balance->total - balance->reserved : 0;
}
/* The cause of the rows from here on, with nothing but its kind; the caller sets the rest. Rows with a fill
 * are the fill's, and keep only its symbol. */
struct ledger_cause *engine_cause(struct engine *engine, enum ledger_cause_kind kind);
/* Nothing of it could be paid: no row is booked. */
void engine_cause_accrued(struct engine *engine, int account);
/* Adds an amount to a balance and emits its row; 0 does nothing. */
void account_post(struct engine *engine, int account, struct balance *balance, enum ledger_kind kind,
                  int64_t amount, uint64_t order_id, uint64_t fill_id);
/* The opening deposit, once in an account's life. */
void account_begin(struct engine *engine, int account);
void account_begin_all(struct engine *engine);
/* Books money deposited or withdrawn. Drawdown and the day's loss measure trading only: peak and the day's
 * opening equity change in proportion, rounded down, so that equity / peak stays the same. */
void account_flow(struct engine *engine, int account, enum ledger_kind kind, int64_t amount);
/* A reset's rows up to the deposit: nothing is held, borrowed or earned afterwards. Its live orders are
 * gone. */
void account_clear(struct engine *engine, int account);
void account_count_shorts(struct engine *engine); /* of accounts and markets, from the positions */
void account_fill(struct engine *engine, const struct fill *fill);
/* At the last price; at cost before the first one is known. A short's is negative, rounded away from zero. */
int64_t account_position_value(const struct engine *engine, int account, int symbol);
/* Updates peak, day and drawdown with the present equity, which may lock the account. */
void account_mark(struct engine *engine, int account);
void account_equity_point(struct engine *engine, int account);
void account_equity_points(struct engine *engine); /* those that are due, or moved by this event */
/* When the close of a bar that was received was a price: at its end, by the clock that stamps events. */
int64_t engine_bar_priced_ns(const struct engine *engine, int symbol, const struct bar *bar);
/* EVENT_STOP: of each account, with the marks of what it holds. */
void account_stop_points(struct engine *engine);
void account_bar_outside(struct engine *engine); /* a live one: those that it concerns get points */

/* After a position went from `before` to what it is. */
void account_turned(struct engine *engine, int account, int symbol, int64_t before);
void account_report_position(struct engine *engine, int account, int symbol);

/* revise.c: the venue's changes of what it reported */
int engine_revise_put(struct kept_trades *trades, const struct kept_trade *trade); /* as it was kept */
/* Adds a trade to the builder: by its time, where a later one came before it. Emits its bar again where
 * that was closed. */
enum bar_built engine_revise_build(struct engine *engine, int symbol, const struct market_trade *trade,
                                   struct bar *ret);
const struct kept_trade *engine_revise_find(const struct kept_trades *trades,
                                            uint32_t i); /* i < n, oldest first */
bool engine_revise_seen(const struct kept_trades *trades,
                        const struct market_trade *trade); /* not long ago */
/* Was the same id reported with that time, not long ago, with another price or quantity? Then it makes no
 * price. */
bool engine_revise_again(const struct kept_trades *trades, const struct market_trade *trade);
/* Is a trade that makes a price older than the one of the symbol's last price? It moves and fills nothing.
 * Call before it is kept. */
bool engine_revise_behind(const struct engine *engine, int symbol, const struct market_trade *trade);
void engine_revise_interrupted(struct kept_trades *trades);
void engine_revise_forget(struct kept_trades *trades); /* frees */
void engine_revise_split(struct kept_trades *trades, const struct stock_split *split);
void engine_revise_trade(struct engine *engine, int symbol, const struct market_event *event);
/* A closed bar's correction; false: the bar has not closed yet. */
bool engine_revise_bar(struct engine *engine, int symbol, const struct bar *now);

/* action.c: splits and dividends */
int engine_action_event(struct engine *engine, const struct event_action *event); /* 0 or -EINVAL */
bool engine_action_is_known(const struct market_state *market, const char *id);   /* among the remembered */
int engine_action_remember(struct market_state *market, const char *id, int64_t ex_ns); /* 0 or -ENOMEM */

/* dividends.c: docs/accounts.md, "Dividends" */
void engine_dividends_take(struct engine *engine, int symbol, const struct corporate_action *action);
void engine_dividends_due(struct engine *engine);                  /* pays those whose day has come */
void engine_dividends_write_off(struct engine *engine, int index); /* the account is reset */
/* Appends one, of a state or a database: 0 or -ENOMEM. And once all are there. */
int engine_dividends_put(struct engine *engine, int account, const struct receivable *receivable);
void engine_dividends_sum(struct engine *engine, int account);

/* fee_tiers.c: docs/risk.md, "Fees" */
void engine_fee_tiers_due(struct engine *engine); /* at the first event of a UTC day: the rates of the day */
void engine_fee_tiers_again(struct engine *engine, int account); /* its rules are others, or it is new */
void engine_fee_tiers_count(struct engine *engine, const struct fill *fill);
/* Adds the regulatory fees of a sale to a fill whose fee is its rate's. */
void engine_fee_tiers_regulatory(const struct engine *engine, struct fill *fill);

/* halt.c: the kill switch, docs/risk.md. Its limit is checked whenever an account is marked, and at each
 * price that moves its positions. */
void engine_halt_watch(struct engine *engine);             /* after the accounts' rules changed */
void engine_halt_check(struct engine *engine, int symbol); /* after its price moved */
void engine_halt_due(
    struct engine *engine); /* at an event's end: cancels and closes for accounts that were locked */
void engine_halt_over(struct engine *engine, int account); /* it opens again: the alert is over */
void engine_halt_lift(struct engine *engine, int account); /* the user resumes it: the peak starts again */

/* gate.c: is the symbol held, or may a live order other than `but` open a position in it? */
bool engine_gate_entered(const struct engine *engine, int account, int symbol, uint64_t but);
/* Would an order on its way, or resting, open a position or enlarge one? */
bool engine_gate_opens(const struct engine *engine, const struct order *order);

/* listing.c: 0, -EINVAL for other units, or a name that is another symbol's, or as engine_configure_add() */
int engine_listing_event(struct engine *engine, const struct event_symbol *event);

/* connection.c */
void engine_connection_event(struct engine *engine, const struct event_connection *event);
void engine_connection_symbol(struct engine *engine, int symbol, bool up); /* of one that there is */
/* -EINVAL: further ahead, or behind, than ENGINE_VENUE_AHEAD_MAX. */
int engine_connection_clock(struct engine *engine, const struct event_venue_clock *event);

/* universe.c */
/* -EINVAL for a symbol that there is not. */
int engine_universe_event(struct engine *engine, int symbol, bool in);

/* account_command.c: ORDER_OK, or why it was not done */
enum order_reason account_command(struct engine *engine, const struct event_command *command);

/* loan.c */
bool engine_loan_allowed(const struct engine *engine, int account, int symbol); /* may it be short of it? */
int64_t engine_loan_value(const struct engine *engine, int account); /* of all shorts, in currency */
/* The currency that must stay for shorts of this value. */
int64_t engine_loan_collateral(const struct engine *engine, int account, int64_t value);
/* The currency that is neither reserved nor collateral nor unpaid interest; of that, what may buy. */
int64_t engine_loan_unreserved(const struct engine *engine, int account);
int64_t engine_loan_spendable(const struct engine *engine, int account);
/* The same once what is held of a symbol, or borrowed, has been closed at the last price. */
int64_t engine_loan_spendable_left(const struct engine *engine, int account, int symbol);
int64_t engine_loan_hour(int64_t now_ns); /* the full hour at or before */
/* Books the interest of each full hour that has passed since the last one. A short over the end of an hour
 * is charged that hour: ceil(value · borrow_rate_e6 · hours / (10^6 · 8760)), `hours` at once after a gap.
 * What the unreserved currency does not suffice for stays a liability, and is booked at a later hour. */
void engine_loan_interest(struct engine *engine);
void engine_loan_covered(struct engine *engine,
                         int account); /* or there is no short any more: the call is over */
void engine_loan_check(struct engine *engine, int symbol); /* after its price moved: margin calls */
/* Cancels resting purchases in the currency. */
void engine_loan_cancel_buys(struct engine *engine, int account);
/* A margin call is tried again after so long: where orders went out or found no market; where none can be
 * made. */
#define LOAN_AGAIN_NS INT64_C(1000000000)
#define LOAN_LATER_NS (60 * LOAN_AGAIN_NS)
enum loan_outcome { LOAN_ASKED, LOAN_NO_MARKET, LOAN_REFUSED };
/* Closes a position at market, a short by as much as there is money for unless it is on margin. */
enum loan_outcome engine_loan_close(struct engine *engine, int account, int symbol);
/* Currency is lent only against stocks (exchange/margin.h). A purchase borrows what is lacking; what comes in
 * pays back first: after anything has. `fill`: the trade's, or NULL. */
void engine_loan_borrow(struct engine *engine, int account, int64_t needed, const struct fill *fill);
void engine_loan_repay(struct engine *engine, int account, const struct fill *fill);

/* margin.c: accounts with rules->margin. Sums are of what is quoted in the account's currency. */
void engine_margin_watch(struct engine *engine); /* after the accounts' rules changed */
bool engine_margin_lends(const struct engine *engine, int account,
                         int symbol); /* is it bought with a loan? */
/* The equity that a position needs to be opened by Regulation T, and to be kept. */
int64_t engine_margin_initial(const struct engine *engine, int account, int symbol);
int64_t engine_margin_maintenance(const struct engine *engine, int account, int symbol);
typedef int64_t (*margin_need_fn)(const struct engine *engine, int account, int symbol);
int64_t engine_margin_of_all(const struct engine *engine, int account, margin_need_fn need);
/* The equity that is free to open positions, less what resting purchases need; negative: it lacks so much. */
int64_t engine_margin_free(const struct engine *engine, int account);
/* The most that a purchase of a symbol may cost, `freed` of the equity being free in addition; and the cost
 * to compare with it, whose fees are paid in whole. */
int64_t engine_margin_money(const struct engine *engine, int account, int symbol, int64_t freed);
/* The same as an amount that fees are paid from as anywhere else: for sizing. `left`: once what is held of
 * the symbol has been closed. */
int64_t engine_margin_budget(const struct engine *engine, int account, int symbol, bool left);
int32_t engine_margin_fee_e6(const struct engine *engine, int account, int symbol, int32_t fee_e6);
int64_t engine_margin_reserved(const struct engine *engine, int account, int symbol, int64_t reserved);
/* Does the equity suffice when `qty` of an order was sold at `price`, `short_qty` of it borrowed? */
bool engine_margin_covers(const struct engine *engine, const struct order *order, int64_t price, int64_t fee,
                          int64_t short_qty);
/* The equity that it needs then, and has for it. */
void engine_margin_cover(const struct engine *engine, const struct order *order, int64_t price, int64_t fee,
                         int64_t short_qty, struct engine_lack *ret);
/* What a purchase of `qty` that opens a position costs, and what there is for it; `freed` is free again. */
void engine_margin_bill(const struct engine *engine, const struct order *order, int64_t qty, int64_t freed,
                        struct engine_lack *ret);
/* How many times its equity it may hold of the symbol by its margin; 1 without one. */
double engine_margin_leverage(const struct engine *engine, int account, int symbol);
bool engine_margin_by_day(const struct engine *engine,
                          int account); /* the maintenance suffices to open now */
/* ORDER_OK, or why it may open nothing now; and why the equity does not suffice to. */
enum order_reason engine_margin_entry(const struct engine *engine, int account, int symbol);
enum order_reason engine_margin_shortage(const struct engine *engine, int account);

/* margin_call.c: what is closed where the equity does not suffice. */
void engine_margin_check(struct engine *engine, int symbol);  /* after its price moved */
void engine_margin_moved(struct engine *engine, int account); /* after its money or positions changed */
/* What an account lacks by Regulation T, before a trade is booked; and what the trade made of it, after. */
struct margin_trade {
    int64_t lacked;
    bool by_day; /* the maintenance sufficed to open */
};
struct margin_trade engine_margin_before(const struct engine *engine, int account);
void engine_margin_traded(struct engine *engine, int account, const struct margin_trade *before);
void engine_margin_day_over(struct engine *engine); /* where a business day has ended since the last call */

/* settle.c: the day's trades, and when proceeds are settled. */
const struct trading_calendar *engine_settle_calendar(const struct engine *engine); /* of its stocks */
void engine_settle_trade(struct engine *engine, const struct order *order,
                         const struct fill *fill);                         /* before it is booked */
void engine_settle_booked(struct engine *engine, const struct fill *fill); /* after */
/* What the account did on `day` and the business days before it that count for a pattern; the first of them.
 */
struct traded_day engine_settle_recent(const struct engine *engine, int account, int64_t day);
int64_t engine_settle_unsettled(const struct engine *engine, int account); /* of its currency */
int64_t engine_settle_barred(const struct engine *engine, int account);    /* of that, what may buy nothing */

/* One more, zeroed, at the end of *n items of which there is room for *cap; NULL without memory. */
void *engine_live_append(void **items, size_t *n, size_t *cap, size_t size); /* live.c */

/* match.c */
/* Records the order, refused or on its way; returns its id and the reason. 0 as id only without memory. */
uint64_t engine_match_submit(struct engine *engine, const struct order *request,
                             enum order_reason *ret_reason);
/* The same for the legs of an OCO or a bracket: all or none. Returns the id of the first. */
uint64_t engine_match_submit_group(struct engine *engine, enum order_grouping grouping,
                                   const struct order *legs, int n_legs, enum order_reason *ret_reason);
/* A bracket by hand whose entry is a market order, in a market that has order rules (exchange/order_rules.h):
 * its exits must be on their sides of the last price, where there is one; else one of them would trade at
 * once. */
enum order_reason engine_gate_bracket_at(const struct engine *engine, const struct order *legs, int n_legs);
/* Queues a cancel, of the other leg of an OCO as well. ORDER_OK, ORDER_ENDED or ORDER_UNKNOWN_ORDER. */
enum order_reason engine_match_cancel(struct engine *engine, uint64_t order_id);
/* Queues an amend, or says why not. */
enum order_reason engine_match_amend(struct engine *engine, const struct order_amend *amend);
/* All orders of an account end now, on their way, held or resting; no exit starts, no strategy answers. */
void engine_match_withdraw(struct engine *engine, int account);
void engine_match_release(struct engine *engine, int64_t until_ns); /* what takes effect by then */
/* After the fill model was set or changed. */
void engine_match_model(struct engine *engine);
void engine_match_trade(struct engine *engine, int symbol, const struct market_trade *trade);
void engine_match_quotes(struct engine *engine, int symbol); /* after a quote or a book change */
void engine_match_missed(struct engine *engine, int symbol, const struct bar *bars, uint32_t n);
void engine_match_interrupted(struct engine *engine, int symbol); /* its quotes are not shown any more */
int engine_match_restore(struct engine *engine, const struct order *order);
size_t engine_match_find(const struct engine *engine, uint64_t order_id); /* in orders; n_orders: not live */

/* configure.c: one more symbol while it runs. 0; -EINVAL for one that is there, or in units that contradict
 * an account's; -ENOMEM. On failure nothing has changed. */
int engine_configure_add(struct engine *engine, const struct symbol *symbol);
/* The accounts of these names are so from now on. 0; -EINVAL where engine_configure() refuses; -ENOMEM. On
 * failure nothing has changed. */
int engine_configure_accounts(struct engine *engine, const struct account_spec *accounts, int n);
/* The configuration that it has, without its symbols; for as long as its accounts stay. */
struct engine_config engine_config_of(const struct engine *engine);

/* hours.c */
#define HOURS_DAY_NS (86400 * INT64_C(1000000000))
/* Are orders filled in the phase? With `extended` before and after the session too. */
bool engine_hours_phase(enum market_phase phase, bool extended);
bool engine_hours_trades(const struct market_state *market); /* are orders filled now? */
/* Before and after the session: are orders with extended_hours filled now? */
bool engine_hours_outside(const struct market_state *market);
/* Is it known that they are not? Then they rest, and old data raises no alert. */
bool engine_hours_rests(const struct market_state *market);
/* Of a market whose days are known, which has shown nothing since trading began: what arrives within a minute
 * waits for what is shown first. So does what was given by then (created_ns), however long the data is away:
 * what was decided the day before is given in that moment. */
bool engine_hours_opening(const struct engine *engine, int symbol, int64_t created_ns);
/* Of a market whose days are known: has it shown no quote and no book? */
bool engine_hours_unseen(const struct engine *engine, int symbol);
/* Would a limit order take then what comes first? By the last price; without one it is assumed. */
bool engine_hours_would_take(const struct engine *engine, const struct order *order);
/* Could orders be filled in this bar: by its session, else as far as past sessions are known? */
bool engine_hours_has_bar(const struct market_state *market, const struct bar *bar, int64_t interval_ns);
bool engine_hours_bar_outside(const struct bar *bar); /* is it before or after the session? */
/* Is its close a price for every account: of the session, or of a market without sessions? */
bool engine_hours_bar_priced(const struct engine *engine, int symbol, const struct bar *bar);
/* Does the account trade before and after the session, and are prices of then its own? */
bool engine_hours_sees_outside(const struct engine *engine, int account, const struct market_state *market);
/* FILL_BAR: with a bar before or after the session nothing happens to accounts that do not trade then, nor
 * to their orders: what they do must not depend on who else is there. */
bool engine_hours_concerns(const struct engine *engine, int account);
void engine_hours_begin(struct engine *engine,
                        int symbol); /* of a symbol that is new, or has another calendar */
void engine_hours_event(struct engine *engine, const struct market_session *event);
/* Its venue's clock is so far ahead of recv_ns from now on. What ends at a time of the venue's still does. */
void engine_hours_clock(struct engine *engine, int symbol, int64_t ahead_ns);
/* `status`: what the venue said; NULL: its list did. ENDED cancels the symbol's orders. */
void engine_hours_trading(struct engine *engine, int symbol, enum market_trading trading,
                          const struct market_status *status);
void engine_hours_ends(struct engine *engine); /* orders of symbols that a new configuration says are gone */
bool engine_hours_of_venue(const struct market_state *market, const char *venue); /* "": of every */

/* hours_order.c: the same of one order, by its time in force and extended_hours; of a `regular` account stops
 * and its strategy's orders wait for the session. Is it filled now from what is shown; could it be in a
 * phase? CLS is filled at the close alone. */
bool engine_hours_takes(const struct engine *engine, const struct order *order);
bool engine_hours_works(const struct engine *engine, const struct market_state *market,
                        const struct order *order, enum market_phase phase);
/* Does the bar's session fill it? Of bars without a session every one does, and where no class of assets or
 * no hours are known. */
bool engine_hours_bar_takes(const struct engine *engine, const struct order *order, const struct bar *bar);
/* A bar before or after the session: does it concern an account, or may it fill an order with
 * extended_hours? */
bool engine_hours_bar_extends(const struct engine *engine, int symbol, const struct bar *bar);
/* When a DAY or CLS order ends: the next midnight after it takes effect, or with a calendar the end of its
 * session, and a strategy's with extended_hours at the time that it has, where that is earlier; 0: not known
 * yet. Of OPG and CLS orders with FILL_BAR alone: else auction.c ends them. */
int64_t engine_hours_order_end(const struct engine *engine, const struct order *order);
/* Does an order for an auction come after its venue's cut-off? */
enum order_reason engine_hours_late(const struct engine *engine, const struct order *order);

/* auction.c: orders of the opening and the closing auction, and the session's trades. */
/* Was it made in the hours in which stops look at trades: while the session is on, as far as is known? */
bool engine_auction_regular(const struct engine *engine, const struct market_state *market, int64_t ts_ns);
/* The price that a stop which arrives is compared with; 0: there is none. */
int64_t engine_auction_last(const struct engine *engine, const struct market_state *market);
/* A trade, before it fills anything. `priced`: it makes a price. */
void engine_auction_trade(struct engine *engine, int symbol, const struct market_trade *trade, bool priced);
/* The phase is another, or of another day: what it was, when that ended and this one started. */
void engine_auction_phase(struct engine *engine, int symbol, enum market_phase was, int64_t ended_ns,
                          int64_t began_ns);
void engine_auction_due(struct engine *engine);      /* prices that were waited for long enough */
void engine_auction_find_due(struct engine *engine); /* after markets were loaded or replaced */

/* calendars.c */
/* 0; -EINVAL for days that contradict each other, or are not those of the hash, or one calendar too many;
 * -ENOMEM. */
int engine_calendars_take(struct engine *engine, const struct event_calendar *event);
/* The same without a check: takes over the days, which are malloc()'s. 0 or -ENOMEM; then they are freed. */
int engine_calendars_put(struct engine *engine, const struct trading_calendar *calendar);
void engine_calendars_finish(struct engine *engine);
/* Can it be computed with: a name, days that do not contradict each other, times within half of int64's? */
bool engine_calendars_sound(const struct trading_calendar *calendar);
/* The bar with its session, by the calendar that is known now. */
struct bar engine_calendars_dated(const struct engine *engine, int symbol, const struct bar *bar);
/* When the bar that opens at `open_ns` ends: a session's last one with it; another than the session's bars,
 * and without days known, after an interval. */
int64_t engine_calendars_end(const struct engine *engine, int symbol, int64_t open_ns);
/* The opening of the bar that holds `ns`, by its session; by the clock without days known. */
int64_t engine_calendars_open(const struct engine *engine, int symbol, int64_t ns);
/* After a symbol's calendar changed, or its days: the sessions of the bars that are kept of it. */
void engine_calendars_date_again(struct engine *engine, int symbol);

/* measure.c: the symbol's book, or quote, changed or is gone; event_ns 0: not known. And: a bar closed. */
void engine_measure_update(struct engine *engine, int symbol, int64_t event_ns);
void engine_measure_report(struct engine *engine, int symbol, int64_t open_ns);

/* column.c */
/* Takes a value over; -EINVAL: engine_column_check() refuses it. */
int engine_column_event(struct engine *engine, const struct event *event);
/* What each column that the slot reads is at the end of a bar of the symbol. */
void engine_column_look(const struct engine *engine, int symbol, int64_t end_ns, struct strategy_slot *slot);
/* After symbols have other indices, -1: none. */
void engine_column_move(struct engine *engine, const int *to);
void engine_column_finish(struct engine *engine);
/* Appends a value to them, or makes them. 0 or -ENOMEM. */
int engine_column_push(struct engine *engine, int symbol, const char *name, const struct column_value *value);

/* match_bar.c */
/* A bar of the symbol closed: FILL_BAR. The engine's time is the bar's end afterwards. */
void engine_match_bar(struct engine *engine, int symbol, const struct bar *bar);

/* book_walk.c */
/* The best price that the market shows to a taker, whichever account took of it; with FILL_BAR the account's
 * engine_price(). */
bool engine_match_best(const struct engine *engine, int account, int symbol, enum order_side taker,
                       struct book_level *ret);

/* reserve.c */
/* How much of a position an order of this side can close. */
int64_t engine_match_reducible(const struct engine *engine, int account, int symbol, enum order_side side);

#endif
