/* What trades for an account: strategy slots and policy drivers, what they decided, and the orders that their
 * intents become. */
#ifndef ENGINE_RUNNER_H
#define ENGINE_RUNNER_H

#include "engine/frame.h"
#include "engine/request.h"
#include "engine/split.h"
#include "exchange/sizing.h"
#include "indicators_gpu/indicators.h"
#include "strategy/column.h"
#include "strategy/intent.h"
#include "strategy/policy/limit_rules.h"
#include "strategy/policy/policy.h"

enum { OUTPUTS_MAX = STRATEGY_SPECS_MAX * INDICATOR_OUTPUTS_MAX, OUTPUT_NAME_MAX = 48 };

struct engine;

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
    int8_t column;  /* of the slot's; -1: none */
    bool plain;     /* its value itself */
};

/* An external column that a slot reads. */
struct slot_column {
    struct column_source source;
    double now; /* at the end of the bar that is being taken; NaN: none. Not part of the state */
};

/* A strategy slot: one strategy of one account on one symbol. */
struct strategy_slot {
    struct slot_stream *streams;    /* [n_streams] */
    struct measure_track *measured; /* since the slot was opened; NULL: no stream reads any */
    struct slot_column *columns;    /* [n_columns] */
    size_t n_columns;
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

/* Refuses one visibly. */
void engine_intent_refuse(struct engine *engine, int account, int symbol, enum intent_fault fault,
                          const struct intent *intent, const struct strategy_input *input);

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
/* False: it waits for a decision of an account's strategy, and engine->waiting says so; the rest follows
 * with engine_runner_bar_after(), the account's part included. */
bool engine_runner_bar(struct engine *engine, int symbol, const struct bar *bar, bool fresh);
bool engine_runner_bar_after(struct engine *engine, int symbol, const struct bar *bar, bool fresh,
                             int account);
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
