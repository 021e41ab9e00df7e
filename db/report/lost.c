/* What a rebuild of the database lost (db/rebuilt.h) is not known: never 0. */
#include <math.h>

#include "db/rebuilt.h"
#include "db/report/internal.h"

/* Did a rebuild after from_ns lose rows of a table that the event log does not have? 1, 0, -errno. */
static int lost_since(struct db_reader *reader, const char *table, int64_t from_ns)
{
    return db_query_first(reader,
                          "SELECT 1 FROM rebuilds AS r JOIN rebuild_sources AS s ON s.rebuild = r.id "
                          "WHERE s.name = ?1 AND r.ts_ns > ?2 AND (s.source LIKE '%" DB_REBUILT_LOST
                          "%' OR s.source LIKE '%" DB_REBUILT_PART "%') LIMIT 1",
                          RECORD_PARAMS(table, from_ns), RECORD_INTO(&(int64_t){0}));
}

int db_report_lost(struct db_reader *reader, struct db_report *report)
{
    int alerts = lost_since(reader, "alerts", report->from_ns);
    int gaps = alerts < 0 ? alerts : lost_since(reader, "gaps", report->from_ns);
    report->alerts_lost = alerts > 0;
    report->gaps_lost = gaps > 0;
    return alerts < 0 || gaps < 0 ? (alerts < 0 ? alerts : gaps) : 0;
}

static void lose_lists(struct db_report_account *account)
{
    for (size_t i = 0; i < account->n_symbols; i++) {
        struct db_report_symbol *symbol = &account->symbols[i];
        symbol->realized = symbol->unrealized = symbol->fees = symbol->pnl = symbol->volume =
            symbol->fees_base = DB_REPORT_UNKNOWN;
    }
    for (size_t i = 0; i < account->n_strategies; i++)
        account->strategies[i].pnl = account->strategies[i].fees = DB_REPORT_UNKNOWN;
    for (size_t i = 0; i < account->n_days; i++)
        if (account->days[i].points == 0)
            account->days[i].flow = DB_REPORT_UNKNOWN;
}

void db_report_lose(struct db_report_account *account, int64_t base_ns)
{
    struct metrics *m = &account->metrics;
    account->deposits = account->withdrawals = account->transfers = account->reset = DB_REPORT_UNKNOWN;
    account->realized = account->unrealized = account->fees = account->interest = account->dividends =
        account->other = account->volume = DB_REPORT_UNKNOWN;
    lose_lists(account);
    if (account->opening_ns == 0 || account->opening_ns >= base_ns)
        return;
    /* Its curve is older than its ledger: what was moved between is not known. */
    account->pnl = DB_REPORT_UNKNOWN;
    account->total_return = account->max_drawdown = NAN;
    m->cagr = m->volatility = m->sharpe = m->sortino = m->calmar = m->best = m->worst = NAN;
}
