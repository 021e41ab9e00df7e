/* Sessions of a vectorised account, by the rules of engine/kept.c: entries of the strategy that a session
 * did not fill end with it, and what was decided on its last bar is ordered before the first bar of the next
 * one, of whatever symbol. */
#include "engine/backtest/sim.h"

static size_t row_at(const struct market *market, int64_t ns)
{
    int64_t since_ns = ns - market->start_ns;
    return since_ns <= 0 ? 0 : (size_t)((since_ns + market->interval_ns - 1) / market->interval_ns);
}

/* The session at, or the first one after, a time; else none changes any more. */
static void next_session(struct sim *sim, int64_t ns)
{
    sim->open = false;
    sim->change_row = SIZE_MAX;
    if (trading_span_at(sim->calendar, SESSION_REGULAR, ns, &sim->session))
        sim->change_row = row_at(sim->config->market, sim->session.open_ns);
}

void backtest_sim_sessions_begin(struct sim *sim)
{
    const struct backtest_config *config = sim->config;
    bool any = false;
    sim->change_row = SIZE_MAX;
    for (int s = 0; s < sim->n_symbols; s++)
        any |= sim->symbols[s].sessions = backtest_run_sessions(config, s);
    if (!any)
        return;
    sim->calendar = backtest_run_calendar(config);
    next_session(sim, market_open_ns(config->market, config->from));
}

struct session_span backtest_sim_session(struct sim *sim, const struct sim_symbol *symbol, int64_t open_ns)
{
    const struct session_span none = {0};
    if (!symbol->sessions)
        return none;
    if ((open_ns < sim->seen.open_ns || open_ns >= sim->seen.close_ns) &&
        !trading_span_at(sim->calendar, SESSION_REGULAR, open_ns, &sim->seen))
        sim->seen = none;
    return open_ns < sim->seen.open_ns ? none : sim->seen;
}

int64_t backtest_sim_bar_end(struct sim *sim, const struct sim_symbol *symbol, int64_t open_ns)
{
    int64_t end_ns = open_ns + sim->config->market->interval_ns;
    int64_t close_ns = backtest_sim_session(sim, symbol, open_ns).close_ns;
    return close_ns != 0 && close_ns < end_ns ? close_ns : end_ns;
}

/* The bar ended with its session, should the next one open before its interval is over. */
bool backtest_sim_waits(const struct sim *sim, const struct strategy_input *input)
{
    struct session_span next;
    int64_t end_ns = input->session_close_ns;
    if (end_ns == 0 || input->ts_ns < end_ns)
        return false;
    return !trading_span_at(sim->calendar, SESSION_REGULAR, end_ns, &next) || next.open_ns > end_ns;
}

int64_t backtest_sim_ends(struct sim *sim, const struct sim_symbol *symbol)
{
    return backtest_sim_session(sim, symbol, sim->now_ns).close_ns;
}

size_t backtest_sim_last_row(const struct sim *sim)
{
    return sim->open && sim->change_row != SIZE_MAX && sim->change_row > 0 ? sim->change_row - 1 : SIZE_MAX;
}

/* ---- ends ---- */

static bool over(int64_t ends_ns, int64_t ns)
{
    return ends_ns != 0 && ends_ns <= ns;
}

void backtest_sim_end_entries(struct sim *sim, struct sim_symbol *symbol, int64_t ns)
{
    if (symbol->plain.id != 0 && over(symbol->plain.ends_ns, ns))
        backtest_sim_plain_drop(sim, symbol);
    for (int i = 0; i < symbol->n_live;) {
        const struct sim_order *order = &symbol->live[i];
        if (!over(order->ends_ns, ns)) {
            i++;
            continue;
        }
        sim->now_ns = order->ends_ns;
        backtest_sim_end(sim, symbol, order->id, ORDER_CANCELED, ORDER_SESSION_CLOSED);
        i = 0;
    }
}

static void close_session(struct sim *sim, int64_t ns)
{
    for (int s = 0; s < sim->n_symbols; s++)
        if (sim->symbols[s].n_entering > 0)
            backtest_sim_end_entries(sim, &sim->symbols[s], ns);
    next_session(sim, sim->session.close_ns);
}

/* ---- openings ---- */

/* The first bar from a row on, before which it opens. False: there is none in the run. */
static bool find_bar(struct sim *sim, size_t row)
{
    for (; row < sim->config->to; row++)
        for (int s = 0; s < sim->n_symbols; s++)
            if (market_present(sim->symbols[s].series, row)) {
                sim->row = row;
                sim->seq = row * (size_t)sim->n_symbols + (size_t)s + 1;
                return true;
            }
    return false;
}

/* What was kept is dropped where that bar comes when the session is over. */
static void order_kept(struct sim *sim)
{
    bool there = find_bar(sim, sim->change_row);
    bool late = there && market_open_ns(sim->config->market, sim->row) >= sim->session.close_ns;
    sim->now_ns = sim->session.open_ns;
    sim->opening = true;
    for (int s = 0; s < sim->n_symbols; s++) {
        struct sim_symbol *symbol = &sim->symbols[s];
        if (symbol->n_kept > 0 && there && !late)
            backtest_sim_kept(sim, symbol);
        symbol->n_kept = 0;
    }
    sim->opening = false;
}

static void open_session(struct sim *sim)
{
    bool kept = false;
    for (int s = 0; s < sim->n_symbols; s++)
        kept |= sim->symbols[s].n_kept > 0;
    if (kept)
        order_kept(sim);
    sim->open = true;
    sim->change_row = row_at(sim->config->market, sim->session.close_ns);
}

void backtest_sim_sessions(struct sim *sim, size_t row)
{
    while (sim->change_row <= row) {
        if (sim->open)
            close_session(sim, market_open_ns(sim->config->market, row));
        else
            open_session(sim);
    }
}

void backtest_sim_sessions_end(struct sim *sim)
{
    size_t row = sim->config->to;
    while (row-- > sim->config->from)
        if (market_any_present(sim->config->market, row)) {
            backtest_sim_sessions(sim, row);
            return;
        }
}
