#include "engine/state.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/driver.h"
#include "engine/visit.h"
#include "exchange/fail.h"
#include "record/order.h"

static const char magic[4] = {'P', 'T', 'S', 'T'};

/* Where a state is read from or written to, and what went wrong beside the bytes: 0, -ENOMEM, -ENOPKG. */
struct visit {
    struct codec *codec;
    struct engine *engine;
    int error;
    char missing[ACCOUNT_NAME_MAX]; /* -ENOPKG: the account whose strategy or policy is not here */
};

static bool over(const struct visit *visit)
{
    return visit->error < 0 || visit->codec->failed;
}

static void visit_order(struct codec *codec, const struct engine *engine, struct order *order)
{
    codec_record(codec, &record_orders, order, engine->n_accounts, engine->n_symbols);
    codec->failed |= !order_live(order->state) || order->filled < 0 || order->filled > order->qty;
}

static void visit_live(struct codec *codec, const struct engine *engine, struct live_order *live)
{
    visit_order(codec, engine, &live->order);
    codec_i64(codec, &live->reserved);
    codec_bools(codec, &live->cancel_queued, &live->missed, &live->takes);
    codec_i64(codec, &live->queue_ahead);
    codec_u32(codec, &live->amends);
    if (codec->version >= 6)
        codec_i64(codec, &live->split_fills);
    if (codec->version >= 10)
        codec_bools(codec, &live->waits, &live->returns);
    if (codec->version >= 12)
        codec_bool(codec, &live->shrinks);
}

static void visit_orders(struct visit *visit)
{
    struct codec *codec = visit->codec;
    struct engine *engine = visit->engine;
    uint32_t n = (uint32_t)engine->n_orders;
    uint64_t before = 0;
    engine_visit_count(codec, &n, UINT32_MAX, 32);
    if (!codec->saving && !codec->failed && n > 0) {
        engine->orders = calloc(n, sizeof *engine->orders);
        if (!engine->orders) {
            visit->error = -ENOMEM;
            return;
        }
        engine->cap_orders = n;
    }
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        struct live_order *live = &engine->orders[i];
        visit_live(codec, engine, live);
        codec->failed |= live->order.id <= before; /* they are sorted by id */
        before = live->order.id;
        if (!codec->saving && !codec->failed) {
            engine->n_orders = i + 1;
            engine->markets[live->order.symbol].live_orders++;
            if (live->order.expires_ns > 0 && live->order.expires_ns < engine->next_expiry_ns)
                engine->next_expiry_ns = live->order.expires_ns;
        }
    }
}

static void visit_pending(struct visit *visit)
{
    struct codec *codec = visit->codec;
    struct engine *engine = visit->engine;
    uint32_t n = (uint32_t)(engine->n_pending - engine->first_pending);
    engine_visit_count(codec, &n, UINT32_MAX, 10);
    if (!codec->saving && !codec->failed && n > 0) {
        engine->pending = calloc(n, sizeof *engine->pending);
        if (!engine->pending) {
            visit->error = -ENOMEM;
            return;
        }
        engine->cap_pending = engine->n_pending = n;
    }
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        struct pending *pending = &engine->pending[engine->first_pending + i];
        codec_i64(codec, &pending->effective_ns);
        if (codec->version >= 2)
            codec_i64(codec, &pending->created_ns);
        else if (!codec->saving)
            pending->created_ns = pending->effective_ns - engine->latency_ns;
        codec_u64(codec, &pending->order_id);
        codec_enum(codec, &pending->kind, PENDING_AMEND + 1);
        engine_visit_amend(codec, &pending->amend);
    }
}

/* A position's lots are all that is held of it. */
static void visit_lots(struct visit *visit, const struct position *position, struct lots *lots)
{
    struct codec *codec = visit->codec;
    uint32_t n = lots->n - lots->first;
    int128_t held = 0;
    engine_visit_count(codec, &n, UINT32_MAX, 3);
    for (uint32_t i = 0; i < n && !over(visit); i++) {
        struct lot lot = {0};
        if (codec->saving)
            lot = lots->lots[lots->first + i];
        codec_i64s(codec, &lot.qty, &lot.cost, &lot.opened_ns);
        codec->failed |= lot.qty <= 0 || lot.cost < 0;
        held += lot.qty;
        if (!codec->saving && !codec->failed)
            visit->error = position_lots_push(lots, &lot);
    }
    int128_t qty = position->qty;
    codec->failed |= !over(visit) && held != (qty < 0 ? -qty : qty);
}

