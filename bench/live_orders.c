/* From the close of a bar to the orders of trained policies: bench/live runs it.
 *
 *   live_orders FOLDER POLICIES ROUNDS    figures as "case TAB value TAB unit" lines; FOLDER is for their
 * files
 *
 * Seven symbols, bars of five minutes, the feature set market14, two rows of it in an observation (204
 * floats), networks 2048x1024x512, every policy with weights of its own on an account of its own: the engine
 * is given the seven closed bars of a time one after the other, and the clock runs from the seventh to each
 * order that they bring. Between two times 128 MB are read, more than any cache holds: five minutes pass in
 * life.
 *
 * Prediction, N policies: 204 x 2048 + 2048 x 1024 + 1024 x 512 + 512 x 7 = 3.04 M weights, 12.2 MB, which a
 * core reads at 25 to 40 GB/s: 0.31 to 0.49 ms each, one after the other; features are seven sets of 14
 * streams, 98 x 20 ns = 2 us; rules, risk and the order 2 us. So the first order after 0.3 to 0.5 ms, the
 * last after N times that: 3 to 5 ms of 10, 15 to 25 ms of 50. Where two accounts have one policy its weights
 * are in a cache by the second. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"
#include "engine/engine.h"
#include "engine/event.h"
#include "exchange/decimal.h"
#include "indicators_gpu/features/features.h"
#include "strategy/policy/cache.h"
#include "strategy/policy/trained.h"
#include "trainer/env/params.h"

enum {
    SYMBOLS = 7,
    FEATURES = 14,
    LOOKBACK = 2,
    POLICIES_MAX = 64,
    HISTORY = 1000,
    SWEEP = 128 << 20,
    AHEAD = 512
};
#define INTERVAL_NS INT64_C(300000000000)
#define START_NS    INT64_C(1745200200000000000)
#define E8          INT64_C(100000000)

struct bench {
    struct policy *policies[POLICIES_MAX];
    struct symbol symbols[SYMBOLS];
    struct engine *engine;
    struct bar bars[SYMBOLS][HISTORY];
    int64_t price[SYMBOLS], open_ns;
    uint64_t seq, seed;
    size_t learned; /* weights and biases of the policies' networks, of one */
    char *room;     /* [SWEEP] */
    double started;
    double first[POLICIES_MAX]; /* seconds to the account's first order of this round; 0: none */
};

