/* A distribution as an interval on a line: logarithms where it is logarithmic, and half a step more at both
 * ends where it has steps, so that each of its values owns an equal share of the line. The index of a choice
 * has steps of 1. */
#ifndef TRAINER_STUDY_AXIS_H
#define TRAINER_STUDY_AXIS_H

#include "db/studies/distribution.h"
#include "trainer/study/draw.h"

struct axis {
    bool log;
    double low, high;       /* on the line; low < high unless it can only be one value */
    double least, greatest; /* values that may be drawn */
    double step;            /* of values; 0: none */
};

struct axis study_axis_of(const struct distribution *distribution);
double study_axis_place(const struct axis *axis, double value); /* where a value is on the line */
/* The value that owns a place: always one of the distribution's. */
double study_axis_value(const struct axis *axis, double place);
double study_axis_draw(const struct axis *axis, struct draw *draw); /* a value, evenly on the line */

#endif
