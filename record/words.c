#include "record/words.h"

#include "exchange/order.h"
#include "record/ledger_row.h"

#define WORDS(of, n) \
    static const char *name_of_##of(int value) \
    { \
        return of##_name((enum of)value); \
    } \
    const struct record_words record_words_##of = {n, name_of_##of, of##_parse}

WORDS(order_side, ORDER_SELL + 1);
WORDS(order_type, ORDER_TYPES);
WORDS(order_tif, ORDER_TIFS);
WORDS(order_state, ORDER_STATES);
WORDS(order_reason, ORDER_REASONS);
WORDS(ledger_kind, LEDGER_KINDS);
