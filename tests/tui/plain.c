/* Which lines of the log --plain says: those that are newer than what it said, each once; and that more of a
 * kind happened than the log has room for. And the words of a command's line: which number is what;
 * and a price's digits. */
#include "tui/plain.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tui/history_reader.h"

enum { ROUNDS = 300 };

static struct history h;

static void put(const char *kind, int n, int64_t first_ns, int64_t step_ns)
{
    for (int i = 0; i < n; i++) {
        struct history_log *entry = &h.log[h.n_log++];
        *entry = (struct history_log){.ts_ns = first_ns - i * step_ns, .id = n - i};
        strcpy(entry->kind, kind);
    }
}

static int newer(const void *a, const void *b)
{
    int64_t at = ((const struct history_log *)a)->ts_ns, bt = ((const struct history_log *)b)->ts_ns;

    return at > bt ? -1 : at < bt;
}

/* What happens, each line at a moment of its own or with the one before, in portions: each line is said once,
 * unless the window had no room for it, which is said then. */
static void check_each_once(struct random *source)
{
    static const char *const kinds[] = {"order", "alert", "command"};
    static const int most[] = {HISTORY_LOG_ORDERS, HISTORY_LOG_OTHERS, HISTORY_LOG_OTHERS};
    enum { LINES = 1200 };
    static int64_t when[LINES];
    static int kind[LINES];
    int happened = 0, said_lines = 0, said = 0, lost = 0;
    int64_t said_ns = 0;

    while (happened < LINES - 200) {
        int portion = (int)random_between(source, 0, random_chance(source, 20) ? 190 : 20);
        int64_t start = happened ? when[happened - 1] : 1; /* others of the last moment may still come */
        for (int i = 0; i < portion; i++, happened++) {
            start += random_between(source, 0, 2);
            when[happened] = start;
            kind[happened] = (int)random_between(source, 0, 2);
        }
        int n[3] = {0}, of_then = 0;
        h.n_log = 0;
        for (int i = happened - 1; i >= 0; i--)
            if (n[kind[i]]++ < most[kind[i]]) {
                struct history_log *entry = &h.log[h.n_log++];
                entry->ts_ns = when[i];
                strcpy(entry->kind, kinds[kind[i]]);
            }
        bool more;
        int fresh = tui_plain_fresh(&h, said_ns, said, &more);
        said_lines += fresh;
        CHECK(fresh <= portion && (more || fresh == portion));
        lost += portion - fresh;
        said_ns = h.n_log ? h.log[0].ts_ns : 0;
        for (int i = 0; i < h.n_log && h.log[i].ts_ns == said_ns; i++)
            of_then++;
        said = of_then;
    }
    CHECK_INT(said_lines + lost, happened);
}

static void check_command(const char *cmd, uint64_t order, const char *args, const char *expected)
{
    struct history_log line;
    const struct db_command row = {
        .id = 1, .peer_uid = 5, .cmd = cmd, .args = args, .state = DB_COMMAND_DONE, .order_id = order};

    tui_history_log_command(&row, &line);
    CHECK_STR(line.text, expected);
}

/* A refused price that is not a multiple of its tick is shown as it was given; others with the tick's digits.
 */
static void check_price(int64_t price, int expected)
{
    const struct db_symbol_row symbol = {
        .symbol = {
            .name = "BTCUSDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8, .filters.tick = 1000000}};
    const struct db_order_row row = {.order = {.id = 1, .price = price}, .symbol = &symbol};
    struct status_order order;

    tui_history_take_order(&row, &order);
    CHECK_INT(order.price_decimals, expected);
}

static void check_commands(void)
{
    check_command("amend", 19, "{\"limit\": \"2985\", \"order\": 19}",
                  "amended order 19 limit 2985 by uid 5");
    check_command("order", 26,
                  "{\"limit\": \"140\", \"account\": \"hand\", \"side\": \"buy\", \"symbol\": \"SOLUSDT\", "
                  "\"qty\": \"1\", \"reduce_only\": true}",
                  "accepted order 26: buy SOLUSDT 1 limit 140 for hand reduce_only by uid 5");
    check_command("ack", 0, "{\"alert\": 3}", "acknowledged alert 3 by uid 5");
    check_command("cancel", 4, "{\"order\": 4, \"key\": \"k\"}", "canceled order 4 by uid 5");
    check_command("cancel", 0, "{\"account\": \"hand\", \"all\": true}",
                  "canceled all orders of hand by uid 5");
    check_command("cancel", 0, "{\"all\": true}", "canceled all orders by uid 5");
    check_command("account_deposit", 0, "{\"account\": \"hand\", \"amount\": \"500.25\"}",
                  "deposited 500.25 into hand by uid 5");
    check_command("account_transfer", 0, "{\"amount\": \"7\", \"to\": \"b\", \"from\": \"a\"}",
                  "transferred 7 from a to b by uid 5");
    check_command("account_reset", 0, "{\"cash\": \"900\", \"account\": \"hand\"}",
                  "reset account hand cash 900 by uid 5");
    check_command("price_alert", 0, "{\"above\": \"70000\", \"symbol\": \"BTCUSDT\"}",
                  "price_alert above 70000 BTCUSDT by uid 5: done");
    check_command("pause", 0, "{}", "paused trading by uid 5");
}

int main(void)
{
    struct random source = random_seeded("tui/plain", 7);
    bool more;

    put("order", HISTORY_LOG_ORDERS, 1000, 1);
    CHECK_INT(tui_plain_fresh(&h, 1000, 1, &more), 0);
    CHECK(!more);
    CHECK_INT(tui_plain_fresh(&h, 1000, 0, &more), 1);
    CHECK_INT(tui_plain_fresh(&h, 902, 1, &more), HISTORY_LOG_ORDERS - 2);
    CHECK(!more); /* the one that was said last is still there */
    CHECK_INT(tui_plain_fresh(&h, 900, 1, &more), HISTORY_LOG_ORDERS);
    CHECK(more);
    put("alert", HISTORY_LOG_OTHERS - 1, 2000, 1);
    qsort(h.log, (size_t)h.n_log, sizeof(h.log[0]), newer);
    CHECK_INT(tui_plain_fresh(&h, 1000, 1, &more), HISTORY_LOG_OTHERS - 1);
    CHECK(!more);
    for (int round = 0; round < ROUNDS; round++)
        check_each_once(&source);
    check_commands();
    check_price(10800000500000, 3);
    check_price(10800001000000, 2);
    check_price(10800000000000, 2);
    return check_done("tui/plain");
}
