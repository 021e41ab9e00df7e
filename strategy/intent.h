/* Checks an order intent without an account: faults that no market could accept. The engine refuses such an
 * intent whole, counts it and reports it; it never changes one into another. */
#ifndef STRATEGY_INTENT_H
#define STRATEGY_INTENT_H

#include <stddef.h>

#include "strategy/intent_fault.h"
#include "strategy/strategy.h"

/* Buffer for a strategy's intents: a strategy that writes too many is refused, without an overflow. */
enum { INTENTS_ROOM = 4 * STRATEGY_INTENTS_MAX };

/* INTENT_FITS, or the first fault. Prices are plain numbers, not rounded to ticks. */
enum intent_fault intent_check(const struct intent *intent, const struct strategy_input *input);

/* intent_check() and intent_fault_text() of INTENT_ORDER (intent_order.c). */
enum intent_fault intent_check_order(const struct intent *intent, const struct strategy_input *input);
int intent_order_text(enum intent_fault fault, const struct intent *intent,
                      const struct strategy_input *input, char *buf, size_t cap);
/* The most of its equity that the account may hold of a symbol. */
static inline double intent_most(const struct strategy_input *input)
{
    return input->leverage > 1 ? input->leverage : 1;
}

/* Does it open a position by its kind alone? */
static inline bool intent_enters(enum intent_kind kind)
{
    return kind == INTENT_ENTER || kind == INTENT_SHORT;
}

const char *intent_kind_name(enum intent_kind kind); /* "enter" …; "unknown" for other values */

/* One clause with the fault and what would be right, as "stop 120.5 is not below the price 119". Returns its
 * length as snprintf() does. */
size_t intent_fault_text(enum intent_fault fault, const struct intent *intent,
                         const struct strategy_input *input, char *buf, size_t cap);

#endif
