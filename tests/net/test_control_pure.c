/* Which client's turn it is, and which clients hold the connections: pure, by a clock of our own. */
#include "exchange/net/control_places.h"
#include "exchange/net/control_turn.h"
#include "tests/check.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

/* ---- turns ---- */

struct crowd {
    int64_t now_ns, request_ns[64], bytes_ns; /* what a request of each costs, and what a read does */
    unsigned left[64], taken[64], reads[64];  /* requests; reads before the first */
    unsigned order[64], n_left_turns;
};

static int64_t now(void *ctx)
{
    return ((struct crowd *)ctx)->now_ns;
}

static enum control_step step(void *ctx, unsigned client)
{
    struct crowd *crowd = ctx;
    if (crowd->reads[client] > 0) {
        crowd->reads[client]--;
        crowd->now_ns += crowd->bytes_ns;
        return CONTROL_STEP_MOVED;
    }
    if (crowd->left[client] == 0)
        return CONTROL_STEP_NONE;
    crowd->left[client]--;
    crowd->taken[client]++;
    crowd->now_ns += crowd->request_ns[client];
    return CONTROL_STEP_REQUEST;
}

static void leave(void *ctx, unsigned client)
{
    struct crowd *crowd = ctx;
    crowd->order[crowd->n_left_turns++ % 64] = client;
}

static const struct control_turn_hooks hooks = {now, step, leave};

static void one_after_another(void)
{
    CHECK_INT(control_turn_next(0, 5), 64);
    CHECK_INT(control_turn_next(1, 63), 0);
    CHECK_INT(control_turn_next(1, 0), 0);
    CHECK_INT(control_turn_next(UINT64_C(1) << 63 | 2, 1), 63);
    CHECK_INT(control_turn_next(UINT64_C(1) << 63 | 2, 63), 1);
    CHECK_INT(control_turn_next(UINT64_MAX, 62), 63);
}

/* At most 16 requests of one client, however cheap; clients that have more are named. */
static void sixteen_each(void)
{
    struct crowd crowd = {.left = {[3] = 40, [7] = 16, [9] = 2}};
    unsigned last = 63;
    uint64_t ready = 1 << 3 | 1 << 7 | 1 << 9;
    uint64_t more = control_turn_run(&hooks, &crowd, ready, &last);
    CHECK_INT(crowd.taken[3], 16);
    CHECK_INT(crowd.taken[7], 16);
    CHECK_INT(crowd.taken[9], 2);
    CHECK_INT(more, 1 << 3 | 1 << 7); /* 7's next step finds that it has none */
    CHECK_INT(last, 9);
    more = control_turn_run(&hooks, &crowd, more, &last);
    CHECK_INT(crowd.taken[3], 32);
    CHECK_INT(more, 1 << 3);
}

/* At most 1 ms of one, and the request that passes it; 2 ms of all; the next turn begins with the next. */
static void a_millisecond_each(void)
{
    struct crowd crowd = {0};
    unsigned last = 63;
    uint64_t ready = 0xff;
    for (int i = 0; i < 8; i++) {
        crowd.left[i] = 100;
        crowd.request_ns[i] = MS / 4;
    }
    ready = control_turn_run(&hooks, &crowd, ready, &last);
    CHECK_INT(crowd.taken[0], 4);
    CHECK_INT(crowd.taken[1], 4);
    CHECK_INT(crowd.taken[2], 0);
    CHECK_INT(crowd.now_ns, 2 * MS);
    CHECK_INT(ready, 0xff);
    ready = control_turn_run(&hooks, &crowd, ready, &last);
    CHECK_INT(crowd.taken[2], 4);
    CHECK_INT(crowd.taken[3], 4);
    for (int turn = 0; turn < 2; turn++)
        ready = control_turn_run(&hooks, &crowd, ready, &last);
    for (int i = 0; i < 8; i++)
        CHECK_INT(crowd.taken[i], 4); /* four turns, and each had its part */

    crowd.request_ns[0] = 50 * MS; /* an expensive one: it alone, then the turn is over */
    int64_t before = crowd.now_ns;
    control_turn_run(&hooks, &crowd, ready, &last);
    CHECK_INT(crowd.taken[0], 5);
    CHECK_INT(crowd.now_ns - before, 50 * MS);
    CHECK_INT(last, 0);
}

