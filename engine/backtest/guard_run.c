#include "engine/backtest/guard_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/universe.h"

static void keep_decision(void *ctx, int account, int symbol, size_t row, const struct intent *intents,
                          size_t n_intents)
{
    struct guard_run *run = ctx;
    (void)account;
    if (row < run->from) /* on history */
        return;
    if (run->n_decisions == run->cap_decisions) {
        size_t cap = run->cap_decisions ? 2 * run->cap_decisions : 256;
        struct guard_decision *moved = realloc(run->decisions, cap * sizeof *moved);
        if (!moved) {
            run->no_memory = true;
            return;
        }
        run->decisions = moved;
        run->cap_decisions = cap;
    }
    struct guard_decision *to = &run->decisions[run->n_decisions++];
    *to = (struct guard_decision){.row = row, .symbol = symbol, .n_intents = n_intents};
    for (size_t i = 0; i < n_intents; i++) {
        to->intents[i] = intents[i];
        to->intents[i].why = NULL;
        snprintf(to->whys[i], sizeof to->whys[i], "%s", intents[i].why ? intents[i].why : "");
    }
}

static void forget_decisions(void *ctx, int account)
{
    struct guard_run *run = ctx;
    (void)account;
    run->n_decisions = 0;
}

static int by_row(const void *a, const void *b)
{
    const struct guard_decision *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->symbol - y->symbol;
}

/* Of the run's own bars: what is not there cannot be known. */
static int make_universe(const struct guard_config *config, const struct market *market,
                         struct backtest_universe *ret, char *err, size_t err_size)
{
    char why[UNIVERSE_ERROR_MAX];
    if (!config->universe)
        return 0;
    int r = backtest_universe_make(market, config->actions, config->n_actions, config->universe, ret, why);
    if (r < 0)
        snprintf(err, err_size, "%s", why);
    return r;
}

int backtest_guard_run_make(const struct guard_config *config, const struct market *market,
                            const struct trading_calendar *calendar, size_t from, enum backtest_way way,
                            struct guard_run *ret, char *err, size_t err_size)
{
    struct guard_run run = {.from = from};
    struct backtest_config how = {.market = market,
                                  .calendar = calendar,
                                  .external = config->external,
                                  .actions = config->actions,
                                  .n_actions = config->n_actions,
                                  .venue = config->venue,
                                  .class_by_calendar = config->venue != NULL,
                                  .from = from,
                                  .to = market->rows,
                                  .accounts = config->account,
                                  .n_accounts = 1,
                                  .latency_ns = config->latency_ns,
                                  .slippage_e6 = config->slippage_e6,
                                  .way = way,
                                  .threads = 1,
                                  .orders = true,
                                  .decided = keep_decision,
                                  .restarts = forget_decisions,
                                  .ctx = &run};
    struct backtest_universe universe = {0};
    int r = make_universe(config, market, &universe, err, err_size);
    how.universe = config->universe ? &universe : NULL;
    r = r < 0 ? r : backtest_run(&how, &run.backtest, err, err_size);
    backtest_universe_finish(&universe);
    if (r < 0) {
        free(run.decisions);
        return r;
    }
    if (run.no_memory) {
        snprintf(err, err_size, "out of memory");
        backtest_guard_run_finish(&run);
        return -ENOMEM;
    }
    if (run.n_decisions > 0)
        qsort(run.decisions, run.n_decisions, sizeof *run.decisions, by_row);
    *ret = run;
    return 0;
}

void backtest_guard_run_finish(struct guard_run *run)
{
    free(run->decisions);
    backtest_finish(&run->backtest);
    *run = (struct guard_run){0};
}

/* Equal to the bit: a NaN equals itself. */
static bool same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_intent(const struct intent *a, const struct intent *b, int64_t ns)
{
    return a->kind == b->kind && same_number(a->fraction, b->fraction) && same_number(a->stop, b->stop) &&
           same_number(a->profit, b->profit) && same_number(a->limit, b->limit) &&
           (a->good_ns ? a->good_ns + ns : 0) == b->good_ns && a->symbol == b->symbol && a->side == b->side &&
           a->type == b->type && a->tif == b->tif && a->size == b->size && same_number(a->qty, b->qty) &&
           same_number(a->trail, b->trail) && same_number(a->trail_share, b->trail_share) &&
           a->reduce_only == b->reduce_only;
}

