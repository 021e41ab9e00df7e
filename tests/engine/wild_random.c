/* Strategies that ask for anything that the contract has, and for what it has not, at each bar or once for
 * all symbols, in random worlds: an engine that is saved and loaded at any event continues as the original,
 * and none of it ever fails. Their draws are in their state, which the engine keeps: lost or mixed up, they
 * would ask for something else. */
#include <errno.h>

#include "engine/state.h"
#include "strategy/intent.h"
#include "strategy/strategies.h"
#include "tests/check.h"
#include "tests/counts.h"
#include "tests/engine/driver.h"
#include "tests/engine/voice.h"

enum { RUNS = 300, RUNS_PART = 60, RUNS_LONG = 1500, EVENTS = 1500, SAVED_EVERY = 60 };

static struct {
    uint64_t rounds, incomplete, intents, types[ORDER_TYPES], own, shrunk, canceled, states,
        refused[INTENT_FAULTS];
} seen;

struct memory {
    uint64_t draws;
    uint64_t rest[4000]; /* more than what a strategy has unless it asks */
};

static size_t wild_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "sma:3");
    snprintf(specs[1], STRATEGY_SPEC_TEXT, "atr:2");
    return 2;
}

static double near(struct random *random, double close)
{
    if (random_chance(random, 3))
        return (double[]){NAN, -1, INFINITY, 1e30}[random_between(random, 0, 3)];
    return close * (1 + 0.001 * (double)random_between(random, -15, 15));
}

static struct intent anything(struct random *random, const struct strategy_input *input, int symbol,
                              double close)
{
    bool own = random_chance(random, 50);
    enum order_type type =
        (enum order_type)random_between(random, 0, ORDER_TYPES - !random_chance(random, 2));
    bool trails = type == ORDER_TRAILING_STOP;
    struct intent intent = {
        .kind = own ? INTENT_ORDER : (enum intent_kind)random_between(random, 0, INTENT_KINDS),
        .fraction = 0.01 * (double)random_between(random, random_chance(random, 30) ? -60 : 1, 60),
        .stop = random_chance(random, own && !trails ? 90 : 50) ? near(random, close) : 0,
        .profit = !own && random_chance(random, 50) ? near(random, close) : 0,
        .limit = random_chance(random, 50) ? near(random, close) : 0,
        .side = (enum order_side)random_between(random, 0, 1),
        .type = type,
        .tif = (enum order_tif)random_between(random, 0, random_chance(random, 70) ? 0 : ORDER_TIFS),
        .size = (enum intent_size)random_between(random, 0, 2),
        .qty = random_chance(random, 10) ? 0 : 0.0001 * (double)random_between(random, 0, 3000),
        .trail = own && trails && random_chance(random, 50) ? close * 0.001 : 0,
        .reduce_only = random_chance(random, 40),
        .symbol = symbol,
        .why = "anything"};
    if (own && trails && intent.trail == 0 && random_chance(random, 90))
        intent.trail_share = 0.002;
    if (own && type < ORDER_TYPES && order_has_limit(type) != (intent.limit > 0) && random_chance(random, 95))
        intent.limit = order_has_limit(type) ? near(random, close) : 0;
    if (random_chance(random, 10))
        intent.tif = ORDER_GTD;
    if (own && (type == ORDER_MARKET || type == ORDER_LIMIT || trails))
        intent.stop = 0;
    if (intent.tif == ORDER_GTD || (!own && random_chance(random, 30)))
        intent.good_ns = input->ts_ns + input->interval_ns * random_between(random, -1, 9);
    return intent;
}

static size_t wild_bar(const double *params, void *state, const struct strategy_input *input,
                       struct intent *intents)
{
    struct memory *memory = state;
    uint64_t bits;
    memcpy(&bits, &input->close, sizeof bits);
    struct random random = {memory->draws ^ bits ^ (uint64_t)input->ts_ns << 20 ^ (uint64_t)params[0]};
    random_next(&random);
    bool together = input->n_peers > 0 && params[0] > 0;
    int fresh = 0;
    for (int k = 0; k < input->n_peers; k++)
        fresh += input->peers[k].fresh;
    seen.rounds += together;
    seen.incomplete += together && fresh < input->n_peers;
    size_t n = random_chance(&random, 40) ? (size_t)random_between(&random, 1, 4) : 0;
    for (size_t i = 0; i < n; i++) {
        int symbol = (int)random_between(&random, random_chance(&random, 2) ? -1 : 0, input->n_peers - 1);
        double close = together && symbol >= 0 ? input->peers[symbol].close : input->close;
        intents[i] = anything(&random, input, symbol, close);
    }
    seen.intents += n;
    memory->rest[random_between(&random, 0, 3999)] += n; /* all of it is kept */
    memory->draws = random_next(&random) ^ memory->rest[random_between(&random, 0, 3999)];
    return n;
}

