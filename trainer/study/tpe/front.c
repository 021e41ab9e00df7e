#include "trainer/study/tpe/front.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct front_points {
    const double *losses; /* [n][m] */
    int n, m;
    double *picked; /* [n][m]: what was chosen of a rank, for hypervolumes */
    int *rank;      /* [n]; -1: none yet */
    int *members;   /* [n]: of the rank that is chosen from, in lexicographic order */
    double *gain;   /* [n]: what a member would add at most */
    bool *taken;    /* [n], of members */
};

static const double *at(const struct front_points *points, int i)
{
    return points->losses + (size_t)i * points->m;
}

static bool dominates(const double *a, const double *b, int m)
{
    bool better = false;
    for (int j = 0; j < m; j++) {
        if (a[j] > b[j])
            return false;
        better |= a[j] < b[j];
    }
    return better;
}

/* The rank of those that nothing without a rank dominates; returns how many. */
static int peel(struct front_points *points, int rank)
{
    int found = 0;
    for (int i = 0; i < points->n; i++) {
        bool dominated = points->rank[i] >= 0;
        for (int k = 0; k < points->n && !dominated; k++)
            dominated = (points->rank[k] < 0 || points->rank[k] == rank) &&
                        dominates(at(points, k), at(points, i), points->m);
        if (!dominated) {
            points->rank[i] = rank;
            found++;
        }
    }
    return found;
}

static int order(const double *a, const double *b, int m)
{
    for (int j = 0; j < m; j++)
        if (a[j] != b[j])
            return a[j] < b[j] ? -1 : 1;
    return 0;
}

static int by_losses(const void *a, const void *b, void *context)
{
    const struct front_points *points = context;
    int i, k;
    memcpy(&i, a, sizeof i);
    memcpy(&k, b, sizeof k);
    int by = order(at(points, i), at(points, k), points->m);
    return by != 0 ? by : (i > k) - (i < k);
}

/* The reference is a tenth beyond the worst of each loss. False: it is not finite. */
static bool reference_of(const struct front_points *points, int n, double *ret)
{
    bool finite = true;
    for (int j = 0; j < points->m; j++) {
        double worst = -INFINITY;
        for (int i = 0; i < n; i++)
            worst = fmax(worst, at(points, points->members[i])[j]);
        ret[j] = fmax(1.1 * worst, 0.9 * worst);
        if (ret[j] == 0)
            ret[j] = 1e-12;
        finite &= isfinite(ret[j]) != 0;
    }
    return finite;
}

static int best_gain(const struct front_points *points, int n)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (!points->taken[i] && (best < 0 || points->gain[i] > points->gain[best]))
            best = i;
    return best;
}

/* Of two losses the volume that a member adds is a rectangle to its two neighbours that were chosen. */
static void choose_plane(struct front_points *points, int n, int wanted, const double *reference)
{
    double *corner = points->picked; /* [n][2] */
    for (int i = 0; i < 2 * n; i++)
        corner[i] = reference[i % 2];
    for (int count = 0; count < wanted; count++) {
        for (int i = 0; i < n; i++) {
            const double *loss = at(points, points->members[i]);
            points->gain[i] = (corner[2 * i] - loss[0]) * (corner[2 * i + 1] - loss[1]);
        }
        int best = best_gain(points, n);
        const double *loss = at(points, points->members[best]);
        points->taken[best] = true;
        for (int i = 0; i < best; i++)
            corner[2 * i] = fmin(corner[2 * i], loss[0]);
        for (int i = best + 1; i < n; i++)
            corner[2 * i + 1] = fmin(corner[2 * i + 1], loss[1]);
    }
}

