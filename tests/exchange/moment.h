/* Moments as bars files spell them, for tests. */
#ifndef TESTS_EXCHANGE_MOMENT_H
#define TESTS_EXCHANGE_MOMENT_H

#include "exchange/bars_file.h"
#include "tests/check.h"

/* As 2025-11-28T14:30:00Z, in ns. */
static inline int64_t at(const char *text)
{
    int64_t ns = 0;
    CHECK_INT(bars_time_parse(text, strlen(text), &ns), 0);
    return ns;
}

#endif
