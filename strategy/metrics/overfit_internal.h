/* Of overfit.c and overfit_splits.c alone. */
#ifndef STRATEGY_METRICS_OVERFIT_INTERNAL_H
#define STRATEGY_METRICS_OVERFIT_INTERNAL_H

#include "strategy/metrics/overfit.h"

/* Fills lambda, in_sample, out_of_sample and chosen of each split, which have room, and adds to pbo. 20 us a
 * column at 16 blocks, of any number of columns. 0 or -ENOMEM. */
int overfit_split_all(const struct overfit_blocks *of, struct overfit *ret);

#endif
