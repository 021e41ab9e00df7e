/* A report as an object: numbers as numbers, decimals with every digit, null for what is not known. */
#include <math.h>
#include <string.h>

#include "db/report/internal.h"
#include "exchange/decimal_json.h"
#include "record/json.h"
#include "strategy/metrics/deflate.h"

static json_t *money(int128_t units, int scale)
{
    return units == DB_REPORT_UNKNOWN ? json_null() : decimal_json(units, scale);
}

/* Below 0 it is not known. */
static json_t *number(int64_t n)
{
    return n >= 0 ? json_integer(n) : json_null();
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *time_or_null(int64_t ns)
{
    return ns > 0 ? json_integer(ns) : json_null();
}

static json_t *seconds(int64_t ns)
{
    return ns < 0 ? json_null() : json_real((double)ns / 1e9);
}

static json_t *price_or_null(int64_t price, int scale)
{
    return price > 0 ? decimal_json(price, scale) : json_null();
}

/* Takes both. */
static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *trades_object(const struct metrics_trades *trades)
{
    const struct metrics_trade_ratios ratios = metrics_trade_ratios(trades);
    bool any = trades->n > 0;
    json_t *object = json_object();
    set(object, "closed", json_integer((json_int_t)trades->n));
    set(object, "wins", json_integer((json_int_t)trades->wins));
    set(object, "losses", json_integer((json_int_t)trades->losses));
    set(object, "win_rate_share", real(any ? ratios.win_rate : NAN));
    set(object, "profit_factor", real(any ? ratios.profit_factor : NAN));
    set(object, "expectancy", real(any ? ratios.expectancy : NAN));
    set(object, "average_held_s", real(any ? ratios.average_held_ns / 1e9 : NAN));
    set(object, "largest_win", real(trades->wins ? trades->largest_win : NAN));
    set(object, "largest_loss", real(trades->losses ? trades->largest_loss : NAN));
    return object;
}

static json_t *symbol_object(const struct db_report_symbol *row)
{
    const struct symbol *s = &row->symbol;
    const int scale = s->quote_scale;
    json_t *object = json_object();
    set(object, "symbol", record_json_text(s->name));
    set(object, "venue", record_json_text(s->venue));
    set(object, "currency", record_json_text(s->quote));
    set(object, "in_equity", json_boolean(row->counts));
    set(object, "qty_from", decimal_json(row->qty_from, s->qty_scale));
    set(object, "qty_to", decimal_json(row->qty_to, s->qty_scale));
    set(object, "price_from", price_or_null(row->price_from, s->price_scale));
    set(object, "price_to", price_or_null(row->price_to, s->price_scale));
    set(object, "realized", money(row->realized, scale));
    set(object, "unrealized_change", money(row->unrealized, scale));
    set(object, "fees", money(row->fees, scale));
    set(object, "fees_base", money(row->fees_base, s->qty_scale));
    set(object, "base", record_json_text(s->base));
    set(object, "pnl", money(row->pnl, scale));
    set(object, "volume", money(row->volume, scale));
    set(object, "fills", json_integer((json_int_t)row->fills));
    set(object, "trades", trades_object(&row->trades));
    set(object, "hold_return_share", real(row->hold_return));
    return object;
}

static json_t *strategy_object(const struct db_report_strategy *row, int scale)
{
    json_t *object = json_object();
    set(object, "strategy", record_json_text(row->name));
    set(object, "pnl", money(row->pnl, scale));
    set(object, "fees", money(row->fees, scale));
    set(object, "fills", json_integer((json_int_t)row->fills));
    set(object, "trades", trades_object(&row->trades));
    return object;
}

static json_t *day_object(const struct db_report_day *row, int scale)
{
    char day[DB_REPORT_DAY_MAX];
    json_t *object = json_object();
    set(object, "day", json_string(db_report_day(row->day, day)));
    set(object, "closing", row->points ? money(row->closing, scale) : json_null());
    set(object, "flows", money(row->flow, scale));
    set(object, "pnl", money(row->pnl, scale));
    set(object, "return_share", real(row->total_return));
    return object;
}

static json_t *benchmark_object(const struct db_report_benchmark *row)
{
    json_t *object = json_object();
    bool any = row->symbols > 0;
    set(object, "symbols", json_integer((json_int_t)row->symbols));
    set(object, "return_share", real(any ? row->metrics.total_return : NAN));
    set(object, "max_drawdown_share", real(any ? row->metrics.max_drawdown : NAN));
    set(object, "volatility_share_year", real(any ? row->metrics.volatility : NAN));
    set(object, "sharpe", real(any ? row->metrics.sharpe : NAN));
    set(object, "alpha_share_year", real(row->against.alpha));
    set(object, "beta", real(row->against.beta));
    return object;
}

static json_t *flows_object(const struct db_report_account *a, int scale)
{
    json_t *object = json_object();
    set(object, "deposits", money(a->deposits, scale));
    set(object, "withdrawals", money(a->based ? DB_REPORT_UNKNOWN : -a->withdrawals, scale));
    set(object, "transfers", money(a->transfers, scale));
    set(object, "resets", money(a->reset, scale));
    set(object, "count", number(a->based ? -1 : (int64_t)(a->flows + a->resets)));
    return object;
}

static void set_curve(json_t *object, const struct db_report_account *a, int scale)
{
    set(object, "opening", money(a->opening, scale));
    set(object, "opening_ns", time_or_null(a->opening_ns));
    set(object, "closing", money(a->closing, scale));
    set(object, "closing_ns", time_or_null(a->closing_ns));
    set(object, "cash", money(a->cash, scale));
    set(object, "peak", money(a->peak, scale));
    set(object, "flows", flows_object(a, scale));
    set(object, "pnl", money(a->pnl, scale));
    set(object, "realized", money(a->realized, scale));
    set(object, "unrealized_change", money(a->unrealized, scale));
    set(object, "fees", money(a->fees, scale));
    set(object, "interest", money(a->interest, scale));
    set(object, "dividends", money(a->dividends, scale));
    set(object, "other", money(a->other, scale));
}

/* Of the same period: null without one. */
static json_t *statement_object(const struct db_report_account *a)
{
    const struct db_statement_money *m = &a->statement;
    const int scale = m->scale;
    const bool priced = !m->no_opening && !m->no_reset && !m->no_closing;
    if (!a->stated)
        return json_null();
    json_t *object = json_object();
    set(object, "opening", money(m->no_opening ? DB_REPORT_UNKNOWN : m->opening, scale));
    set(object, "flows", money(m->no_reset ? DB_REPORT_UNKNOWN : db_statement_flows(m), scale));
    set(object, "realized", money(m->realized, scale));
    set(object, "unrealized_change", money(priced ? m->unrealized : DB_REPORT_UNKNOWN, scale));
    set(object, "fees", money(m->fees, scale));
    set(object, "interest", money(m->interest, scale));
    set(object, "dividends", money(m->dividends, scale));
    set(object, "closing", money(m->no_closing ? DB_REPORT_UNKNOWN : m->closing, scale));
    return object;
}

/* Where the report is not the same, and why. */
static json_t *differences_array(const struct db_report_account *a)
{
    struct db_report_difference differences[DB_REPORT_DIFFERENCES_MAX];
    json_t *array = json_array();
    const size_t n = db_report_differences(a, differences);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_pack("{s:s, s:o, s:s}", "figure", differences[i].figure, "by",
                                               money(differences[i].by, a->statement.scale), "why",
                                               differences[i].why));
    return array;
}

