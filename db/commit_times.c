#include "db/commit_times.h"

#define US_NS 1000LL
#define MS_NS 1000000LL
#define S_NS  1000000000LL

const int64_t db_commit_bounds_ns[DB_COMMIT_BOUNDS] = {
    100 * US_NS, 250 * US_NS, 500 * US_NS, MS_NS,       2500 * US_NS, 5 * MS_NS,    10 * MS_NS, 25 * MS_NS,
    50 * MS_NS,  100 * MS_NS, 250 * MS_NS, 500 * MS_NS, S_NS,         2500 * MS_NS, 5 * S_NS,   10 * S_NS};

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
    times->sum_ns += ns > 0 ? (double)ns : 0;
    for (int i = DB_COMMIT_BOUNDS - 1; i >= 0 && ns <= db_commit_bounds_ns[i]; i--)
        times->within[i]++;
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
