/* What interval the rows of a bars file have; bars_file_set_interval() finds the gaps. */
#ifndef EXCHANGE_BARS_GAPS_H
#define EXCHANGE_BARS_GAPS_H

#include "exchange/bars_file.h"

/* BAR_MONTH_NS for rows that open with a month each, two of them with months that follow each other; else the
 * difference of more than half of the rows (Boyer and Moore's vote), else the smallest; 0 for fewer than
 * two. */
int64_t bars_gaps_interval(const struct bars_file *file);

#endif
