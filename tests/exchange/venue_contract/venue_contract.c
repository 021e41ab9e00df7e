/* The contract of a venue, by exchange/venue.h and exchange/venue_account.h alone: every row of
 * venues_known(), and the skeleton of a third (tests/exchange/skeleton/), each against its own replay as a
 * process of its own.
 *
 * usage: test PAPERTAPE_REPLAY SKELETON_REPLAY [VENUE] */
#include "exchange/venues.h"
#include "tests/exchange/skeleton/skeleton.h"
#include "tests/exchange/venue_contract/orders.h"
#include "tests/exchange/venue_contract/refused.h"
#include "tests/exchange/venue_contract/rest.h"
#include "tests/exchange/venue_contract/streams.h"
#include "tests/exchange/venue_contract/world.h"

enum {
    EPISODE = 400, /* frames between two incidents */
    TRADES = 1100, /* more than a page of any venue's */
};

static struct answer whole, part; /* large */

/* Both are up and have brought so many frames more. */
static void carry_on(struct world *world, const struct listener *a, const struct listener *b)
{
    uint64_t frames_a = a->frames + EPISODE, frames_b = b->frames + EPISODE;
    UNTIL(world, is_up(a) && is_up(b) && a->frames >= frames_a && b->frames >= frames_b);
}

/* One that is renewed again and again, beside one whose connection stays: nothing is lost or doubled, and it
 * is up all the time. */
static void test_renewal(struct world *world, const struct listener *b, const char *const *names, size_t n)
{
    enum { AGE_MS = 50, RENEWALS = 1 };
    struct listener *a = listen_at(world, "renewed", world->replay.ws_url, names, n, AGE_MS, 0);
    UNTIL(world, is_up(a));
    uint32_t before = a->epoch;
    if (world->subject->renews)
        UNTIL(world, status_of(a)->renewals >= RENEWALS);
    carry_on(world, a, b);
    CHECK_INT(a->epoch, before);
    CHECK_INT(compare_all(a, b), 0);
    printf("%llu renewals in %llu frames\n", (unsigned long long)status_of(a)->renewals,
           (unsigned long long)a->frames);
    forget(a);
}

/* `b` is replaced, both are fed garbage, and one of the two is cut off; they have the same names. */
static void test_incidents(struct world *world, struct listener *a, struct listener *b, const char *name)
{
    const struct venue *venue = world->venue;
    carry_on(world, a, b);
    int connection = venue->stream_connection(a->stream, name);
    CHECK(connection >= 0 && connection < VENUE_CONNECTIONS_MAX);
    CHECK(venue->stream_connection_up(a->stream, connection));
    CHECK(!venue->stream_connection_up(a->stream, VENUE_CONNECTIONS_MAX - 1));
    CHECK(!venue->stream_replace(a->stream, VENUE_CONNECTIONS_MAX - 1, "there is none"));
    uint64_t connects = status_of(b)->connects, renewals = status_of(b)->renewals;
    connection = venue->stream_connection(b->stream, name);
    uint32_t before = b->epoch;
    UNTIL(world, venue->stream_replace(b->stream, connection, "to see whether anything is lost"));
    UNTIL(world, status_of(b)->connects > connects);
    UNTIL(world, !world->subject->renews || status_of(b)->renewals > renewals);
    carry_on(world, a, b);
    CHECK_INT(b->epoch == before, world->subject->renews);

    uint64_t bad = a->bad, others = b->bad;
    world_fault(world, "garbage");
    UNTIL(world, a->bad > bad || b->bad > others);
    carry_on(world, a, b);

    before = a->epoch + b->epoch;
    world_fault(world, "close@1");
    UNTIL(world, a->epoch + b->epoch > before);
    carry_on(world, a, b);
    size_t holes = compare_all(a, b);
    printf("%llu and %llu frames, %llu malformed, %zu holes, all of them reported\n",
           (unsigned long long)a->frames, (unsigned long long)b->frames,
           (unsigned long long)(a->bad + b->bad), holes);
}

struct listed {
    bool done;
    size_t n;
};

