#include "db/commit_times.h"

/* Values below 8 have a class each; above, the class is the octave and the three bits after the leading
 * one. */
static int class_of(int64_t ns)
{
    if (ns < 8)
        return ns < 0 ? 0 : (int)ns;
    int octave = 63 - __builtin_clzll((unsigned long long)ns);
    int class = (octave - 2) * 8 + (int)((ns >> (octave - 3)) & 7);
    return class < DB_COMMIT_CLASSES ? class : DB_COMMIT_CLASSES - 1;
}

static int64_t upper_end(int class)
{
    if (class < 8)
        return class;
    int octave = class / 8 + 2;
    return ((int64_t)(8 + class % 8 + 1) << (octave - 3)) - 1;
}

void db_commit_times_add(struct db_commit_times *times, int64_t ns)
{
    times->counts[class_of(ns)]++;
    times->total++;
}

int64_t db_commit_times_quantile(const struct db_commit_times *times, double q)
{
    if (times->total == 0)
        return 0;
    double wanted = q * (double)times->total;
    uint64_t seen = 0;
    int class = 0;
    for (; class < DB_COMMIT_CLASSES; class ++) {
        seen += times->counts[class];
        if (seen > 0 && (double)seen >= wanted)
            break;
    }
    return upper_end(class);
}
