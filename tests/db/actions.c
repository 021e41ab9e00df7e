/* Splits and dividends in the record: what the engine books of them verifies and recovers, for a long and for
 * a short, fractions and all; what it should have booked and did not, or books and should not, is named. */
#include <errno.h>

#include "db/recover.h"
#include "db/verify.h"
#include "engine/split.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

#define UNIT FIXTURE_UNIT

static const struct db_writer_config config = {0};

/* What is left out, or done otherwise, of the record. */
enum fault {
    NOTHING,
    NO_SPLIT_ROW,
    SPLIT_TOO_MUCH,
    NO_ACTION,
    NO_LOAN_ROW,
    DIVIDEND_TOO_MUCH,
    NO_DIVIDEND_ROW,
    DIVIDEND_OF_SHORT_TOO_MUCH,
    POSITION_AS_BEFORE,
    EXIT_TOO_MUCH,
    FAULTS,
};

static const char *const found[FAULTS] = {
    [NOTHING] = "",
    [NO_SPLIT_ROW] =
        "corporate_actions: row 1: the ledger has no split of 500000003 BTC of account main, as it asks for",
    [SPLIT_TOO_MUCH] =
        "corporate_actions: row 1: the ledger has no split of 500000003 BTC of account main, as it asks for",
    [NO_ACTION] = "orders: row 4: exits of order 3 traded 600000000, more than the 400000000 that it did",
    [NO_LOAN_ROW] = "corporate_actions: row 1: the ledger has no borrow of 100000000 BTC of account short, "
                    "as it asks for",
    [DIVIDEND_TOO_MUCH] = "corporate_actions: row 2: the ledger has no dividend of 360000002 USDT of account "
                          "main, as it asks for",
    [NO_DIVIDEND_ROW] = "corporate_actions: row 2: the ledger has no dividend of 360000002 USDT of account "
                        "main, as it asks for",
    [DIVIDEND_OF_SHORT_TOO_MUCH] =
        "ledger: row 16: no corporate action asks for a dividend of -72000001 USDT then",
    [POSITION_AS_BEFORE] = "positions: row main BTCUSDT: says quantity 400000007",
    [EXIT_TOO_MUCH] =
        "orders: row 4: exits of order 3 traded 1500000000, more than the 600000000 that it did",
};

static uint64_t put_action(struct fixture *f, const char *id, enum corporate_action_kind kind, int64_t shares,
                           int64_t per, int64_t cash)
{
    struct db_action action = {
        .symbol = 0,
        .action = {.kind = kind, .ex_ns = f->ts_ns + 1, .shares = shares, .per = per, .cash = cash},
        .input_seq = ++f->seq};
    f->ts_ns += 1000000;
    action.ts_ns = f->ts_ns;
    strcpy(action.action.id, id);
    return db_writer_put_action(f->writer, &action);
}

/* The account that sold what it had not: the same chain of the ledger, other balances. */
struct shorts {
    int64_t cash, base;
};

static void put_short(struct fixture *f, struct shorts *s)
{
    struct order order = {.id = ++f->order_id,
                          .account = 1,
                          .side = ORDER_SELL,
                          .type = ORDER_MARKET,
                          .state = ORDER_FILLED,
                          .qty = 2 * UNIT,
                          .filled = 2 * UNIT,
                          .cost = 200 * UNIT,
                          .created_ns = f->ts_ns,
                          .effective_ns = f->ts_ns,
                          .updated_ns = f->ts_ns,
                          .input_seq = ++f->seq};
    struct fill fill = {.id = ++f->fill_id,
                        .order_id = order.id,
                        .account = 1,
                        .side = ORDER_SELL,
                        .ts_ns = f->ts_ns,
                        .price = 100 * UNIT,
                        .qty = 2 * UNIT,
                        .notional = 200 * UNIT,
                        .input_seq = f->seq};
    db_writer_put_order(f->writer, &order);
    db_writer_put_fill(f->writer, &fill);
    f->account = 1;
    fixture_ledger(f, "BTC", LEDGER_BORROW, 2 * UNIT, &s->base, order.id, fill.id);
    fixture_ledger(f, "BTC", LEDGER_TRADE, -2 * UNIT, &s->base, order.id, fill.id);
    fixture_ledger(f, "USDT", LEDGER_TRADE, 200 * UNIT, &s->cash, order.id, fill.id);
    f->account = 0;
}

