/* The engine's internals, shared by its own files only. */
#ifndef ENGINE_CORE_H
#define ENGINE_CORE_H

#include "engine/engine.h"
#include "engine/frame.h"
#include "engine/measure.h"
#include "engine/specs.h"
#include "engine/split.h"
#include "exchange/fill_rules.h"
#include "exchange/market.h"
#include "exchange/sizing.h"
#include "exchange/trading_calendar.h"
#include "indicators_gpu/indicators.h"
#include "strategy/external.h"
#include "strategy/intent.h"
#include "strategy/policy/limit_rules.h"
#include "strategy/policy/policy.h"

enum {
    HELD_BARS_MAX = 256,
    RECENT_BARS_MAX = ENGINE_RECENT_BARS_MAX,
    OUTPUTS_MAX = STRATEGY_SPECS_MAX * INDICATOR_OUTPUTS_MAX,
    OUTPUT_NAME_MAX = 48,
    CALENDARS_MAX = 16,
    CALENDAR_DAYS_MAX = 1 << 16,
};

#define MONEY_MAX FILL_MONEY_MAX
/* A bar this late is not history yet, however short its interval: clocks differ, and frames take time to
 * arrive. */
#define DELAY_ALLOWED_NS (5 * INT64_C(1000000000))

/* The last closed bars of a symbol, for the indicators of accounts that are made later. {0} is empty. */
struct recent_bars {
    struct bar *bars; /* a ring: the oldest at `first` once n is RECENT_BARS_MAX, before that at 0 */
    uint32_t first, n, cap;
};

/* How much an account's orders took of a price that the market shows: it counts as taken while the price is
 * shown. */
struct taken {
    int account;
    enum order_side taker; /* BUY: of the asks */
    int64_t price, qty;
};

/* The source of a symbol's last price. One of history may be long past: no peak is computed from it, and it
 * locks no account. */
enum last_from { LAST_NONE, LAST_HISTORY, LAST_BAR, LAST_TRADE };

/* A trade as it was reported, while it may be corrected. */
struct kept_trade {
    int64_t ts_ns, id, price, qty;
    bool odd;
};

/* The newest of a symbol, in order of arrival; the one of its last price stays. {0} is empty. */
struct kept_trades {
    struct kept_trade *trades; /* a ring */
    uint32_t first, n, cap;
    int64_t newest_ns; /* the latest of their times, while there are any */
    bool priced;       /* does one of them make a price? */
    int64_t priced_ns; /* then: the latest time of those */
    bool started;
    int64_t whole_ns; /* all trades of bars that open then or later are there */
};

/* A split or a dividend that took effect. */
struct known_action {
    char id[ACTION_ID_MAX];
    int64_t ex_ns;
};

/* A symbol's session and its auctions, by its trades: auction.c. */
struct auction {
    int64_t open_ns;     /* when the newest session opened; 0: not known */
    int64_t first, last; /* prices of its first and its last trade; 0: none yet */
    int64_t last_ns;     /* when the last one was made */
    int64_t print;       /* an official price that came before the event of its phase; 0: none */
    int64_t due_ns;      /* until then, by recv_ns, the official price is waited for; 0: no auction waits */
    int64_t before_ns;   /* only orders that took effect before it trade there */
    bool closing;        /* which of the two is waited for */
};

