/* How structs become bytes: one function each, which a codec runs to save or to load. For states and event
 * records; an enumeration is kept by its number, so values are only ever added at its end. */
#ifndef ENGINE_VISIT_H
#define ENGINE_VISIT_H

#include "engine/core.h"
#include "record/codec.h"

/* visit.c: shared types */
void engine_visit_symbol(struct codec *codec,
                         struct symbol *symbol); /* fails on scales that no market can have */
void engine_visit_bar(struct codec *codec, struct bar *bar);
void engine_visit_position(struct codec *codec, struct position *position);
/* Levels as their prices' steps and quantities. */
void engine_visit_levels(struct codec *codec, struct book_level *levels, uint32_t n);
void engine_visit_rules(struct codec *codec, struct account_rules *rules);
void engine_visit_amend(struct codec *codec, struct order_amend *amend);
/* A calendar's name, range and number of days; then the days, which do not contradict each other. */
void engine_visit_calendar(struct codec *codec, struct trading_calendar *calendar);
void engine_visit_days(struct codec *codec, struct trading_day *days, size_t n);
/* A count of at most `most` things of at least `bytes` bytes each: fails when so many cannot follow. */
void engine_visit_count(struct codec *codec, uint32_t *n, uint32_t most, uint32_t bytes);
/* A strategy by its name, and its parameters; false when loading one that this program does not have, or
 * parameters that it would not take. NULL is none. */
bool engine_visit_strategy(struct codec *codec, const struct strategy **strategy,
                           double params[static STRATEGY_PARAMS_MAX]);
/* An outside strategy, by its description (strategy/recorded.h); as engine_visit_strategy(). */
bool engine_visit_outside(struct codec *codec, const struct strategy **strategy,
                          double params[static STRATEGY_PARAMS_MAX]);
/* A policy by its id; false when loading one that codec->policies has not, with no_policy set. NULL is none.
 */
bool engine_visit_policy(struct codec *codec, const struct policy **policy);
/* The same as a part of the whole; false as engine_visit_strategy() and engine_visit_policy(). */
bool engine_visit_spec(struct codec *codec, struct account_spec *spec);

/* state_request.c: of outside strategies, since layout 12 */
void engine_visit_intent(struct codec *codec, struct intent *intent, char why[static STRATEGY_WHY_MAX]);
void engine_visit_slot_kept(struct codec *codec, struct strategy_slot *slot);
void engine_visit_answers(struct codec *codec, struct runner_answers *answers);
void engine_visit_requests(struct codec *codec, struct engine *engine);

/* state_column.c: external columns, at the end of a state since layout 12; nothing where there are none. 0 or
 * -ENOMEM. */
void engine_visit_column_value(struct codec *codec, struct column_value *value);
int engine_visit_columns(struct codec *codec, struct engine *engine);

/* state_market.c: 0 or -ENOMEM; the codec fails by itself. */
int engine_visit_market(struct codec *codec, struct market_state *market, int64_t interval_ns);

/* state_runner.c: what trades for an account; a driver without a policy has nothing. */
void engine_visit_round(struct codec *codec, struct strategy_runner *runner);
void engine_visit_slot(struct codec *codec, struct strategy_slot *slot);
void engine_visit_refusals(struct codec *codec, struct strategy_runner *runner);
void engine_visit_driver(struct codec *codec, struct policy_driver *driver);
void engine_visit_kept(struct codec *codec, struct engine *engine, int account);

#endif
