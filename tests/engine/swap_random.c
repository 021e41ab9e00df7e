/* Policies that come and go at random among late bars, lost bars, quotes, kills, pauses and orders by hand,
 * in each fill model: the same events say the same from states and events that were written and read on the
 * way, and what replays, explanations and forks of their log say is what was. */
#include <sys/stat.h>

#include "engine/explain.h"
#include "engine/what_if.h"
#include "strategy/policy/cache.h"
#include "tests/counts.h"
#include "tests/engine/logged.h"
#include "tests/engine/made_policy.h"
#include "tests/engine/tape.h"
#include "tests/strategy/ensemble_made.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (INT64_C(60) * 1000000000)
#define MS_NS     INT64_C(1000000)

enum { SYMBOLS = 3, ACCOUNTS = 3, POLICIES = 4, ENSEMBLE = 2 /* where they are read from files */ };
enum { LOGS = 12, QUEUE_MAX = 512, MINUTES = 300, LOST_MAX = 64 };

static const struct made_walk walk = {.start = 500 * E8, .tick = E8 / 100, .step = E8 / 10000};

struct queued {
    int64_t at_ns;
    uint64_t order; /* of those of one time */
    struct event event;
    struct order leg; /* of an order */
};

/* What a venue and a user do. */
struct unrest {
    struct random random;
    struct queued queue[QUEUE_MAX];
    size_t n_queued;
    uint64_t n_made, quote_id;
    int64_t price[SYMBOLS];
    int minute;
    struct bar lost[SYMBOLS][LOST_MAX]; /* that no stream brought */
    size_t n_lost[SYMBOLS];
    const struct policy *policies[POLICIES];
};

/* An engine that is made from events and states, and its outputs. */
struct follower {
    struct engine *engine;
    struct tape tape;
    struct codec codec, state;
    struct event_memory memory;
};

static struct logged l;
static struct unrest u;
static struct tape tape;
static struct {
    uint64_t swaps, closes, waited, fills, orders, kills, states, left;
} totals;

static void push(int64_t at_ns, const struct event *event)
{
    if (u.n_queued == QUEUE_MAX)
        return;
    size_t i = u.n_queued++;
    for (; i > 0 && u.queue[i - 1].at_ns > at_ns; i--)
        u.queue[i] = u.queue[i - 1];
    u.queue[i] = (struct queued){at_ns, ++u.n_made, *event, {0}};
    if (event->kind == EVENT_COMMAND && event->command.kind == COMMAND_ORDER)
        u.queue[i].leg = event->command.order.legs[0];
}

static int64_t soon(int64_t most_ms)
{
    return random_between(&u.random, 0, most_ms) * MS_NS;
}

static struct bar next_bar(int symbol, int64_t open_ns)
{
    struct bar bar = {.open_ns = open_ns, .first_trade_id = -1, .last_trade_id = -1, .volume = E8};
    int64_t *price = &u.price[symbol], step = *price / 200 / walk.tick;
    bar.open = *price;
    *price += random_between(&u.random, -step, step) * walk.tick;
    bar.close = *price;
    bar.high = (bar.open > bar.close ? bar.open : bar.close) + random_between(&u.random, 0, step) * walk.tick;
    bar.low = (bar.open < bar.close ? bar.open : bar.close) - random_between(&u.random, 0, step) * walk.tick;
    return bar;
}

static void push_bar(int symbol, int64_t end_ns)
{
    const struct bar bar = next_bar(symbol, end_ns - MINUTE_NS);
    int dice = u.minute == 1 ? 0 : (int)random_between(&u.random, 0, 99);
    const struct event event = {.kind = EVENT_MARKET,
                                .market = {.kind = MARKET_KLINE,
                                           .symbol = symbol,
                                           .event_ns = end_ns,
                                           .kline = {.interval_ns = MINUTE_NS, .bar = bar, .closed = true}}};
    if (dice < 90)
        push(end_ns + soon(dice < 75 ? 400 : 9000), &event);
    else if (dice < 97 && u.n_lost[symbol] < LOST_MAX)
        u.lost[symbol][u.n_lost[symbol]++] = bar; /* fetched later; else the bar does not exist */
}

