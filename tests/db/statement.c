/* Statements by sums done by hand: fees of the bought coin and of a third one, resets, splits, prices that
 * are missing, an account's currency that is another symbol's base, finer units, rows that do not tie; and a
 * record without its beginning. */
#include "db/books/stating.h"

#include "db/base.h"
#include "db/open.h"
#include "db/row_hash.h"
#include "tests/db/books.h"
#include "tests/db/sql.h"

enum { CENT = 100, EVENTS = 3000 };

/* ---- one account by hand ---- */

struct hand {
    struct db_statement_account into;
    struct db_stating stating;
    int64_t price, price_ns; /* 0: there is none */
    int64_t ts_ns;
    uint64_t row, fill;
};

static const struct symbol coin = {
    .name = "COINUSD", .base = "COIN", .quote = "USD", .price_scale = 2, .qty_scale = 3, .quote_scale = 2};

static int hand_mark(void *ctx, const struct db_stating *stating, const struct db_stating_holding *holding,
                     struct db_statement_mark *ret)
{
    const struct hand *hand = ctx;
    CHECK(stating == &hand->stating);
    CHECK_INT(holding->symbol, 7);
    if (hand->price > 0) {
        ret->price = hand->price;
        ret->mark_ns = hand->price_ns;
        ret->source = DB_STATEMENT_VENUE;
        ret->interval_ns = 60000000000;
    }
    return 0;
}

static void hand_open(struct hand *hand, const char *currency)
{
    *hand = (struct hand){.into = {.account = {.name = "main", .currency_scale = 2}}, .ts_ns = 1000};
    snprintf(hand->into.account.currency, sizeof hand->into.account.currency, "%s", currency);
    hand->stating = (struct db_stating){.mark = hand_mark, .ctx = hand};
    CHECK_INT(db_stating_init(&hand->stating, &hand->into), 0);
}

static void hand_close(struct hand *hand)
{
    db_stating_finish(&hand->stating);
    free(hand->into.moneys);
    free(hand->into.marks);
    free(hand->into.flows);
}

static int row(struct hand *hand, const char *asset, int scale, enum ledger_kind kind, int64_t amount,
               const struct db_stating_fill *fill)
{
    const struct db_stating_row each = {.id = ++hand->row,
                                        .ts_ns = hand->ts_ns,
                                        .asset = asset,
                                        .scale = scale,
                                        .kind = kind,
                                        .amount = amount,
                                        .fill = fill};
    return db_stating_row(&hand->stating, &each);
}

static void usd(struct hand *hand, enum ledger_kind kind, int64_t cents)
{
    hand->ts_ns++;
    CHECK_INT(row(hand, "USD", 2, kind, cents, NULL), 0);
}

/* A whole fill, in thousandths and cents. */
static void trade(struct hand *hand, enum order_side side, int64_t price, int64_t qty, int64_t fee,
                  int64_t fee_base)
{
    const int64_t notional = price * qty / 1000, sign = side == ORDER_BUY ? 1 : -1;
    const struct db_stating_fill fill = {++hand->fill, 7, &coin, side, price, qty, notional, fee_base};
    hand->ts_ns++;
    CHECK_INT(row(hand, "COIN", 3, LEDGER_TRADE, sign * qty, &fill), 0);
    CHECK_INT(row(hand, "USD", 2, LEDGER_TRADE, -sign * notional, &fill), 0);
    if (fee)
        CHECK_INT(row(hand, "USD", 2, LEDGER_FEE, -fee, &fill), 0);
    if (fee_base)
        CHECK_INT(row(hand, "COIN", 3, LEDGER_FEE, -fee_base, &fill), 0);
}

static const struct db_statement_money *money(const struct hand *hand, const char *asset)
{
    static const struct db_statement_money none;
    for (size_t i = 0; i < hand->into.n_moneys; i++)
        if (strcmp(hand->into.moneys[i].asset, asset) == 0)
            return &hand->into.moneys[i];
    return &none;
}

#define SUM(value, expected) CHECK_INT((int64_t)(value), expected)

/* 1,000 are deposited; 1.005 coins at 100 cost 100.50, of which 0.005 are the fee: 0.50. What is left, 1
 * coin, cost 100; 0.4 of it are sold at 110 for 44, with a fee of 0.05: they cost 40. */
