#include "indicators_gpu/features/stream.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "indicators_gpu/features/group.h"
#include "indicators_gpu/features/scaling.h"

enum { OWN_FRAME = 0 };

struct source {
    const struct indicator_spec *spec;
    size_t frame;
};

struct feature_plan {
    const struct feature_set *set;
    int64_t interval_s;
    size_t n_frames;
    int64_t *seconds; /* [n_frames]; OWN_FRAME: 0 */
    size_t n_sources;
    struct source *sources;
    size_t *frame_of, *source_of; /* [set->n]; source_of is unused for a column */
    struct feature_scaler *scalers;
};

/* A higher bar as it forms; `newest` is the last one that closed (of OWN_FRAME: the last bar). */
struct frame_state {
    bool forming, whole, any;
    struct indicator_bar bar, newest;
};

struct source_state {
    struct indicator_stream *stream;
    bool ready;
    double out[INDICATOR_OUTPUTS_MAX];
};

struct feature_stream {
    const struct feature_plan *plan;
    bool started;
    double time; /* of the last bar */
    struct frame_state *frames;
    struct source_state *sources;
    bool *has_value; /* [set->n]: it had one */
};

static bool same_spec(const struct indicator_spec *a, const struct indicator_spec *b)
{
    return a->row == b->row && memcmp(a->options, b->options, a->row->n_options * sizeof(a->options[0])) == 0;
}

static size_t find_frame(struct feature_plan *plan, int64_t seconds)
{
    size_t k = 0;
    while (k < plan->n_frames && plan->seconds[k] != seconds)
        k++;
    if (k == plan->n_frames)
        plan->seconds[plan->n_frames++] = seconds;
    return k;
}

static size_t find_source(struct feature_plan *plan, const struct indicator_spec *spec, size_t frame)
{
    size_t k = 0;
    while (k < plan->n_sources &&
           !(plan->sources[k].frame == frame && same_spec(plan->sources[k].spec, spec)))
        k++;
    if (k == plan->n_sources)
        plan->sources[plan->n_sources++] = (struct source){spec, frame};
    return k;
}

static int check_set(const struct feature_set *set, int64_t interval_s, char *err, size_t err_cap)
{
    if (!set->fitted)
        return fail_with(-EINVAL, err, err_cap, "set %s is not fitted: feature_set_fit() first", set->name);
    for (size_t f = 0; f < set->n; f++) {
        int64_t seconds = set->features[f].timeframe_s;
        if (seconds != 0 && (interval_s <= 0 || seconds % interval_s != 0 || seconds == interval_s))
            return fail_with(-EINVAL, err, err_cap,
                             "%s: the bars' interval is %" PRId64
                             " s: a timeframe that is a multiple of it is "
                             "needed",
                             set->features[f].name, interval_s);
    }
    return 0;
}

int feature_plan_create(const struct feature_set *set, int64_t interval_s, struct feature_plan **ret,
                        char *err, size_t err_cap)
{
    int r = check_set(set, interval_s, err, err_cap);
    if (r < 0)
        return r;
    struct feature_plan *plan = calloc(1, sizeof(*plan));
    if (!plan)
        return -ENOMEM;
    plan->set = set;
    plan->interval_s = interval_s;
    plan->seconds = calloc(set->n + 1, sizeof(*plan->seconds));
    plan->sources = calloc(set->n, sizeof(*plan->sources));
    plan->frame_of = calloc(set->n, sizeof(*plan->frame_of));
    plan->source_of = calloc(set->n, sizeof(*plan->source_of));
    plan->scalers = calloc(set->n, sizeof(*plan->scalers));
    if (!plan->seconds || !plan->sources || !plan->frame_of || !plan->source_of || !plan->scalers) {
        feature_plan_destroy(plan);
        return -ENOMEM;
    }
    plan->n_frames = 1;
    double z[FEATURE_KNOTS];
    feature_scaling_normal_quantiles(z);
    for (size_t f = 0; f < set->n; f++) {
        const struct feature *feature = &set->features[f];
        plan->frame_of[f] = find_frame(plan, feature->timeframe_s);
        if (feature->spec.row)
            plan->source_of[f] = find_source(plan, &feature->spec, plan->frame_of[f]);
        feature_scaler_prepare(feature, z, &plan->scalers[f]);
    }
    *ret = plan;
    return 0;
}

