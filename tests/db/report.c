/* A report's parts, by sums done by hand: returns beside deposits and a reset, points that are stamped too
 * early, who earned what when others close it; days of 23 and 25 hours of an account of stocks; what is not
 * known is not 0. */
#include "db/report/internal.h"
#include "strategy/metrics/deflate.h"

#include <errno.h>

#include "tests/db/fixture.h"
#include "tests/db/sql.h"

#define HOUR_NS               INT64_C(3600000000000)
#define NEAR(value, expected) CHECK(fabs((value) - (expected)) < 1e-12)

enum { UNIT = 100 }; /* a currency of cents */

/* ---- the curve ---- */

struct one {
    struct db_report_account into;
    struct report_curve curve;
};

static struct one *begin(struct one *one, const struct report_flow *flows, size_t n,
                         const struct db_equity_point *before)
{
    *one =
        (struct one){.into = {.account = {.currency_scale = 2}, .from_ns = HOUR_NS, .to_ns = 100 * HOUR_NS}};
    one->curve = (struct report_curve){.into = &one->into, .flows = flows, .n_flows = n};
    db_report_curve_begin(&one->curve, before);
    return one;
}

/* A point at so many minutes, in whole units; `epoch` is what the day began with. */
static void point(struct one *one, int minutes, int equity, int epoch)
{
    const struct db_equity_point p = {.ts_ns = minutes * HOUR_NS / 60,
                                      .equity = equity * UNIT,
                                      .cash = 0,
                                      .peak = 2000 * UNIT,
                                      .day_equity = epoch};
    CHECK_INT(db_report_curve_add(&one->curve, &p), 0);
}

static void finish(struct one *one)
{
    db_report_curve_finish(&one->curve);
    free(one->into.days);
    free(one->into.chart_ns);
    free(one->into.chart_equity);
    free(one->into.chart_drawdown);
    free(one->into.chart_exposure);
}

/* 100 grow to 110, 110 are put in, 220 fall to 198: +10 %, -10 %, whatever was put in when. */
static void test_deposit(void)
{
    static const struct report_flow flows[] = {{90 * HOUR_NS / 60, 110 * UNIT, LEDGER_DEPOSIT}};
    static const struct db_equity_point before = {
        .ts_ns = HOUR_NS / 2, .equity = 100 * UNIT, .day_equity = 1};
    struct one one;
    begin(&one, flows, 1, &before);
    point(&one, 70, 110, 1);
    point(&one, 80, 198, 2); /* stamped too early: it holds the deposit */
    point(&one, 90, 220, 2);
    point(&one, 130, 198, 2);
    CHECK_INT(db_report_curve_end(&one.curve), 0);
    NEAR(one.into.total_return, 1.1 * 0.9 - 1);
    NEAR(one.into.max_drawdown, -0.1);
    NEAR(one.into.drawdown, 198.0 / 2000 - 1);
    CHECK_INT(one.into.points, 3);
    CHECK_INT(one.into.pnl, (198 - 100 - 110) * UNIT);
    CHECK_INT(one.into.deposits, 110 * UNIT);
    CHECK_INT(one.into.hours, 2);
    NEAR(one.curve.hours[0], 0.1);
    NEAR(one.curve.hours[1], -0.1);
    CHECK(isnan(one.into.metrics.sharpe)); /* of two hours */
    CHECK(!one.into.created);
    finish(&one);
}

/* An account that begins with 100 in the period, is reset at 90 to 50, and ends at 55. */
static void test_reset(void)
{
    static const struct report_flow flows[] = {{65 * HOUR_NS / 60, 100 * UNIT, LEDGER_DEPOSIT},
                                               {75 * HOUR_NS / 60, 7 * UNIT, LEDGER_TRANSFER},
                                               {90 * HOUR_NS / 60, -97 * UNIT, LEDGER_RESET},
                                               {90 * HOUR_NS / 60, 50 * UNIT, LEDGER_DEPOSIT}};
    struct one one;
    begin(&one, flows, 4, NULL);
    point(&one, 62, 100, 9); /* before the first deposit: stamped too early */
    point(&one, 65, 100, 1);
    point(&one, 70, 90, 1);
    point(&one, 75, 97, 2);
    point(&one, 90, 50, 3);
    point(&one, 100, 55, 3);
    CHECK_INT(db_report_curve_end(&one.curve), 0);
    CHECK(one.into.created);
    CHECK(one.into.opening == DB_REPORT_UNKNOWN);
    NEAR(one.into.total_return, 0.9 * 1.1 - 1);
    CHECK_INT(one.into.resets, 1);
    CHECK_INT(one.into.flows, 2);
    CHECK_INT(one.into.deposits, 100 * UNIT);
    CHECK_INT(one.into.transfers, 7 * UNIT);
    CHECK_INT(one.into.reset, (50 - 97) * UNIT);
    CHECK_INT(one.into.pnl, (-10 + 5) * UNIT);
    finish(&one);
}

