#include <math.h>

#include "trainer/study/tpe/normal.h"
#include "trainer/study/tpe/parzen.h"

static int draw_kernel(const struct parzen *parzen, struct draw *draw)
{
    double left = sampler_draw_uniform(draw);
    int k = 0;
    while (k < parzen->n - 1 && (left -= parzen->weight[k]) >= 0)
        k++;
    return k;
}

static double draw_choice(const struct parzen_dimension *dimension, int k, struct draw *draw)
{
    int own = (int)dimension->choice[k], n = dimension->n_choices;
    double u = sampler_draw_uniform(draw), hit = own < 0 ? 0 : exp(dimension->log_hit);
    if (u < hit || n == 1)
        return own < 0 ? 0 : own;
    int others = own < 0 ? n : n - 1, other = (int)((u - hit) / (1 - hit) * others);
    other = other < others ? other : others - 1;
    return own >= 0 && other >= own ? other + 1 : other;
}

void tpe_parzen_draw(const struct parzen *parzen, struct draw *draw, double *ret_point)
{
    int k = draw_kernel(parzen, draw);
    for (int d = 0; d < parzen->n_dimensions; d++) {
        const struct parzen_dimension *dimension = &parzen->dimensions[d];
        if (dimension->kind == PARZEN_CHOICES) {
            ret_point[d] = draw_choice(dimension, k, draw);
            continue;
        }
        const struct axis *axis = &dimension->axis;
        double centre = dimension->centre[k], inverse = dimension->inverse[k];
        double deviations = tpe_normal_cut_quantile(
            sampler_draw_uniform(draw), (axis->low - centre) * inverse, (axis->high - centre) * inverse);
        ret_point[d] = study_axis_value(axis, centre + deviations / inverse);
    }
}