/* One symbol's market, as the events reported it. */
struct market_state {
    struct symbol symbol;
    int64_t notional_unit; /* price·qty / notional_unit = quote units */
    struct book book;
    struct bar_builder builder;
    struct market_quote quote;
    int64_t last; /* price of the last trade; of the last closed bar before the first, and with FILL_BAR */
    /* FILL_BAR: the close of the newest bar where that is before or after the session; 0: it is not. Only
     * accounts that trade then see it: engine_price(). Derived from last_bar. */
    int64_t outside;
    enum last_from last_from;
    int64_t last_ns;     /* receive time of the last event */
    int64_t change_open; /* 24 h ago */
    int64_t ahead_ns;    /* its venue's clock is so far ahead of recv_ns; 0: it is the same, or not known */
    bool stale;
    /* Its calendar's session; OPEN without a calendar. */
    enum market_phase phase;
    bool extended;         /* EARLY and LATE are traded in as well */
    int64_t phase_next_ns; /* when the phase changes; 0: not known */
    /* When the newest period in which orders are filled started, and when the newest one that is over
     * ended; 0: not known. */
    int64_t opened_ns, closed_ns;
    int64_t reopened_ns; /* when trading last began again: what was shown before is forgotten; 0: never */
    enum market_trading trading;
    struct auction auction;
    struct market_bands bands;  /* for display only */
    struct known_action *known; /* in order of arrival */
    uint32_t n_known, cap_known;
    int64_t known_before_ns; /* of those whose ex_ns is not after it no other takes effect; 0: none */
    uint64_t bars;
    struct bar last_bar, forming;
    struct bar *held; /* closed bars that wait for missing ones before them; NULL: there never were any */
    uint32_t n_held;
    bool torn; /* bars may be missing since the last one: the stream was interrupted */
    struct kept_trades trades;
    struct recent_bars recent;
    uint32_t shorts;      /* accounts that are short of it */
    uint32_t live_orders; /* of all accounts, resting or on their way */
    /* Derived, and not part of the state: does any live order depend on quotes, or on trades within these
     * prices? false: not known. */
    bool unmoved, calm;
    int64_t calm_above, calm_below;
    bool quotes_only; /* derived: the fill model uses no book */
    struct measure_track
        *measured;       /* for sink.book_bar, and not part of the state; NULL until it is needed */
    struct taken *taken; /* oldest first */
    uint32_t n_taken, cap_taken;
};

/* What was decided on the last bar of a session, of one account and symbol: ordered when the next one opens.
 */
struct kept_decision {
    int symbol;
    struct bar bar;   /* on which */
    int64_t since_ns; /* the end of the bar, or when it was decided where that was later */
    /* A strategy's. intents[i].why is whys[i]. */
    uint32_t n_intents;
    struct intent intents[STRATEGY_INTENTS_MAX];
    char whys[STRATEGY_INTENTS_MAX][ORDER_TAG_MAX];
    /* A policy's; without votes. */
    bool of_policy;
    struct engine_policy_decision decided;
};

/* An indicator of a strategy slot. */
struct slot_stream {
    struct indicator_stream *stream;
    uint32_t n_outputs;
    int8_t frame;   /* which higher bars it reads; -1: the run's own */
    int8_t measure; /* of the book; -1: it reads prices */
};

/* A strategy slot: one strategy of one account on one symbol. */
struct strategy_slot {
    struct slot_stream *streams;    /* [n_streams] */
    struct measure_track *measured; /* since the slot was opened; NULL: no stream reads any */
    size_t n_streams, n_values, n_frames;
    struct frame *frames;           /* [n_frames], one an interval */
    double *values;                 /* [n_values] */
    char (*names)[OUTPUT_NAME_MAX]; /* [n_values] */
    unsigned char *state;           /* [state_size] */
    size_t state_size;
    bool shown;          /* an outside strategy has been asked of it since it was opened */
    unsigned char *kept; /* [kept_len] that its last decision left; NULL: none */
    uint32_t kept_len;
    /* Of a strategy that sees peers: the last bar that it saw; with `together` whether that is the round's,
     * and may be acted on. */
    bool sees, saw, there, fresh;
    struct bar seen;
};

/* Of a strategy that sees peers: the symbols that its account trades, and what it is shown of them; with
 * `together` the bars of one time, as a policy_driver's round. All zero without such a strategy. */
struct strategy_round {
    int *symbols, n; /* of the peers */
    struct strategy_peer *peers;
    struct strategy_input *inputs;
    struct intent *intents;
    int64_t open_ns;  /* of the newest bars that came; 0: none yet */
    bool decided;     /* on them */
    int64_t since_ns; /* when the first of them that may be acted on was received; 0: no round waits */
};

