/* Times, and the words of a statement. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "db/books/statement_put.h"
#include "exchange/clock.h"

const char *db_statement_time(int64_t ns, char ret[static DB_STATEMENT_TIME_MAX])
{
    const int64_t whole = clock_whole_s(ns);
    time_t seconds = (time_t)whole;
    struct tm tm;
    char fraction[DECIMAL_TEXT_MAX] = "";
    if (!gmtime_r(&seconds, &tm))
        return strcpy(ret, "");
    const int64_t part = ns - whole * 1000000000;
    if (part > 0)
        decimal_format_short(part, 9, fraction);
    size_t n = strftime(ret, DB_STATEMENT_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(ret + n, DB_STATEMENT_TIME_MAX - n, "%.10sZ", part > 0 ? fraction + 1 : "");
    return ret;
}

const char *db_statement_source_word(enum db_statement_source source)
{
    static const char *const words[] = {"none", "venue", "trades", "stored", "stop", "fill"};
    return words[source];
}

const char *db_statement_moment_word(enum db_statement_moment moment)
{
    static const char *const words[] = {"opening", "reset", "closing"};
    return words[moment];
}

/* ---- lines ---- */

const struct db_statement_line db_statement_lines[DB_STATEMENT_LINES] = {
    {"opening", "Opening", offsetof(struct db_statement_money, opening), .needs = DB_STATEMENT_NEEDS_OPENING},
    {"deposits", "Deposits", offsetof(struct db_statement_money, deposits)},
    {"withdrawals", "Withdrawals", offsetof(struct db_statement_money, withdrawals)},
    {"transfers", "Transfers, in less out", offsetof(struct db_statement_money, transfers)},
    {"resets", "Resets", offsetof(struct db_statement_money, resets), .needs = DB_STATEMENT_NEEDS_RESET},
    {"exchanged", "Exchanged for other currencies", offsetof(struct db_statement_money, exchanged)},
    {"realized", "Realized", offsetof(struct db_statement_money, realized)},
    {"unrealized_change", "Change of unrealized", offsetof(struct db_statement_money, unrealized),
     .needs = DB_STATEMENT_NEEDS_OPENING | DB_STATEMENT_NEEDS_RESET | DB_STATEMENT_NEEDS_CLOSING},
    {"fees", "Fees", offsetof(struct db_statement_money, fees), .paid = true},
    {"interest", "Interest", offsetof(struct db_statement_money, interest), .paid = true},
    {"dividends", "Dividends", offsetof(struct db_statement_money, dividends)},
    {"closing", "Closing", offsetof(struct db_statement_money, closing), .needs = DB_STATEMENT_NEEDS_CLOSING},
};

bool db_statement_line_known(const struct db_statement_line *line, const struct db_statement_money *money)
{
    return !((line->needs & DB_STATEMENT_NEEDS_OPENING && money->no_opening) ||
             (line->needs & DB_STATEMENT_NEEDS_RESET && money->no_reset) ||
             (line->needs & DB_STATEMENT_NEEDS_CLOSING && money->no_closing));
}

int128_t db_statement_line_value(const struct db_statement_line *line, const struct db_statement_money *money)
{
    int128_t value;
    memcpy(&value, (const char *)money + line->at, sizeof value);
    return value;
}
