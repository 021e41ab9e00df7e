/* Strategies that see several symbols: what they are shown, rounds of bars, and what the strategy runner does
 * for one symbol of them. */
#ifndef ENGINE_TOGETHER_H
#define ENGINE_TOGETHER_H

#include "engine/core.h"
#include "strategy/external.h"

/* together.c: strategies that see other symbols' bars; all but _open and _close do nothing without one. */
int engine_together_open(struct engine *engine, int account); /* its slots are open; 0 or -ENOMEM */
void engine_together_close(struct strategy_runner *runner);
/* Fills in what the input, of a symbol of the account's, has of its peers. */
void engine_together_look(struct engine *engine, int account, int symbol, struct strategy_input *input);
/* Before a bar takes effect: ends rounds of earlier bars, even if incomplete, of the accounts from this one
 * on. -1; or an account whose outside strategy is asked, and the bar waits for it. */
int engine_together_due(struct engine *engine, int account, int symbol, const struct bar *bar);
/* A bar of a strategy with `together`: its slot is updated, and the round is decided when it is complete.
 * True: an outside strategy is asked, and the rest of the bar waits for it. */
bool engine_together_bar(struct engine *engine, int account, int symbol, const struct bar *bar, bool fresh);
void engine_together_wait(struct engine *engine); /* rounds that waited long enough end */
/* The same of outside strategies, after an event: of the accounts from this one on. -1, or an account that is
 * asked. */
int engine_together_wait_asked(struct engine *engine, int account);
/* The decision of an outside strategy on the round that it was asked of, with the input of that. */
void engine_together_decided(struct engine *engine, int account, bool acts,
                             const struct strategy_input *asked, const struct strategy_decision *decision);
void engine_together_find_waiting(struct engine *engine); /* lowers engine->wait_until_ns */
/* Shows it the recent bars of all of its symbols, by time, as history. */
void engine_together_warm(struct engine *engine, int account);
/* Which of them: of this symbol, -1: of each, those that opened before a time; all of the other symbols. */
struct together_bounds {
    int symbol;
    int64_t before_ns;
};
/* Asks an outside strategy of them, and leaves its slots and its round as they are. */
void engine_together_show(struct engine *engine, int account, const struct together_bounds *bounds);

/* ---- runner.c: of one symbol ---- */
/* What a strategy may know of a symbol at a bar, except the counts of positions and symbols, which
 * engine_runner_count() adds; the account is marked. */
struct strategy_input engine_runner_look(struct engine *engine, int account, int symbol,
                                         const struct bar *bar);
void engine_runner_count(const struct engine *engine, int account, struct strategy_input *input);
/* Shows the slot the bar. */
void engine_runner_update(struct engine *engine, int account, int symbol, const struct bar *bar,
                          const struct strategy_input *input);
void engine_runner_trace(const struct engine *engine, int account, int symbol, const struct bar *bar,
                         bool acted, bool kept, const struct strategy_input *input,
                         const struct intent *intents, size_t n);
/* One symbol's bar, as history or not, of a strategy that is called for each. True: an outside strategy is
 * asked, and the rest of the bar waits for it. */
bool engine_runner_decide(struct engine *engine, int account, int symbol, const struct bar *bar,
                          bool act_on_it);
/* Carries the intents out now, or keeps them for the next opening; `end_ns`: of the bar. */
void engine_runner_carry_out(struct engine *engine, int account, int symbol, const struct bar *bar,
                             int64_t end_ns, const struct strategy_input *input, const struct intent *intents,
                             size_t n);

#endif
