#include "exchange/alpaca/format.h"

#include "exchange/alpaca/fees.h"

const struct venue_format alpaca_format = {.name = "alpaca", .fees = &alpaca_fees};
