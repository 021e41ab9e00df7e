/* The plots of a study's trials against a second computation: each trial in exactly one cell or under one
 * reason, bins that sum up to the results, logarithmic axes, categories, whole numbers; NaN, infinite and
 * missing values, parameters of other scales; the best. Synthetic pages, seeded. */
#include "tui/study_plot.h"

#include <math.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/random.h"

enum { TRIALS = 400, PARAMS = 4, CELLS = 30, ROUNDS = 60 };
enum { LINEAR, LOGARITHMIC, WHOLE, CATEGORIES, CATEGORIES_MORE, LINEAR_WIDE, WHOLE_NEXT, DISTRIBUTIONS };

static const char *choices[] = {"adam", "sgd", "none"}, *more[] = {"none", "rmsprop"};
static const struct tui_study_distribution distributions[DISTRIBUTIONS] = {
    [LINEAR] = {.kind = DISTRIBUTION_FLOAT, .low = -2, .high = 3},
    [LOGARITHMIC] = {.kind = DISTRIBUTION_FLOAT, .log = true, .low = 1e-5, .high = 1e-1},
    [WHOLE] = {.kind = DISTRIBUTION_INT, .low = 4, .high = 16, .step = 1},
    [CATEGORIES] = {.kind = DISTRIBUTION_CATEGORICAL, .n_choices = 3, .choices = choices},
    [CATEGORIES_MORE] = {.kind = DISTRIBUTION_CATEGORICAL, .n_choices = 2, .choices = more},
    [LINEAR_WIDE] = {.kind = DISTRIBUTION_FLOAT, .low = 1, .high = 10},
    [WHOLE_NEXT] = {.kind = DISTRIBUTION_INT, .low = 17, .high = 29, .step = 1}, /* as many */
};
static const char *params[PARAMS] = {"linear", "rate", "whole", "optimizer"};
static struct tui_study_trial trials[TRIALS];
static struct tui_study_cell cells[TRIALS][PARAMS];
static double values[TRIALS];
static struct trial_report reports[TRIALS];
static struct tui_study_page page;

static struct random source;

/* 0 .. n - 1 */
static int pick(int n)
{
    return (int)random_between(&source, 0, n - 1);
}

/* 0 .. 1 */
static double uniform(void)
{
    return (double)random_between(&source, 0, 1 << 30) / (1 << 30);
}

static double draw(const struct tui_study_distribution *d)
{
    if (d->kind == DISTRIBUTION_CATEGORICAL)
        return pick(d->n_choices);
    if (d->kind == DISTRIBUTION_INT)
        return d->low + pick(13);
    return d->log ? exp(log(d->low) + uniform() * (log(d->high) - log(d->low)))
                  : d->low + uniform() * (d->high - d->low);
}

/* `odd`: with other scales of the same parameter, values that are not numbers, and trials without. */
static void fill(int n, bool odd)
{
    static const int own[PARAMS] = {LINEAR, LOGARITHMIC, WHOLE, CATEGORIES};

    page = (struct tui_study_page){.n_params = PARAMS,
                                   .params = params,
                                   .n_distributions = DISTRIBUTIONS,
                                   .distributions = distributions,
                                   .n_trials = n,
                                   .trials = trials};
    page.study.n_objectives = 1;
    page.study.directions[0] = pick(2) ? STUDY_MAXIMIZE : STUDY_MINIMIZE;
    for (int i = 0; i < n; i++) {
        int what = odd ? pick(12) : 0;
        values[i] = what == 1 ? INFINITY : what == 2 ? -INFINITY : what == 3 ? NAN : 8 * uniform() - 3;
        if (odd && pick(12) == 0)
            values[i] *= 1e6;
        reports[i].value = pick(8) ? uniform() : NAN;
        trials[i] =
            (struct tui_study_trial){.number = i,
                                     .state = odd ? (enum trial_state)(pick(TRIAL_STATES)) : TRIAL_COMPLETE,
                                     .values = &values[i],
                                     .cells = cells[i],
                                     .violation = odd && pick(9) == 0 ? 1 : NAN};
        if (trials[i].state != TRIAL_COMPLETE) {
            trials[i].values = NULL;
            trials[i].reports = &reports[i];
            trials[i].n_reports = pick(2);
        }
        for (int k = 0; k < PARAMS; k++) {
            int d = own[k], other = odd ? pick(6) : 0;
            d = other == 1 && k == 3 ? CATEGORIES_MORE : other == 1 && k == 0 ? LINEAR_WIDE : d;
            d = other == 2 && i > 0 && k > 0 ? own[3 - k] : d; /* a number among categories, and so on */
            cells[i][k] = (struct tui_study_cell){draw(&distributions[d]), d};
            if (other == 3)
                cells[i][k].value = pick(3) ? NAN : pick(2) ? INFINITY : 1e6;
        }
    }
}

