/* The limits of a strategy: its parameters, indicators, intents and memory. */
#ifndef STRATEGY_PARAMS_H
#define STRATEGY_PARAMS_H

enum {
    STRATEGY_PARAMS_MAX = 32,
    STRATEGY_SPECS_MAX = 64,
    STRATEGY_SPEC_TEXT = 128, /* PAPERTAPE_SPEC_TEXT: a shared object's too */
    STRATEGY_WORD_MAX = 32,   /* a parameter's word, or a number as text */
    STRATEGY_WORDS_MAX = 128,
    STRATEGY_INTENTS_MAX = 8,
    STRATEGY_STATE_SIZE = 256, /* bytes of state that a strategy has unless it names a size */
    STRATEGY_STATE_MAX = 65536,
    /* Of texts of a strategy from outside, with the NUL: one with a longer one is refused when it is opened.
     */
    STRATEGY_SOURCE_MAX = 512,
    STRATEGY_NAME_MAX = STRATEGY_SOURCE_MAX + 8, /* with "lib:" or "exec:" */
    STRATEGY_TITLE_MAX = 64,
    STRATEGY_PARAM_NAME_MAX = 32,
    STRATEGY_SUMMARY_MAX = 160, /* of the strategy, and of a parameter */
};

#endif
