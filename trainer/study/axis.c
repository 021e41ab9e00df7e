#include "trainer/study/axis.h"

#include <math.h>

struct axis study_axis_of(const struct distribution *distribution)
{
    struct axis axis = {
        .log = distribution->log,
        .least = distribution->low,
        .greatest = distribution->high,
        .step = distribution->kind == DISTRIBUTION_CATEGORICAL ? 1 : distribution->step,
    };
    axis.low = study_axis_place(&axis, axis.least - axis.step / 2);
    axis.high = study_axis_place(&axis, axis.greatest + axis.step / 2);
    return axis;
}

double study_axis_place(const struct axis *axis, double value)
{
    return axis->log ? log(value) : value;
}

double study_axis_value(const struct axis *axis, double place)
{
    double value = axis->log ? exp(place) : place;
    if (axis->step > 0)
        value = axis->least + rint((value - axis->least) / axis->step) * axis->step;
    return fmin(fmax(value, axis->least), axis->greatest);
}

double study_axis_draw(const struct axis *axis, struct draw *draw)
{
    return study_axis_value(axis, axis->low + (axis->high - axis->low) * sampler_draw_uniform(draw));
}
