/* A connection replaced by another: no message lost, none twice, whichever of the two is ahead, whenever
 * either breaks. Streams of synthetic messages, with holes between their ids and several with one id, are
 * brought by both in random interleavings. */
#include "exchange/binance/renew.h"
#include "exchange/binance/shard.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/random.h"

enum { STREAMS = 6, MESSAGES = 120 };

struct message {
    uint64_t id, hash;
};

/* A connection: what it has brought of each stream, and where it began. */
struct source {
    size_t begin[STREAMS], next[STREAMS];
};

static struct world {
    struct message truth[STREAMS][MESSAGES];
    size_t delivered[STREAMS]; /* messages that the user had */
    size_t hole[STREAMS]; /* that no connection could bring: may be missing before this one, from `delivered`
                             on */
    bool cut[STREAMS];    /* the end of it was on its way when the old one broke: no connection brings it */
    bool wrong;
} world;

static void on_message(void *user, const char *data, size_t len)
{
    (void)user;
    int stream, index;
    if (sscanf(data, "%d %d", &stream, &index) != 2 || len == 0) {
        world.wrong = true;
        return;
    }
    size_t *delivered = &world.delivered[stream], at = (size_t)index;
    if (at != *delivered && !(at > *delivered && at == world.hole[stream]))
        world.wrong = true;
    *delivered = at + 1;
}

static void make(struct random *random)
{
    memset(&world, 0, sizeof world);
    for (int s = 0; s < STREAMS; s++) {
        uint64_t id = (uint64_t)random_between(random, 0, 5);
        for (int i = 0; i < MESSAGES; i++) {
            /* The first streams count each message; in the others several may have one id. */
            id += s < STREAMS / 2 ? (uint64_t)random_between(random, 1, 3)
                                  : (uint64_t)(random_chance(random, 40) ? 0 : random_between(random, 1, 3));
            world.truth[s][i] = (struct message){id, s < STREAMS / 2 ? 0 : (uint64_t)i + 1};
        }
    }
}

static bool bring(struct renew *renew, enum renew_side side, struct source *source, int s)
{
    static const char *const names[STREAMS] = {"a@trade",    "b@trade",      "a@depth",
                                               "a@kline_1m", "b@bookTicker", "c@x"};
    size_t i = source->next[s];
    if (i == MESSAGES)
        return false;
    char *text = malloc(24); /* a step past it is seen by AddressSanitizer */
    size_t len = (size_t)snprintf(text, 24, "%d %zu", s, i) + 1;
    const struct binance_identity identity = {
        {names[s], strlen(names[s])}, world.truth[s][i].id, world.truth[s][i].hash};
    CHECK_INT(binance_renew_frame(renew, side, &identity, text, len), 0);
    free(text);
    source->next[s]++;
    return true;
}

/* Lets a source bring at most `n` messages of random streams. */
static void bring_some(struct random *random, struct renew *renew, enum renew_side side,
                       struct source *source, int64_t n)
{
    for (; n > 0; n--)
        bring(renew, side, source, (int)random_between(random, 0, STREAMS - 1));
}

static void bring_until(struct renew *renew, enum renew_side side, struct source *source, const size_t *until)
{
    for (int s = 0; s < STREAMS; s++)
        while (source->next[s] < until[s])
            bring(renew, side, source, s);
}

enum how { CLEAN, NEW_BREAKS, OLD_BREAKS, HOWS };

/* A chain of renewals over one market. What is the newest message anyone has been sent by the venue is ahead
 * of what every source brought: a new source begins there. */
