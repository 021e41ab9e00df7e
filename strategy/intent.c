#include "strategy/intent.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static const char *const kinds[] = {
    [INTENT_ENTER] = "enter",   [INTENT_EXIT] = "exit",   [INTENT_STOP] = "stop",
    [INTENT_TARGET] = "target", [INTENT_SHORT] = "short", [INTENT_ORDER] = "order",
    [INTENT_CANCEL] = "cancel",
};

static const char *const faults[INTENT_FAULTS] = {
    [INTENT_FITS] = "",
    [INTENT_BAD_KIND] = "BAD_KIND",
    [INTENT_BAD_FRACTION] = "BAD_FRACTION",
    [INTENT_BAD_LIMIT] = "BAD_LIMIT",
    [INTENT_BAD_STOP] = "BAD_STOP",
    [INTENT_BAD_PROFIT] = "BAD_PROFIT",
    [INTENT_BAD_TIME] = "BAD_TIME",
    [INTENT_NOTHING_HELD] = "NOTHING_HELD",
    [INTENT_TOO_MANY] = "TOO_MANY",
    [INTENT_STOP_STAYS] = "STOP_STAYS",
    [INTENT_NO_SHORTS] = "NO_SHORTS",
    [INTENT_BAD_ORDER] = "BAD_ORDER",
    [INTENT_BAD_QTY] = "BAD_QTY",
    [INTENT_BAD_TRAIL] = "BAD_TRAIL",
    [INTENT_NOTHING_WORKS] = "NOTHING_WORKS",
    [INTENT_BAD_SYMBOL] = "BAD_SYMBOL",
    [INTENT_NO_BAR] = "NO_BAR",
};

static double price_of(const struct intent *intent, const struct strategy_input *input)
{
    return intent_enters(intent->kind) && intent->limit > 0 ? intent->limit : input->close;
}

/* Is it of a short, or opens one? */
static bool is_short(const struct intent *intent, const struct strategy_input *input)
{
    return intent->kind == INTENT_SHORT || (intent->kind == INTENT_STOP && input->qty < 0);
}

/* Is it below `price`, or `above` it? */
static bool on_side(double number, double price, bool above)
{
    return above ? number > price : number < price;
}

/* 0, or a number above it. */
static bool is_price(double number)
{
    return isfinite(number) && number >= 0;
}

static enum intent_fault check_target(const struct intent *intent, const struct strategy_input *input)
{
    if (intent->fraction < 0 && !input->shorts)
        return INTENT_NO_SHORTS;
    return fabs(intent->fraction) <= intent_most(input) ? INTENT_FITS : INTENT_BAD_FRACTION;
}

static enum intent_fault check_exit(const struct intent *intent, const struct strategy_input *input)
{
    if (input->qty == 0)
        return INTENT_NOTHING_HELD;
    return intent->fraction >= 0 && intent->fraction <= 1 ? INTENT_FITS : INTENT_BAD_FRACTION;
}

static enum intent_fault check_entry(const struct intent *intent, const struct strategy_input *input)
{
    bool sells = intent->kind == INTENT_SHORT;
    if (sells && !input->shorts)
        return INTENT_NO_SHORTS;
    if (!(intent->fraction > 0 && intent->fraction <= intent_most(input)))
        return INTENT_BAD_FRACTION;
    if (!is_price(intent->limit))
        return INTENT_BAD_LIMIT;
    double price = price_of(intent, input);
    if (!is_price(intent->stop) || (intent->stop > 0 && !on_side(intent->stop, price, sells)))
        return INTENT_BAD_STOP;
    if (!is_price(intent->profit) || (intent->profit > 0 && !on_side(intent->profit, price, !sells)))
        return INTENT_BAD_PROFIT;
    if (intent->limit > 0 && intent->good_ns != 0 && intent->good_ns <= input->ts_ns)
        return INTENT_BAD_TIME;
    return INTENT_FITS;
}

enum intent_fault intent_check(const struct intent *intent, const struct strategy_input *input)
{
    switch (intent->kind) {
    case INTENT_ENTER:
    case INTENT_SHORT:
        return check_entry(intent, input);
    case INTENT_EXIT:
        return check_exit(intent, input);
    case INTENT_STOP:
        if (input->qty == 0)
            return INTENT_NOTHING_HELD;
        return is_price(intent->stop) && intent->stop > 0 &&
                       on_side(intent->stop, input->close, input->qty < 0)
                   ? INTENT_FITS
                   : INTENT_BAD_STOP;
    case INTENT_TARGET:
        return check_target(intent, input);
    case INTENT_ORDER:
        return intent_check_order(intent, input);
    case INTENT_CANCEL:
        return input->orders > 0 ? INTENT_FITS : INTENT_NOTHING_WORKS;
    case INTENT_KINDS:
        break;
    }
    return INTENT_BAD_KIND;
}

