/* Another policy replaces one that trades: what of the account continues, what restarts, and that events,
 * states and logs agree on it. */
#include "engine/event_text.h"
#include "engine/record.h"
#include "exchange/zone.h"
#include "tests/engine/policy_world.h"

static enum order_reason verdict;

static void on_done(void *ctx, const struct event_command *command, enum order_reason reason, uint64_t order)
{
    (void)ctx, (void)command, (void)order;
    verdict = reason;
}

/* As a command that is received `seconds` after a minute began. */
static enum order_reason swap(struct world *w, const struct policy *policy, bool close, int minute,
                              int seconds)
{
    const struct event event = {.recv_ns = MADE_START_NS + minute * MINUTE_NS + seconds * INT64_C(1000000000),
                                .kind = EVENT_COMMAND,
                                .command = {.kind = COMMAND_ACCOUNT_POLICY,
                                            .command_id = 1,
                                            .policy = {.account = 0, .policy = policy, .close = close}}};
    verdict = ORDER_REASONS;
    give(w, &event);
    return verdict;
}

static void open_reported(struct world *w, const struct policy *policy)
{
    struct engine_sink sink = sink_of(&w->reported);
    CHECK_INT(world_open(w, policy), 0);
    engine_destroy(w->engine);
    sink.command_done = on_done;
    CHECK_INT(engine_create(&w->config, &sink, &w->engine), 0);
}

static void test_event(struct random *random)
{
    struct made_policy made, other;
    struct codec codec = {0};
    char text[EVENT_TEXT_MAX], id[POLICY_ID_TEXT];
    made_policy_open(&made, random, 2, MADE_START_NS, MINUTE_NS, 1, 4, &plain, 0);
    made_policy_open(&other, random, 2, MADE_START_NS, MINUTE_NS, 1, 4, &plain, 0);
    const struct policies there = {.ctx = &made.policy, .find = find_made},
                          elsewhere = {.ctx = &other.policy, .find = find_made};
    const struct event event = {.seq = 7,
                                .recv_ns = 8,
                                .kind = EVENT_COMMAND,
                                .command = {.kind = COMMAND_ACCOUNT_POLICY,
                                            .command_id = 9,
                                            .args = "{}",
                                            .policy = {3, &made.policy, true}}};
    CHECK_INT(event_encode(&event, &codec), 0);
    struct event_memory memory = {.policies = &there};
    struct event read = {0};
    CHECK_INT(event_decode(codec.bytes, codec.len, &memory, &read), 0);
    CHECK(read.kind == EVENT_COMMAND && read.command.kind == COMMAND_ACCOUNT_POLICY);
    CHECK_INT(read.command.policy.account, 3);
    CHECK(read.command.policy.policy == &made.policy && read.command.policy.close);
    memory.policies = &elsewhere;
    CHECK_INT(event_decode(codec.bytes, codec.len, &memory, &read), -ENOPKG);
    CHECK(memory.no_policy && memcmp(memory.policy_id, made.policy.id, POLICY_ID_SIZE) == 0);
    memory.no_policy = false;
    memory.policies = NULL;
    CHECK_INT(event_decode(codec.bytes, codec.len, &memory, &read), -ENOPKG);
    for (size_t len = 1; len < codec.len; len++)
        CHECK_INT(event_decode(codec.bytes, len, &memory, &read), -EBADMSG);
    event_text(&event, NULL, text);
    policy_id_text(made.policy.id, id);
    CHECK(strstr(text, "COMMAND 9 account policy number 3, made ") && strstr(text, id) &&
          strstr(text, ", closes all"));
    event_memory_finish(&memory);
    codec_finish(&codec);
    made_policy_close(&made);
    made_policy_close(&other);
}

