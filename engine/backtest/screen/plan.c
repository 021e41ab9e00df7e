/* Sets into groups of sixteen: sorted so that a group differs in one column at most where the grid allows it,
 * and so that groups with the same sixteen columns follow each other. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/screen/internal.h"
#include "strategy/strategy.h"

struct sorted_set {
    uint32_t set, column[SCREEN_ROLES], atr, first;
};

struct sorted {
    struct sorted_set *points;
    size_t n;
    int order[SCREEN_ROLES]; /* roles, that of fewest columns first */
    int roles, columns;      /* at each bar; all */
};

/* Roles of a rule: the RSI, which is read at entries alone, is one too. */
static int columns_most(const struct screen_rule_row *rule)
{
    return rule->rsi && rule->roles == ROLE_RSI ? ROLE_RSI + 1 : rule->roles;
}

static int columns_of(struct screen_plan *plan, const double *params, struct sorted_set *point)
{
    struct screen_column roles[SCREEN_ROLES] = {{0}}, atr = {.kind = COLUMN_ATR};
    int n = columns_most(plan->rule), r = 0;
    plan->rule->columns(params, roles, &atr);
    for (int k = 0; k < n && r == 0; k++) {
        r = backtest_screen_column(&plan->columns, &roles[k], &point->column[k]);
        if (r == 0 && plan->columns.first[point->column[k]] > point->first)
            point->first = plan->columns.first[point->column[k]];
    }
    if (r < 0 || !plan->rule->atr)
        return r;
    r = backtest_screen_column(&plan->wide, &atr, &point->atr);
    if (r == 0 && plan->wide.first[point->atr] > point->first)
        point->first = plan->wide.first[point->atr];
    return r;
}

static bool knows(const struct screen_rule_row *rule, const struct strategy *strategy, const double *params)
{
    for (size_t k = rule->n_params; k < strategy->n_params; k++)
        if (params[k] != strategy->params[k].fallback)
            return false;
    return true;
}

static int gather(const struct screen *screen, size_t n_bars, size_t from, size_t to, struct screen_row *rows,
                  struct screen_plan *plan, struct sorted *points)
{
    double params[STRATEGY_PARAMS_MAX];
    for (size_t set = from; set < to; set++) {
        struct sorted_set *point = &points->points[points->n];
        *point = (struct sorted_set){.set = (uint32_t)set};
        memcpy(params, screen->account->params, sizeof params);
        rows[set] = (struct screen_row){.state = SCREEN_RUN};
        if (!screen->get(screen->ctx, set, params)) {
            rows[set].state = SCREEN_CONTRADICTS;
            continue;
        }
        if (!knows(plan->rule, screen->account->strategy, params))
            return -ENOTSUP;
        if (columns_of(plan, params, point) < 0)
            return -ENOMEM;
        if (point->first >= n_bars)
            rows[set].state = SCREEN_TOO_SHORT;
        else
            points->n++;
    }
    return 0;
}

/* Columns of one kind together, periods ascending: points name them by their new places. */
static int sort_columns(struct screen_columns *columns, struct sorted *points, bool wide)
{
    uint32_t *place = malloc((columns->n + 1) * sizeof *place);
    int r = place ? backtest_screen_columns_sort(columns, place) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < points->n; i++) {
        struct sorted_set *point = &points->points[i];
        for (int k = 0; !wide && k < points->columns; k++)
            point->column[k] = place[point->column[k]];
        if (wide)
            point->atr = place[point->atr];
    }
    free(place);
    return r;
}

/* The role of most columns is the last: its columns lie side by side in a group's lanes. */
static int order(struct sorted *points, size_t n_columns)
{
    uint8_t *seen = malloc(n_columns + 1);
    size_t counts[SCREEN_ROLES] = {0};
    if (!seen)
        return -ENOMEM;
    for (int k = 0; k < points->roles; k++) {
        memset(seen, 0, n_columns + 1);
        for (size_t i = 0; i < points->n; i++) {
            uint32_t column = points->points[i].column[k];
            counts[k] += !seen[column];
            seen[column] = 1;
        }
        int at = k;
        for (; at > 0 && counts[points->order[at - 1]] > counts[k]; at--)
            points->order[at] = points->order[at - 1];
        points->order[at] = k;
    }
    free(seen);
    return 0;
}

static int by_columns(const void *a, const void *b, void *ctx)
{
    const struct sorted *points = ctx;
    const struct sorted_set *x = a, *y = b;
    for (int k = 0; k < points->roles; k++) {
        uint32_t p = x->column[points->order[k]], q = y->column[points->order[k]];
        if (p != q)
            return p < q ? -1 : 1;
    }
    return (x->set > y->set) - (x->set < y->set);
}

