/* The link's rules through days of an injected clock. The world of each test answers what net_link_next()
 * asks for at once, or refuses it. */
#include "exchange/net/link.h"
#include "tests/check.h"
#include "tests/random.h"

#define SECOND 1000LL
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

enum { ATTEMPTS_MAX = 100000 };

static struct budget budget;
static int64_t tried[ATTEMPTS_MAX];
static size_t n_tried;

static struct link begin(struct link_config config)
{
    struct link link;
    net_budget_init(&budget, 60, 5 * MINUTE);
    n_tried = 0;
    config.budget = &budget;
    net_link_init(&link, &config, 0);
    return link;
}

/* Steps until the link waits: attempts are noted and left connecting. Returns when it wants to be asked
 * again; INT64_MAX for an attempt under way as well. */
static int64_t drive(struct link *link, int64_t now)
{
    for (;;) {
        struct link_step step = net_link_next(link, now);
        if (step.act == LINK_WAIT)
            return step.at_ms;
        if (step.act == LINK_RESOLVE) {
            net_link_resolved(link, 1);
        } else {
            CHECK(n_tried < ATTEMPTS_MAX);
            tried[n_tried++] = now;
            return INT64_MAX;
        }
    }
}

/* The newest connection brings data for as long as it takes. */
static void works(struct link *link, int64_t now)
{
    net_link_received(link, now);
    net_link_received(link, now + LINK_STEADY_MS);
}

/* How many attempts any window held. */
static size_t most_in(int64_t window_ms)
{
    size_t most = 0;
    for (size_t first = 0, last = 0; last < n_tried; last++) {
        while (tried[last] - tried[first] >= window_ms)
            first++;
        if (last - first + 1 > most)
            most = last - first + 1;
    }
    return most;
}

static void test_first(void)
{
    struct link link = begin((struct link_config){0});
    CHECK_INT(net_link_state(&link), VENUE_WAITING);
    CHECK_INT(net_link_next(&link, 0).act, LINK_RESOLVE);
    CHECK_INT(net_link_state(&link), VENUE_RESOLVING);
    CHECK_INT(net_link_next(&link, 0).act, LINK_WAIT); /* reported once */
    net_link_resolved(&link, 3);
    CHECK_INT(net_link_next(&link, 1).act, LINK_CONNECT);
    CHECK_INT(link.address, 0);
    CHECK_INT(net_link_state(&link), VENUE_CONNECTING);
    CHECK_INT(net_link_next(&link, 1).act, LINK_WAIT);
    net_link_failed(&link, 2, LINK_UNREACHED, -1); /* the other addresses, at once */
    CHECK_INT(net_link_next(&link, 2).act, LINK_CONNECT);
    CHECK_INT(link.address, 1);
    net_link_failed(&link, 3, LINK_UNREACHED, -1);
    CHECK_INT(net_link_next(&link, 3).act, LINK_CONNECT);
    CHECK_INT(link.address, 2);
    int64_t now, at = net_link_failed(&link, 4, LINK_UNREACHED, -1); /* that was the last */
    CHECK_INT(link.failures, 3);
    CHECK_INT(link.connects, 0);
    CHECK(at >= 4 + LINK_BACKOFF_MIN_MS && at <= 4 + 2 * LINK_BACKOFF_MIN_MS);
    CHECK_INT(net_link_state(&link), VENUE_WAITING);
    CHECK_INT(net_link_retry_ms(&link), at);
    CHECK_INT(net_link_next(&link, at - 1).at_ms, at);
    CHECK_INT(net_link_next(&link, at).act, LINK_RESOLVE);
    net_link_resolved(&link, 1);
    CHECK_INT(net_link_next(&link, at).act, LINK_CONNECT);
    net_link_opened(&link, at + 1);
    CHECK_INT(net_link_state(&link), VENUE_UP);
    CHECK_INT(net_link_next(&link, at + 1).at_ms, INT64_MAX); /* no age: never replaced */
    CHECK_INT(link.attempts, 4);
    CHECK_INT(link.connects, 1);
    CHECK_INT(link.reconnects, 0); /* the first one is none */
    net_link_again(&link, at + 2);
    CHECK_INT(net_link_state(&link), VENUE_WAITING);
    CHECK_INT(net_link_next(&link, at + 2).act, LINK_RESOLVE);
    net_link_resolved(&link, 1);
    CHECK_INT(net_link_next(&link, at + 2).act, LINK_CONNECT);
    net_link_failed(&link, at + 2, LINK_LOST, -1); /* an attempt is none either */
    CHECK_INT(link.reconnects, 0);
    now = drive(&link, at + 2);
    drive(&link, now);
    net_link_opened(&link, now);
    CHECK_INT(link.reconnects, 1);
    net_link_lost(&link, now, LINK_LOST, -1);
    now = drive(&link, now);
    drive(&link, now);
    net_link_opened(&link, now);
    CHECK_INT(link.reconnects, 2);
    net_link_rest(&link); /* it is not needed for a while */
    drive(&link, now);
    net_link_opened(&link, now);
    CHECK_INT(link.connects, 4);
    CHECK_INT(link.reconnects, 2);
}

