/* The rates of an account as keys: [account NAME] of papertaped.ini, account create, --fees; what one of them
 * takes the others take. */
#ifndef ENGINE_ACCOUNT_KEYS_H
#define ENGINE_ACCOUNT_KEYS_H

#include "record/config_key.h"

/* ROW(member, name, default, sentence), of a struct fee_rates */
#define ACCOUNT_FEE_KEYS(ROW) \
    ROW(maker_e6, "fee_maker", "0.001", "of the notional of a fill that waited in the book: 0.001 is 0.1 %") \
    ROW(taker_e6, "fee_taker", "0.001", "of the notional of a fill that took from the book")
#define ACCOUNT_FEE .min = 0, .max = 0.1, .scale = 6, .share = true

#endif
