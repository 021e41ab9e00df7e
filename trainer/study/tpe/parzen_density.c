#include <math.h>

#include "trainer/study/tpe/normal.h"
#include "trainer/study/tpe/parzen.h"

/* Kernels e^-50 below what was found already are passed over: with ten thousand of them the sum changes by
 * less than its rounding. */
#define NEGLIGIBLE 50.0
/* So many dimensions are gone through for all kernels; few are left for the others then. */
enum { DENSE = 4 };

/* The interval of the axis that a point owns: a point of a density. */
struct owned {
    double left, right;
};

static struct owned owned_by(const struct parzen_dimension *dimension, double value)
{
    const struct axis *axis = &dimension->axis;
    if (dimension->kind == PARZEN_STEPS)
        return (struct owned){axis_place(axis, value - axis->step / 2),
                              axis_place(axis, value + axis->step / 2)};
    double place = axis_place(axis, value);
    return (struct owned){place, place};
}

/* What the truncation of kernel k adds, of all dimensions. */
static double cut_of(struct parzen *parzen, int k)
{
    if (!isnan(parzen->cut[k]))
        return parzen->cut[k];
    double cut = 0;
    for (int d = 0; d < parzen->n_dimensions; d++) {
        const struct parzen_dimension *dimension = &parzen->dimensions[d];
        if (dimension->kind == PARZEN_CHOICES)
            continue;
        double a = (dimension->axis.low - dimension->centre[k]) * dimension->inverse[k];
        double b = (dimension->axis.high - dimension->centre[k]) * dimension->inverse[k];
        if (a > -NORMAL_ALL || b < NORMAL_ALL)
            cut -= normal_log_mass(a, b);
    }
    return parzen->cut[k] = cut;
}

/* The square of how far a point is from kernel k, in deviations. */
static double square(const struct parzen_dimension *dimension, struct owned owned, int k)
{
    double centre = dimension->centre[k], left = owned.left - centre, right = centre - owned.right;
    double far = left > right ? left : right;
    far = far > 0 ? far * dimension->inverse[k] : 0;
    return far * far;
}

/* The same of all kernels, taken by half from their bounds. */
static void take_squares(const struct parzen_dimension *dimension, struct owned owned, int n,
                         double *restrict bounds)
{
    const double *restrict centre = dimension->centre, *restrict inverse = dimension->inverse;
    for (int k = 0; k < n; k++) {
        double left = owned.left - centre[k], right = centre[k] - owned.right;
        double far = left > right ? left : right;
        far = (far > 0 ? far : 0) * inverse[k];
        bounds[k] -= 0.5 * far * far;
    }
}

/* What kernel k is at the point, whose bound is known to be `bound` after dimensions [0, from); less than
 * `least`: any number below it. */
static double exact(struct parzen *parzen, int k, int from, double bound, double least, const double *point,
                    const struct owned *owned)
{
    for (int d = from; d < parzen->n_dimensions; d++) {
        const struct parzen_dimension *dimension = &parzen->dimensions[d];
        if (dimension->kind == PARZEN_CHOICES)
            continue;
        bound -= 0.5 * square(dimension, owned[d], k);
        if (bound < least)
            return bound;
    }
    double sum = parzen->base[k] + cut_of(parzen, k);
    for (int d = 0; d < parzen->n_dimensions; d++) {
        const struct parzen_dimension *dimension = &parzen->dimensions[d];
        if (dimension->kind == PARZEN_DENSITY) {
            sum -= 0.5 * square(dimension, owned[d], k);
        } else if (dimension->kind == PARZEN_CHOICES) {
            double choice = dimension->choice[k];
            sum += choice < 0           ? dimension->log_any
                   : choice == point[d] ? dimension->log_hit
                                        : dimension->log_miss;
        } else {
            double centre = dimension->centre[k], inverse = dimension->inverse[k];
            sum += normal_log_mass((owned[d].left - centre) * inverse, (owned[d].right - centre) * inverse);
        }
    }
    return sum;
}

double parzen_log_density(struct parzen *parzen, const double *point)
{
    int n = parzen->n, prior = n - 1, from = 0, numbers = 0, found = 0;
    double *bounds = parzen->work, *sums = bounds + n, most = -INFINITY, sum = 0;
    struct owned *owned = (struct owned *)(void *)(sums + n);
    for (int k = 0; k < n; k++)
        bounds[k] = parzen->base[k] + parzen->slack[k];
    for (int d = 0; d < parzen->n_dimensions; d++) {
        const struct parzen_dimension *dimension = &parzen->dimensions[d];
        if (dimension->kind == PARZEN_CHOICES)
            continue;
        owned[d] = owned_by(dimension, point[d]);
        if (dimension->kind == PARZEN_DENSITY &&
            !(owned[d].left >= dimension->axis.low && owned[d].left <= dimension->axis.high))
            return -INFINITY;
        if (numbers++ < DENSE) {
            take_squares(dimension, owned[d], n, bounds);
            from = d + 1;
        }
    }
    /* The prior first: it is nowhere small. */
    for (int i = 0, k = prior; i < n; k = i++) {
        if (bounds[k] < most - NEGLIGIBLE)
            continue;
        double one = exact(parzen, k, from, bounds[k], most - NEGLIGIBLE, point, owned);
        sums[found++] = one;
        most = one > most ? one : most;
    }
    if (most == -INFINITY)
        return most;
    for (int i = 0; i < found; i++)
        if (sums[i] >= most - NEGLIGIBLE)
            sum += exp(sums[i] - most);
    return log(sum) + most;
}