static const struct strategy_param wild_params[] = {{"seed", "of its draws", 1, 0, 1e6, true, .words = NULL}};

static const struct strategy wild = {.name = "wild",
                                     .summary = "asks for anything, at each bar",
                                     .params = wild_params,
                                     .n_params = 1,
                                     .peers = true,
                                     .state_size = sizeof(struct memory),
                                     .specs = wild_specs,
                                     .on_bar = wild_bar};
static const struct strategy wild_together = {.name = "wild-together",
                                              .summary = "asks for anything, once for all symbols",
                                              .params = wild_params,
                                              .n_params = 1,
                                              .together = true,
                                              .state_size = sizeof(struct memory),
                                              .specs = wild_specs,
                                              .on_bar = wild_bar};

const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&strategy_sma_cross_rsi, &wild, &wild_together};
    *ret_n = sizeof all / sizeof *all;
    return all;
}

static void count_order(const struct engine *engine)
{
    for (size_t i = 0; i < engine_orders(engine); i++) {
        const struct order *order = engine_order(engine, i);
        bool own = !order->by_hand && strcmp(order->tag, "anything") == 0;
        seen.own += own;
        seen.types[order->type] += own;
        seen.shrunk += order->reduce_only && order->amends > 0;
    }
}

static void let_loose(struct driver *d, uint64_t seed)
{
    static const int which[] = {1, 3, 2};
    for (int i = 0; i < 3; i++) {
        struct account_spec *account = &d->accounts[which[i]];
        account->strategy = (seed + (uint64_t)i) % 2 ? &wild : &wild_together;
        memset(account->params, 0, sizeof account->params);
        account->params[0] = (double)(account->strategy == &wild_together);
    }
    d->config.policy_wait_ns = seed % 3 ? 300 * DRIVER_MS_NS : 0;
}

/* False at the first difference. */
static bool run(uint64_t seed)
{
    static struct driver d;
    struct voice first = {0}, second = {0};
    driver_init(&d, seed);
    d.configures = true;
    if (seed % 2 == 0)
        driver_venues(&d);
    let_loose(&d, seed);
    struct random points = {seed ^ 0x5eed};
    struct engine_sink sink = tape_sink(&first.tape);
    if (engine_create(&d.config, &sink, &first.engine) < 0 || engine_start(first.engine, d.now_ns) < 0)
        return false;
    bool same = true;
    for (int i = 0; i < EVENTS && same; i++) {
        struct event event;
        if (i == 0 || random_between(&points, 1, SAVED_EVERY) == 1) {
            same = voice_follow(&first, &second);
            if (!same)
                break;
            seen.states++;
            count_order(first.engine);
        }
        driver_next(&d, first.engine, &event);
        int r = engine_handle(first.engine, &event), r2 = engine_handle(second.engine, &event);
        same = r == r2 && r != -ENOMEM && first.tape.hash == second.tape.hash;
        if (!same)
            fprintf(stderr, "seed %ju, event %ju of kind %d: %d and %d\n", (uintmax_t)seed,
                    (uintmax_t)event.seq, (int)event.kind, r, r2);
        CHECK(same);
    }
    for (int a = 0; same && a < engine_accounts(first.engine); a++)
        for (int f = 0; f < INTENT_FAULTS; f++)
            seen.refused[f] += engine_intents_refused(first.engine, a)[f];
    CHECK_INT(engine_counters(first.engine)->impossible, 0);
    engine_destroy(first.engine);
    engine_destroy(second.engine);
    return same;
}

int main(void)
{
    int runs = getenv("PAPERTAPE_LONG") ? RUNS_LONG : counts_of("runs", RUNS, RUNS_PART);
    struct random random = random_seeded("engine/wild_random", 20261128);
    for (int i = 0; i < runs && run(random.state + (uint64_t)i); i++)
        ;
    printf("%" PRIu64 " intents, %" PRIu64 " rounds, %" PRIu64 " of them incomplete; %" PRIu64
           " states; seen live: %" PRIu64 " orders of their own, %" PRIu64 " exits lowered\n",
           seen.intents, seen.rounds, seen.incomplete, seen.states, seen.own, seen.shrunk);
    for (int t = ORDER_LIMIT; t < ORDER_TYPES; t++) {
        printf("%s %" PRIu64 "\n", order_type_name((enum order_type)t), seen.types[t]);
        CHECK(seen.types[t] > 0);
    }
    for (int f = INTENT_FITS + 1; f < INTENT_FAULTS; f++) {
        printf("%s %" PRIu64 "\n", intent_fault_name((enum intent_fault)f), seen.refused[f]);
        CHECK(seen.refused[f] > 0 || f == INTENT_TOO_MANY || f == INTENT_STOP_STAYS ||
              f == INTENT_BAD_SYMBOL);
    }
    CHECK(seen.incomplete > 20 && seen.shrunk > 0);
    return check_done("engine/wild_random");
}
