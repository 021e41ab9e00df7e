/* What stocks' trades leave behind: the day trades of an account, and proceeds that are not settled yet
 * (exchange/margin.h).
 *
 * A day trade closes what was opened on the same day; several closings of one opening are one, and so are
 * several openings that one closing follows: it is counted by changes of direction. A trade is an order that
 * traded, by its first fill.
 *
 * A purchase uses settled cash first, then the proceeds that settle first. To sell what was bought with such
 * proceeds before they settled is a violation of good faith; it is counted, and an alert says so. */
#include "engine/core.h"
#include "exchange/business_day.h"

const struct trading_calendar *engine_settle_calendar(const struct engine *engine)
{
    static const struct trading_calendar none;
    for (int s = 0; s < engine->n_symbols; s++) {
        const struct trading_calendar *calendar = engine_calendar(engine, s);
        if (calendar->n > 0)
            return calendar;
    }
    return &none;
}

/* ---- day trades ---- */

/* The entry of a day, made where there is none; the days are the newest first. */
static struct traded_day *traded_on(struct account_memory *memory, int64_t day)
{
    if (memory->n_traded > 0 && memory->traded[0].day == day)
        return &memory->traded[0];
    if (memory->n_traded < MARGIN_DAY_TRADE_DAYS)
        memory->n_traded++;
    for (int i = memory->n_traded - 1; i > 0; i--)
        memory->traded[i] = memory->traded[i - 1];
    memory->traded[0] = (struct traded_day){.day = day};
    return &memory->traded[0];
}

/* Did the fill make a day trade of what was opened on its day? */
static bool turns(struct day_trading *of, int64_t day, int64_t held, int64_t change)
{
    int64_t against = (held > 0) != (change > 0) ? held < 0 ? -held : held : 0;
    int64_t size = change < 0 ? -change : change, closes = size < against ? size : against;
    if (of->day != day) {
        of->day = day;
        of->opened = 0;
        of->counts = false;
    }
    bool counted = closes > 0 && of->opened > 0 && of->counts;
    if (counted)
        of->counts = false;
    of->opened -= closes < of->opened ? closes : of->opened;
    if (closes == against && closes > 0)
        of->opened = 0;
    if (size > closes) {
        of->opened += size - closes;
        of->counts = true;
    }
    return counted;
}

struct traded_day engine_settle_recent(const struct engine *engine, int index, int64_t day)
{
    const struct account_memory *memory = &engine->accounts[index].memory;
    struct traded_day sum = {0};
    int64_t begin_ns;
    sum.day = business_day_after(engine_settle_calendar(engine), day, 1 - MARGIN_DAY_TRADE_DAYS, &begin_ns);
    for (int i = 0; i < memory->n_traded; i++)
        if (memory->traded[i].day >= sum.day) {
            sum.trades += memory->traded[i].trades;
            sum.day_trades += memory->traded[i].day_trades;
        }
    return sum;
}

static void look_for_pattern(struct engine *engine, int index, int64_t day)
{
    struct account *account = &engine->accounts[index];
    struct account_memory *memory = &account->memory;
    if (memory->pattern_ns != 0 || !margin_day_trader_rule_holds(account->rules.day_trader, day))
        return;
    const struct traded_day recent = engine_settle_recent(engine, index, day);
    if (!margin_is_pattern(recent.day_trades, recent.trades))
        return;
    memory->pattern_ns = engine->now_ns;
    engine_alert(
        engine, "PATTERN_DAY_TRADER", ENGINE_OF(index, -1, 0),
        "account %s: %lld day trades in %d business days: it opens nothing in stocks below $%d of equity",
        account->name, (long long)recent.day_trades, MARGIN_DAY_TRADE_DAYS, MARGIN_DAY_TRADER_EQUITY);
}

static void count_trade(struct engine *engine, const struct order *order, const struct fill *fill)
{
    struct account *account = &engine->accounts[fill->account];
    const struct trading_calendar *calendar = engine_calendar(engine, fill->symbol);
    int64_t day = business_day_of(calendar, fill->ts_ns), held = account->positions[fill->symbol].qty;
    struct traded_day *traded = traded_on(&account->memory, day);
    traded->trades += order->filled == fill->qty;
    traded->day_trades +=
        turns(&account->days[fill->symbol], day, held, fill->side == ORDER_BUY ? fill->qty : -fill->qty);
    look_for_pattern(engine, fill->account, day);
}

/* ---- settlement ---- */

static int64_t proceeds(const struct engine *engine, const struct account_memory *memory)
{
    int64_t sum = 0;
    for (int i = 0; i < memory->n_settling; i++)
        if (memory->settling[i].at_ns > engine->now_ns)
            sum += memory->settling[i].amount;
    return sum;
}

