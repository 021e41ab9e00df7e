/* What is wrong with an order of a strategy's, as far as no market could accept it. What its venue does not
 * take, or the account's limits refuse, is refused later, as an order. */
#include <math.h>
#include <stdio.h>

#include "strategy/intent.h"

static bool is_price(double number)
{
    return isfinite(number) && number > 0;
}

static bool names_order(const struct intent *intent)
{
    return (unsigned)intent->side <= ORDER_SELL && (unsigned)intent->type < ORDER_TYPES &&
           (unsigned)intent->tif < ORDER_TIFS && (unsigned)intent->size <= INTENT_OF_UNITS;
}

static bool closes(const struct intent *intent, const struct strategy_input *input)
{
    return intent->side == ORDER_SELL ? input->qty > 0 : input->qty < 0;
}

static enum intent_fault check_size(const struct intent *intent, const struct strategy_input *input)
{
    switch (intent->size) {
    case INTENT_OF_EQUITY:
        return intent->fraction > 0 && intent->fraction <= intent_most(input) ? INTENT_FITS
                                                                              : INTENT_BAD_FRACTION;
    case INTENT_OF_POSITION:
        if (input->qty == 0)
            return INTENT_NOTHING_HELD;
        return intent->fraction > 0 && intent->fraction <= 1 ? INTENT_FITS : INTENT_BAD_FRACTION;
    case INTENT_OF_UNITS:
        break;
    }
    return isfinite(intent->qty) && intent->qty > 0 ? INTENT_FITS : INTENT_BAD_QTY;
}

/* Does the price that triggers it wait above the market? A stop of a purchase, a profit of a sale. */
static bool waits_above(const struct intent *intent)
{
    return (intent->side == ORDER_BUY) != order_is_profit(intent->type);
}

static bool has_trigger(const struct intent *intent)
{
    return order_is_stop(intent->type) && intent->type != ORDER_TRAILING_STOP;
}

static bool trigger_fits(const struct intent *intent, const struct strategy_input *input)
{
    if (!has_trigger(intent))
        return intent->stop == 0;
    return is_price(intent->stop) &&
           (waits_above(intent) ? intent->stop > input->close : intent->stop < input->close);
}

static bool trail_fits(const struct intent *intent)
{
    if (intent->type != ORDER_TRAILING_STOP)
        return intent->trail == 0 && intent->trail_share == 0;
    return intent->trail_share == 0
               ? is_price(intent->trail)
               : intent->trail == 0 && intent->trail_share > 0 && intent->trail_share < 1;
}

static bool time_fits(const struct intent *intent, const struct strategy_input *input)
{
    return intent->tif == ORDER_GTD ? intent->good_ns > input->ts_ns : intent->good_ns == 0;
}

enum intent_fault intent_check_order(const struct intent *intent, const struct strategy_input *input)
{
    if (!names_order(intent))
        return INTENT_BAD_ORDER;
    if (intent->reduce_only && !closes(intent, input))
        return INTENT_NOTHING_HELD;
    if (intent->side == ORDER_SELL && input->qty <= 0 && !input->shorts)
        return INTENT_NO_SHORTS;
    enum intent_fault fault = check_size(intent, input);
    if (fault != INTENT_FITS)
        return fault;
    if (order_has_limit(intent->type) ? !is_price(intent->limit) : intent->limit != 0)
        return INTENT_BAD_LIMIT;
    if (!trigger_fits(intent, input))
        return INTENT_BAD_STOP;
    if (!trail_fits(intent))
        return INTENT_BAD_TRAIL;
    return time_fits(intent, input) ? INTENT_FITS : INTENT_BAD_TIME;
}

static int fraction_text(const struct intent *intent, const struct strategy_input *input, char *buf,
                         size_t cap)
{
    bool of_position = intent->size == INTENT_OF_POSITION;
    return snprintf(buf, cap, "order: fraction %.10g of %s is not above 0 and at most %.10g",
                    intent->fraction, of_position ? "the position" : "equity",
                    of_position ? 1 : intent_most(input));
}

static int stop_text(const struct intent *intent, const struct strategy_input *input, char *buf, size_t cap)
{
    if (!has_trigger(intent))
        return snprintf(buf, cap, "order: %s has no stop price, and %.10g is given",
                        order_type_name(intent->type), intent->stop);
    return snprintf(buf, cap, "order: stop %.10g of a %s to %s is not %s the price %.10g", intent->stop,
                    order_type_name(intent->type), intent->side == ORDER_BUY ? "buy" : "sell",
                    waits_above(intent) ? "above" : "below", input->close);
}

static int held_text(const struct intent *intent, const struct strategy_input *input, char *buf, size_t cap)
{
    if (input->qty == 0)
        return snprintf(buf, cap, "order: nothing is held");
    return snprintf(buf, cap, "order: a %s does not reduce a %s",
                    intent->side == ORDER_BUY ? "purchase" : "sale", input->qty > 0 ? "long" : "short");
}

static int names_text(const struct intent *intent, char *buf, size_t cap)
{
    if ((unsigned)intent->side > ORDER_SELL)
        return snprintf(buf, cap, "order: %d is no side", (int)intent->side);
    if ((unsigned)intent->type >= ORDER_TYPES)
        return snprintf(buf, cap, "order: %d is no type of order", (int)intent->type);
    if ((unsigned)intent->tif >= ORDER_TIFS)
        return snprintf(buf, cap, "order: %d is no time in force", (int)intent->tif);
    return snprintf(buf, cap, "order: %d is no way to give a quantity", (int)intent->size);
}

int intent_order_text(enum intent_fault fault, const struct intent *intent,
                      const struct strategy_input *input, char *buf, size_t cap)
{
    switch (fault) {
    case INTENT_BAD_ORDER:
        return names_text(intent, buf, cap);
    case INTENT_NOTHING_HELD:
        return held_text(intent, input, buf, cap);
    case INTENT_NO_SHORTS:
        return snprintf(buf, cap, "order: its account may not be short of it");
    case INTENT_BAD_FRACTION:
        return fraction_text(intent, input, buf, cap);
    case INTENT_BAD_QTY:
        return snprintf(buf, cap, "order: quantity %.10g is not above 0", intent->qty);
    case INTENT_BAD_LIMIT:
        return snprintf(buf, cap,
                        order_has_limit(intent->type)
                            ? "order: limit %.10g is no price"
                            : "order: it has no limit by its type, and %.10g is given",
                        intent->limit);
    case INTENT_BAD_STOP:
        return stop_text(intent, input, buf, cap);
    case INTENT_BAD_TRAIL:
        return snprintf(buf, cap,
                        "order: trail %.10g, share %.10g: of a trailing stop one, above 0, of none else",
                        intent->trail, intent->trail_share);
    case INTENT_BAD_TIME:
        return snprintf(buf, cap,
                        intent->tif == ORDER_GTD ? "order: gtd needs a time after the bar's close"
                                                 : "order: its time to expire needs gtd");
    default:
        return snprintf(buf, cap, "order: %s", intent_fault_name(fault));
    }
}
