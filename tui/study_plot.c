#include "tui/study_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FENCE = 3, FENCE_TRIALS_MIN = 8 };

const char *tui_study_omitted(char *buf, size_t size, const struct plot_count *count)
{
    static const char *const words[OMISSIONS] = {
        [OMITTED_NO_VALUE] = "without a value", [OMITTED_NAN] = "NaN",
        [OMITTED_INFINITE] = "infinite",        [OMITTED_UNFINISHED] = "not completed",
        [OMITTED_INFEASIBLE] = "infeasible",    [OMITTED_NO_PARAMETER] = "without the parameter",
        [OMITTED_OFF_AXIS] = "off the axis",
    };
    size_t at = 0;

    buf[0] = '\0';
    for (int i = OMITTED_NOT + 1; i < OMISSIONS; i++)
        if (count->n[i] > 0 && at < size)
            at += (size_t)snprintf(buf + at, size - at, "%s%d %s", at ? ", " : "left out: ", count->n[i],
                                   words[i]);
    return buf;
}

/* ---- Axes. ---- */

/* Why the trial has no value for a plot. */
static enum plot_omission value_omission(const struct tui_study_trial *trial, bool results)
{
    double value = tui_study_trial_value(trial);
    bool so_far = trial->state == TRIAL_RUNNING || trial->state == TRIAL_PRUNED;

    if (results && trial->state != TRIAL_COMPLETE)
        return OMITTED_UNFINISHED;
    if (results && trial->violation > 0)
        return OMITTED_INFEASIBLE;
    if (isnan(value))
        return trial->values || (so_far && trial->n_reports > 0) ? OMITTED_NAN : OMITTED_NO_VALUE;
    return isinf(value) ? OMITTED_INFINITE : OMITTED_NOT;
}

static int category(const struct study_axis *axis, const char *text)
{
    for (int i = 0; i < axis->n_categories; i++)
        if (strcmp(axis->categories[i], text) == 0)
            return i;
    return -1;
}

static void widen(struct study_axis *axis, double low, double high)
{
    axis->low = fmin(axis->low, low);
    axis->high = fmax(axis->high, high);
}

/* Takes in all that the distribution can give. */
static void take_distribution(struct study_axis *axis, const struct tui_study_distribution *d)
{
    if (d->kind != DISTRIBUTION_CATEGORICAL) {
        widen(axis, d->low, d->high);
        axis->log &= d->log;
        axis->whole &= d->kind == DISTRIBUTION_INT;
        double values = d->step > 0 && !d->log ? (d->high - d->low) / d->step + 1 : 0;
        axis->n_values = d->kind == DISTRIBUTION_INT && values < PLOT_CATEGORIES_MAX ? (int)values : 0;
        return;
    }
    for (int i = 0; i < d->n_choices && axis->n_categories < PLOT_CATEGORIES_MAX; i++)
        if (category(axis, d->choices[i]) < 0)
            axis->categories[axis->n_categories++] = d->choices[i];
}

static bool same_range(const struct tui_study_distribution *a, const struct tui_study_distribution *b)
{
    return a->low == b->low && a->high == b->high && a->step == b->step;
}

static void take_cell(const struct tui_study_page *page, struct study_axis *axis,
                      const struct tui_study_cell *cell, int *last)
{
    const struct tui_study_distribution *d = &page->distributions[cell->distribution];
    bool categorical = d->kind == DISTRIBUTION_CATEGORICAL;

    if (!isfinite(cell->value) || (axis->known && axis->categorical != categorical))
        return;
    axis->known = true;
    axis->categorical = categorical;
    if (*last != cell->distribution) { /* most trials have the one that the trial before has */
        int values = axis->n_values;
        take_distribution(axis, d);
        if (*last >= 0 && (values != axis->n_values || !same_range(d, &page->distributions[*last])))
            axis->n_values = 0;
        *last = cell->distribution;
    }
    if (!categorical && (cell->value < axis->low || cell->value > axis->high)) {
        widen(axis, cell->value, cell->value);
        axis->n_values = 0;
    }
}

