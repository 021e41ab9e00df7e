/* Margin calls of accounts with a margin. Two conditions call, and one rule closes:
 *
 * - The equity is less than the maintenance of all positions: checked at each price of what is held.
 * - When a business day ends, the equity is less than Regulation T's initial margin of all positions: as far
 *   as the day's trades made it so, where the maintenance sufficed for them (margin.c; 12 CFR 220.4(c)(1)).
 *   That is closed from the next price on, unless a deposit, a sale or the prices have covered it by then.
 *
 * Resting purchases are cancelled, and positions closed at market, the one that needs most first, each whole,
 * until the rest is covered; one that is halted is passed over, one that only lacks a price is waited for.
 * Orders are tagged "margin call"; it is tried again every second, or where no order can be made every
 * minute. */
#include "engine/core.h"
#include "exchange/business_day.h"

/* The symbol whose position needs most of those after (`need`, `symbol`), in this order; -1: all are seen. */
static int next_largest(const struct engine *engine, int index, margin_need_fn need_of, int64_t *need,
                        int symbol)
{
    const struct account *account = &engine->accounts[index];
    int64_t most = -1;
    int found = -1;
    for (int s = 0; s < engine->n_symbols; s++) {
        if (account->positions[s].qty == 0 || account->pairs[s].quote != account->currency_at)
            continue;
        int64_t needs = need_of(engine, index, s);
        bool after = needs < *need || (needs == *need && s > symbol);
        if (after && needs > most) {
            most = needs;
            found = s;
        }
    }
    *need = most;
    return found;
}

static void close_largest(struct engine *engine, int index, margin_need_fn need_of, int64_t lacking)
{
    int64_t need = INT64_MAX, wait_ns = LOAN_LATER_NS;
    int128_t left = lacking;
    for (int s = -1; left > 0 && (s = next_largest(engine, index, need_of, &need, s)) >= 0;) {
        enum loan_outcome outcome = engine_loan_close(engine, index, s);
        if (outcome == LOAN_ASKED || (outcome == LOAN_NO_MARKET && engine_hours_trades(&engine->markets[s])))
            left -= need;
        if (outcome != LOAN_REFUSED)
            wait_ns = LOAN_AGAIN_NS;
    }
    engine->accounts[index].margin_ns = engine->now_ns + wait_ns;
}

static void call(struct engine *engine, int index, margin_need_fn need_of, int64_t lacking, const char *rule)
{
    struct account *account = &engine->accounts[index];
    if (account->margin_ns == 0) {
        char text[DECIMAL_TEXT_MAX];
        decimal_format_short(lacking, account->currency_scale, text);
        engine_alert(engine, "MARGIN_CALL", ENGINE_OF(index, -1, 0),
                     "account %s: its equity lacks %s %s of %s: its largest positions are closed",
                     account->name, text, account->currency, rule);
    }
    engine_loan_cancel_buys(engine, index);
    close_largest(engine, index, need_of, lacking);
}

/* By Regulation T: 0 where the equity suffices. */
static int64_t lacks(const struct engine *engine, int index)
{
    int64_t lacking =
        engine_margin_of_all(engine, index, engine_margin_initial) - engine_equity(engine, index);
    return lacking > 0 ? lacking : 0;
}

void engine_margin_moved(struct engine *engine, int index)
{
    struct account_memory *memory = &engine->accounts[index].memory;
    int64_t lacking = memory->overnight > 0 ? lacks(engine, index) : 0;
    if (memory->overnight > lacking)
        memory->overnight = lacking;
}

struct margin_trade engine_margin_before(const struct engine *engine, int index)
{
    struct margin_trade before = {0};
    if (engine->accounts[index].rules.margin != MARGIN_OFF) {
        before.lacked = lacks(engine, index);
        before.by_day = engine_margin_by_day(engine, index);
    }
    return before;
}

void engine_margin_traded(struct engine *engine, int index, const struct margin_trade *before)
{
    struct account *account = &engine->accounts[index];
    if (account->rules.margin == MARGIN_OFF)
        return;
    int64_t change = lacks(engine, index) - before->lacked;
    if (change < 0 || before->by_day)
        account->memory.deficit += change;
    if (account->memory.deficit < 0)
        account->memory.deficit = 0;
    engine_margin_moved(engine, index);
}

static void check(struct engine *engine, int index)
{
    const struct account_memory *memory = &engine->accounts[index].memory;
    int64_t equity = engine_equity(engine, index);
    int64_t lacking = engine_margin_of_all(engine, index, engine_margin_maintenance) - equity;
    if (lacking > 0) {
        call(engine, index, engine_margin_maintenance, lacking, "the maintenance (FINRA 4210(c))");
        return;
    }
    engine_margin_moved(engine, index);
    if (memory->overnight > 0)
        call(engine, index, engine_margin_initial, memory->overnight, "the initial margin (Regulation T)");
    else
        engine_loan_covered(engine, index);
}

void engine_margin_check(struct engine *engine, int symbol)
{
    for (int a = 0; engine->margins && a < engine->n_accounts; a++) {
        const struct account *account = &engine->accounts[a];
        if (account->rules.margin != MARGIN_OFF && account->positions[symbol].qty != 0 &&
            engine_hours_concerns(engine, a) && engine->now_ns >= account->margin_ns)
            check(engine, a);
    }
}

/* ---- the end of a day ---- */

static void end_day(struct engine *engine, int index)
{
    struct account_memory *memory = &engine->accounts[index].memory;
    memory->overnight += memory->deficit;
    memory->deficit = 0;
    engine_margin_moved(engine, index);
}

void engine_margin_day_over(struct engine *engine)
{
    if (!engine->margins || engine->now_ns < engine->margin_due_ns)
        return;
    const struct trading_calendar *calendar = engine_settle_calendar(engine);
    for (int a = 0; engine->margin_due_ns > 0 && a < engine->n_accounts; a++)
        if (engine->accounts[a].rules.margin != MARGIN_OFF)
            end_day(engine, a);
    engine->margin_due_ns = business_day_end(calendar, business_day_of(calendar, engine->now_ns));
}