static void test_nothing(void)
{
    static const struct db_equity_point before = {.ts_ns = HOUR_NS / 2, .equity = 0, .day_equity = 1};
    struct one one;
    begin(&one, NULL, 0, NULL);
    CHECK_INT(db_report_curve_end(&one.curve), 0);
    CHECK(isnan(one.into.total_return) && isnan(one.into.exposure));
    CHECK(one.into.pnl == DB_REPORT_UNKNOWN && one.into.closing == DB_REPORT_UNKNOWN);
    finish(&one);

    begin(&one, NULL, 0, &before); /* from nothing there is no return */
    point(&one, 70, 10, 1);
    CHECK_INT(db_report_curve_end(&one.curve), 0);
    CHECK_INT(one.into.unmeasured, 1);
    CHECK_INT(one.into.pnl, 10 * UNIT);
    NEAR(one.into.total_return, 0);
    finish(&one);
}

/* Of any number of points a chart has a bounded number, the first and the last among them, in order. */
static void test_chart(void)
{
    static const struct db_equity_point before = {
        .ts_ns = HOUR_NS / 2, .equity = 100 * UNIT, .day_equity = 1};
    for (int n = 1; n < 3 * DB_REPORT_POINTS_MAX; n += 977) {
        struct one one;
        begin(&one, NULL, 0, &before);
        for (int i = 0; i < n; i++)
            point(&one, 61 + i, 100 + i, 1);
        const struct db_report_account *into = &one.into;
        CHECK(into->n_chart <= DB_REPORT_POINTS_MAX);
        CHECK(n > DB_REPORT_POINTS_MAX || into->n_chart == (size_t)n);
        CHECK(2 * into->n_chart >= DB_REPORT_POINTS_MAX || n < DB_REPORT_POINTS_MAX);
        CHECK_INT(into->chart_ns[0], 61 * HOUR_NS / 60);
        CHECK_INT(into->chart_ns[into->n_chart - 1], (60 + n) * HOUR_NS / 60);
        for (size_t i = 1; i < into->n_chart; i++)
            CHECK(into->chart_ns[i] > into->chart_ns[i - 1]);
        CHECK(into->chart_equity[into->n_chart - 1] == 99 + n);
        finish(&one);
    }
}

/* ---- who earned it ---- */

static void fill(struct report_holdings *holdings, int source, enum order_side side, int64_t qty,
                 int64_t price)
{
    const struct report_fill row = {.source = source,
                                    .scale = 2,
                                    .side = side,
                                    .qty = qty,
                                    .notional = price * qty,
                                    .fee = 4,
                                    .ts_ns = 1 + (int64_t)holdings->n};
    CHECK_INT(db_report_holdings_fill(holdings, &row), 0);
}

static int64_t realized(struct report_holdings *holdings, int source)
{
    return db_report_holding_of(holdings, 0, 0, source)->position.realized;
}

/* Source 0 buys 10 at 100, source 1 buys 4 at 110 and sells 4 at 120: its own. Source 1 sells 6 more at 130,
 * of what 0 opened; then 0 sells 10 at 90: it closes its 4 and opens a short of 6. */