static void run(struct random *random, unsigned counts[HOWS])
{
    struct renew *renew = binance_renew_create(on_message, NULL);
    struct source old = {{0}, {0}};
    make(random);
    bring_some(random, renew, RENEW_OLD, &old, random_between(random, 0, 40));
    for (int renewals = 0; renewals < 5; renewals++) {
        struct source new = {{0}, {0}};
        enum how how = (enum how)random_between(random, 0, HOWS - 1);
        binance_renew_begin(renew);
        CHECK(binance_renew_both(renew) && binance_renew_active(renew));
        bring_some(random, renew, RENEW_OLD, &old, random_between(random, 0, 30));
        for (int s = 0; s < STREAMS; s++) { /* the venue is ahead of the old one, by what is on its way */
            size_t begin = old.next[s] + (size_t)random_between(random, 0, 12);
            if (begin < world.delivered[s]) /* it is not behind what it brought before */
                begin = world.delivered[s];
            new.begin[s] = new.next[s] = begin > MESSAGES ? MESSAGES : begin;
        }
        for (int64_t n = random_between(random, 0, 120); n > 0; n--) {
            if (random_chance(random, how == CLEAN ? 50 : (int)random_between(random, 5, 95)))
                bring_some(random, renew, RENEW_OLD, &old, 1);
            else
                bring_some(random, renew, RENEW_NEW, &new, 1);
            for (int s = 0; s < STREAMS; s++) /* the user had all that the old one brought */
                world.wrong |= old.next[s] > old.begin[s] && world.delivered[s] < old.next[s];
        }
        counts[how]++;
        if (how == NEW_BREAKS) {
            binance_renew_end(renew, RENEW_NEW);
            CHECK(binance_renew_caught_up(renew));
            continue;
        }
        if (how == CLEAN) { /* the pong: the old one has brought all from before the new one began */
            bring_until(renew, RENEW_OLD, &old, new.begin);
            /* And the first that the new one brought, where that has. */
            size_t first[STREAMS];
            for (int s = 0; s < STREAMS; s++)
                first[s] = new.next[s] > new.begin[s] ? new.begin[s] + 1 : 0;
            bring_until(renew, RENEW_OLD, &old, first);
            CHECK(binance_renew_caught_up(renew));
        }
        for (int s = 0; s < STREAMS; s++) /* what was on its way is lost, and only that */
            world.hole[s] = new.begin[s];
        binance_renew_end(renew, RENEW_OLD);
        CHECK(binance_renew_caught_up(renew) && !binance_renew_both(renew));
        for (int s = 0; s < STREAMS; s++)
            world.cut[s] = how == OLD_BREAKS && new.begin[s] == MESSAGES &&world.delivered[s] < MESSAGES;
        old = new;
        bring_some(random, renew, RENEW_OLD, &old, random_between(random, 0, 20));
    }
    size_t all[STREAMS];
    for (int s = 0; s < STREAMS; s++)
        all[s] = MESSAGES;
    bring_until(renew, RENEW_OLD, &old, all);
    bool quiet = false; /* a stream that began after its last message cannot show that it has caught up */
    for (int s = 0; s < STREAMS; s++) {
        CHECK_INT(world.delivered[s], world.cut[s] ? world.delivered[s] : MESSAGES);
        quiet |= old.begin[s] == MESSAGES;
    }
    CHECK(!world.wrong);
    CHECK(quiet || !binance_renew_active(renew));
    binance_renew_destroy(renew);
}

static void test_random(void)
{
    struct random random = random_seeded("renew", 20261122);
    unsigned counts[HOWS] = {0};
    long runs = getenv("PAPERTAPE_LONG") ? 200000 : 4000;
    for (long i = 0; i < runs && !world.wrong; i++) {
        uint64_t state = random.state;
        run(&random, counts);
        if (world.wrong)
            fprintf(stderr, "renew: wrong with PAPERTAPE_SEED=%" PRIu64 "\n", state);
    }
    printf("renew: %ld runs; %u renewals went well, in %u the new one broke, in %u the old one\n", runs,
           counts[CLEAN], counts[NEW_BREAKS], counts[OLD_BREAKS]);
    CHECK(!world.wrong);
}

/* Said one by one. */
static char said[256];

static void on_said(void *user, const char *data, size_t len)
{
    (void)user;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%.*s ", (int)len, data);
}

