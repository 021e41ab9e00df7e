/* Regression trees, and the variance of their prediction along each axis. A tree cuts the box of all axes
 * into leaves; a leaf's weight is its share of the box. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/env/philox.h"
#include "trainer/study/importance.h"

enum { DRAW_BOOTSTRAP = 0x49 << 24 /* the fourth counter word */, CHOICES_MAX = 64 };

/* Where a leaf lies on one axis: an interval, or a set of choices. */
struct side {
    double low, high;
    uint64_t choices;
};

struct leaf {
    double value, weight; /* the weight: of its box */
};

struct edge { /* a leaf begins or ends here: what the marginal gains */
    double at, value, weight;
};

struct grower {
    const struct importance_forest *forest;
    const double *x, *y;
    const struct importance_axis *axes;
    int n, d;
    int *weight;       /* [n] how often the tree has the sample */
    int *all;          /* [d][n] samples by each axis, sorted once */
    int *order;        /* [d][n] the tree's, those of a node side by side */
    int *spare;        /* [n] */
    bool *left;        /* [n] */
    struct side *box;  /* [d] of the node that is grown */
    struct leaf *leaf; /* [n_leaves], with sides [n_leaves][d] */
    struct side *sides;
    int n_leaves;
    struct edge *edges; /* [2 n] */
};

struct cut {
    int axis; /* -1: none */
    double score, at;
    uint64_t choices; /* of a category's left side */
};

struct choice {
    int index;
    double sum;
    long weight;
};

static double cut_score(double left, long left_weight, double right, long right_weight)
{
    return left * left / (double)left_weight + right * right / (double)right_weight;
}

static void cut_number(const struct grower *g, int axis, int from, int to, double sum, long weight,
                       struct cut *best)
{
    const int *order = g->order + (size_t)axis * (size_t)g->n;
    double left = 0;
    long left_weight = 0;

    for (int i = from; i + 1 < to; i++) {
        int at = order[i];
        double here = g->x[(size_t)at * (size_t)g->d + (size_t)axis];
        double next = g->x[(size_t)order[i + 1] * (size_t)g->d + (size_t)axis];
        left += g->weight[at] * g->y[at];
        left_weight += g->weight[at];
        if (!(next > here))
            continue;
        double score = cut_score(left, left_weight, sum - left, weight - left_weight);
        double middle = here + (next - here) / 2;
        if (middle < next && (best->axis < 0 || score > best->score))
            *best = (struct cut){.axis = axis, .score = score, .at = middle};
    }
}

static int by_mean(const void *a, const void *b)
{
    const struct choice *p = a, *q = b;
    double left = p->sum / (double)p->weight, right = q->sum / (double)q->weight;

    return left < right ? -1 : left > right ? 1 : p->index - q->index;
}

/* The best of all sets of choices is among those that are in order of their means (Breiman 1984). */
static void cut_choices(const struct grower *g, int axis, int from, int to, double sum, long weight,
                        struct cut *best)
{
    const int *order = g->order + (size_t)axis * (size_t)g->n;
    struct choice choices[CHOICES_MAX];
    int n = 0;

    for (int i = from; i < to; i++) { /* sorted by the choice */
        int at = order[i], index = (int)g->x[(size_t)at * (size_t)g->d + (size_t)axis];
        if (n == 0 || choices[n - 1].index != index)
            choices[n++] = (struct choice){.index = index};
        choices[n - 1].sum += g->weight[at] * g->y[at];
        choices[n - 1].weight += g->weight[at];
    }
    qsort(choices, (size_t)n, sizeof(*choices), by_mean);
    double left = 0;
    long left_weight = 0;
    uint64_t set = 0;
    for (int i = 0; i + 1 < n; i++) {
        left += choices[i].sum;
        left_weight += choices[i].weight;
        set |= UINT64_C(1) << choices[i].index;
        double score = cut_score(left, left_weight, sum - left, weight - left_weight);
        if (best->axis < 0 || score > best->score)
            *best = (struct cut){.axis = axis, .score = score, .choices = set};
    }
}

