/* The outcome that Binance's account reports of each fault of an order, an event, a connection or an address,
 * in papertape-replay. Usage: test PAPERTAPE_REPLAY */
#include "tests/net/binance_account.h"

enum { ASKS_MAX = 1000 };

/* A turn of the loop, of at most TURN_MS. */
static void loop_turns(void)
{
    uv_timer_t timer;
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, loop_turn, TURN_MS, 0);
    uv_run(&loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_NOWAIT);
}

static void test_order_fault(const char *fault, bool websocket, enum venue_outcome outcome, int code,
                             bool done)
{
    static struct client patient, hasty;
    static const struct how wait = {"any", "any", false, 0, false};
    const bool lost = code == 0 && outcome == VENUE_UNKNOWN;
    const struct how hurry = {"any", "any", websocket, lost && websocket ? 500 : 0, false};
    start("--fault", fault);
    const struct order order = resting();
    memset(&patient, 0, sizeof(patient));
    memset(&hasty, 0, sizeof(hasty));
    open_client(&patient, &wait);
    open_client(&hasty, &hurry);
    wait_up(&hasty);
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof(id), "well-%d", i);
        CHECK_INT(place(&patient, &order, id), VENUE_DONE);
    }
    enum venue_outcome got = place(&hasty, &order, "hit");
    if (got != outcome)
        fprintf(stderr, "%s: %s, not %s: %s\n", fault, venue_outcome_name(got), venue_outcome_name(outcome),
                kept.text);
    CHECK_INT(got, outcome);
    CHECK_INT(kept.a.code, code);
    if (outcome == VENUE_UNKNOWN)
        CHECK_INT(kept.a.settled_ns, server_ns / NS_PER_MS * NS_PER_MS + 15000 * NS_PER_MS);
    if (strncmp(fault, "order:late", 10) == 0)
        UNTIL(&patient, saw(&patient, "hit"));
    CHECK_INT(query(&patient, "hit"), done ? VENUE_DONE : VENUE_ABSENT);
    CHECK_INT(open_orders(&patient), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, done ? 4 : 3);
    CHECK_INT(place(&patient, &order, "after"), VENUE_DONE);
    /* A second one while the first lives is refused by the venue. */
    CHECK_INT(place(&patient, &order, "hit"), done ? VENUE_EXISTS : VENUE_DONE);
    close_client(&patient);
    close_client(&hasty);
    stop();
}

static void test_order_faults(void)
{
    static const struct {
        const char *fault;
        enum venue_outcome outcome;
        int code;
        bool done;
    } cases[] = {
        {"order:lost-request", VENUE_UNKNOWN, 0, false}, {"order:lost-answer", VENUE_UNKNOWN, 0, true},
        {"order:5xx-done", VENUE_UNKNOWN, -1007, true},  {"order:5xx-not-done", VENUE_UNKNOWN, -1007, false},
        {"order:twice", VENUE_EXISTS, -2010, true},      {"order:late:500ms", VENUE_UNKNOWN, -1007, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int websocket = 0; websocket < 2; websocket++)
            test_order_fault(cases[i].fault, websocket, cases[i].outcome, cases[i].code, cases[i].done);
}

/* Of every four events one is missing, doubled or late: all else comes, as it is. */
static void test_user_fault(const char *fault, size_t orders, size_t balances)
{
    static struct client c;
    static const struct how how = {"any", "any", false, 0, false};
    start("--fault", fault);
    const struct order order = resting();
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof(id), "user-%d", i);
        CHECK_INT(place(&c, &order, id), VENUE_DONE);
    }
    UNTIL(&c, c.n_orders >= orders && c.n_balances >= balances);
    CHECK_INT(c.n_orders, orders);
    CHECK_INT(c.n_balances, balances);
    for (size_t i = 0; i < c.n_orders; i++)
        CHECK(c.orders[i].symbol == &symbols[0] && c.orders[i].state == VENUE_ORDER_NEW);
    CHECK_INT(c.downs, 0);
    close_client(&c);
    stop();
}

