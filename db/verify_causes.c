/* Checks what each row of the ledger is said to be of against the row itself, fills, actions, commands and
 * terms, and computes interest again. record/ledger_cause.h says what a cause has. */
#include <errno.h>
#include <inttypes.h>

#include "db/books.h"
#include "db/row_hash.h"
#include "db/verification.h"
#include "exchange/fill_rules.h"
#include "exchange/margin.h"

/* "AND kind = …" of the rows that a cause may be of, beside loans that are paid back with it. */
#define MAY_BE \
    "CASE c.cause WHEN 'fill' THEN l.fill_id IS NOT NULL WHEN 'opening' THEN l.kind = 'deposit' AND " \
    "l.amount > 0 WHEN 'deposit' THEN l.kind = 'deposit' AND l.amount > 0 WHEN 'withdrawal' THEN l.kind = " \
    "'deposit' AND l.amount < 0 WHEN 'fee' THEN l.kind = 'deposit' AND l.amount > 0 WHEN 'venue' THEN l.kind " \
    "= 'deposit' WHEN 'interest' THEN l.kind = 'interest' AND l.amount BETWEEN -c.due AND 0 WHEN 'arrears' " \
    "THEN l.kind = 'interest' AND l.amount BETWEEN -c.due AND 0 WHEN 'dividend' THEN l.kind = 'dividend' AND " \
    "(c.due IS NULL OR l.amount BETWEEN min(c.due, 0) AND max(c.due, 0)) ELSE l.kind = c.cause END"

/* Each gives the first row that is wrong. */
static const struct {
    const char *table, *sql, *words;
} checks[] = {
    {"ledger_causes",
     "SELECT l.id FROM ledger AS l LEFT JOIN ledger_causes AS c USING (id) WHERE c.id IS NULL AND l.id > ?1 AND "
     "l.id > (SELECT ifnull(max(CAST(value AS INTEGER)), 0) FROM meta WHERE key = '" DB_CAUSES_AFTER_KEY "') "
     "ORDER BY l.id LIMIT 1",
     "is missing: that row of the ledger has no cause"},
    {"ledger_causes",
     "SELECT c.id FROM ledger_causes AS c JOIN ledger AS l USING (id) WHERE (l.fill_id IS NOT NULL) <> (c.cause "
     "= 'fill') OR NOT (" MAY_BE " OR (l.kind = 'borrow' AND c.cause NOT IN ('interest', 'arrears', 'fee'))) "
     "ORDER BY c.id LIMIT 1",
     "does not say what the ledger's row is of"},
    {"ledger_causes",
     "SELECT c.id FROM ledger_causes AS c JOIN ledger AS l USING (id) JOIN fills AS f ON f.id = l.fill_id WHERE "
     "(c.symbol, c.event) IS NOT (f.symbol, f.input_seq) ORDER BY c.id LIMIT 1",
     "is of another fill than the ledger's row"},
    {"ledger_causes",
     "SELECT c.id FROM ledger_causes AS c WHERE c.cause IN ('dividend', 'split') AND NOT EXISTS (SELECT 1 FROM "
     "corporate_actions AS a WHERE (a.symbol, a.action, a.kind) IS (c.symbol, c.action, c.cause) AND (a.input_seq "
     "= c.event OR (a.kind = 'dividend' AND a.pay_ns > a.ts_ns AND a.input_seq < c.event))) AND c.id > ?1 ORDER "
     "BY c.id LIMIT 1",
     "names an action that is not there"},
    {"ledger_causes",
     "SELECT c.id FROM ledger_causes AS c JOIN ledger AS l USING (id) WHERE c.cause = 'transfer' AND l.kind = "
     "'transfer' AND c.derived = 0 AND NOT EXISTS (SELECT 1 FROM ledger AS o JOIN ledger_causes AS d USING (id) "
     "WHERE o.id BETWEEN l.id - 2 AND l.id + 2 AND o.kind = 'transfer' AND (o.account, d.counterparty, o.amount, "
     "o.asset, d.event) IS (c.counterparty, l.account, -l.amount, l.asset, c.event)) AND c.id > ?1 ORDER BY c.id "
     "LIMIT 1",
     "names another account than the transfer's"},
    {"ledger_causes",
     "SELECT c.id FROM ledger_causes AS c JOIN commands AS q ON q.id = c.command WHERE (q.peer_uid, q.key) IS NOT "
     "(c.uid, ifnull(c.command_key, '')) ORDER BY c.id LIMIT 1",
     "is of another client, or key, than its command"},
    {"ledger_causes",
     "SELECT c.id FROM ledger_causes AS c JOIN ledger AS l USING (id) WHERE c.cause = 'interest' AND c.rate_e6 <> "
     "(SELECT t.borrow_rate_e6 FROM account_terms AS t WHERE t.account = l.account AND t.event < c.event ORDER BY "
     "t.event DESC, t.id DESC LIMIT 1) ORDER BY c.id LIMIT 1",
     "has another rate than the account's terms then"},
    {"ledger_accruals",
     "SELECT c.id FROM ledger_accruals AS c WHERE c.cause = 'interest' AND c.rate_e6 <> (SELECT t.borrow_rate_e6 FROM "
     "account_terms AS t WHERE t.account = c.account AND t.event < c.input_seq ORDER BY t.event DESC, t.id DESC LIMIT "
     "1) ORDER BY c.id LIMIT 1",
     "has another rate than the account's terms then"},
    {"account_terms",
     "SELECT t.id FROM accounts AS a JOIN account_terms AS t ON t.id = (SELECT id FROM account_terms WHERE account "
     "= a.id ORDER BY event DESC, id DESC LIMIT 1) WHERE (1" DB_TERMS_OF_A ") IS NOT (1" DB_TERMS_OF_T
     ") ORDER BY t.id LIMIT 1",
     "is the newest of its account, which has other terms"},
};

