/* What decides for an account by a trained policy: rounds over its assets' bars, what it remembers, and the
 * runtime of policies that observe the market. */
#ifndef ENGINE_DRIVER_H
#define ENGINE_DRIVER_H

#include "engine/core.h"

/* driver.c */
/* 0; -EINVAL for a policy of other bars, or with an asset that no symbol is; -ENOMEM. */
int engine_driver_open(struct engine *engine, int account, const struct policy *policy);
bool engine_driver_is_in_quanta(const struct engine *engine, int account); /* in quanta, of each asset? */
/* Moves one driver's memory to another of the same policy, or of the same rules, that was just opened,
 * maybe with other filters. A runtime is moved as it is. */
void engine_driver_move(struct policy_driver *to, struct policy_driver *from);
/* The memory in quanta of the units, which may be others now. */
void engine_driver_count_quanta(struct policy_slot *slot);
void engine_driver_close(struct engine *engine, int account);
/* Before a bar takes effect: ends rounds of earlier bars, even if incomplete. */
void engine_driver_due(struct engine *engine, int symbol, const struct bar *bar);
void engine_driver_due_of(struct engine *engine, int account, int symbol, const struct bar *bar);
void engine_driver_bar(struct engine *engine, int account, int symbol, const struct bar *bar, bool fresh);
/* Orders what was kept, as far as the position still bears it. */
void engine_driver_order(struct engine *engine, int account, const struct kept_decision *kept);
/* An event was received: rounds that waited long enough end. */
void engine_driver_wait(struct engine *engine);
/* All bars that are there are history: the newest round has passed where it is complete, else it will. */
void engine_driver_pass(struct engine *engine, int account);
void engine_driver_find_waiting(struct engine *engine);        /* after states or policies were restored */
void engine_driver_symbol(struct engine *engine, int symbol);  /* its filters are others now */
void engine_driver_scales(struct engine *engine, int account); /* finds those that can be known by now */

/* driver_swap.c */
/* Takes over what is remembered of the symbols that both trade. `now`: the index of each of the former
 * one's symbols in this engine, -1: it has none; NULL: unchanged. */
void engine_driver_inherit(struct policy_driver *to, const struct policy_driver *from, const int *now);
/* A driver that was opened for a trading account starts after the bars that are there by now. */
void engine_driver_begin(struct engine *engine, int account);
/* A deposit or withdrawal takes the account's equity from `before` to `after`: what limits compare moves in
 * proportion. */
void engine_driver_flow(struct engine *engine, int account, int64_t before, int64_t after);
/* Replaces what trades for an account by another policy, or by none. ORDER_OK or ORDER_BAD_ACCOUNT. */
enum order_reason engine_driver_swap(struct engine *engine, int account, const struct policy *policy,
                                     bool close);

/* After a split: what it remembers of the symbol, of which `before` was held, counts in new shares. */
void engine_driver_split(struct engine *engine, int account, int symbol, int64_t before, int64_t shares,
                         int64_t per);
/* Restarts its runtime on the recent bars, where it reads the symbol. */
void engine_driver_again(struct engine *engine, int account, int symbol);

/* driver_runtime.c: a policy that observes the market */
int64_t engine_driver_first(const struct policy_driver *driver); /* open of row 0; 0: not known yet */
/* Shows it the bar of one of its assets, as history or not. */
void engine_driver_see(struct engine *engine, int account, int asset, const struct bar *bar);
/* Its rows after driver->round_ns pass, up to the one before open_ns. */
void engine_driver_pass_to(struct engine *engine, int account, int64_t open_ns);
/* Has it seen the bars that it needs to decide? */
bool engine_driver_ready(const struct engine *engine, int account);
/* Task day-trade: does its session end with the bar after driver->round_ns? */
bool engine_driver_leaves(const struct engine *engine, int account);
/* The policy's actions on the rows up to the one that opens then, with the account's present state; wanted
 * false: they pass, and nothing is written. */
bool engine_driver_act(struct engine *engine, int account, int64_t open_ns, bool wanted, float *ret_actions);
void engine_driver_leave(struct engine *engine); /* its policies end before it: closes their runtimes */
/* How many of a symbol's recent bars have come to the account: the last one may wait for the decision of
 * another account's outside strategy first. */
uint32_t engine_driver_recent(const struct engine *engine, int account, int symbol);
/* Shows it those of its symbols, as history: every row passes, the newest one when it is whole. */
void engine_driver_warm(struct engine *engine, int account);

#endif