/* ---- the second computation ---- */

static double value_of(const struct tui_study_trial *trial)
{
    if (trial->state == TRIAL_COMPLETE)
        return trial->values[0];
    bool so_far = trial->state == TRIAL_RUNNING || trial->state == TRIAL_PRUNED;
    return so_far && trial->n_reports ? trial->reports[0].value : NAN;
}

static bool counts(const struct tui_study_trial *trial, bool results)
{
    return isfinite(value_of(trial)) &&
           (!results || (trial->state == TRIAL_COMPLETE && !(trial->violation > 0)));
}

/* The cell by walking along the edges; -1: none. *ret_close: so near to an edge that the one before, or the
 * one after, is as good. */
static int walk(const struct study_axis *axis, const struct tui_study_trial *trial, int n, bool *ret_close)
{
    *ret_close = false;
    if (!counts(trial, axis->results))
        return -1;
    double value = value_of(trial);
    if (axis->param >= 0) {
        const struct tui_study_cell *cell = &trial->cells[axis->param];
        const struct tui_study_distribution *d = &distributions[cell->distribution];
        value = cell->value;
        if (!isfinite(value) || (d->kind == DISTRIBUTION_CATEGORICAL) != axis->categorical)
            return -1;
        if (axis->categorical) {
            if (value >= d->n_choices)
                return -1;
            for (int i = 0; i < axis->n_categories; i++)
                if (strcmp(axis->categories[i], d->choices[(int)value]) == 0)
                    return i * n / axis->n_categories;
            return -1;
        }
    }
    if (axis->param < 0) /* the worst may be beyond the fence */
        value = fmin(fmax(value, axis->low), axis->high);
    if (value < axis->low || value > axis->high)
        return -1;
    if (axis->low == axis->high)
        return n / 2; /* one value alone is in the middle */
    int at = 0;
    for (int k = 1; k < n; k++) {
        double share = (double)k / n;
        double edge = axis->log ? axis->low * pow(axis->high / axis->low, share)
                                : axis->low + share * (axis->high - axis->low);
        *ret_close |= fabs(value - edge) <= 1e-12 * (fabs(axis->low) + fabs(axis->high));
        at += value >= edge;
    }
    return at;
}

static void check_cells(const struct study_axis *axis, int n)
{
    for (int i = 0; i < page.n_trials; i++) {
        bool close;
        int right = walk(axis, &trials[i], n, &close);
        int found = tui_study_axis_cell(&page, axis, &trials[i], n);
        CHECK(found == right || (close && right >= 0 && abs(found - right) == 1));
        CHECK((found >= 0) == (tui_study_axis_omission(&page, axis, &trials[i]) == OMITTED_NOT));
        CHECK(found < n);
        double place = tui_study_axis_place(&page, axis, &trials[i]);
        CHECK(isnan(place) == (found < 0) && !(place < 0) && !(place > 1));
    }
}