static int give(struct renew *renew, enum renew_side side, const char *stream, uint64_t id)
{
    char text[16];
    const struct binance_identity identity = {{stream, strlen(stream)}, id, 0};
    int len = snprintf(text, sizeof text, "%c%d", *stream, (int)id);
    return binance_renew_frame(renew, side, &identity, text, (size_t)len);
}

static void test_steps(void)
{
    struct renew *renew = binance_renew_create(on_said, NULL);
    CHECK(!binance_renew_active(renew));
    give(renew, RENEW_OLD, "a", 1);
    binance_renew_begin(renew);
    give(renew, RENEW_OLD, "a", 2);
    give(renew, RENEW_NEW, "a", 4); /* ahead: held */
    CHECK(!binance_renew_caught_up(renew));
    give(renew, RENEW_NEW, "a", 5);
    give(renew, RENEW_OLD, "a", 3);
    CHECK_STR(said, "a1 a2 a3 ");
    give(renew, RENEW_OLD, "a", 4); /* joined: what is held continues */
    CHECK_STR(said, "a1 a2 a3 a4 a5 ");
    CHECK(binance_renew_caught_up(renew));
    give(renew, RENEW_NEW, "a", 6); /* the first of either */
    give(renew, RENEW_OLD, "a", 5);
    give(renew, RENEW_OLD, "a", 6);
    give(renew, RENEW_OLD, "a", 7);
    give(renew, RENEW_OLD, "b", 1); /* the new one is behind */
    CHECK_STR(said, "a1 a2 a3 a4 a5 a6 a7 b1 ");
    binance_renew_end(renew, RENEW_OLD);
    CHECK(binance_renew_active(renew));
    give(renew, RENEW_NEW, "b", 1);
    CHECK(binance_renew_active(renew));
    give(renew, RENEW_NEW, "a", 7); /* has brought all of it: nothing is looked at any more */
    CHECK(!binance_renew_active(renew));
    give(renew, RENEW_NEW, "a", 8);
    CHECK_STR(said, "a1 a2 a3 a4 a5 a6 a7 b1 a8 ");
    CHECK_INT(binance_renew_doubled(renew), 5);

    /* Names that are too long pass, unless they would have to be held. */
    char name[RENEW_NAME_MAX + 1] = {0};
    memset(name, 'n', RENEW_NAME_MAX);
    binance_renew_begin(renew);
    CHECK_INT(give(renew, RENEW_OLD, name, 1), 0);
    CHECK(give(renew, RENEW_NEW, name, 1) < 0);

    /* No more is held than the limit. */
    static char big[1 << 20];
    int r = 0;
    for (uint64_t i = 2; r == 0 && i < 100; i++)
        r = binance_renew_frame(renew, RENEW_NEW, &(struct binance_identity){{"z", 1}, i, 0}, big,
                                sizeof big);
    CHECK(r < 0);
    binance_renew_end(renew, RENEW_NEW);
    CHECK(binance_renew_caught_up(renew));
    binance_renew_destroy(renew);
    binance_renew_destroy(NULL);
}

