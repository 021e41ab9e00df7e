#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"

enum { PAGE = 2048 };

static int fail(struct db_reader *reader, int error, const char *words)
{
    snprintf(reader->error, sizeof reader->error, "%s", words);
    return error;
}

static void finish_account(struct db_report_account *account)
{
    free(account->symbols);
    free(account->strategies);
    free(account->days);
    free(account->chart_ns);
    free(account->chart_equity);
    free(account->chart_drawdown);
    free(account->chart_exposure);
    db_report_marks_finish(account);
}

/* ---- accounts ---- */

struct report_making {
    struct db_reader *reader;
    struct db_report *report;
    struct report_prices prices;
    struct db_base base;
    struct report_flow *flows;
    size_t n_flows;
    struct report_days days;
    struct nearest nearest;
    struct report_curve *curves; /* one an account */
    struct report_curve *curve;  /* of the account that is read */
    int64_t page_ns;             /* the newest of its points so far */
    int r;
};

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct report_making *making = ctx;
    struct db_report *report = making->report;
    if (report->first_ns == 0 || row->account.created_ns < report->first_ns)
        report->first_ns = row->account.created_ns;
    if (report->query.account && strcmp(report->query.account, row->account.name) != 0) {
        nearest_offer(&making->nearest, report->query.account, row->account.name);
        return;
    }
    struct db_report_account *more = reallocarray(report->accounts, report->n_accounts + 1, sizeof *more);
    if (!more) {
        making->r = -ENOMEM;
        return;
    }
    report->accounts = more;
    more[report->n_accounts++] = (struct db_report_account){.account = row->account};
}

static int read_accounts(struct report_making *making)
{
    const char *account = making->report->query.account;
    int r = db_reader_accounts(making->reader, take_account, making);
    r = r < 0 ? r : making->r;
    if (r == 0 && account && making->report->n_accounts == 0) {
        snprintf(making->reader->error, sizeof making->reader->error, "\"%.64s\": " FAIL_NO_ACCOUNT "%s",
                 account, NEAREST_SUGGEST(nearest_meant(&making->nearest, account)));
        return -ENOENT;
    }
    return r;
}

/* Each account's own bounds. Nothing is known beyond now. */
static int set_period(struct report_making *making, struct db_report_account *account)
{
    const struct db_report_query *query = &making->report->query;
    char calendar[CALENDAR_NAME_MAX] = "";
    int r = query->by_day ? db_report_calendar_of(making->reader, account->account.number, calendar) : 0;
    r = r < 0 ? r : db_report_days_open(making->reader, calendar, &making->days);
    if (r < 0)
        return r;
    snprintf(account->zone, sizeof account->zone, "%s", making->days.name);
    account->from_ns = query->by_day ? db_report_midnight(making->days.zone, query->day) : query->from_ns;
    account->from_ns = account->from_ns > 0 ? account->from_ns : 1; /* before it nothing is */
    account->to_ns = query->by_day ? db_report_midnight(making->days.zone, query->day + 1) : query->to_ns;
    account->to_ns = account->to_ns < query->now_ns ? account->to_ns : query->now_ns;
    account->from_ns = account->from_ns < account->to_ns ? account->from_ns : account->to_ns;
    return 0;
}

int db_report_first_row(struct db_reader *reader, int64_t ns, uint64_t *ret)
{
    *ret = INT64_MAX;
    int r = db_query_first(reader, "SELECT id FROM ledger WHERE ts_ns >= ?1 ORDER BY id LIMIT 1",
                           RECORD_PARAMS(ns), RECORD_INTO((int64_t *)ret));
    return r < 0 ? r : 0;
}

static int set_rows(struct report_making *making, size_t i)
{
    struct db_report_account *account = &making->report->accounts[i];
    for (size_t k = 0; k < i; k++) {
        const struct db_report_account *same = &making->report->accounts[k];
        if (same->from_ns == account->from_ns && same->to_ns == account->to_ns) {
            account->from_id = same->from_id;
            account->to_id = same->to_id;
            return 0;
        }
    }
    int r = db_report_first_row(making->reader, account->from_ns, &account->from_id);
    return r < 0 ? r : db_report_first_row(making->reader, account->to_ns, &account->to_id);
}

/* ---- the curve ---- */