/* Bytes are no requests, but their time counts. */
static void reading_counts(void)
{
    struct crowd crowd = {.left = {100, 1}, .reads = {1000}, .bytes_ns = MS / 10};
    unsigned last = 63;
    uint64_t more = control_turn_run(&hooks, &crowd, 3, &last);
    CHECK_INT(crowd.reads[0], 990);
    CHECK_INT(crowd.taken[0], 0);
    CHECK_INT(crowd.taken[1], 1);
    CHECK_INT(more, 1);
}

/* 63 pipeline for ever, at random costs up to 300 µs; one asks once at a time: how many turns until it is
 * served. */
static void none_waits_long(void)
{
    struct crowd crowd = {0};
    unsigned last = 63, most = 0;
    uint32_t random = 1;
    for (unsigned asked = 0; asked < 500; asked++) {
        unsigned turns = 0;
        crowd.left[20] = 1;
        for (; crowd.left[20] > 0; turns++) {
            for (unsigned i = 0; i < 64; i++) {
                random = random * 1664525 + 1013904223;
                crowd.request_ns[i] = random % 300000;
                if (i != 20)
                    crowd.left[i] = 1000;
            }
            control_turn_run(&hooks, &crowd, UINT64_MAX, &last);
        }
        most = turns > most ? turns : most;
    }
    CHECK(most <= 33); /* two clients a turn at least */
    CHECK(most > 1);
}

/* ---- places ---- */

static struct control_places places;

static void empty(void)
{
    places = (struct control_places){.limits = control_limits_default};
}

static struct control_admission come(uid_t uid, uint64_t busy, int64_t now_ns)
{
    struct control_admission admission;
    control_places_admit(&places, uid, busy, now_ns, &admission);
    CHECK(admission.displaces == (places.place[admission.place].kind != CONTROL_FREE));
    control_places_take(&places, &admission, uid, now_ns);
    return admission;
}

static void speak(int place, int64_t now_ns)
{
    places.place[place].spoke = true;
    places.place[place].active_ns = now_ns;
}

static unsigned held(uid_t uid, enum control_kind kind)
{
    unsigned n = 0;
    for (int i = 0; i < CONTROL_CLIENTS_MAX; i++)
        n += places.place[i].kind == kind && places.place[i].uid == uid;
    return n;
}

static void ordinary_then_reserves_then_the_longest_idle(void)
{
    empty();
    for (int i = 0; i < 64; i++) {
        struct control_admission got = come(1000, 0, i * MS);
        CHECK_INT(got.kind, i < 56 ? CONTROL_ORDINARY : CONTROL_RESERVE);
        CHECK(!got.displaces);
        speak(got.place, i * MS);
    }
    speak(0, S); /* 1 is idle the longest now */
    struct control_admission got = come(1000, 0, 2 * S);
    CHECK(got.displaces);
    CHECK_INT(got.place, 1);
    CHECK_INT(got.kind, CONTROL_ORDINARY);
    speak(1, 2 * S);
    got = come(1000, 0xc, 2 * S); /* 2 and 3 are busy */
    CHECK_INT(got.place, 4);
    speak(4, 2 * S);
    got = come(1000, 0x3f, 2 * S); /* the first six are */
    CHECK_INT(got.place, 6);
    got = come(1000, UINT64_MAX, 2 * S); /* all are: 6, which has asked nothing, is served nevertheless */
    CHECK_INT(got.place, 6);
}

/* A crowd that only connects displaces itself, not those that ask now and then. */
static void the_silent_go_first(void)
{
    empty();
    for (int i = 0; i < 63; i++)
        speak(come(1000, 0, 0).place, 0);
    for (int i = 0; i < 200; i++) {
        struct control_admission got = come(1000, 0, 5 * S + i);
        CHECK_INT(got.place, 63);
    }
    for (int i = 0; i < 62; i++)
        speak(i, 14 * S);
    CHECK_INT(come(1000, 0, 16 * S).place, 63); /* silent for 11 s */
    CHECK_INT(come(1000, 0, 16 * S).place, 62); /* idle for 16 s, the silent one is new */
}

