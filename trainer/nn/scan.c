#include <string.h>

#include "strategy/clones.h"
#include "trainer/nn/activate.h"
#include "trainer/nn/work.h"

CLONES static void REAL(scan_steps)(const struct REAL(nn_scan) * scan)
{
    const size_t units = (size_t)scan->units;
    for (size_t r = 0; r < scan->rows; r++) {
        const size_t sequence = r / scan->steps;
        real *z = scan->gates + r * scan->gates_stride, *c = z + units;
        real *h = scan->state + r * scan->state_stride;
        const real *before = r % scan->steps ? h - scan->state_stride
                             : scan->hidden  ? scan->hidden + sequence * scan->hidden_stride
                                             : NULL;
        if (scan->starts && scan->starts[r])
            before = NULL;
        for (size_t i = 0; i < units; i++)
            z[i] = real_sigmoid(z[i]);
        for (size_t i = 0; i < units; i++)
            h[i] = before ? (1 - z[i]) * before[i] + z[i] * c[i] : z[i] * c[i];
        if (scan->ret_hidden && r % scan->steps == scan->steps - 1)
            memcpy(scan->ret_hidden + sequence * scan->hidden_stride, h, units * sizeof *h);
    }
}

CLONES static void REAL(scan_steps_back)(const struct REAL(nn_scan) * scan, const real *delta, real *dgates)
{
    const size_t units = (size_t)scan->units;
    for (size_t r = scan->rows; r-- > 0;) {
        const size_t sequence = r / scan->steps;
        const real *z = scan->gates + r * scan->gates_stride, *c = z + units;
        const real *d = delta + r * scan->state_stride;
        const bool last = r % scan->steps == scan->steps - 1 || (scan->starts && scan->starts[r + 1]);
        const real *before = r % scan->steps ? scan->state + (r - 1) * scan->state_stride
                             : scan->hidden  ? scan->hidden + sequence * scan->hidden_stride
                                             : NULL;
        if (scan->starts && scan->starts[r])
            before = NULL;
        real *dz = dgates + r * scan->gates_stride, *dc = dz + units;
        /* carry: the gradient of this row's h from the row after */
        const real *after = last ? NULL : scan->carry;
        for (size_t i = 0; i < units; i++) {
            const real dh = d[i] + (after ? after[i] : 0);
            dz[i] = dh * (c[i] - (before ? before[i] : 0)) * z[i] * (1 - z[i]);
            dc[i] = dh * z[i];
            scan->carry[i] = dh * (1 - z[i]);
        }
    }
}

void REAL(nn_scan_forward)(const struct REAL(nn_scan) * scan)
{
    REAL(scan_steps)(scan);
}

void REAL(nn_scan_backward)(const struct REAL(nn_scan) * scan, const real *delta, real *dgates)
{
    REAL(scan_steps_back)(scan, delta, dgates);
}
