/* What a trading strategy is: a row with a name, parameters and the indicators that it reads, and a function
 * called at each closed bar that says what it wants. It sees numbers and answers intents; it never touches
 * an account, a book or a clock. */
#ifndef STRATEGY_STRATEGY_H
#define STRATEGY_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STRATEGY_PARAMS_MAX = 16,
    STRATEGY_SPECS_MAX = 8,
    STRATEGY_SPEC_TEXT = 48,
    STRATEGY_INTENTS_MAX = 4,
    STRATEGY_STATE_SIZE = 256,
};

struct strategy_param {
    const char *name, *summary;
    double fallback, min, max;
    bool integer;
};

/* At a closed bar, of one symbol and account. Prices and quantities are plain numbers here. */
struct strategy_input {
    int64_t ts_ns;                         /* the bar's close */
    double open, high, low, close, volume; /* the bar */
    const double *indicators; /* one value an output, in the order of the specs; NaN while warming up */
    double qty;               /* held; negative: owed */
    double entry;             /* average price paid, or received for what is owed; 0 when flat */
    double equity, cash;      /* of the account, in its currency */
    bool live_orders;         /* an order of this symbol is still working (stops apart) */
    double stop;              /* price of the protective stop that rests; 0 for none */
};

enum intent_kind {
    INTENT_ENTER, /* buy for `fraction` of equity at market; then rest a stop at `stop` when it is not 0 */
    INTENT_EXIT,  /* sell all at market, or buy back what is owed; the stop ends with the position */
    INTENT_STOP,  /* move the protective stop to `stop` */
};

struct intent {
    enum intent_kind kind;
    double fraction; /* ENTER: 0..1 */
    double stop;     /* ENTER, STOP: price */
    const char *why; /* static text, recorded with the order */
};

struct strategy {
    const char *name, *summary;
    const struct strategy_param *params;
    size_t n_params;
    /* NULL, or why these parameters, each within its range, contradict each other: static text that names
     * one. No function: they never do. */
    const char *(*check)(const double *params);
    /* Writes the indicator specs for these parameters ("sma:20"); returns how many. */
    size_t (*specs)(const double *params, char specs[][STRATEGY_SPEC_TEXT]);
    /* Decides. `state` is STRATEGY_STATE_SIZE bytes, zeroed at the start, 8-aligned, the strategy's own.
     * Returns the number of intents written (at most STRATEGY_INTENTS_MAX). */
    size_t (*on_bar)(const double *params, void *state, const struct strategy_input *input,
                     struct intent *intents);
};

/* All strategies, sorted by name. */
const struct strategy *const *strategy_list(size_t *ret_n);

/* By name, or NULL. */
const struct strategy *strategy_find(const char *name);

/* Fills params with the defaults. */
void strategy_defaults(const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX]);

/* Sets one parameter from text. 0; -ENOENT for an unknown name; -EINVAL not a number (or not whole); -ERANGE
 * outside its range. */
int strategy_set(const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX], const char *name,
                 const char *text);

#endif
