/* A Parzen estimator of Optuna 5.0.0's TPESampler: a mixture of kernels, one for each trial that has all
 * parameters of its space, oldest first, and the prior as the last. One index of a kernel serves all
 * dimensions. Numbers have cut normals on their axis (trainer/study/axis.h); those with steps are differences
 * of the distribution function over a step. Floats on a logarithmic axis are not divided by x. */
#ifndef TRAINER_STUDY_TPE_PARZEN_H
#define TRAINER_STUDY_TPE_PARZEN_H

#include "trainer/study/axis.h"
#include "trainer/study/tpe/divide.h"
#include "trainer/study/tpe/running.h"

enum { PARZEN_MASSES = 64 };

struct parzen_dimension {
    struct axis axis;
    enum { PARZEN_DENSITY, PARZEN_STEPS, PARZEN_CHOICES } kind;
    double *centre, *inverse;     /* [n] mu and 1 / sigma of numbers */
    double least;                 /* the largest of `inverse`: all such kernels have one shape */
    double masses[PARZEN_MASSES]; /* of steps: logarithms of such a kernel's so many steps away; or NaN */
    double *choice;               /* [n] of choices; the prior's is -1 */
    int n_choices;
    double log_hit, log_miss, log_any; /* of a kernel's own choice, of another, of each by the prior */
};

struct parzen {
    int n, n_dimensions;
    struct parzen_dimension *dimensions;
    double *weight; /* [n]: their sum is 1 */
    double *base;   /* [n] logarithms of what no point changes, without the truncation masses */
    double *slack;  /* [n] upper bound of what the truncation masses add */
    double *cut;    /* [n] what they do add; NaN: not computed yet */
    double *work;   /* [2 n + 2 n_dimensions] */
    int *list;      /* [n] for work */
    double *memory; /* all of these */
};

/* What estimators are made from. `sides` [n_trials] is tpe_divide()'s. */
struct parzen_source {
    struct tpe_history *history;
    struct tpe_running *running;
    const struct tpe_options *options;
    const unsigned char *sides;
    const struct space *space;
};

/* Of one side. 0 or -ENOMEM. For tpe_parzen_finish(). */
int tpe_parzen_make(const struct parzen_source *source, enum tpe_side side, struct parzen *ret);
void tpe_parzen_finish(struct parzen *parzen); /* fine on a zeroed one */

/* The logarithm of the density at a point, internal values [n_dimensions]. Kernels that add less than e^-50
 * of the sum are passed over. */
double tpe_parzen_log_density(struct parzen *parzen, const double *point);

/* A point, drawn from it. */
void tpe_parzen_draw(const struct parzen *parzen, struct draw *draw, double *ret_point);

#endif
