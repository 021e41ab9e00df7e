/* A seat's indicators: a stream a spec, fed with the run's bars or with the higher bars that those form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "engine/core.h"

/* The forming bars of an interval, made if they are not there. */
static int8_t frame_of(struct seat *seat, int64_t frame_ns, int64_t interval_ns)
{
    for (size_t i = 0; i < seat->n_frames; i++)
        if (seat->frames[i].interval_ns == frame_ns)
            return (int8_t)i;
    seat->frames[seat->n_frames] = (struct frame){.interval_ns = frame_ns, .base_ns = interval_ns};
    return (int8_t)seat->n_frames++;
}

int engine_slot_open(struct seat *seat, const struct strategy *strategy, const double *params,
                     int64_t interval_ns)
{
    struct desk_spec specs[STRATEGY_SPECS_MAX];
    char why[SPECS_ERROR_MAX];
    size_t n;
    int r = engine_runner_specs(strategy, params, interval_ns, specs, &n, why);
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct indicator *row = specs[i].indicator.row;
        r = indicator_stream_open(&specs[i].indicator, &seat->streams[i]);
        if (r < 0)
            break;
        seat->n_streams = i + 1;
        seat->outputs[i] = (uint32_t)row->n_outputs;
        seat->measure_of[i] = (int8_t)specs[i].measure;
        if (specs[i].measure >= 0 && !seat->measured)
            seat->measured = calloc(1, sizeof *seat->measured);
        if (specs[i].measure >= 0 && !seat->measured)
            r = -ENOMEM;
        seat->frame_of[i] = specs[i].frame_ns > 0 ? frame_of(seat, specs[i].frame_ns, interval_ns) : -1;
        for (size_t k = 0; k < row->n_outputs; k++) {
            seat->values[seat->n_values] = NAN;
            engine_runner_output_name(&specs[i], k, seat->names[seat->n_values++], OUTPUT_NAME_MAX);
        }
    }
    return r;
}

void engine_slot_close(struct seat *seat)
{
    for (size_t i = 0; i < seat->n_streams; i++)
        indicator_stream_close(seat->streams[i]);
    seat->n_streams = 0;
    free(seat->measured);
    seat->measured = NULL;
}

static void feed(struct indicator_stream *stream, const struct indicator_bar *bar, double *values, uint32_t n)
{
    double outputs[INDICATOR_OUTPUTS_MAX];
    bool ready = indicator_stream_update(stream, bar, outputs);
    for (uint32_t k = 0; k < n; k++)
        values[k] = ready ? outputs[k] : NAN;
}

/* What its book was during a bar, as bars of their own, without volume. */
static bool measured_bars(const struct seat *seat, int64_t open_ns,
                          struct indicator_bar ret[static BOOK_MEASURES])
{
    struct measure_bar bars[BOOK_MEASURES];
    if (!seat->measured || !engine_measure_of(seat->measured, open_ns, bars))
        return false;
    for (int m = 0; m < BOOK_MEASURES; m++)
        ret[m] = (struct indicator_bar){bars[m].open,          bars[m].high, bars[m].low, bars[m].close, 0,
                                        frame_seconds(open_ns)};
    return true;
}

void engine_slot_update(struct seat *seat, int64_t open_ns, const struct indicator_bar *bar)
{
    struct indicator_bar closed[STRATEGY_SPECS_MAX][2];
    size_t n_closed[STRATEGY_SPECS_MAX];
    for (size_t i = 0; i < seat->n_frames; i++)
        n_closed[i] = engine_frame_add(&seat->frames[i], open_ns, bar, closed[i]);
    struct indicator_bar measured[BOOK_MEASURES];
    bool there = measured_bars(seat, open_ns, measured);
    double *values = seat->values;
    for (size_t i = 0; i < seat->n_streams; values += seat->outputs[i++]) {
        int frame = seat->frame_of[i], measure = seat->measure_of[i];
        if (measure >= 0) { /* a bar without a book is left out */
            if (there)
                feed(seat->streams[i], &measured[measure], values, seat->outputs[i]);
            else
                for (uint32_t k = 0; k < seat->outputs[i]; k++)
                    values[k] = NAN;
            continue;
        }
        if (frame < 0) {
            feed(seat->streams[i], bar, values, seat->outputs[i]);
            continue;
        }
        for (size_t k = 0; k < n_closed[frame]; k++)
            feed(seat->streams[i], &closed[frame][k], values, seat->outputs[i]);
    }
}
