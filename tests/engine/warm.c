/* A policy with memory, started at a random moment by a command, a new account, a reset or a configuration:
 * its memory equals that of a policy that was asked at every row from the first stored bar. Bars are missing
 * and late, the moment lies in the middle of a round as often as not, and the engine is saved and loaded on
 * the way. */
#include "engine/event_text.h"
#include "tests/engine/policy_world.h"

#ifdef __SANITIZE_ADDRESS__
enum { TRIALS = 1300 };
#else
enum { TRIALS = 4000 };
#endif
enum { MINUTES = 16, LAG = 2, NONE = -1 };

enum way { WAY_SWAP, WAY_FROM_NONE, WAY_CREATE, WAY_RESET, WAY_FILES, WAY_NEW_ACCOUNT, WAYS };

/* Where it was decided, and what. */
struct decided {
    bool reported[MINUTES][SYMBOLS];
    float actions[MINUTES][SYMBOLS];
};

/* One that sees bars in their order of time, and is asked of each row once: docs/policies.md. */
struct witness {
    const struct policy *policy;
    struct policy_runtime *runtime;
    int row; /* NONE: no bar yet */
    bool asked, there[SYMBOLS];
    struct decided should;
};

static struct decided did;
static int decides_for; /* the account */
static uint64_t compared, in_part, waited_out, began[WAYS];

static void on_decision(void *ctx, const struct engine_decision *decision)
{
    (void)ctx;
    if (decision->account != decides_for || !decision->policy)
        return;
    int row = (int)((decision->bar->open_ns - MADE_START_NS) / MINUTE_NS);
    did.reported[row][decision->symbol] = true;
    did.actions[row][decision->symbol] = decision->policy->action;
}

static const struct engine_trace trace = {.decision = on_decision};

/* ---- what is right ---- */

static void ask(struct witness *w, int row)
{
    const double qty[SYMBOLS] = {0};
    float actions[SYMBOLS];
    if (!w->policy->runtime->act(w->runtime, MADE_START_NS + row * MINUTE_NS, 10000, qty, actions))
        return;
    for (int i = 0; i < w->policy->n_assets; i++) {
        w->should.reported[row][i] = true;
        w->should.actions[row][i] = actions[i];
    }
}

static void witness_bar(struct witness *w, int asset, int row)
{
    double price = 100 + asset + row * 0.5;
    if (row > w->row && w->row != NONE) {
        if (!w->asked)
            ask(w, w->row);
        if (row - w->row > 1)
            ask(w, row - 1);
    }
    const struct indicator_bar bar = {price, price, price,
                                      price, 1,     (double)(MADE_START_NS + row * MINUTE_NS) / 1e9};
    w->policy->runtime->see(w->runtime, asset, MADE_START_NS + row * MINUTE_NS, &bar);
    if (row > w->row) {
        w->row = row;
        w->asked = false;
        memset(w->there, 0, sizeof w->there);
    }
    if (row < w->row || w->asked)
        return;
    w->there[asset] = true;
    for (int i = 0; i < w->policy->n_assets; i++)
        if (!w->there[i])
            return;
    w->asked = true;
    ask(w, row);
}

/* ---- a trial ---- */

struct trial {
    struct world w;
    struct made_policy made, other;
    bool present[MINUTES][SYMBOLS], given[MINUTES][SYMBOLS];
    int next[SYMBOLS], newest;
    enum way way;
};

static struct trial t;

static const struct policy *find_one(void *ctx, const uint8_t id[static POLICY_ID_SIZE])
{
    (void)ctx;
    const struct policy *policy = find_made(&t.made.policy, id);
    return policy ? policy : find_made(&t.other.policy, id);
}

static const struct policies both = {.find = find_one};

static struct engine_sink traced_sink(void)
{
    struct engine_sink sink = sink_of(&t.w.reported);
    sink.trace = &trace;
    return sink;
}