void feature_plan_destroy(struct feature_plan *plan)
{
    if (!plan)
        return;
    free(plan->seconds);
    free(plan->sources);
    free(plan->frame_of);
    free(plan->source_of);
    free(plan->scalers);
    free(plan);
}

size_t feature_plan_width(const struct feature_plan *plan)
{
    return plan->set->n;
}

static struct feature_stream *allocate(const struct feature_plan *plan)
{
    struct feature_stream *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->plan = plan;
    s->frames = calloc(plan->n_frames, sizeof(*s->frames));
    s->sources = calloc(plan->n_sources + 1, sizeof(*s->sources));
    s->has_value = calloc(plan->set->n, sizeof(*s->has_value));
    if (!s->frames || !s->sources || !s->has_value) {
        feature_stream_close(s);
        return NULL;
    }
    return s;
}

int feature_stream_open(const struct feature_plan *plan, struct feature_stream **ret)
{
    struct feature_stream *s = allocate(plan);
    if (!s)
        return -ENOMEM;
    for (size_t k = 0; k < plan->n_sources; k++) {
        int r = indicator_stream_open(plan->sources[k].spec, &s->sources[k].stream);
        if (r < 0) {
            feature_stream_close(s);
            return r;
        }
    }
    *ret = s;
    return 0;
}

void feature_stream_close(struct feature_stream *s)
{
    if (!s)
        return;
    for (size_t k = 0; s->sources && k < s->plan->n_sources; k++)
        indicator_stream_close(s->sources[k].stream);
    free(s->sources);
    free(s->frames);
    free(s->has_value);
    free(s);
}

int feature_stream_clone(const struct feature_stream *s, struct feature_stream **ret)
{
    const struct feature_plan *plan = s->plan;
    struct feature_stream *copy = allocate(plan);
    if (!copy)
        return -ENOMEM;
    copy->started = s->started;
    copy->time = s->time;
    memcpy(copy->frames, s->frames, plan->n_frames * sizeof(*s->frames));
    memcpy(copy->has_value, s->has_value, plan->set->n * sizeof(*s->has_value));
    for (size_t k = 0; k < plan->n_sources; k++) {
        copy->sources[k].ready = s->sources[k].ready;
        memcpy(copy->sources[k].out, s->sources[k].out, sizeof(s->sources[k].out));
        int r = indicator_stream_clone(s->sources[k].stream, &copy->sources[k].stream);
        if (r < 0) {
            feature_stream_close(copy);
            return r;
        }
    }
    *ret = copy;
    return 0;
}

static bool is_bar(const struct feature_stream *s, const struct indicator_bar *bar)
{
    const double values[INDICATOR_COLUMNS] = {bar->open,  bar->high,   bar->low,
                                              bar->close, bar->volume, bar->time};
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if (!isfinite(values[c]))
            return false;
    if (s->plan->n_frames == 1)
        return true;
    return fabs(bar->time) < 0x1p53 && bar->time == floor(bar->time) &&
           (!s->started || bar->time >= s->time + (double)s->plan->interval_s);
}

static void close_bar(struct feature_stream *s, size_t frame, const struct indicator_bar *bar)
{
    s->frames[frame].newest = *bar;
    s->frames[frame].any = true;
    for (size_t k = 0; k < s->plan->n_sources; k++)
        if (s->plan->sources[k].frame == frame)
            s->sources[k].ready = indicator_stream_update(s->sources[k].stream, bar, s->sources[k].out);
}

static void end_forming(struct feature_stream *s, size_t frame)
{
    struct frame_state *state = &s->frames[frame];
    state->forming = false;
    if (state->whole)
        close_bar(s, frame, &state->bar);
}