static void test_fees_in_kind(void)
{
    struct hand hand;
    hand_open(&hand, "USD");
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    usd(&hand, LEDGER_DEPOSIT, 1000 * CENT);
    trade(&hand, ORDER_BUY, 100 * CENT, 1005, 0, 5);
    trade(&hand, ORDER_SELL, 110 * CENT, 400, 5, 0);
    usd(&hand, LEDGER_INTEREST, -7);
    usd(&hand, LEDGER_DIVIDEND, 11);
    hand.price = 120 * CENT;
    hand.price_ns = 1500;
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    const struct db_statement_money *m = money(&hand, "USD");
    SUM(m->opening, 0);
    SUM(m->deposits, 1000 * CENT);
    SUM(m->fees, 55);
    SUM(m->fees_in_kind, 50);
    SUM(m->realized, 4 * CENT);
    SUM(m->unrealized, 12 * CENT); /* 0.6 at 120 are 72, and cost 60 */
    SUM(m->interest, 7);
    SUM(m->dividends, 11);
    SUM(m->closing, 1000 * CENT + 400 + 1200 - 55 - 7 + 11);
    SUM(m->cash, m->closing - 72 * CENT);
    CHECK_INT(hand.into.n_moneys, 1);
    CHECK_INT(hand.into.n_marks, 1);
    CHECK_INT(hand.into.marks[0].mark_ns, 1500);
    CHECK_INT(hand.into.marks[0].qty, 600);
    SUM(hand.into.marks[0].value, 72 * CENT);
    hand_close(&hand);
}

/* The fee's value is rounded up, as fees are, and never is more than the notional. */
static void test_fee_rounding(void)
{
    struct hand hand;
    hand_open(&hand, "USD");
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    usd(&hand, LEDGER_DEPOSIT, CENT);
    trade(&hand, ORDER_BUY, 333, 101, 0, 1); /* 0.00333 are a cent */
    trade(&hand, ORDER_BUY, 9, 90, 0, 80);   /* 0.0081 are nothing, and so is its fee's value */
    hand.price = 333;
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    SUM(money(&hand, "USD")->fees, 1);
    hand_close(&hand);
}

/* A fee in a third asset is that one's, and so is what was deposited for it. */
static void test_fee_apart(void)
{
    struct hand hand;
    hand_open(&hand, "USD");
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    usd(&hand, LEDGER_DEPOSIT, 200 * CENT);
    trade(&hand, ORDER_BUY, 100 * CENT, 1000, 0, 0);
    const struct db_stating_fill fill = {hand.fill, 7, &coin, ORDER_BUY, 100 * CENT, 1000, 100 * CENT, 0};
    CHECK_INT(row(&hand, "TOKEN", 8, LEDGER_DEPOSIT, 30, NULL), 0);
    CHECK_INT(row(&hand, "TOKEN", 8, LEDGER_FEE, -30, &fill), 0);
    hand.price = 100 * CENT;
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    SUM(money(&hand, "USD")->fees, 0);
    SUM(money(&hand, "TOKEN")->fees, 30);
    SUM(money(&hand, "TOKEN")->deposits, 30);
    SUM(money(&hand, "TOKEN")->closing, 0);
    CHECK_INT(money(&hand, "TOKEN")->scale, 8);
    hand_close(&hand);
}

/* The same money in finer units later: all of it is in them. */
static void test_finer(void)
{
    struct hand hand;
    hand_open(&hand, "USD");
    usd(&hand, LEDGER_DEPOSIT, 5);
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    CHECK_INT(row(&hand, "USD", 4, LEDGER_DEPOSIT, 1, NULL), 0);
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    CHECK_INT(money(&hand, "USD")->scale, 4);
    SUM(money(&hand, "USD")->opening, 500);
    SUM(money(&hand, "USD")->closing, 501);
    hand_close(&hand);
}

