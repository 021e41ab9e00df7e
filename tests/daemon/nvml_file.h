/* A fake NVML's file, and what a device's sample says. */
#ifndef TESTS_DAEMON_NVML_FILE_H
#define TESTS_DAEMON_NVML_FILE_H

#include <math.h>
#include <stdlib.h>

#include "record/device.h"
#include "tests/scratch.h"

/* The fake library's file, which has these lines from now on. */
static inline void fake(const char *lines)
{
    const char *path = scratch_path("fake"), *next = scratch_write("next", lines);
    if (rename(next, path) < 0)
        abort();
    if (!getenv("PAPERTAPE_FAKE_NVML"))
        setenv("PAPERTAPE_FAKE_NVML", path, 1); /* once, before there are threads */
}

enum {
#define POSITION(name) AT_##name,
    RECORD_DEVICE_FIGURES(POSITION)
#undef POSITION
        FIGURES,
    KNOWN_ALL = (1 << FIGURES) - 1,
};
#define BIT(name) (1U << AT_##name)

/* The figures that are known, a bit each, in the order of the list. */
static inline unsigned known_of(const struct device_sample *device)
{
    unsigned known = 0, bit = 1;
#define TAKE(name) \
    known |= isnan(device->figures.name) ? 0 : bit; \
    bit <<= 1;
    RECORD_DEVICE_FIGURES(TAKE)
#undef TAKE
    return known;
}

#endif
