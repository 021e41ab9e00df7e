#include "trainer/study/tpe/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/space.h"

void tpe_history_finish(struct tpe_history *history)
{
    for (int i = 0; i < history->n_columns; i++) {
        free(history->columns[i]->sorted);
        free(history->columns[i]->places);
        free(history->columns[i]);
    }
    free(history->columns);
    free(history->merits);
    free(history->complete);
    free(history->joint);
    *history = (struct tpe_history){0};
}

static int compare(const void *a, const void *b)
{
    struct tpe_entry x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return tpe_is_before(x, y) ? -1 : tpe_is_before(y, x) ? 1 : 0;
}

static void insert(struct tpe_entry *sorted, int *n, struct tpe_entry entry)
{
    int low = 0, high = *n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (tpe_is_before(sorted[middle], entry))
            low = middle + 1;
        else
            high = middle;
    }
    memmove(sorted + low + 1, sorted + low, (size_t)(*n - low) * sizeof *sorted);
    sorted[low] = entry;
    ++*n;
}

/* NaN: the trial lacks it. */
static double place_in(const struct tpe_column *column, const struct study_trial *trial)
{
    const struct trial_param *param = study_trial_param(trial, column->param);
    return !param ? NAN : column->log ? log(param->value) : param->value;
}

static bool grow(void *array, size_t size, int n)
{
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, (size_t)n * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    return true;
}

static int reserve(struct tpe_history *history, int n_trials)
{
    if (n_trials > history->capacity) {
        int capacity = n_trials + n_trials / 2 + 64;
        if (!grow(&history->merits, sizeof *history->merits, capacity) ||
            !grow(&history->complete, sizeof *history->complete, capacity))
            return -ENOMEM;
        for (int i = 0; i < history->n_columns; i++)
            if (!grow(&history->columns[i]->sorted, sizeof *history->columns[i]->sorted, capacity) ||
                !grow(&history->columns[i]->places, sizeof *history->columns[i]->places, capacity))
                return -ENOMEM;
        history->capacity = capacity;
    }
    for (int number = history->n_trials; number < n_trials; number++) {
        history->merits[number] = (struct tpe_merit){.state = TRIAL_WAITING};
        for (int i = 0; i < history->n_columns; i++)
            history->columns[i]->places[number] = NAN;
    }
    history->n_trials = n_trials;
    return 0;
}

static int widen(struct tpe_history *history, const struct study *study)
{
    if (study->n_params > history->n_params) {
        if (!grow(&history->joint, sizeof *history->joint, study->n_params))
            return -ENOMEM;
        /* what trials so far did not have is in no joint space of theirs */
        for (int p = history->n_params; p < study->n_params; p++)
            history->joint[p] = -1;
        history->n_params = study->n_params;
    }
    return 0;
}

static struct tpe_merit merit_of(const struct study *study, const struct study_trial *trial)
{
    struct tpe_merit merit = {.state = trial->state};
    double sign = study->directions[0] == STUDY_MAXIMIZE ? -1 : 1, violation = study_trial_violation(trial);
    merit.violation = violation > 0 ? violation : 0;
    if (trial->state == TRIAL_COMPLETE) {
        merit.first = trial->values ? sign * trial->values[0] : INFINITY;
    } else if (trial->n_reports == 0) {
        merit.first = 1; /* behind all that reported, whose first are steps <= 0 */
    } else {
        const struct trial_report *last = &trial->reports[trial->n_reports - 1];
        merit.first = -(double)last->step;
        merit.second = isnan(last->value) ? INFINITY : sign * last->value;
    }
    return merit;
}

static void add(struct tpe_history *history, const struct study *study, const struct study_trial *trial)
{
    struct tpe_merit merit = merit_of(study, trial);
    history->merits[trial->number] = merit;
    if (merit.state == TRIAL_COMPLETE && merit.violation <= 0 && study->n_objectives == 1)
        insert(history->complete, &history->n_complete, (struct tpe_entry){merit.first, trial->number});
    space_intersect(trial, history->n_known == 0, history->joint, history->n_params);
    for (int i = 0; i < history->n_columns; i++) {
        struct tpe_column *column = history->columns[i];
        double place = column->places[trial->number] = place_in(column, trial);
        if (!isnan(place))
            insert(column->sorted, &column->n, (struct tpe_entry){place, trial->number});
    }
    history->n_known++;
}

static bool is_later(const struct tpe_history *history, const struct study *study)
{
    if (study != history->study || study->id != history->id || study->version < history->version ||
        study->n_trials < history->n_trials || study->n_params < history->n_params)
        return false;
    for (int i = 0; i < history->n_trials; i++)
        if (history->merits[i].state != TRIAL_WAITING && history->merits[i].state != study->trials[i]->state)
            return false;
    return true;
}

int tpe_history_update(struct tpe_history *history, const struct study *study)
{
    if (!is_later(history, study))
        tpe_history_finish(history);
    history->study = study;
    history->id = study->id;
    history->version = study->version;
    if (reserve(history, study->n_trials) < 0 || widen(history, study) < 0) {
        tpe_history_finish(history);
        return -ENOMEM;
    }
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        if (history->merits[i].state == TRIAL_WAITING &&
            (trial->state == TRIAL_COMPLETE || trial->state == TRIAL_PRUNED))
            add(history, study, trial);
    }
    return 0;
}

static bool fill(const struct tpe_history *history, struct tpe_column *column)
{
    column->sorted = malloc((size_t)history->capacity * sizeof *column->sorted + 1);
    column->places = malloc((size_t)history->capacity * sizeof *column->places + 1);
    if (!column->sorted || !column->places)
        return false;
    for (int i = 0; i < history->n_trials; i++) {
        bool known = history->merits[i].state != TRIAL_WAITING;
        double place = column->places[i] = known ? place_in(column, history->study->trials[i]) : NAN;
        if (!isnan(place))
            column->sorted[column->n++] = (struct tpe_entry){place, i};
    }
    qsort(column->sorted, (size_t)column->n, sizeof *column->sorted, compare);
    return true;
}

const struct tpe_column *tpe_history_column(struct tpe_history *history, int param, bool log)
{
    for (int i = 0; i < history->n_columns; i++)
        if (history->columns[i]->param == param && history->columns[i]->log == log)
            return history->columns[i];
    struct tpe_column *column = calloc(1, sizeof *column);
    if (!column)
        return NULL;
    column->param = param;
    column->log = log;
    if (!fill(history, column) ||
        !grow(&history->columns, sizeof *history->columns, history->n_columns + 1)) {
        free(column->sorted);
        free(column->places);
        free(column);
        return NULL;
    }
    return history->columns[history->n_columns++] = column;
}