/* The higher bar of feature_timeframe_build(). */
static void form(struct feature_stream *s, size_t frame, const struct indicator_bar *bar)
{
    struct frame_state *state = &s->frames[frame];
    int64_t seconds = s->plan->seconds[frame], time = (int64_t)bar->time;
    int64_t begin = time - ((time % seconds) + seconds) % seconds;
    if (state->forming && state->bar.time != (double)begin)
        end_forming(s, frame);
    struct indicator_bar *higher = &state->bar;
    if (!state->forming) {
        state->forming = true;
        state->whole = s->started || time == begin;
        *higher = *bar;
        higher->volume = 0.0;
        higher->time = (double)begin;
    }
    higher->high = bar->high > higher->high ? bar->high : higher->high;
    higher->low = bar->low < higher->low ? bar->low : higher->low;
    higher->close = bar->close;
    higher->volume += bar->volume;
    if (time + s->plan->interval_s >= begin + seconds)
        end_forming(s, frame);
}

static double value_of(const struct feature_stream *s, size_t f)
{
    const struct feature *feature = &s->plan->set->features[f];
    if (feature->spec.row) {
        const struct source_state *source = &s->sources[s->plan->source_of[f]];
        return source->ready ? source->out[feature->output] : NAN;
    }
    const struct frame_state *frame = &s->frames[s->plan->frame_of[f]];
    const struct indicator_bar *bar = &frame->newest;
    const double columns[INDICATOR_COLUMNS] = {bar->open,  bar->high,   bar->low,
                                               bar->close, bar->volume, bar->time};
    return frame->any ? columns[feature->output] : NAN;
}

int feature_stream_update(struct feature_stream *s, const struct indicator_bar *bar, float *ret)
{
    const struct feature_set *set = s->plan->set;
    if (!is_bar(s, bar))
        return -EINVAL;
    close_bar(s, OWN_FRAME, bar);
    for (size_t frame = 1; frame < s->plan->n_frames; frame++)
        form(s, frame, bar);
    s->started = true;
    s->time = bar->time;
    bool all = true, bad = false;
    for (size_t f = 0; f < set->n; f++) {
        double x = value_of(s, f);
        feature_form_apply(set->features[f].form, &bar->close, 1, &x);
        s->has_value[f] |= !isnan(x);
        all &= s->has_value[f];
        feature_scaler_apply(&s->plan->scalers[f], &x, 1, &ret[f]);
        if (s->has_value[f] && !(isfinite(x) && fabsf(ret[f]) <= FLT_MAX)) {
            ret[f] = NAN;
            bad = true;
        }
    }
    return bad ? -ERANGE : all;
}

static void visit_flag(const struct indicator_stream_fields *fields, bool *flag)
{
    uint64_t wide = *flag;
    fields->count(fields->ctx, &wide, 1);
    *flag = wide != 0;
}

static void visit_bar(const struct indicator_stream_fields *fields, struct indicator_bar *bar)
{
    fields->number(fields->ctx, &bar->open);
    fields->number(fields->ctx, &bar->high);
    fields->number(fields->ctx, &bar->low);
    fields->number(fields->ctx, &bar->close);
    fields->number(fields->ctx, &bar->volume);
    fields->number(fields->ctx, &bar->time);
}

void feature_stream_visit(struct feature_stream *s, const struct indicator_stream_fields *fields)
{
    const struct feature_plan *plan = s->plan;
    visit_flag(fields, &s->started);
    fields->number(fields->ctx, &s->time);
    for (size_t k = 0; k < plan->n_frames; k++) {
        struct frame_state *frame = &s->frames[k];
        visit_flag(fields, &frame->forming);
        visit_flag(fields, &frame->whole);
        visit_flag(fields, &frame->any);
        visit_bar(fields, &frame->bar);
        visit_bar(fields, &frame->newest);
    }
    for (size_t k = 0; k < plan->n_sources; k++) {
        struct source_state *source = &s->sources[k];
        visit_flag(fields, &source->ready);
        for (size_t o = 0; o < plan->sources[k].spec->row->n_outputs; o++)
            fields->number(fields->ctx, &source->out[o]);
        indicator_stream_visit(source->stream, fields);
    }
    for (size_t f = 0; f < plan->set->n; f++)
        visit_flag(fields, &s->has_value[f]);
}