static void push_quote(int symbol, int64_t at_ns)
{
    const struct event event = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_QUOTE,
                   .symbol = symbol,
                   .event_ns = at_ns,
                   .quote = {++u.quote_id, u.price[symbol] - walk.tick,
                             random_between(&u.random, 1, 3000) * E8 / 100, u.price[symbol] + walk.tick,
                             random_between(&u.random, 1, 3000) * E8 / 100}}};
    push(at_ns, &event);
}

static struct order by_hand(void)
{
    struct order request = {.account = (int)random_between(&u.random, 0, ACCOUNTS - 1),
                            .symbol = (int)random_between(&u.random, 0, SYMBOLS - 1),
                            .side = (enum order_side)random_between(&u.random, 0, 1),
                            .type = (enum order_type)random_between(&u.random, 0, ORDER_STOP),
                            .qty = random_between(&u.random, 1, 300) * E8 / 100,
                            .by_hand = true};
    int64_t price = u.price[request.symbol] + random_between(&u.random, -300, 300) * walk.tick;
    if (request.type == ORDER_LIMIT)
        request.price = price;
    if (request.type == ORDER_STOP)
        request.stop_price = price;
    return request;
}

static void push_command(int64_t at_ns)
{
    struct event event = {.kind = EVENT_COMMAND, .command = {.command_id = u.n_made, .args = "{}"}};
    struct event_command *command = &event.command;
    struct order leg;
    int account = (int)random_between(&u.random, 0, ACCOUNTS - 1);
    int dice = (int)random_between(&u.random, 0, 99);
    if (dice < 50) {
        int policy = (int)random_between(&u.random, -1, POLICIES - 1);
        command->kind = COMMAND_ACCOUNT_POLICY;
        command->policy.account = account;
        command->policy.policy = policy < 0 ? NULL : u.policies[policy];
        command->policy.close = random_chance(&u.random, 30);
        totals.swaps++;
        totals.closes += command->policy.close;
    } else if (dice < 75) {
        command->kind = COMMAND_ORDER;
        leg = by_hand();
        command->order.legs = &leg;
        command->order.n_legs = 1;
    } else if (dice < 80) {
        command->kind = COMMAND_ACCOUNT_RESET;
        command->money.account = account;
        command->money.amount = 10000 * E8;
    } else {
        command->kind = dice < 84   ? COMMAND_PAUSE
                        : dice < 86 ? COMMAND_FLATTEN
                        : dice < 94 ? COMMAND_RESUME
                                    : COMMAND_ACCOUNT_RESUME;
        command->money.account = account;
    }
    push(at_ns, &event);
}

static void push_minute(void)
{
    int64_t end_ns = MADE_START_NS + ++u.minute * MINUTE_NS;
    const struct event timer = {.kind = EVENT_TIMER};
    for (int s = 0; s < SYMBOLS; s++) {
        push_bar(s, end_ns);
        for (int i = 0; i < 4; i++)
            push_quote(s, end_ns + soon(59999));
    }
    for (int i = 0; i < 3; i++)
        push(end_ns + soon(8000), &timer);
    if (random_chance(&u.random, 30))
        push_command(end_ns + soon(random_chance(&u.random, 50) ? 4000 : 59999));
}

/* What was lost between two times is fetched, a while after it was asked for. */
static void on_need_bars(void *ctx, int symbol, int64_t from_ns, int64_t to_ns)
{
    size_t from = 0, n = 0;
    (void)ctx;
    while (from < u.n_lost[symbol] && u.lost[symbol][from].open_ns < from_ns)
        from++;
    while (from + n < u.n_lost[symbol] && u.lost[symbol][from + n].open_ns <= to_ns)
        n++;
    const struct event event = {.kind = EVENT_BARS,
                                .bars = {.symbol = symbol, .bars = u.lost[symbol] + from, .n = (uint32_t)n}};
    push(l.driver.now_ns + soon(6000), &event);
}