static void take_flow(void *ctx, const struct db_flow *flow)
{
    struct report_making *making = ctx;
    if ((making->n_flows & (making->n_flows - 1)) == 0) {
        size_t room = making->n_flows ? 2 * making->n_flows : 1;
        struct report_flow *more = reallocarray(making->flows, room, sizeof *more);
        if (!more) {
            making->r = -ENOMEM;
            return;
        }
        making->flows = more;
    }
    making->flows[making->n_flows++] = (struct report_flow){flow->ts_ns, flow->amount, flow->kind};
}

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct report_making *making = ctx;
    struct report_curve *curve = making->curve;
    making->page_ns = point->ts_ns;
    if (making->r == 0 && point->ts_ns < curve->into->to_ns)
        making->r = db_report_curve_add(curve, point);
}

/* Points of the period, a page at a time. */
static int add_points(struct report_making *making, const struct db_report_account *account)
{
    int64_t after_ns;
    int r = 0;
    making->page_ns = account->from_ns - 1;
    do {
        after_ns = making->page_ns;
        r = db_reader_equity_after(making->reader, account->account.number, after_ns, PAGE, take_point,
                                   making);
        r = r < 0 ? r : making->r;
    } while (r == 0 && making->page_ns > after_ns && making->page_ns < account->to_ns);
    return r;
}

static int read_curve(struct report_making *making, struct db_report_account *account,
                      struct report_curve *curve)
{
    struct db_equity_point before;
    making->n_flows = 0;
    making->curve = curve;
    int r = db_reader_flows(making->reader, account->account.number, account->account.currency, 0, take_flow,
                            making);
    r = r < 0 ? r : making->r;
    if (r < 0)
        return r;
    *curve = (struct report_curve){.into = account,
                                   .zone = making->days.zone,
                                   .flows = making->flows,
                                   .n_flows = making->n_flows,
                                   .based = making->base.event_seq > 0};
    account->based = curve->based && account->from_ns < making->base.ts_ns;
    r = db_reader_equity_before(making->reader, account->account.number, account->from_ns, &before);
    if (r < 0 && r != -ENOENT)
        return r;
    db_report_curve_begin(curve, r == 0 ? &before : NULL);
    r = add_points(making, account);
    return r < 0 ? r : db_report_curve_end(curve);
}

int db_report_day_gain(struct db_reader *reader, const struct db_account *of, int64_t day, int128_t *ret_pnl,
                       int128_t *ret_closing)
{
    struct report_making making = {.reader = reader};
    struct report_curve curve = {0};
    struct db_report_account account = {
        .account = *of, .from_ns = db_report_midnight(NULL, day), .to_ns = db_report_midnight(NULL, day + 1)};
    account.from_ns = account.from_ns > 0 ? account.from_ns : 1;
    int r = db_base_read(reader, &making.base);
    r = r < 0 ? r : read_curve(&making, &account, &curve);
    if (r == 0) {
        *ret_pnl = account.pnl;
        *ret_closing = account.closing;
    }
    db_report_curve_finish(&curve);
    finish_account(&account);
    free(making.flows);
    return r;
}

/* ---- sums ---- */

static int sum_ledger(struct db_reader *reader, struct db_report_account *account)
{
    int64_t fees, interest, dividends;
    int r = db_query_first(
        reader,
        "SELECT ifnull(sum(iif(kind = 'fee', -amount, 0)), 0), ifnull(sum(iif(kind = 'interest', "
        "-amount, 0)), 0), ifnull(sum(iif(kind = 'dividend', amount, 0)), 0) FROM ledger WHERE account = "
        "?1 AND asset = ?2 AND id >= ?3 AND id < ?4",
        RECORD_PARAMS(account->account.number, account->account.currency, account->from_id, account->to_id),
        RECORD_INTO(&fees, &interest, &dividends));
    if (r < 0)
        return r;
    account->fees = fees;
    account->interest = interest;
    account->dividends = dividends;
    r = db_query_first(
        reader,
        "SELECT count(*), ifnull(sum(state = 'REJECTED'), 0), ifnull(sum(state IN ('CANCELED', 'EXPIRED')), "
        "0) FROM orders WHERE account = ?1 AND created_ns >= ?2 AND created_ns < ?3",
        RECORD_PARAMS(account->account.number, account->from_ns, account->to_ns),
        RECORD_INTO(&account->orders, &account->rejected, &account->cancelled));
    return r < 0 ? r : 0;
}

static void settle(struct db_report_account *account)
{
    bool known = account->pnl != DB_REPORT_UNKNOWN && account->realized != DB_REPORT_UNKNOWN &&
                 account->unrealized != DB_REPORT_UNKNOWN && !account->based;
    account->other = known ? account->pnl - (account->realized + account->unrealized + account->dividends -
                                             account->fees - account->interest)
                           : DB_REPORT_UNKNOWN;
}

