#include "trainer/study/draw.h"

#include <math.h>

#include "trainer/env/philox.h"

struct draw sampler_draw_begin(uint64_t seed, int number)
{
    return (struct draw){.seed = seed, .number = (uint32_t)number};
}

static double open_interval(uint32_t high, uint32_t low)
{
    return ((double)(((uint64_t)high << 32 | low) >> 12) + 0.5) * 0x1p-52;
}

double sampler_draw_uniform(struct draw *draw)
{
    if (draw->has_second) {
        draw->has_second = false;
        return draw->second;
    }
    struct philox block = philox(draw->seed, draw->next++, draw->number, 0, (uint32_t)STUDY_DRAW << 24);
    draw->second = open_interval(block.word[2], block.word[3]);
    draw->has_second = true;
    return open_interval(block.word[0], block.word[1]);
}

int sampler_draw_below(struct draw *draw, int n)
{
    int i = (int)(sampler_draw_uniform(draw) * n);
    return i < n ? i : n - 1;
}

double sampler_draw_normal(struct draw *draw)
{
    double radius = sqrt(-2 * log(sampler_draw_uniform(draw)));
    return radius * cos(2 * M_PI * sampler_draw_uniform(draw));
}