static json_t *luck_object(const struct db_report_account *a)
{
    struct db_report_luck luck;
    json_t *object = json_object();
    db_report_luck(a, &luck);
    set(object, "verdict", json_string(db_report_luck_word(luck.kind)));
    set(object, "sharpe_error", real(luck.error));
    set(object, "psr", real(luck.psr));
    set(object, "level", json_real(DEFLATE_LUCK_LEVEL));
    set(object, "days", real(luck.days));
    set(object, "words", json_string(luck.words));
    return object;
}

static void set_ratios(json_t *object, const struct db_report_account *a)
{
    const struct metrics *m = &a->metrics;
    bool any = a->points > 0;
    set(object, "return_share", real(any ? a->total_return : NAN));
    set(object, "max_drawdown_share", real(any ? a->max_drawdown : NAN));
    set(object, "drawdown_share", real(any ? a->drawdown : NAN));
    set(object, "cagr_share_year", real(m->cagr));
    set(object, "volatility_share_year", real(m->volatility));
    set(object, "sharpe", real(m->sharpe));
    set(object, "sortino", real(m->sortino));
    set(object, "calmar", real(m->calmar));
    set(object, "best_hour_share", real(any ? m->best : NAN));
    set(object, "worst_hour_share", real(any ? m->worst : NAN));
    set(object, "exposure_share", real(a->exposure));
    set(object, "hours", json_integer((json_int_t)a->hours));
    set(object, "points", json_integer((json_int_t)a->points));
    set(object, "points_without_return", json_integer((json_int_t)a->unmeasured));
    set(object, "luck", luck_object(a));
}

