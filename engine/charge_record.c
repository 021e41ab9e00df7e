#include "engine/charge_record.h"

#include "record/account.h"

static const char *const receivable_kinds[RECEIVABLE_KINDS] = {
    [RECEIVABLE_BOOKED] = "booked", [RECEIVABLE_PAID] = "paid", [RECEIVABLE_WRITTEN_OFF] = "written-off"};

const struct record_words engine_words_receivable_kind = {.n = RECEIVABLE_KINDS, .names = receivable_kinds};

#define ROW struct receivable_row
const struct record engine_record_receivables = RECORD_LIST("receivables", RECORD_RECEIVABLES);
#undef ROW

#define ROW struct fee_rate_change
const struct record engine_record_fee_rates = RECORD_LIST("fee_rates", RECORD_FEE_RATES);
#undef ROW
