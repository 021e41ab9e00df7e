/* What is compiled for each instruction set: lanes_set.c. */
#ifndef ENGINE_BACKTEST_SCREEN_SET_H
#define ENGINE_BACKTEST_SCREEN_SET_H

#include "engine/backtest/screen/abreast.h"

enum { SCREEN_PADDING = 64 };

/* A group over a stretch; before the first traded bar it only remembers. */
typedef void screen_walk_function(const struct screen_stretch *stretch, struct screen_group *g, bool traded);

/* Simple averages of the closes, less the close, of bars [at, at + n): periods ascending, a column each. */
struct screen_averages {
    const double *close; /* of all bars, and SCREEN_PADDING readable ones behind */
    size_t at, n;
    const uint32_t *periods;
    float *out; /* [n_columns][stride]; bars before the first mean are left as they are */
    size_t n_columns, stride;
};

struct screen_set {
    void (*averages)(const struct screen_averages *averages);
    /* Sixteen columns as n rows of sixteen. */
    void (*tile)(const float *const columns[SCREEN_LANES], size_t n, float *to);
    screen_walk_function *walk[SCREEN_RULES];
};

#endif
