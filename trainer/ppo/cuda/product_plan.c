#include "trainer/ppo/cuda/product_plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { VARIANTS = 2 /* as asked; its epilogue apart */, SHARE = 8 /* of the budget's rest */ };

/* What is known of the candidates of one product. */
struct candidates {
    const struct queue_product *asked;
    struct queue_product products[VARIANTS];
    int n[VARIANTS];
    double seconds[VARIANTS][PRODUCT_HEURISTICS]; /* NaN: not known */
};

bool ppo_product_part(struct queue_product *product)
{
    if (product->relu)
        product->relu = product->keep = false;
    else if (product->kind == QUEUE_WEIGHT && product->bias)
        product->bias = false;
    else
        return false;
    return true;
}

/* Counts against the budget: heuristics take their time, too, the first ones most. */
static void list(struct product_planner *p, struct candidates *c)
{
    const double begin = p->calls->now(p->ctx);
    c->products[0] = c->products[1] = *c->asked;
    const bool parts = ppo_product_part(&c->products[1]);
    for (int v = 0; v < VARIANTS; v++) {
        c->n[v] = v == 0 || parts ? p->calls->list(p->ctx, &c->products[v]) : 0;
        for (int i = 0; i < PRODUCT_HEURISTICS; i++)
            c->seconds[v][i] = (double)NAN;
    }
    p->spent += p->calls->now(p->ctx) - begin;
}

/* The best by heuristics first, so that a budget that ends early ends with the worst. */
static int measure(struct product_planner *p, struct candidates *c)
{
    const double begin = p->calls->now(p->ctx), share = (PRODUCT_BUDGET_S - p->spent) / SHARE;
    double used = 0;
    int tried = 0;
    for (int i = 0; i < PRODUCT_HEURISTICS; i++)
        for (int v = 0; v < VARIANTS; v++) {
            if (i >= c->n[v] || !(used < share))
                continue;
            c->seconds[v][i] = p->calls->time(p->ctx, &c->products[v], i);
            used = p->calls->now(p->ctx) - begin;
            tried++;
        }
    p->spent += used;
    return tried;
}

/* The fastest; of those that are not measured the first that may run. False: there is none. */
static bool pick(const struct candidates *c, struct product_choice *ret)
{
    bool found = false, timed = false;
    for (int v = 0; v < VARIANTS; v++)
        for (int i = 0; i < c->n[v]; i++) {
            const double seconds = c->seconds[v][i];
            const bool known = seconds > 0 && seconds < INFINITY;
            if (known ? !timed || seconds < ret->seconds : !found && seconds != INFINITY) {
                ret->apart = v > 0;
                ret->heuristic = i;
                ret->seconds = known ? seconds : (double)NAN;
                timed = timed || known;
                found = true;
            }
        }
    return found;
}

static void make_key(const struct product_planner *p, const struct queue_product *asked, int lanes,
                     char ret[static PRODUCT_KEY_MAX])
{
    static const char *const kinds[] = {"forward", "input", "weight"};
    static const char *const types[] = {"f32", "bf16"};
    snprintf(ret, PRODUCT_KEY_MAX, "%s|%s %zux%dx%d strides %d,%d,%d %s%s to %s %s%s x%d", p->device,
             kinds[asked->kind], asked->rows, asked->in, asked->out, asked->x_stride, asked->w_stride,
             asked->y_stride, types[asked->operands], asked->tf32 ? " tf32" : "", types[asked->result],
             queue_epilogue_name(queue_epilogue_of(asked)), asked->add ? " add" : "", lanes);
}

/* By this process or another, whose choice is taken so that the bits are the same; an algorithm that the
 * library does not have is none. */
static bool is_chosen(struct product_planner *p, const struct candidates *c, const char *key,
                      struct product_choice *ret)
{
    double left = PRODUCT_WAIT_S - p->waited;
    const bool found = ppo_product_cache_claim(p->cache, key, &left, ret);
    p->waited = PRODUCT_WAIT_S - left;
    return found && ret->heuristic < c->n[ret->apart];
}

static bool measure_and_keep(struct product_planner *p, struct candidates *c, const char *key,
                             struct product_choice *ret)
{
    *ret = (struct product_choice){.tried = measure(p, c)};
    if (!pick(c, ret)) {
        ppo_product_cache_release(p->cache);
        return false;
    }
    struct product_choice kept = *ret;
    ppo_product_cache_keep(p->cache, key, &kept);
    if (kept.heuristic < c->n[kept.apart])
        *ret = kept;
    return true;
}

int ppo_product_choose(struct product_planner *p, struct queue_product *product, int lanes,
                       struct product_choice *ret)
{
    const struct queue_product asked = *product;
    struct candidates c = {.asked = &asked};
    struct product_choice choice = {0};
    char key[PRODUCT_KEY_MAX];
    bool any;
    list(p, &c);
    if (p->measured) {
        make_key(p, &asked, lanes, key);
        any = is_chosen(p, &c, key, &choice) || measure_and_keep(p, &c, key, &choice);
    } else {
        any = pick(&c, &choice);
    }
    if (!any)
        return -ENOTSUP;
    *product = c.products[choice.apart];
    *ret = choice;
    return 0;
}