static void put_position(struct fixture *f, int account, int64_t qty, int64_t cost, int64_t opened_ns)
{
    struct position position = {
        .qty = qty, .cost = cost, .fifo_cost = cost, .opened_ns = opened_ns, .updated_ns = f->ts_ns};
    db_writer_put_position(f->writer, account, 0, &position);
}

/* Ten and a bit long, two short; 3 for 2; a dividend of 0.24; a bracket that begins before and ends after.
 * Ledger rows: 1 and 2 deposits, 3 to 5 the buy, 6 to 8 the short, 9 to 11 the bracket's entry. */
static void make(const char *path, enum fault fault)
{
    struct fixture f;
    struct shorts s = {0};
    struct db_writer *writer = fixture_writer(path, &config);
    fixture_open(&f, writer);
    struct db_account second = {
        .number = 1, .name = "short", .currency = "USDT", .currency_scale = 8, .created_ns = f.ts_ns};
    db_writer_put_account(writer, &second);
    f.account = 1;
    fixture_ledger(&f, "USDT", LEDGER_DEPOSIT, 1000 * UNIT, &s.cash, 0, 0);
    f.account = 0;

    struct order buy = fixture_order(&f, 0, ORDER_BUY, 100 * UNIT, 6 * UNIT + 7);
    fixture_fill(&f, &buy, 100 * UNIT, 6 * UNIT + 7);
    int64_t short_ns = f.ts_ns;
    put_short(&f, &s);
    struct order entry = fixture_order(&f, 0, ORDER_BUY, 100 * UNIT, 4 * UNIT), exit = entry;
    entry.group = exit.group = exit.parent = entry.id;
    exit.id = ++f.order_id;
    exit.side = ORDER_SELL;
    exit.state = ORDER_HELD;
    exit.price = 150 * UNIT;
    fixture_fill(&f, &entry, 100 * UNIT, 4 * UNIT);
    exit.qty = 4 * UNIT;
    exit.state = ORDER_OPEN;
    db_writer_put_order(writer, &exit);
    int64_t qty = f.positions[0].qty, cost = f.positions[0].cost;
    CHECK_INT(qty, 10 * UNIT + 7);

    /* 10.00000007 * 3 / 2 = 15.0000001 and a half unit, which is left out. */
    db_writer_group_begin(writer);
    if (fault != NO_ACTION) {
        put_action(&f, "s", ACTION_SPLIT, 3, 2, 0);
    } else {
        f.seq++;
        f.ts_ns += 1000000;
    }
    if (fault != NO_SPLIT_ROW)
        fixture_ledger(&f, "BTC", LEDGER_SPLIT, 5 * UNIT + 3 + (fault == SPLIT_TOO_MUCH), &f.base[0], 0, 0);
    const struct stock_split three_for_two = {3, 2, f.ts_ns};
    int64_t change = 0;
    bool left_out = false;
    CHECK_INT(engine_split_position(&three_for_two, &f.positions[0], &f.lots[0], f.ts_ns, &change, &left_out),
              0);
    CHECK(change == 5 * UNIT + 3 && left_out && f.positions[0].cost == cost);
    if (fault == POSITION_AS_BEFORE)
        f.positions[0].qty = qty;
    db_writer_put_position(writer, 0, 0, &f.positions[0]);
    f.account = 1;
    if (fault != NO_LOAN_ROW)
        fixture_ledger(&f, "BTC", LEDGER_BORROW, UNIT, &s.base, 0, 0);
    else
        s.base += UNIT;
    fixture_ledger(&f, "BTC", LEDGER_SPLIT, -UNIT, &s.base, 0, 0);
    put_position(&f, 1, -3 * UNIT, 200 * UNIT, short_ns);
    f.account = 0;
    exit.qty = 6 * UNIT;
    exit.price = 100 * UNIT;
    exit.updated_ns = f.ts_ns;
    db_writer_put_order(writer, &exit);
    db_writer_group_end(writer);

    /* 15.0000001 * 0.24 = 3.600000024; of the short 3 * 0.24 = 0.72. */
    db_writer_group_begin(writer);
    put_action(&f, "d", ACTION_DIVIDEND, 0, 0, 240000000);
    if (fault != NO_DIVIDEND_ROW)
        fixture_ledger(&f, "USDT", LEDGER_DIVIDEND, 360000002 + (fault == DIVIDEND_TOO_MUCH), &f.cash, 0, 0);
    f.account = 1;
    fixture_ledger(&f, "USDT", LEDGER_DIVIDEND, -72000000 - (fault == DIVIDEND_OF_SHORT_TOO_MUCH), &s.cash, 0,
                   0);
    f.account = 0;
    db_writer_group_end(writer);

    /* The exit, in new shares; one that trades more than its entry is worth. */
    exit.qty = fault == EXIT_TOO_MUCH ? 15 * UNIT : 6 * UNIT;
    fixture_fill(&f, &exit, 100 * UNIT, exit.qty);
    fixture_close(writer);
}

