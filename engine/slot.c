/* A strategy slot's indicators: a stream a spec, fed with the run's bars or with the higher bars that those
 * form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "engine/core.h"

/* The forming bars of an interval, made if they are not there. */
static int8_t frame_of(struct strategy_slot *slot, int64_t frame_ns, int64_t interval_ns)
{
    for (size_t i = 0; i < slot->n_frames; i++)
        if (slot->frames[i].interval_ns == frame_ns)
            return (int8_t)i;
    slot->frames[slot->n_frames] = (struct frame){.interval_ns = frame_ns, .base_ns = interval_ns};
    return (int8_t)slot->n_frames++;
}

int engine_slot_open(struct strategy_slot *slot, const struct strategy *strategy, const double *params,
                     int64_t interval_ns)
{
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char why[SPECS_ERROR_MAX];
    size_t n;
    int r = engine_runner_specs(strategy, params, interval_ns, specs, &n, why);
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct indicator *row = specs[i].indicator.row;
        r = indicator_stream_open(&specs[i].indicator, &slot->streams[i]);
        if (r < 0)
            break;
        slot->n_streams = i + 1;
        slot->outputs[i] = (uint32_t)row->n_outputs;
        slot->measure_of[i] = (int8_t)specs[i].measure;
        if (specs[i].measure >= 0 && !slot->measured)
            slot->measured = calloc(1, sizeof *slot->measured);
        if (specs[i].measure >= 0 && !slot->measured)
            r = -ENOMEM;
        slot->frame_of[i] = specs[i].frame_ns > 0 ? frame_of(slot, specs[i].frame_ns, interval_ns) : -1;
        for (size_t k = 0; k < row->n_outputs; k++) {
            slot->values[slot->n_values] = NAN;
            engine_runner_output_name(&specs[i], k, slot->names[slot->n_values++], OUTPUT_NAME_MAX);
        }
    }
    return r;
}

void engine_slot_close(struct strategy_slot *slot)
{
    for (size_t i = 0; i < slot->n_streams; i++)
        indicator_stream_close(slot->streams[i]);
    slot->n_streams = 0;
    free(slot->measured);
    slot->measured = NULL;
    free(slot->kept);
    slot->kept = NULL;
    slot->kept_len = 0;
}

static void feed(struct indicator_stream *stream, const struct indicator_bar *bar, double *values, uint32_t n)
{
    double outputs[INDICATOR_OUTPUTS_MAX];
    bool ready = indicator_stream_update(stream, bar, outputs);
    for (uint32_t k = 0; k < n; k++)
        values[k] = ready ? outputs[k] : NAN;
}

/* The measures of its book during a bar, as bars of their own, without volume. */
static bool measured_bars(const struct strategy_slot *slot, int64_t open_ns,
                          struct indicator_bar ret[static BOOK_MEASURES])
{
    struct measure_bar bars[BOOK_MEASURES];
    if (!slot->measured || !engine_measure_of(slot->measured, open_ns, bars))
        return false;
    for (int m = 0; m < BOOK_MEASURES; m++)
        ret[m] = (struct indicator_bar){bars[m].open,          bars[m].high, bars[m].low, bars[m].close, 0,
                                        frame_seconds(open_ns)};
    return true;
}

void engine_slot_update(struct strategy_slot *slot, const struct trading_calendar *calendar, int64_t open_ns,
                        const struct indicator_bar *bar)
{
    struct indicator_bar closed[STRATEGY_SPECS_MAX][2];
    size_t n_closed[STRATEGY_SPECS_MAX];
    for (size_t i = 0; i < slot->n_frames; i++)
        n_closed[i] = engine_frame_add(&slot->frames[i], calendar, open_ns, bar, closed[i]);
    struct indicator_bar measured[BOOK_MEASURES];
    bool there = measured_bars(slot, open_ns, measured);
    double *values = slot->values;
    for (size_t i = 0; i < slot->n_streams; values += slot->outputs[i++]) {
        int frame = slot->frame_of[i], measure = slot->measure_of[i];
        if (measure >= 0) { /* a bar without a book is left out */
            if (there)
                feed(slot->streams[i], &measured[measure], values, slot->outputs[i]);
            else
                for (uint32_t k = 0; k < slot->outputs[i]; k++)
                    values[k] = NAN;
            continue;
        }
        if (frame < 0) {
            feed(slot->streams[i], bar, values, slot->outputs[i]);
            continue;
        }
        for (size_t k = 0; k < n_closed[frame]; k++)
            feed(slot->streams[i], &closed[frame][k], values, slot->outputs[i]);
    }
}