static void test_wipe(void)
{
    static struct client c;
    static const struct how how = {"any", "any", false, 0, false};
    start("--fault", "user:drop");
    const struct order order = resting();
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    CHECK_INT(place(&c, &order, "w-1"), VENUE_DONE);
    post_fault("wipe");
    for (int i = 0; i < ASKS_MAX && query(&c, "w-1") == VENUE_DONE; i++) /* till its next beat */
        loop_turns();
    CHECK_INT(kept.a.outcome, VENUE_ABSENT);
    CHECK_INT(open_orders(&c), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 0);
    close_client(&c);
    stop();
}

/* The address is limited or banned: it is reported, nothing more is sent, and user data waits too. */
static void test_limits(const char *fault, int64_t least_s)
{
    static struct client c;
    static const struct how how = {"any", "any", false, 0, false};
    start("--fault", "user:drop");
    const struct order order = resting();
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    post_fault(fault);
    const int64_t before_ns = clock_wall_ns();
    CHECK_INT(place(&c, &order, "l-1"), VENUE_NOT_SENT);
    CHECK(kept.a.retry_ms > clock_now_ms());
    CHECK_INT(c.bans, 1);
    CHECK(c.banned_ns >= before_ns + least_s * 1000000000);
    const uint64_t sent = venue->accounts->status(c.account)->sent;
    CHECK_INT(query(&c, "l-1"), VENUE_NOT_SENT);
    CHECK(kept.a.retry_ms > clock_now_ms());
    CHECK_INT(venue->accounts->status(c.account)->sent, sent);
    close_client(&c);
    stop();
}

/* A ban of before the start, and one that another part met; and nothing listens: no byte can have left. */
static void test_not_sent(void)
{
    static struct client c;
    static const struct how how = {"any", "any", false, 0, false};
    static const struct how banned = {"any", "any", false, 0, true};
    start("--fault", "user:drop");
    const struct order order = resting();
    memset(&c, 0, sizeof(c));
    open_client(&c, &banned);
    CHECK_INT(place(&c, &order, "n-0"), VENUE_NOT_SENT);
    CHECK(kept.a.retry_ms > clock_now_ms() + 3000 * 1000LL);
    CHECK_INT(venue->accounts->status(c.account)->attempts, 0);
    CHECK_INT(venue->accounts->status(c.account)->sent, 0);
    close_client(&c);
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    venue->accounts->hold(c.account, clock_wall_ns() + 3600 * 1000000000LL, "banned elsewhere");
    CHECK_INT(place(&c, &order, "n-1"), VENUE_NOT_SENT);
    CHECK_STR(kept.text, "banned elsewhere");
    CHECK_INT(c.bans, 0);
    close_client(&c);
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    wait_up(&c);
    int status = -1;
    kill(replay.pid, SIGTERM);
    CHECK(waitpid(replay.pid, &status, 0) == replay.pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    UNTIL(&c, c.link != VENUE_UP);
    CHECK_INT(c.downs, 1);
    CHECK_INT(place(&c, &order, "n-2"), VENUE_NOT_SENT);
    CHECK(kept.a.retry_ms > 0);
    CHECK_INT(query(&c, "n-2"), VENUE_NOT_SENT);
    close_client(&c);
    venue->stream_destroy(stream);
    loop_end(&loop, net);
    fclose(replay.out);
    unlink(replay.ca_file);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    program = argv[1];
    signal(SIGPIPE, SIG_IGN);
    test_order_faults();
    test_user_fault("user:drop", 2, 3);
    test_user_fault("user:dup", 4, 3);
    test_user_fault("user:reorder", 3, 3);
    test_wipe();
    test_limits("429:30s", 0);
    test_limits("418:60s", 0);
    test_not_sent();
    return check_done("net binance_account_faults");
}