static int rising(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return p < q ? -1 : p > q;
}

/* Takes in the objective's values: from the best to the worst that is within the fence. */
static void take_values(const struct tui_study_page *page, struct study_axis *axis)
{
    bool high_is_best = page->study.directions[0] == STUDY_MAXIMIZE;
    double *sorted = malloc(((size_t)page->n_trials + 1) * sizeof(*sorted));
    int n = 0, first = 0, last;

    for (int i = 0; sorted && i < page->n_trials; i++)
        if (value_omission(&page->trials[i], axis->results) == OMITTED_NOT)
            sorted[n++] = tui_study_trial_value(&page->trials[i]);
    if (n > 0) {
        qsort(sorted, (size_t)n, sizeof(*sorted), rising);
        double low = sorted[n / 4], high = sorted[3 * n / 4], room = FENCE * (high - low);
        bool fenced = n >= FENCE_TRIALS_MIN && room > 0;
        last = n - 1;
        while (fenced && high_is_best && sorted[first] < low - room)
            first++;
        while (fenced && !high_is_best && sorted[last] > high + room)
            last--;
        axis->known = true;
        axis->low = sorted[first];
        axis->high = sorted[last];
        axis->n_below = first;
        axis->n_above = n - 1 - last;
    }
    free(sorted);
}

void tui_study_axis_make(const struct tui_study_page *page, int param, bool results, struct study_axis *ret)
{
    int last = -1;

    *ret = (struct study_axis){
        .param = param, .results = results, .log = true, .whole = true, .low = INFINITY, .high = -INFINITY};
    for (int i = 0; param >= 0 && i < page->n_trials; i++)
        if (value_omission(&page->trials[i], results) == OMITTED_NOT)
            take_cell(page, ret, &page->trials[i].cells[param], &last);
    if (param < 0)
        take_values(page, ret);
    ret->whole &= param >= 0 && !ret->categorical;
    if (param < 0 || ret->categorical || !(ret->low > 0))
        ret->log = false;
}

double tui_study_axis_place_of(const struct study_axis *axis, double value)
{
    double low = axis->low, high = axis->high;

    if ((axis->n_below > 0 && value < low) || (axis->n_above > 0 && value > high))
        value = value < low ? low : high;
    if (!(value >= low && value <= high))
        return NAN;
    if (axis->log) {
        low = log(low);
        high = log(high);
        value = log(value);
    }
    if (!(high > low))
        return 0.5;
    double half = high / 2 - low / 2; /* the whole may be beyond what a double holds */
    return fmin(1, fmax(0, (value / 2 - low / 2) / half));
}

/* The index of its category, or its number; *ret is not set without. */
static enum plot_omission axis_value(const struct tui_study_page *page, const struct study_axis *axis,
                                     const struct tui_study_trial *trial, double *ret)
{
    enum plot_omission omission = value_omission(trial, axis->results);

    if (omission != OMITTED_NOT)
        return omission;
    if (axis->param < 0) {
        *ret = tui_study_trial_value(trial);
        return OMITTED_NOT;
    }
    const struct tui_study_cell *cell = &trial->cells[axis->param];
    if (isnan(cell->value))
        return OMITTED_NO_PARAMETER;
    const struct tui_study_distribution *d = &page->distributions[cell->distribution];
    if ((d->kind == DISTRIBUTION_CATEGORICAL) != axis->categorical)
        return OMITTED_OFF_AXIS;
    if (axis->categorical) {
        bool valid = cell->value >= 0 && cell->value < d->n_choices;
        int at = valid ? category(axis, d->choices[(int)cell->value]) : -1;
        *ret = at;
        return at >= 0 ? OMITTED_NOT : OMITTED_OFF_AXIS;
    }
    *ret = cell->value;
    return isfinite(cell->value) && !isnan(tui_study_axis_place_of(axis, cell->value)) ? OMITTED_NOT
                                                                                       : OMITTED_OFF_AXIS;
}

