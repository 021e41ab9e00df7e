#include "record/market.h"

#include "exchange/bar.h"

#define ROW struct bar
const struct record record_bars = RECORD_LIST("bars", RECORD_BAR);
#undef ROW