/* A short of 1 at 100 before the period, at 90 when it begins; reset at 95 to 500. */
static void test_reset(void)
{
    struct hand hand;
    hand_open(&hand, "USD");
    usd(&hand, LEDGER_DEPOSIT, 1000 * CENT);
    trade(&hand, ORDER_SELL, 100 * CENT, 1000, 10, 0);
    hand.price = 90 * CENT;
    CHECK_INT(db_stating_begin(&hand.stating, 1100), 0);
    hand.price = 95 * CENT;
    usd(&hand, LEDGER_RESET, -1100 * CENT + 10);
    CHECK_INT(row(&hand, "COIN", 3, LEDGER_BORROW, -1000, NULL), 0);
    CHECK_INT(row(&hand, "USD", 2, LEDGER_DEPOSIT, 500 * CENT, NULL), 0);
    usd(&hand, LEDGER_DEPOSIT, CENT);
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    const struct db_statement_money *m = money(&hand, "USD");
    SUM(m->opening, 1100 * CENT - 10 - 90 * CENT);
    SUM(m->unrealized, -5 * CENT);
    SUM(m->realized, 0);
    SUM(m->resets, 500 * CENT - (1100 * CENT - 10 - 95 * CENT));
    SUM(m->deposits, CENT);
    SUM(m->fees, 0); /* it was before */
    SUM(m->closing, 501 * CENT);
    CHECK_INT(hand.into.n_flows, 3);
    CHECK(hand.into.flows[1].of_reset && hand.into.flows[0].kind == LEDGER_RESET);
    CHECK(!hand.into.flows[2].of_reset);
    CHECK_INT(hand.into.n_marks, 2);
    CHECK_INT(hand.into.marks[1].moment, DB_STATEMENT_RESET);
    SUM(hand.into.marks[1].cost, -100 * CENT);
    hand_close(&hand);
}

/* Without a bar the account's own last fill is the mark, in the shares of now: 3 for 2 make 1 coin 1.5. What
 * a split makes nothing of is lost. */
static void test_splits(void)
{
    static const struct db_stating_split splits[] = {{7, 1004, {3, 2, 1003}}, {7, 1005, {1, 100000, 1005}}};
    struct hand hand;
    hand_open(&hand, "USD");
    hand.stating.splits = splits;
    hand.stating.n_splits = 2;
    usd(&hand, LEDGER_DEPOSIT, 200 * CENT);
    trade(&hand, ORDER_BUY, 90 * CENT, 1000, 0, 0);
    hand.ts_ns = 1004;
    CHECK_INT(row(&hand, "COIN", 3, LEDGER_SPLIT, 501, NULL), -EBADMSG); /* none makes that of it */
    CHECK_INT(row(&hand, "COIN", 3, LEDGER_SPLIT, 500, NULL), 0);
    CHECK_INT(db_stating_begin(&hand.stating, 1005), 0);
    CHECK_INT(hand.into.marks[0].source, DB_STATEMENT_FILL);
    CHECK_INT(hand.into.marks[0].price, 60 * CENT);
    SUM(money(&hand, "USD")->opening, 200 * CENT);
    hand.ts_ns = 1005;
    CHECK_INT(row(&hand, "COIN", 3, LEDGER_SPLIT, -1500, NULL), 0);
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    SUM(money(&hand, "USD")->realized, -90 * CENT);
    SUM(money(&hand, "USD")->closing, 110 * CENT);
    hand_close(&hand);
}

/* A coin that is the account's currency: what is sold of it is exchanged, and its balance is what it has. */
static void test_exchanged(void)
{
    struct hand hand;
    hand_open(&hand, "COIN");
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    CHECK_INT(row(&hand, "COIN", 3, LEDGER_DEPOSIT, 5000, NULL), 0);
    trade(&hand, ORDER_SELL, 100 * CENT, 2000, 20, 0);
    hand.price = 101 * CENT;
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    SUM(money(&hand, "COIN")->exchanged, -2000);
    SUM(money(&hand, "COIN")->closing, 3000);
    SUM(money(&hand, "USD")->cash, 200 * CENT - 20);
    SUM(money(&hand, "USD")->unrealized, -2 * CENT);
    hand_close(&hand);
}

