/* The limits of the strategies' contract: 64 indicators with timeframes, 32 parameters, 64 KiB of state of a
 * symbol, eight intents at a bar; what is beyond is refused; and all of it is part of the engine's state. */
#include "engine/specs.h"
#include "engine/state.h"
#include "record/codec.h"
#include "strategy/intent.h"
#include "tests/engine/puppet.h"

enum { WORDS = STRATEGY_STATE_MAX / sizeof(uint64_t), TARGETS_MAX = STRATEGY_INTENTS_MAX + 1 };

static struct harness h;
static size_t n_specs, n_targets;
static uint64_t seen_last, seen_bars;
static struct strategy wide;

const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&wide};
    *ret_n = 1;
    return all;
}

static size_t wide_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    static const char *const frames[] = {"", "@5m", "@15m", "@1h"};
    (void)params;
    for (size_t i = 0; i < n_specs && i < STRATEGY_SPECS_MAX; i++)
        snprintf(specs[i], STRATEGY_SPEC_TEXT, "sma:%zu%s", i / 4 + 1, frames[i % 4]);
    return n_specs;
}

/* Counts bars in the first word of its state, and keeps what it saw of the last parameter in the last. */
static size_t wide_bar(const double *params, void *state, const struct strategy_input *input,
                       struct intent *intents)
{
    uint64_t *words = state;
    size_t n = n_targets;
    words[0]++;
    words[WORDS - 1] += (uint64_t)params[STRATEGY_PARAMS_MAX - 1];
    seen_bars = words[0];
    seen_last = words[WORDS - 1];
    CHECK_NEAR(input->indicators[0], input->close, 1e-9); /* sma:1 */
    for (size_t i = 0; i < n; i++)
        intents[i] =
            (struct intent){.kind = INTENT_TARGET, .fraction = 0.01 * (double)(i + 1), .why = "more"};
    n_targets = 0;
    return n;
}

static const struct strategy wide_row = {.name = "wide",
                                         .summary = "takes all that the contract allows",
                                         .n_params = STRATEGY_PARAMS_MAX,
                                         .state_size = STRATEGY_STATE_MAX,
                                         .specs = wide_specs,
                                         .on_bar = wide_bar};

static void open_wide(void)
{
    static struct strategy_param params[STRATEGY_PARAMS_MAX];
    for (int i = 0; i < STRATEGY_PARAMS_MAX; i++)
        params[i] = (struct strategy_param){.name = "number", .summary = "a number", .max = 100};
    wide = wide_row;
    wide.params = params;
    n_specs = STRATEGY_SPECS_MAX;
    n_targets = 0;
    harness_init(&h);
    h.accounts[ALICE].strategy = &wide;
    h.accounts[ALICE].params[STRATEGY_PARAMS_MAX - 1] = 7;
    harness_open(&h);
    quote(&h, BTCUSDT, 59990 * E8, 10 * E8, 60000 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
}

static void minute(void)
{
    puppet_minute(&h, 60000, 60000, 60000, 60000);
}

static void save(struct codec *codec)
{
    *codec = (struct codec){0};
    codec_save(codec);
    CHECK_INT(engine_save(h.engine, codec), 0);
}

/* Loaded, it has the same bytes again, and continues where the other was. */
static void test_state(void)
{
    struct codec first, second;
    struct engine_sink sink = {0};
    struct engine *engine = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    open_wide();
    for (int i = 0; i < 70; i++)
        minute();
    CHECK(seen_bars == 70 && seen_last == 70 * 7);
    const char *names[STRATEGY_SPECS_MAX];
    double values[STRATEGY_SPECS_MAX];
    CHECK_INT(engine_indicators(h.engine, ALICE, BTCUSDT, names, values, STRATEGY_SPECS_MAX),
              STRATEGY_SPECS_MAX);
    CHECK_STR(names[0], "sma_1");
    CHECK_STR(names[STRATEGY_SPECS_MAX - 2], "sma_16@15m");
    CHECK_NEAR(values[4], 60000, 1e-6);

    save(&first);
    CHECK_INT(engine_load(first.bytes, first.len, &sink, NULL, &engine, err), 0);
    CHECK_STR(err, "");
    struct engine *before = h.engine;
    h.engine = engine;
    save(&second);
    CHECK(first.len == second.len && memcmp(first.bytes, second.bytes, first.len) == 0);
    CHECK(first.len > STRATEGY_STATE_MAX * HARNESS_SYMBOLS);
    h.engine = before;
    engine_destroy(engine);
    codec_finish(&first);
    codec_finish(&second);
    harness_close(&h);
}

static void test_intents(void)
{
    open_wide();
    n_targets = STRATEGY_INTENTS_MAX;
    minute();
    CHECK(h.last_order.id >= STRATEGY_INTENTS_MAX); /* a purchase each */
    uint64_t orders = h.last_order.id;
    CHECK_INT(h.alerts, 0);
    n_targets = TARGETS_MAX;
    minute();
    CHECK_INT(h.last_order.id, orders);
    CHECK_STR(h.last_alert, "INTENT_REFUSED");
    CHECK_STR(h.last_alert_text, "wide, BTCUSDT, account alice: it asks for more than 8 things at one bar");
    harness_close(&h);
}

static void test_refused(void)
{
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    const double params[STRATEGY_PARAMS_MAX] = {0};
    char err[SPECS_ERROR_MAX] = "";
    size_t n = 0;
    wide = wide_row;
    n_specs = STRATEGY_SPECS_MAX;
    CHECK_INT(engine_runner_specs(&wide, params, MINUTE_NS, specs, &n, err), 0);
    CHECK_INT(n, STRATEGY_SPECS_MAX);
    n_specs = STRATEGY_SPECS_MAX + 1;
    CHECK_INT(engine_runner_specs(&wide, params, MINUTE_NS, specs, &n, err), -EINVAL);
    CHECK_STR(err, "strategy wide reads 65 indicators: at most 64 can be");
    n_specs = 1;
    wide.state_size = STRATEGY_STATE_MAX + 8;
    CHECK_INT(engine_runner_specs(&wide, params, MINUTE_NS, specs, &n, err), -EINVAL);
    CHECK_STR(err, "strategy wide keeps 65544 bytes of state a symbol: at most 65536 can be");

    harness_init(&h);
    h.accounts[ALICE].strategy = &wide;
    struct engine_sink sink = {0};
    struct engine *engine = NULL;
    CHECK_INT(engine_create(&h.config, &sink, &engine), -EINVAL);
    CHECK(!engine);
}

int main(void)
{
    test_state();
    test_intents();
    test_refused();
    return check_done("engine/wide");
}