/* One walk through the fills for each period: UTC's, and that of another zone. */
static int read_trades(struct report_making *making)
{
    struct db_report *report = making->report;
    int r = 0;
    for (size_t i = 0; i < report->n_accounts && r == 0; i++) {
        bool done = false;
        for (size_t k = 0; k < i && !done; k++)
            done = report->accounts[k].from_ns == report->accounts[i].from_ns &&
                   report->accounts[k].to_ns == report->accounts[i].to_ns;
        r = done ? 0 : db_report_trades(&making->prices, &making->base, &report->accounts[i], report);
    }
    return r;
}

/* ---- the report ---- */

static int check(struct db_reader *reader, const struct db_report_query *query)
{
    int64_t from_ns = query->by_day ? query->day * REPORT_DAY_NS : query->from_ns;
    if (!query->by_day && query->to_ns <= query->from_ns)
        return fail(reader, -EDOM, "the period ends before it begins: a later end would be right");
    /* A day begins later west of Greenwich. */
    if (from_ns > query->now_ns)
        return fail(reader, -EDOM, "the period is in the future: one that has started would be right");
    return 0;
}

static void set_whole(struct db_report *report)
{
    const struct db_report_query *query = &report->query;
    report->from_ns = query->by_day ? db_report_midnight(NULL, query->day) : query->from_ns;
    report->to_ns = query->by_day ? db_report_midnight(NULL, query->day + 1) : query->to_ns;
    report->to_ns = report->to_ns < query->now_ns ? report->to_ns : query->now_ns;
    if (report->from_ns == INT64_MIN)
        report->from_ns = report->first_ns;
}

/* All but what needs prices. Accounts that begin after the period are no part of it. */
static int read_each(struct report_making *making)
{
    struct db_report *report = making->report;
    const size_t n = report->n_accounts;
    int r = 0;
    report->n_accounts = 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        struct db_report_account *account = &report->accounts[report->n_accounts];
        *account = report->accounts[i];
        r = set_period(making, account);
        if (r < 0 || account->account.created_ns >= account->to_ns)
            continue;
        const size_t at = report->n_accounts++;
        r = read_curve(making, account, &making->curves[at]);
        r = r < 0 ? r : set_rows(making, at);
        r = r < 0 ? r : sum_ledger(making->reader, account);
    }
    return r;
}

static int read_all(struct report_making *making)
{
    struct db_report *report = making->report;
    int r = db_base_read(making->reader, &making->base);
    r = r < 0 ? r : read_accounts(making);
    set_whole(report);
    making->curves = calloc(report->n_accounts + 1, sizeof *making->curves);
    r = r == 0 && !making->curves ? -ENOMEM : r;
    r = r < 0 ? r : read_each(making);
    r = r < 0 ? r : db_report_prices_open(making->reader, &making->prices);
    r = r < 0 ? r : read_trades(making);
    for (size_t i = 0; i < report->n_accounts && r == 0; i++) {
        settle(&report->accounts[i]);
        if (report->accounts[i].based)
            db_report_lose(&report->accounts[i], making->base.ts_ns);
        r = db_report_benchmarks(&making->prices, &making->curves[i], &report->accounts[i]);
        if (r == 0 && report->query.pictures)
            r = db_report_marks(&making->prices, &report->accounts[i]);
    }
    r = r < 0 ? r : db_report_stated(making->reader, report);
    return r < 0 ? r : db_report_quality(&making->prices, report);
}

int db_report_make(struct db_reader *reader, const struct db_report_query *query, struct db_report *ret)
{
    struct report_making making = {.reader = reader, .report = ret};
    *ret = (struct db_report){.query = *query};
    int r = check(reader, query);
    if (r < 0 || (r = db_reader_begin(reader)) < 0)
        return r;
    r = read_all(&making);
    db_reader_end(reader);
    for (size_t i = 0; making.curves && i < ret->n_accounts; i++)
        db_report_curve_finish(&making.curves[i]);
    free(making.curves);
    free(making.flows);
    zone_close(making.days.zone);
    db_report_prices_finish(&making.prices);
    if (r == -ENOMEM)
        fail(reader, r, "out of memory");
    if (r < 0)
        db_report_finish(ret);
    return r;
}

void db_report_finish(struct db_report *report)
{
    for (size_t i = 0; i < report->n_accounts; i++)
        finish_account(&report->accounts[i]);
    free(report->accounts);
    free(report->markets);
    free(report->alerts);
    *report = (struct db_report){0};
}