/* What has no price is not valued, and what needs it is not known; it is none of what came before. */
static void test_unpriced(void)
{
    struct position position = {.qty = 1000, .cost = 70 * CENT, .fifo_cost = 70 * CENT, .opened_ns = 5};
    const struct lot lot = {1000, 70 * CENT, 5};
    struct lots lots = {0};
    struct hand hand;
    hand_open(&hand, "USD");
    CHECK_INT(position_lots_push(&lots, &lot), 0);
    CHECK_INT(db_stating_base_cash(&hand.stating, "USD", 2, 50 * CENT), 0);
    CHECK_INT(db_stating_base_cash(&hand.stating, "COIN", 3, 1000), 0);
    CHECK_INT(db_stating_base_position(&hand.stating, 7, &coin, &position, &lots), 0);
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    hand.price = 80 * CENT;
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    const struct db_statement_money *m = money(&hand, "USD");
    CHECK(m->no_opening && !m->no_closing && !m->no_reset);
    CHECK_INT(hand.into.marks[0].source, DB_STATEMENT_NONE);
    CHECK_INT(hand.into.n_moneys, 1); /* the coins are a position, and no cash */
    const struct db_statements statement = {.accounts = &hand.into, .n_accounts = 1};
    json_t *object = db_statement_json(&statement),
           *one = json_array_get(json_object_get(object, "accounts"), 0);
    CHECK(json_is_null(json_object_get(one, "opening")));
    CHECK(json_is_null(json_object_get(one, "unrealized_change")));
    CHECK(json_is_null(json_object_get(json_array_get(json_object_get(one, "marks"), 0), "mark")));
    CHECK_STR(json_string_value(json_object_get(one, "closing")), "130.00");
    CHECK_STR(json_string_value(json_object_get(one, "opening_cash")), "50.00");
    json_decref(object);
    hand_close(&hand);
}

/* A ledger that booked another amount than the fill says does not tie. */
static void test_untied(void)
{
    struct hand hand;
    hand_open(&hand, "USD");
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    usd(&hand, LEDGER_DEPOSIT, 1000 * CENT);
    const struct db_stating_fill fill = {1, 7, &coin, ORDER_BUY, 100 * CENT, 1000, 100 * CENT, 0};
    CHECK_INT(row(&hand, "COIN", 3, LEDGER_TRADE, 1000, &fill), 0);
    CHECK_INT(row(&hand, "USD", 2, LEDGER_TRADE, -99 * CENT, &fill), 0);
    hand.price = CENT;
    CHECK_INT(db_stating_end(&hand.stating, 2000), -EBADMSG);
    hand_close(&hand);
}

static struct db_stating_receivable receivable(uint64_t id, int64_t ts_ns,
                                               enum db_stating_receivable_kind kind, int64_t amount,
                                               uint64_t booked, uint64_t ledger_id)
{
    return (struct db_stating_receivable){.id = id,
                                          .ts_ns = ts_ns,
                                          .kind = kind,
                                          .asset = "USD",
                                          .scale = 2,
                                          .withheld = amount > 0 && !booked ? 15 : 0,
                                          .amount = amount,
                                          .booked = booked,
                                          .ledger_id = ledger_id};
}

/* 85 of 100 are booked at 1001, and paid at 1003; of what a short has to pay, 50, 20 are paid; 30 are booked
 * and reset; 7 are paid at once, of which 15 are withheld. */
static void receivables_of(struct hand *hand)
{
    const struct db_stating_receivable rows[] = {receivable(1, 1001, DB_STATING_BOOKED, 85, 0, 1),
                                                 receivable(2, 1003, DB_STATING_PAID, 85, 1, 2),
                                                 receivable(4, 1003, DB_STATING_BOOKED, -50, 0, 2),
                                                 receivable(5, 1004, DB_STATING_PAID, -50, 4, 3),
                                                 receivable(7, 1004, DB_STATING_BOOKED, 30, 0, 3),
                                                 receivable(8, 1005, DB_STATING_WRITTEN_OFF, 30, 7, 0),
                                                 receivable(9, 1006, DB_STATING_PAID, 7, 0, 6)};
    hand_open(hand, "USD");
    hand->stating.n_receivables = sizeof rows / sizeof *rows;
    hand->stating.receivables = malloc(sizeof rows);
    memcpy(hand->stating.receivables, rows, sizeof rows);
    hand->ts_ns = 999;
}

