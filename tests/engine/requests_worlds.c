/* Outside strategies over random worlds: a built-in that is asked gives the outputs of the built-in that is
 * called, with states saved and loaded between a bar and its decision. */
#include <string.h>

#include "engine/record.h"
#include "tests/counts.h"
#include "tests/engine/driver.h"
#include "tests/engine/reload.h"
#include "tests/engine/tape.h"
#include "tests/engine/wrapped.h"

enum { WORLDS = 60, WORLD_EVENTS = 1500 };

struct side {
    struct engine *engine;
    struct tape tape;
};

/* Alerts name the strategy. */
static void alert_of_inner(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                           const char *text)
{
    char same[ENGINE_ALERT_MAX];
    bool outside = strncmp(text, "exec:", strlen("exec:")) == 0;
    snprintf(same, sizeof same, "%s", text + (outside ? strlen("exec:") : 0));
    tape_alert(ctx, ts_ns, code, of, same);
}

static const char *called; /* the account whose strategy is the built-in on both sides, or "" */

static void wrap(struct account_spec *spec)
{
    if (spec->strategy && strcmp(spec->name, called) != 0)
        spec->strategy = wrapped_strategy(spec->strategy->name);
}

/* The same event for accounts whose strategies are asked. */
static struct event of_wrapped(const struct event *event, struct account_spec configured[static ACCOUNTS_MAX])
{
    struct event same = *event;
    if (event->kind != EVENT_COMMAND)
        return same;
    if (event->command.kind == COMMAND_ACCOUNT_CREATE)
        wrap(&same.command.account);
    if (event->command.kind == COMMAND_CONFIGURE) {
        for (int i = 0; i < same.command.configure.n; i++) {
            configured[i] = event->command.configure.accounts[i];
            wrap(&configured[i]);
        }
        same.command.configure.accounts = configured;
    }
    return same;
}

/* The event as a log has it. */
static int through_log(const struct event *event, struct event *ret)
{
    static struct codec codec;
    static struct event_memory memory;
    *ret = (struct event){.seq = event->seq, .recv_ns = event->recv_ns};
    int r = event_encode(event, &codec);
    return r < 0 ? r : event_decode(codec.bytes, codec.len, &memory, ret);
}

struct figures {
    uint64_t decisions, between, acting, fills, orders;
};

static void answer_all(struct side *asked, const struct event *event, struct random *points,
                       struct figures *figures)
{
    struct event decision, logged;
    while (engine_requests(asked->engine) > 0) {
        figures->acting += engine_request_waits(asked->engine);
        if (random_chance(points, 5)) {
            reload_engine(&asked->engine);
            figures->between++;
        }
        CHECK(wrapped_decision(asked->engine, event->seq, event->recv_ns, &decision));
        CHECK_INT(through_log(&decision, &logged), 0);
        CHECK_INT(engine_handle(asked->engine, &logged), 0);
        CHECK_INT(engine_handle(asked->engine, &logged), -EINVAL); /* it is given once */
        figures->decisions++;
    }
    CHECK(!engine_request_waits(asked->engine));
}

static bool same_so_far(const struct side *a, const struct side *b)
{
    const struct engine_counters *x = engine_counters(a->engine), *y = engine_counters(b->engine);
    return a->tape.hash == b->tape.hash && x->decisions == y->decisions && x->orders == y->orders &&
           x->rejected == y->rejected && x->fills == y->fills &&
           memcmp(x->refused, y->refused, sizeof x->refused) == 0 &&
           engine_now(a->engine) == engine_now(b->engine) && a->engine->input_seq == b->engine->input_seq;
}

