/* The enumerations of records, by the names of their values. */
#ifndef RECORD_WORDS_H
#define RECORD_WORDS_H

#include "record/field.h"

extern const struct record_words record_words_order_side, record_words_order_type, record_words_order_tif,
    record_words_order_state, record_words_order_reason, record_words_ledger_kind,
    record_words_ledger_cause_kind, record_words_session_choice, record_words_margin, record_words_day_trader,
    record_words_settlement, record_words_fill_basis;

#endif
