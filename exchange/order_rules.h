/* Which orders a venue takes of a class of assets: one table, which the gate, the command line and
 * docs/orders.md share. The rows of a venue, and their sources, are in its folder (order_rules.c).
 *
 * A symbol whose class its venue does not say (struct symbol: also those of files, and all of states and logs
 * of layouts before 8) has no row: its orders are checked by exchange/filter.h alone. */
#ifndef EXCHANGE_ORDER_RULES_H
#define EXCHANGE_ORDER_RULES_H

#include "exchange/fill_rules.h"
#include "exchange/order.h"
#include "exchange/symbol.h"
#include "exchange/zone.h"

/* Sets of types and of times in force, as bits. */
#define ORDER_SET(value) (1U << (value))

struct order_rules {
    const char *venue;
    enum asset_class asset;
    const char *name;           /* "VENUE us_equity", which begins its refusals */
    uint32_t tifs[ORDER_TYPES]; /* the times in force that a type takes; 0: the venue has no such type */
    /* Of quantities that are no whole shares, and of orders by amount; 0: as any other. */
    uint32_t fractional_types, fractional_tifs;
    uint32_t group_tifs; /* of an OCO's and a bracket's orders; 0: it has none */
    bool extended_hours; /* a limit order with DAY may fill outside the session */
    bool shorts;         /* it lends, in whole shares, what is shortable and easy to borrow */
    bool decimals;       /* prices have 2 decimals from 1.00 on, 4 below: order_rules_tick() */
    int opg_s, cls_s;    /* orders for an auction are refused from so long before it … */
    int auction_hour;    /* … to this hour of the day in the exchange's zone: */
    const struct zone_rule *zone;
    const char *zone_name;   /* "New York" */
    enum order_tif tif;      /* of an order that names none … */
    enum order_tif part_tif; /* … and of a fraction, an amount, or with extended_hours */
};

/* A rule in words: what an order that breaks it is refused with. */
struct order_rule {
    const struct order_rules *of;
    enum order_reason reason;
    const char *words; /* "VENUE crypto takes gtc and ioc only" */
};

/* A venue's (struct venue_format). */
struct order_rules_table {
    const struct order_rules *rows;
    size_t n;
    const struct order_rule *rules; /* one of each reason of a row */
    size_t n_rules;
};

/* The row of a symbol; NULL: none, every order that the exchange knows is taken. */
const struct order_rules *order_rules_of(const struct symbol *symbol);
/* The i-th row of all venues; NULL past the last. */
const struct order_rules *order_rules_row(size_t i);

/* ORDER_OK, or the rule that the venue refuses an order by; an `emulated` one is checked by those alone that
 * cannot be held here. `grouped`: it is one of an OCO or a bracket. Without a row ORDER_OK. */
enum order_reason order_rules_check(const struct symbol *symbol, const struct order *order, bool grouped);

/* Can what the venue refuses be held here, and ordered there when it is due? Of a type, a time in force and a
 * group that it does not have; what no order may do (a short, a price between ticks) cannot. */
bool order_rules_holds(enum order_reason reason);

/* May the symbol be sold short; and `qty` of it be borrowed? ORDER_OK, or the rule against it. */
enum order_reason order_rules_short(const struct symbol *symbol);
enum order_reason order_rules_lends(const struct symbol *symbol, int64_t qty);

/* Is an order for the auction at `auction_ns` (0: not known) too late at `now_ns`? `day_over`: a session of
 * today's has started or ended: until auction_hour nothing is taken for the next one. */
bool order_rules_late(const struct order_rules *rules, enum order_tif tif, int64_t now_ns, int64_t auction_ns,
                      bool day_over);
/* The minute of the day and the date, in days since 1970, in the exchange's zone. */
int order_rules_minute(const struct order_rules *rules, int64_t ns, int32_t *ret_day);

/* The step of prices near `price`: of stocks a cent from 1.00 on and a hundredth of it below. */
int64_t order_rules_tick(const struct symbol *symbol, int64_t price);

/* A whole share, or coin, at qty_scale. */
int64_t order_rules_whole(const struct symbol *symbol);

/* The lots that an order of `qty` is cut to where the money does not suffice: of whole shares, where
 * fractions have rules of their own, whole shares; else the symbol's. */
struct fill_lot order_rules_lot(const struct symbol *symbol, int64_t qty);

/* The time in force of an order that names none. */
enum order_tif order_rules_tif(const struct symbol *symbol, int64_t qty, bool by_amount, bool extended_hours);

/* The time in force with which an order is sent to its venue: its own; GTC in place of a DAY and a GTD that
 * the venue does not have. Then its end here asks for its cancel there. */
enum order_tif order_rules_sent(const struct symbol *symbol, const struct order *order);

/* The rule that a reason names, in words; NULL: no rule of this symbol's. */
const char *order_rules_words(const struct symbol *symbol, enum order_reason reason);
/* The i-th rule of all rows; NULL past the last: for documents and tests. */
const struct order_rule *order_rules_rule(size_t i);

#endif
