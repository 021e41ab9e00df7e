/* What of an account's Sharpe ratio is luck. */
#include <math.h>
#include <stdio.h>

#include "db/report/internal.h"
#include "strategy/metrics/deflate.h"

enum { DAY_HOURS = 24, NORMAL_KURTOSIS = 3 };

const char *db_report_luck_word(enum db_report_luck_kind kind)
{
    static const char *const words[] = {"unknown", "few_trades", "luck", "more_than_luck"};
    return words[kind];
}

static enum db_report_luck_kind kind_of(const struct db_report_account *account, double psr)
{
    if (account->based || isnan(psr))
        return DB_REPORT_LUCK_UNKNOWN;
    if (account->trades.n < DEFLATE_LUCK_TRADES)
        return DB_REPORT_LUCK_FEW;
    return psr > DEFLATE_LUCK_LEVEL ? DB_REPORT_LUCK_MORE : DB_REPORT_LUCK_LUCK;
}

static void put_words(const struct db_report_account *account, struct db_report_luck *ret)
{
    char found[160];
    snprintf(
        found, sizeof found,
        "over %.1f days and %zu closed trade%s the Sharpe ratio is %.2f with a standard error of %.2f, and "
        "above 0 with a probability of %.1f %%",
        ret->days, account->trades.n, account->trades.n == 1 ? "" : "s", ret->sharpe, ret->error,
        100 * ret->psr);
    switch (ret->kind) {
    case DB_REPORT_LUCK_MORE:
        snprintf(ret->words, sizeof ret->words, "More than luck: %s.", found);
        break;
    case DB_REPORT_LUCK_LUCK:
        snprintf(ret->words, sizeof ret->words, "No more than luck: %s; above %.0f %% it would be more.",
                 found, 100 * DEFLATE_LUCK_LEVEL);
        break;
    case DB_REPORT_LUCK_FEW:
        snprintf(ret->words, sizeof ret->words, "Too few trades for a verdict on luck, %d are needed: %s.",
                 (int)DEFLATE_LUCK_TRADES, found);
        break;
    case DB_REPORT_LUCK_UNKNOWN:
        snprintf(ret->words, sizeof ret->words, "No verdict on luck: %s.",
                 account->based ? "of the time before the record's beginning nothing is known"
                 : account->hours < REPORT_HOURS_LEAST ? "there are fewer than 24 hours of returns"
                                                       : "equity did not move, or its returns are not known");
    }
}

void db_report_luck(const struct db_report_account *account, struct db_report_luck *ret)
{
    const struct metrics *m = &account->metrics;
    const double periods = metrics_periods_per_year(REPORT_HOUR_NS);
    const struct deflated deflated = overfit_deflated_moments(
        m->sharpe / sqrt(periods), m->skew, m->kurtosis + NORMAL_KURTOSIS, m->n - m->missing, 0);
    *ret = (struct db_report_luck){.days = (double)account->hours / DAY_HOURS,
                                   .sharpe = m->sharpe,
                                   .error = sqrt(periods) / deflated.scale,
                                   .psr = deflated.psr};
    ret->kind = kind_of(account, ret->psr);
    put_words(account, ret);
}