static json_t *account_object(const struct db_report_account *a)
{
    const int scale = a->account.currency_scale;
    json_t *object = json_object(), *symbols = json_array(), *strategies = json_array(), *days = json_array();
    for (size_t i = 0; i < a->n_symbols; i++)
        json_array_append_new(symbols, symbol_object(&a->symbols[i]));
    for (size_t i = 0; i < a->n_strategies; i++)
        json_array_append_new(strategies, strategy_object(&a->strategies[i], scale));
    for (size_t i = 0; i < a->n_days; i++)
        json_array_append_new(days, day_object(&a->days[i], scale));
    set(object, "account", record_json_text(a->account.name));
    set(object, "currency", record_json_text(a->account.currency));
    set(object, "strategy", a->account.strategy[0] ? record_json_text(a->account.strategy) : json_null());
    set(object, "from_ns", json_integer(a->from_ns));
    set(object, "to_ns", json_integer(a->to_ns));
    set(object, "day_zone", record_json_text(a->zone));
    set(object, "created_in_period", json_boolean(a->created));
    set(object, "positions_before_known", json_boolean(!a->based));
    set_curve(object, a, scale);
    set(object, "statement", statement_object(a));
    set(object, "statement_differences", differences_array(a));
    set_ratios(object, a);
    set(object, "orders", number(a->based ? -1 : (int64_t)a->orders));
    set(object, "orders_refused", number(a->based ? -1 : (int64_t)a->rejected));
    set(object, "orders_cancelled", number(a->based ? -1 : (int64_t)a->cancelled));
    set(object, "fills", number(a->based ? -1 : (int64_t)a->fills));
    set(object, "volume", money(a->volume, scale));
    set(object, "trades", a->based ? json_null() : trades_object(&a->trades));
    set(object, "benchmark_streamed", benchmark_object(&a->streamed));
    set(object, "benchmark_traded", benchmark_object(&a->traded));
    set(object, "symbols", symbols);
    set(object, "strategies", strategies);
    set(object, "days", days);
    return object;
}

static json_t *market_object(const struct db_report_market *m)
{
    json_t *object = json_object();
    bool any = m->interval_ns > 0;
    set(object, "symbol", record_json_text(m->symbol.name));
    set(object, "venue", record_json_text(m->symbol.venue));
    set(object, "interval_s", any ? json_real((double)m->interval_ns / 1e9) : json_null());
    set(object, "bars", any ? json_integer(m->bars) : json_null());
    set(object, "bars_expected", any && m->expected >= 0 ? json_integer(m->expected) : json_null());
    set(object, "bars_missing", number(m->missing));
    set(object, "gaps", number(m->gaps));
    set(object, "gap_bars", number(m->in_gaps));
    set(object, "gap_bars_filled", number(m->filled));
    set(object, "revisions", json_integer(m->revisions));
    return object;
}