/* The reason by what the trial has, in the order of the header. */
static enum plot_omission reason(const struct tui_study_trial *trial, const struct study_axis *x)
{
    double value = value_of(trial);
    bool reported = trial->state == TRIAL_COMPLETE ||
                    (trial->n_reports > 0 && (trial->state == TRIAL_RUNNING || trial->state == TRIAL_PRUNED));
    if (x->results && trial->state != TRIAL_COMPLETE)
        return OMITTED_UNFINISHED;
    if (x->results && trial->violation > 0)
        return OMITTED_INFEASIBLE;
    if (isnan(value))
        return reported ? OMITTED_NAN : OMITTED_NO_VALUE;
    if (isinf(value))
        return OMITTED_INFINITE;
    if (x->param >= 0 && isnan(trial->cells[x->param].value))
        return OMITTED_NO_PARAMETER;
    bool close;
    return walk(x, trial, 1, &close) < 0 ? OMITTED_OFF_AXIS : OMITTED_NOT;
}

static void check_grid(const struct study_axis *x, int x_cells, const struct study_axis *y, int y_cells)
{
    static struct plot_cell grid[CELLS * CELLS];
    struct plot_count count, right = {0};
    int sum = 0;

    tui_study_plot_grid(&page, x, x_cells, y, y_cells, grid, &count);
    for (int i = 0; i < page.n_trials; i++) {
        enum plot_omission why = reason(&trials[i], x);
        right.n[why == OMITTED_NOT ? reason(&trials[i], y) : why]++;
    }
    CHECK(memcmp(&count, &right, sizeof(count)) == 0);
    for (int i = 0; i < OMISSIONS; i++)
        sum += count.n[i];
    CHECK_INT(sum, page.n_trials);
    sum = 0;
    for (int i = 0; i < x_cells * y_cells; i++) {
        int n[SIGNS] = {0};
        double best = NAN;
        for (int k = 0; k < page.n_trials; k++) {
            if (tui_study_axis_cell(&page, x, &trials[k], x_cells) != i % x_cells ||
                tui_study_axis_cell(&page, y, &trials[k], y_cells) != i / x_cells)
                continue;
            double value = value_of(&trials[k]);
            bool higher = page.study.directions[0] == STUDY_MAXIMIZE;
            best = isnan(best) || (higher ? value > best : value < best) ? value : best;
            n[trials[k].state == TRIAL_COMPLETE  ? trials[k].violation > 0 ? SIGN_INFEASIBLE : SIGN_COMPLETE
              : trials[k].state == TRIAL_RUNNING ? SIGN_RUNNING
                                                 : SIGN_PRUNED]++;
            sum++;
        }
        CHECK(memcmp(n, grid[i].n, sizeof(n)) == 0);
        CHECK(isnan(best) ? isnan(grid[i].best) : best == grid[i].best);
    }
    CHECK_INT(sum, count.n[OMITTED_NOT]);
}

static void check_histogram(int n_bins)
{
    struct study_axis axis;
    struct plot_count count;
    int bins[CELLS], sum = 0, results = 0;

    tui_study_axis_make(&page, PLOT_OBJECTIVE, true, &axis);
    tui_study_histogram(&page, &axis, n_bins, bins, &count);
    for (int i = 0; i < n_bins; i++)
        sum += bins[i];
    for (int i = 0; i < page.n_trials; i++)
        results += counts(&trials[i], true);
    CHECK_INT(sum, results);
    CHECK_INT(count.n[OMITTED_NOT], results);
    if (results > 1 && n_bins > 1)
        CHECK(bins[0] > 0 && bins[n_bins - 1] > 0); /* the axis ends at values that there are */
}

/* The objective's axis: as many values beyond its worse end as are beyond the fence, none beyond the other.
 */