static void on_order(void *ctx, const struct order *order)
{
    tape_sink(&tape).order(&tape, order);
    logged_on_order(ctx, order);
}

static void on_fill(void *ctx, const struct fill *fill)
{
    tape_sink(&tape).fill(&tape, fill);
    logged_on_fill(ctx, fill);
}

static void on_ledger(void *ctx, const struct ledger_row *row)
{
    tape_sink(&tape).ledger(&tape, row);
    logged_on_ledger(ctx, row);
}

static void on_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                     const char *text)
{
    (void)ctx;
    tape_sink(&tape).alert(&tape, ts_ns, code, of, text);
    totals.left += strcmp(code, "POLICY_LEFT") == 0;
    totals.kills += strcmp(code, "KILLED") == 0;
}

static struct engine_sink follower_sink(struct follower *f)
{
    const struct engine_sink all = tape_sink(&f->tape);
    return (struct engine_sink){
        .ctx = all.ctx, .order = all.order, .fill = all.fill, .ledger = all.ledger, .alert = all.alert};
}

static const struct policy *find_among(void *ctx, const uint8_t id[static POLICY_ID_SIZE])
{
    (void)ctx;
    for (int i = 0; i < POLICIES; i++)
        if (memcmp(u.policies[i]->id, id, POLICY_ID_SIZE) == 0)
            return u.policies[i];
    return NULL;
}

static const struct policies among = {.find = find_among};

/* ---- the two engines ---- */

static void configure(struct engine_config *config, struct symbol *symbols, struct account_spec *specs,
                      enum fill_model model)
{
    for (int s = 0; s < SYMBOLS; s++)
        symbols[s] = l.driver.symbols[s] = made_symbol(s, &walk);
    for (int a = 0; a < ACCOUNTS; a++) {
        specs[a] = (struct account_spec){.currency = "USDT",
                                         .currency_scale = 8,
                                         .cash = 10000 * E8,
                                         .rules = {.fees = {1000, 1000},
                                                   .shorts = a == 0,
                                                   .collateral_e4 = 15000,
                                                   .maintenance_e4 = 12500,
                                                   .risk.drawdown = a == 1 ? 0.03 : 0}};
        snprintf(specs[a].name, sizeof specs[a].name, "a%d", a);
    }
    specs[0].policy = u.policies[0];
    specs[1].policy = u.policies[1];
    specs[2].strategy = strategy_find("sma-cross");
    strategy_defaults(specs[2].strategy, specs[2].params);
    *config = (struct engine_config){.symbols = symbols,
                                     .n_symbols = SYMBOLS,
                                     .accounts = specs,
                                     .n_accounts = ACCOUNTS,
                                     .interval_ns = MINUTE_NS,
                                     .latency_ns = random_between(&u.random, 0, 2) * 50 * MS_NS,
                                     .fill_model = model,
                                     .slippage_e6 = 200,
                                     .policy_wait_ns = random_between(&u.random, 1, 4) * 700 * MS_NS};
}

/* As a daemon that starts again with what its engine has. */
static void configure_again(struct engine *engine, const struct engine_config *config)
{
    char err[ENGINE_ERROR_MAX] = "";
    struct account_spec specs[ACCOUNTS];
    struct engine_config same = *config;
    for (int a = 0; a < ACCOUNTS; a++)
        specs[a] = *engine_account_spec(engine, a);
    same.accounts = specs;
    CHECK_INT(engine_configure(engine, &same, err), 0);
    CHECK_STR(err, "");
}

