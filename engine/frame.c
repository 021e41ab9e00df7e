#include "engine/frame.h"

#include "exchange/bar.h"

static size_t close_frame(struct frame *frame, struct indicator_bar *ret)
{
    frame->forming = false;
    if (!frame->whole)
        return 0;
    *ret = (struct indicator_bar){frame->open,  frame->high,   frame->low,
                                  frame->close, frame->volume, frame_seconds(frame->open_ns)};
    return 1;
}

size_t engine_frame_add(struct frame *frame, int64_t open_ns, const struct indicator_bar *bar,
                        struct indicator_bar closed[static 2])
{
    size_t n = 0;
    if (frame->forming && open_ns >= frame->open_ns + frame->interval_ns)
        n = close_frame(frame, &closed[0]);
    if (!frame->forming) {
        frame->open_ns = bar_open_time(open_ns, frame->interval_ns);
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
    if (open_ns + frame->base_ns >= frame->open_ns + frame->interval_ns)
        n += close_frame(frame, &closed[n]);
    return n;
}
