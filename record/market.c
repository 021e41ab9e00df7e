#include "record/market.h"

#include "exchange/bar.h"

#define ROW struct bar
static const struct record_field bar_fields[] = {RECORD_FIELDS(RECORD_BAR)};
const struct record record_bars = RECORD_OF("bars", bar_fields);
#undef ROW
