#include "daemon/feed/covered.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void feed_covered_init(struct feed_covered *covered)
{
    *covered = (struct feed_covered){.listed_ns = -1};
}

bool feed_covered_parse(struct feed_covered *covered, const char *text)
{
    int64_t from_ns, end_ns, listed_ns;
    int n = 0;
    feed_covered_init(covered);
    bool good = sscanf(text, "%" SCNd64 "%n", &listed_ns, &n) == 1 && listed_ns >= -1;
    for (text += n; good && *text; text += n) {
        n = 0;
        good = sscanf(text, " %" SCNd64 "-%" SCNd64 "%n", &from_ns, &end_ns, &n) == 2 && n > 0 &&
               from_ns >= 0 && from_ns < end_ns;
        if (good)
            feed_covered_add(covered, from_ns, end_ns);
    }
    if (good)
        covered->listed_ns = listed_ns;
    else
        feed_covered_init(covered);
    return good;
}

void feed_covered_text(const struct feed_covered *covered, char ret[static COVERED_TEXT_MAX])
{
    size_t at = (size_t)snprintf(ret, COVERED_TEXT_MAX, "%" PRId64, covered->listed_ns);
    for (int i = 0; i < covered->n && at < COVERED_TEXT_MAX; i++)
        at += (size_t)snprintf(ret + at, COVERED_TEXT_MAX - at, " %" PRId64 "-%" PRId64,
                               covered->ranges[i].from_ns, covered->ranges[i].end_ns);
}

/* Ranges that it touches become part of it. */
void feed_covered_add(struct feed_covered *covered, int64_t from_ns, int64_t end_ns)
{
    struct feed_covered joined = {.listed_ns = covered->listed_ns};
    bool put = false;
    if (from_ns >= end_ns)
        return;
    for (int i = 0; i < covered->n; i++) {
        if (covered->ranges[i].from_ns > end_ns || covered->ranges[i].end_ns < from_ns)
            continue;
        from_ns = covered->ranges[i].from_ns < from_ns ? covered->ranges[i].from_ns : from_ns;
        end_ns = covered->ranges[i].end_ns > end_ns ? covered->ranges[i].end_ns : end_ns;
    }
    for (int i = 0; i <= covered->n; i++) {
        bool last = i == covered->n;
        if (!put && joined.n < COVERED_RANGES_MAX && (last || covered->ranges[i].end_ns <= end_ns)) {
            joined.ranges[joined.n].from_ns = from_ns;
            joined.ranges[joined.n++].end_ns = end_ns;
            put = true;
        }
        bool apart = !last && (covered->ranges[i].from_ns > end_ns || covered->ranges[i].end_ns < from_ns);
        if (apart && joined.n < COVERED_RANGES_MAX)
            joined.ranges[joined.n++] = covered->ranges[i];
    }
    *covered = joined;
}

void feed_covered_forget_before(struct feed_covered *covered, int64_t from_ns)
{
    while (covered->n > 0 && covered->ranges[covered->n - 1].end_ns <= from_ns)
        covered->n--;
    if (covered->n > 0 && covered->ranges[covered->n - 1].from_ns < from_ns)
        covered->ranges[covered->n - 1].from_ns = from_ns;
}

bool feed_covered_lacks(const struct feed_covered *covered, int64_t from_ns, int64_t end_ns,
                        int64_t *ret_from_ns, int64_t *ret_end_ns)
{
    int i = 0;
    from_ns = covered->listed_ns > from_ns ? covered->listed_ns : from_ns;
    for (; i < covered->n && covered->ranges[i].end_ns >= end_ns; i++)
        if (covered->ranges[i].from_ns < end_ns)
            end_ns = covered->ranges[i].from_ns;
    if (end_ns <= from_ns)
        return false;
    *ret_from_ns =
        i < covered->n && covered->ranges[i].end_ns > from_ns ? covered->ranges[i].end_ns : from_ns;
    *ret_end_ns = end_ns;
    return true;
}

int64_t feed_covered_lacked_ns(const struct feed_covered *covered, int64_t from_ns, int64_t end_ns)
{
    int64_t lacks_from_ns, sum = 0;
    while (feed_covered_lacks(covered, from_ns, end_ns, &lacks_from_ns, &end_ns)) {
        sum += end_ns - lacks_from_ns;
        end_ns = lacks_from_ns;
    }
    return sum;
}