static void check_fence(const struct study_axis *axis)
{
    bool up = page.study.directions[0] == STUDY_MAXIMIZE;
    int n = 0, beyond = 0, better = 0;
    double quartiles[2] = {NAN, NAN}, room;

    for (int i = 0; i < page.n_trials; i++)
        n += counts(&trials[i], axis->results);
    for (int q = 0; q < 2; q++) /* by counting, without sorting */
        for (int i = 0; i < page.n_trials; i++) {
            int less = 0, equal = 0, rank = (2 * q + 1) * n / 4;
            for (int k = 0; k < page.n_trials && counts(&trials[i], axis->results); k++) {
                bool in = counts(&trials[k], axis->results);
                less += in && value_of(&trials[k]) < value_of(&trials[i]);
                equal += in && value_of(&trials[k]) == value_of(&trials[i]);
            }
            if (less <= rank && rank < less + equal)
                quartiles[q] = value_of(&trials[i]);
        }
    room = 3 * (quartiles[1] - quartiles[0]);
    for (int i = 0; i < page.n_trials; i++) {
        if (!counts(&trials[i], axis->results))
            continue;
        double value = value_of(&trials[i]);
        beyond += n >= 8 && (up ? value < quartiles[0] - room : value > quartiles[1] + room);
        better += up ? value > axis->high : value < axis->low;
    }
    CHECK_INT(up ? axis->n_below : axis->n_above, beyond);
    CHECK_INT(up ? axis->n_above : axis->n_below, 0);
    CHECK_INT(better, 0);
}

static void check_pairs(const struct study_axis *a, const struct study_axis *b, int n)
{
    static bool pairs[CELLS * CELLS], met[CELLS * CELLS];
    const double half = (n > 1 ? 0.5 / (n - 1) : 0.5) + 1e-9; /* of the way to the next cell */
    int gaps = 0;

    memset(met, 0, sizeof(met));
    CHECK(tui_study_pairs(&page, a, b, n, pairs) >= 0);
    for (int i = 0; i < page.n_trials; i++) {
        double from = tui_study_axis_place(&page, a, &trials[i]),
               to = tui_study_axis_place(&page, b, &trials[i]);
        bool drawn = false;
        gaps += counts(&trials[i], true) && (isnan(from) || isnan(to));
        for (int k = 0; k < n * n; k++) /* each result is where a line of one of the best would be */
            if (pairs[k] && fabs(tui_study_pair_place(k / n, n) - from) <= half &&
                fabs(tui_study_pair_place(k % n, n) - to) <= half)
                drawn = met[k] = true;
        CHECK(drawn == !(isnan(from) || isnan(to)));
    }
    CHECK_INT(tui_study_pairs(&page, a, b, n, pairs), gaps);
    CHECK(memcmp(pairs, met, (size_t)n * (size_t)n * sizeof(*pairs)) == 0); /* and no line is of none */
}

static void check_best(void)
{
    const struct tui_study_trial *best[PLOT_BEST_MAX];
    int n = tui_study_best(&page, PLOT_BEST_MAX, best), results = 0;

    for (int i = 0; i < page.n_trials; i++)
        results += counts(&trials[i], true);
    CHECK_INT(n, results < PLOT_BEST_MAX ? results : PLOT_BEST_MAX);
    for (int k = 0; k < n; k++) {
        int better = 0; /* how many results go before it */
        for (int i = 0; i < page.n_trials; i++) {
            double less = page.study.directions[0] == STUDY_MAXIMIZE ? best[k]->values[0] - values[i]
                                                                     : values[i] - best[k]->values[0];
            better += counts(&trials[i], true) && (less < 0 || (less == 0 && &trials[i] < best[k]));
        }
        CHECK_INT(better, k);
    }
}

/* Round values: within, apart by one step (of a logarithmic axis by one ratio), that step as small as there
 * is room for. */