/* False at the first difference. */
static bool follow(struct follower *f, const struct engine_config *config)
{
    char err[ENGINE_ERROR_MAX] = "";
    struct engine *loaded = NULL;
    const struct engine_sink sink = follower_sink(f);
    codec_save(&f->state);
    CHECK_INT(engine_save(f->engine, &f->state), 0);
    CHECK_INT(engine_load(f->state.bytes, f->state.len, &sink, &among, &loaded, err), 0);
    CHECK_STR(err, "");
    if (!loaded)
        return false;
    engine_destroy(f->engine);
    f->engine = loaded;
    totals.states++;
    if (random_chance(&u.random, 30))
        configure_again(f->engine, config);
    uint8_t ours[LEDGER_HASH_SIZE], theirs[LEDGER_HASH_SIZE];
    CHECK_INT(engine_digest(l.engine, ours), 0);
    CHECK_INT(engine_digest(f->engine, theirs), 0);
    bool same = memcmp(ours, theirs, sizeof ours) == 0;
    CHECK(same);
    return same;
}

static bool take(struct follower *f, const struct event *event)
{
    CHECK_INT(event_encode(event, &l.codec), 0);
    const struct journal_record record = {.kind = JOURNAL_EVENT,
                                          .seq = event->seq,
                                          .recv_ns = event->recv_ns,
                                          .bytes = l.codec.bytes,
                                          .len = l.codec.len};
    CHECK_INT(journal_batch_add(&l.batch, &record), 0);
    struct event read = {.seq = event->seq, .recv_ns = event->recv_ns};
    CHECK_INT(event_decode(l.codec.bytes, l.codec.len, &f->memory, &read), 0);
    uint64_t decisions = engine_counters(l.engine)->decisions;
    int r = engine_handle(l.engine, event), r2 = engine_handle(f->engine, &read);
    bool brings_bars =
        event->kind == EVENT_BARS || (event->kind == EVENT_MARKET && event->market.kind == MARKET_KLINE);
    totals.waited += engine_counters(l.engine)->decisions > decisions && !brings_bars;
    CHECK_INT(r, 0);
    CHECK_INT(r2, 0);
    CHECK(tape.hash == f->tape.hash);
    return tape.hash == f->tape.hash;
}

static void play(const struct engine_config *config)
{
    static struct follower f;
    const struct engine_sink sink = {.ctx = &l,
                                     .order = on_order,
                                     .fill = on_fill,
                                     .ledger = on_ledger,
                                     .alert = on_alert,
                                     .need_bars = on_need_bars},
                             second = follower_sink(&f);
    memset(&f.tape, 0, sizeof f.tape);
    memset(&tape, 0, sizeof tape);
    f.memory.policies = &among;
    CHECK_INT(engine_create(config, &sink, &l.engine), 0);
    CHECK_INT(engine_create(config, &second, &f.engine), 0);
    logged_state(&l, STATE_NEW_RUN);
    bool same = true;
    while (u.minute < MINUTES && same) {
        push_minute();
        int64_t end_ns = MADE_START_NS + (u.minute + 1) * MINUTE_NS;
        while (u.n_queued > 0 && u.queue[0].at_ns < end_ns && same) {
            struct order leg = u.queue[0].leg;
            l.event = u.queue[0].event;
            if (l.event.kind == EVENT_COMMAND && l.event.command.kind == COMMAND_ORDER)
                l.event.command.order.legs = &leg;
            l.event.seq = ++l.driver.seq;
            l.driver.now_ns = l.event.recv_ns = u.queue[0].at_ns;
            memmove(u.queue, u.queue + 1, --u.n_queued * sizeof *u.queue);
            same = take(&f, &l.event);
            if (same && random_chance(&u.random, 3))
                same = follow(&f, config);
            if (random_chance(&u.random, 1))
                logged_state(&l, STATE_ROTATION);
        }
    }
    logged_put(&l);
    logged_state(&l, STATE_STOP);
    logged_settle(&l);
    totals.orders += l.n_orders;
    totals.fills += l.n_fills;
    engine_destroy(f.engine);
    f.engine = NULL;
    codec_finish(&f.codec);
    codec_finish(&f.state);
    event_memory_finish(&f.memory);
}