static void test_sources(void)
{
    struct report_holdings holdings = {.counts = true};
    fill(&holdings, 0, ORDER_BUY, 10, 100);
    fill(&holdings, 1, ORDER_BUY, 4, 110);
    fill(&holdings, 1, ORDER_SELL, 4, 120);
    CHECK_INT(realized(&holdings, 1), 40);
    CHECK_INT(realized(&holdings, 0), 0);
    fill(&holdings, 1, ORDER_SELL, 6, 130);
    CHECK_INT(realized(&holdings, 1), 40);
    CHECK_INT(realized(&holdings, 0), 180);
    fill(&holdings, 0, ORDER_SELL, 10, 90);
    CHECK_INT(realized(&holdings, 0), 180 - 40);
    const struct report_holding *own = db_report_holding_of(&holdings, 0, 0, 0);
    CHECK_INT(own->position.qty, -6);
    CHECK_INT(own->trades.n, 1);
    const struct report_holding *whole = db_report_holding_of(&holdings, 0, 0, REPORT_WHOLE);
    CHECK_INT(whole->position.qty, -6);
    CHECK_INT(whole->trades.n, 1); /* from flat to flat */
    CHECK_INT(whole->fills, 5);
    CHECK_INT(whole->position.fees, 20);
    NEAR(whole->trades.mean, (140 + 40 - (4 * 4 + 4 * 4 / 10)) / 100.0); /* of the last fee what closed */
    CHECK_INT(db_report_holding_of(&holdings, 0, 0, 1)->trades.n, 1);
    db_report_holdings_finish(&holdings);
}

/* ---- days ---- */

static int64_t utc(int year, int month, int day, int hour)
{
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour};
    return timegm(&tm) * INT64_C(1000000000);
}

static void put_point(struct db_writer *writer, int account, int64_t ts_ns, int64_t equity)
{
    const struct db_equity row = {.account = account,
                                  .kind = DB_EQUITY_PAST,
                                  .ts_ns = ts_ns,
                                  .equity = equity,
                                  .cash = equity,
                                  .day_equity = 1,
                                  .peak = 1};
    db_writer_put_equity(writer, &row);
}

/* Account 0 has held a stock, account 1 a pair that trades at all times; both have a point each hour of 2024.
 */
static void make_days(const char *path)
{
    const struct db_writer_config config = {0};
    struct db_writer *writer = fixture_writer(path, &config);
    struct symbol stock = fixture_symbol(0), pair = fixture_symbol(1);
    strcpy(stock.name, "AAPL");
    strcpy(stock.calendar, "us-equity");
    db_writer_put_symbol(writer, 0, "alpaca", &stock, 1);
    db_writer_put_symbol(writer, 1, "binance", &pair, 1);
    for (int a = 0; a < 2; a++) {
        struct db_account account = {
            .number = a, .currency = "USDT", .currency_scale = 8, .created_ns = utc(2024, 3, 1, 0)};
        strcpy(account.name, a ? "crypto" : "stocks");
        db_writer_put_account(writer, &account);
        db_writer_put_position(writer, a, a, &(struct position){.updated_ns = 1});
        for (int64_t ns = utc(2024, 3, 8, 0); ns < utc(2024, 3, 13, 0); ns += HOUR_NS)
            put_point(writer, a, ns, FIXTURE_UNIT);
    }
    fixture_close(writer);
}

static void check_day(struct db_reader *reader, int64_t day, int hours)
{
    struct db_report report;
    char title[DB_REPORT_TITLE_MAX];
    const struct db_report_query query = {.by_day = true, .day = day, .now_ns = utc(2026, 1, 1, 0)};
    CHECK_INT(db_report_make(reader, &query, &report), 0);
    CHECK_INT(report.n_accounts, 2);
    const struct db_report_account *stocks = &report.accounts[0], *crypto = &report.accounts[1];
    CHECK_STR(stocks->zone, "America/New_York");
    CHECK_STR(crypto->zone, "UTC");
    CHECK_INT((stocks->to_ns - stocks->from_ns) / HOUR_NS, hours);
    CHECK_INT((crypto->to_ns - crypto->from_ns) / HOUR_NS, 24);
    CHECK_INT(crypto->from_ns, day * 24 * HOUR_NS);
    CHECK_INT(stocks->n_days, 1);
    CHECK_INT(stocks->days[0].day, day);
    CHECK(strstr(db_report_title(&report, title), "UTC and America/New_York") != NULL);
    CHECK(stocks->streamed.symbols == 0 && stocks->n_symbols == 0);
    CHECK(!report.parity_known && report.observed_ns == -1);
    db_report_finish(&report);
}

