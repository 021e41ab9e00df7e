#include "engine/frame.h"

static size_t close_frame(struct frame *frame, struct indicator_bar *ret)
{
    frame->forming = false;
    if (!frame->whole)
        return 0;
    *ret = (struct indicator_bar){frame->open,  frame->high,   frame->low,
                                  frame->close, frame->volume, frame_seconds(frame->open_ns)};
    return 1;
}

static int64_t end_of(const struct frame *frame, const struct trading_calendar *calendar)
{
    int64_t open_ns, end_ns;
    if (calendar->n == 0)
        return frame->open_ns + frame->interval_ns;
    trading_bar_span(calendar, frame->interval_ns, frame->open_ns, &open_ns, &end_ns);
    return end_ns;
}

size_t engine_frame_add(struct frame *frame, const struct trading_calendar *calendar, int64_t open_ns,
                        const struct indicator_bar *bar, struct indicator_bar closed[static 2])
{
    size_t n = 0;
    if (frame->forming && open_ns >= end_of(frame, calendar))
        n = close_frame(frame, &closed[0]);
    if (!frame->forming) {
        int64_t end_ns;
        trading_bar_span(calendar, frame->interval_ns, open_ns, &frame->open_ns, &end_ns);
        frame->whole = frame->started || open_ns == frame->open_ns;
        frame->started = frame->forming = true;
        frame->open = bar->open;
        frame->high = bar->high;
        frame->low = bar->low;
        frame->volume = 0;
    }
    frame->high = bar->high > frame->high ? bar->high : frame->high;
    frame->low = bar->low < frame->low ? bar->low : frame->low;
    frame->close = bar->close;
    frame->volume += bar->volume;
    if (open_ns + frame->base_ns >= end_of(frame, calendar))
        n += close_frame(frame, &closed[n]);
    return n;
}