/* A bar that an outside strategy is to see. */
struct bar_request {
    int account, symbol;
    struct bar bar;
    uint64_t seq;
    bool acts, begins;
    struct strategy_input input; /* without what it points to: */
    struct strategy_record record;
    double *values; /* [n_values] */
    size_t n_values;
};

/* In their order. At most one of them acts: the last one, which the bar at `halfway` waits for. */
struct bar_requests {
    struct bar_request *list; /* [first, n) wait */
    size_t first, n, cap;
};

/* A closed bar whose event has been handled up to the decision of an account's outside strategy: the rest
 * follows with that. */
struct halfway {
    bool there;
    int symbol, account;
    struct bar bar;
    int64_t good_ns; /* a decision that was received later is one on history */
    bool held;       /* the symbol's held bars follow it */
};

/* How an account's outside strategy answers. */
struct runner_answers {
    uint64_t failures[STRATEGY_OUTCOMES]; /* requests by outcome; of DECIDED 0 */
    uint32_t in_a_row;                    /* without a decision */
    uint32_t alerted;                     /* a bit an outcome that there is an alert of */
    bool halted;                          /* it is not asked */
};

/* One of a policy's assets, for one account. */
struct policy_slot {
    int symbol;
    struct policy_symbol units; /* quantum 0: its filters allow for none, and it is not traded */
    struct policy_memory memory;
    int64_t quantum;   /* that the memory counts in */
    bool there, fresh; /* this round's bar of it has closed; and may be acted on */
    float action;      /* of its last decision; not part of the state */
};

/* driver.since_ns of the round that was partly there when its policy started: nothing is decided on it, and
 * it passes once the last of its bars is there, or a later bar comes. */
enum { ROUND_PASSES = -1 };

/* Is there an alert that a policy holds a position which it cannot decide on? */
enum driver_warming { WARMING_NOT_KNOWN, WARMING_OVER, WARMING_HOLDS };

/* A policy driver: an account's policy decides once for a time, when the bars of that time have closed. */
struct policy_driver {
    const struct policy *policy;
    struct policy_slot *slots;      /* [policy->n_assets] */
    struct policy_runtime *runtime; /* NULL: the policy has none */
    struct policy_portfolio all;    /* what its limits remember; 0 without limits */
    int64_t round_ns;               /* open of the newest bars that came; 0: none yet */
    bool decided;                   /* on them */
    int64_t since_ns;   /* when the first of them that may be acted on was received; 0: no round waits;
                           ROUND_PASSES */
    int64_t decided_ns; /* its last decision's time; 0: none yet; not part of the state */
    bool reported;      /* an alert said that it cannot decide; not part of the state */
    enum driver_warming warming; /* not part of the state */
};

struct strategy_runner {
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    struct strategy_slot *slots; /* [n_symbols], NULL without a strategy */
    struct strategy_round round;
    struct policy_driver driver; /* all NULL without a policy */
    struct kept_decision *kept;  /* by symbol, at most one each */
    uint32_t n_kept, cap_kept;
    bool closing;                      /* nothing trades for it any more, and its positions are closed */
    struct runner_answers answers;     /* of an outside strategy */
    uint64_t refused[INTENT_FAULTS];   /* intents, by what was wrong */
    int64_t alerted_ns[INTENT_FAULTS]; /* when such an intent last raised an alert; 0: never */
};

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

    uint64_t last_order, last_fill, last_ledger;
    uint8_t hash[LEDGER_HASH_SIZE];
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
    struct halfway halfway;
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
void account_bar_outside(struct engine *engine);   /* a live one: those that it concerns get points */

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
int engine_action_event(struct engine *engine, const struct event_action *event);       /* 0 or -EINVAL */
int engine_action_remember(struct market_state *market, const char *id, int64_t ex_ns); /* 0 or -ENOMEM */

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

/* kept.c: sessions of strategies and policies; all do nothing where no days are known. */
/* Are bars of that session among those that the account trades by? */
bool engine_kept_takes(const struct engine *engine, int account, const struct bar *bar);
/* What is decided on it, is it ordered when the next session opens? `since_ns`: its end, or now. */
bool engine_kept_waits(const struct engine *engine, int account, int symbol, int64_t end_ns,
                       int64_t *ret_since_ns);
