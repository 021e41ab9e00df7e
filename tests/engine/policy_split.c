/* A policy over a split: what it remembers is counted in new shares, so that it continues as if the symbol
 * had always been in them: the same decisions at the same bars, the same stops, the same money, except for
 * rounding to steps and ticks. A policy that looks at the market restarts on divided bars, and a state of it
 * is loaded as it is. */
#include <math.h>

#include "tests/engine/policy_world.h"

enum { SPLIT_ROWS = 120, SPLIT_AT = 60, RATIO = 2 };

static void split(struct world *w, int row)
{
    struct event event = {.recv_ns = MADE_START_NS + row * MINUTE_NS, .kind = EVENT_ACTION};
    event.action = (struct event_action){
        .symbol = 0,
        .action = {.id = "split", .kind = ACTION_SPLIT, .ex_ns = event.recv_ns, .shares = RATIO, .per = 1}};
    give(w, &event);
}

/* In old shares, on every second tick. */
static int64_t price_at(int row)
{
    return (25000 + (int64_t)(3000 * sin(row * 0.35)) + row * 20) * RATIO * (E8 / 100);
}

static void play(struct world *w, const struct policy *policy, bool splits, int to)
{
    memset(w, 0, sizeof *w);
    CHECK_INT(world_open(w, policy), 0);
    for (int row = 0; row < to; row++) {
        if (splits && row == SPLIT_AT)
            split(w, row);
        flat(w, 0, row, splits && row < SPLIT_AT ? price_at(row) : price_at(row) / RATIO);
    }
}

/* A fill's price is rounded to a tick of 4e-5 of it, which is twice as coarse in the other world; over a
 * hundred fills of all there is that comes to 4e-3 at most. And three steps of quantity. */
static bool near(int64_t a, int64_t b)
{
    return fabs((double)a - (double)b) <= 4e-3 * fabs((double)b) + 30000;
}

static void test_continues(struct random *random)
{
    static struct world a, b;
    static const struct policy_rules rules = {
        .norm_action = 10, .trailing_stop = 0.06, .exit_bars = 12, .exit_share = 0.5, .cooldown_bars = 2};
    int across = 0;
    for (int round = 0; round < 20; round++) {
        struct made_policy made;
        made_policy_open(&made, random, 1, MADE_START_NS, MINUTE_NS, LOOKBACK, SPLIT_ROWS, &rules, 15);
        made.assets[0].least = 0;
        play(&a, &made.policy, true, SPLIT_ROWS);
        play(&b, &made.policy, false, SPLIT_ROWS);
        CHECK_INT(a.reported.n_orders, b.reported.n_orders);
        CHECK_INT(a.reported.n_fills, b.reported.n_fills);
        int64_t at_ns = MADE_START_NS + SPLIT_AT * MINUTE_NS;
        for (size_t i = 0; i < a.reported.n_orders && i < b.reported.n_orders; i++) {
            const struct order *x = &a.reported.orders[i], *y = &b.reported.orders[i];
            int64_t times = x->created_ns <= at_ns ? RATIO : 1; /* the last ones at the end of its last bar */
            CHECK(x->side == y->side && x->type == y->type && x->created_ns == y->created_ns);
            CHECK_STR(x->tag, y->tag);
            CHECK(near(times * x->qty, y->qty));
            CHECK(near(x->stop_price, times * y->stop_price));
        }
        for (size_t i = 0; i < a.reported.n_fills && i < b.reported.n_fills; i++)
            CHECK(a.reported.fills[i].ts_ns == b.reported.fills[i].ts_ns);
        CHECK(near(engine_account(a.engine, 0)->positions[0].qty,
                   engine_account(b.engine, 0)->positions[0].qty));
        CHECK(near(engine_equity(a.engine, 0), engine_equity(b.engine, 0)));
        engine_destroy(a.engine);
        play(&a, &made.policy, true, SPLIT_AT);
        across += engine_account(a.engine, 0)->positions[0].qty > 0;
        engine_destroy(a.engine);
        engine_destroy(b.engine);
        made_policy_close(&made);
    }
    printf("engine/policy_split: %d of 20 held something over the split\n", across);
    CHECK(across > 5);
}

static void test_runtime(struct random *random)
{
    static struct world w;
    struct made_policy made;
    made_policy_open(&made, random, 1, MADE_START_NS, MINUTE_NS, LOOKBACK, 1, &plain, 15);
    made.policy.runtime = &made_runtime;
    play(&w, &made.policy, true, SPLIT_ROWS);
    const struct policies there = {.ctx = &made.policy, .find = find_made};
    const struct engine_sink no_sink = {0};
    struct codec state = {0};
    struct engine *loaded = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    uint8_t digests[2][LEDGER_HASH_SIZE];
    codec_save(&state);
    CHECK_INT(engine_save(w.engine, &state), 0);
    CHECK_INT(engine_load(state.bytes, state.len, &no_sink, &there, &loaded, err), 0);
    CHECK_STR(err, "");
    CHECK(loaded && engine_digest(w.engine, digests[0]) == 0 && engine_digest(loaded, digests[1]) == 0 &&
          memcmp(digests[0], digests[1], sizeof digests[0]) == 0);
    struct engine_policy_view view;
    CHECK(engine_policy_view(w.engine, 0, &view) && view.acting &&
          view.decided_ns > MADE_START_NS + SPLIT_AT * MINUTE_NS);
    engine_destroy(loaded);
    engine_destroy(w.engine);
    codec_finish(&state);
    made_policy_close(&made);
}

int main(void)
{
    struct random random = random_seeded("engine/policy_split", 20261122);
    test_continues(&random);
    test_runtime(&random);
    return check_done("engine/policy_split");
}