static void test_days(void)
{
    const char *path = scratch_path("days.db");
    make_days(path);
    struct db_reader *reader = fixture_reader(path);
    check_day(reader, utc(2024, 3, 9, 0) / (24 * HOUR_NS), 24);
    check_day(reader, utc(2024, 3, 10, 0) / (24 * HOUR_NS), 23); /* summer time begins */
    check_day(reader, utc(2024, 11, 3, 0) / (24 * HOUR_NS), 25); /* and ends */

    struct db_report report;
    struct db_report_query query = {
        .from_ns = utc(2024, 3, 9, 0), .to_ns = utc(2024, 3, 8, 0), .now_ns = utc(2024, 4, 1, 0)};
    CHECK_INT(db_report_make(reader, &query, &report), -EDOM);
    query = (struct db_report_query){
        .by_day = true, .day = query.now_ns / (24 * HOUR_NS) + 1, .now_ns = query.now_ns};
    CHECK_INT(db_report_make(reader, &query, &report), -EDOM);
    query.account = "crypt";
    query.day = 0;
    CHECK_INT(db_report_make(reader, &query, &report), -ENOENT);
    CHECK(strstr(db_reader_error(reader), "crypto") != NULL);
    query.account = NULL;
    CHECK_INT(db_report_make(reader, &query, &report), 0); /* before the record */
    CHECK_INT(report.n_accounts, 0);
    CHECK_INT(report.first_ns, utc(2024, 3, 1, 0));
    db_report_finish(&report);
    db_reader_close(reader);
}

/* ---- a split ---- */

#define AT(seconds) (FIXTURE_START + (seconds)*INT64_C(1000000000))

static void put_close(struct db_writer *writer, int64_t open_ns, int64_t close)
{
    const struct bar bar = {.open_ns = open_ns,
                            .open = close,
                            .high = close,
                            .low = close,
                            .close = close,
                            .volume = 1,
                            .quote_volume = 1,
                            .trades = 1,
                            .first_trade_id = -1,
                            .last_trade_id = -1};
    db_writer_put_bar(writer, 0, 60 * INT64_C(1000000000), BAR_VENUE, &bar);
}

/* 10 are bought at 100 before the period, for a fee of 1; two become of each one; they close at 52. */
static void make_split(const char *path)
{
    const struct db_writer_config config = {0};
    struct fixture f;
    struct db_writer *writer = fixture_writer(path, &config);
    fixture_open(&f, writer);
    put_point(writer, 0, FIXTURE_START, FIXTURE_CASH);
    struct order order = fixture_order(&f, 0, ORDER_BUY, 100 * FIXTURE_UNIT, 10 * FIXTURE_UNIT);
    fixture_fill(&f, &order, order.price, order.qty);
    put_close(writer, AT(0), 100 * FIXTURE_UNIT);
    put_point(writer, 0, AT(61), FIXTURE_CASH - FIXTURE_UNIT);
    f.ts_ns = AT(120);
    const struct db_action action = {
        .symbol = 0,
        .action = {.id = "s", .kind = ACTION_SPLIT, .ex_ns = AT(120), .shares = 2, .per = 1},
        .ts_ns = AT(120),
        .input_seq = ++f.seq};
    db_writer_group_begin(writer);
    db_writer_put_action(writer, &action);
    fixture_ledger(&f, "BTC", LEDGER_SPLIT, 10 * FIXTURE_UNIT, &f.base[0], 0, 0);
    db_writer_group_end(writer);
    put_close(writer, AT(120), 52 * FIXTURE_UNIT);
    put_point(writer, 0, AT(181), FIXTURE_CASH + 39 * FIXTURE_UNIT);
    fixture_close(writer);
}