int64_t engine_settle_unsettled(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    int64_t sum = proceeds(engine, &account->memory), cash = account->assets[account->currency_at].total;
    return sum < cash ? sum : cash; /* interest may have used some of it */
}

int64_t engine_settle_barred(const struct engine *engine, int index)
{
    return engine->accounts[index].rules.settlement == SETTLEMENT_STRICT
               ? engine_settle_unsettled(engine, index)
               : 0;
}

static void drop_first(struct account_memory *memory)
{
    for (int i = 1; i < memory->n_settling; i++)
        memory->settling[i - 1] = memory->settling[i];
    memory->n_settling--;
}

/* Unsettled cash is never more than cash. Returns when the last of what is taken for that settles; 0: nothing
 * is. */
static int64_t use_unsettled(struct engine *engine, int index)
{
    struct account_memory *memory = &engine->accounts[index].memory;
    int64_t last_ns = 0;
    while (memory->n_settling > 0 && memory->settling[0].at_ns <= engine->now_ns)
        drop_first(memory);
    int64_t excess = proceeds(engine, memory) - account_currency(engine, index)->total;
    while (excess > 0) {
        struct settling *first = &memory->settling[0];
        int64_t used = excess < first->amount ? excess : first->amount;
        last_ns = first->at_ns;
        first->amount -= used;
        excess -= used;
        if (first->amount == 0)
            drop_first(memory);
    }
    return last_ns;
}

static void add_proceeds(struct account_memory *memory, int64_t at_ns, int64_t amount)
{
    int at = memory->n_settling;
    while (at > 0 && memory->settling[at - 1].at_ns > at_ns)
        at--;
    if (at > 0 && (memory->settling[at - 1].at_ns == at_ns || memory->n_settling == SETTLING_MAX)) {
        memory->settling[at - 1].amount += amount;
        return;
    }
    if (memory->n_settling == SETTLING_MAX)
        return;
    for (int i = memory->n_settling++; i > at; i--)
        memory->settling[i] = memory->settling[i - 1];
    memory->settling[at] = (struct settling){.at_ns = at_ns, .amount = amount};
}

/* A sale counts once, by its first fill. */
static void note_good_faith(struct engine *engine, const struct order *order, const struct fill *fill)
{
    struct account *account = &engine->accounts[fill->account];
    struct day_trading *of = &account->days[fill->symbol];
    if (fill->side == ORDER_BUY || of->funded_ns <= engine->now_ns || order->filled != fill->qty)
        return;
    account->memory.violations++;
    engine_alert(
        engine, "GOOD_FAITH", ENGINE_OF(fill->account, fill->symbol, order->id),
        "account %s: it sold %s before the cash that bought it was settled: a violation of good faith",
        account->name, engine->markets[fill->symbol].symbol.name);
}

static bool in_stocks(const struct engine *engine, const struct fill *fill)
{
    const struct account *account = &engine->accounts[fill->account];
    return engine->markets[fill->symbol].symbol.calendar[0] != '\0' &&
           account->pairs[fill->symbol].quote == account->currency_at;
}

void engine_settle_trade(struct engine *engine, const struct order *order, const struct fill *fill)
{
    const struct account_rules *rules = &engine->accounts[fill->account].rules;
    if (!in_stocks(engine, fill))
        return;
    if (rules->margin != MARGIN_OFF)
        count_trade(engine, order, fill);
    else if (rules->settlement != SETTLEMENT_OFF)
        note_good_faith(engine, order, fill);
}

void engine_settle_booked(struct engine *engine, const struct fill *fill)
{
    struct account *account = &engine->accounts[fill->account];
    if (account->rules.settlement == SETTLEMENT_OFF)
        return;
    struct day_trading *of = &account->days[fill->symbol];
    const struct trading_calendar *calendar = engine_calendar(engine, fill->symbol);
    if (fill->side == ORDER_SELL && fill->notional > fill->fee && in_stocks(engine, fill)) {
        int64_t at_ns, day = business_day_of(calendar, fill->ts_ns);
        business_day_settles(calendar, day, margin_settlement_days(day), &at_ns);
        add_proceeds(&account->memory, at_ns, fill->notional - fill->fee);
    }
    int64_t used_ns = use_unsettled(engine, fill->account);
    if (fill->side == ORDER_BUY && used_ns > of->funded_ns)
        of->funded_ns = used_ns;
    if (account->positions[fill->symbol].qty == 0)
        of->funded_ns = 0;
}
