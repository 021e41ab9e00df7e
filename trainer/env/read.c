/* Reads an environment: numbers in plain currency and units. */
#include <string.h>

#include "trainer/env/finish.h"
#include "trainer/env/internal.h"

void env_info(const struct env *env, const struct env_info *ret)
{
    const struct env_view *view = &env->view;
    const struct env_state *s = &view->state;
    double units = env_money_units(view);
    for (size_t e = 0; e < s->copies; e++) {
        if (ret->equity)
            ret->equity[e] = env_money_get(view, s->equity, e) / units;
        if (ret->cash)
            ret->cash[e] = env_money_get(view, s->cash, e) / units;
        if (ret->benchmark)
            ret->benchmark[e] = env_money_get(view, s->benchmark, e) / units;
        if (ret->fees)
            ret->fees[e] = env_money_get(view, s->fees, e) / units;
        if (ret->drawdown)
            ret->drawdown[e] = s->drawdown[e];
        if (ret->exposure)
            ret->exposure[e] = env_exposure(view, e);
        if (ret->row)
            ret->row[e] = s->row[e];
        if (ret->buys)
            ret->buys[e] = s->buys[e];
        if (ret->sells)
            ret->sells[e] = s->sells[e];
    }
}

static void copy_doubles(double *to, const double *from, size_t n)
{
    if (to)
        memcpy(to, from, n * sizeof *to);
}

static void copy_counts(int32_t *to, const int32_t *from, size_t n)
{
    if (to)
        memcpy(to, from, n * sizeof *to);
}

void env_episode(const struct env *env, const struct env_episode *ret)
{
    const struct env_ended *ended = &env->view.ended;
    size_t copies = env->view.state.copies;
    copy_doubles(ret->equity, ended->equity, copies);
    copy_doubles(ret->benchmark, ended->benchmark, copies);
    copy_doubles(ret->fees, ended->fees, copies);
    copy_doubles(ret->reward, ended->reward, copies);
    copy_doubles(ret->drawdown, ended->drawdown, copies);
    copy_doubles(ret->exposure, ended->exposure, copies);
    copy_counts(ret->steps, ended->steps, copies);
    copy_counts(ret->buys, ended->buys, copies);
    copy_counts(ret->sells, ended->sells, copies);
}

void env_positions(const struct env *env, size_t copy, double *qty, double *held, double *peak)
{
    const struct env_view *view = &env->view;
    const struct env_state *s = &view->state;
    bool market = view->params.execution == ENV_MARKET;
    for (int32_t i = 0; i < s->n; i++) {
        size_t at = (size_t)i * s->stride + copy;
        const struct policy_symbol *symbol = market ? &view->market.symbols[i] : NULL;
        if (qty)
            qty[i] = market ? s->lots[at] / symbol->qty_units : (double)s->qty[at];
        if (held)
            held[i] = market ? s->m_held[at] : (double)s->held[at];
        if (peak)
            peak[i] = market ? s->m_peak[at] / symbol->price_units : (double)s->best[at];
    }
}