static void receivable_rows(struct hand *hand, int from, int to)
{
    static const struct {
        int64_t ts_ns, cents;
        enum ledger_kind kind;
    } rows[] = {{1000, 1000, LEDGER_DEPOSIT}, {1003, 85, LEDGER_DIVIDEND}, {1004, -20, LEDGER_DIVIDEND},
                {1005, -1065, LEDGER_RESET},  {1005, 500, LEDGER_DEPOSIT}, {1006, 7, LEDGER_DIVIDEND}};
    for (int i = from; i < to; i++) {
        hand->ts_ns = rows[i].ts_ns - 1;
        usd(hand, rows[i].kind, rows[i].cents);
    }
}

static void test_receivables(void)
{
    struct hand hand;
    receivables_of(&hand);
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    receivable_rows(&hand, 0, 6);
    CHECK_INT(db_stating_end(&hand.stating, 2000), 0);
    const struct db_statement_money *m = money(&hand, "USD");
    SUM(m->dividends, 85 - 20 + 30 + 7);
    SUM(m->withheld, 45);
    SUM(m->resets, 500 - 1095);
    SUM(m->receivable, 0);
    SUM(m->closing, 507);
    hand_close(&hand);

    receivables_of(&hand); /* up to 1003, when one is not paid yet */
    CHECK_INT(db_stating_begin(&hand.stating, 1000), 0);
    receivable_rows(&hand, 0, 1);
    CHECK_INT(db_stating_end(&hand.stating, 1003), 0);
    SUM(money(&hand, "USD")->dividends, 85);
    SUM(money(&hand, "USD")->receivable, 85);
    SUM(money(&hand, "USD")->closing, 1085);
    SUM(money(&hand, "USD")->cash, 1000);
    hand_close(&hand);

    receivables_of(&hand); /* from then on, up to 1005: it is paid, and is no income again */
    receivable_rows(&hand, 0, 1);
    CHECK_INT(db_stating_begin(&hand.stating, 1003), 0);
    receivable_rows(&hand, 1, 3);
    CHECK_INT(db_stating_end(&hand.stating, 1005), 0);
    m = money(&hand, "USD");
    SUM(m->opening_receivable, 85);
    SUM(m->opening, 1085);
    SUM(m->dividends, -20 + 30);
    SUM(m->receivable, 30);
    SUM(m->closing, 1065 + 30);
    hand_close(&hand);

    receivables_of(&hand); /* a reset in the period that has nothing else */
    receivable_rows(&hand, 0, 3);
    CHECK_INT(db_stating_begin(&hand.stating, 1005), 0);
    receivable_rows(&hand, 3, 5);
    CHECK_INT(db_stating_end(&hand.stating, 1006), 0);
    SUM(money(&hand, "USD")->dividends, 0);
    SUM(money(&hand, "USD")->resets, 500 - 1095);
    SUM(money(&hand, "USD")->closing, 500);
    hand_close(&hand);
}

static void test_times(void)
{
    char time[DB_STATEMENT_TIME_MAX];
    CHECK_STR(db_statement_time(INT64_C(1723161600) * 1000000000, time), "2024-08-09T00:00:00Z");
    CHECK_STR(db_statement_time(INT64_C(1723161600) * 1000000000 + 1, time),
              "2024-08-09T00:00:00.000000001Z");
    CHECK_STR(db_statement_time(INT64_C(1723161600) * 1000000000 + 250000000, time),
              "2024-08-09T00:00:00.25Z");
}

/* ---- a record ---- */

static int statement_of(const char *path, const struct db_statement_query *query, struct db_statements *ret)
{
    struct db_reader *reader = fixture_reader(path);
    int r = db_statement_make(reader, query, false, ret);
    CHECK((r < 0) == (db_reader_error(reader)[0] != '\0'));
    db_reader_close(reader);
    return r;
}

static void check_same(const struct db_statement_money *a, const struct db_statement_money *b)
{
    CHECK_STR(a->asset, b->asset);
    CHECK(a->closing == b->opening && a->cash == b->opening_cash);
    CHECK(b->opening == b->closing && db_statement_flows(b) == 0);
}