static void a_user_never_shuts_out_another(void)
{
    empty();
    for (int i = 0; i < 500; i++)
        speak(come(1000, UINT64_MAX, i).place, i);
    CHECK_INT(held(1000, CONTROL_ORDINARY), 56);
    CHECK_INT(held(1000, CONTROL_RESERVE), 8);
    int ordinary = 0;
    for (int i = 0; i < 28; i++) { /* another gets ordinary ones, up to the half, and no further */
        struct control_admission got = come(1001, UINT64_MAX, S + i);
        ordinary += got.kind == CONTROL_ORDINARY;
        speak(got.place, S + i);
    }
    CHECK_INT(ordinary, 28);
    CHECK_INT(held(1000, CONTROL_ORDINARY), 28);
    for (int i = 0; i < 500; i++) { /* then each displaces but their own, or takes what the other has more */
        struct control_admission got = come(i % 2 ? 1001 : 1000, UINT64_MAX, 2 * S + i);
        speak(got.place, 2 * S + i);
    }
    CHECK_INT(held(1000, CONTROL_ORDINARY) + held(1000, CONTROL_RESERVE), 32);
    CHECK_INT(held(1001, CONTROL_ORDINARY) + held(1001, CONTROL_RESERVE), 32);
    struct control_admission got = come(0, UINT64_MAX, 3 * S); /* a third, root */
    CHECK_INT(got.kind, CONTROL_ORDINARY);
    for (int i = 0; i < 500; i++)
        come(1000, 0, 4 * S + i);
    CHECK_INT(held(0, CONTROL_ORDINARY), 1); /* and a crowd does not displace it, silent as it is */
}

static void deadlines(void)
{
    empty();
    CHECK(control_places_next_ns(&places) == INT64_MAX);
    for (int i = 0; i < 58; i++)
        come(1000, 0, 0);
    CHECK_INT(control_places_next_ns(&places), 100 * MS);
    CHECK_INT(control_place_overdue(&places, 56, false, 100 * MS - 1), CONTROL_IN_TIME);
    CHECK_INT(control_place_overdue(&places, 56, false, 100 * MS), CONTROL_NO_FIRST_LINE);
    CHECK_INT(control_place_overdue(&places, 56, true, 100 * MS), CONTROL_IN_TIME); /* its line is there */
    CHECK_INT(control_place_overdue(&places, 0, false, 100 * MS),
              CONTROL_IN_TIME); /* an ordinary one may be silent */
    speak(56, 50 * MS);
    control_places_leave(&places, 57);
    CHECK_INT(control_places_next_ns(&places), 50 * MS + 5 * S);
    CHECK_INT(control_place_overdue(&places, 56, false, 50 * MS + 5 * S), CONTROL_IDLE);
    CHECK_INT(control_place_overdue(&places, 0, false, 600 * S - 1), CONTROL_IN_TIME);
    CHECK_INT(control_place_overdue(&places, 0, false, 600 * S), CONTROL_IDLE);
    CHECK_INT(control_place_overdue(&places, 0, true, 600 * S), CONTROL_IN_TIME); /* it waits for an answer */
    CHECK_INT(control_place_overdue(&places, 63, false, 600 * S), CONTROL_IN_TIME); /* free */
}

/* Where an ordinary one ends, the oldest reserve that asked takes its place. */
static void promotion(void)
{
    empty();
    for (int i = 0; i < 59; i++)
        come(1000, 0, i);
    CHECK(!control_places_promote(&places));
    CHECK_INT(held(1000, CONTROL_RESERVE), 3);
    speak(57, S);
    speak(58, S);
    control_places_leave(&places, 11);
    CHECK(control_places_promote(&places));
    CHECK(!control_places_promote(&places));
    CHECK_INT(places.place[56].kind, CONTROL_RESERVE); /* it is silent */
    CHECK_INT(places.place[57].kind, CONTROL_ORDINARY);
    CHECK_INT(places.place[58].kind, CONTROL_RESERVE);
}

/* Which of a user's makes room for one that asks. */
static void silent_ones(void)
{
    empty();
    CHECK_INT(control_places_silent(&places, 1000, 0), -1);
    for (int i = 0; i < 60; i++)
        come(i % 2 ? 1001 : 1000, 0, i);
    speak(0, S);
    CHECK_INT(control_places_silent(&places, 1000, 0), 2);
    CHECK_INT(control_places_silent(&places, 1000, 1 << 2), 4);
    CHECK_INT(control_places_silent(&places, 1001, 0), 1);
    CHECK_INT(control_places_silent(&places, 1002, 0), -1); /* another's stay */
    for (int i = 0; i < 56; i++)
        speak(i, S);
    CHECK_INT(control_places_silent(&places, 1000, 0), -1); /* 56 to 59 are reserves */
}

int main(void)
{
    one_after_another();
    sixteen_each();
    a_millisecond_each();
    reading_counts();
    none_waits_long();
    ordinary_then_reserves_then_the_longest_idle();
    the_silent_go_first();
    a_user_never_shuts_out_another();
    deadlines();
    promotion();
    silent_ones();
    return check_done("net/control_pure");
}