static void on_listed(void *user, const char *const *names, size_t n, const char *error)
{
    struct listed *listed = user;
    CHECK(!error && (names || n == 0));
    listed->n = n;
    listed->done = true;
}

static size_t list_of(struct world *world, struct listener *l)
{
    struct listed listed = {0};
    UNTIL(world, world->venue->stream_list(l->stream, on_listed, &listed) == 0);
    CHECK_INT(world->venue->stream_list(l->stream, on_listed, &listed), -EBUSY);
    UNTIL(world, listed.done);
    return listed.n;
}

/* Names that are added and taken away while it runs. The last of the n is the first symbol's only one that is
 * left out at first. */
static void test_follow(struct world *world, struct listener *l, const char *const *names, size_t n,
                        size_t n_first)
{
    const struct venue *venue = world->venue;
    const char *const invalid[] = {names[0], "no \"name\\"};
    if (!venue->stream_follow)
        return;
    CHECK_INT(venue->stream_follow(l->stream, invalid, 2), -EINVAL);
    CHECK_INT(venue->stream_follow(l->stream, names, n), 0);
    CHECK_INT(venue->stream_follow(l->stream, names, 1), 0); /* it has it already */
    char name[VENUE_STREAM_NAME_MAX];
    for (int i = 0; i < NAMES_MAX; i++) {
        enum market_kind kind = (enum market_kind)(i / SYMBOLS);
        if (venue->stream_name(world->symbols[i % SYMBOLS].name, kind, MINUTE_NS, name) == 0)
            UNTIL(world, seen_of(l, kind, i % SYMBOLS) > 0);
    }
    if (venue->stream_list)
        CHECK_INT(list_of(world, l), n);
    CHECK(venue->stream_connection(l->stream, names[0]) >= 0);
    CHECK_INT(venue->stream_unfollow(l->stream, names, n_first), 0); /* the first symbol's */
    CHECK_INT(venue->stream_unfollow(l->stream, names, n_first), 0);
    UNTIL(world, l->quiet >= PATIENCE);
    if (venue->stream_list)
        CHECK_INT(list_of(world, l), n - n_first);
}

/* Nothing is read while it is paused, and what was sent meanwhile comes afterwards. */
static void pause_both(struct world *world, struct listener *a, struct listener *b, bool paused)
{
    world->venue->stream_pause(a->stream, paused);
    world->venue->stream_pause(b->stream, paused);
}

static void test_calls(struct world *world, struct listener *a, struct listener *b)
{
    struct venue_rest *rest = world_rest(world);
    pause_both(world, a, b, true);
    int64_t now_ns = ask_time(world, rest, &whole);
    world_idle(world); /* what was read before */
    uint64_t frames = a->frames + b->frames;
    CHECK(now_ns >= a->last_ns - MINUTE_NS);
    test_bars_streamed(world, rest, &whole, a);
    test_trades(world, rest, &whole, &part, a);
    test_pages(world, rest, &whole, &part);
    test_latest(world, rest, &whole);
    test_books(world, rest, &whole);
    test_calendar(world, rest, &whole, &part, now_ns);
    test_unknown(world, rest, &whole, now_ns);
    check_rest_status(rest);
    CHECK_INT(a->frames + b->frames, frames);
    pause_both(world, a, b, false);
    carry_on(world, a, b);
    compare_all(a, b);
    net_requests_destroy(rest);
}

static void test_venue(const struct subject *subject)
{
    static struct world world;
    char texts[NAMES_MAX + 1][VENUE_STREAM_NAME_MAX];
    const char *names[NAMES_MAX];
    world_begin(&world, subject, NULL);
    size_t n_first = stream_names(&world, 0, texts), n = n_first + stream_names(&world, 1, texts + n_first);
    for (size_t i = 0; i < n; i++)
        names[i] = texts[i];
    struct venue_rest *rest = world_rest(&world);
    test_symbols(&world, rest, &whole);
    net_requests_destroy(rest);

    struct listener *b = listen_at(&world, "b", world.replay.ws_url, names, n, 0, 0);
    UNTIL(&world, is_up(b) && b->frames > 0);
    test_renewal(&world, b, names, n);
    struct listener *a = listen_at(&world, "a", world.replay.ws_url, names, n, 0, 0);
    UNTIL(&world, is_up(a));
    test_incidents(&world, a, b, names[0]);
    UNTIL(&world,
          a->n_bars[0] > 3 && a->n_bars[1] > 3 && (world.venue->trades_span_ns == 0 || a->n_trades > TRADES));
    test_calls(&world, a, b);

    struct listener *c = listen_at(&world, "c", world.replay.ws_url, names + n_first, 1, 0, 0);
    UNTIL(&world, is_up(c) && c->frames > 0);
    test_follow(&world, c, names, n, n_first);
    check_status(c, status_of(c));
    forget(a);
    forget(b);
    test_arguments(&world, names, n);
    test_callbacks(&world, &whole, names, n);
    forget(c);
    test_orders(&world, &whole);
    test_orders_faulty(&world, &whole);
    test_broken(&world, &whole);
    world_end(&world);
}

