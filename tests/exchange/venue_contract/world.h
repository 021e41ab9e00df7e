/* A venue that is tested, its replay as a process of its own, and the loop that all runs on. */
#ifndef TESTS_EXCHANGE_VENUE_CONTRACT_WORLD_H
#define TESTS_EXCHANGE_VENUE_CONTRACT_WORLD_H

#include <curl/curl.h>
#include <errno.h>

#include "exchange/clock.h"
#include "exchange/net/budget.h"
#include "exchange/net/requests.h"
#include "exchange/venue.h"
#include "tests/net/loop.h"
#include "tests/net/replay.h"

enum { SYMBOLS = 2, KEYS_MAX = 32, TURNS = 10 };
#define MINUTE_NS 60000000000LL
#define DAY_NS    (1440 * MINUTE_NS)

/* What the contract leaves to each venue. */
struct subject {
    const struct venue *venue;
    const char *program; /* its replay */
    const char *const *options;
    const char *symbols[SYMBOLS]; /* the second one trades at all times */
    const char *misspelt;         /* the first one's name, nearly */
    const char *kinds;            /* that it streams of the second one, a letter each: see streams.h */
    bool renews;                  /* connections overlap: one that is replaced loses nothing */
    bool trades;                  /* it takes orders */
    bool bans;                    /* it bans an address, by HTTP 418 */
};

struct world {
    const struct subject *subject;
    const struct venue *venue;
    struct replay replay;
    uv_loop_t loop;
    uv_timer_t timer;
    struct net_context *net;
    struct budget budget;
    struct symbol symbols[SYMBOLS];
    char key_ids[KEYS_MAX][16]; /* a connection needs keys of its own where one a key is allowed */
    size_t n_keys;
};

/* Turns the loop until the condition holds; at a deadline that is far it fails. */
#define UNTIL(world, condition) \
    do { \
        uint64_t until_end = uv_hrtime() + DEADLINE_MS * UINT64_C(1000000); \
        bool until_holds; \
        while (!(until_holds = (condition)) && uv_hrtime() < until_end) \
            uv_run(&(world)->loop, UV_RUN_ONCE); \
        if (!until_holds) \
            fprintf(stderr, "%s:%d: did not come true: %s\n", __FILE__, __LINE__, #condition); \
        CHECK(until_holds); \
    } while (0)

/* Some turns, in which nothing may happen that the caller then looks for. */
static inline void world_idle(struct world *world)
{
    for (int i = 0; i < TURNS; i++)
        uv_run(&world->loop, UV_RUN_ONCE);
}

static inline void world_net(struct world *world, const struct subject *subject, const char *ca_file)
{
    memset(world, 0, sizeof *world);
    world->subject = subject;
    world->venue = subject->venue;
    uv_loop_init(&world->loop);
    uv_timer_init(&world->loop, &world->timer);
    uv_timer_start(&world->timer, loop_turn, TURN_MS, TURN_MS);
    world->net = loop_net(&world->loop, ca_file, 0, 0);
    net_budget_init(&world->budget, BUDGET_ATTEMPTS_MAX, BUDGET_WINDOW_MS_DEFAULT);
}

/* With a fault from the start; NULL: none. */
static inline void world_begin(struct world *world, const struct subject *subject, const char *fault)
{
    const char *options[REPLAY_OPTIONS_MAX] = {NULL};
    struct replay replay;
    size_t n = 0;
    for (; subject->options[n]; n++)
        options[n] = subject->options[n];
    if (fault) {
        options[n++] = "--fault";
        options[n++] = fault;
    }
    memset(&replay, 0, sizeof replay);
    start_replay(&replay, subject->program, options);
    world_net(world, subject, replay.ca_file);
    world->replay = replay;
}

/* All that was made is destroyed: the loop must run out by itself. */
static inline void world_end(struct world *world)
{
    uv_close((uv_handle_t *)&world->timer, NULL);
    loop_end(&world->loop, world->net);
    if (world->replay.pid)
        stop_replay(&world->replay);
}

static inline struct venue_keys world_keys(struct world *world)
{
    char *id = world->key_ids[world->n_keys % KEYS_MAX];
    snprintf(id, sizeof world->key_ids[0], "PK%zu", world->n_keys++);
    return (struct venue_keys){id, "secret"};
}

static inline struct venue_rest *world_rest_at(struct world *world, const char *url, struct venue_ban ban)
{
    struct venue_rest *rest = NULL;
    const struct venue_rest_config config = {.net = world->net,
                                             .rest_url = url,
                                             .keys = world_keys(world),
                                             .ban = ban,
                                             .attempts_max = 20,
                                             .backoff_min_ms = 1,
                                             .backoff_max_ms = 20};
    CHECK_INT(world->venue->rest_create(&config, &rest), 0);
    if (!rest)
        exit(EXIT_FAILURE);
    return rest;
}

static inline struct venue_rest *world_rest(struct world *world)
{
    return world_rest_at(world, world->replay.rest_url, (struct venue_ban){0});
}

static inline size_t control_ignored(char *data, size_t size, size_t n, void *user)
{
    (void)data;
    (void)user;
    return size * n;
}

/* Adds a fault to the replay that runs. */
static inline void world_fault(struct world *world, const char *fault)
{
    char url[160];
    long status = 0;
    CURL *curl = curl_easy_init();
    snprintf(url, sizeof url, "%s/_control", world->replay.rest_url);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CAINFO, world->replay.ca_file);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, fault);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, control_ignored);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, DEADLINE_MS / 1000L);
    CURLcode r = curl_easy_perform(curl);
    CHECK(r == CURLE_OK || r == CURLE_PARTIAL_FILE); /* the answer too may be cut off by what was asked for */
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    CHECK_INT(status, 200);
    curl_easy_cleanup(curl);
}

#endif
