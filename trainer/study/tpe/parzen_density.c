#include <math.h>

#include "strategy/clones.h"
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
        return (struct owned){study_axis_place(axis, value - axis->step / 2),
                              study_axis_place(axis, value + axis->step / 2)};
    double place = study_axis_place(axis, value);
    return (struct owned){place, place};
}

/* A product of many masses, of which one logarithm is taken. */
struct product {
    double log, factor;
};

static void multiply(struct product *product, double a, double b)
{
    double more;
    product->factor *= tpe_normal_mass(a, b, &more);
    product->log += more;
    if (product->factor < 1e-200) {
        product->log += log(product->factor);
        product->factor = 1;
    }
}

/* What the truncation of kernel k adds, of all dimensions. */
static double cut_of(struct parzen *parzen, int k)
{
    if (!isnan(parzen->cut[k]))
        return parzen->cut[k];
    struct product inside = {0, 1};
    for (int d = 0; d < parzen->n_dimensions; d++) {
        const struct parzen_dimension *dimension = &parzen->dimensions[d];
        if (dimension->kind == PARZEN_CHOICES)
            continue;
        double a = (dimension->axis.low - dimension->centre[k]) * dimension->inverse[k];
        double b = (dimension->axis.high - dimension->centre[k]) * dimension->inverse[k];
        if (a > -NORMAL_ALL || b < NORMAL_ALL)
            multiply(&inside, a, b);
    }
    return parzen->cut[k] = -(inside.log + log(inside.factor));
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
CLONES static void take_squares(const struct parzen_dimension *dimension, struct owned owned, int n,
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

/* The mass of kernel k over a step. Kernels of one shape are alike in steps. */
static void multiply_step(struct parzen_dimension *dimension, struct owned owned, double value, int k,
                          struct product *product)
{
    double centre = dimension->centre[k], inverse = dimension->inverse[k];
    double a = (owned.left - centre) * inverse, b = (owned.right - centre) * inverse;
    if (inverse != dimension->least || dimension->axis.log) {
        multiply(product, a, b);
        return;
    }
    double away = fabs(value - centre) / dimension->axis.step, steps = rint(away);
    if (!(fabs(away - steps) < 1e-12 && steps < PARZEN_MASSES)) {
        multiply(product, a, b);
        return;
    }
    double *mass = &dimension->masses[(int)steps];
    if (isnan(*mass))
        *mass = tpe_normal_log_mass(a, b);
    product->log += *mass;
}

/* What kernel k is at the point, whose bound, of all dimensions, is `bound`. */
static double exact(struct parzen *parzen, int k, double bound, const double *point,
                    const struct owned *owned)
{
    struct product steps = {bound - parzen->slack[k] + cut_of(parzen, k), 1};
    for (int d = 0; d < parzen->n_dimensions; d++) {
        struct parzen_dimension *dimension = &parzen->dimensions[d];
        if (dimension->kind == PARZEN_CHOICES) {
            double choice = dimension->choice[k];
            steps.log += choice < 0           ? dimension->log_any
                         : choice == point[d] ? dimension->log_hit
                                              : dimension->log_miss;
        } else if (dimension->kind == PARZEN_STEPS) {
            steps.log += 0.5 * square(dimension, owned[d], k);
            multiply_step(dimension, owned[d], point[d], k, &steps);
        }
    }
    return steps.factor == 1 ? steps.log : steps.log + log(steps.factor);
}

/* What the point owns in each number's dimension; false: a density is 0 there. */
static bool find_owned(const struct parzen *parzen, const double *point, struct owned *ret)
{
    for (int d = 0; d < parzen->n_dimensions; d++) {
        const struct parzen_dimension *dimension = &parzen->dimensions[d];
        if (dimension->kind == PARZEN_CHOICES)
            continue;
        ret[d] = owned_by(dimension, point[d]);
        if (dimension->kind == PARZEN_DENSITY &&
            !(ret[d].left >= dimension->axis.low && ret[d].left <= dimension->axis.high))
            return false;
    }
    return true;
}

/* The prior: it is nowhere small. */
static double exact_prior(struct parzen *parzen, const double *point, const struct owned *owned)
{
    int k = parzen->n - 1;
    double bound = parzen->base[k] + parzen->slack[k];
    for (int d = 0; d < parzen->n_dimensions; d++)
        if (parzen->dimensions[d].kind != PARZEN_CHOICES)
            bound -= 0.5 * square(&parzen->dimensions[d], owned[d], k);
    return exact(parzen, k, bound, point, owned);
}

/* The other kernels that may be no less than `least`: their bounds, and the list of them. */
static int find_near(const struct parzen *parzen, const struct owned *owned, double least, double *bounds,
                     int *ret_list)
{
    int n = parzen->n - 1, numbers = 0, near = 0;
    for (int k = 0; k < n; k++) {
        bounds[k] = parzen->base[k] + parzen->slack[k];
        ret_list[k] = k;
    }
    near = n;
    for (int d = 0; d < parzen->n_dimensions; d++) {
        const struct parzen_dimension *dimension = &parzen->dimensions[d];
        int all = near;
        if (dimension->kind == PARZEN_CHOICES)
            continue;
        if (numbers++ < DENSE) {
            take_squares(dimension, owned[d], n, bounds);
            if (numbers < DENSE)
                continue;
        }
        near = 0;
        for (int i = 0; i < all; i++) {
            int k = ret_list[i];
            if (numbers > DENSE)
                bounds[k] -= 0.5 * square(dimension, owned[d], k);
            ret_list[near] = k;
            near += bounds[k] >= least;
        }
    }
    return near;
}

double tpe_parzen_log_density(struct parzen *parzen, const double *point)
{
    int n = parzen->n, found = 0;
    double *bounds = parzen->work, *sums = bounds + n, sum = 0;
    struct owned *owned = (struct owned *)(void *)(sums + n);
    if (!find_owned(parzen, point, owned))
        return -INFINITY;
    double most = sums[found++] = exact_prior(parzen, point, owned);
    int near = find_near(parzen, owned, most - NEGLIGIBLE, bounds, parzen->list);
    for (int i = 0; i < near; i++) {
        int k = parzen->list[i];
        if (bounds[k] < most - NEGLIGIBLE)
            continue;
        double one = exact(parzen, k, bounds[k], point, owned);
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