static void visit_record(struct codec *codec, const struct position *position, struct record_keeper *keeper)
{
    if (codec->version < 2) {
        if (!codec->saving)
            strategy_record_resume(keeper, position->qty, position->cost);
        return;
    }
    codec_u32s(codec, &keeper->record.wins, &keeper->record.losses, &keeper->record.losing);
    codec_doubles(codec, &keeper->record.won, &keeper->record.lost);
    codec_i64(codec, &keeper->flow);
}

/* Reasons added later were never counted. */
static void visit_refused(struct codec *codec, uint64_t refused[static ORDER_REASONS])
{
    uint32_t n = codec->version >= 13   ? ORDER_REASONS
                 : codec->version >= 12 ? ORDER_RISK_UNIVERSE + 1
                 : codec->version >= 10 ? ORDER_VENUE_LOST + 1
                 : codec->version >= 8  ? ORDER_RULE_PRICE_DECIMALS + 1
                 : codec->version >= 6  ? ORDER_SYMBOL_GONE + 1
                                        : ORDER_RISK_POSITIONS + 1;
    engine_visit_count(codec, &n, ORDER_REASONS, 1);
    for (uint32_t i = 0; i < n; i++)
        codec_u64(codec, &refused[i]);
}

static void visit_day(struct codec *codec, struct day_trading *day)
{
    codec_i64s(codec, &day->day, &day->opened, &day->funded_ns);
    codec_bool(codec, &day->counts);
    codec->failed |= day->opened < 0;
}

static void visit_memory(struct codec *codec, struct account_memory *memory)
{
    codec_int(codec, &memory->n_settling, 0, SETTLING_MAX);
    for (int i = 0; i < memory->n_settling && !codec->failed; i++) {
        codec_i64s(codec, &memory->settling[i].at_ns, &memory->settling[i].amount);
        codec->failed |= memory->settling[i].amount <= 0 || memory->settling[i].amount > MONEY_MAX;
    }
    codec_int(codec, &memory->n_traded, 0, MARGIN_DAY_TRADE_DAYS);
    for (int i = 0; i < memory->n_traded && !codec->failed; i++) {
        struct traded_day *traded = &memory->traded[i];
        codec_i64s(codec, &traded->day, &traded->trades, &traded->day_trades);
        codec->failed |= traded->trades < 0 || traded->day_trades < 0 || traded->trades > INT32_MAX ||
                         traded->day_trades > INT32_MAX;
    }
    codec_i64s(codec, &memory->pattern_ns, &memory->deficit, &memory->overnight, &memory->violations);
    codec->failed |= memory->deficit < 0 || memory->overnight < 0;
}

static void visit_order_ids(struct codec *codec, struct account_at_venue *at)
{
    codec_int(codec, &at->n_ids, 0, VENUE_ORDER_IDS_MAX);
    for (int i = 0; i < at->n_ids && !codec->failed; i++) {
        codec_u64s(codec, &at->ids[i].order_id, &at->ids[i].client);
        codec_text(codec, at->ids[i].venue_id, sizeof at->ids[i].venue_id);
    }
}

static void visit_receivable(struct codec *codec, struct receivable *of)
{
    codec_text(codec, of->symbol, sizeof of->symbol);
    codec_text(codec, of->action, sizeof of->action);
    codec_text(codec, of->asset, sizeof of->asset);
    codec_int(codec, &of->scale, 0, DECIMAL_SCALE_MAX);
    codec_int(codec, &of->qty_scale, 0, DECIMAL_SCALE_MAX);
    codec_i64s(codec, &of->ex_ns, &of->pay_ns, &of->qty, &of->gross, &of->withheld, &of->amount);
    codec_u64(codec, &of->booked);
    codec->failed |= of->amount > MONEY_MAX || of->amount < -MONEY_MAX || of->asset[0] == '\0';
}