/* In place of what was kept of the symbol. */
void engine_kept_put(struct engine *engine, int account, const struct kept_decision *decision);
void engine_kept_drop(struct engine *engine, int account);
void engine_kept_drop_all(struct engine *engine);
void engine_kept_finish(struct strategy_runner *runner);
void engine_kept_split(struct engine *engine, int symbol, const struct stock_split *split);
/* A calendar's phase is another: entries of sessions that have closed end, and what was kept for one that
 * opened is ordered. With FILL_BAR bars and timers do so. */
void engine_kept_session(struct engine *engine, const char *calendar);
/* FILL_BAR: before a bar that opens then, of any symbol, takes effect; and after a symbol's. */
void engine_kept_bar(struct engine *engine, int64_t open_ns);
void engine_kept_bar_over(struct engine *engine, int symbol, const struct bar *bar);
void engine_kept_timer(struct engine *engine);

/* measure.c: the symbol's book, or quote, changed or is gone; event_ns 0: not known. And: a bar closed. */
void engine_measure_update(struct engine *engine, int symbol, int64_t event_ns);
void engine_measure_report(struct engine *engine, int symbol, int64_t open_ns);

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

/* slot.c */
/* Opens streams and forming bars for the strategy's specs. 0; -EINVAL for specs that bars of this interval
 * cannot serve; -ENOMEM; to be closed in each case. */
int engine_slot_open(struct strategy_slot *slot, const struct strategy *strategy, const double *params,
                     int64_t interval_ns);
void engine_slot_close(struct strategy_slot *slot);
/* Takes a closed bar, of a market of that calendar, into the slot's values. */
void engine_slot_update(struct strategy_slot *slot, const struct trading_calendar *calendar, int64_t open_ns,
                        const struct indicator_bar *bar);

/* intent.c: makes orders of strategies' order intents */
/* The price of the first stop, of the first take-profit, that protects the position; 0: there is none. */
int64_t engine_intent_stop(const struct engine *engine, int account, int symbol);
int64_t engine_intent_profit(const struct engine *engine, int account, int symbol);
/* Does an order of the symbol work, stops and profits apart? */
bool engine_intent_working(const struct engine *engine, int account, int symbol);
/* For an entry: what it may spend. `turns`: the exit of a position the other way round was ordered at the
 * same bar. The price that an order at market would get, as far as is known; 0: no price is known. */
struct sizing engine_intent_sizing(struct engine *engine, int account, int symbol, enum order_side side,
                                   bool turns);
int64_t engine_intent_shown(const struct engine *engine, int account, int symbol, enum order_side side);
/* Before and after the session: makes it one that its venue takes then. */
void engine_intent_extend(const struct engine *engine, struct order *order);
/* intent_order.c: a strategy's own orders. How many of a symbol work, as its input counts them; cancels
 * those; and makes one. */
int engine_intent_orders(const struct engine *engine, int account, int symbol);
void engine_intent_cancel(struct engine *engine, int account, int symbol);
enum intent_fault engine_intent_place(struct engine *engine, int account, int symbol,
                                      const struct intent *intent);
/* An order to submit; its prices are the caller's to set. */
struct order engine_intent_order(int account, int symbol, enum order_side side, enum order_type type,
                                 int64_t qty, const char *tag);
/* Sells whole lots of a long, or buys a short back, at market. */
enum order_reason engine_intent_leave(struct engine *engine, int account, int symbol, const char *why);
/* Those that are to be ordered later: the others are refused now. Returns how many, in their order. */
size_t engine_intent_sound(struct engine *engine, int account, int symbol, const struct strategy_input *input,
                           const struct intent *intents, size_t n,
                           struct intent sound[static STRATEGY_INTENTS_MAX]);
/* Carries the intents out, or refuses them visibly. n: how many the strategy says it wrote. */
void engine_intent_carry_out(struct engine *engine, int account, int symbol,
                             const struct strategy_input *input, const struct intent *intents, size_t n);
