#include "record/order.h"

#include "exchange/fill.h"
#include "record/words.h"

#define ROW struct order
static const struct record_field order_fields[] = {RECORD_FIELDS(RECORD_ORDER)};
#undef ROW
#define ROW struct fill
static const struct record_field fill_fields[] = {RECORD_FIELDS(RECORD_FILL)};
#undef ROW

const struct record record_orders = {"orders", order_fields, sizeof order_fields / sizeof *order_fields};
const struct record record_fills = {"fills", fill_fields, sizeof fill_fields / sizeof *fill_fields};
