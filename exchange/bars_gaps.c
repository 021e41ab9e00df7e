#include "exchange/bars_gaps.h"

#include <errno.h>
#include <stdlib.h>

int64_t bars_gaps_interval(const struct bars_file *file)
{
    int64_t candidate = 0, smallest = INT64_MAX;
    size_t votes = 0, count = 0;
    if (file->n < 2)
        return 0;
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
        int64_t from = file->open_time_ns[i - 1] + interval_ns, to = file->open_time_ns[i];
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
        gaps[n++] =
            (struct bars_gap){.row = i, .from_ns = from, .to_ns = to, .missing = (to - from) / interval_ns};
    }
    free(file->gaps);
    file->gaps = gaps;
    file->n_gaps = n;
    file->interval_ns = interval_ns;
    return 0;
}