static bool same_decision(const struct guard_decision *a, const struct guard_decision *b,
                          struct guard_shift shift)
{
    if ((int64_t)a->row + shift.rows != (int64_t)b->row || a->symbol != b->symbol ||
        a->n_intents != b->n_intents)
        return false;
    for (size_t i = 0; i < a->n_intents; i++)
        if (!same_intent(&a->intents[i], &b->intents[i], shift.ns) || strcmp(a->whys[i], b->whys[i]) != 0)
            return false;
    return true;
}

/* Compares what was fixed when the order was made. Numbers of orders that were amended, and the quantity of
 * an exit, which is what its entry filled, may be later values. */
static bool same_order(const struct order *a, const struct order *b, int64_t ns)
{
    if (a->id != b->id || a->symbol != b->symbol || a->side != b->side || a->type != b->type ||
        a->tif != b->tif || a->created_ns + ns != b->created_ns || a->group != b->group ||
        a->parent != b->parent || strcmp(a->tag, b->tag) != 0)
        return false;
    if (a->amends > 0 || b->amends > 0)
        return true;
    return a->price == b->price && (a->type == ORDER_TRAILING_STOP || a->stop_price == b->stop_price) &&
           (a->parent != 0 || a->qty == b->qty);
}

static int64_t end_of(const struct market *market, size_t row)
{
    return market->start_ns + (int64_t)(row + 1) * market->interval_ns;
}

static bool differ_in_decisions(const struct guard_run *whole, const struct market *market,
                                const struct guard_run *changed, struct guard_shift shift, size_t last,
                                struct guard_difference *ret)
{
    for (size_t i = 0;; i++) {
        const struct guard_decision *a = i < whole->n_decisions ? &whole->decisions[i] : NULL;
        const struct guard_decision *b = i < changed->n_decisions ? &changed->decisions[i] : NULL;
        a = a && a->row <= last ? a : NULL;
        b = b && (int64_t)b->row - shift.rows <= (int64_t)last ? b : NULL;
        if (!a && !b)
            return false;
        if (a && b && same_decision(a, b, shift))
            continue;
        /* The other run lacks the earlier of the two. */
        struct guard_decision moved = b ? *b : (struct guard_decision){0};
        moved.row = (size_t)((int64_t)moved.row - shift.rows);
        int order = !a ? 1 : !b ? -1 : by_row(a, &moved);
        ret->of_order = false;
        ret->in_whole = order <= 0;
        ret->in_changed = order >= 0;
        if (ret->in_whole)
            ret->decision = *a;
        if (ret->in_changed)
            ret->changed_decision = moved;
        ret->row = ret->in_whole ? a->row : moved.row;
        ret->symbol = ret->in_whole ? a->symbol : moved.symbol;
        ret->ts_ns = end_of(market, ret->row);
        return true;
    }
}

static bool differ_in_orders(const struct guard_run *whole, const struct market *market,
                             const struct guard_run *changed, struct guard_shift shift, size_t last,
                             struct guard_difference *ret)
{
    const struct backtest_account *x = &whole->backtest.accounts[0], *y = &changed->backtest.accounts[0];
    int64_t until_ns = end_of(market, last);
    for (size_t i = 0;; i++) {
        const struct order *a = i < x->n_orders ? &x->orders[i] : NULL;
        const struct order *b = i < y->n_orders ? &y->orders[i] : NULL;
        a = a && a->created_ns <= until_ns ? a : NULL;
        b = b && b->created_ns - shift.ns <= until_ns ? b : NULL;
        if (!a && !b)
            return false;
        if (a && b && same_order(a, b, shift.ns))
            continue;
        const struct order *one = a ? a : b;
        ret->of_order = true;
        ret->in_whole = a != NULL;
        ret->in_changed = b != NULL;
        if (a)
            ret->order = *a;
        if (b)
            ret->changed_order = *b;
        ret->symbol = one->symbol;
        ret->ts_ns = a ? a->created_ns : b->created_ns - shift.ns;
        int64_t rows = (ret->ts_ns - market->start_ns) / market->interval_ns;
        ret->row = rows > 0 ? (size_t)rows - 1 : 0;
        return true;
    }
}

bool backtest_guard_run_differ(const struct guard_run *whole, const struct market *market,
                               const struct guard_run *changed, struct guard_shift shift, size_t last,
                               struct guard_difference *ret)
{
    struct guard_difference decision = *ret, order = *ret;
    bool decides = differ_in_decisions(whole, market, changed, shift, last, &decision);
    bool orders = differ_in_orders(whole, market, changed, shift, last, &order);
    if (!decides && !orders)
        return false;
    *ret = decides && !(orders && order.ts_ns < decision.ts_ns) ? decision : order;
    return true;
}
