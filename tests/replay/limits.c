/* Binance's limits with a clock of the test's own: each window ends, who waits is let in again, who does not
 * is banned, longer each time. */
#include "exchange/replay/binance/limits.h"

#include "tests/check.h"

#define MINUTE 60000
#define START  (28350000LL * MINUTE)

static void test_weight(void)
{
    struct limits l = {0};
    int64_t wait_s = -1, at = START + 15500;
    for (int i = 0; i < LIMITS_WEIGHT / 250; i++) {
        CHECK_INT(replay_limits_request(&l, at, &wait_s), 0);
        CHECK_INT(replay_limits_charge(&l, at, 250, &wait_s), 0);
    }
    CHECK_INT(wait_s, -1);
    CHECK_INT(replay_limits_used(&l, at), LIMITS_WEIGHT);
    CHECK_INT(replay_limits_request(&l, at, &wait_s), LIMITS_TOO_MANY);
    CHECK_INT(wait_s, 45); /* 44.5, rounded up */
    CHECK_INT(replay_limits_request(&l, START + MINUTE - 1, &wait_s), LIMITS_TOO_MANY);
    CHECK_INT(wait_s, 1);
    /* A client that waits as long as required is let in. */
    CHECK_INT(replay_limits_request(&l, at + 45000, &wait_s), 0);
    CHECK_INT(replay_limits_used(&l, at + 45000), 0);
    /* One request that is too heavy for what is left. */
    CHECK_INT(replay_limits_charge(&l, at + 45000, LIMITS_WEIGHT - 1, &wait_s), 0);
    CHECK_INT(replay_limits_request(&l, at + 45000, &wait_s), 0);
    CHECK_INT(replay_limits_charge(&l, at + 45000, 2, &wait_s), LIMITS_TOO_MANY);
    CHECK_INT(l.bans, 0);
}

/* Continues despite Retry-After until it is banned; returns the ban's length. */
static int64_t provoke(struct limits *l, int64_t at)
{
    int64_t wait_s = 0;
    int status = replay_limits_charge(l, at, LIMITS_WEIGHT + 1, &wait_s);
    CHECK_INT(status, LIMITS_TOO_MANY);
    for (int i = 1; i < LIMITS_IGNORED; i++)
        CHECK_INT(replay_limits_request(l, at + i, &wait_s), LIMITS_TOO_MANY);
    CHECK_INT(replay_limits_request(l, at + 100, &wait_s), LIMITS_BANNED);
    int64_t ban_s = wait_s;
    CHECK_INT(replay_limits_attempt(l, at + 101, &wait_s), LIMITS_BANNED);
    CHECK_INT(replay_limits_request(l, at + 100 + ban_s * 1000 - 1, &wait_s), LIMITS_BANNED);
    CHECK_INT(wait_s, 1);
    CHECK_INT(replay_limits_request(l, at + 100 + ban_s * 1000, &wait_s), 0);
    return ban_s;
}

static void test_bans(void)
{
    struct limits l = {0};
    int64_t at = START, want_s = LIMITS_BAN_S;
    for (int i = 0; i < 15; i++) {
        int64_t ban_s = provoke(&l, at);
        CHECK_INT(ban_s, want_s);
        want_s = want_s * 2 < LIMITS_BAN_MAX_S ? want_s * 2 : LIMITS_BAN_MAX_S;
        at += (ban_s / 60 + 2) * MINUTE;
    }
    CHECK_INT(want_s, LIMITS_BAN_MAX_S);
    int64_t wait_s;
    replay_limits_ban(&l, at, 60000);
    replay_limits_ban(&l, at, 1000); /* a shorter one does not end it */
    CHECK_INT(replay_limits_attempt(&l, at + 59000, &wait_s), LIMITS_BANNED);
    CHECK_INT(wait_s, 1);
    CHECK_INT(replay_limits_attempt(&l, at + 60000, &wait_s), 0);
}