/* A week of connections that the venue would end at 24 hours: each is replaced before, by one that is up
 * beside it, and never is there none. */
static void test_renewal(struct random *random)
{
    struct link link = begin((struct link_config){
        .jitter_seed = random_next(random), .age_max_ms = 23 * HOUR, .age_jitter_ms = 30 * MINUTE});
    int64_t now = 0, opened = 0;
    drive(&link, now);
    net_link_opened(&link, now);
    while (now < 7 * DAY) {
        int64_t at = drive(&link, now);
        CHECK(at > now && at - opened >= 23 * HOUR && at - opened <= 23 * HOUR + 30 * MINUTE);
        now = at;
        CHECK_INT(drive(&link, now), INT64_MAX); /* the new one is being made */
        CHECK_INT(net_link_state(&link), VENUE_UP);
        if (random_chance(random, 30)) { /* it fails a few times */
            for (int i = 0; i < 3; i++) {
                now = net_link_failed(&link, now, LINK_LOST, -1);
                CHECK_INT(net_link_state(&link), VENUE_UP);
                CHECK_INT(drive(&link, now), INT64_MAX);
            }
        }
        net_link_opened(&link, now);
        CHECK_INT(drive(&link, now), INT64_MAX); /* both are up */
        works(&link, now);
        CHECK(now - opened < DAY);
        opened = now;
        now += random_between(random, 0, 5 * SECOND);
        if (random_chance(random, 50))
            net_link_took_over(&link);
        else /* the venue was quicker: the new one takes its place nevertheless */
            CHECK_INT(net_link_lost(&link, now, LINK_LOST, -1), now);
        CHECK_INT(net_link_state(&link), VENUE_UP);
    }
    printf("renewal: %d in 7 days, %zu attempts\n", (int)link.renewals, n_tried);
    CHECK_INT(link.renewals, link.connects - 1);
    CHECK_INT(link.reconnects, 0);
    CHECK(link.renewals >= 7);

    /* A new one that breaks while both are up leaves the old one, and is made again. */
    now = drive(&link, now);
    drive(&link, now);
    net_link_opened(&link, now);
    int64_t at = net_link_failed(&link, now, LINK_LOST, -1);
    CHECK_INT(net_link_state(&link), VENUE_UP);
    CHECK_INT(drive(&link, now), at);
    CHECK_INT(drive(&link, at), INT64_MAX);
    net_link_opened(&link, at);
    net_link_took_over(&link);

    /* The old one ends while the new one is only being made: that continues. */
    now = drive(&link, at);
    drive(&link, now);
    CHECK_INT(net_link_lost(&link, now, LINK_LOST, -1), now);
    CHECK_INT(net_link_state(&link), VENUE_CONNECTING);
    net_link_opened(&link, now);
    CHECK_INT(net_link_state(&link), VENUE_UP);
    CHECK_INT(link.attempt, LINK_ATTEMPT_NONE);
}