enum plot_omission tui_study_axis_omission(const struct tui_study_page *page, const struct study_axis *axis,
                                           const struct tui_study_trial *trial)
{
    double unused;

    return axis_value(page, axis, trial, &unused);
}

double tui_study_axis_place(const struct tui_study_page *page, const struct study_axis *axis,
                            const struct tui_study_trial *trial)
{
    double value;

    if (axis_value(page, axis, trial, &value) != OMITTED_NOT)
        return NAN;
    if (axis->categorical)
        return axis->n_categories > 1 ? value / (axis->n_categories - 1) : 0.5;
    return tui_study_axis_place_of(axis, value);
}

/* Multiples of step x 10^exponent; a power of ten is exact from 10^0 to 10^22. */
static int multiples(const struct study_axis *axis, int digit, int exponent, int most, double *ret)
{
    double power = pow(10, abs(exponent));
    double low = exponent < 0 ? axis->low * power / digit : axis->low / power / digit;
    double high = exponent < 0 ? axis->high * power / digit : axis->high / power / digit;
    int n = 0;

    if (!(floor(high) - ceil(low) < most))
        return -1; /* too many */
    for (double i = ceil(low); i <= high; i++)
        ret[n++] = exponent < 0 ? i * digit / power : i * digit * power;
    return n;
}

/* Every k-th power of ten. */
static int powers(const struct study_axis *axis, int most, double *ret)
{
    int from = (int)ceil(log10(axis->low) - 1e-9), to = (int)floor(log10(axis->high) + 1e-9), n = 0;
    int step = (to - from) / most + 1;

    for (int e = from; e <= to; e += step) {
        double power = e < 0 ? 1 / pow(10, -e) : pow(10, e);
        if (power >= axis->low && power <= axis->high)
            ret[n++] = power;
    }
    return n;
}

int tui_study_axis_ticks(const struct study_axis *axis, int most, double ret[static PLOT_TICKS_MAX])
{
    static const int digits[] = {1, 2, 5};
    double range = axis->high - axis->low;

    most = most > PLOT_TICKS_MAX ? PLOT_TICKS_MAX : most;
    if (axis->categorical || most < 1 || !(range > 0) || isinf(range))
        return 0;
    if (axis->log && floor(log10(axis->high) + 1e-9) - ceil(log10(axis->low) - 1e-9) >= 1)
        return powers(axis, most, ret);
    int least = (int)floor(log10(range / most)) - 1;
    for (int e = axis->whole && least < 0 ? 0 : least; e < least + 5; e++)
        for (int i = 0; i < 3; i++) {
            int n = multiples(axis, digits[i], e, most, ret);
            if (n >= 0)
                return n;
        }
    return 0;
}

int tui_study_axis_cells(const struct study_axis *axis, int most)
{
    int own = axis->categorical ? axis->n_categories : axis->n_values;

    return own > 0 && own < most ? own : most;
}

int tui_study_axis_cell(const struct tui_study_page *page, const struct study_axis *axis,
                        const struct tui_study_trial *trial, int cells)
{
    double value;

    if (cells < 1 || axis_value(page, axis, trial, &value) != OMITTED_NOT)
        return -1;
    if (axis->categorical)
        return (int)((long)value * cells / axis->n_categories);
    int at = (int)(tui_study_axis_place_of(axis, value) * cells);
    return at < cells ? at : cells - 1;
}

/* ---- Sums. ---- */

enum plot_sign tui_study_sign(const struct tui_study_trial *trial)
{
    switch (trial->state) {
    case TRIAL_COMPLETE:
        return trial->violation > 0 ? SIGN_INFEASIBLE : SIGN_COMPLETE;
    case TRIAL_RUNNING:
        return SIGN_RUNNING;
    case TRIAL_PRUNED:
        return SIGN_PRUNED;
    default:
        return SIGN_OTHER;
    }
}