static void test_counts(void)
{
    struct limits l = {0};
    int64_t wait_s = 0, five = START / (5 * MINUTE) * (5 * MINUTE);
    for (int i = 0; i < LIMITS_ATTEMPTS; i++)
        CHECK_INT(replay_limits_attempt(&l, five + i, &wait_s), 0);
    CHECK_INT(replay_limits_attempt(&l, five + 1000, &wait_s), LIMITS_TOO_MANY);
    CHECK_INT(wait_s, 299);
    CHECK_INT(replay_limits_request(&l, five + 1000, &wait_s), 0); /* REST is counted apart */
    CHECK_INT(replay_limits_attempt(&l, five + 5 * MINUTE, &wait_s), 0);
    for (int i = 1; i < LIMITS_REQUESTS; i++)
        CHECK_INT(replay_limits_request(&l, five + 2000, &wait_s), 0);
    CHECK_INT(replay_limits_request(&l, five + 2000, &wait_s), LIMITS_TOO_MANY);
    CHECK_INT(wait_s, 298);
    CHECK_INT(replay_limits_request(&l, five + 5 * MINUTE, &wait_s), 0);
}

/* Others than the venue's. */
static void test_set(void)
{
    struct limits l = {0};
    int64_t wait_s = 0;
    CHECK(replay_limits_weight(&l) == LIMITS_WEIGHT && replay_limits_requests(&l) == LIMITS_REQUESTS);
    CHECK(replay_limits_set(&l, "weight=10") && replay_limits_set(&l, "requests=4") &&
          replay_limits_set(&l, "connections=1"));
    CHECK(replay_limits_weight(&l) == 10 && replay_limits_requests(&l) == 4);
    CHECK_INT(replay_limits_request(&l, START, &wait_s), 0);
    CHECK_INT(replay_limits_charge(&l, START, 10, &wait_s), 0);
    CHECK_INT(replay_limits_request(&l, START, &wait_s), LIMITS_TOO_MANY);
    for (int i = 0; i < 2; i++)
        CHECK_INT(replay_limits_request(&l, START + MINUTE, &wait_s), 0);
    CHECK_INT(replay_limits_request(&l, START + MINUTE, &wait_s), LIMITS_TOO_MANY); /* the fifth */
    CHECK_INT(replay_limits_attempt(&l, START, &wait_s), 0);
    CHECK_INT(replay_limits_attempt(&l, START, &wait_s), LIMITS_TOO_MANY);
    CHECK(replay_limits_set_weight(&l, "klines=4") && replay_limits_set_weight(&l, "order=7") &&
          replay_limits_set_weight(&l, "ping=0") && replay_limits_set_weight(&l, "klines=3"));
    CHECK_INT(replay_limits_weigh(&l, "/api/v3/klines", 2), 3);
    CHECK_INT(replay_limits_weigh(&l, "/api/v3/uiKlines", 2), 2);
    CHECK_INT(replay_limits_weigh(&l, "/api/v3/ping", 1), 0);
    CHECK_INT(replay_limits_weigh(&l, "/api/v3/order", 0), 0);
    static const char *const wrong[] = {"",
                                        "=",
                                        "weight",
                                        "weight=",
                                        "=5",
                                        "klines=-1",
                                        "klines=1.5",
                                        "klines=x",
                                        "klines=9999999999",
                                        "v3/klines=1",
                                        "aaaaaaaaaaaaaaaaaaaaaaaa=1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!replay_limits_set_weight(&l, wrong[i]) && !replay_limits_set(&l, wrong[i]));
    CHECK(!replay_limits_set(&l, "weight=0") && !replay_limits_set(&l, "klines=4"));
    CHECK_INT(l.n_weights, 3);
    for (char name[] = "a=1"; l.n_weights < LIMITS_WEIGHTS_MAX; name[0]++)
        CHECK(replay_limits_set_weight(&l, name));
    CHECK(!replay_limits_set_weight(&l, "one-more=1") && replay_limits_set_weight(&l, "klines=5"));
}

int main(void)
{
    test_set();
    test_weight();
    test_bans();
    test_counts();
    return check_done("limits");
}
