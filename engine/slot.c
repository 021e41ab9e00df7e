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

/* Room for what these specs need, and no more: with many symbols it is most of what an account takes. */
static int make_room(struct strategy_slot *slot, const struct strategy *strategy,
                     const struct runner_spec *specs, size_t n)
{
    size_t n_values = engine_runner_outputs(specs, n), n_frames = 0, n_columns = 0;
    bool measured = false;
    for (size_t i = 0; i < n; i++) {
        n_frames += specs[i].frame_ns > 0;
        measured |= specs[i].measure >= 0;
        n_columns += specs[i].column.name[0] != '\0';
    }
    slot->state_size = strategy_state_size(strategy);
    slot->sees = strategy_sees_peers(strategy);
    slot->streams = calloc(n + 1, sizeof *slot->streams);
    slot->frames = calloc(n_frames + 1, sizeof *slot->frames);
    slot->values = calloc(n_values + 1, sizeof *slot->values);
    slot->names = calloc(n_values + 1, sizeof *slot->names);
    slot->state = calloc(1, slot->state_size);
    slot->measured = measured ? calloc(1, sizeof *slot->measured) : NULL;
    slot->columns = n_columns > 0 ? calloc(n_columns, sizeof *slot->columns) : NULL;
    return slot->streams && slot->frames && slot->values && slot->names && slot->state &&
                   (slot->measured || !measured) && (slot->columns || n_columns == 0)
               ? 0
               : -ENOMEM;
}

int engine_slot_open(struct strategy_slot *slot, const struct strategy *strategy, const double *params,
                     int64_t interval_ns)
{
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char why[SPECS_ERROR_MAX];
    size_t n = 0;
    int r = engine_runner_specs(strategy, params, interval_ns, specs, &n, why);
    if (r == 0)
        r = make_room(slot, strategy, specs, n);
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct indicator *row = specs[i].indicator.row;
        struct slot_stream *stream = &slot->streams[i];
        r = indicator_stream_open(&specs[i].indicator, &stream->stream);
        if (r < 0)
            break;
        slot->n_streams = i + 1;
        stream->n_outputs = (uint32_t)row->n_outputs;
        stream->measure = (int8_t)specs[i].measure;
        stream->plain = specs[i].plain;
        stream->column = specs[i].column.name[0] ? (int8_t)slot->n_columns : -1;
        if (stream->column >= 0)
            slot->columns[slot->n_columns++] = (struct slot_column){specs[i].column, NAN};
        stream->frame = specs[i].frame_ns > 0 ? frame_of(slot, specs[i].frame_ns, interval_ns) : -1;
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
        indicator_stream_close(slot->streams[i].stream);
    free(slot->streams);
    free(slot->frames);
    free(slot->values);
    free(slot->names);
    free(slot->state);
    free(slot->measured);
    free(slot->columns);
    free(slot->kept);
    *slot = (struct strategy_slot){0};
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

/* A bar at whose end the column has no value is left out. */
static void feed_column(const struct slot_stream *stream, double now, int64_t open_ns, double *values)
{
    const struct indicator_bar bar = {now, now, now, now, 0, frame_seconds(open_ns)};
    for (uint32_t k = 0; k < stream->n_outputs; k++)
        values[k] = stream->plain ? now : NAN;
    if (!stream->plain && !isnan(now))
        feed(stream->stream, &bar, values, stream->n_outputs);
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
    for (size_t i = 0; i < slot->n_streams; values += slot->streams[i++].n_outputs) {
        const struct slot_stream *stream = &slot->streams[i];
        if (stream->column >= 0) {
            feed_column(stream, slot->columns[stream->column].now, open_ns, values);
            continue;
        }
        if (stream->measure >= 0) { /* a bar without a book is left out */
            if (there)
                feed(stream->stream, &measured[stream->measure], values, stream->n_outputs);
            else
                for (uint32_t k = 0; k < stream->n_outputs; k++)
                    values[k] = NAN;
            continue;
        }
        if (stream->frame < 0) {
            feed(stream->stream, bar, values, stream->n_outputs);
            continue;
        }
        for (size_t k = 0; k < n_closed[stream->frame]; k++)
            feed(stream->stream, &closed[stream->frame][k], values, stream->n_outputs);
    }
}