static int next_row(int symbol)
{
    int row = t.next[symbol];
    while (row < MINUTES && !t.present[row][symbol])
        row++;
    return row;
}

/* Of any symbol that is not far ahead of the others: its next bar. False: there are no more. */
static bool give_next(struct random *random, int *ret_symbol, int *ret_row)
{
    int oldest = MINUTES, symbol;
    for (int s = 0; s < SYMBOLS; s++)
        oldest = next_row(s) < oldest ? next_row(s) : oldest;
    if (oldest == MINUTES)
        return false;
    do
        symbol = (int)random_between(random, 0, SYMBOLS - 1);
    while (next_row(symbol) >= MINUTES || next_row(symbol) > oldest + (int)random_between(random, 0, LAG));
    int row = next_row(symbol);
    t.next[symbol] = row + 1;
    t.newest = row > t.newest ? row : t.newest;
    late_flat(&t.w, symbol, row, (t.newest - row) * MINUTE_NS, (int64_t)((100 + symbol + row * 0.5) * E8));
    t.given[row][symbol] = true;
    *ret_symbol = symbol;
    *ret_row = row;
    return true;
}

static void command(const struct event_command *wanted)
{
    const struct event event = {.recv_ns = MADE_START_NS + (t.newest + 1) * MINUTE_NS + 1000,
                                .kind = EVENT_COMMAND,
                                .command = *wanted};
    give(&t.w, &event);
}

static void configure(const struct policy *first, const struct policy *second)
{
    struct account_spec specs[2] = {spec_of(first), spec_of(second)};
    struct engine_config config = t.w.config;
    char err[ENGINE_ERROR_MAX] = "";
    snprintf(specs[1].name, sizeof specs[1].name, "q");
    config.accounts = specs;
    config.n_accounts = second ? 2 : 1;
    CHECK_INT(engine_configure(t.w.engine, &config, err), 0);
    CHECK_STR(err, "");
}

static void begin(void)
{
    struct event_command create = {.kind = COMMAND_ACCOUNT_CREATE, .account = spec_of(&t.made.policy)};
    snprintf(create.account.name, sizeof create.account.name, "q");
    memset(&did, 0, sizeof did);
    if (t.way == WAY_SWAP || t.way == WAY_FROM_NONE)
        command(&(struct event_command){.kind = COMMAND_ACCOUNT_POLICY,
                                        .policy = {.account = 0, .policy = &t.made.policy}});
    else if (t.way == WAY_CREATE)
        command(&create);
    else if (t.way == WAY_RESET)
        command(&(struct event_command){.kind = COMMAND_ACCOUNT_RESET,
                                        .money = {.account = 0, .amount = 10000 * E8}});
    else if (t.way == WAY_FILES)
        configure(&t.made.policy, NULL);
    else
        configure(&t.other.policy, &t.made.policy);
    decides_for = t.way == WAY_CREATE || t.way == WAY_NEW_ACCOUNT;
    CHECK(engine_account_spec(t.w.engine, decides_for)->policy == &t.made.policy);
}

static void save_and_load(void)
{
    struct codec state = {0};
    struct engine *loaded = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    const struct engine_sink sink = traced_sink();
    codec_save(&state);
    CHECK_INT(engine_save(t.w.engine, &state), 0);
    CHECK_INT(engine_load(state.bytes, state.len, &sink, &both, &loaded, err), 0);
    CHECK_STR(err, "");
    codec_finish(&state);
    if (!loaded)
        return;
    engine_destroy(t.w.engine);
    t.w.engine = loaded;
}

