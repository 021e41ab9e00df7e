/* A refusal of the risk gate in words: the limit's key and value, and the facts that were outside of it. */
#ifndef STRATEGY_RISK_WORDS_H
#define STRATEGY_RISK_WORDS_H

#include "exchange/filter_words.h"
#include "strategy/risk.h"

/* What the facts' numbers are in. */
struct risk_units {
    const struct symbol *symbol;
    const char *currency; /* of the account … */
    int scale;            /* … and its decimals */
};

/* "the exposure limit would be passed: 6000 USDT ordered, with 0 of BTCUSDT held and on order, are above
 * 5000, 0.5 of equity 10000 (exposure_symbol)", in `words`, of the facts that such limits refused; NULL: the
 * reason is no limit's, or its account was killed before and is not at it now: its own words are all. */
const char *risk_words(enum order_reason reason, const struct risk_limits *limits,
                       const struct risk_facts *facts, const struct risk_units *units,
                       char words[static ORDER_WORDS_MAX]);

#endif