/* By the lanes of the last role, then by the others. */
static int by_lanes(const void *a, const void *b, void *ctx)
{
    const struct sorted *points = ctx;
    const struct screen_group *x = a, *y = b;
    for (int k = points->roles; k-- > 0;) {
        int role = points->order[k];
        for (int lane = 0; lane < SCREEN_LANES; lane++)
            if (x->column[role][lane] != y->column[role][lane])
                return x->column[role][lane] < y->column[role][lane] ? -1 : 1;
    }
    return (x->set[0] > y->set[0]) - (x->set[0] < y->set[0]);
}

/* Lanes beyond the last set repeat it and never enter. */
static void fill(const struct screen *screen, const struct screen_terms *terms,
                 const struct screen_plan *plan, const struct sorted_set *points, size_t n,
                 struct screen_group *g)
{
    double params[STRATEGY_PARAMS_MAX];
    g->all = (uint8_t)((1 << SCREEN_ROLES) - 1);
    for (int lane = 0; lane < SCREEN_LANES; lane++) {
        const struct sorted_set *point = &points[(size_t)lane < n ? (size_t)lane : n - 1];
        memcpy(params, screen->account->params, sizeof params);
        screen->get(screen->ctx, point->set, params);
        screen_start(terms, g, lane);
        plan->rule->fill(params, g, lane);
        g->set[lane] = point->set;
        g->first[lane] = point->first;
        g->accounts[lane].atr = point->atr;
        g->warm = point->first > g->warm ? point->first : g->warm;
        for (int k = 0; k < SCREEN_ROLES; k++) {
            g->column[k][lane] = point->column[k];
            if (point->column[k] != g->column[k][0])
                g->all &= (uint8_t) ~(1 << k);
        }
        g->active |= (uint32_t)((size_t)lane < n) << lane;
    }
}

/* How many of the next sets a group takes: all that share the columns but the last role's, unless that leaves
 * too many lanes empty. */
static size_t take(const struct sorted *points, size_t at)
{
    size_t n = 1;
    const struct sorted_set *first = &points->points[at];
    for (; n < SCREEN_LANES && at + n < points->n; n++) {
        bool near = true;
        for (int k = 0; k + 1 < points->roles; k++)
            near &= points->points[at + n].column[points->order[k]] == first->column[points->order[k]];
        if (!near && n >= SCREEN_LANES - 3)
            break;
    }
    return n;
}

static int make_groups(const struct screen *screen, const struct screen_terms *terms,
                       struct screen_plan *plan, const struct sorted *points)
{
    size_t cap = points->n / (SCREEN_LANES - 3) + 1;
    plan->groups = aligned_alloc(64, (cap * sizeof *plan->groups + 63) / 64 * 64);
    plan->columns.memory = calloc(plan->columns.n + 1, sizeof *plan->columns.memory);
    plan->wide.memory = calloc(plan->wide.n + 1, sizeof *plan->wide.memory);
    if (!plan->groups || !plan->columns.memory || !plan->wide.memory)
        return -ENOMEM;
    for (size_t at = 0, n; at < points->n; at += n) {
        struct screen_group *g = &plan->groups[plan->n_groups++];
        n = take(points, at);
        memset(g, 0, sizeof *g);
        fill(screen, terms, plan, points->points + at, n, g);
    }
    qsort_r(plan->groups, plan->n_groups, sizeof *plan->groups, by_lanes, (void *)points);
    return 0;
}

int backtest_screen_plan(const struct screen *screen, const struct screen_terms *terms, size_t n_bars,
                         size_t from, size_t to, struct screen_row *rows, struct screen_plan *ret)
{
    struct screen_plan plan = {.rule = backtest_screen_rule(screen->account->strategy)};
    struct sorted points = {.points = malloc((to - from + 1) * sizeof *points.points),
                            .roles = plan.rule->roles,
                            .columns = columns_most(plan.rule)};
    int r = points.points ? gather(screen, n_bars, from, to, rows, &plan, &points) : -ENOMEM;
    if (r == 0)
        r = sort_columns(&plan.columns, &points, false);
    if (r == 0 && plan.rule->atr)
        r = sort_columns(&plan.wide, &points, true);
    if (r == 0)
        r = order(&points, plan.columns.n);
    if (r == 0) {
        qsort_r(points.points, points.n, sizeof *points.points, by_columns, &points);
        r = make_groups(screen, terms, &plan, &points);
    }
    free(points.points);
    if (r < 0)
        backtest_screen_plan_finish(&plan);
    else
        *ret = plan;
    return r;
}

void backtest_screen_plan_finish(struct screen_plan *plan)
{
    backtest_screen_columns_finish(&plan->columns);
    backtest_screen_columns_finish(&plan->wide);
    free(plan->groups);
    *plan = (struct screen_plan){0};
}