/* Samples of the node that go left come first on every axis, in order. Returns where the others begin. */
static int part(struct grower *g, const struct cut *cut, int from, int to)
{
    int middle = from;

    for (int i = from; i < to; i++) {
        int at = g->order[i];
        double value = g->x[(size_t)at * (size_t)g->d + (size_t)cut->axis];
        g->left[at] = cut->choices ? (cut->choices >> (int)value & 1) : value <= cut->at;
    }
    for (int axis = 0; axis < g->d; axis++) {
        int *order = g->order + (size_t)axis * (size_t)g->n, kept = from, moved = 0;
        for (int i = from; i < to; i++)
            if (g->left[order[i]])
                order[kept++] = order[i];
            else
                g->spare[moved++] = order[i];
        memcpy(order + kept, g->spare, (size_t)moved * sizeof(*order));
        middle = kept;
    }
    return middle;
}

/* The share of the axis that a leaf takes. */
static double room(const struct importance_axis *axis, const struct side *side)
{
    if (axis->choices)
        return __builtin_popcountll(side->choices) / (double)axis->choices;
    return (side->high - side->low) / (axis->high - axis->low);
}

static void grow(struct grower *g, int from, int to, int depth)
{
    struct cut cut = {.axis = -1};
    double sum = 0;
    long weight = 0;
    bool same = true;

    for (int i = from; i < to; i++) {
        int at = g->order[i];
        sum += g->weight[at] * g->y[at];
        weight += g->weight[at];
        same &= g->y[at] == g->y[g->order[from]];
    }
    for (int axis = 0; axis < g->d && !same && depth < g->forest->depth; axis++) {
        if (g->axes[axis].choices)
            cut_choices(g, axis, from, to, sum, weight, &cut);
        else
            cut_number(g, axis, from, to, sum, weight, &cut);
    }
    if (cut.axis < 0) {
        struct leaf *leaf = &g->leaf[g->n_leaves];
        *leaf = (struct leaf){.value = sum / (double)weight, .weight = 1};
        for (int axis = 0; axis < g->d; axis++)
            leaf->weight *= room(&g->axes[axis], &g->box[axis]);
        memcpy(g->sides + (size_t)g->n_leaves * (size_t)g->d, g->box, (size_t)g->d * sizeof(*g->box));
        g->n_leaves++;
        return;
    }
    int middle = part(g, &cut, from, to);
    struct side *side = &g->box[cut.axis], kept = *side;
    if (cut.choices)
        side->choices = kept.choices & cut.choices;
    else
        side->high = cut.at;
    grow(g, from, middle, depth + 1);
    *side = kept;
    if (cut.choices)
        side->choices = kept.choices & ~cut.choices;
    else
        side->low = cut.at;
    grow(g, middle, to, depth + 1);
    *side = kept;
}

static int by_place(const void *a, const void *b)
{
    const struct edge *p = a, *q = b;

    return p->at < q->at ? -1 : p->at > q->at;
}

/* The variance of the marginal along an axis: at each place the mean of the leaves there, weighted by their
 * room on the other axes. */
static double number_variance(struct grower *g, int axis, double mean)
{
    double value = 0, variance = 0, range = g->axes[axis].high - g->axes[axis].low;
    int n = 0;

    for (int i = 0; i < g->n_leaves; i++) {
        const struct side *side = &g->sides[(size_t)i * (size_t)g->d + (size_t)axis];
        double own = room(&g->axes[axis], side);
        if (!(own > 0))
            continue;
        double others = g->leaf[i].weight / own, gain = others * (g->leaf[i].value - mean);
        g->edges[n++] = (struct edge){.at = side->low, .value = gain};
        g->edges[n++] = (struct edge){.at = side->high, .value = -gain};
    }
    qsort(g->edges, (size_t)n, sizeof(*g->edges), by_place);
    for (int i = 0; i + 1 < n; i++) {
        value += g->edges[i].value;
        variance += value * value * (g->edges[i + 1].at - g->edges[i].at) / range;
    }
    return variance;
}

static double choices_variance(const struct grower *g, int axis, double mean)
{
    double variance = 0;
    int choices = g->axes[axis].choices;

    for (int k = 0; k < choices; k++) {
        double value = 0;
        for (int i = 0; i < g->n_leaves; i++) {
            const struct side *side = &g->sides[(size_t)i * (size_t)g->d + (size_t)axis];
            if (side->choices >> k & 1)
                value += g->leaf[i].weight / room(&g->axes[axis], side) * (g->leaf[i].value - mean);
        }
        variance += value * value / choices;
    }
    return variance;
}

