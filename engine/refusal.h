/* Why an order or an amend was refused, in words with its numbers: what was needed and available, the bounds
 * of a filter. To be asked right after the refusal, before the engine takes another event. */
#ifndef ENGINE_REFUSAL_H
#define ENGINE_REFUSAL_H

#include "engine/engine.h"
#include "exchange/filter_words.h"

/* Of an order: what its account lacks, its risk limit's or its filter's bounds (in `words`), or the venue's
 * rule; NULL: the reason's own words (exchange/order_reason.h) are all. The legs have an account and a
 * symbol; what is lacked is that of the first leg that lacks anything. A risk limit's figures are those of
 * the last order that the gate refused: ask before the next event or dry run. */
const char *engine_refusal_words(const struct engine *engine, enum order_reason reason,
                                 const struct order *legs, int n_legs, char words[static ORDER_WORDS_MAX]);

/* Of an amend: the bounds of the limit or filter that refused it; NULL: none did. */
const char *engine_refusal_of_amend(const struct engine *engine, enum order_reason reason,
                                    const struct order_amend *amend, char words[static ORDER_WORDS_MAX]);

/* "the account does not hold enough: 500.25 USDT needed, 200 available". Returns words. */
const char *engine_refusal_lack_words(const struct engine *engine, int account, enum order_reason reason,
                                      const struct engine_lack *lack, char words[static ORDER_WORDS_MAX]);

#endif