/* Since layout 13: dividends that are booked and not paid, and what rates follow from. */
static void visit_charges(struct visit *visit, int index)
{
    struct codec *codec = visit->codec;
    struct account *account = &visit->engine->accounts[index];
    uint32_t n = account->n_receivables;
    int64_t before_ns = INT64_MIN;
    if (codec->version < 13) {
        if (!codec->saving)
            account->tier_rates.maker_e6 = -1;
        return;
    }
    engine_visit_count(codec, &n, UINT32_MAX, 16);
    for (uint32_t i = 0; i < n && !over(visit); i++) {
        struct receivable read = codec->saving ? account->receivables[i] : (struct receivable){0};
        visit_receivable(codec, &read);
        codec->failed |= read.pay_ns < before_ns;
        before_ns = read.pay_ns;
        if (!codec->saving && !codec->failed)
            visit->error = engine_dividends_put(visit->engine, index, &read);
    }
    codec_i64(codec, &account->volume.day);
    for (int i = 0; i <= FEE_VOLUME_DAYS; i++) {
        codec_i64(codec, &account->volume.days[i]);
        codec->failed |= account->volume.days[i] < 0 || account->volume.days[i] > MONEY_MAX;
    }
    codec_i64(codec, &account->fee_day);
    codec_i32(codec, &account->tier_rates.maker_e6);
    codec_i32(codec, &account->tier_rates.taker_e6);
    if (!codec->saving && !over(visit))
        engine_dividends_sum(visit->engine, index);
}

static void visit_account(struct visit *visit, int index)
{
    struct account *account = &visit->engine->accounts[index];
    struct codec *codec = visit->codec;
    uint32_t n_assets = (uint32_t)account->n_assets;
    codec_text(codec, account->name, sizeof account->name);
    codec_text(codec, account->currency, sizeof account->currency);
    codec_int(codec, &account->currency_scale, 0, DECIMAL_SCALE_MAX);
    engine_visit_rules(codec, &account->rules);
    engine_visit_count(codec, &n_assets, ACCOUNT_ASSETS_MAX, 5);
    for (uint32_t i = 0; i < n_assets && !over(visit); i++) {
        struct balance read = codec->saving ? account->assets[i] : (struct balance){0};
        codec_text(codec, read.asset, sizeof read.asset);
        codec_int(codec, &read.scale, 0, DECIMAL_SCALE_MAX);
        codec_i64s(codec, &read.total, &read.borrowed, &read.reserved);
        if (codec->saving || codec->failed)
            continue;
        int at = account_place(visit->engine, index, read.asset, read.scale);
        if (at == -ENOMEM)
            visit->error = at;
        else if (at != (int)i)
            codec->failed = true;
        else
            account->assets[at] = read;
    }
    if (!codec->saving && !over(visit))
        visit->error = account_arrays(visit->engine, index);
    for (int s = 0; s < visit->engine->n_symbols && !over(visit); s++) {
        engine_visit_position(codec, &account->positions[s]);
        visit_lots(visit, &account->positions[s], &account->lots[s]);
        visit_record(codec, &account->positions[s], &account->records[s]);
    }
    codec_i64s(codec, &account->deposits, &account->equity, &account->equity_peak, &account->day,
               &account->day_equity, &account->opening_cash, &account->interest_ns, &account->unpaid_interest,
               &account->margin_ns);
    if (codec->version >= 9) {
        codec_i64s(codec, &account->point, &account->day_base);
    } else if (!codec->saving) {
        account->point = account->equity;
        account->day_base = account->day_equity;
    }
    if (codec->version >= 10) {
        codec_bools(codec, &account->at_venue.attached, &account->at_venue.halted);
        codec_text(codec, account->at_venue.prefix, sizeof account->at_venue.prefix);
        codec_u64(codec, &account->at_venue.seen);
        codec_text(codec, account->at_venue.seen_symbol, sizeof account->at_venue.seen_symbol);
    }
    if (codec->version >= 11)
        visit_order_ids(codec, &account->at_venue);
    codec_bool(codec, &account->started);
    if (codec->version >= 2) {
        codec_i64(codec, &account->killed_ns);
        codec_bool(codec, &account->killing);
        visit_refused(codec, account->refused);
        visit->engine->killing |= account->killing;
    }
    for (int s = 0; codec->version >= 8 && s < visit->engine->n_symbols && !over(visit); s++)
        visit_day(codec, &account->days[s]);
    if (codec->version >= 8)
        visit_memory(codec, &account->memory);
    visit_charges(visit, index);
    if (codec->version >= 13)
        codec_i64(codec, &account->closed_ns);
    visit->engine->to_begin |= !codec->saving;
    if (!codec->saving && !over(visit))
        visit->error = account_bind(visit->engine, index);
    codec->failed |= account->n_assets != (int)n_assets; /* balances for every symbol were there */
}

static void visit_outside(struct codec *codec, struct strategy_runner *runner, int n_symbols)
{
    if (codec->version < 12 || !runner->slots || !runner->strategy->external)
        return;
    for (int s = 0; s < n_symbols && !codec->failed; s++)
        engine_visit_slot_kept(codec, &runner->slots[s]);
    engine_visit_answers(codec, &runner->answers);
}