/* Accounts whose strategies see several symbols: once a round, whole or ended by a later bar. */
static void let_see_several(struct driver *d)
{
    struct account_spec *ranks = &d->accounts[1], *pairs = &d->accounts[3];
    ranks->strategy = strategy_find("rank-momentum");
    strategy_defaults(ranks->strategy, ranks->params);
    strategy_set(ranks->strategy, ranks->params, "lookback", "2", NULL);
    strategy_set(ranks->strategy, ranks->params, "hold", "1", NULL);
    strategy_set(ranks->strategy, ranks->params, "every", "1", NULL);
    strategy_set(ranks->strategy, ranks->params, "only", "any", NULL);
    pairs->strategy = strategy_find("pairs");
    strategy_defaults(pairs->strategy, pairs->params);
    strategy_set(pairs->strategy, pairs->params, "period", "4", NULL);
    strategy_set(pairs->strategy, pairs->params, "enter", "0.5", NULL);
    strategy_set(pairs->strategy, pairs->params, "leave", "0.2", NULL);
}

/* False at the first difference. */
static bool same_world(uint64_t seed, struct figures *figures)
{
    static struct driver d;
    static struct account_spec accounts[DRIVER_ACCOUNTS], configured[ACCOUNTS_MAX];
    struct side plain = {0}, asked = {0};
    struct random points = {seed ^ 0x61736b};
    driver_init(&d, seed);
    d.configures = seed % 3 == 0;
    if (seed % 3 != 1)
        let_see_several(&d);
    if (seed % 2 == 0)
        driver_venues(&d);
    if (seed % 5 == 1)
        d.config.fill_model = FILL_BAR;
    struct engine_sink to_plain = tape_sink(&plain.tape), to_asked = tape_sink(&asked.tape);
    to_plain.alert = to_asked.alert = alert_of_inner;
    struct engine_config config = d.config;
    memcpy(accounts, d.accounts, sizeof accounts);
    called = seed % 4 == 0 ? accounts[1].name : "";
    for (int a = 0; a < DRIVER_ACCOUNTS; a++)
        wrap(&accounts[a]);
    config.accounts = accounts;
    CHECK_INT(engine_create(&d.config, &to_plain, &plain.engine), 0);
    CHECK_INT(engine_create(&config, &to_asked, &asked.engine), 0);
    CHECK(engine_start(plain.engine, d.now_ns) == 0 && engine_start(asked.engine, d.now_ns) == 0);
    bool same = true;
    for (int i = 0; i < WORLD_EVENTS && same; i++) {
        struct event event;
        driver_next(&d, plain.engine, &event);
        const struct event wrapped_event = of_wrapped(&event, configured);
        int r = engine_handle(plain.engine, &event);
        CHECK_INT(engine_handle(asked.engine, &wrapped_event), r);
        answer_all(&asked, &event, &points, figures);
        if (random_chance(&points, 1))
            reload_engine(&asked.engine);
        same = same_so_far(&plain, &asked);
        if (!same)
            fprintf(stderr, "seed %ju, event %ju of kind %d: another outcome\n", (uintmax_t)seed,
                    (uintmax_t)event.seq, (int)event.kind);
        CHECK(same);
    }
    figures->fills += plain.tape.fills;
    figures->orders += plain.tape.orders;
    engine_destroy(plain.engine);
    engine_destroy(asked.engine);
    return same;
}

static void test_as_the_built_in(uint64_t seed)
{
    struct figures figures = {0};
    int worlds = counts_of("worlds", WORLDS, WORLDS / 4);
    for (int i = 0; i < worlds && same_world(seed + (uint64_t)i, &figures); i++)
        ;
    printf(
        "engine/requests_worlds: %d worlds: %ju decisions, %ju that a bar waited for, %ju loads before a decision, "
        "%ju orders, %ju fills\n",
        worlds, (uintmax_t)figures.decisions, (uintmax_t)figures.acting, (uintmax_t)figures.between,
        (uintmax_t)figures.orders, (uintmax_t)figures.fills);
    CHECK(figures.acting > 100 && figures.between > 100 && figures.fills > 100);
}

int main(void)
{
    test_as_the_built_in(random_seeded("engine/requests_worlds", 20261128).state);
    return check_done("engine/requests_worlds");
}
