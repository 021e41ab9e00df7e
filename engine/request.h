/* Outside strategies (strategy/external.h): what they are asked, and how they answer. A closed bar that an
 * account's outside strategy is to act on is handled up to that decision, and no further until it comes. */
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

#include "engine/engine.h"
#include "strategy/external.h"

struct engine;
struct event;

/* A bar that an outside strategy is to see. */
struct bar_request {
    int account, symbol;
    struct bar bar;
    uint64_t seq;
    bool acts, begins;
    struct strategy_input input; /* without what it points to: */
    struct strategy_record record;
    double *values; /* [n_values], then of each peer as many */
    size_t n_values;
    /* Of a strategy that sees peers, as they were: [n_peers], without what they point to. */
    struct strategy_peer *peers;
    struct strategy_record *records;
    int n_peers;
};

/* In their order. At most one of them acts: the last one, which the engine's waiting event waits for. */
struct bar_requests {
    struct bar_request *list; /* [first, n) wait */
    size_t first, n, cap;
};

/* Where the event stopped. */
enum waiting_stage {
    WAITING_BAR,   /* the account's strategy is asked of the bar, or of the round that it completes */
    WAITING_DUE,   /* of a round that the bar ends before it takes effect */
    WAITING_ROUND, /* of a round that was waited for long enough: no bar follows */
    WAITING_STAGES,
};

/* An event that has been handled up to the decision of an account's outside strategy: the rest follows with
 * that. */
struct waiting_event {
    bool there;
    enum waiting_stage stage;
    int symbol, account;
    struct bar bar;
    int64_t good_ns;  /* a decision that was received later is one on history */
    int64_t venue_ns; /* DUE: of the bar's event */
    bool live, fresh; /* the bar: as it was accepted, and whether it may be acted on */
    bool held;        /* the symbol's held bars follow it */
    bool fetched;     /* the rest of engine->fetched does */
};

/* Bars of an event that are not all accepted yet. */
struct fetched_bars {
    int symbol;
    bool missed;
    struct bar *bars; /* [n], of which `at` were */
    uint32_t n, at;
};

/* How an account's outside strategy answers. */
struct runner_answers {
    uint64_t failures[STRATEGY_OUTCOMES]; /* requests by outcome; of DECIDED 0 */
    uint32_t in_a_row;                    /* without a decision */
    uint32_t alerted;                     /* a bit an outcome that there is an alert of */
    bool halted;                          /* it is not asked */
};

/* request.c */
/* Is the account's strategy asked, and not called? */
bool engine_request_asks(const struct engine *engine, int account);
/* False: it is halted, and is not asked. `input`: with the bar's values and peers, which are copied. */
bool engine_request_put(struct engine *engine, int account, int symbol, const struct bar *bar, bool acts,
                        const struct strategy_input *input, size_t n_values);
/* One more, before one that acts, with room for its values and peers and nothing else; NULL without memory.
 */
struct bar_request *engine_request_add(struct engine *engine, size_t n_values, int n_peers);
/* Until when a decision that is asked for now is one on a fresh bar. */
int64_t engine_request_good(const struct engine *engine, int64_t age_ns);
/* Of a symbol's recent bars before a time: before when the account has seen them. The bar that waits for
 * another account's decision is one of them, and comes to this account after that. */
int64_t engine_request_until(const struct engine *engine, int account, int symbol, int64_t before_ns);
/* Forgets what waits of an account; symbol -1: of all symbols. */
void engine_request_drop(struct engine *engine, int account, int symbol);
/* After symbols have other indices, -1: none; `keeps` an account's. */
void engine_request_move(struct engine *engine, const int *to, const bool *keeps);
/* The decision on the first request. 0, or -EINVAL for another. */
int engine_request_decided(struct engine *engine, const struct event *event);
void engine_request_drop_history(struct engine *engine, int account, int symbol);
void engine_request_drop_acting(struct engine *engine);
/* engine.c: the waiting event continues where it waits no longer. */
void engine_request_continue(struct engine *engine);
/* engine.c: it gets no decision, and what its bar still brings about follows. */
void engine_request_lapse(struct engine *engine);
void engine_request_finish(struct bar_requests *requests);
/* The engine's symbols, or the name of one, are others: a process that left nothing here is shown the recent
 * bars again. */
void engine_request_symbols(struct engine *engine, int account);
/* How it answered, and the alerts of that: another trades from now on, or it starts again. */
void engine_request_forget(struct engine *engine, int account);
/* Asks it again, if it was halted, from the recent bars on. */
void engine_request_resume(struct engine *engine, int account);

#endif
