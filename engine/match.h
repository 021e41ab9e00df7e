/* The paper exchange's internals, shared by its own files only: those named below and match.c, whose first
 * comment states the rules. */
#ifndef ENGINE_MATCH_H
#define ENGINE_MATCH_H

#include "engine/core.h"

/* live.c: the list of live orders, by id, and what ends one. Indices and pointers into engine->orders hold
 * until an order is added or ends. */
struct live_order *engine_live_push(struct engine *engine,
                                    const struct order *order); /* NULL without memory */
void engine_live_drop_last(struct engine *engine);              /* without memory, before it was emitted */
bool engine_live_later(struct engine *engine, struct pending pending); /* false without memory */
/* Does `action` to the order: its next state by the table. An action that the table refuses is a bug: it is
 * counted and reported, and the order keeps its state. */
bool engine_live_step(struct engine *engine, struct order *order, enum order_action action);
void engine_live_report(struct engine *engine, const struct order *order);
/* Ends an order (FILLED already, or by `action`): its reserve is free, a bracket's exits start or end. */
void engine_live_end(struct engine *engine, uint64_t id, enum order_action action, enum order_reason reason);
/* The other leg of its OCO while that lives, or NULL. */
struct live_order *engine_live_other_leg(const struct engine *engine, const struct order *order);
bool engine_live_resting(const struct order *order); /* at the venue */
/* The first live order with an id not below `id`; n_orders: none. */
size_t engine_live_from(const struct engine *engine, uint64_t id);
/* Orders of a symbol, or of all (-1), that expire at or before a moment do so, by id. */
void engine_live_expire(struct engine *engine, int symbol, int64_t until_ns);

/* reserve.c: what orders reserve of balances. */
int64_t engine_reserve_need(const struct engine *engine,
                            const struct order *order);                     /* for what is left of it */
void engine_reserve_lift(struct engine *engine, const struct order *order); /* of its pool */
void engine_reserve_set(struct engine *engine, const struct order *order);  /* of its pool, again */
enum order_reason engine_reserve_check(struct engine *engine, const struct order *order);
/* The quantity of a symbol that is held and not reserved by sales; the currency that can open a position,
 * once what is borrowed of this symbol is paid back. */
int64_t engine_reserve_sellable(const struct engine *engine, int account, int symbol);
int64_t engine_reserve_to_open(const struct engine *engine, const struct order *order);
/* Are all shorts covered when `qty` of an order has been sold at `price`, `short_qty` of it borrowed? */
void engine_reserve_cover(const struct engine *engine, const struct order *order, int64_t price, int64_t qty,
                          int64_t short_qty, struct engine_lack *ret);
/* How much of `qty` at `price` the account can pay for or deliver now, its pool's reserve lifted. */
int64_t engine_reserve_affordable(struct engine *engine, const struct order *order, int64_t price,
                                  int64_t qty);
/* Why the account could not pay for more. */
enum order_reason engine_reserve_shortage(const struct engine *engine, const struct order *order);
bool engine_reserve_lacks(enum order_reason reason); /* is it one of those, but REDUCE_ONLY? */
/* Could it pay for, or deliver, all of `qty` for `cost` in all? */
bool engine_reserve_affords(struct engine *engine, const struct order *order, int64_t qty, int128_t cost,
                            int64_t price);
int64_t engine_reserve_purchase(const struct engine *engine, int account, int symbol, int64_t price,
                                int64_t qty);
int64_t engine_reserve_price(const struct engine *engine,
                             const struct order *order); /* that it may trade at */

/* book_walk.c: what the market shows to an account. */
struct book_walk {
    const struct market_state *market;
    int account;
    enum order_side taker;
    bool use_book, use_quote, quote_taken;
    bool beyond;                    /* prices beyond the quantity shown follow */
    int64_t step, price_min, steps; /* of them: the step, the lowest, and how many were walked */
    struct book_level quote;
    uint32_t next;
    struct book_level level; /* the one that stands now */
    int64_t taken;           /* of it, by the account */
    bool from_book;
};
enum { WALK_BEYOND_MAX = 100 }; /* further multiples of the quantity shown: then there is no more */
void engine_walk_begin(struct book_walk *walk, const struct engine *engine, int account, int symbol,
                       enum order_side taker);
/* Lets the walk of a taker continue beyond the quantity shown, where the engine's FILL_BEYOND_IMPACT says so.
 */
void engine_walk_beyond(struct book_walk *walk, const struct engine *engine);
/* Are the best bid and ask all that is ever shown of it? */
bool engine_walk_quotes_alone(const struct market_state *market);
bool engine_walk_next(struct book_walk *walk);
/* Walks on to what `order` may take of what is shown, and returns how much, of the `left` that it wants; 0:
 * no more is shown; -1: the rest is beyond its limit. */
int64_t engine_walk_part(struct book_walk *walk, const struct order *order, int64_t left);
bool engine_walk_take(struct engine *engine, const struct book_walk *walk, int symbol, int64_t qty);
void engine_walk_refresh(struct market_state *market); /* forgets what is shown no more */
/* The quantity shown at a price among the orders of a side; 0: none; -1: not known. */
int64_t engine_walk_shown(const struct market_state *market, enum order_side side, int64_t price);

/* gate.c: whether an order is accepted. */
/* `grouped`: it is one of an OCO or a bracket. */
enum order_reason engine_gate_rules(const struct engine *engine, const struct order *order, bool grouped);
enum order_reason engine_gate_group(enum order_grouping grouping, const struct order *legs, int n_legs);
/* An order with the numbers that an amend gives it: its group's prices must be in order as when they were
 * given. */
