/* An account's equity by day, week, month, all: what is read of a long curve, when it is read again, each
 * day's profit, and a figure's style. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/writer.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/history.h"
#include "tui/style.h"

enum { POINTS = 400, EACH_H = 6, LONG_DAYS = 1200, LONG_A_DAY = 3, MANY = 4000 };

static const int64_t hour_ns = (int64_t)3600 * 1000000000, day_ns = 24 * hour_ns, unit = 100000000;

/* 100 days, four points a day; the last is an hour before `now`. */
static int64_t point_ns(int i)
{
    return fixture_now_ns - hour_ns - (int64_t)(POINTS - 1 - i) * EACH_H * hour_ns;
}

/* After which point each came; what interest books is no flow. */
static const struct {
    int point, amount;
    enum ledger_kind kind;
} flows[] = {{-1, 1000, LEDGER_DEPOSIT}, {100, -200, LEDGER_TRANSFER}, {200, -70, LEDGER_INTEREST},
             {350, 500, LEDGER_DEPOSIT}, {390, 40, LEDGER_TRANSFER},   {398, -300, LEDGER_DEPOSIT}};
enum { FLOWS = sizeof(flows) / sizeof(flows[0]) };

static double equity_at(int i)
{
    return 1000 + 50 * sin(i / 9.0);
}

static double peak_at(int i)
{
    double peak = 0;
    for (int k = 0; k <= i; k++)
        peak = fmax(peak, equity_at(k));
    return peak;
}

static struct db_writer *reopen(const char *path)
{
    struct db_writer *writer;
    char err[256];

    CHECK_INT(db_writer_open(path, &(struct db_writer_config){0}, &writer, err, sizeof(err)), 0);
    return writer;
}

static void finish(struct db_writer *writer)
{
    char err[256];

    CHECK_INT(db_writer_close(writer, 10000, err, sizeof(err)), 0);
}

static void read_account(struct history_reader *reader, struct history *h, const char *account,
                         enum history_span span)
{
    struct history_want want = {.span = span};
    char err[256];

    snprintf(want.account, sizeof(want.account), "%s", account);
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, h, err, sizeof(err)), 0);
}

static void put_ledger(struct db_writer *writer, struct ledger_row *row)
{
    static uint8_t hash[LEDGER_HASH_SIZE]; /* of the row before it */

    ledger_row_chain(row, hash);
    memcpy(hash, row->hash, sizeof(hash));
    db_writer_put_ledger(writer, row);
}

static void make(const char *path)
{
    struct db_writer *writer = reopen(path);
    struct db_account account = {
        .name = "main", .currency = "USDT", .currency_scale = 8, .created_ns = hour_ns};

    db_writer_put_account(writer, &account);
    int64_t balance = 0;
    for (int i = 0; i < FLOWS; i++) {
        balance += flows[i].amount * unit;
        struct ledger_row row = {.id = (uint64_t)i + 1,
                                 .ts_ns = flows[i].point < 0 ? hour_ns : point_ns(flows[i].point) + 1,
                                 .asset = "USDT",
                                 .scale = 8,
                                 .kind = flows[i].kind,
                                 .amount = flows[i].amount * unit,
                                 .balance = balance};
        put_ledger(writer, &row);
    }
    for (int i = 0; i < POINTS; i++)
        db_writer_put_equity(writer,
                             &(struct db_equity){.kind = DB_EQUITY_LIVE,
                                                 .ts_ns = point_ns(i),
                                                 .equity = llround(equity_at(i) * (double)unit),
                                                 .peak = llround(peak_at(i) * (double)unit),
                                                 .day_equity = llround(equity_at(i - i % 4) * (double)unit)});
    finish(writer);
}

/* A second account's points of more days than a curve has points, of equity 1000 at each day's beginning. */
static int64_t long_profit(int day)
{
    return (day * 7919 % 401 - 200) * unit;
}

static void put_long(struct db_writer *writer, int day, int points)
{
    int64_t start_ns = (fixture_now_ns / day_ns - LONG_DAYS + 1 + day) * day_ns;

    for (int i = 1; i <= points; i++)
        db_writer_put_equity(writer,
                             &(struct db_equity){.account = 1,
                                                 .kind = DB_EQUITY_LIVE,
                                                 .ts_ns = start_ns + i * hour_ns,
                                                 .equity = 1000 * unit + long_profit(day) * i / LONG_A_DAY,
                                                 .peak = 1300 * unit,
                                                 .day_equity = 1000 * unit});
}