static void check_ticks(const struct study_axis *axis, int most)
{
    double tick[PLOT_TICKS_MAX];
    int n = tui_study_axis_ticks(axis, most, tick);

    CHECK(n >= 0 && n <= most);
    if (!axis->known || axis->categorical || n == 0) {
        CHECK(!axis->known || axis->categorical || axis->low == axis->high || most < 3);
        return;
    }
    bool tens = axis->log && n > 1 && fabs(tick[1] / tick[0] - 2) > 1e-9 && tick[1] / tick[0] > 9.9;
    for (int i = 0; i < n; i++) {
        CHECK(tick[i] >= axis->low && tick[i] <= axis->high);
        CHECK(!axis->whole || tick[i] == floor(tick[i]));
        char text[40];
        snprintf(text, sizeof(text), "%.6g", tick[i]);
        CHECK(tick[i] == strtod(text, NULL)); /* written in few digits */
        if (i > 1)
            CHECK(tens ? fabs(tick[i] / tick[i - 1] / (tick[1] / tick[0]) - 1) < 1e-9
                       : fabs(tick[i] - tick[i - 1] - (tick[1] - tick[0])) < 1e-9 * (axis->high - axis->low));
    }
    if (n > 1 && !tens && !axis->whole)
        CHECK((axis->high - axis->low) / (tick[1] - tick[0]) > most / 2.5 - 2);
}

static void check_random(void)
{
    struct study_axis axes[PARAMS + 1];

    source = random_seeded("tui/study_plot", 11);
    for (int round = 0; round < ROUNDS; round++) {
        fill(round < 5 ? round : 1 + pick(TRIALS - 1), round % 3 != 0);
        bool results = round % 2;
        tui_study_axis_make(&page, PLOT_OBJECTIVE, results, &axes[PARAMS]);
        check_fence(&axes[PARAMS]);
        for (int k = 0; k < PARAMS; k++)
            tui_study_axis_make(&page, k, results, &axes[k]);
        for (int k = 0; k <= PARAMS; k++) {
            int n = tui_study_axis_cells(&axes[k], 1 + pick(CELLS));
            CHECK(n >= 1 && n <= CELLS);
            check_cells(&axes[k], n);
            check_ticks(&axes[k], 1 + pick(PLOT_TICKS_MAX));
            check_grid(&axes[k], n, &axes[(k + 1) % (PARAMS + 1)], 1 + pick(CELLS));
            if (results)
                check_pairs(&axes[k], &axes[(k + 2) % (PARAMS + 1)], 1 + pick(CELLS));
        }
        check_histogram(1 + pick(CELLS));
        check_best();
    }
}

/* What the axes are, by hand. */
static void check_axes(void)
{
    struct study_axis axis;
    char words[200];

    fill(300, false);
    tui_study_axis_make(&page, 1, false, &axis);
    CHECK(axis.known && axis.log && !axis.whole && axis.low == 1e-5 && axis.high == 1e-1);
    cells[0][1].value = 1e-3; /* the middle of four decades */
    CHECK_NEAR(tui_study_axis_place(&page, &axis, &trials[0]), 0.5, 1e-12);
    CHECK_INT(tui_study_axis_cell(&page, &axis, &trials[0], 4) / 2,
              tui_study_axis_cell(&page, &axis, &trials[0], 8) / 4);
    cells[0][1].value = 0; /* on a logarithmic axis */
    CHECK_INT(tui_study_axis_omission(&page, &axis, &trials[0]), OMITTED_OFF_AXIS);
    tui_study_axis_make(&page, 1, false, &axis); /* a trial that was enqueued with it: no such axis */
    CHECK(!axis.log && axis.low == 0);
    tui_study_axis_make(&page, 2, false, &axis);
    CHECK(!axis.log && axis.whole && axis.n_values == 13 && tui_study_axis_cells(&axis, 40) == 13);
    for (int i = 0; i < 13; i++) { /* each whole number has its cell */
        cells[1][2].value = 4 + i;
        CHECK_INT(tui_study_axis_cell(&page, &axis, &trials[1], 13), i);
    }
    cells[2][2] = (struct tui_study_cell){17, WHOLE_NEXT};
    tui_study_axis_make(&page, 2, false, &axis);
    CHECK(axis.whole && axis.low == 4 && axis.high == 29 && axis.n_values == 0);
    cells[2][3].distribution = CATEGORIES_MORE;
    cells[2][3].value = 1;
    tui_study_axis_make(&page, 3, false, &axis);
    CHECK(axis.categorical && axis.n_categories == 4);
    CHECK_STR(axis.categories[0], "adam");
    CHECK_STR(axis.categories[3], "rmsprop");
    CHECK_INT(tui_study_axis_cell(&page, &axis, &trials[2], 4), 3);
    cells[2][3].value = 0; /* its first is the others' third */
    CHECK_INT(tui_study_axis_cell(&page, &axis, &trials[2], 4), 2);

    fill(6, false);
    values[0] = INFINITY;
    values[1] = NAN;
    cells[2][0].value = NAN;
    trials[3].state = TRIAL_FAIL;
    trials[3].values = NULL;
    struct plot_count count;
    int bin;
    tui_study_axis_make(&page, 0, false, &axis);
    tui_study_histogram(&page, &axis, 1, &bin, &count);
    CHECK_STR(tui_study_omitted(words, sizeof(words), &count),
              "left out: 1 without a value, 1 NaN, 1 infinite, 1 without the parameter");
    CHECK_INT(bin, 2);
    char few[20];
    CHECK_INT(strlen(tui_study_omitted(few, sizeof(few), &count)), sizeof(few) - 1);
    count = (struct plot_count){.n = {6}};
    CHECK_STR(tui_study_omitted(words, sizeof(words), &count), "");
}

