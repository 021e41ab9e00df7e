/* One training's past: its curve thinned to what a chart can show, continued from where the last reading
 * ended. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "tui/history_reader.h"

#define COPY(field, text) cli_text_clean(field, sizeof(field), text)

enum { LINE_MAX = 256 };

struct reading {
    struct history_points *points;
    struct history_training *past; /* NULL: only the curve is read */
    bool found, checking, changed; /* the first point should be the newest known one; it was not */
    int64_t attempts, created_ns;
};

/* A line of an INI file: "[section]", "key = value", a comment, or nothing. */
static void parameter(struct history_training *past, char *section, size_t section_size, char *line)
{
    char *equals = strchr(line, '='), *end;

    line += strspn(line, " \t");
    if (*line == '#' || *line == ';' || !*line)
        return;
    if (*line == '[' && (end = strchr(line, ']'))) {
        *end = '\0';
        cli_text_clean(section, section_size, line + 1);
        return;
    }
    if (!equals || past->n_parameters == HISTORY_PARAMETERS_MAX)
        return;
    struct history_parameter *p = &past->parameters[past->n_parameters++];
    char *value = equals + 1 + strspn(equals + 1, " \t");
    while (equals > line && strchr(" \t", equals[-1]))
        equals--;
    *equals = '\0';
    for (end = value + strlen(value); end > value && strchr(" \t\r", end[-1]); end--)
        ;
    *end = '\0';
    COPY(p->section, section);
    COPY(p->key, line);
    COPY(p->value, value);
}

void tui_history_parameters(struct history_training *past, const char *config)
{
    char section[STATUS_WORD_MAX] = "", line[LINE_MAX];

    past->n_parameters = 0;
    while (*config) {
        size_t n = strcspn(config, "\n"), kept = n < sizeof(line) - 1 ? n : sizeof(line) - 1;
        memcpy(line, config, kept);
        line[kept] = '\0';
        parameter(past, section, sizeof(section), line);
        config += n + (config[n] == '\n');
    }
}

static void on_training(void *ctx, const struct db_training *row)
{
    struct reading *reading = ctx;

    reading->found = true;
    reading->attempts = row->attempts;
    reading->created_ns = row->created_ns;
    if (reading->past)
        tui_history_parameters(reading->past, row->config);
}

/* Drops every second point; from now on only every second one that comes is kept. */
static void halve(struct history_points *points)
{
    int kept = 0;

    for (int i = 0; i < points->n; i += 2, kept++) {
        points->steps[kept] = points->steps[i];
        for (int f = 0; f < FIGURES; f++)
            points->figures[f][kept] = points->figures[f][i];
    }
    points->n = kept;
    points->stride *= 2;
}

/* The newest one is always there: until the next comes, where it is not one that stays. */
static void on_point(void *ctx, const struct db_training_point *row)
{
    struct reading *reading = ctx;
    struct history_points *points = reading->points;

    if (reading->checking) {
        reading->checking = false;
        if (row->steps == points->steps[points->n - 1] && row->ts_ns == points->newest_ns)
            return;
        reading->changed = true;
    }
    if (reading->changed)
        return;
    points->newest_ns = row->ts_ns;
    if (points->passing)
        points->n--;
    if (points->n == HISTORY_POINTS_MAX)
        halve(points);
    int at = points->n++;
    points->steps[at] = row->steps;
#define TAKE(figure, member, words) points->figures[FIGURE_##figure][at] = row->member;
    HISTORY_FIGURES(TAKE)
    points->passing = points->seen++ % points->stride != 0;
}

static void on_evaluation(void *ctx, const struct db_training_evaluation *row)
{
    struct history_training *past = ((struct reading *)ctx)->past;

    if (past->n_evaluations == HISTORY_EVALUATIONS_MAX)
        memmove(past->evaluations, past->evaluations + 1,
                (size_t)--past->n_evaluations * sizeof(past->evaluations[0]));
    past->evaluations[past->n_evaluations] = *row;
    past->evaluations[past->n_evaluations++].training = NULL; /* the row's own text */
}

static void on_state(void *ctx, const struct db_training_state *row)
{
    struct history_training *past = ((struct reading *)ctx)->past;

    if (past->n_phases == HISTORY_PHASES_MAX)
        return;
    struct history_phase *phase = &past->phases[past->n_phases++];
    phase->ts_ns = row->ts_ns;
    phase->utilisation = row->utilisation;
    COPY(phase->state, row->state);
}

/* What was read of the curve is of the same training and the same attempt. */
static bool same_attempt(const struct reading *reading, const char *name)
{
    const struct history_points *points = reading->points;

    return points->stride > 0 && strcmp(points->training, name) == 0 &&
           points->attempts == reading->attempts && points->created_ns == reading->created_ns;
}

static void forget(struct reading *reading)
{
    struct history_points *points = reading->points;

    points->n = 0;
    points->seen = points->newest_ns = 0;
    points->stride = 1;
    points->passing = false;
    points->attempts = reading->attempts;
    points->created_ns = reading->created_ns;
    if (reading->past)
        reading->past->n_evaluations = 0;
    reading->changed = false;
}

static int read_on(struct db_reader *db, struct reading *reading, const char *name)
{
    const struct history_points *points = reading->points;
    const struct history_training *past = reading->past;
    int64_t from = points->n > 0 ? points->steps[points->n - 1] - 1 : INT64_MIN;

    reading->checking = points->n > 0;
    int r = db_reader_training_points(db, name, from, on_point, reading);
    reading->changed |= reading->checking; /* the newest that is known has gone */
    if (r < 0 || reading->changed || !past)
        return r;
    int64_t evaluations =
        past->n_evaluations > 0 ? past->evaluations[past->n_evaluations - 1].steps : INT64_MIN;
    return db_reader_training_evaluations(db, name, evaluations, on_evaluation, reading);
}

/* With its parameters and evaluations where `past` is read. */
static int read_curve(struct history_reader *reader, struct reading *reading, const char *name)
{
    struct history_points *points = reading->points;
    int r = db_reader_trainings(reader->db, name, on_training, reading);

    if (r < 0)
        return r;
    if (!same_attempt(reading, name))
        forget(reading);
    COPY(points->training, name);
    if (!reading->found) {
        points->n = 0;
        points->stride = 0;
        return 0;
    }
    r = read_on(reader->db, reading, name);
    if (r == 0 && reading->changed) { /* it went back to a checkpoint: reads all of it again */
        forget(reading);
        r = read_on(reader->db, reading, name);
    }
    return r;
}

int tui_history_read_points(struct history_reader *reader, struct history_points *points, const char *name)
{
    struct reading reading = {.points = points};

    if (!*name) {
        points->training[0] = '\0';
        points->n = 0;
        return 0;
    }
    int r = read_curve(reader, &reading, name);
    if (r < 0)
        points->stride = 0; /* what was read of it is read again */
    return r;
}

int tui_history_read_training(struct history_reader *reader, struct history_training *past, const char *name)
{
    struct reading reading = {.points = &past->points, .past = past};

    past->n_phases = 0;
    if (!*name) {
        past->n_evaluations = past->n_parameters = 0;
        return tui_history_read_points(reader, &past->points, name);
    }
    int r = read_curve(reader, &reading, name);
    if (r == 0 && !reading.found)
        past->n_evaluations = past->n_parameters = 0;
    else if (r == 0)
        r = db_reader_training_states(reader->db, name, HISTORY_PHASES_MAX, on_state, &reading);
    if (r < 0)
        past->points.stride = 0; /* what was read of it is read again */
    return r;
}