/* Adds the tree's shares; false where its prediction is constant. */
static bool add_shares(struct grower *g, double *shares)
{
    double mean = 0, variance = 0;

    for (int i = 0; i < g->n_leaves; i++)
        mean += g->leaf[i].weight * g->leaf[i].value;
    for (int i = 0; i < g->n_leaves; i++)
        variance += g->leaf[i].weight * (g->leaf[i].value - mean) * (g->leaf[i].value - mean);
    if (!(variance > 0))
        return false;
    for (int axis = 0; axis < g->d; axis++)
        shares[axis] +=
            (g->axes[axis].choices ? choices_variance(g, axis, mean) : number_variance(g, axis, mean)) /
            variance;
    return true;
}

static void tree(struct grower *g, int number)
{
    int n = 0;

    memset(g->weight, 0, (size_t)g->n * sizeof(*g->weight));
    for (int i = 0; i < g->n; i++)
        if (g->forest->bootstrap)
            g->weight[philox_below(
                philox(g->forest->seed, (uint32_t)number, (uint32_t)i, 0, DRAW_BOOTSTRAP).word[0],
                (uint32_t)g->n)]++;
        else
            g->weight[i] = 1;
    for (int axis = 0; axis < g->d; axis++) {
        n = 0;
        for (int i = 0; i < g->n; i++) {
            int at = g->all[(size_t)axis * (size_t)g->n + (size_t)i];
            if (g->weight[at])
                g->order[(size_t)axis * (size_t)g->n + (size_t)n++] = at;
        }
    }
    for (int axis = 0; axis < g->d; axis++) {
        int choices = g->axes[axis].choices;
        g->box[axis] = (struct side){g->axes[axis].low, g->axes[axis].high,
                                     choices == CHOICES_MAX ? UINT64_MAX : (UINT64_C(1) << choices) - 1};
    }
    g->n_leaves = 0;
    grow(g, 0, n, 0);
}

struct sorted {
    double x;
    int at;
};

static int by_x(const void *a, const void *b)
{
    const struct sorted *p = a, *q = b;

    return p->x < q->x ? -1 : p->x > q->x ? 1 : p->at - q->at;
}

static int sort_axes(struct grower *g)
{
    struct sorted *sorted = malloc((size_t)g->n * sizeof(*sorted));

    if (!sorted)
        return -ENOMEM;
    for (int axis = 0; axis < g->d; axis++) {
        for (int i = 0; i < g->n; i++)
            sorted[i] = (struct sorted){g->x[(size_t)i * (size_t)g->d + (size_t)axis], i};
        qsort(sorted, (size_t)g->n, sizeof(*sorted), by_x);
        for (int i = 0; i < g->n; i++)
            g->all[(size_t)axis * (size_t)g->n + (size_t)i] = sorted[i].at;
    }
    free(sorted);
    return 0;
}

int importance_fit(const struct importance_forest *forest, const double *x, const double *y, int n,
                   const struct importance_axis *axes, int d, double *ret_share)
{
    struct grower g = {.forest = forest, .x = x, .y = y, .axes = axes, .n = n, .d = d};
    size_t samples = (size_t)n, cells = (size_t)n * (size_t)d;
    int varied = 0, r = -ENOMEM;

    if (n < 1 || d < 1)
        return 0;
    g.weight = calloc(samples, sizeof(*g.weight));
    g.all = calloc(cells, sizeof(*g.all));
    g.order = calloc(cells, sizeof(*g.order));
    g.spare = calloc(samples, sizeof(*g.spare));
    g.left = calloc(samples, sizeof(*g.left));
    g.box = calloc((size_t)d, sizeof(*g.box));
    g.leaf = calloc(samples, sizeof(*g.leaf));
    g.sides = calloc(cells, sizeof(*g.sides));
    g.edges = calloc(2 * samples, sizeof(*g.edges));
    double *shares = calloc((size_t)d, sizeof(*shares));
    if (g.weight && g.all && g.order && g.spare && g.left && g.box && g.leaf && g.sides && g.edges && shares)
        r = sort_axes(&g);
    for (int i = 0; r == 0 && i < forest->trees; i++) {
        tree(&g, i);
        varied += add_shares(&g, shares);
    }
    for (int axis = 0; r == 0 && axis < d; axis++)
        ret_share[axis] = varied > 0 ? shares[axis] / varied : 0;
    free(g.weight);
    free(g.all);
    free(g.order);
    free(g.spare);
    free(g.left);
    free(g.box);
    free(g.leaf);
    free(g.sides);
    free(g.edges);
    free(shares);
    return r;
}