static void check(const char *path, const char *words)
{
    struct db_reader *reader = fixture_reader(path);
    struct db_verified *verified = NULL;
    CHECK_INT(db_verify(reader, &verified), 0);
    const char *failure = verified->n_failures ? verified->failures[0] : "";
    check_count++;
    if (strncmp(failure, words, *words ? strlen(words) : sizeof verified->failures[0]) != 0) {
        fprintf(stderr, "found: %s\nto be found: %s\n", failure, words);
        check_failures++;
    }
    db_verified_destroy(verified);
    db_reader_close(reader);
}

static void recover(const char *path)
{
    struct symbol symbols[FIXTURE_SYMBOLS] = {fixture_symbol(1), fixture_symbol(0)};
    struct db_recovered *r = NULL;
    char err[DB_ERROR_MAX] = "";
    strcpy(symbols[1].venue, "binance");
    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_recover(reader, symbols, FIXTURE_SYMBOLS, &r, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK_INT(r->n_actions, 2);
    CHECK_STR(r->actions[0].id, "s");
    CHECK_STR(r->actions[1].id, "d");
    CHECK_INT(r->actions[0].symbol, 1);
    CHECK_INT(r->n_positions, 2);
    CHECK_INT(r->positions[0].position.qty, 9 * UNIT + 10);
    CHECK_INT(r->positions[1].position.qty, -3 * UNIT);
    CHECK_INT(r->positions[1].lots.n - r->positions[1].lots.first, 1);
    CHECK_INT(r->positions[1].lots.lots[r->positions[1].lots.first].qty, 3 * UNIT);
    for (size_t i = 0; i < r->n_balances; i++)
        if (r->balances[i].account == 1 && strcmp(r->balances[i].asset, "BTC") == 0) {
            CHECK_INT(r->balances[i].total, 0);
            CHECK_INT(r->balances[i].borrowed, 3 * UNIT);
        }
    db_recovered_destroy(r);

    /* The same name, of another venue: nothing is held of that one. */
    strcpy(symbols[1].venue, "binance-us");
    CHECK_INT(db_recover(reader, symbols, FIXTURE_SYMBOLS, &r, err, sizeof err), -ENOENT);
    CHECK(strstr(err, "BTCUSDT: there is a position of it") != NULL);
    db_reader_close(reader);
}

int main(void)
{
    for (int fault = 0; fault < FAULTS; fault++) {
        char name[32];
        snprintf(name, sizeof name, "%d.db", fault);
        const char *path = scratch_path(name);
        make(path, (enum fault)fault);
        check(path, found[fault]);
        if (fault == NOTHING)
            recover(path);
    }
    return check_done("db/actions");
}