/* Cash, position and stop are kept, and so are the bars held and the peak of what both trade. */
static void test_hands_over(struct random *random)
{
    static struct world w;
    struct made_policy before, after;
    const struct policy_rules stops = {.norm_action = 10, .trailing_stop = 0.1},
                              closer = {.norm_action = 5, .trailing_stop = 0.05};
    memset(&w, 0, sizeof w);
    made_policy_open(&before, random, 2, MADE_START_NS, MINUTE_NS, 1, 20, &stops, 0);
    made_policy_open(&after, random, 1, MADE_START_NS, MINUTE_NS, 1, 20, &closer, 0);
    memset(before.actions, 0, 40 * sizeof *before.actions);
    memset(after.actions, 0, 20 * sizeof *after.actions);
    before.actions[0] = before.actions[1] = 1;
    before.assets[0].least = before.assets[1].least = after.assets[0].least = 0;
    after.actions[6] = 1;
    open_reported(&w, &before.policy);
    const int64_t prices[] = {100 * E8, 100 * E8, 200 * E8, 185 * E8};
    for (int minute = 0; minute < 4; minute++)
        for (int s = 0; s < 2; s++)
            flat(&w, s, minute, prices[minute]);
    CHECK_INT(w.reported.n_orders, 4); /* two purchases, and their stops */
    const struct account *account = engine_account(w.engine, 0);
    int64_t cash = account->assets[account->currency_at].total;
    w.reported.alert[0] = '\0';
    CHECK_INT(swap(&w, &after.policy, false, 4, 20), ORDER_OK);
    CHECK(strstr(w.reported.alert, "POLICY_LEFT: ") && strstr(w.reported.alert, "C1USDT") &&
          !strstr(w.reported.alert, "C0USDT"));
    CHECK(engine_account_spec(w.engine, 0)->policy == &after.policy);
    account = engine_account(w.engine, 0);
    CHECK_INT(account->assets[account->currency_at].total, cash);
    CHECK_INT(account->positions[0].qty, 10 * E8);
    CHECK_INT(account->positions[1].qty, 10 * E8);
    CHECK_INT(engine_orders(w.engine), 2);
    flat(&w, 0, 4, 196 * E8); /* one symbol is enough now: the stop follows the peak that was, 200 */
    flat(&w, 0, 5, 196 * E8);
    CHECK_INT(w.reported.n_orders, 4);
    const struct order *stop = engine_order(w.engine, 0), *left = engine_order(w.engine, 1);
    CHECK_INT(stop->symbol, 0);
    CHECK_INT(stop->stop_price, 190 * E8);
    CHECK_INT(left->symbol, 1);
    CHECK_INT(left->stop_price, 180 * E8);
    flat(&w, 0, 6, 196 * E8); /* its own scale: a fifth of the capital, at the first close */
    CHECK_INT(w.reported.n_orders, 5);
    CHECK_INT(w.reported.orders[4].qty, 20 * E8);
    engine_destroy(w.engine);
    made_policy_close(&before);
    made_policy_close(&after);
}

static char over[128];

static void on_over(void *ctx, const char *code, const char *about)
{
    (void)ctx;
    snprintf(over, sizeof over, "%s: %s", code, about);
}

/* A policy that has not seen the bars that it needs keeps the stop of what it holds, says so once, and orders
 * nothing else; once it decides, that is over. */