/* A slot's indicators and their names follow from the strategy's parameters. False as
 * engine_visit_strategy(). */
static bool visit_runner(struct visit *visit, int account)
{
    struct strategy_runner *runner = &visit->engine->runners[account];
    struct account_spec spec = visit->engine->specs[account];
    spec.strategy = runner->strategy;
    memcpy(spec.params, runner->params, sizeof spec.params);
    if (!engine_visit_strategy(visit->codec, &spec.strategy, spec.params))
        return false;
    if (!visit->codec->saving && !over(visit))
        visit->error = engine_runner_open(visit->engine, account, &spec);
    for (int s = 0; runner->slots && s < visit->engine->n_symbols && !over(visit); s++)
        engine_visit_slot(visit->codec, &runner->slots[s]);
    visit_outside(visit->codec, runner, visit->engine->n_symbols);
    engine_visit_round(visit->codec, runner);
    if (visit->codec->version >= 3 && !over(visit))
        engine_visit_driver(visit->codec, &runner->driver);
    if (visit->codec->version >= 2)
        engine_visit_refusals(visit->codec, runner);
    if (visit->codec->version >= 5)
        codec_bool(visit->codec, &runner->closing);
    if (!over(visit))
        engine_visit_kept(visit->codec, visit->engine, account);
    return true;
}

static void visit_rate(struct codec *codec, struct risk_rate *rate)
{
    for (int i = 0; i < RISK_RATE_MAX; i++)
        codec_i64(codec, &rate->times_ns[i]);
    codec_u32(codec, &rate->next);
    codec->failed |= rate->next >= RISK_RATE_MAX;
}

static void visit_accounts(struct visit *visit)
{
    struct codec *codec = visit->codec;
    struct engine *engine = visit->engine;
    for (int a = 0; a < engine->n_accounts && !over(visit); a++) {
        bool known = engine_visit_spec(codec, &engine->specs[a]);
        if (known && !codec->failed)
            visit_account(visit, a);
        if (known && !over(visit))
            known = visit_runner(visit, a);
        if (known) {
            visit_rate(codec, &engine->rates[a]);
        } else if (!codec->failed) { /* and its memory cannot be read */
            visit->error = -ENOPKG;
            memcpy(visit->missing, engine->specs[a].name, sizeof visit->missing);
        }
    }
}

static void visit_counters(struct codec *codec, struct engine_counters *counters)
{
    codec_u64s(codec, &counters->events, &counters->decisions, &counters->orders, &counters->rejected,
               &counters->fills);
    visit_refused(codec, counters->refused);
    codec_u64(codec, &counters->impossible);
}

/* Before layout 8 no days were known. */
static void visit_calendars(struct visit *visit)
{
    struct codec *codec = visit->codec;
    struct engine *engine = visit->engine;
    uint32_t n = (uint32_t)engine->n_calendars;
    if (codec->version < 8)
        return;
    engine_visit_count(codec, &n, CALENDARS_MAX, 4);
    for (uint32_t i = 0; i < n && !over(visit); i++) {
        struct trading_calendar calendar = {0};
        struct trading_day *days = NULL;
        if (codec->saving)
            calendar = engine->calendars[i];
        engine_visit_calendar(codec, &calendar);
        if (!codec->saving && !codec->failed && !(days = calloc(calendar.n + 1, sizeof *days)))
            visit->error = -ENOMEM;
        if (over(visit))
            return;
        if (days)
            calendar.days = days;
        engine_visit_days(codec, (struct trading_day *)(uintptr_t)calendar.days, calendar.n);
        if (codec->saving)
            continue;
        codec->failed |= !codec->failed && !engine_calendars_sound(&calendar);
        visit->error = engine_calendars_put(engine, &calendar);
        codec->failed |= engine->n_calendars < (int)i + 1; /* two of one name */
    }
}

static int allocate(struct engine *engine, int n_symbols, int n_accounts)
{
    engine->markets = calloc((size_t)n_symbols, sizeof *engine->markets);
    if (!engine->markets)
        return -ENOMEM;
    engine->n_symbols = n_symbols;
    int r = account_reserve(engine, n_accounts);
    if (r == 0)
        engine->n_accounts = n_accounts;
    return r;
}