static void test_identity(void)
{
    static const struct {
        const char *frame;
        bool ok, hashed;
        const char *stream;
        uint64_t id;
    } cases[] = {
        {"{\"stream\":\"b@trade\",\"data\":{\"e\":\"trade\",\"E\":9,\"t\":7,\"T\":8}}", true, false,
         "b@trade", 7},
        {"{\"data\":{\"e\":\"trade\",\"E\":9,\"t\":7},\"stream\":\"b@trade\"}", true, false, "b@trade", 7},
        {"{\"stream\":\"b@aggTrade\",\"data\":{\"E\":9,\"a\":6,\"f\":1}}", true, false, "b@aggTrade", 6},
        {"{\"stream\":\"b@depth@100ms\",\"data\":{\"E\":9,\"U\":1,\"u\":5,\"a\":[]}}", true, false,
         "b@depth@100ms", 5},
        {"{\"stream\":\"b@depth@250ms\",\"data\":{\"E\":9,\"U\":1,\"u\":5,\"a\":[]}}", true, false,
         "b@depth@250ms", 5},
        {"{\"stream\":\"b@depth5@250ms\",\"data\":{\"E\":9,\"U\":1,\"u\":5,\"a\":[]}}", true, true,
         "b@depth5@250ms", 5},
        {"{\"stream\":\"b@bookTicker\",\"data\":{\"u\":4,\"a\":\"1\"}}", true, true, "b@bookTicker", 4},
        {"{\"stream\":\"b@kline_1m\",\"data\":{\"E\":9,\"k\":{\"t\":1,\"E\":2}}}", true, true, "b@kline_1m",
         9},
        {"{\"stream\":\"b@trade\",\"data\":{\"E\":9}}", true, true, "b@trade", 9},
        {"{\"stream\":\"x@arr\",\"data\":[{\"E\":9}]}", true, true, "x@arr", 0},
        {"{\"stream\":\"!serverShutdown\",\"data\":{\"e\":\"serverShutdown\",\"E\":1}}", false, false, "", 0},
        {"{\"result\":null,\"id\":1}", false, false, "", 0},
        {"{\"stream\":\"b@trade\"}", false, false, "", 0},
        {"{\"stream\":5,\"data\":{}}", false, false, "", 0},
        {"[]", false, false, "", 0},
        {"", false, false, "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct binance_identity identity = {{NULL, 0}, 0, 0};
        size_t len = strlen(cases[i].frame);
        char *own = malloc(len ? len : 1);
        memcpy(own, cases[i].frame, len);
        CHECK_INT(binance_identify(own, len, &identity), cases[i].ok);
        if (cases[i].ok) {
            CHECK(identity.stream.len == strlen(cases[i].stream) &&
                  memcmp(identity.stream.data, cases[i].stream, identity.stream.len) == 0);
            CHECK_INT(identity.id, cases[i].id);
            CHECK_INT(identity.hash != 0, cases[i].hashed);
        }
        free(own);
        for (size_t cut = 0; cut < len; cut++) { /* whatever it says of them: never past their end */
            own = malloc(cut ? cut : 1);
            memcpy(own, cases[i].frame, cut);
            binance_identify(own, cut, &identity);
            free(own);
        }
    }
}

/* However it is spaced, and in whichever order. */
static void test_market_data(void)
{
    static const struct {
        const char *frame;
        bool is;
    } cases[] = {
        {"{\"stream\":\"b@trade\",\"data\":{\"t\":7}}", true},
        {"{\"stream\": \"b@trade\", \"data\": {\"t\": 7}}", true},
        {" {\n\t\"stream\" :\"b@trade\",\"data\":{}}", true},
        {"{\"data\":{\"e\":\"trade\",\"stream\":1},\"stream\":\"b@trade\"}", true},
        {"{\"stream\":\"!serverShutdown\",\"data\":{\"e\":\"serverShutdown\"}}", false},
        {"{\"stream\": \"!serverShutdown\",\"data\":{}}", false},
        {"{\"stream\":\"\",\"data\":{}}", false},
        {"{\"stream\": 5,\"data\":{}}", false},
        {"{\"e\":\"serverShutdown\",\"data\":{\"stream\":\"b@trade\"}}", false},
        {"{\"result\": null, \"id\": 1}", false},
        {"[\"stream\"]", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = strlen(cases[i].frame);
        CHECK_INT(binance_is_market_data(cases[i].frame, len), cases[i].is);
        for (size_t cut = 0; cut < len; cut++) {
            char *own = malloc(cut ? cut : 1);
            memcpy(own, cases[i].frame, cut);
            binance_is_market_data(own, cut);
            free(own);
        }
    }
}

int main(void)
{
    test_steps();
    test_identity();
    test_market_data();
    test_random();
    return check_done("exchange/renew");
}
