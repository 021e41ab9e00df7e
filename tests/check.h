/* Macros of the test programs. A test program is a plain executable: it prints what fails, continues, and
 * check_done() turns the count into its exit status. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_SKIP = 77 }; /* Meson reads this exit status as SKIP */

static unsigned long check_count, check_failures;

#define CHECK(condition) \
    ((void)(check_count++, \
            (condition) || \
                (check_failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), 0)))

#define CHECK_INT(value, expected) \
    do { \
        intmax_t check_v = (intmax_t)(value), check_e = (intmax_t)(expected); \
        check_count++; \
        if (check_v != check_e) { \
            check_failures++; \
            fprintf(stderr, "%s:%d: %s is %jd, not %jd\n", __FILE__, __LINE__, #value, check_v, check_e); \
        } \
    } while (0)

#define CHECK_STR(value, expected) \
    do { \
        const char *check_v = (value), *check_e = (expected); \
        check_count++; \
        if (!check_v || strcmp(check_v, check_e) != 0) { \
            check_failures++; \
            fprintf(stderr, "%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #value, \
                    check_v ? check_v : "(null)", check_e); \
        } \
    } while (0)

/* NaN never passes. */
#define CHECK_NEAR(value, expected, tolerance) \
    do { \
        double check_v = (value), check_e = (expected); \
        check_count++; \
        if (!(fabs(check_v - check_e) <= (tolerance))) { \
            check_failures++; \
            fprintf(stderr, "%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #value, check_v, \
                    check_e); \
        } \
    } while (0)

static inline int check_done(const char *name)
{
    printf("%s: %lu checks, %lu failed\n", name, check_count, check_failures);
    return check_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