/* A record that begins with what an engine held has that at once, and says nothing of before. */
static void test_base(const char *directory)
{
    static struct books b;
    char path[SCRATCH_PATH_MAX];
    struct db_statements whole, based;
    sqlite3 *db = NULL;
    struct db_statement_query query = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .now_ns = INT64_MAX};
    snprintf(path, sizeof path, "%s/base.db", directory);
    books_bars = true;
    books_keep(&b, path, 3, EVENTS);
    CHECK_INT(statement_of(path, &query, &whole), 0);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(db_row_hash_register(db), SQLITE_OK);
    CHECK_INT(db_base_put(db, b.engine, b.driver.seq, b.driver.now_ns, ""), SQLITE_OK);
    CHECK_INT(db_base_put_salvaged(db), SQLITE_OK);
    sqlite3_close(db);
    CHECK_INT(statement_of(path, &query, &based), 0);
    CHECK_INT(based.n_accounts, whole.n_accounts);
    CHECK(whole.accounts[0].n_marks > 0);
    for (size_t i = 0; i < whole.n_accounts; i++)
        for (size_t k = 0; k < based.accounts[i].n_moneys; k++)
            check_same(&whole.accounts[i].moneys[k], &based.accounts[i].moneys[k]);
    CHECK_INT(based.accounts[0].from_ns, b.driver.now_ns);
    db_statement_finish(&whole);
    db_statement_finish(&based);
    query.from_ns = DRIVER_START_NS;
    CHECK_INT(statement_of(path, &query, &based), -ENODATA);
    books_close(&b);
}

/* The table of receivables, as a daemon of this schema has it. */
#define RECEIVABLES \
    "CREATE TABLE IF NOT EXISTS receivables (id INTEGER PRIMARY KEY, ts_ns, account, kind, symbol, action, " \
    "asset, scale, qty_scale, ex_ns, pay_ns, qty, gross, withheld, amount, paid, booked, ledger_id, input_seq, " \
    "hash); INSERT INTO receivables (id, ts_ns, account, kind, symbol, action, asset, scale, qty_scale, ex_ns, " \
    "pay_ns, qty, gross, withheld, amount, paid, booked, ledger_id, input_seq, hash) VALUES (1, %lld, 0, " \
    "'booked', 'BTCUSDT', 'd', 'USDT', 8, 8, 1, 2, 3, 1000, 150, 850, 0, 0, 2, 5, x'00')"

static void test_stored_receivable(const char *path, const struct fixture *f)
{
    struct db_statement_query query = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .now_ns = INT64_MAX};
    struct db_statements before, after;
    sqlite3 *db = NULL;
    CHECK_INT(statement_of(path, &query, &before), 0);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, RECEIVABLES, (long long)f->ts_ns);
    CHECK_INT(statement_of(path, &query, &after), 0);
    SUM(after.accounts[0].moneys[0].closing, (int64_t)before.accounts[0].moneys[0].closing + 850);
    SUM(after.accounts[0].moneys[0].dividends, 850);
    SUM(after.accounts[0].moneys[0].withheld, 150);
    db_statement_finish(&before);
    db_statement_finish(&after);
    sql_exec(db, "UPDATE receivables SET scale = 19");
    CHECK_INT(statement_of(path, &query, &after), -EBADMSG);
    sqlite3_close(db);
}

/* Likewise of marks at a stop. */
#define MARKS \
    "CREATE TABLE IF NOT EXISTS marks (account, ts_ns, symbol, qty, mark, mark_ns, hash, PRIMARY KEY (account, " \
    "ts_ns, symbol)); INSERT INTO marks (account, ts_ns, symbol, qty, mark, mark_ns, hash) SELECT 0, %lld, id, " \
    "1, 6000000000000, %lld, zeroblob(32) FROM symbols WHERE name = 'BTCUSDT'"

