/* Returns by month as text. */
#ifndef CLI_MONTHS_H
#define CLI_MONTHS_H

#include <stdio.h>

#include "strategy/metrics.h"

/* Prints "return by month, %" and a row a year, of 80 columns: n > 0 months, ascending; n/a of NaN. */
void cli_months_print(const struct metrics_month *months, size_t n, FILE *out);

#endif