int64_t engine_intent_free_cash(struct engine *engine, int account,
                                int symbol); /* what may be spent on a symbol */

/* request.c: what outside strategies are asked. */
/* Is the account's strategy asked, and not called? */
bool engine_request_asks(const struct engine *engine, int account);
/* False: it is halted, and is not asked. `values`: of the bar. */
bool engine_request_put(struct engine *engine, int account, int symbol, const struct bar *bar, bool acts,
                        const struct strategy_input *input, const double *values, size_t n_values);
/* One more, before one that acts, with its values and nothing else; NULL without memory. */
struct bar_request *engine_request_add(struct engine *engine, const double *values, size_t n_values);
/* Forgets what waits of an account; symbol -1: of all symbols. */
void engine_request_drop(struct engine *engine, int account, int symbol);
/* After symbols have other indices, -1: none; `keeps` an account's. */
void engine_request_move(struct engine *engine, const int *to, const bool *keeps);
/* The decision on the first request. 0, or -EINVAL for another. */
int engine_request_decided(struct engine *engine, const struct event *event);
void engine_request_drop_history(struct engine *engine, int account, int symbol);
void engine_request_drop_acting(struct engine *engine);
/* engine.c: the bar at halfway continues where it waits no longer. */
void engine_request_continue(struct engine *engine);
/* engine.c: it gets no decision, and what its bar still brings about follows. */
void engine_request_lapse(struct engine *engine);
void engine_request_finish(struct bar_requests *requests);
/* How it answered, and the alerts of that: another trades from now on, or it starts again. */
void engine_request_forget(struct engine *engine, int account);
/* Asks it again, if it was halted, from the recent bars on. */
void engine_request_resume(struct engine *engine, int account);
/* Refuses one visibly. */
void engine_intent_refuse(struct engine *engine, int account, int symbol, enum intent_fault fault,
                          const struct intent *intent, const struct strategy_input *input);

/* runner.c */
int engine_runner_open(struct engine *engine, int account, const struct account_spec *spec);
void engine_runner_close(struct engine *engine, int account);
void engine_runner_leave(struct engine *engine, int account); /* only its strategy's slots */
void engine_runner_warm(struct engine *engine,
                        int account); /* gives it the recent bars of every symbol, as history */
void engine_runner_again(struct engine *engine,
                         int symbol); /* its past bars changed: restarts all slots on them */
/* Orders what was kept, by the account as it is now. */
void engine_runner_order(struct engine *engine, int account, const struct kept_decision *kept);
/* False: it waits for a decision of an account's strategy, and engine->halfway says so; the rest follows with
 * engine_runner_bar_after(), the account's part included. */
bool engine_runner_bar(struct engine *engine, int symbol, const struct bar *bar, bool fresh);
bool engine_runner_bar_after(struct engine *engine, int symbol, const struct bar *bar, int account);
/* What an account's strategy decided on a bar. n: how many intents it says there are. */
void engine_runner_decided(struct engine *engine, int account, int symbol, const struct bar *bar, bool acts,
                           const struct strategy_input *input, const struct intent *intents, size_t n);
/* Asks about the recent bars of a symbol that opened before a time again, as history. */
void engine_runner_show(struct engine *engine, int account, int symbol, int64_t before_ns);
/* Restarts all of an account's slots on the recent bars. */
void engine_runner_restart(struct engine *engine, int account);
void engine_runner_ended(struct engine *engine, const struct order *order); /* an order ended with fills */
void engine_runner_flatten(struct engine *engine);
/* Cancels all orders of an account and closes at market. While runner->closing, what still fills is closed
 * again; engine_runner_end_closing() ends that, at an event's end, once nothing is left to close. */
void engine_runner_quit(struct engine *engine, int account);
void engine_runner_end_closing(struct engine *engine);
/* Liquidates a locked account: cancels all except reduce-only orders, and closes at market; while it is
 * locked, what still fills is closed again. */
void engine_runner_halt(struct engine *engine, int account);

#endif
