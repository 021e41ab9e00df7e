#include "daemon/training/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/records.h"

#define SPACING_NS     950000000LL  /* of points: a worker reports one a second, and a line may come late */
#define UTILISATION_NS 2000000000LL /* for so long an update's utilisation is used for what follows it */

void daemon_training_progress_begin(struct training_progress *progress, int64_t seq)
{
    *progress = (struct training_progress){.seq = seq, .point_steps = -1, .utilisation = NAN};
}

/* ---- reading ---- */

static int64_t whole_of(const json_t *event, const char *name)
{
    const json_t *value = json_object_get(event, name);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : -1;
}

static double real_of(const json_t *event, const char *name)
{
    const json_t *value = json_object_get(event, name);
    double number = json_is_number(value) ? json_number_value(value) : NAN;
    return isfinite(number) ? number : NAN;
}

static bool is_kind(const json_t *event, const char *kind)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    return name && strcmp(name, kind) == 0;
}

int64_t daemon_training_progress_reach(const struct training_progress *progress, const json_t *events)
{
    int64_t reach = progress->seq;
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        int64_t seq = whole_of(event, "seq");
        if (seq <= reach || whole_of(event, "ts_ns") < 0)
            break;
        reach = seq;
    }
    return reach;
}

/* ---- points ---- */

/* Every figure of the record that the event may have. */
static void take_figures(const struct record *record, const json_t *event, void *row)
{
    for (const struct record_field *field = record->fields; field < record->fields + record->n; field++)
        if (field->kind == RECORD_REAL)
            record_field_set_real(field, row, real_of(event, field->name));
}

/* Forgets rows beyond `steps`: they belong to a run that did not continue. */
static void forget(struct training_progress *progress, int64_t steps, const struct progress_sink *sink)
{
    sink->rewind(sink->ctx, steps);
    progress->point_steps = steps;
    progress->point_ns = 0;
}

static bool is_turn(const char *state)
{
    return strcmp(state, "rollout") == 0 || strcmp(state, "update") == 0;
}

static void take_utilisation(struct training_progress *progress, const char *training, double utilisation,
                             int64_t ts_ns, const struct progress_sink *sink)
{
    const struct db_training_state before = {.training = training,
                                             .state = progress->before,
                                             .ts_ns = progress->before_ns,
                                             .utilisation = utilisation};
    progress->last_utilisation = utilisation;
    progress->last_utilisation_ns = ts_ns;
    if (progress->before[0])
        sink->state(sink->ctx, &before);
    progress->before[0] = '\0';
    if (is_turn(progress->state))
        progress->utilisation = utilisation;
}

static void take_update(struct training_progress *progress, const char *training, const json_t *event,
                        bool last, const struct progress_sink *sink)
{
    int64_t steps = whole_of(event, "steps"), iteration = whole_of(event, "iteration"),
            ts_ns = whole_of(event, "ts_ns");
    double device = real_of(event, "device_utilisation"), cpu = real_of(event, "cpu_utilisation");
    if (isfinite(device) || isfinite(cpu))
        take_utilisation(progress, training, isfinite(device) ? device : cpu, ts_ns, sink);
    if (steps <= 0 || iteration < 0)
        return;
    if (!last && ts_ns - progress->point_ns < SPACING_NS && ts_ns >= progress->point_ns)
        return;
    if (progress->point_steps < 0 || steps <= progress->point_steps)
        forget(progress, steps - 1, sink);
    struct db_training_point point = {
        .training = training, .steps = steps, .iteration = iteration, .ts_ns = ts_ns};
    take_figures(&db_record_training_points, event, &point);
    sink->point(sink->ctx, &point);
    progress->point_steps = steps;
    progress->point_ns = ts_ns;
}

static void take_evaluation(const char *training, const json_t *event, const struct progress_sink *sink)
{
    struct db_training_evaluation evaluation = {
        .training = training, .steps = whole_of(event, "steps"), .ts_ns = whole_of(event, "ts_ns")};
    take_figures(&db_record_training_evaluations, event, &evaluation);
    if (evaluation.steps >= 0)
        sink->evaluation(sink->ctx, &evaluation);
}

/* ---- the timeline ---- */

void daemon_training_progress_go(struct training_progress *progress, const char *training, const char *state,
                                 int64_t ts_ns, const struct progress_sink *sink)
{
    if (strcmp(progress->state, state) == 0)
        return;
    if (is_turn(progress->state) && !isfinite(progress->utilisation) && progress->last_utilisation_ns > 0 &&
        ts_ns - progress->last_utilisation_ns < UTILISATION_NS)
        progress->utilisation = progress->last_utilisation;
    struct db_training_state before = {.training = training,
                                       .state = progress->state,
                                       .ts_ns = progress->state_ns,
                                       .utilisation = progress->utilisation};
    if (progress->state[0] && isfinite(progress->utilisation))
        sink->state(sink->ctx, &before);
    bool waits = is_turn(progress->state) && is_turn(state) && !isfinite(progress->utilisation);
    snprintf(progress->before, sizeof progress->before, "%s", waits ? progress->state : "");
    progress->before_ns = progress->state_ns;
    if (ts_ns <= progress->state_ns) /* a clock that was set back; one row a moment */
        ts_ns = progress->state_ns + 1;
    snprintf(progress->state, sizeof progress->state, "%s", state);
    progress->state_ns = ts_ns;
    progress->utilisation = NAN;
    struct db_training_state now = {
        .training = training, .state = progress->state, .ts_ns = ts_ns, .utilisation = NAN};
    sink->state(sink->ctx, &now);
}

static void take_state(struct training_progress *progress, const char *training, const json_t *event,
                       const struct progress_sink *sink)
{
    const char *state = json_string_value(json_object_get(event, "state"));
    int64_t ts_ns = whole_of(event, "ts_ns");
    if (state && daemon_training_state_works(state))
        daemon_training_progress_go(progress, training, state, ts_ns, sink);
}

/* ---- all ---- */

/* Does no update follow before the run checkpoints, is evaluated or ends, or the events do? */
static bool is_last_update(const json_t *events, size_t at, int64_t reach)
{
    static const char *const lasting[] = {"start", "checkpoint", "evaluation", "end"};
    while (whole_of(json_array_get(events, at), "seq") < reach) {
        const json_t *event = json_array_get(events, ++at);
        if (is_kind(event, "update"))
            return false;
        for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
            if (is_kind(event, lasting[i]))
                return true;
    }
    return true;
}

void daemon_training_progress_take(struct training_progress *progress, const char *training,
                                   const json_t *events, const struct progress_sink *sink)
{
    int64_t reach = daemon_training_progress_reach(progress, events);
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        if (progress->seq == reach)
            break;
        progress->seq = whole_of(event, "seq");
        if (is_kind(event, "start") && whole_of(event, "steps") >= 0)
            forget(progress, whole_of(event, "steps"), sink);
        else if (is_kind(event, "update"))
            take_update(progress, training, event, is_last_update(events, i, reach), sink);
        else if (is_kind(event, "evaluation"))
            take_evaluation(training, event, sink);
        else if (is_kind(event, "state"))
            take_state(progress, training, event, sink);
    }
}