_Noreturn static void die(const char *what, const char *why)
{
    fprintf(stderr, "live_orders: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* ---- policies ---- */

static char *feature_text(void)
{
    struct feature_set *set;
    char err[512] = "";
    if (feature_set_builtin("market14", &set) < 0)
        die("market14", "there is no such set");
    for (size_t f = 0; f < set->n; f++) /* as fitted: what the figures are does not matter here */
        set->fitted = true;
    char *text = feature_set_text(set);
    if (!text || set->n != FEATURES)
        die("market14", err[0] ? err : "another number of features");
    feature_set_destroy(set);
    return text;
}

static void environment_text(char *ret, size_t cap)
{
    struct env_params params;
    char err[ENV_ERROR_MAX];
    size_t n, len = 0;
    if (env_params_preset("market", &params, err) < 0)
        die("preset", err);
    params.lookback = LOOKBACK;
    params.max_position_pct = 0.1; /* random networks fill up soon: with exits they keep ordering */
    params.forced_exit_bars = 1;
    params.forced_exit_pct = 0.5;
    const struct config_key *list = env_params_list(&n);
    for (size_t i = 0; i < n; i++) {
        char value[128];
        if (!env_params_get(&params, list[i].name, value, sizeof value))
            die(list[i].name, "no value");
        len += (size_t)snprintf(ret + len, cap - len, "%s=%s\n", list[i].name, value);
    }
}

static struct policy *make_policy(struct bench *bench, const char *folder, const char *features)
{
    struct net_shape shape = {.observation = 1 + SYMBOLS + LOOKBACK * SYMBOLS * FEATURES,
                              .actions = SYMBOLS,
                              .n_pi = 3,
                              .pi = {2048, 1024, 512},
                              .n_vf = 1,
                              .vf = {16}};
    struct net_layout layout;
    struct policy_asset assets[SYMBOLS] = {0};
    const char *sets[SYMBOLS];
    char environment[4096], path[4096], err[POLICY_ERROR_MAX], why[NET_ERROR_MAX];
    struct policy *policy;
    if (policy_net_layout_init(&layout, &shape, why) < 0)
        die("shape", why);
    float *params = bench_room(layout.n_params, sizeof *params);
    float *mean = bench_room((size_t)shape.observation, sizeof *mean);
    float *scale = bench_room((size_t)shape.observation, sizeof *scale);
    for (int i = 0; i < shape.observation; i++)
        scale[i] = 1;
    bench->learned = 0;
    for (int t = 0; t < layout.n_tensors; t++) {
        const struct net_tensor *tensor = &layout.tensors[t];
        if (tensor->part == NET_PI && tensor->kind != NET_LOG_STD)
            bench->learned += (size_t)tensor->rows * (size_t)tensor->cols;
        double size = tensor->kind == NET_LOG_STD ? 0 : 12 / sqrt(tensor->rows); /* so that actions change */
        for (int i = 0; i < tensor->rows; i++)
            for (int k = 0; k < tensor->cols; k++)
                params[tensor->offset + (size_t)i * (size_t)tensor->stride + (size_t)k] =
                    (float)(size * (2 * bench_uniform(&bench->seed) - 1));
    }
    for (int s = 0; s < SYMBOLS; s++) {
        memcpy(assets[s].name, bench->symbols[s].name, sizeof assets[s].name);
        sets[s] = features;
    }
    environment_text(environment, sizeof environment);
    const struct trained_source source = {.layout = &layout,
                                          .params = params,
                                          .mean = mean,
                                          .scale = scale,
                                          .clip = 10,
                                          .n_assets = SYMBOLS,
                                          .assets = assets,
                                          .interval_ns = INTERVAL_NS,
                                          .sets = sets,
                                          .environment = environment,
                                          .trained_from_ns = START_NS - INTERVAL_NS * 2000,
                                          .trained_to_ns = START_NS,
                                          .trained_steps = 1};
    snprintf(path, sizeof path, "%s/policy.safetensors", folder);
    if (policy_trained_write(path, &source, err) < 0 || policy_load(path, NULL, &policy, err) < 0)
        die(path, err);
    unlink(path);
    free(params);
    free(mean);
    free(scale);
    return policy;
}

/* ---- the market ---- */

static struct bar next_bar(struct bench *bench, int s, int64_t open_ns)
{
    struct bar bar = {.open_ns = open_ns, .open = bench->price[s], .trades = 1};
    bar.high = bar.low = bar.open;
    for (int step = 0; step < 4; step++) {
        int64_t cents = (int64_t)((bench_uniform(&bench->seed) - 0.5) * 200);
        bench->price[s] += cents * (E8 / 100);
        bar.high = bench->price[s] > bar.high ? bench->price[s] : bar.high;
        bar.low = bench->price[s] < bar.low ? bench->price[s] : bar.low;
    }
    bar.close = bench->price[s];
    bar.volume = (int128_t)(1 + (int64_t)(bench_uniform(&bench->seed) * 1000)) * E8;
    bar.quote_volume = bar.volume * bar.close;
    return bar;
}

static void hand(struct bench *bench, struct event *event, int64_t recv_ns)
{
    event->seq = ++bench->seq;
    event->recv_ns = recv_ns;
    int r = engine_handle(bench->engine, event);
    if (r < 0)
        die("engine_handle", strerror(-r));
}

static void give_history(struct bench *bench)
{
    int64_t end_ns = START_NS + HISTORY * INTERVAL_NS;
    for (int s = 0; s < SYMBOLS; s++)
        for (int i = 0; i < HISTORY; i++)
            bench->bars[s][i] = next_bar(bench, s, START_NS + i * INTERVAL_NS);
    for (int s = 0; s < SYMBOLS; s++) {
        struct event event = {.kind = EVENT_BARS,
                              .bars = {.symbol = s, .bars = bench->bars[s], .n = HISTORY}};
        hand(bench, &event, end_ns);
    }
    struct event up = {.kind = EVENT_CONNECTION, .connection.up = true};
    hand(bench, &up, end_ns);
    bench->open_ns = end_ns;
}

/* One core's, of what no cache has: the fastest of some plain sums. */
static double read_rate(const struct bench *bench)
{
    double best = 0;
    for (int k = 0; k < 5; k++) {
        const uint64_t *words = (const uint64_t *)bench->room;
        uint64_t sums[8] = {0};
        double started = bench_seconds();
        for (size_t i = 0; i < SWEEP / sizeof *words; i += 8) {
            __builtin_prefetch(words + i + AHEAD);
            for (size_t j = 0; j < 8; j++)
                sums[j] += words[i + j];
        }
        double rate = SWEEP / (bench_seconds() - started);
        volatile uint64_t seen =
            sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7];
        (void)seen;
        best = rate > best ? rate : best;
    }
    return best;
}

static void sweep(const struct bench *bench)
{
    char sum = 0;
    for (size_t i = 0; i < SWEEP; i += 64)
        sum = (char)(sum ^ bench->room[i]);
    volatile char seen = sum;
    (void)seen;
}

static void saw_order(void *ctx, const struct order *order)
{
    struct bench *bench = ctx;
    if (bench->started > 0 && order->state == ORDER_PENDING && bench->first[order->account] == 0)
        bench->first[order->account] = bench_seconds() - bench->started;
}

/* The seven bars of a time, the clock at the seventh. */
static void play_round(struct bench *bench)
{
    int64_t recv_ns = bench->open_ns + INTERVAL_NS;
    memset(bench->first, 0, sizeof bench->first);
    for (int s = 0; s < SYMBOLS; s++) {
        struct event event = {.kind = EVENT_MARKET,
                              .market = {.kind = MARKET_KLINE,
                                         .symbol = s,
                                         .event_ns = recv_ns,
                                         .kline = {.interval_ns = INTERVAL_NS,
                                                   .bar = next_bar(bench, s, bench->open_ns),
                                                   .closed = true}}};
        if (s == SYMBOLS - 1) {
            sweep(bench);
            bench->started = bench_seconds();
        }
        hand(bench, &event, recv_ns + s * 1000);
    }
    bench->started = 0;
    bench->open_ns += INTERVAL_NS;
}

static void open_engine(struct bench *bench, int n)
{
    struct account_spec *accounts = bench_room((size_t)n, sizeof *accounts);
    for (int a = 0; a < n; a++) {
        const struct policy *policy = bench->policies[a];
        accounts[a] = (struct account_spec){.currency = "USDT", .currency_scale = 8, .policy = policy};
        accounts[a].rules.fees = (struct fee_rates){policy->rules.fee_e6, policy->rules.fee_e6};
        accounts[a].cash = 1000000 * E8;
        snprintf(accounts[a].name, sizeof accounts[a].name, "a%d", a);
    }
    const struct engine_config config = {.symbols = bench->symbols,
                                         .n_symbols = SYMBOLS,
                                         .accounts = accounts,
                                         .n_accounts = n,
                                         .interval_ns = INTERVAL_NS,
                                         .fill_model = FILL_BAR};
    const struct engine_sink sink = {.ctx = bench, .order = saw_order};
    int r = engine_create(&config, &sink, &bench->engine);
    if (r < 0)
        die("engine_create", strerror(-r));
    r = engine_start(bench->engine, START_NS);
    if (r < 0)
        die("engine_start", strerror(-r));
    free(accounts);
}

/* ---- figures ---- */

static void figure(const char *name, const double *sorted, size_t n)
{
    printf("%s p50\t%.9g\ts\n%s p99\t%.9g\ts\n", name, sorted[n / 2], name, sorted[n * 99 / 100]);
}

int main(int argc, char **argv)
{
    int n = argc == 4 ? atoi(argv[2]) : 0, rounds = argc == 4 ? atoi(argv[3]) : 0;
    if (n < 1 || n > POLICIES_MAX || rounds < 1) {
        fputs("usage: live_orders FOLDER POLICIES ROUNDS\n", stderr);
        return 2;
    }
    struct bench *bench = bench_room(1, sizeof *bench);
    bench->seed = 9;
    bench->room = bench_room(1, SWEEP);
    memset(bench->room, 1, SWEEP);
    for (int s = 0; s < SYMBOLS; s++) {
        char name[SYMBOL_NAME_MAX];
        snprintf(name, sizeof name, "C%dUSDT", s);
        if (symbol_default(name, NULL, 2, 4, &bench->symbols[s]) < 0)
            die(name, "no symbol");
        bench->price[s] = 500 * E8;
    }
    char *features = feature_text();
    for (int a = 0; a < n; a++)
        bench->policies[a] = make_policy(bench, argv[1], features);
    open_engine(bench, n);
    give_history(bench);
    double *each = bench_room((size_t)rounds * (size_t)n, sizeof *each);
    double *last = bench_room((size_t)rounds, sizeof *last);
    size_t orders = 0, answered = 0;
    double rate = read_rate(bench);
    for (int i = 0; i < rounds; i++) {
        double latest = 0;
        play_round(bench);
        for (int a = 0; a < n; a++) {
            if (bench->first[a] > 0)
                each[orders++] = bench->first[a];
            latest = bench->first[a] > latest ? bench->first[a] : latest;
        }
        if (latest > 0)
            last[answered++] = latest;
    }
    if (answered == 0)
        die("orders", "no policy gave one");
    qsort(each, orders, sizeof *each, bench_by_value);
    qsort(last, answered, sizeof *last, bench_by_value);
    figure("each", each, orders);
    figure("last", last, answered);
    printf("ordering\t%.9g\tshare\nread\t%.9g\tbytes/s\nweights\t%zu\tbytes\n",
           (double)orders / (double)rounds / n, rate, bench->learned * sizeof(float));
    engine_destroy(bench->engine);
    for (int a = 0; a < n; a++)
        policy_destroy(bench->policies[a]);
    free(features);
    free(each);
    free(last);
    free(bench->room);
    free(bench);
    return EXIT_SUCCESS;
}
