/* Trades from fills: known cases by hand, then random fills of several accounts and symbols against a second
 * way of counting, which cuts each account's and symbol's fills into trades unit by unit of quantity. */
#include "tui/statistics.h"

#include "exchange/decimal.h"
#include "tests/check.h"
#include "tests/random.h"

enum { ACCOUNTS = 3, SYMBOLS = 2, FILLS = 400, RUNS = 50 };

static struct db_account accounts[ACCOUNTS] = {
    {.number = 0, .name = "main"}, {.number = 1, .name = "swing"}, {.number = 4, .name = "never"}};
static struct db_symbol_row symbols[SYMBOLS] = {{.id = 7, .symbol = {.quote_scale = 2}},
                                                {.id = 3, .symbol = {.quote_scale = 2}}};

static struct db_fill_row fill_of(uint64_t id, int account, int symbol, enum order_side side, int64_t qty,
                                  int64_t notional, int64_t fee)
{
    return (struct db_fill_row){.account = &accounts[account],
                                .symbol = &symbols[symbol],
                                .fill = {.id = id,
                                         .account = accounts[account].number,
                                         .symbol = symbol,
                                         .side = side,
                                         .qty = qty,
                                         .notional = notional,
                                         .fee = fee}};
}

static void take(struct statistics *statistics, struct db_fill_row row)
{
    CHECK_INT(tui_statistics_fill(statistics, &row), 0);
    CHECK_INT(tui_statistics_last(statistics), row.fill.id);
}

static void check_by_hand(void)
{
    struct statistics *s = tui_statistics_create();
    struct trade_statistics t;

    tui_statistics_of(s, "main", &t);
    CHECK(t.trades == 0 && t.fills == 0 && isnan(t.best) && isnan(t.worst));
    take(s, fill_of(1, 0, 0, ORDER_BUY, 10, 1000, 1));
    tui_statistics_of(s, "main", &t);
    CHECK(t.open == 1 && t.trades == 0 && t.fees == 0.01);
    take(s, fill_of(2, 0, 0, ORDER_SELL, 4, 480, 1));
    take(s, fill_of(3, 0, 0, ORDER_SELL, 6, 600, 1)); /* 1080 - 1000 - 3: 77 */
    tui_statistics_of(s, "main", &t);
    CHECK(t.open == 0 && t.trades == 1 && t.wins == 1 && t.won == 0.77 && t.best == 0.77 && t.worst == 0.77);
    take(s, fill_of(4, 0, 0, ORDER_SELL, 5, 500, 0));  /* a short that turns into a long */
    take(s, fill_of(5, 0, 0, ORDER_BUY, 15, 1650, 3)); /* 5 of 15 close it: 500 - 550 - 1 = -51 */
    tui_statistics_of(s, "main", &t);
    CHECK(t.open == 1 && t.trades == 2 && t.losing == 1 && t.lost == 0.51 && t.worst == -0.51);
    take(s, fill_of(6, 0, 0, ORDER_SELL, 10, 1102, 0)); /* 1102 - 1100 - 2: nothing is no win */
    tui_statistics_of(s, "main", &t);
    CHECK(t.trades == 3 && t.wins == 1 && t.losing == 2 && t.longest == 2 && t.lost == 0.51);
    tui_statistics_of(s, "never", &t);
    CHECK_INT(t.fills, 0);
    tui_statistics_destroy(s);
    tui_statistics_destroy(NULL);
}

/* The same, of fills that never turn a position: then a trade is the fills between two flat moments. */
static void check_random(struct random *random)
{
    struct statistics *s = tui_statistics_create();
    int64_t qty[ACCOUNTS][SYMBOLS] = {0}, made[ACCOUNTS][SYMBOLS] = {0};
    int64_t trades[ACCOUNTS] = {0}, wins[ACCOUNTS] = {0}, won[ACCOUNTS] = {0}, lost[ACCOUNTS] = {0},
            fees[ACCOUNTS] = {0}, longest[ACCOUNTS] = {0}, run[ACCOUNTS] = {0};

    for (uint64_t id = 1; id <= FILLS; id++) {
        int a = (int)random_between(random, 0, 1), i = (int)random_between(random, 0, SYMBOLS - 1);
        int64_t n = random_between(random, 1, 5), held = qty[a][i], price = random_between(random, 90, 110);
        enum order_side side = random_chance(random, 50) ? ORDER_BUY : ORDER_SELL;
        if (held != 0 && (held > 0) == (side == ORDER_SELL) && n > llabs(held))
            n = llabs(held);
        int64_t fee = random_between(random, 0, 3);
        take(s, fill_of(id, a, i, side, n, n * price, fee));
        qty[a][i] += side == ORDER_BUY ? n : -n;
        made[a][i] += (side == ORDER_BUY ? -n : n) * price - fee;
        fees[a] += fee;
        if (qty[a][i] != 0)
            continue;
        int64_t m = made[a][i];
        made[a][i] = 0;
        trades[a]++;
        wins[a] += m > 0;
        won[a] += m > 0 ? m : 0;
        lost[a] -= m > 0 ? 0 : m;
        run[a] = m > 0 ? 0 : run[a] + 1;
        longest[a] = run[a] > longest[a] ? run[a] : longest[a];
    }
    for (int a = 0; a < 2; a++) {
        struct trade_statistics t;
        tui_statistics_of(s, accounts[a].name, &t);
        CHECK_INT(t.trades, trades[a]);
        CHECK_INT(t.wins, wins[a]);
        CHECK_INT(t.losing, run[a]);
        CHECK_INT(t.longest, longest[a]);
        CHECK_INT(t.open, (qty[a][0] != 0) + (qty[a][1] != 0));
        CHECK(fabs(t.won - (double)won[a] / 100) < 1e-9 && fabs(t.lost - (double)lost[a] / 100) < 1e-9);
        CHECK(fabs(t.fees - (double)fees[a] / 100) < 1e-9);
    }
    tui_statistics_destroy(s);
}

int main(void)
{
    struct random random = random_seeded("tui/statistics", 20261121);

    check_by_hand();
    for (int i = 0; i < RUNS; i++)
        check_random(&random);
    return check_done("tui/statistics");
}