enum order_reason engine_gate_amended(const struct engine *engine, const struct order *next);
/* `ahead`: how many orders of the same request come before it. An order that is live already is being
 * amended, `lowers`: to a smaller quantity only. */
enum order_reason engine_gate_check(struct engine *engine, const struct order *order, int ahead, bool lowers);

/* venue_order.c: orders that are filled at their venue (engine_at_venue()). */
/* ORDER_OK, or why they cannot be sent there. */
enum order_reason engine_venue_check(const struct engine *engine, enum order_grouping grouping,
                                     const struct order *legs, int n_legs);
void engine_venue_ask(struct engine *engine, enum engine_venue_request what, const struct order *order);
void engine_venue_start(struct engine *engine, uint64_t id); /* PENDING: sends it, or holds it here */
void engine_venue_send(struct engine *engine, uint64_t id);  /* now, or when no other blocks it; may end it */
void engine_venue_return(struct engine *engine,
                         const struct order *stop); /* it ended, and struct live_order.returns */
/* Ends what the venue never got; asks for the cancel of what it has, once. */
void engine_venue_withdraw(struct engine *engine, uint64_t id);
void engine_venue_unblock(struct engine *engine, int account,
                          int symbol); /* those that waited for one that ended */
/* The venue's id of an order that has the client id of order `client`: itself, or the one that reached the
 * venue twice. The first that is reported stays. */
void engine_venue_name(struct engine *engine, int account, uint64_t order_id, uint64_t client,
                       const char *venue_id);
/* May it end here? Else the venue was asked for its cancel. */
bool engine_venue_may_end(struct engine *engine, struct live_order *live, enum order_reason reason);

/* match.c, for a dry run: the legs as orders, with the ids that they will have; why they are refused. */
void engine_match_legs(const struct engine *engine, enum order_grouping grouping,
                       const struct order *requests, int n_legs, struct order *legs);
enum order_reason engine_match_check(struct engine *engine, enum order_grouping grouping,
                                     const struct order *legs, int n_legs);

/* fills.c: trades. Those that take an id may end the order, others of its group, and reduce-only ones. */
struct fill_source { /* for a tracer */
    struct book_level level;
    int64_t taken_before, queue_ahead;
    bool from_book;
    const struct bar *bar; /* FILL_BAR; else NULL */
    enum fill_basis basis; /* NONE: by the symbol's feed */
};
void engine_fills_book(struct engine *engine, struct order *order, int64_t price, int64_t qty, bool maker,
                       const struct fill_source *source);
/* Books a fill of it that has its numbers already. */
void engine_fills_post(struct engine *engine, struct order *order, const struct fill *fill);
/* Takes what the other side offers, up to the limit if there is one, at its prices; or makes it at the
 * order's own price. Returns why it stopped early, or ORDER_OK. Its pool reserves nothing afterwards. */
int64_t engine_fills_taker_price(const struct engine *engine, const struct order *order, int64_t shown);
enum order_reason engine_fills_shown(struct engine *engine, struct live_order *live, bool maker);
bool engine_fills_whole_or_ends(struct engine *engine,
                                const struct order *order); /* FOK: true when it ended */
/* After an order traded, or could not: what is left of it ends, or rests where it may. */
void engine_fills_settle(struct engine *engine, uint64_t id, int64_t filled_before, enum order_reason reason,
                         bool rests);
void engine_fills_position_changed(struct engine *engine, int account, int symbol);
void engine_fills_rest(struct engine *engine, uint64_t id);
void engine_fills_cancel_other_leg(struct engine *engine, uint64_t id);

/* Trades all that is left of it at one price, as far as the account can. `from`: where the market is, and
 * what says so; its quantity is written. */
void engine_fills_all(struct engine *engine, uint64_t id, int64_t price, bool maker,
                      const struct fill_source *from);

/* arrive.c: these may end orders as well. */
void engine_arrive_new(struct engine *engine, uint64_t id);
/* The order is at the venue, new or changed: it triggers, takes, or rests; with FILL_BAR it rests. */
void engine_arrive_stand(struct engine *engine, uint64_t id);
void engine_arrive_market(struct engine *engine, uint64_t id, bool first);
void engine_arrive_trigger(struct engine *engine, uint64_t id);
bool engine_arrive_trail(const struct engine *engine, struct order *order,
                         int64_t price); /* did its peak move? */
/* Does the type's stop price lie where a trade at `price` triggers it? */
bool engine_arrive_would_trigger(const struct order *order, int64_t price);

/* resting.c: these may end orders as well. `dealt`: what the account's orders had of the trade. */
void engine_resting_trade(struct engine *engine, uint64_t id, const struct market_trade *trade,
                          int64_t *dealt);
/* Narrows *above and *below to the prices between which no trade affects it. */
void engine_resting_calm(const struct live_order *live, int64_t *above, int64_t *below);
void engine_resting_quote(struct engine *engine, uint64_t id);

/* amend.c */
/* The order after all amends on their way; *ret_need: the most that the rest of it needs until then, and
 * after. */
struct order engine_amend_foresee(const struct engine *engine, const struct live_order *live,
                                  int64_t *ret_need);
void engine_amend_take_effect(struct engine *engine, const struct order_amend *amend);

#endif