static const char *const binance_options[] = {"--rate", "8", NULL};
static const char *const alpaca_options[] = {"--venue",  "alpaca",
                                             "--from",   "2025-03-12T13:58:00Z",
                                             "--action", "split:AAPL:4:1:2025-03-11",
                                             "--action", "dividend:AAPL:0.25:2025-03-12",
                                             NULL};
static const char *const no_options[] = {NULL};

/* What the contract leaves open, of each venue; a new row of venues_known() needs one here. */
static struct subject subjects[] = {
    {&skeleton_venue, NULL, no_options, {"AAA-USD", "BBB-USD"}, "AAB-USD", "tkq", false, true, true},
    {NULL, "alpaca", alpaca_options, {"AAPL", "BTC/USD"}, "AALP", "tkqdT", false, true, false},
    {NULL, "binance", binance_options, {"BTCUSDT", "ETHUSDT"}, "BTCUSTD", "takqdT", true, true, true},
    {NULL, "binance-us", binance_options, {"BTCUSDT", "ETHUSDT"}, "BTCUSTD", "takqdT", true, false, true},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static const struct subject *subject_of(const struct venue *venue, const char *program)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (subjects[i].venue ? subjects[i].venue != venue
                              : strcmp(subjects[i].program, venue->format->name) != 0)
            continue;
        subjects[i].venue = venue;
        subjects[i].program = program;
        return &subjects[i];
    }
    printf("%s has no row here\n", venue->format->name);
    CHECK(!"a venue without a row");
    return NULL;
}

static int test_one(const struct venue *venue, const char *program)
{
    const struct subject *subject = subject_of(venue, program);
    if (subject) {
        test_venue(subject);
        test_hostile(subject, &whole);
        test_orders_hostile(subject);
        test_orders_redirected(subject);
        test_limits(subject, "429:1h", &whole);
        if (subject->bans)
            test_limits(subject, "418:1h", &whole);
        test_orders_limited(subject, "429:1h");
        if (subject->bans)
            test_orders_limited(subject, "418:1h");
        test_bans(subject, &whole);
    }
    server_forget_ca();
    return check_done(venue->format->name);
}

/* Each in a process of its own, at the same time: they wait most of theirs. */
static pid_t begin_one(const struct venue *venue, const char *program)
{
    pid_t pid = fork();
    if (pid == 0)
        exit(test_one(venue, program));
    CHECK(pid > 0);
    return pid;
}

int main(int argc, char **argv)
{
    size_t n;
    const struct venue *const *venues = venues_known(&n);
    pid_t children[SUBJECTS];
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    if (argc < 3)
        return 2;
    for (size_t i = 0; argc == 4 && i <= n; i++)
        if (strcmp(i == n ? "skeleton" : venues[i]->format->name, argv[3]) == 0)
            return test_one(i == n ? &skeleton_venue : venues[i], argv[i == n ? 2 : 1]);
    CHECK_INT(n + 1, SUBJECTS); /* a row here is needed for each */
    for (size_t i = 0; i <= n && i < SUBJECTS; i++)
        children[i] = begin_one(i == n ? &skeleton_venue : venues[i], argv[i == n ? 2 : 1]);
    for (size_t i = 0; i <= n && i < SUBJECTS; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
    }
    return check_done("venue_contract");
}