static void test_split(void)
{
    const char *path = scratch_path("split.db");
    make_split(path);
    struct db_reader *reader = fixture_reader(path);
    struct db_report report;
    const struct db_report_query query = {.from_ns = AT(100), .to_ns = AT(200), .now_ns = AT(1000)};
    CHECK_INT(db_report_make(reader, &query, &report), 0);
    CHECK_INT(report.n_accounts, 1);
    const struct db_report_account *a = &report.accounts[0];
    CHECK_INT(a->n_symbols, 1);
    const struct db_report_symbol *s = &a->symbols[0];
    CHECK_INT(s->qty_from, 10 * FIXTURE_UNIT);
    CHECK_INT(s->qty_to, 20 * FIXTURE_UNIT);
    CHECK_INT(s->price_from, 100 * FIXTURE_UNIT);
    CHECK_INT(s->price_to, 52 * FIXTURE_UNIT);
    CHECK_INT(s->unrealized, 40 * FIXTURE_UNIT);
    CHECK_INT(s->pnl, 40 * FIXTURE_UNIT);
    CHECK_INT(s->fees, 0); /* paid before */
    NEAR(s->hold_return, 0.04);
    CHECK_INT(a->pnl, 40 * FIXTURE_UNIT);
    CHECK_INT(a->other, 0);
    CHECK_INT(a->n_strategies, 1);
    CHECK_STR(a->strategies[0].name, "other orders");
    CHECK_INT(a->strategies[0].pnl, 40 * FIXTURE_UNIT);
    CHECK_INT(a->traded.symbols, 1);
    NEAR(a->traded.metrics.total_return, 0.04);
    db_report_finish(&report);
    db_reader_close(reader);
}

/* ---- what is old is thinned ---- */

enum { THINNED_STEP_S = 600, THINNED_POINTS = 12 * 86400 / THINNED_STEP_S };

/* Twelve days of points, with money put in and taken out in the middle of hours. */
static void make_thinned(const char *path, enum db_equity_kind kind)
{
    const struct db_writer_config config = {0};
    struct fixture f;
    struct db_writer *writer = fixture_writer(path, &config);
    struct db_equity row = {.kind = kind, .equity = FIXTURE_CASH, .day_equity = FIXTURE_CASH, .peak = 1};
    fixture_open(&f, writer);
    for (int i = 0; i <= THINNED_POINTS; i++) {
        const int64_t day = row.ts_ns / (24 * HOUR_NS);
        row.ts_ns = f.ts_ns = AT((int64_t)i * THINNED_STEP_S);
        row.equity += i ? (i * 7919 % 101 - 50) * 100 * FIXTURE_UNIT : 0;
        if (day && row.ts_ns / (24 * HOUR_NS) > day)
            row.day_equity = row.equity;
        if (i % 400 == 17) {
            const int64_t amount = (i % 800 == 17 ? 1000000 : -500000) * FIXTURE_UNIT;
            fixture_ledger(&f, "USDT", LEDGER_DEPOSIT, amount, &f.cash, 0, 0);
            row.day_equity = (int64_t)((int128_t)row.day_equity * (row.equity + amount) / row.equity);
            row.equity += amount;
        }
        row.cash = row.equity;
        db_writer_put_equity(writer, &row);
    }
    fixture_close(writer);
}

/* A day's gain by itself is the report's. */
static void check_gains(struct db_reader *reader, const struct db_report_account *account)
{
    int128_t pnl, closing;
    for (size_t i = 0; i < account->n_days; i++) {
        const struct db_report_day *day = &account->days[i];
        CHECK_INT(db_report_day_gain(reader, &account->account, day->day, &pnl, &closing), 0);
        CHECK(pnl == day->pnl && closing == day->closing);
    }
    CHECK_INT(db_report_day_gain(reader, &account->account, account->days[0].day - 1, &pnl, &closing), 0);
    CHECK(pnl == DB_REPORT_UNKNOWN && closing == DB_REPORT_UNKNOWN);
}

/* Returns and P&L are those of all points, of which most are gone. */
static void test_thinned(void)
{
    struct db_report reports[2];
    const struct db_report_query query = {
        .from_ns = AT(0), .to_ns = AT(20 * 86400), .now_ns = AT(30 * 86400)};
    for (int i = 0; i < 2; i++) {
        const char *path = scratch_path(i ? "thinned.db" : "whole.db");
        make_thinned(path, i ? DB_EQUITY_LIVE : DB_EQUITY_PAST);
        struct db_reader *reader = fixture_reader(path);
        CHECK_INT(db_report_make(reader, &query, &reports[i]), 0);
        CHECK_INT(reports[i].n_accounts, 1);
        check_gains(reader, &reports[i].accounts[0]);
        db_reader_close(reader);
    }
    const struct db_report_account *whole = &reports[0].accounts[0], *thinned = &reports[1].accounts[0];
    CHECK_INT(whole->points, THINNED_POINTS + 1);
    CHECK(thinned->points < whole->points * 3 / 4);
    NEAR(thinned->total_return, whole->total_return);
    CHECK_INT(thinned->hours, whole->hours);
    CHECK_NEAR(thinned->metrics.sharpe, whole->metrics.sharpe, 1e-9);
    NEAR(thinned->metrics.volatility, whole->metrics.volatility);
    CHECK(thinned->pnl == whole->pnl && thinned->deposits == whole->deposits && whole->withdrawals < 0);
    CHECK(thinned->max_drawdown >= whole->max_drawdown);
    CHECK_INT(thinned->n_days, whole->n_days);
    for (size_t i = 0; i < whole->n_days && whole->days[i].points > 0; i++) {
        NEAR(thinned->days[i].total_return, whole->days[i].total_return);
        CHECK(thinned->days[i].pnl == whole->days[i].pnl && thinned->days[i].flow == whole->days[i].flow);
    }
    for (int i = 0; i < 2; i++)
        db_report_finish(&reports[i]);
}