const char *intent_kind_name(enum intent_kind kind)
{
    return (size_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind] : "unknown";
}

const char *intent_fault_name(enum intent_fault fault)
{
    return (unsigned)fault < INTENT_FAULTS ? faults[fault] : "";
}

static int fraction_text(const struct intent *intent, const struct strategy_input *input, char *buf,
                         size_t cap)
{
    const char *kind = intent_kind_name(intent->kind);
    double fraction = intent->fraction;
    if (intent->kind == INTENT_EXIT)
        return snprintf(buf, cap, "%s: fraction %.10g of the position is not from 0 to 1", kind, fraction);
    if (intent->kind == INTENT_TARGET && input->shorts)
        return snprintf(buf, cap, "%s: fraction %.10g is not from %.10g to %.10g", kind, fraction,
                        -intent_most(input), intent_most(input));
    return snprintf(buf, cap, "%s: fraction %.10g is not %s 0 and at most %.10g", kind, fraction,
                    intent->kind == INTENT_TARGET ? "at least" : "above", intent_most(input));
}

size_t intent_fault_text(enum intent_fault fault, const struct intent *intent,
                         const struct strategy_input *input, char *buf, size_t cap)
{
    double price = price_of(intent, input);
    bool of_short = is_short(intent, input);
    const char *kind = intent_kind_name(intent->kind);
    int n = 0;
    bool of_round = fault == INTENT_TOO_MANY || fault == INTENT_BAD_SYMBOL || fault == INTENT_NO_BAR;
    if (intent->kind == INTENT_ORDER && !of_round) {
        n = intent_order_text(fault, intent, input, buf, cap);
        return n < 0 ? 0 : (size_t)n;
    }
    switch (fault) {
    case INTENT_BAD_KIND:
        n = snprintf(buf, cap, "%d is no kind of intent", (int)intent->kind);
        break;
    case INTENT_BAD_FRACTION:
        n = fraction_text(intent, input, buf, cap);
        break;
    case INTENT_BAD_LIMIT:
        n = snprintf(buf, cap, "%s: limit %.10g is no price", kind, intent->limit);
        break;
    case INTENT_BAD_STOP:
        n = snprintf(buf, cap, "%s: stop %.10g is not %s the price %.10g", kind, intent->stop,
                     of_short ? "above" : "below", price);
        break;
    case INTENT_BAD_PROFIT:
        n = snprintf(buf, cap, "%s: profit %.10g is not %s the price %.10g", kind, intent->profit,
                     of_short ? "below" : "above", price);
        break;
    case INTENT_BAD_TIME:
        n = snprintf(buf, cap, "%s: its limit is good until %lld s before the bar's close", kind,
                     (long long)(input->ts_ns - intent->good_ns) / 1000000000);
        break;
    case INTENT_NOTHING_HELD:
        n = snprintf(buf, cap, "%s: nothing is held", kind);
        break;
    case INTENT_TOO_MANY:
        n = snprintf(buf, cap, "it asks for more than %d things at one bar", STRATEGY_INTENTS_MAX);
        break;
    case INTENT_STOP_STAYS:
        n = snprintf(buf, cap, "%s: %.10g is refused: no market is seen, or a filter forbids it", kind,
                     intent->stop);
        break;
    case INTENT_NO_SHORTS:
        n = snprintf(buf, cap, "%s: its account may not be short of it", kind);
        break;
    case INTENT_NOTHING_WORKS:
        n = snprintf(buf, cap, "%s: none of its orders works", kind);
        break;
    case INTENT_BAD_SYMBOL:
        n = snprintf(buf, cap, "%s: symbol %d is none of the account's, 0 to %d", kind, intent->symbol,
                     input->n_peers - 1);
        break;
    case INTENT_NO_BAR:
        n = snprintf(buf, cap, "%s: its bar of this time is missing", kind);
        break;
    case INTENT_BAD_ORDER:
    case INTENT_BAD_QTY:
    case INTENT_BAD_TRAIL:
    case INTENT_FITS:
    case INTENT_FAULTS:
        break;
    }
    return n < 0 ? 0 : (size_t)n;
}
