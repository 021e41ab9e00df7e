/* The order book during each bar: open, high, low and close of its measures (exchange/book_measure.h).
 *
 * A measure holds until the book changes, so a bar in which nothing changed has the value from its start. A
 * bar during which the book, and without a synced one the best quote, was never there has none. Intervals
 * are those of the venue's time, as far as events carry it: the bar itself closes some time after. */
#ifndef ENGINE_MEASURE_H
#define ENGINE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/book_measure.h"

struct measure_bar {
    double open, high, low, close;
};

struct measure_span {
    int64_t open_ns;
    bool there;
    struct measure_bar bars[BOOK_MEASURES];
};

/* {0} has seen nothing. */
struct measure_track {
    bool started;
    bool standing; /* is `now` the book's present value? */
    double now[BOOK_MEASURES];
    bool carried; /* was it when `forming` began? then that was `before` */
    double before[BOOK_MEASURES];
    struct measure_span forming, previous;
};

/* The measures are these from now on, in the bar that opens then; NULL: there is no book. One before the
 * forming bar counts in it. */
void engine_measure_note(struct measure_track *track, int64_t open_ns, const double measures[BOOK_MEASURES]);

/* The measures of the bar that opened then: the newest, or the one before; false where there is none, or it
 * is not kept. */
bool engine_measure_of(const struct measure_track *track, int64_t open_ns,
                       struct measure_bar ret[static BOOK_MEASURES]);

#endif