static void visit_settings(struct visit *visit)
{
    struct codec *codec = visit->codec;
    struct engine *engine = visit->engine;
    codec_i64s(codec, &engine->interval_ns, &engine->latency_ns, &engine->equity_interval_ns);
    codec_enum(codec, &engine->missed_stops, MISSED_STOPS_KEEP + 1);
    if (codec->version >= 2) {
        codec_enum(codec, &engine->fill_model, FILL_MODELS);
        codec_i32(codec, &engine->slippage_e6);
    }
    if (codec->version >= 5)
        codec_i64(codec, &engine->policy_wait_ns);
    if (codec->version >= 8) {
        codec_enum(codec, &engine->beyond, FILL_BEYONDS);
        codec_bool(codec, &engine->before_8);
    } else if (!codec->saving) {
        engine->before_8 = true;
    }
    codec->failed |= engine->interval_ns <= 0 || engine->latency_ns < 0 || engine->slippage_e6 < 0 ||
                     engine->slippage_e6 >= 1000000 || engine->policy_wait_ns < 0;
    int n_symbols = engine->n_symbols, n_accounts = engine->n_accounts;
    codec_int(codec, &n_symbols, 1, SYMBOLS_MAX);
    codec_int(codec, &n_accounts, 1, ACCOUNTS_MAX);
    if (!codec->saving && !codec->failed)
        visit->error = allocate(engine, n_symbols, n_accounts);
}

static void visit_ids(struct codec *codec, struct engine *engine)
{
    codec_u64s(codec, &engine->last_order, &engine->last_fill, &engine->last_ledger);
    if (codec->version >= 13)
        codec_u64s(codec, &engine->last_receivable, &engine->last_fee_rate);
    codec_bytes(codec, engine->hash, sizeof engine->hash);
}

/* All of it except the sink, which is the caller's, and `out_of_memory`, after which there is no state. */
static void visit_engine(struct visit *visit)
{
    struct codec *codec = visit->codec;
    struct engine *engine = visit->engine;
    visit_settings(visit);
    visit_ids(codec, engine);
    codec_i64(codec, &engine->now_ns);
    if (!codec->saving)
        engine->recv_ns = engine->now_ns;
    if (codec->version >= 2) {
        codec_i64s(codec, &engine->recv_ns, &engine->behind_ns);
    }
    codec_u64(codec, &engine->input_seq);
    codec_bools(codec, &engine->paused, &engine->flattening, &engine->storage_failing, &engine->bar_closed);
    codec_i64s(codec, &engine->next_equity_ns, &engine->interest_due_ns);
    if (codec->version >= 8)
        codec_i64(codec, &engine->margin_due_ns);
    visit_counters(codec, &engine->counters);
    for (int s = 0; s < engine->n_symbols && !over(visit); s++)
        visit->error = engine_visit_market(codec, &engine->markets[s], engine->interval_ns);
    if (!over(visit))
        visit_calendars(visit);
    visit_accounts(visit);
    if (!codec->saving && !over(visit)) {
        for (int s = 0; s < engine->n_symbols; s++)
            engine_calendars_date_again(engine, s);
        account_count_shorts(engine);
        engine_halt_watch(engine);
        engine_driver_find_waiting(engine);
        engine->closes = engine->ends = true; /* checked at the next event */
        engine_match_model(engine);
        engine_auction_find_due(engine);
    }
    if (!over(visit))
        visit_orders(visit);
    if (!over(visit))
        visit_pending(visit);
    if (!over(visit) && codec->version >= 12)
        engine_visit_requests(codec, engine);
    for (int s = 0; s < engine->n_symbols && !over(visit) && codec->version >= 12; s++)
        codec_bool(codec, &engine->markets[s].out);
    if (!over(visit) && codec->version >= 12)
        visit->error = engine_visit_columns(codec, engine);
}

/* The state's own first bytes; saving: in codec->version. Loading: 0, -EBADMSG or -ENOTSUP. */
static int visit_head(struct codec *codec)
{
    char mark[sizeof magic];
    memcpy(mark, magic, sizeof mark);
    codec_bytes(codec, mark, sizeof mark);
    codec_u32(codec, &codec->version);
    if (codec->failed || memcmp(mark, magic, sizeof mark) != 0 || codec->version == 0)
        return -EBADMSG;
    return codec->version > ENGINE_STATE_VERSION ? -ENOTSUP : 0;
}

int engine_save(const struct engine *engine, struct codec *codec)
{
    return engine_save_as(engine, ENGINE_STATE_VERSION, codec);
}

int engine_save_as(const struct engine *engine, uint32_t layout, struct codec *codec)
{
    /* A saving codec sets nothing. */
    struct visit visit = {.codec = codec, .engine = (struct engine *)(uintptr_t)engine};
    codec->version = layout;
    visit_head(codec);
    visit_engine(&visit);
    return codec->failed ? -ENOMEM : 0;
}

