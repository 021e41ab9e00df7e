/* Hypervolumes by exclusion (While, Bradstreet, Barone, "A Fast Way of Calculating Exact Hypervolumes",
 * 2012): the volume is the sum over points of what each adds to those behind it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/tpe/front.h"

static double box(const double *point, int m, const double *reference)
{
    double volume = 1;
    for (int j = 0; j < m; j++)
        volume *= reference[j] - point[j];
    return volume;
}

static bool covers(const double *a, const double *b, int m) /* a is nowhere worse than b */
{
    for (int j = 0; j < m; j++)
        if (a[j] > b[j])
            return false;
    return true;
}

/* Leaves only points that no other covers, of equals the last; returns how many. */
static int reduce(double *points, int n, int m)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const double *point = points + (size_t)i * m;
        bool covered = false;
        for (int k = 0; k < kept && !covered; k++)
            covered = covers(points + (size_t)k * m, point, m);
        for (int k = i + 1; k < n && !covered; k++)
            covered = covers(points + (size_t)k * m, point, m);
        if (!covered)
            memmove(points + (size_t)kept++ * m, point, (size_t)m * sizeof *point);
    }
    return kept;
}

/* `work`: n (n - 1) / 2 points. */
static double volume_of(const double *points, int n, int m, const double *reference, double *work)
{
    double volume = 0;
    for (int i = 0; i < n; i++) {
        const double *point = points + (size_t)i * m;
        int behind = n - i - 1;
        for (int k = 0; k < behind; k++)
            for (int j = 0; j < m; j++)
                work[(size_t)k * m + j] = fmax(point[j], points[(size_t)(i + 1 + k) * m + j]);
        int left = reduce(work, behind, m);
        volume += box(point, m, reference) - volume_of(work, left, m, reference, work + (size_t)left * m);
    }
    return volume;
}

double tpe_hypervolume(const double *points, int n, int m, const double *reference)
{
    size_t size = (size_t)n * m;
    if (n == 0)
        return 0;
    double *work = malloc((size + (size_t)n * (n + 1) / 2 * m) * sizeof *work + 1);
    if (!work)
        return NAN;
    memcpy(work, points, size * sizeof *work);
    int left = reduce(work, n, m);
    double volume = volume_of(work, left, m, reference, work + (size_t)left * m);
    free(work);
    return volume;
}
