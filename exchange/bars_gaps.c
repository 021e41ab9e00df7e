#include "exchange/bars_gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "exchange/bar.h"

/* Does each row open with a month, and one with the month after another's? Quarters and years do not. */
static bool are_months(const struct bars_file *file)
{
    bool neighbours = false;
    for (size_t i = 0; i < file->n; i++) {
        const int64_t open_ns = file->open_time_ns[i];
        if (bar_open_time(open_ns, BAR_MONTH_NS) != open_ns)
            return false;
        neighbours |= i > 0 && bar_end_time(file->open_time_ns[i - 1], BAR_MONTH_NS) == open_ns;
    }
    return neighbours;
}

/* Of the interval, between two times: of which the first is the end of one. */
static int64_t count_between(int64_t interval_ns, int64_t from_ns, int64_t to_ns)
{
    int64_t n = 0;
    if (interval_ns != BAR_MONTH_NS)
        return (to_ns - from_ns) / interval_ns;
    for (; from_ns < to_ns; from_ns = bar_end_time(from_ns, interval_ns))
        n++;
    return n;
}

int64_t bars_gaps_interval(const struct bars_file *file)
{
    int64_t candidate = 0, smallest = INT64_MAX;
    size_t votes = 0, count = 0;
    if (file->n < 2)
        return 0;
    if (are_months(file))
        return BAR_MONTH_NS;
    for (size_t i = 1; i < file->n; i++) {
        int64_t step = file->open_time_ns[i] - file->open_time_ns[i - 1];
        if (step < smallest)
            smallest = step;
        if (votes == 0)
            candidate = step;
        votes += step == candidate ? 1 : (size_t)-1;
    }
    for (size_t i = 1; i < file->n; i++)
        count += file->open_time_ns[i] - file->open_time_ns[i - 1] == candidate;
    return count > (file->n - 1) / 2 ? candidate : smallest;
}

int bars_file_set_interval(struct bars_file *file, int64_t interval_ns)
{
    struct bars_gap *gaps = NULL;
    size_t n = 0, cap = 0;
    if (interval_ns <= 0)
        return -EINVAL;
    for (size_t i = 1; i < file->n; i++) {
        int64_t from = bar_end_time(file->open_time_ns[i - 1], interval_ns), to = file->open_time_ns[i];
        if (to <= from)
            continue;
        if (n == cap) {
            cap = cap ? cap * 2 : 16;
            struct bars_gap *grown = reallocarray(gaps, cap, sizeof(*gaps));
            if (!grown) {
                free(gaps);
                return -ENOMEM;
            }
            gaps = grown;
        }
        gaps[n++] = (struct bars_gap){
            .row = i, .from_ns = from, .to_ns = to, .missing = count_between(interval_ns, from, to)};
    }
    free(file->gaps);
    file->gaps = gaps;
    file->n_gaps = n;
    file->interval_ns = interval_ns;
    return 0;
}