/* ---- what its log gives ---- */

static void check_replay(void)
{
    char err[JOURNAL_ERROR_MAX] = "";
    struct replay *replay = NULL;
    const struct replay_options options = {.path = l.dir, .policies = &among, .check_states = true};
    CHECK_INT(engine_replay_open(&options, &replay, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (!replay)
        return;
    int r;
    while ((r = engine_replay_step(replay)) > 0)
        ;
    CHECK_STR(engine_replay_error(replay), "");
    CHECK_INT(r, 0);
    CHECK_INT(engine_replay_seq(replay), l.driver.seq);
    struct engine_ids ours, theirs;
    engine_ids(l.engine, &ours);
    engine_ids(engine_replay_engine(replay), &theirs);
    CHECK(memcmp(ours.hash, theirs.hash, sizeof ours.hash) == 0);
    engine_replay_close(replay);
}

static uint64_t explained, decided, by_members, weighed;

/* Its action is the members' vote, by their weights. */
static void look_at_members(const struct explained_policy *policy)
{
    double action = 0, sum = 0;
    bool alike = true;
    for (int m = 0; m < policy->n_members; m++) {
        const struct policy_vote *vote = &policy->members[m].vote;
        action += vote->weight * (double)vote->action;
        sum += vote->weight;
        alike = alike && vote->weight == policy->members[0].vote.weight;
    }
    CHECK(policy->n_members == 3 && strcmp(policy->members[1].name, "e-2.safetensors") == 0);
    CHECK_NEAR(sum, 1, 1e-12);
    CHECK_NEAR(action, (double)policy->action, 1e-5 * (1 + fabs(action)));
    by_members++;
    weighed += !alike;
}

static bool look(void *ctx, const struct explanation *e)
{
    (void)ctx;
    CHECK(e->compared && e->equal && !e->incomplete);
    explained++;
    if (strcmp(e->order.tag, "policy") == 0) {
        CHECK(e->have_decision && e->decision.have_policy && e->decision.policy.ordered != 0);
        decided++;
        if (e->decision.policy.n_members > 0)
            look_at_members(&e->decision.policy);
    }
    return true;
}

static void check_explanations(void)
{
    struct explain_result result = {0};
    char err[JOURNAL_ERROR_MAX] = "";
    const struct explain_options options = {
        .path = l.dir, .to_ns = INT64_MAX, .recorded = &l.recorded, .explained = look};
    CHECK_INT(engine_explain_run(&options, &result, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK_INT(result.explained, l.n_orders);
}

/* With nothing changed a fork does the same, through every swap; without a trader, none of the log's swaps of
 * the account brings it another. */
static void check_forks(void)
{
    for (int same = 0; same < 2; same++) {
        struct what_if_result result = {0};
        char err[JOURNAL_ERROR_MAX] = "";
        const struct what_if_options options = {.path = l.dir,
                                                .at_ns = MADE_START_NS + 20 * MINUTE_NS,
                                                .to_ns = INT64_MAX,
                                                .account = "a0",
                                                .same_strategy = same};
        CHECK_INT(engine_what_if_run(&options, &result, err, sizeof err), 0);
        CHECK_STR(err, "");
        CHECK_INT(result.was.end, engine_equity(l.engine, 0));
        if (same) {
            CHECK_INT(result.would_be.end, result.was.end);
            CHECK_INT(result.would_be.orders, result.was.orders);
            CHECK_INT(result.would_be.fills, result.was.fills);
            CHECK_INT(result.commands_left_out, 0);
        } else {
            CHECK(result.commands_left_out > 0);
            CHECK(result.would_be.orders < result.was.orders);
        }
    }
}

/* ---- policies in memory, and of files ---- */

static const struct policy_rules rules[POLICIES] = {
    {.norm_action = 6,
     .trailing_stop = 0.01,
     .max_position = 0.6,
     .min_cash = 0.1,
     .exit_bars = 9,
     .exit_share = 0.25,
     .cooldown_bars = 3},
    {.norm_action = 8,
     .trailing_stop = 0.006,
     .limits = {.exposure = 0.5,
                .exposure_symbol = 0.3,
                .daily_loss = 0.01,
                .stop_loss = 0.004,
                .portfolio_trailing_stop = 0.01,
                .cooldown_s = 600,
                .take_profit = {0.003, 0.5}}},
    {.norm_action = 10, .limits = {.take_profit = {0.002, 0.3}}},
    {.norm_action = 12, .trailing_stop = 0.02, .cooldown_bars = 2},
};
static const int first_asset[POLICIES] = {0, 1, 0, 2}, n_assets[POLICIES] = {3, 2, 2, 1};

static struct made_policy made[POLICIES];

static void open_made(void)
{
    for (int i = 0; i < POLICIES; i++) {
        made_policy_open(&made[i], &u.random, n_assets[i], MADE_START_NS, MINUTE_NS, 1 + i, MINUTES,
                         &rules[i], 40);
        for (int k = 0; k < n_assets[i]; k++)
            snprintf(made[i].assets[k].name, sizeof made[i].assets[k].name, "C%d", first_asset[i] + k);
        if (i == 1 || i == 2) {
            made[i].policy.act = NULL;
            made[i].policy.runtime = &made_runtime;
        }
        u.policies[i] = &made[i].policy;
    }
}

static void write_recorded(const char *params, const char *actions, int i)
{
    FILE *file = fopen(params, "w");
    if (!file)
        abort();
    fprintf(
        file,
        "{\"interval\": \"1m\", \"first_bar\": \"2024-08-09T00:00:00+00:00\", \"bars\": %d, \"symbols\": [",
        MINUTES);
    for (int k = 0; k < n_assets[i]; k++)
        fprintf(file, "%s\"C%d\"", k ? ", " : "", first_asset[i] + k);
    fprintf(file, "], \"min_order_qty\": [");
    for (int k = 0; k < n_assets[i]; k++)
        fprintf(file, "%s0.0001", k ? ", " : "");
    fprintf(
        file,
        "], \"params\": {\"lookback\": 1, \"initial_capital\": 10000, \"buy_cost_pct\": 0.001, "
        "\"sell_cost_pct\": 0.001, \"norm_action\": %g, \"trailing_stop_pct\": %g, \"cooldown_bars\": %g}}\n",
        rules[i].norm_action, rules[i].trailing_stop, rules[i].cooldown_bars);
    fclose(file);
    file = fopen(actions, "w");
    if (!file)
        abort();
    for (int k = 0; k < n_assets[i]; k++)
        fprintf(file, "%saction_C%d", k ? "," : "", first_asset[i] + k);
    for (int t = 1; t < MINUTES - 1; t++)
        for (int k = 0; k < n_assets[i]; k++)
            fprintf(file, "%c%.6f", k ? ',' : '\n', (double)random_between(&u.random, -4000, 4000) / 1000);
    fprintf(file, "\n");
    fclose(file);
}

/* Of members that remember, weighed by what they earned, in the place of the policy of the first two symbols.
 */
static struct policy *open_ensemble(const char *kept)
{
    const char *const names[] = {"e-1.safetensors", "e-2.safetensors", "e-3.safetensors"};
    const struct ensemble_member members[] = {
        {.lookback = 2, .interval_ns = MINUTE_NS},
        {.lookback = 4, .interval_ns = MINUTE_NS, .features = true, .levels = 0},
        {.lookback = 3, .interval_ns = MINUTE_NS, .recurrent = 16},
    };
    const char *path = scratch_path("random.ensemble.json");
    char err[POLICY_ERROR_MAX] = "";
    struct policy *policy = NULL;
    for (int m = 0; m < 3; m++)
        ensemble_member(&u.random, names[m], &members[m]);
    if (ensemble_write(path, names, 3, ENSEMBLE_SHARPE, 30, err) < 0 ||
        policy_load(path, NULL, &policy, err) < 0 || policy_keep(policy, path, kept, err) < 0) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    for (int m = 0; m < 3; m++)
        CHECK_INT(remove(scratch_path(names[m])), 0); /* the copies do */
    return policy;
}

static void open_recorded(void)
{
    char params[SCRATCH_PATH_MAX], actions[SCRATCH_PATH_MAX], kept[SCRATCH_PATH_MAX], files[SCRATCH_MAX];
    char err[POLICY_ERROR_MAX] = "";
    scratch_make(files);
    snprintf(kept, sizeof kept, "%s/policies", l.dir);
    for (int i = 0; i < POLICIES; i++) {
        struct policy *policy = NULL;
        if (i == ENSEMBLE) {
            u.policies[i] = open_ensemble(kept);
            continue;
        }
        snprintf(params, sizeof params, "%s/params.json", files);
        snprintf(actions, sizeof actions, "%s/actions.csv", files);
        write_recorded(params, actions, i);
        if (policy_load(params, actions, &policy, err) < 0 || policy_keep(policy, params, kept, err) < 0) {
            fprintf(stderr, "%s\n", err);
            exit(EXIT_FAILURE);
        }
        u.policies[i] = policy;
    }
    scratch_remove(files);
}

static void test(uint64_t seed, enum fill_model model, bool files)
{
    struct symbol symbols[SYMBOLS];
    struct account_spec specs[ACCOUNTS];
    struct engine_config config;
    memset(&u, 0, sizeof u);
    memset(&l, 0, sizeof l);
    u.random = (struct random){seed};
    for (int s = 0; s < SYMBOLS; s++)
        u.price[s] = walk.start + s * 100 * E8;
    journal_batch_init(&l.batch);
    codec_save(&l.codec);
    l.recorded = (struct engine_recorded){
        .ctx = &l, .order = logged_order_row, .fill = logged_fill_row, .ledger = logged_ledger_row};
    logged_writer(&l);
    if (files)
        open_recorded();
    else
        open_made();
    configure(&config, symbols, specs, model);
    l.driver.now_ns = MADE_START_NS;
    play(&config);
    check_replay();
    if (files) {
        check_explanations();
        check_forks();
    }
    logged_close(&l);
    for (int i = 0; i < POLICIES; i++)
        if (files)
            policy_destroy((struct policy *)(uintptr_t)u.policies[i]);
        else
            made_policy_close(&made[i]);
}

int main(void)
{
    struct random random = random_seeded("swap_random", 20261122);
    const int logs = counts_of("logs", LOGS, LOGS / 2);
    for (int i = 0; i < LOGS; i += LOGS / logs) /* each fill model with both kinds of policies */
        test(random_next(&random), (enum fill_model)(i % FILL_MODELS), i % 4 > 1);
    printf("swap_random: %ju swaps, %ju of them closing, %ju left positions; %ju decisions after a wait, %ju "
           "kills, %ju orders, %ju fills, %ju states loaded; %ju orders explained, %ju by a policy\n",
           (uintmax_t)totals.swaps, (uintmax_t)totals.closes, (uintmax_t)totals.left,
           (uintmax_t)totals.waited, (uintmax_t)totals.kills, (uintmax_t)totals.orders,
           (uintmax_t)totals.fills, (uintmax_t)totals.states, (uintmax_t)explained, (uintmax_t)decided);
    const unsigned part = LOGS / (unsigned)logs;
    CHECK(totals.swaps > 200 / part && totals.closes > 50 / part && totals.left > 20 / part &&
          totals.waited > 200 / part);
    printf("swap_random: %ju of an ensemble, %ju by unlike weights\n", (uintmax_t)by_members,
           (uintmax_t)weighed);
    CHECK(by_members > 50 / part && weighed > 20 / part);
    CHECK(totals.kills > (COUNTS_PART ? 0 : 5) && totals.fills > 1000 / part && decided > 500 / part);
    return check_done("engine/swap_random");
}
