#include "record/order.h"

#include "exchange/fill.h"
#include "record/words.h"

#define ROW struct order
static const struct record_field order_fields[] = {RECORD_FIELDS(RECORD_ORDER)};
const struct record record_orders = RECORD_OF("orders", order_fields);
#undef ROW

#define ROW struct fill
static const struct record_field fill_fields[] = {RECORD_FIELDS(RECORD_FILL)};
const struct record record_fills = RECORD_OF("fills", fill_fields);
#undef ROW
