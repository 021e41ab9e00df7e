/* Another policy in the place of one at work: what of the account goes on, what begins anew, and that events,
 * states and logs say the same of it. */
#include "engine/event_text.h"
#include "engine/record.h"
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

static void open_told(struct world *w, const struct policy *policy)
{
    struct engine_sink sink = sink_of(&w->told);
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

/* Cash, position and stop go on, and so do the bars held and the peak of what both trade. */
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
    open_told(&w, &before.policy);
    const int64_t prices[] = {100 * E8, 100 * E8, 200 * E8, 185 * E8};
    for (int minute = 0; minute < 4; minute++)
        for (int s = 0; s < 2; s++)
            flat(&w, s, minute, prices[minute]);
    CHECK_INT(w.told.n_orders, 4); /* two purchases, and their stops */
    const struct account *account = engine_account(w.engine, 0);
    int64_t cash = account->assets[account->currency_at].total;
    w.told.alert[0] = '\0';
    CHECK_INT(swap(&w, &after.policy, false, 4, 20), ORDER_OK);
    CHECK(strstr(w.told.alert, "POLICY_LEFT: ") && strstr(w.told.alert, "C1USDT") &&
          !strstr(w.told.alert, "C0USDT"));
    CHECK(engine_account_spec(w.engine, 0)->policy == &after.policy);
    account = engine_account(w.engine, 0);
    CHECK_INT(account->assets[account->currency_at].total, cash);
    CHECK_INT(account->positions[0].qty, 10 * E8);
    CHECK_INT(account->positions[1].qty, 10 * E8);
    CHECK_INT(engine_orders(w.engine), 2);
    flat(&w, 0, 4, 196 * E8); /* one symbol is enough now: the stop follows the peak that was, 200 */
    flat(&w, 0, 5, 196 * E8);
    CHECK_INT(w.told.n_orders, 4);
    const struct order *stop = engine_order(w.engine, 0), *left = engine_order(w.engine, 1);
    CHECK_INT(stop->symbol, 0);
    CHECK_INT(stop->stop_price, 190 * E8);
    CHECK_INT(left->symbol, 1);
    CHECK_INT(left->stop_price, 180 * E8);
    flat(&w, 0, 6, 196 * E8); /* its own scale: a fifth of the capital, at the first close */
    CHECK_INT(w.told.n_orders, 5);
    CHECK_INT(w.told.orders[4].qty, 20 * E8);
    engine_destroy(w.engine);
    made_policy_close(&before);
    made_policy_close(&after);
}

int main(void)
{
    struct random random = random_seeded("swap", 20261122);
    test_event(&random);
    test_hands_over(&random);
    return check_done("engine/swap");
}
