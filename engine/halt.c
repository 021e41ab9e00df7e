/* The kill switch: an account whose equity fell to its limit of drawdown is locked and liquidated, and
 * stays so until its user resumes it. account_mark() finds the limit reached; engine_runner_halt() cancels
 * and closes. */
#include "engine/core.h"

void engine_halt_watch(struct engine *engine)
{
    engine->watches = engine->venues = false;
    engine_margin_watch(engine);
    for (int a = 0; a < engine->n_accounts; a++) {
        engine->watches |= engine->accounts[a].rules.risk.drawdown > 0;
        engine->venues |= engine->accounts[a].rules.execution == EXECUTION_VENUE_PAPER;
    }
}

void engine_halt_check(struct engine *engine, int symbol)
{
    for (int a = 0; engine->watches && a < engine->n_accounts; a++) {
        const struct account *account = &engine->accounts[a];
        const struct risk_limits *limits = &account->rules.risk;
        if (limits->drawdown > 0 && account->killed_ns == 0 && account->positions[symbol].qty != 0 &&
            engine_hours_concerns(engine, a) &&
            risk_drawdown(limits, engine_equity(engine, a), account->equity_peak))
            account_mark(engine, a);
    }
}

static void halt(struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    double lost = 100.0 * (double)(account->equity_peak - account->equity) / (double)account->equity_peak;
    engine_alert(
        engine, "KILLED", ENGINE_OF(index, -1, 0),
        "account %s lost %.2f %% of its highest equity, and %g %% is the limit: it is closed, and opens "
        "nothing until it is resumed",
        account->name, lost, 100 * account->rules.risk.drawdown);
    engine_runner_halt(engine, index);
}

void engine_halt_due(struct engine *engine)
{
    if (!engine->killing)
        return;
    engine->killing = false;
    for (int a = 0; a < engine->n_accounts; a++) {
        bool killing = engine->accounts[a].killing;
        engine->accounts[a].killing = false;
        if (killing)
            halt(engine, a);
    }
}

void engine_halt_over(struct engine *engine, int index)
{
    engine_alert_over(engine, "KILLED", "account %s", engine->accounts[index].name);
}

void engine_halt_lift(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    if (account->killed_ns == 0)
        return;
    account->killed_ns = 0;
    account->killing = false;
    engine_halt_over(engine, index);
    account->equity_peak = 0;
    account_mark(engine, index);
    account->moved = engine->account_moved = true;
}
