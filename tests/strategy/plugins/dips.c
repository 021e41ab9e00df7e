/* Orders of every kind that an outside strategy may give: a limit below the price, a stop limit above it, a
 * trailing stop, exits of a share, cancels. dips.cpp and dips.py are the same as processes. */
#include <math.h>
#include <papertape/strategy.h>
#include <stdio.h>

enum { PERIOD, SHARE };

static const struct papertape_param params[] = {
    [PERIOD] = {"period", "bars of the average", 20, 2, 500, 1, 0, NULL},
    [SHARE] = {"share", "of equity in a position", 0.4, 0.01, 1, 0, 0, NULL},
};

static size_t specs(const double *p, char out[][PAPERTAPE_SPEC_TEXT])
{
    snprintf(out[0], PAPERTAPE_SPEC_TEXT, "sma:%.0f", p[PERIOD]);
    return 1;
}

static void buy(const double *p, const struct papertape_input *bar, double average,
                struct papertape_intent *order)
{
    order->kind = PAPERTAPE_ORDER;
    order->side = PAPERTAPE_BUY;
    if (bar->close > average) {
        order->type = PAPERTAPE_LIMIT;
        order->fraction = p[SHARE] * bar->leverage;
        order->limit = bar->close * 0.998;
        order->tif = PAPERTAPE_GTD;
        order->good_ns = bar->ts_ns + 6 * bar->interval_ns;
        order->why = "dip";
    } else {
        order->type = PAPERTAPE_STOP_LIMIT;
        order->size = PAPERTAPE_OF_UNITS;
        order->qty = 0.25 * bar->equity / bar->close;
        order->stop = average * 1.0005;
        order->limit = average * 1.002;
        order->why = "breakout";
    }
}

static size_t hold(const struct papertape_input *bar, struct papertape_intent *intents)
{
    size_t n = 0;
    if (bar->close > bar->entry * 1.004 && bar->qty * bar->close > 0.2 * bar->equity) {
        intents[n].kind = PAPERTAPE_EXIT;
        intents[n].fraction = 0.5;
        intents[n++].why = "half";
    }
    if (bar->orders == 0) {
        intents[n].kind = PAPERTAPE_ORDER;
        intents[n].side = PAPERTAPE_SELL;
        intents[n].type = PAPERTAPE_TRAILING_STOP;
        intents[n].size = PAPERTAPE_OF_POSITION;
        intents[n].fraction = 1;
        intents[n].trail_share = 0.006;
        intents[n].reduce_only = 1;
        intents[n++].why = "trail";
    }
    return n;
}

static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    double average = bar->indicators[0];
    (void)state;
    if (isnan(average))
        return 0;
    if (bar->qty > 0)
        return hold(bar, intents);
    if (bar->orders == 0) {
        buy(p, bar, average, &intents[0]);
        return 1;
    }
    if (bar->close > average * 0.997)
        return 0;
    intents[0].kind = PAPERTAPE_CANCEL;
    intents[0].why = "away";
    return 1;
}

static const struct papertape_strategy table = {
    .size = sizeof table,
    .version = PAPERTAPE_STRATEGY_VERSION,
    .name = "dips",
    .summary = "buys below and above, and sells behind",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .param_size = sizeof *params,
    .specs = specs,
    .on_bar = on_bar,
};

const struct papertape_strategy *papertape_strategy_v1(void)
{
    return &table;
}