static void test_warming(struct random *random)
{
    static struct world w;
    struct made_policy before, after;
    const struct policy_rules stops = {.norm_action = 10, .trailing_stop = 0.1};
    memset(&w, 0, sizeof w);
    made_policy_open(&before, random, 1, MADE_START_NS, MINUTE_NS, 1, 20, &stops, 0);
    made_policy_open(&after, random, 1, MADE_START_NS, MINUTE_NS, 10, 20, &stops, 0);
    memset(before.actions, 0, 20 * sizeof *before.actions);
    before.actions[0] = 1;
    after.policy.runtime = &made_runtime;
    world_open(&w, &before.policy);
    engine_destroy(w.engine);
    struct engine_sink sink = sink_of(&w.reported);
    sink.command_done = on_done;
    sink.alert_over = on_over;
    CHECK_INT(engine_create(&w.config, &sink, &w.engine), 0);
    for (int minute = 0; minute < 4; minute++)
        flat(&w, 0, minute, 100 * E8);
    CHECK_INT(w.reported.n_orders, 2);
    w.reported.alert[0] = over[0] = '\0';
    CHECK_INT(swap(&w, &after.policy, false, 4, 20), ORDER_OK);
    CHECK_STR(w.reported.alert, "");
    for (int minute = 4; minute < 7; minute++) {
        flat(&w, 0, minute, 200 * E8);
        CHECK(strstr(w.reported.alert, "POLICY_WARMING: account ") != NULL);
        CHECK_INT(w.reported.n_orders, 2);
        CHECK_INT(engine_order(w.engine, 0)->stop_price, minute == 4 ? 90 * E8 : 180 * E8); /* a bar later */
    }
    struct engine_policy_view view;
    CHECK(engine_policy_view(w.engine, 0, &view) && !view.acting && view.holds_warming &&
          view.decided_ns == 0);
    CHECK_STR(over, "");
    for (int minute = 7; minute < 10; minute++)
        flat(&w, 0, minute, 200 * E8);
    CHECK(engine_policy_view(w.engine, 0, &view) && view.acting && !view.holds_warming);
    CHECK(strstr(over, "POLICY_WARMING: account ") != NULL);
    engine_destroy(w.engine);
    made_policy_close(&before);
    made_policy_close(&after);
}

/* And of task day-trade it sells before its session ends. */
static void test_warming_leaves(struct random *random)
{
    static struct world w;
    struct made_policy before, after;
    struct zone *zone;
    char why[ZONE_ERROR_MAX];
    CHECK_INT(zone_open("UTC", &zone, why), 0);
    memset(&w, 0, sizeof w);
    made_policy_open(&before, random, 1, MADE_START_NS, MINUTE_NS, 1, 20, &plain, 0);
    made_policy_open(&after, random, 1, MADE_START_NS, MINUTE_NS, 19, 20, &plain, 0);
    memset(before.actions, 0, 20 * sizeof *before.actions);
    before.actions[0] = 1;
    after.policy.runtime = &made_runtime;
    after.policy.day_trade = true;
    after.policy.threshold = 0.5;
    after.policy.zone = zone;
    after.policy.session_close_s = (int)((MADE_START_NS + 9 * MINUTE_NS) / 1000000000 % 86400);
    open_reported(&w, &before.policy);
    for (int minute = 0; minute < 3; minute++)
        flat(&w, 0, minute, 100 * E8);
    CHECK_INT(swap(&w, &after.policy, false, 3, 20), ORDER_OK);
    for (int minute = 3; minute < 8; minute++) {
        CHECK_INT(engine_account(w.engine, 0)->positions[0].qty > 0, true);
        flat(&w, 0, minute, 100 * E8);
    }
    flat(&w, 0, 8, 100 * E8); /* the session's last bar */
    CHECK_INT(engine_account(w.engine, 0)->positions[0].qty, 0);
    engine_destroy(w.engine);
    zone_close(zone);
    made_policy_close(&before);
    made_policy_close(&after);
}

/* The same policy again changes nothing: the state is that after a command that does nothing. */
static void test_same(struct random *random)
{
    static struct world a, b;
    struct made_policy made;
    uint8_t digest[LEDGER_HASH_SIZE];
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    made_policy_open(&made, random, 2, MADE_START_NS, MINUTE_NS, 1, 20, &plain, 0);
    made.policy.runtime = &made_runtime;
    struct world *worlds[] = {&a, &b};
    for (int k = 0; k < 2; k++) {
        open_reported(worlds[k], &made.policy);
        for (int minute = 0; minute < 6; minute++)
            for (int s = 0; s < 2 - (minute == 5); s++) /* and in the middle of a round */
                flat(worlds[k], s, minute, (100 + minute * (s + 1)) * E8);
    }
    CHECK_INT(swap(&a, &made.policy, false, 6, 1), ORDER_OK);
    const struct event nothing = {.recv_ns = MADE_START_NS + 6 * MINUTE_NS + INT64_C(1000000000),
                                  .kind = EVENT_COMMAND,
                                  .command = {.kind = COMMAND_CANCEL, .order_id = 4000}};
    give(&b, &nothing);
    CHECK_INT(engine_digest(b.engine, digest), 0);
    digest_is(a.engine, digest);
    engine_destroy(a.engine);
    engine_destroy(b.engine);
    made_policy_close(&made);
}