/* What a rate is of, and what it gives; of rows, and of what has none. */
static void check_rate(struct verification *v, const char *table, uint64_t id, const struct ledger_cause *c,
                       int64_t scale)
{
    int128_t value = (int128_t)-c->qty * c->price, unit = 1;
    for (int64_t i = 0; i < scale; i++)
        unit *= 10;
    int64_t due = margin_interest(c->base, c->rate_e6, c->hours);
    if (c->price > 0 && (value + unit - 1) / unit != c->base)
        db_verify_wrong(v, table, id, "says another value of the short than its price gives");
    else if (due != c->due)
        db_verify_wrong(v, table, id, "says %" PRId64 " units of interest, and its rate gives %" PRId64,
                        c->due, due);
}

static int check_interest(struct verification *v)
{
#define INTEREST_OF(table) \
    "SELECT '" table "', c.id, ifnull(c.qty, 0), ifnull(c.price, 0), c.base, c.rate_e6, c.hours, c.due, " \
    "ifnull(s.price_scale + s.qty_scale - s.quote_scale, 0) FROM " table \
    " AS c LEFT JOIN symbols AS s ON s.id = c.symbol WHERE c.cause = 'interest'"
    struct ledger_cause c = {0};
    const char *table;
    int64_t id, rate, scale;
    sqlite3_stmt *stmt;
    int r = db_query(
        v->reader, INTEREST_OF("ledger_causes") " UNION ALL " INTEREST_OF("ledger_accruals") " ORDER BY 1, 2",
        NULL, &stmt);
    while (r >= 0 && !db_verify_stopped(v) &&
           (r = db_query_next(
                v->reader, stmt,
                RECORD_INTO(&table, &id, &c.qty, &c.price, &c.base, &rate, &c.hours, &c.due, &scale))) > 0) {
        c.rate_e6 = (int32_t)rate;
        check_rate(v, table, (uint64_t)id, &c, scale);
    }
    return db_query_end(stmt, r < 0 ? r : 0);
}

int db_verify_causes(struct verification *v)
{
    int r = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && r == 0 && !db_verify_stopped(v); i++) {
        uint64_t id = 0;
        r = db_query_first(v->reader, checks[i].sql, RECORD_PARAMS(v->base.last_ledger), RECORD_INTO(&id));
        if (r > 0)
            db_verify_wrong(v, checks[i].table, id, "%s", checks[i].words);
        r = r < 0 ? r : 0;
    }
    return r == 0 && !db_verify_stopped(v) ? check_interest(v) : r;
}
