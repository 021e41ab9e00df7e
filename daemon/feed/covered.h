/* Of which times a venue was asked for a series' older bars, or has them all stored: what a backfill need not
 * ask for again. Kept as a text in the database (docs/history.md). Pure. */
#ifndef DAEMON_FEED_COVERED_H
#define DAEMON_FEED_COVERED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    COVERED_RANGES_MAX = 16, /* beyond that the oldest is forgotten, and asked for again */
    COVERED_TEXT_MAX = (2 * COVERED_RANGES_MAX + 1) * 21,
};

struct feed_covered {
    int64_t listed_ns; /* the open time of the venue's first bar, which nothing is before; -1: not known */
    struct {
        int64_t from_ns, end_ns;  /* open times in [from_ns, end_ns) */
    } ranges[COVERED_RANGES_MAX]; /* newest first; none touches another */
    int n;
};

void feed_covered_init(struct feed_covered *covered);

/* Its text, "LISTED FROM-END FROM-END …". False for one that is none: then it is as after
 * feed_covered_init(). */
bool feed_covered_parse(struct feed_covered *covered, const char *text);
void feed_covered_text(const struct feed_covered *covered, char ret[static COVERED_TEXT_MAX]);

/* That range is known as well. Nothing of an empty one. */
void feed_covered_add(struct feed_covered *covered, int64_t from_ns, int64_t end_ns);

/* Nothing before `from_ns` is known. */
void feed_covered_forget_before(struct feed_covered *covered, int64_t from_ns);

/* The newest range of [from_ns, end_ns) that is not known; before the listing there is none. False: all is.
 */
bool feed_covered_lacks(const struct feed_covered *covered, int64_t from_ns, int64_t end_ns,
                        int64_t *ret_from_ns, int64_t *ret_end_ns);

/* The sum of all such ranges. */
int64_t feed_covered_lacked_ns(const struct feed_covered *covered, int64_t from_ns, int64_t end_ns);

#endif
