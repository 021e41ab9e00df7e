/* The rows of what became of dividends and of rates by volume, as they are stored, shown and compared. */
#ifndef ENGINE_CHARGE_RECORD_H
#define ENGINE_CHARGE_RECORD_H

#include "engine/account.h"
#include "record/field.h"

extern const struct record engine_record_receivables; /* of struct receivable_row */
extern const struct record engine_record_fee_rates;   /* of struct fee_rate_change */
extern const struct record_words engine_words_receivable_kind;

#endif