/* A position is at its mark of the stop until a bar closes after that. */
static void test_stop(const char *path, const struct fixture *f)
{
    struct db_statement_query query = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .now_ns = INT64_MAX};
    const int64_t stop_ns = f->ts_ns + 5;
    struct db_statements statement;
    const struct db_statement_mark *mark;
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, MARKS, (long long)stop_ns, (long long)stop_ns - 2);
    CHECK_INT(statement_of(path, &query, &statement), 0);
    mark = &statement.accounts[0].marks[0];
    CHECK_STR(mark->symbol.name, "BTCUSDT");
    CHECK_INT(mark->source, DB_STATEMENT_STOP);
    CHECK_INT(mark->price, 60000 * FIXTURE_UNIT);
    CHECK_INT(mark->mark_ns, stop_ns - 2);
    SUM(mark->value, fill_notional(ORDER_SELL, mark->price, mark->qty, FIXTURE_UNIT));
    CHECK_INT(statement.accounts[0].marks[1].source, DB_STATEMENT_FILL);
    db_statement_finish(&statement);
    query.to_ns = stop_ns; /* a mark of the end is of the period */
    CHECK_INT(statement_of(path, &query, &statement), 0);
    CHECK_INT(statement.accounts[0].marks[0].source, DB_STATEMENT_STOP);
    db_statement_finish(&statement);
    query.to_ns = stop_ns - 1;
    CHECK_INT(statement_of(path, &query, &statement), 0);
    CHECK_INT(statement.accounts[0].marks[0].source, DB_STATEMENT_FILL);
    db_statement_finish(&statement);
    sql_exec(
        db,
        "INSERT INTO bars (symbol, interval_ns, source, open_ns, open, high, low, close, volume, quote_volume, "
        "trades, first_trade_id, last_trade_id) SELECT id, 60000000000, 'venue', %lld, 1, 9, 1, 7, '1', '1', "
        "1, -1, -1 FROM symbols WHERE name = 'BTCUSDT'",
        (long long)stop_ns);
    query.to_ns = INT64_MAX;
    CHECK_INT(statement_of(path, &query, &statement), 0);
    CHECK_INT(statement.accounts[0].marks[0].source, DB_STATEMENT_VENUE);
    CHECK_INT(statement.accounts[0].marks[0].mark_ns, stop_ns + INT64_C(60000000000));
    db_statement_finish(&statement);
    sqlite3_close(db);
}

static void test_refused(const char *directory)
{
    const struct db_writer_config config = {0};
    char path[SCRATCH_PATH_MAX];
    struct db_statements statement;
    struct fixture f;
    snprintf(path, sizeof path, "%s/refused.db", directory);
    fixture_open(&f, fixture_writer(path, &config));
    fixture_trade(&f);
    fixture_close(f.writer);
    struct db_statement_query query = {.from_ns = 5, .to_ns = 5, .now_ns = INT64_MAX};
    CHECK_INT(statement_of(path, &query, &statement), -EDOM);
    query = (struct db_statement_query){.from_ns = 5, .to_ns = 9, .now_ns = 4};
    CHECK_INT(statement_of(path, &query, &statement), -EDOM);
    query = (struct db_statement_query){.from_ns = 5, .to_ns = 9, .now_ns = INT64_MAX, .account = "mian"};
    CHECK_INT(statement_of(path, &query, &statement), -ENOENT);
    query.account = NULL;
    CHECK_INT(statement_of(path, &query, &statement), 0); /* before the first account */
    CHECK_INT(statement.n_accounts, 0);
    db_statement_finish(&statement);
    query.to_ns = INT64_MAX;
    CHECK_INT(statement_of(path, &query, &statement), 0);
    CHECK_INT(statement.n_accounts, 1);
    SUM(statement.accounts[0].moneys[0].deposits, FIXTURE_CASH);
    SUM(statement.accounts[0].moneys[0].cash, f.cash);
    SUM(statement.accounts[0].moneys[0].realized, f.positions[0].realized + f.positions[1].realized);
    SUM(statement.accounts[0].moneys[0].fees, f.positions[0].fees + f.positions[1].fees);
    db_statement_finish(&statement);
    test_stop(path, &f);
    test_stored_receivable(path, &f);
}

int main(void)
{
    char directory[SCRATCH_MAX];
    scratch_make(directory);
    test_fees_in_kind();
    test_fee_rounding();
    test_fee_apart();
    test_finer();
    test_reset();
    test_splits();
    test_exchanged();
    test_unpriced();
    test_untied();
    test_receivables();
    test_times();
    test_base(directory);
    test_refused(directory);
    return check_done("db/statement");
}
