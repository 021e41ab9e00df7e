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
    double *values; /* [n_values] */
    size_t n_values;
};

/* In their order. At most one of them acts: the last one, for which the engine's waiting_bar waits. */
struct bar_requests {
    struct bar_request *list; /* [first, n) wait */
    size_t first, n, cap;
};

/* A closed bar whose event has been handled up to the decision of an account's outside strategy: the rest
 * follows with that. */
struct waiting_bar {
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

/* request.c */
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
/* engine.c: the waiting bar continues where it waits no longer. */
void engine_request_continue(struct engine *engine);
/* engine.c: it gets no decision, and what its bar still brings about follows. */
void engine_request_lapse(struct engine *engine);
void engine_request_finish(struct bar_requests *requests);
/* How it answered, and the alerts of that: another trades from now on, or it starts again. */
void engine_request_forget(struct engine *engine, int account);
/* Asks it again, if it was halted, from the recent bars on. */
void engine_request_resume(struct engine *engine, int account);

#endif