/* The venue's limits of patience: a 418 of an hour, one known from before, one without Retry-After. */
static void test_bans(struct random *random)
{
    struct link link = begin((struct link_config){.jitter_seed = random_next(random)});
    net_link_hold(&link, 2 * HOUR); /* from before the start */
    net_link_hold(&link, HOUR);     /* a shorter one changes nothing */
    CHECK_INT(net_link_next(&link, 0).at_ms, 2 * HOUR);
    CHECK_INT(net_link_state(&link), VENUE_WAITING);
    CHECK_INT(net_link_retry_ms(&link), 2 * HOUR);
    CHECK_INT(net_link_next(&link, 2 * HOUR - 1).act, LINK_WAIT);
    int64_t now = 2 * HOUR;
    drive(&link, now);
    CHECK_INT(n_tried, 1);
    int64_t at = net_link_failed(&link, now, LINK_BANNED, 3 * HOUR);
    CHECK(at > now + 3 * HOUR && at <= now + 3 * HOUR + 2 * LINK_BACKOFF_MIN_MS);
    for (int64_t t = now; t < at; t += MINUTE) /* asked all the time, nothing is tried */
        CHECK_INT(drive(&link, t), at);
    CHECK_INT(n_tried, 1);
    drive(&link, at);
    CHECK_INT(n_tried, 2);
    net_link_opened(&link, at);
    works(&link, at);

    /* While one is up, a ban keeps it and forbids another, whichever caller asks. */
    now = at;
    net_link_hold(&link, now + HOUR);
    CHECK_INT(net_link_state(&link), VENUE_UP);
    net_link_renew(&link, now);
    CHECK_INT(drive(&link, now), now + HOUR);
    net_link_again(&link, now + MINUTE);
    CHECK_INT(drive(&link, now + MINUTE), now + HOUR);
    CHECK_INT(drive(&link, now + HOUR), INT64_MAX);
    CHECK_INT(n_tried, 3);

    /* Banned while it is looked up: not connected. */
    link = begin((struct link_config){0});
    CHECK_INT(net_link_next(&link, 0).act, LINK_RESOLVE);
    net_link_hold(&link, HOUR);
    net_link_resolved(&link, 1);
    CHECK_INT(net_link_next(&link, 0).at_ms, HOUR);
    CHECK_INT(link.attempts, 0);

    static const struct {
        enum link_failure failure;
        int64_t retry_after_ms, least_ms;
    } cases[] = {
        {LINK_LIMITED, 7 * SECOND, 7 * SECOND}, {LINK_LIMITED, -1, LINK_LIMITED_MS},
        {LINK_BANNED, -1, LINK_BANNED_MS},      {LINK_REFUSED, -1, LINK_REFUSED_MS},
        {LINK_LOST, 5 * SECOND, 5 * SECOND},    {LINK_LIMITED, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        link = begin((struct link_config){0});
        drive(&link, 0);
        at = net_link_failed(&link, 0, cases[i].failure, cases[i].retry_after_ms);
        CHECK(at >= cases[i].least_ms + LINK_BACKOFF_MIN_MS &&
              at <= cases[i].least_ms + 2 * LINK_BACKOFF_MIN_MS);
        CHECK_INT(net_link_state(&link), cases[i].failure == LINK_REFUSED ? VENUE_FAILED : VENUE_WAITING);
    }

    /* A renewal that is banned: then the old one ends, and the ban holds. */
    link = begin((struct link_config){.age_max_ms = HOUR});
    drive(&link, 0);
    net_link_opened(&link, 0);
    drive(&link, HOUR);
    net_link_failed(&link, HOUR, LINK_BANNED, HOUR);
    CHECK(net_link_lost(&link, HOUR + 1, LINK_LOST, -1) >= 2 * HOUR);
    CHECK(drive(&link, HOUR + 2) >= 2 * HOUR);
}

/* An error that no retry repairs ends it permanently; an open connection stays. */
static void test_ended(void)
{
    struct link link = begin((struct link_config){0});
    drive(&link, 0);
    CHECK_INT(net_link_failed(&link, 0, LINK_ENDED, -1), INT64_MAX);
    CHECK_INT(net_link_state(&link), VENUE_FINAL);
    for (int64_t now = 0; now < 30 * DAY; now += HOUR)
        CHECK_INT(drive(&link, now), INT64_MAX);
    net_link_again(&link, DAY);
    net_link_renew(&link, DAY);
    CHECK_INT(net_link_failed(&link, DAY, LINK_LOST, -1), INT64_MAX);
    CHECK_INT(net_link_lost(&link, DAY, LINK_LOST, -1), INT64_MAX);
    CHECK_INT(drive(&link, 2 * DAY), INT64_MAX);
    CHECK_INT(n_tried, 1);

    link = begin((struct link_config){0});
    drive(&link, 0);
    net_link_opened(&link, 0);
    CHECK_INT(net_link_lost(&link, 5, LINK_ENDED, -1), INT64_MAX);
    CHECK_INT(net_link_state(&link), VENUE_FINAL);

    CHECK_INT(net_link_failure_of(0, true), LINK_LOST);
    CHECK_INT(net_link_failure_of(503, true), LINK_LOST);
    CHECK_INT(net_link_failure_of(429, true), LINK_LIMITED);
    CHECK_INT(net_link_failure_of(418, true), LINK_BANNED);
    CHECK_INT(net_link_failure_of(408, true), LINK_LOST);
    CHECK_INT(net_link_failure_of(403, true), LINK_ENDED);
    CHECK_INT(net_link_failure_of(403, false), LINK_REFUSED);
}

/* A day in which every connection breaks, at once or soon, with requests to reconnect between: never more
 * attempts than the budget, in any window. Several links share it. */
static void test_storm(struct random *random)
{
    enum { LINKS = 5 };
    struct link links[LINKS];
    int64_t ends[LINKS], wakes[LINKS];
    links[0] = begin((struct link_config){
        .jitter_seed = random_next(random), .backoff_max_ms = 2 * SECOND, .age_max_ms = HOUR});
    for (int i = 0; i < LINKS; i++) {
        links[i] = links[0];
        links[i].backoff.random = random_next(random);
        ends[i] = INT64_MAX;
        wakes[i] = 0;
    }
    for (int64_t now = 0; now < DAY; now += 250) {
        for (int i = 0; i < LINKS; i++) {
            struct link *link = &links[i];
            if (link->up && now >= ends[i]) {
                net_link_lost(link, now, random_chance(random, 5) ? LINK_LIMITED : LINK_LOST,
                              random_chance(random, 50) ? SECOND : -1);
                wakes[i] = now;
            } else if (link->up && random_chance(random, 3)) {
                net_link_again(link, now);
                wakes[i] = now;
            } else if (link->up && random_chance(random, 3)) {
                net_link_renew(link, now);
                wakes[i] = now;
            }
            if (now < wakes[i])
                continue;
            size_t before = n_tried;
            wakes[i] = drive(link, now);
            if (n_tried == before)
                continue;
            wakes[i] = now;
            if (random_chance(random, 60)) {
                net_link_failed(link, now,
                                (enum link_failure)random_between(random, LINK_LOST, LINK_UNREACHED), -1);
                continue;
            }
            bool beside = link->up;
            net_link_opened(link, now);
            if (beside && random_chance(random, 50))
                net_link_took_over(link);
            else if (beside)
                net_link_failed(link, now, LINK_LOST, -1);
            ends[i] = now + random_between(random, 0, 5 * SECOND);
        }
    }
    printf("storm: %zu attempts in a day, at most %zu in 5 minutes\n", n_tried, most_in(5 * MINUTE));
    CHECK(most_in(5 * MINUTE) == 60); /* used up, and not a single one more */
    CHECK(n_tried > 60 * 12 * 12 && n_tried <= 60 * 12 * 24 + 60);
}

/* At once, once a minute; then with backoff that grows until data comes. */
static void test_at_once(void)
{
    struct link link = begin((struct link_config){0});
    drive(&link, 0);
    net_link_opened(&link, 0);
    for (int i = 0; i < 3; i++) {
        int64_t now = i * LINK_AT_ONCE_MS + 10;
        net_link_again(&link, now);
        CHECK_INT(drive(&link, now), INT64_MAX);
        CHECK_INT(n_tried, (size_t)(2 * i + 2));
        net_link_opened(&link, now);
        net_link_renew(&link, now + 1); /* the second within the minute */
        int64_t at = drive(&link, now + 1);
        CHECK(at >= now + 1 + LINK_BACKOFF_MIN_MS && at <= now + 1 + 2 * LINK_BACKOFF_MIN_MS);
        CHECK_INT(net_link_state(&link), VENUE_UP);
        drive(&link, at);
        net_link_opened(&link, at);
        net_link_took_over(&link);
        works(&link, at);
    }
    int64_t now = HOUR, longest = 0;
    net_link_lost(&link, now, LINK_LOST, -1);
    for (int i = 0; i < 50; i++) {
        int64_t at = drive(&link, now);
        CHECK(at >= now + LINK_BACKOFF_MIN_MS && at <= now + LINK_BACKOFF_MAX_MS);
        longest = at - now > longest ? at - now : longest;
        now = at;
        drive(&link, now);
        net_link_opened(&link, now); /* open, and gone before any data */
        net_link_lost(&link, now, LINK_LOST, -1);
    }
    CHECK(longest > LINK_BACKOFF_MAX_MS / 2);
    now = drive(&link, now);
    drive(&link, now);
    net_link_opened(&link, now);
    works(&link, now);
    int64_t at = net_link_lost(&link, now, LINK_LOST, -1);
    CHECK(at <= now + 2 * LINK_BACKOFF_MIN_MS);

    /* A venue that allows one connection is never asked for a second. */
    link = begin((struct link_config){.alone = true, .age_max_ms = HOUR});
    drive(&link, 0);
    net_link_opened(&link, 0);
    net_link_renew(&link, 0);
    CHECK_INT(drive(&link, DAY), INT64_MAX);
    CHECK_INT(n_tried, 1);
}

/* A day at a venue that takes each connection and hangs up after `lasts_ms` of data: the pace is the
 * backoff's, until one lasts. */
static void test_flapping(struct random *random, int64_t lasts_ms)
{
    struct link link = begin((struct link_config){.jitter_seed = random_next(random)});
    int64_t now = 0;
    while (now < DAY) {
        CHECK_INT(drive(&link, now), INT64_MAX);
        net_link_opened(&link, now);
        for (int64_t at = 0; at <= lasts_ms; at += 100)
            net_link_received(&link, now + at);
        now = net_link_lost(&link, now + lasts_ms, LINK_LOST, -1);
    }
    bool steady = lasts_ms >= LINK_STEADY_MS;
    printf("flapping: %zu attempts in a day of connections of %d ms, at most %zu in 5 minutes\n", n_tried,
           (int)lasts_ms, most_in(5 * MINUTE));
    if (steady) {
        CHECK(n_tried >= (size_t)(DAY / (lasts_ms + 2 * LINK_BACKOFF_MIN_MS)));
        return;
    }
    CHECK(n_tried < 1.2 * DAY / (LINK_BACKOFF_MAX_MS / 2.0 + (double)lasts_ms) && most_in(5 * MINUTE) < 40);
    CHECK_INT(drive(&link, now), INT64_MAX);
    net_link_opened(&link, now);
    works(&link, now);
    now += LINK_STEADY_MS;
    CHECK(net_link_lost(&link, now, LINK_LOST, -1) <= now + 2 * LINK_BACKOFF_MIN_MS);
}

int main(void)
{
    struct random random = random_seeded("link", 20261122);
    test_first();
    test_at_once();
    test_renewal(&random);
    test_bans(&random);
    test_ended();
    test_storm(&random);
    test_flapping(&random, 0);
    test_flapping(&random, 1000);
    test_flapping(&random, LINK_STEADY_MS - 1);
    test_flapping(&random, LINK_STEADY_MS + 100);
    return check_done("link");
}