/* To one of the same symbols and back, between two rounds, is as if nothing had been. */
static void test_back(struct random *random)
{
    static struct world a, b;
    struct made_policy first, second;
    const struct policy_rules rules = {
        .norm_action = 6, .trailing_stop = 0.01, .exit_bars = 9, .exit_share = 0.25, .cooldown_bars = 3};
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    made_open(&a.made, random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    b.made = a.made;
    made_policy_open(&first, random, SYMBOLS, MADE_START_NS + 7 * MINUTE_NS, MINUTE_NS, LOOKBACK,
                     ROWS - 7 - LOOKBACK, &rules, 30);
    made_policy_open(&second, random, SYMBOLS, MADE_START_NS + 9 * MINUTE_NS, MINUTE_NS, LOOKBACK,
                     ROWS - 9 - LOOKBACK, &plain, 30);
    for (int i = 0; i < SYMBOLS * (ROWS - 7 - LOOKBACK); i++)
        if (random_chance(random, 85)) /* most are held until they are forced out */
            first.actions[i] = 0;
    open_reported(&a, &first.policy);
    open_reported(&b, &first.policy);
    int swaps = 0;
    for (size_t row = 0; row < ROWS; row++) {
        give_row(&a, row);
        give_row(&b, row);
        bool whole = true; /* all bars of its time are there, so the round is decided */
        for (int s = 0; s < SYMBOLS; s++)
            whole &= market_present(&a.made.series[s], row);
        if (!whole || !random_chance(random, 20))
            continue;
        CHECK_INT(swap(&b, &second.policy, false, (int)row + 1, 1), ORDER_OK);
        CHECK_INT(swap(&b, &first.policy, false, (int)row + 1, 1), ORDER_OK);
        swaps++;
    }
    struct engine_ids ids, same;
    engine_ids(a.engine, &ids);
    engine_ids(b.engine, &same);
    CHECK(swaps > 50 && a.reported.n_fills > 100);
    CHECK(memcmp(ids.hash, same.hash, sizeof ids.hash) == 0);
    CHECK_INT(a.reported.n_orders, b.reported.n_orders);
    printf("swap: there and back %d times, %zu fills as without\n", swaps, a.reported.n_fills);
    engine_destroy(a.engine);
    engine_destroy(b.engine);
    made_close(&a.made);
    made_policy_close(&first);
    made_policy_close(&second);
}

static void by_hand(struct world *w, int symbol, enum order_side side, enum order_type type, int64_t qty,
                    int64_t price, int64_t recv_ns)
{
    struct order request = {.account = 0,
                            .symbol = symbol,
                            .side = side,
                            .type = type,
                            .qty = qty,
                            .price = type == ORDER_LIMIT ? price : 0,
                            .by_hand = true};
    const struct event event = {.recv_ns = recv_ns,
                                .kind = EVENT_COMMAND,
                                .command = {.kind = COMMAND_ORDER, .order = {.legs = &request, .n_legs = 1}}};
    give(w, &event);
}

static void is_flat(const struct world *w)
{
    CHECK_INT(engine_orders(w->engine), 0);
    for (int s = 0; s < SYMBOLS; s++)
        CHECK_INT(engine_account(w->engine, 0)->positions[s].qty, 0);
}

/* None, and all is closed: positions, stops, orders on their way, a short that was made by hand; paused and
 * killed too. */
static void test_closes(struct random *random)
{
    static struct world w;
    for (int way = 0; way < 3; way++) {
        struct made_policy made;
        const struct policy_rules rules = {.norm_action = 10, .trailing_stop = 0.1};
        memset(&w, 0, sizeof w);
        made_policy_open(&made, random, 2, MADE_START_NS, MINUTE_NS, 1, 20, &rules, 0);
        for (int i = 0; i < 40; i++)
            made.actions[i] = 1;
        made.assets[0].least = made.assets[1].least = 0;
        CHECK_INT(world_open(&w, &made.policy), 0);
        engine_destroy(w.engine);
        struct engine_sink sink = sink_of(&w.reported);
        sink.command_done = on_done;
        w.spec.rules.shorts = true;
        w.spec.rules.collateral_e4 = 15000;
        w.spec.rules.maintenance_e4 = 12500;
        w.spec.rules.risk.drawdown = way == 2 ? 0.02 : 0;
        CHECK_INT(engine_create(&w.config, &sink, &w.engine), 0);
        for (int s = 0; s < SYMBOLS; s++)
            flat(&w, s, 0, 100 * E8);
        by_hand(&w, 2, ORDER_SELL, ORDER_MARKET, 5 * E8, 0, MADE_START_NS + MINUTE_NS + 1000);
        by_hand(&w, 2, ORDER_BUY, ORDER_LIMIT, E8, 50 * E8, MADE_START_NS + MINUTE_NS + 2000);
        for (int minute = 1; minute < 3; minute++)
            for (int s = 0; s < SYMBOLS; s++)
                flat(&w, s, minute, 100 * E8);
        CHECK_INT(engine_account(w.engine, 0)->positions[2].qty, -5 * E8);
        CHECK_INT(engine_account(w.engine, 0)->positions[0].qty, 20 * E8);
        if (way == 1) {
            const struct event pause = {.recv_ns = MADE_START_NS + 3 * MINUTE_NS + 1000,
                                        .kind = EVENT_COMMAND,
                                        .command = {.kind = COMMAND_PAUSE}};
            give(&w, &pause);
        }
        if (way == 2)
            flat(&w, 0, 3, 50 * E8); /* lost, and killed */
        CHECK_INT(engine_account(w.engine, 0)->killed_ns != 0, way == 2);
        CHECK(engine_orders(w.engine) > 3); /* two purchases, two stops, a limit */
        CHECK_INT(swap(&w, NULL, true, 3 + (way == 2), 1), ORDER_OK);
        CHECK(engine_account_spec(w.engine, 0)->policy == NULL);
        size_t orders = w.reported.n_orders;
        for (int minute = 3 + (way == 2); minute < 6; minute++)
            for (int s = 0; s < SYMBOLS; s++)
                flat(&w, s, minute, 100 * E8);
        is_flat(&w);
        CHECK(w.reported.n_orders > orders - 3 && w.reported.n_orders < orders + 3);
        orders = w.reported.n_orders;
        for (int minute = 6; minute < 9; minute++)
            for (int s = 0; s < SYMBOLS; s++)
                flat(&w, s, minute, 100 * E8);
        CHECK_INT(w.reported.n_orders, orders); /* nothing trades for it any more */
        if (way == 0) {                         /* and what is ordered by hand is not closed again */
            by_hand(&w, 0, ORDER_BUY, ORDER_MARKET, E8, 0, MADE_START_NS + 9 * MINUTE_NS + 1000);
            for (int minute = 9; minute < 12; minute++)
                flat(&w, 0, minute, 100 * E8);
            CHECK_INT(engine_account(w.engine, 0)->positions[0].qty, E8);
        }
        engine_destroy(w.engine);
        made_policy_close(&made);
    }
}

/* Without closing, everything stays as it is, and no policy changes it. */
static void test_ends(struct random *random)
{
    static struct world w;
    struct made_policy made;
    const struct policy_rules rules = {.norm_action = 10, .trailing_stop = 0.1};
    memset(&w, 0, sizeof w);
    made_policy_open(&made, random, 1, MADE_START_NS, MINUTE_NS, 1, 20, &rules, 0);
    for (int i = 0; i < 20; i++)
        made.actions[i] = 1;
    made.assets[0].least = 0;
    open_reported(&w, &made.policy);
    for (int minute = 0; minute < 3; minute++)
        flat(&w, 0, minute, 100 * E8);
    CHECK_INT(swap(&w, NULL, false, 3, 1), ORDER_OK);
    CHECK(strstr(w.reported.alert, "POLICY_LEFT: ") &&
          strstr(w.reported.alert, "nothing trades for it any more") && strstr(w.reported.alert, "C0USDT"));
    size_t orders = w.reported.n_orders;
    flat(&w, 0, 3, 150 * E8); /* what was on its way fills */
    flat(&w, 0, 4, 200 * E8);
    CHECK_INT(w.reported.n_orders, orders);
    CHECK_INT(engine_account(w.engine, 0)->positions[0].qty, 30 * E8);
    CHECK_INT(engine_orders(w.engine), 1);
    CHECK_INT(engine_order(w.engine, 0)->stop_price, 90 * E8);
    w.reported.alert[0] = '\0';
    CHECK_INT(swap(&w, &made.policy, false, 5, 1), ORDER_OK); /* it comes back, and the stop follows again */
    CHECK_STR(w.reported.alert, "");
    flat(&w, 0, 5, 200 * E8);
    flat(&w, 0, 6, 200 * E8);
    CHECK_INT(engine_order(w.engine, 0)->stop_price, 180 * E8);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* What is refused changes nothing. */
static void test_refuses(struct random *random)
{
    static struct world w;
    struct made_policy made, other;
    uint8_t digest[LEDGER_HASH_SIZE];
    memset(&w, 0, sizeof w);
    made_policy_open(&made, random, 2, MADE_START_NS, MINUTE_NS, 1, 20, &plain, 0);
    open_reported(&w, &made.policy);
    for (int s = 0; s < 2; s++)
        flat(&w, s, 0, 100 * E8);
    made_policy_open(&other, random, 2, MADE_START_NS, MINUTE_NS, 1, 20, &plain, 0);
    other.policy.interval_ns = 5 * MINUTE_NS;
    for (int way = 0; way < 3; way++) {
        struct codec saved = {0}, after = {0};
        codec_save(&saved);
        CHECK_INT(engine_save(w.engine, &saved), 0);
        CHECK_INT(swap(&w, &other.policy, true, 1, 1 + way), ORDER_BAD_ACCOUNT);
        CHECK(engine_account_spec(w.engine, 0)->policy == &made.policy);
        codec_save(&after);
        CHECK_INT(engine_save(w.engine, &after), 0);
        CHECK(after.len == saved.len);
        codec_finish(&saved);
        codec_finish(&after);
        other.policy.interval_ns = MINUTE_NS;
        snprintf(other.assets[1].name, sizeof other.assets[1].name, way ? "C0USDT" : "C9");
    }
    const struct event unknown = {.recv_ns = MADE_START_NS + MINUTE_NS + 9,
                                  .kind = EVENT_COMMAND,
                                  .command = {.kind = COMMAND_ACCOUNT_POLICY, .policy = {.account = 7}}};
    give(&w, &unknown);
    CHECK_INT(verdict, ORDER_UNKNOWN_ACCOUNT);
    CHECK_INT(engine_digest(w.engine, digest), 0);
    /* An account may be made with one, as long as that is for these symbols. */
    struct event create = {.recv_ns = MADE_START_NS + MINUTE_NS + 9,
                           .kind = EVENT_COMMAND,
                           .command = {.kind = COMMAND_ACCOUNT_CREATE, .account = spec_of(&other.policy)}};
    snprintf(create.command.account.name, sizeof create.command.account.name, "r");
    give(&w, &create);
    CHECK_INT(verdict, ORDER_BAD_ACCOUNT);
    CHECK_INT(engine_accounts(w.engine), 1);
    create.command.account.policy = &made.policy;
    give(&w, &create);
    CHECK_INT(verdict, ORDER_OK);
    CHECK(engine_account_spec(w.engine, 1)->policy == &made.policy);
    engine_destroy(w.engine);
    made_policy_close(&made);
    made_policy_close(&other);
}

int main(void)
{
    struct random random = random_seeded("swap", 20261122);
    test_event(&random);
    test_hands_over(&random);
    test_warming(&random);
    test_warming_leaves(&random);
    test_same(&random);
    test_back(&random);
    test_closes(&random);
    test_ends(&random);
    test_refuses(&random);
    return check_done("engine/swap");
}