uint32_t engine_state_layout(const void *bytes, size_t len)
{
    struct codec codec;
    codec_load(&codec, bytes, len);
    return visit_head(&codec) < 0 ? 0 : codec.version;
}

int engine_state_ids(const void *bytes, size_t len, struct engine_ids *ret)
{
    struct codec codec;
    codec_load(&codec, bytes, len);
    int r = visit_head(&codec);
    struct engine *engine = r == 0 ? calloc(1, sizeof *engine) : NULL;
    if (r < 0 || !engine)
        return r < 0 ? r : -ENOMEM;
    struct visit visit = {.codec = &codec, .engine = engine};
    visit_settings(&visit);
    if (!over(&visit))
        visit_ids(&codec, engine);
    r = visit.error < 0 ? visit.error : codec.failed ? -EBADMSG : 0;
    if (r == 0)
        engine_ids(engine, ret);
    engine_destroy(engine);
    return r;
}

static const struct policy *find_policy(void *ctx, const uint8_t id[static POLICY_ID_SIZE])
{
    const struct engine *engine = ctx;
    for (int a = 0; a < engine->n_accounts; a++) {
        const struct policy *policy = engine->specs[a].policy;
        if (policy && memcmp(policy->id, id, POLICY_ID_SIZE) == 0)
            return policy;
    }
    return NULL;
}

struct policies engine_policies(const struct engine *engine)
{
    return (struct policies){.ctx = (void *)(uintptr_t)engine, .find = find_policy};
}

int engine_load(const void *bytes, size_t len, const struct engine_sink *sink,
                const struct policies *policies, struct engine **ret, char err[static ENGINE_ERROR_MAX])
{
    struct codec codec;
    codec_load(&codec, bytes, len);
    codec.policies = policies;
    int r = visit_head(&codec);
    if (r == -ENOTSUP)
        return fail_with(r, err, ENGINE_ERROR_MAX, FAIL_NEWER("layout %u of the engine's state", "%d"),
                         codec.version, ENGINE_STATE_VERSION);
    if (r < 0)
        return fail_with(r, err, ENGINE_ERROR_MAX, "these %zu bytes are no engine's state", len);
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return fail_with(-ENOMEM, err, ENGINE_ERROR_MAX, "no memory for an engine");
    engine->next_expiry_ns = INT64_MAX;
    struct visit visit = {.codec = &codec, .engine = engine};
    visit_engine(&visit);
    if (visit.error == -EINVAL || (visit.error == 0 && !codec_complete(&codec)))
        visit.error = -EBADMSG;
    if (visit.error < 0) {
        engine_destroy(engine);
        if (visit.error == -ENOPKG && codec.no_policy) {
            char id[POLICY_ID_TEXT];
            policy_id_text(codec.policy_id, id);
            return fail_with(
                visit.error, err, ENGINE_ERROR_MAX,
                "account %s trades by the policy %s, whose files are not there, or are others by "
                "now: policy.safetensors, policy.ensemble.json with its members, or params.json and "
                "actions.csv, belongs into a folder of this name in %.200s",
                visit.missing, id,
                policies && policies->where ? policies->where : "policies/ of the state directory");
        }
        if (visit.error == -ENOPKG)
            return fail_with(
                visit.error, err, ENGINE_ERROR_MAX,
                "account %s has a strategy that this program does not have, or parameters that it "
                "does not take",
                visit.missing);
        if (visit.error == -ENOMEM)
            return fail_with(visit.error, err, ENGINE_ERROR_MAX, "no memory for an engine");
        return fail_with(visit.error, err, ENGINE_ERROR_MAX,
                         "the engine's state is damaged at byte %zu of %zu", codec.at, len);
    }
    engine->sink = *sink;
    *ret = engine;
    return 0;
}

int engine_digest(const struct engine *engine, uint8_t ret[static LEDGER_HASH_SIZE])
{
    struct codec codec = {0};
    uint8_t hash[EVP_MAX_MD_SIZE];
    codec_save(&codec);
    int r = engine_save(engine, &codec);
    if (r == 0 && EVP_Digest(codec.bytes, codec.len, hash, NULL, EVP_sha256(), NULL) != 1)
        r = -ENOMEM;
    if (r == 0)
        memcpy(ret, hash, LEDGER_HASH_SIZE);
    codec_finish(&codec);
    return r;
}