static json_t *alert_object(const struct db_report_alert *a)
{
    json_t *object = json_object();
    set(object, "id", json_integer((json_int_t)a->id));
    set(object, "code", record_json_text(a->code));
    set(object, "severity", record_json_text(db_words_severity.names[a->severity]));
    set(object, "raised_ns", json_integer(a->ts_ns));
    set(object, "last_ns", json_integer(a->last_ns));
    set(object, "recovered_ns", time_or_null(a->closed_ns));
    set(object, "count", json_integer(a->count));
    set(object, "open", json_boolean(a->open));
    set(object, "text", record_json_text(a->text));
    return object;
}

static json_t *alerts_object(const struct db_report *report)
{
    json_t *object = json_object(), *raised = json_object(), *open = json_object(), *list = json_array();
    for (int i = 0; i < 3; i++) {
        set(raised, db_words_severity.names[i],
            number(report->alerts_lost ? -1 : (int64_t)report->raised[i]));
        set(open, db_words_severity.names[i], json_integer((json_int_t)report->open[i]));
    }
    for (size_t i = 0; i < report->n_alerts; i++)
        json_array_append_new(list, alert_object(&report->alerts[i]));
    set(object, "raised", raised);
    set(object, "open_now", open);
    set(object, "newest", list);
    return object;
}

static json_t *parity_object(const struct db_report *report)
{
    if (!report->parity_known)
        return json_null();
    json_t *object = json_object();
    set(object, "state", record_json_text(report->parity_state));
    set(object, "days", json_integer(report->parity_days));
    set(object, "checked_ns", time_or_null(report->parity_ns));
    set(object, "compared_to_ns", time_or_null(report->parity_to_ns));
    set(object, "detail", report->parity_detail[0] ? record_json_text(report->parity_detail) : json_null());
    return object;
}

json_t *db_report_json(const struct db_report *report)
{
    char title[DB_REPORT_TITLE_MAX];
    json_t *object = json_object(), *accounts = json_array(), *markets = json_array();
    for (size_t i = 0; i < report->n_accounts; i++)
        json_array_append_new(accounts, account_object(&report->accounts[i]));
    for (size_t i = 0; i < report->n_markets; i++)
        json_array_append_new(markets, market_object(&report->markets[i]));
    set(object, "schema", json_string("papertape.report/1"));
    set(object, "period", json_string(db_report_title(report, title)));
    set(object, "from_ns", json_integer(report->from_ns));
    set(object, "to_ns", json_integer(report->to_ns));
    set(object, "record_from_ns", time_or_null(report->first_ns));
    set(object, "accounts", accounts);
    set(object, "markets", markets);
    set(object, "bars_missing", number(report->bars_missing));
    set(object, "feed_silent_s", seconds(report->silent_ns));
    set(object, "alerts", alerts_object(report));
    set(object, "parity", parity_object(report));
    set(object, "observed_s", seconds(report->observed_ns));
    set(object, "up_s", seconds(report->up_ns));
    const bool known = report->observed_ns > 0;
    set(object, "down_s", seconds(known ? report->observed_ns - report->up_ns : -1));
    set(object, "outages", known ? json_integer((json_int_t)report->outages) : json_null());
    set(object, "runs_killed", known ? json_integer((json_int_t)report->killed) : json_null());
    set(object, "uptime_unknown_s", seconds(report->unknown_ns));
    set(object, "uptime_share", real(known ? (double)report->up_ns / (double)report->observed_ns : NAN));
    return object;
}
