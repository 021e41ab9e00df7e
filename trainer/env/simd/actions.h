/* A step's actions in lanes, whichever way they lie. */
#ifndef TRAINER_ENV_SIMD_ACTIONS_H
#define TRAINER_ENV_SIMD_ACTIONS_H

#include "trainer/env/simd/lanes.h"
#include "trainer/env/view.h"

/* n numbers of each row, in turn to ret[0..n-1]; `padded`: rows may be read to the next multiple of four. */
LANES_INLINE void lane_rows(const float *const row[LANES], int32_t n, bool padded, lane_f *ret)
{
    if (!padded && n < 4) {
        for (int32_t k = 0; k < n; k++)
            for (int j = 0; j < LANES; j++)
                ((float *)&ret[k])[j] = row[j][k];
        return;
    }
    for (int32_t i = 0; i < n; i += 4) {
        int32_t from = padded || i + 4 <= n ? i : n - 4; /* again what was read, rather than past the row */
        const float *part[LANES];
        lane_f four[4];
        for (int j = 0; j < LANES; j++)
            part[j] = row[j] + from;
        f_rows(part, four);
        for (int32_t k = 0; k < 4 && from + k < n; k++)
            ret[from + k] = four[k];
    }
}

/* Actions of copies [first, first + LANES), of those from `end` on any; ret [n]. */
LANES_INLINE void lane_actions(const struct env_step_io *io, size_t first, size_t end, int32_t n, lane_f *ret)
{
    if (first + LANES <= end && io->copy_step == 1) {
        for (int32_t i = 0; i < n; i++)
            ret[i] = f_load(io->actions + first + (size_t)i * io->action_step);
        return;
    }
    const float *row[LANES];
    for (size_t j = 0; j < LANES; j++)
        row[j] = io->actions + (first + j < end ? first + j : first) * io->copy_step;
    if (io->action_step == 1) {
        lane_rows(row, n, false, ret);
        return;
    }
    for (int32_t i = 0; i < n; i++)
        for (int j = 0; j < LANES; j++)
            ((float *)&ret[i])[j] = row[j][(size_t)i * io->action_step];
}

/* env_action(). */
LANES_INLINE lane_f lane_action(const struct env_params *p, lane_f given)
{
    if (p->actions == ENV_DISCRETE) {
        float middle = (float)(p->levels / 2);
        given = (given - f_all(middle)) * f_all((float)(p->action_span / (double)(p->levels / 2)));
    }
    const lane_f high = f_all((float)POLICY_ACTION_MAX);
    return f_max(f_min(given, high), -high);
}

#endif