static void make_long(const char *path)
{
    struct db_writer *writer = reopen(path);
    struct db_account account = {
        .number = 1, .name = "long", .currency = "USDT", .currency_scale = 8, .created_ns = hour_ns};

    db_writer_put_account(writer, &account);
    for (int day = 0; day < LONG_DAYS; day++) /* the newest is not over yet */
        put_long(writer, day, day < LONG_DAYS - 1 ? LONG_A_DAY : 1);
    finish(writer);
}

static void check_long(const char *path, struct history_reader *reader, struct history *h)
{
    const int64_t newest = fixture_now_ns / day_ns;

    read_account(reader, h, "long", SPAN_WEEK);
    CHECK_NEAR(tui_history_day_profit(h, newest - 1), (double)long_profit(LONG_DAYS - 2) / 1e8, 1e-7);
    read_account(reader, h, "long", SPAN_ALL);
    CHECK(h->n_equity < LONG_DAYS);
    double highest[2] = {0}, lowest[2] = {INFINITY, INFINITY}; /* of all, and of those that are kept */
    for (int day = 0; day < LONG_DAYS; day++)
        for (int i = 1; i <= (day < LONG_DAYS - 1 ? LONG_A_DAY : 1); i++) {
            double equity = 1000 + (double)(long_profit(day) * i / LONG_A_DAY) / 1e8;
            highest[0] = fmax(highest[0], equity);
            lowest[0] = fmin(lowest[0], equity);
        }
    for (int i = 0; i < h->n_equity; i++) {
        highest[1] = fmax(highest[1], h->equity[i].equity);
        lowest[1] = fmin(lowest[1], h->equity[i].equity);
        CHECK(i == 0 || h->equity[i].ts_ns > h->equity[i - 1].ts_ns);
    }
    CHECK_NEAR(highest[1], highest[0], 1e-7);
    CHECK_NEAR(lowest[1], lowest[0], 1e-7);
    for (int day = 0; day < LONG_DAYS - 1; day++)
        CHECK_NEAR(tui_history_day_profit(h, newest - LONG_DAYS + 1 + day), (double)long_profit(day) / 1e8,
                   1e-7);
    CHECK_NEAR(tui_history_day_profit(h, newest), (double)long_profit(LONG_DAYS - 1) / LONG_A_DAY / 1e8,
               1e-7);
    struct db_writer *writer = reopen(path);
    put_long(writer, LONG_DAYS - 1, LONG_A_DAY);
    finish(writer);
    read_account(reader, h, "long", SPAN_ALL);
    CHECK_NEAR(tui_history_day_profit(h, newest), (double)long_profit(LONG_DAYS - 1) / 1e8, 1e-7);
    read_account(reader, h, "main", SPAN_ALL);
    CHECK_NEAR(tui_history_day_profit(h, newest - LONG_DAYS + 1), 0, 0);
}

/* Each point of the span is there, in order, and none before it. */
static void check_span(struct history_reader *reader, struct history *h, enum history_span span, int days)
{
    int first = 0;

    read_account(reader, h, "main", span);
    while (days && point_ns(first) < fixture_now_ns - (int64_t)days * 24 * hour_ns)
        first++;
    CHECK_INT(h->equity_span, span);
    double net = 0;
    for (int i = 0; i < FLOWS; i++)
        if (flows[i].kind != LEDGER_INTEREST && (span == SPAN_ALL || flows[i].point >= first))
            net += flows[i].amount;
    CHECK_NEAR(h->equity_flows, net, 1e-7);
    CHECK_INT(h->n_equity, POINTS - first);
    for (int i = 0; i < h->n_equity; i++) {
        CHECK_INT(h->equity[i].ts_ns, point_ns(first + i));
        CHECK_NEAR(h->equity[i].equity, equity_at(first + i), 1e-7);
        CHECK_NEAR(h->equity[i].peak, peak_at(first + i), 1e-7);
    }
}

/* A count that no reading gives stays until something has changed. */
static void check_read_again(const char *path, struct history_reader *reader, struct history *h)
{
    read_account(reader, h, "main", SPAN_ALL);
    h->n_fills = 5;
    read_account(reader, h, "main", SPAN_ALL);
    CHECK_INT(h->n_fills, 5);
    check_span(reader, h, SPAN_WEEK, 7); /* something else is wanted */
    CHECK_INT(h->n_fills, 0);
    read_account(reader, h, "main", SPAN_ALL);
    h->n_alerts = 1;
    h->alerts[0] = (struct history_alert){.unstored = true}; /* which the status may lack by now */
    read_account(reader, h, "main", SPAN_ALL);
    CHECK_INT(h->n_alerts, 0);
    h->n_fills = 5;
    struct db_writer *writer = reopen(path);
    db_writer_put_equity(writer, &(struct db_equity){.kind = DB_EQUITY_LIVE,
                                                     .ts_ns = fixture_now_ns,
                                                     .equity = unit,
                                                     .peak = unit,
                                                     .day_equity = unit});
    finish(writer);
    read_account(reader, h, "main", SPAN_ALL);
    CHECK_INT(h->n_fills, 0);
    CHECK_INT(h->n_equity, POINTS + 1);
}

