/* How much of a test that draws cases or sweeps them a build runs. Under a sanitizer a case takes three to
 * fifteen times as long: a part of them runs there, which passes each line of code, and all in the release
 * build. */
#ifndef TESTS_COUNTS_H
#define TESTS_COUNTS_H

#include <stdbool.h>
#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_PART true
#else
#define COUNTS_PART false
#endif

/* Of so many, `part` under a sanitizer; says so in a line that ./check repeats. */
static inline int counts_of(const char *what, int all, int part)
{
    if (!COUNTS_PART)
        return all;
    printf("counts: %d %s (without a sanitizer: %d)\n", part, what, all);
    return part;
}

#endif