/* ---- uptime ---- */

static void put_run(struct db_writer *writer, uint64_t number, int64_t began_s, int64_t alive_s,
                    enum db_run_state state)
{
    const struct db_run run = {
        .run = number, .began_ns = AT(began_s), .alive_ns = AT(alive_s), .state = state};
    db_writer_put_run(writer, &run);
}

struct uptime {
    int64_t from_s, to_s, now_s;
    int64_t observed_s, up_s, unknown_s; /* observed -1: nothing is known */
    uint64_t outages, killed;
};

static void check_uptime(struct db_reader *reader, const struct uptime *wanted)
{
    struct db_report report;
    const struct db_report_query query = {
        .from_ns = AT(wanted->from_s), .to_ns = AT(wanted->to_s), .now_ns = AT(wanted->now_s)};
    const int64_t second = INT64_C(1000000000);
    CHECK_INT(db_report_make(reader, &query, &report), 0);
    CHECK_INT(report.observed_ns, wanted->observed_s < 0 ? -1 : wanted->observed_s * second);
    CHECK_INT(report.up_ns, wanted->observed_s < 0 ? -1 : wanted->up_s * second);
    CHECK_INT(report.unknown_ns, wanted->unknown_s * second);
    CHECK_INT(report.outages, wanted->outages);
    CHECK_INT(report.killed, wanted->killed);
    db_report_finish(&report);
}