/* Ranges at the ends of what a double holds, and of one value alone. */
static void check_ends(void)
{
    struct study_axis axis;

    fill(3, false);
    values[0] = -1.7e308;
    values[1] = 1.7e308;
    values[2] = 0;
    tui_study_axis_make(&page, PLOT_OBJECTIVE, true, &axis);
    CHECK_NEAR(tui_study_axis_place(&page, &axis, &trials[2]), 0.5, 1e-12);
    CHECK_INT(tui_study_axis_cell(&page, &axis, &trials[1], 7), 6);
    values[0] = values[1] = values[2] = 5;
    tui_study_axis_make(&page, PLOT_OBJECTIVE, true, &axis);
    CHECK_INT(tui_study_axis_cell(&page, &axis, &trials[1], 7), 3);
    page.n_trials = 0;
    tui_study_axis_make(&page, 3, true, &axis);
    CHECK(!axis.known && tui_study_axis_cells(&axis, 9) == 9);

    fill(20, false); /* one that diverged does not take the axis */
    page.study.directions[0] = STUDY_MAXIMIZE;
    values[7] = -1e9;
    values[8] = 1e9; /* a better one does */
    tui_study_axis_make(&page, PLOT_OBJECTIVE, true, &axis);
    CHECK(axis.n_below == 1 && axis.n_above == 0 && axis.low > -4 && axis.high == 1e9);
    CHECK_INT(tui_study_axis_cell(&page, &axis, &trials[7], 7), 0);

    CHECK_INT(tui_study_histogram_bins(0, 30), 4);
    CHECK_INT(tui_study_histogram_bins(400, 30), 20);
    CHECK_INT(tui_study_histogram_bins(400, 7), 7);
    for (int i = 0; i <= 40; i++) { /* of minimized values too */
        CHECK_INT(tui_study_step(i, 0, 40, 4), i < 40 ? i / 10 : 3);
        CHECK_INT(tui_study_step(-i, 0, -40, 4), i < 40 ? i / 10 : 3);
    }
    CHECK_INT(tui_study_step(1, 1, 1, 4), 3);
    CHECK_INT(tui_study_step(-1e300, 0, 1, 4), 0);
    CHECK_INT(tui_study_step(1e300, 0, 1, 4), 3);
}

int main(void)
{
    check_random();
    check_axes();
    check_ends();
    return check_done("tui/study_plot");
}
