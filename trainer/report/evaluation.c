#include "trainer/report/evaluation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "exchange/symbol.h"

#define NS_PER_S INT64_C(1000000000)
enum { DIGITS = 4 };

const char *trainer_report_time(int64_t ns, char ret[static REPORT_TIME_MAX])
{
    struct tm tm;
    time_t seconds = (time_t)(ns / NS_PER_S - (ns % NS_PER_S < 0));
    if (!gmtime_r(&seconds, &tm) || strftime(ret, REPORT_TIME_MAX, "%Y-%m-%d %H:%M", &tm) == 0)
        snprintf(ret, REPORT_TIME_MAX, "n/a");
    return ret;
}

int64_t trainer_report_close_ns(const struct env_market *market, size_t row)
{
    return env_market_open_ns(market, row) + env_market_view(market)->interval_ns;
}

bool trainer_report_is_missing(const struct env_market *market, size_t row, int asset)
{
    const struct env_market_view *view = env_market_view(market);
    enum { CLOSE = 3, PRICES = 4 };
    return view->bars && !(view->bars[(row * (size_t)view->n + (size_t)asset) * PRICES + CLOSE] > 0);
}

bool trainer_report_all_missing(const struct env_market *market, size_t row)
{
    for (int i = 0; i < env_market_view(market)->n; i++)
        if (!trainer_report_is_missing(market, row, i))
            return false;
    return true;
}

const char *trainer_report_currency(const struct env_market *market)
{
    const char *quote = symbol_quote(env_market_asset(market, 0));
    return quote ? quote : "currency";
}

/* ---- the verdict ---- */

static void fact(struct text *text, const char *name, double value, const char *remark)
{
    report_page_fact_number(text, name, value, DIGITS, remark);
}

/* And percent. */
static void money(struct text *text, const char *name, double value, const char *remark)
{
    report_page_fact_fixed(text, name, value, 2, remark);
}

void trainer_report_verdict(struct text *text, const struct verdict *verdict)
{
    char words[VERDICT_TEXT_MAX], interval[96], random[96];
    int good = verdict->kind == VERDICT_NONE ? -1 : metrics_verdict_good(verdict->kind);
    report_page_sentence(text, metrics_verdict_text(verdict, words), good);
    if (verdict->kind == VERDICT_NONE)
        return;
    snprintf(interval, sizeof interval, "%.0f %% interval %+.2f to %+.2f points, blocks of %.0f steps",
             100 * VERDICT_CONFIDENCE, 100 * verdict->low, 100 * verdict->high, verdict->block);
    snprintf(random, sizeof random, "share of %d random policies with the same trades that do as well",
             verdict->n_random);
    report_page_facts(text);
    money(text, "Return", 100 * verdict->total_return, "%");
    money(text, "Holding", 100 * verdict->benchmark_return, "%");
    money(text, "Excess", 100 * verdict->excess, isfinite(verdict->low) ? interval : "points; no interval");
    fact(text, "p", verdict->p, isfinite(verdict->p) ? random : "not tested");
    money(text, "Gain before fees", verdict->gain, NULL);
    money(text, "Fees", verdict->fees, NULL);
    if (verdict->n_seeds > 0) {
        snprintf(words, sizeof words, "of %d seeds; the figures are those of the median one",
                 verdict->n_seeds);
        report_page_fact_fixed(text, "Above holding", verdict->n_above, 0, words);
    }
    report_page_facts_end(text);
}

/* ---- figures ---- */

static void compared(struct text *text, const char *name, double own, double held)
{
    report_page_row(text);
    report_page_cell(text, name);
    report_page_value_fixed(text, own, 2);
    report_page_value_fixed(text, held, 2);
    report_page_row_end(text);
}

static void compare(struct text *text, const struct trainer_evaluated *evaluated)
{
    static const char *const names[] = {"", "policy", "holding"};
    const struct training_episode *episode = evaluated->episode;
    const struct metrics_series own = metrics_equity(episode->capital, episode->equity, episode->n);
    const struct metrics_series held = metrics_equity(episode->capital, episode->benchmark, episode->n);
    double periods = metrics_periods_per_year(evaluated->row_ns);
    struct metrics m, b;
    metrics_compute(&own, periods, &m);
    metrics_compute(&held, periods, &b);
    report_page_table(text, names, 3);
    compared(text, "Return, %", 100 * m.total_return, 100 * b.total_return);
    compared(text, "Return a year, %", 100 * m.cagr, 100 * b.cagr);
    compared(text, "Volatility a year, %", 100 * m.volatility, 100 * b.volatility);
    compared(text, "Sharpe ratio", m.sharpe, b.sharpe);
    compared(text, "Sortino ratio", m.sortino, b.sortino);
    compared(text, "Largest drawdown, %", 100 * m.max_drawdown, 100 * b.max_drawdown);
    compared(text, "Worst bar, %", 100 * m.worst, 100 * b.worst);
    report_page_table_end(text);
}

static void account(struct text *text, const struct trainer_evaluated *evaluated)
{
    const struct training_episode *episode = evaluated->episode;
    const struct metrics_trade_ratios ratios = metrics_trade_ratios(&episode->trades);
    const char *currency = trainer_report_currency(evaluated->market);
    double steps = (double)episode->n;
    char words[96];
    report_page_facts(text);
    money(text, "Capital", episode->capital, currency);
    snprintf(words, sizeof words, "%s, %.3g %% of the capital", currency,
             100 * episode->fees / episode->capital);
    money(text, "Fees", episode->fees, words);
    snprintf(words, sizeof words, "%s, %.3g times the capital", currency,
             episode->turnover / episode->capital);
    money(text, "Turnover", episode->turnover, words);
    snprintf(words, sizeof words, "%zu purchases, %zu sales", episode->buys, episode->sells);
    report_page_fact_fixed(text, "Fills", (double)(episode->buys + episode->sells), 0, words);
    snprintf(words, sizeof words, "from flat to flat; %zu open at the end", episode->open_trades);
    report_page_fact_fixed(text, "Trades", (double)episode->trades.n, 0, words);
    money(text, "Winning trades, %", 100 * ratios.win_rate, NULL);
    fact(text, "Profit factor", ratios.profit_factor, "what winning trades won, by what others lost");
    money(text, "Exposed, %", 100 * (double)episode->exposed / steps,
          "bars at whose close something is held");
    money(text, "Invested, %", 100 * episode->invested / steps, "mean value of positions, of equity");
    if (episode->ruined)
        report_page_fact(text, "Ruined", "yes", "it ended before its bars did");
    report_page_facts_end(text);
}

int trainer_report_evaluation(struct text *text, const struct trainer_evaluated *evaluated)
{
    report_page_heading(text, "Against holding");
    compare(text, evaluated);
    int r = trainer_report_curves(text, evaluated);
    report_page_heading(text, "Trades");
    account(text, evaluated);
    r = r < 0 ? r : trainer_report_trades(text, evaluated);
    report_page_heading(text, "Actions");
    if (r == 0)
        trainer_report_actions(text, evaluated);
    return r;
}
