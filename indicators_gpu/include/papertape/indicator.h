/* Indicators as a shared object, for papertape: `lib:FILE.so:NAME:options` wherever a SPEC is read.
 *
 * A file exports one function, papertape_indicator_v1(), which returns a table: name, options with their
 * ranges, outputs, how many bars come before the first output, and a function that takes one bar after the
 * other. Papertape does the rest: it checks the bars, leaves outputs empty while warming up, and computes
 * higher timeframes. docs/plugins.md explains it with an example.
 *
 * Version 1. A table begins with its size, and may be shorter than the program's: members that are not within
 * it are not there. Nothing is ever moved or removed without another version, which a program that does not
 * know it refuses to load. C11 and C++11; it includes <stddef.h> and <stdint.h> alone. */
#ifndef PAPERTAPE_INDICATOR_H
#define PAPERTAPE_INDICATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAPERTAPE_INDICATOR_VERSION 1

/* A warm-up that never ends. */
#define PAPERTAPE_FOREVER SIZE_MAX

/* Bits of `inputs`: what it reads of a bar. */
enum papertape_input_bit {
    PAPERTAPE_OPEN = 1,
    PAPERTAPE_HIGH = 2,
    PAPERTAPE_LOW = 4,
    PAPERTAPE_CLOSE = 8,
    PAPERTAPE_VOLUME = 16,
    PAPERTAPE_TIME = 32,
};

/* One closed bar: prices in quote units, volume in base units, time of its opening in seconds since 1970 UTC.
 * Only what `inputs` names is set; all of that is finite. */
struct papertape_bar {
    double open, high, low, close, volume, time;
};

/* The same as columns of n bars, oldest first; those that `inputs` does not name are NULL. */
struct papertape_bars {
    const double *open, *high, *low, *close, *volume, *time;
};

struct papertape_option {
    const char *name;
    double value;    /* when the text leaves it out */
    double min, max; /* both allowed; 0 or more, since a SPEC has no signs */
    uint32_t whole;  /* whole numbers only */
    uint32_t reserved;
};

struct papertape_indicator {
    uint32_t size;                          /* sizeof(struct papertape_indicator) */
    uint32_t version;                       /* PAPERTAPE_INDICATOR_VERSION */
    const struct papertape_indicator *next; /* another one of the same file; NULL: there is none */
    const char *name;                       /* lower case letters, digits, _ */
    const char *summary;                    /* one line */
    uint32_t inputs;                        /* enum papertape_input_bit */
    uint32_t n_options;                     /* at most 4 */
    const struct papertape_option *options;
    uint32_t n_outputs; /* 1 to 4 */
    uint32_t reserved;
    const char *const *outputs; /* their names, behind a point in a column's; "" of an only one */

    /* Bars before the first output: 19 of a mean of 20. Pure, as are the next two; options are within their
     * ranges. */
    size_t (*lookback)(const double *options);

    /* NULL: the lookback. Else bars after which the beginning of the history no longer matters, or
     * PAPERTAPE_FOREVER. */
    size_t (*warmup)(const double *options);

    /* Bytes of memory between bars. */
    size_t (*state_size)(const double *options);

    /* Takes one bar. `state` is 16-aligned and zeroed at the start; it is copied, saved and loaded as bytes:
     * no pointers. Writes all outputs, each finite, from bar `lookback` on (the first is 0); what it writes
     * before is ignored. The only memory is the state, so that a stream, a backtest and a replay agree. */
    void (*update)(const double *options, void *state, const struct papertape_bar *bar, double *outputs);

    /* NULL: bar by bar. Else the same over columns, bars lookback to n - 1, n > lookback, to the bit. */
    void (*batch)(const double *options, const struct papertape_bars *bars, size_t n, double *const *outputs);
};

#if defined(__GNUC__)
#define PAPERTAPE_INDICATOR_EXPORT __attribute__((visibility("default")))
#else
#define PAPERTAPE_INDICATOR_EXPORT
#endif

/* What a file exports. The table, and all that it points to, stay as they are for the process's life. */
PAPERTAPE_INDICATOR_EXPORT const struct papertape_indicator *papertape_indicator_v1(void);

#ifdef __cplusplus
}
#endif

#endif
