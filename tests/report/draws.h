/* Numbers for the tests of this folder: even ones of [0, 1), and such that are often near 0 and sometimes
 * far. */
#ifndef TESTS_REPORT_DRAWS_H
#define TESTS_REPORT_DRAWS_H

#include "tests/random.h"

static inline double draw_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static inline double draw_bell(struct random *random)
{
    return draw_unit(random) + draw_unit(random) + draw_unit(random) + draw_unit(random) - 2;
}

#endif