void tui_study_plot_grid(const struct tui_study_page *page, const struct study_axis *x, int x_cells,
                         const struct study_axis *y, int y_cells, struct plot_cell *ret,
                         struct plot_count *ret_count)
{
    *ret_count = (struct plot_count){0};
    for (int i = 0; i < x_cells * y_cells; i++)
        ret[i] = (struct plot_cell){.best = NAN};
    for (int i = 0; i < page->n_trials; i++) {
        const struct tui_study_trial *trial = &page->trials[i];
        enum plot_omission omission = tui_study_axis_omission(page, x, trial);
        if (omission == OMITTED_NOT)
            omission = tui_study_axis_omission(page, y, trial);
        ret_count->n[omission]++;
        if (omission != OMITTED_NOT)
            continue;
        struct plot_cell *cell = &ret[tui_study_axis_cell(page, y, trial, y_cells) * x_cells +
                                      tui_study_axis_cell(page, x, trial, x_cells)];
        double value = tui_study_trial_value(trial);
        cell->n[tui_study_sign(trial)]++;
        if (isnan(cell->best) || tui_study_better(page->study.directions[0], value, cell->best))
            cell->best = value;
    }
}

void tui_study_histogram(const struct tui_study_page *page, const struct study_axis *axis, int n_bins,
                         int *ret, struct plot_count *ret_count)
{
    *ret_count = (struct plot_count){0};
    memset(ret, 0, (size_t)n_bins * sizeof(*ret));
    for (int i = 0; i < page->n_trials; i++) {
        ret_count->n[tui_study_axis_omission(page, axis, &page->trials[i])]++;
        int at = tui_study_axis_cell(page, axis, &page->trials[i], n_bins);
        if (at >= 0)
            ret[at]++;
    }
}

int tui_study_histogram_bins(int n, int most)
{
    int bins = (int)ceil(sqrt(n));

    bins = bins < 4 ? 4 : bins;
    return bins > most ? most : bins;
}

int tui_study_step(double value, double worst, double best, int steps)
{
    if (worst == best)
        return steps - 1;
    double at = (value / 2 - worst / 2) / (best / 2 - worst / 2) * steps;

    return !(at > 0) ? 0 : at < steps ? (int)at : steps - 1;
}

double tui_study_pair_place(int cell, int cells)
{
    return cells > 1 ? (double)cell / (cells - 1) : 0.5;
}

int tui_study_pairs(const struct tui_study_page *page, const struct study_axis *a, const struct study_axis *b,
                    int cells, bool *ret)
{
    int gaps = 0;

    memset(ret, 0, (size_t)cells * (size_t)cells * sizeof(*ret));
    for (int i = 0; i < page->n_trials; i++) {
        const struct tui_study_trial *trial = &page->trials[i];
        if (value_omission(trial, true) != OMITTED_NOT)
            continue;
        double from = tui_study_axis_place(page, a, trial), to = tui_study_axis_place(page, b, trial);
        if (!isnan(from) && !isnan(to))
            ret[lround(from * (cells - 1)) * cells + lround(to * (cells - 1))] = true;
        else
            gaps++;
    }
    return gaps;
}

int tui_study_best(const struct tui_study_page *page, int most,
                   const struct tui_study_trial *ret[static PLOT_BEST_MAX])
{
    int n = 0;

    most = most > PLOT_BEST_MAX ? PLOT_BEST_MAX : most;
    for (int i = 0; i < page->n_trials; i++) {
        const struct tui_study_trial *trial = &page->trials[i];
        if (value_omission(trial, true) != OMITTED_NOT)
            continue;
        int at = n;
        while (at > 0 &&
               tui_study_better(page->study.directions[0], trial->values[0], ret[at - 1]->values[0]))
            at--;
        if (at >= most)
            continue;
        n = n < most ? n + 1 : n;
        memmove(&ret[at + 1], &ret[at], (size_t)(n - 1 - at) * sizeof(*ret));
        ret[at] = trial;
    }
    return n;
}