/* Runs 1, 2, 3, of which 2 was killed, with outages of 3 s and of 7 s; number 4 is lost; 5 still runs. */
static void test_uptime(void)
{
    static const struct uptime cases[] = {
        {0, 200, 1000, 200, 197, 0, 1, 0},       /* an outage of seconds */
        {101, 102, 1000, 1, 0, 0, 1, 0},         /* within it */
        {0, 400, 1000, 400, 390, 0, 2, 1},       /* … and one of a run that was killed */
        {350, 700, 1000, 250, 250, 100, 0, 0},   /* from 500 to 600 nothing is known */
        {510, 590, 1000, -1, 0, 80, 0, 0},       /* nothing at all */
        {600, 990, 1000, 390, 390, 0, 0, 0},     /* it runs … */
        {600, 5000, 5000, 390, 390, 4010, 0, 0}, /* … and has not said so since */
        {-500, -100, 1000, -1, 0, 0, 0, 0},      /* before the record */
    };
    const struct db_writer_config config = {0};
    const char *path = scratch_path("uptime.db");
    struct fixture f;
    struct db_writer *writer = fixture_writer(path, &config);
    fixture_open(&f, writer);
    put_run(writer, 1, 0, 0, DB_RUN_RUNNING);
    put_run(writer, 1, 0, 90, DB_RUN_RUNNING);
    put_run(writer, 1, 0, 100, DB_RUN_STOPPED);
    put_run(writer, 2, 103, 103, DB_RUN_RUNNING);
    put_run(writer, 2, 110, 200, DB_RUN_KILLED); /* as a log has it that begins later: it began at 103 */
    put_run(writer, 2, 103, 300, DB_RUN_RUNNING);
    put_run(writer, 3, 307, 500, DB_RUN_STOPPED);
    put_run(writer, 3, 307, 400, DB_RUN_KILLED); /* as a log has it that ends before */
    put_run(writer, 5, 600, 990, DB_RUN_RUNNING);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM runs WHERE state = 'running'"), 1);
    CHECK_INT(sql_query_file(path, "SELECT state = 'killed' AND alive_ns - began_ns = 197000000000 FROM runs "
                                   "WHERE run = 2"),
              1);
    CHECK_INT(sql_query_file(path,
                             "SELECT state = 'stopped' AND alive_ns - began_ns = 193000000000 FROM runs "
                             "WHERE run = 3"),
              1);
    struct db_reader *reader = fixture_reader(path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_uptime(reader, &cases[i]);
    db_reader_close(reader);
}

static void test_day_words(void)
{
    int64_t day = 0, now_ns = utc(2024, 2, 29, 13);
    CHECK(db_report_day_parse("today", now_ns, &day) && day == utc(2024, 2, 29, 0) / (24 * HOUR_NS));
    CHECK(db_report_day_parse("yesterday", now_ns, &day) && day == utc(2024, 2, 28, 0) / (24 * HOUR_NS));
    CHECK(db_report_day_parse("2023-01-02", now_ns, &day) && day == utc(2023, 1, 2, 0) / (24 * HOUR_NS));
    const char *const bad[] = {
        "", "2023-01", "2023-13-01", "2023-02-30", "2023-01-02T00:00:00Z", "2023-01-02 ", "tomorrow", "-1d"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!db_report_day_parse(bad[i], now_ns, &day));
}

/* The moments of an account's hourly returns against the function that has the returns themselves, which
 * SciPy checks (strategy/overfit); and the words of each kind. */
static void test_luck(void)
{
    enum { HOURS = 24 * 40 };
    static double returns[HOURS];
    struct deflated right;
    struct db_report_luck luck;
    const double periods = metrics_periods_per_year(HOUR_NS);

    for (int drift = -2; drift <= 8; drift += 2) {
        for (int i = 0; i < HOURS; i++) /* skewed, with fat tails, of period 101 */
            returns[i] = 1e-3 * (i * 37 % 101 - 50) / 50 * (i % 11 == 0 ? 3 : 1) + 1e-5 * drift;
        const struct metrics_series series = metrics_returns(returns, HOURS);
        struct db_report_account account = {.hours = HOURS, .points = 2, .trades = {.n = 12}};
        metrics_compute(&series, periods, &account.metrics);
        CHECK_INT(overfit_deflated_sharpe(returns, HOURS, 1, 0, &right), 0);
        db_report_luck(&account, &luck);
        CHECK_NEAR(luck.psr, right.psr, 1e-9);
        CHECK_NEAR(luck.sharpe / luck.error, right.sharpe * right.scale, 1e-9);
        CHECK_NEAR(luck.days, 40, 0);
        CHECK_INT(luck.kind, right.psr > 0.99 ? DB_REPORT_LUCK_MORE : DB_REPORT_LUCK_LUCK);
        CHECK(strstr(luck.words, right.psr > 0.99
                                     ? "More than luck: over 40.0 days and 12 closed trades"
                                     : "No more than luck: over 40.0 days and 12 closed trades"));
        CHECK_INT(drift == 8, luck.kind == DB_REPORT_LUCK_MORE);
        account.trades.n = DEFLATE_LUCK_TRADES - 1;
        db_report_luck(&account, &luck);
        CHECK_INT(luck.kind, DB_REPORT_LUCK_FEW);
        CHECK(strstr(luck.words, "Too few trades for a verdict on luck, 10 are needed: "));
        account.based = true;
        db_report_luck(&account, &luck);
        CHECK_INT(luck.kind, DB_REPORT_LUCK_UNKNOWN);
    }
    struct db_report_account none = {.hours = 5, .metrics = {.sharpe = NAN, .skew = NAN, .kurtosis = NAN}};
    db_report_luck(&none, &luck);
    CHECK(luck.kind == DB_REPORT_LUCK_UNKNOWN && isnan(luck.psr) && isnan(luck.error));
    CHECK_STR(luck.words, "No verdict on luck: there are fewer than 24 hours of returns.");
}

int main(void)
{
    scratch_in_memory();
    test_deposit();
    test_luck();
    test_reset();
    test_nothing();
    test_chart();
    test_sources();
    test_days();
    test_split();
    test_thinned();
    test_uptime();
    test_day_words();
    return check_done("report");
}
