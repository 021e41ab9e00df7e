#include "record/words.h"

#include "exchange/fill.h"
#include "exchange/margin.h"
#include "exchange/order.h"
#include "exchange/trading_calendar.h"
#include "record/ledger_cause.h"
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
WORDS(ledger_cause_kind, CAUSE_KINDS);
WORDS(fill_basis, FILL_BASES);

const struct record_words record_words_session_choice = {.n = SESSION_CHOICES, .names = session_choice_names};
const struct record_words record_words_margin = {.n = MARGIN_KINDS, .names = margin_kind_names};
const struct record_words record_words_day_trader = {.n = DAY_TRADER_RULES, .names = margin_day_trader_names};
const struct record_words record_words_settlement = {.n = SETTLEMENT_RULES, .names = margin_settlement_names};