static void check_style(void)
{
    CHECK_INT(style_signed(0.004999, 2), STYLE_NORMAL); /* "+0.00" is neither gain nor loss */
    CHECK_INT(style_signed(-0.004999, 2), STYLE_NORMAL);
    CHECK_INT(style_signed(0.005, 2), STYLE_UP);
    CHECK_INT(style_signed(-0.0051, 2), STYLE_DOWN);
    CHECK_INT(style_signed(0.0001, 4), STYLE_UP);
    CHECK_INT(style_signed(NAN, 2), STYLE_NORMAL);
}

/* An account with money and no curve yet, chosen between two readings of the first: its money is not counted
 * there. */
static void check_other(const char *path, struct history_reader *reader, struct history *h)
{
    struct db_writer *writer = reopen(path);
    struct db_account account = {
        .number = 2, .name = "new", .currency = "USDT", .currency_scale = 8, .created_ns = hour_ns};
    struct ledger_row row = {.id = FLOWS + 1,
                             .ts_ns = fixture_now_ns,
                             .account = 2,
                             .asset = "USDT",
                             .scale = 8,
                             .kind = LEDGER_DEPOSIT,
                             .amount = 70000 * unit,
                             .balance = 70000 * unit};

    read_account(reader, h, "main", SPAN_ALL);
    double before = h->equity_flows;
    db_writer_put_account(writer, &account);
    put_ledger(writer, &row);
    finish(writer);
    read_account(reader, h, "new", SPAN_ALL);
    CHECK_INT(h->n_equity, 0);
    CHECK_NEAR(h->equity_flows, 70000, 0);
    read_account(reader, h, "main", SPAN_ALL);
    CHECK(h->n_equity > 0);
    CHECK_NEAR(h->equity_flows, before, 0);
}

/* More deposits than any buffer might have, each counted, in all and in the newest day. */
static void check_many(const char *path, struct history_reader *reader, struct history *h)
{
    struct db_writer *writer = reopen(path);
    struct ledger_row row = {.id = FLOWS + 1,
                             .account = 2,
                             .asset = "USDT",
                             .scale = 8,
                             .kind = LEDGER_DEPOSIT,
                             .balance = 70000 * unit};

    for (int i = 0; i < 3; i++)
        db_writer_put_equity(writer, &(struct db_equity){.account = 2,
                                                         .kind = DB_EQUITY_LIVE,
                                                         .ts_ns = fixture_now_ns - (3 - i) * day_ns / 2,
                                                         .equity = 70000 * unit,
                                                         .peak = 70000 * unit});
    for (int i = 0; i < MANY; i++) {
        row.id++;
        row.ts_ns = fixture_now_ns - (MANY - i) * day_ns * 2 / MANY;
        row.amount = i % 2 ? 3 * unit : -unit;
        row.balance += row.amount;
        put_ledger(writer, &row);
    }
    finish(writer);
    read_account(reader, h, "new", SPAN_ALL);
    CHECK_NEAR(h->equity_flows, 70000 + MANY, 0);
    read_account(reader, h, "new", SPAN_DAY);
    CHECK_INT(h->equity[0].ts_ns, fixture_now_ns - day_ns);
    CHECK_NEAR(h->equity_flows, 70000 + MANY / 2 + 1, 0);
}

int main(void)
{
    const char *path = scratch_path("papertape.db");
    char err[256];
    struct history *h = calloc(1, sizeof(*h));
    struct history_reader *reader;

    check_style();
    CHECK(h != NULL);
    make(path);
    CHECK_INT(tui_history_open(path, &reader, err, sizeof(err)), 0);
    static const int days[SPANS] = {1, 7, 30, 0};
    for (int round = 0; round < 2; round++) /* and back again */
        for (int span = 0; span < SPANS; span++)
            check_span(reader, h, (enum history_span)span, days[span]);
    check_read_again(path, reader, h);
    make_long(path);
    check_long(path, reader, h);
    check_other(path, reader, h);
    check_many(path, reader, h);
    tui_history_close(reader);
    free(h);
    return check_done("tui/equity");
}