/* Gains only shrink, so that only members whose bound could still be the greatest are computed again. */
static void choose_lazily(struct front_points *points, int n, int wanted, const double *reference)
{
    int m = points->m;
    size_t row = (size_t)m * sizeof(double);
    double volume = 0;
    for (int i = 0; i < n; i++) {
        points->gain[i] = 1;
        for (int j = 0; j < m; j++)
            points->gain[i] *= reference[j] - at(points, points->members[i])[j];
    }
    for (int count = 0; count < wanted; count++) {
        double greatest = -INFINITY;
        for (int pass = 0; count > 0 && pass < n; pass++) {
            /* the greatest that is above what was found, in falling order of the bounds */
            int next = -1;
            for (int i = 0; i < n; i++)
                if (!points->taken[i] && points->rank[i] != count &&
                    (next < 0 || points->gain[i] > points->gain[next]))
                    next = i;
            if (next < 0 || points->gain[next] < greatest)
                break;
            memcpy(points->picked + (size_t)count * m, at(points, points->members[next]), row);
            double with = tpe_hypervolume(points->picked, count + 1, m, reference);
            points->gain[next] = isfinite(volume) && isfinite(with) ? with - volume : INFINITY;
            points->rank[next] = count; /* computed in this round */
            greatest = fmax(greatest, points->gain[next]);
        }
        int best = best_gain(points, n);
        points->taken[best] = true;
        volume += points->gain[best];
        memcpy(points->picked + (size_t)count * m, at(points, points->members[best]), row);
    }
}

/* `wanted` of the n members, which are distinct. */
static void choose_distinct(struct front_points *points, int n, int wanted)
{
    double reference[64];
    bool finite = points->m <= 64 && reference_of(points, n, reference);
    if (wanted == n || !finite)
        for (int i = 0; i < wanted; i++)
            points->taken[i] = true;
    else if (points->m == 2)
        choose_plane(points, n, wanted, reference);
    else
        choose_lazily(points, n, wanted, reference);
}

static void choose_of_rank(struct front_points *points, int rank, int wanted, bool *chosen)
{
    int n = 0, distinct = 0;
    for (int i = 0; i < points->n; i++)
        if (points->rank[i] == rank)
            points->members[n++] = i;
    qsort_r(points->members, (size_t)n, sizeof *points->members, by_losses, points);
    for (int i = 0; i < n; i++) /* the first of equals */
        if (i == 0 ||
            order(at(points, points->members[i - 1]), at(points, points->members[i]), points->m) != 0)
            chosen[points->members[i]] = true;
    for (int i = 0; i < n; i++)
        if (chosen[points->members[i]])
            points->members[distinct++] = points->members[i];
    if (distinct < wanted) { /* all of the distinct ones, then the earliest of the others */
        wanted -= distinct;
        for (int i = 0; i < points->n && wanted > 0; i++)
            if (points->rank[i] == rank && !chosen[i]) {
                chosen[i] = true;
                wanted--;
            }
        return;
    }
    memset(points->rank, -1, (size_t)points->n * sizeof *points->rank);
    choose_distinct(points, distinct, wanted);
    for (int i = 0; i < distinct; i++)
        chosen[points->members[i]] = points->taken[i];
}

int tpe_front_choose(const double *losses, int n, int m, int n_below, bool *ret_chosen)
{
    memset(ret_chosen, n_below >= n, (size_t)n * sizeof *ret_chosen);
    if (n_below <= 0 || n_below >= n)
        return 0;
    struct front_points points = {
        .losses = losses,
        .n = n,
        .m = m,
        .picked = malloc((size_t)n * m * sizeof *points.picked),
        .rank = malloc((size_t)n * sizeof *points.rank),
        .members = malloc((size_t)n * sizeof *points.members),
        .gain = malloc((size_t)n * sizeof *points.gain),
        .taken = calloc((size_t)n, sizeof *points.taken),
    };
    int r = points.picked && points.rank && points.members && points.gain && points.taken ? 0 : -ENOMEM;
    if (r == 0) {
        memset(points.rank, -1, (size_t)n * sizeof *points.rank);
        int rank = 0, found, count = 0;
        for (; (found = peel(&points, rank)) <= n_below - count && found > 0; rank++) {
            for (int i = 0; i < n; i++)
                ret_chosen[i] |= points.rank[i] == rank;
            count += found;
            if (count == n_below)
                break;
        }
        if (count < n_below && found > 0)
            choose_of_rank(&points, rank, n_below - count, ret_chosen);
    }
    free(points.picked);
    free(points.rank);
    free(points.members);
    free(points.gain);
    free(points.taken);
    return r;
}