static void open_trial(struct random *random)
{
    memset(&t, 0, sizeof t);
    t.way = (enum way)random_between(random, 0, WAYS - 1);
    t.newest = NONE;
    made_policy_open(&t.made, random, (int)random_between(random, 1, SYMBOLS), MADE_START_NS, MINUTE_NS,
                     (int)random_between(random, 1, 3), 1, &plain, 0);
    made_policy_open(&t.other, random, SYMBOLS, MADE_START_NS, MINUTE_NS, 1, MINUTES, &plain, 0);
    memset(t.other.actions, 0, SYMBOLS * MINUTES * sizeof *t.other.actions);
    t.made.policy.act = NULL;
    t.made.policy.runtime = &made_runtime;
    for (int i = 0; i < SYMBOLS; i++)
        t.made.assets[i].least = 1e9; /* it orders nothing: cash and quantities stay */
    for (int row = 0; row < MINUTES; row++)
        for (int s = 0; s < SYMBOLS; s++)
            t.present[row][s] = random_chance(random, 85);
    const struct policy *first[WAYS] = {[WAY_SWAP] = &t.other.policy,
                                        [WAY_CREATE] = &t.other.policy,
                                        [WAY_RESET] = &t.made.policy,
                                        [WAY_FILES] = &t.other.policy,
                                        [WAY_NEW_ACCOUNT] = &t.other.policy};
    const struct engine_sink sink = traced_sink();
    CHECK_INT(world_open(&t.w, first[t.way]), 0);
    engine_destroy(t.w.engine);
    CHECK_INT(engine_create(&t.w.config, &sink, &t.w.engine), 0);
}

/* Did the round in progress start before the policy did, and lack a bar? */
static bool partly(const struct witness *w)
{
    return w->row != NONE && !w->asked;
}

static void show_kept(struct witness *w)
{
    for (int row = 0; row < MINUTES; row++)
        for (int i = 0; i < w->policy->n_assets; i++)
            if (t.given[row][i])
                witness_bar(w, i, row);
}

static void compare(const struct witness *w, int started)
{
    for (int row = 0; row < MINUTES; row++)
        for (int i = 0; i < SYMBOLS; i++) {
            if (!did.reported[row][i])
                continue;
            CHECK(row > started); /* no policy decides the round in progress */
            CHECK(w->should.reported[row][i]);
            CHECK(memcmp(&did.actions[row][i], &w->should.actions[row][i], sizeof(float)) == 0);
            compared++;
        }
}

static void test(struct random *random)
{
    struct witness w = {.row = NONE};
    int symbol, row, before = (int)random_between(random, 1, SYMBOLS * (MINUTES - 5));
    open_trial(random);
    for (int i = 0; i < before; i++)
        give_next(random, &symbol, &row);
    w.policy = &t.made.policy;
    CHECK_INT(made_runtime_create(w.policy, &w.runtime), 0);
    show_kept(&w);
    begin();
    int started = w.row;
    bool part = partly(&w);
    began[t.way]++;
    in_part += part;
    while (give_next(random, &symbol, &row)) {
        bool open = part && w.row == started && !w.asked;
        if (symbol < w.policy->n_assets)
            witness_bar(&w, symbol, row);
        waited_out += open && w.row == started && w.asked;
        if (random_chance(random, 15))
            save_and_load();
    }
    compare(&w, started);
    made_runtime_destroy(w.runtime);
    engine_destroy(t.w.engine);
    made_policy_close(&t.made);
    made_policy_close(&t.other);
}

int main(void)
{
    struct random random = random_seeded("warm", 20261122);
    for (int i = 0; i < TRIALS; i++)
        test(&random);
    printf("warm: %d policies started in the middle, %" PRIu64
           " of them in a round that lacked bars, which came to %" PRIu64 "; %" PRIu64
           " actions as of one that was asked at every row\n",
           TRIALS, in_part, waited_out, compared);
    printf("counts: %d trials (4000, and 1300 under a sanitizer)\n", TRIALS);
    for (int way = 0; way < WAYS; way++)
        CHECK(began[way] > TRIALS / 12);
    CHECK(in_part > TRIALS / 4 && waited_out > TRIALS / 20 && compared > 5 * TRIALS);
    return check_done("engine/warm");
}
