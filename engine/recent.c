#include <errno.h>
#include <stdlib.h>

#include "engine/core.h"

int engine_recent_push(struct recent_bars *recent, const struct bar *bar)
{
    if (recent->n == RECENT_BARS_MAX) {
        recent->bars[recent->first] = *bar;
        recent->first = (recent->first + 1) % RECENT_BARS_MAX;
        return 0;
    }
    if (recent->n == recent->cap) {
        uint32_t cap = recent->cap ? 2 * recent->cap : 64;
        if (cap > RECENT_BARS_MAX)
            cap = RECENT_BARS_MAX;
        struct bar *moved = realloc(recent->bars, cap * sizeof *moved);
        if (!moved)
            return -ENOMEM;
        recent->bars = moved;
        recent->cap = cap;
    }
    recent->bars[recent->n++] = *bar;
    return 0;
}

const struct bar *engine_recent_bar(const struct recent_bars *recent, uint32_t i)
{
    return &recent->bars[(recent->first + i) % RECENT_BARS_MAX];
}

void engine_recent_finish(struct recent_bars *recent)
{
    free(recent->bars);
    *recent = (struct recent_bars){0};
}
