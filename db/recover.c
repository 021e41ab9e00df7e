#include "db/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/base.h"
#include "db/holdings.h"
#include "db/queue.h"
#include "db/reader_query.h"
#include "db/records.h"
#include "db/report/report.h"
#include "db/row_hash.h"
#include "exchange/fail.h"
#include "exchange/fill.h"

/* A split, of the symbol with this id in the database. */
struct known_split {
    int64_t symbol, ts_ns;
    uint64_t input_seq;
    struct stock_split split;
    char base[ASSET_NAME_MAX];
};

struct recovery {
    struct db_reader *reader;
    struct db_recovered *to;
    const struct symbol *symbols;
    int n_symbols;
    struct db_base base;
    struct db_holdings holdings; /* by account's number and symbol's id */
    struct known_split *splits;  /* in the order in which they took effect */
    size_t n_splits, splits_done;
    char err[DB_ERROR_MAX]; /* of the first failure that is not the reader's own */
    int r;                  /* the first failure in a callback */
};

/* Room for one more, zeroed, at the end of a growing array; NULL without memory. */
static void *append(struct recovery *recovery, void **rows, size_t *n, size_t size)
{
    if ((*n & (*n - 1)) == 0) {
        void *more = realloc(*rows, (*n ? 2 * *n : 1) * size);
        if (!more) {
            snprintf(recovery->err, sizeof recovery->err, "out of memory");
            recovery->r = -ENOMEM;
            return NULL;
        }
        *rows = more;
    }
    void *row = (char *)*rows + (*n)++ * size;
    memset(row, 0, size);
    return row;
}

#define APPEND(recovery, rows, n) append(recovery, (void **)&(rows), &(n), sizeof *(rows))

/* Is it the stored symbol? A symbol that names no venue matches any. */
static bool same_symbol(const struct symbol *s, const struct symbol *stored)
{
    return strcmp(s->name, stored->name) == 0 && (!s->venue[0] || strcmp(s->venue, stored->venue) == 0);
}

static int index_of(const struct recovery *recovery, const struct symbol *stored)
{
    for (int i = 0; i < recovery->n_symbols; i++)
        if (same_symbol(&recovery->symbols[i], stored))
            return i;
    return -1;
}

/* The index of a stored symbol among those of the daemon, or -1 with the failure noted. */
static int find_symbol(struct recovery *recovery, const struct symbol *stored, const char *holds)
{
    int index = index_of(recovery, stored);
    if (index >= 0)
        return index;
    snprintf(
        recovery->err, sizeof recovery->err,
        "%s: there is %s of it: add it to the symbols of [venue %s], or of [market] where that is %s, again",
        stored->name, holds, stored->venue, stored->venue);
    recovery->r = -ENOENT;
    return -1;
}

static void check_symbol(void *ctx, const struct db_symbol_row *row)
{
    struct recovery *recovery = ctx;
    const struct symbol *stored = &row->symbol;
    for (int i = 0; i < recovery->n_symbols; i++) {
        const struct symbol *s = &recovery->symbols[i];
        if (!same_symbol(s, stored))
            continue;
        if (strcmp(s->base, stored->base) != 0 || strcmp(s->quote, stored->quote) != 0 ||
            s->price_scale != stored->price_scale || s->qty_scale != stored->qty_scale ||
            s->quote_scale != stored->quote_scale) {
            snprintf(recovery->err, sizeof recovery->err,
                     "%s: the venue now says %s/%s with %d, %d and %d decimals, the database %s/%s with %d, "
                     "%d and %d: use a new state directory",
                     s->name, s->base, s->quote, s->price_scale, s->qty_scale, s->quote_scale, stored->base,
                     stored->quote, stored->price_scale, stored->qty_scale, stored->quote_scale);
            recovery->r = -EINVAL;
        }
    }
}

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct recovery *recovery = ctx;
    struct db_recovered *to = recovery->to;
    if (recovery->r < 0)
        return;
    if (row->account.number != to->n_accounts) {
        snprintf(recovery->err, sizeof recovery->err, "account %d is missing from the database",
                 to->n_accounts);
        recovery->r = -EBADMSG;
        return;
    }
    size_t n = (size_t)to->n_accounts;
    struct db_recovered_account *account = APPEND(recovery, to->accounts, n);
    if (!account)
        return;
    to->n_accounts++;
    account->account = row->account;
    account->peak = row->equity_peak;
    account->day = row->day;
    account->day_equity = row->day_equity;
    account->killed_ns = row->killed_ns;
    recovery->r = db_account_spec(&row->account, &account->spec);
    if (recovery->r < 0)
        snprintf(recovery->err, sizeof recovery->err,
                 "account %s: its strategy %.200s is not one of this program's", row->account.name,
                 row->account.strategy);
}

void db_at_venue_key(const char *account, char ret[static DB_AT_VENUE_KEY_MAX])
{
    snprintf(ret, DB_AT_VENUE_KEY_MAX, "at_venue %s", account);
}

int db_reader_at_venue(struct db_reader *reader, const char *account, char ret[static DB_AT_VENUE_MAX])
{
    char key[DB_AT_VENUE_KEY_MAX];
    db_at_venue_key(account, key);
    int r = db_reader_meta(reader, key, ret, DB_AT_VENUE_MAX);
    if (r == -ENOENT)
        ret[0] = '\0';
    return r == -ENOENT ? 0 : r;
}

static int take_at_venue(struct recovery *recovery)
{
    int r = 0;
    for (int i = 0; i < recovery->to->n_accounts && r == 0; i++) {
        struct db_recovered_account *account = &recovery->to->accounts[i];
        r = db_reader_at_venue(recovery->reader, account->account.name, account->at_venue);
    }
    return r;
}

static void take_policy(void *ctx, const struct db_policy *row)
{
    struct recovery *recovery = ctx;
    struct db_recovered *to = recovery->to;
    for (int i = 0; i < to->n_accounts; i++) {
        struct db_recovered_account *account = &to->accounts[i];
        if (!db_policy_trades_for(row, account->account.name))
            continue;
        account->has_policy = true;
        memcpy(account->policy, row->id, sizeof account->policy);
    }
}

static void take_action(void *ctx, const struct db_action_row *row)
{
    struct recovery *recovery = ctx;
    struct db_recovered *to = recovery->to;
    const struct corporate_action *action = &row->action.action;
    if (recovery->r < 0)
        return;
    int symbol = index_of(recovery, &row->symbol->symbol);
    struct db_recovered_action *taken = symbol < 0 ? NULL : APPEND(recovery, to->actions, to->n_actions);
    if (taken) {
        *taken = (struct db_recovered_action){.symbol = symbol, .ex_ns = action->ex_ns};
        memcpy(taken->id, action->id, sizeof taken->id);
    }
    bool since = row->action.input_seq > recovery->base.event_seq;
    struct known_split *split =
        action->kind == ACTION_SPLIT && since ? APPEND(recovery, recovery->splits, recovery->n_splits) : NULL;
    if (split) {
        *split = (struct known_split){.symbol = row->symbol->id,
                                      .ts_ns = row->action.ts_ns,
                                      .input_seq = row->action.input_seq,
                                      .split = {action->shares, action->per, action->ex_ns}};
        memcpy(split->base, row->symbol->symbol.base, sizeof split->base);
    }
}

static void take_session(void *ctx, const struct db_session *row)
{
    struct recovery *recovery = ctx;
    struct db_session *session = APPEND(recovery, recovery->to->sessions, recovery->to->n_sessions);
    if (session)
        *session = *row;
}

/* The splits of events before that of a fill. A reset leaves nothing of its account to be split, so that it
 * does not matter on which side of it a split is. */
static int follow_splits(struct recovery *recovery, uint64_t before_seq)
{
    int r = 0;
    for (; r == 0 && recovery->splits_done < recovery->n_splits; recovery->splits_done++) {
        const struct known_split *split = &recovery->splits[recovery->splits_done];
        if (split->input_seq >= before_seq)
            break;
        r = db_holdings_split(&recovery->holdings, split->symbol, &split->split, split->ts_ns, NULL, NULL);
    }
    return r;
}

/* Lots are not stored: they follow from the fills and splits, in the order of the ledger, and resets clear
 * them. */
static int follow_fills(struct recovery *recovery)
{
    sqlite3_stmt *stmt;
    int r = db_query(
        recovery->reader,
        "SELECT l.account, l.ts_ns, f.id, f.symbol, f.side, f.qty - f.fee_base, f.notional, f.fee, f.ts_ns, "
        "f.input_seq FROM ledger AS l LEFT JOIN fills AS f ON f.id = l.fill_id WHERE l.id > ?1 AND (l.kind = 'reset' OR "
        "(l.kind = 'trade' AND l.amount <> 0)) ORDER BY l.id",
        RECORD_PARAMS(recovery->base.last_ledger), &stmt);
    if (r < 0)
        return r;
    struct fill f;
    int64_t account, symbol, reset_ns;
    const char *side;
    r = db_base_positions(recovery->reader, false, &recovery->holdings);
    uint64_t last = 0;
    while (r >= 0 && (r = db_query_next(recovery->reader, stmt,
                                        RECORD_INTO(&account, &reset_ns, &f.id, &symbol, &side, &f.qty,
                                                    &f.notional, &f.fee, &f.ts_ns, &f.input_seq))) > 0) {
        if (f.id != last && f.id != 0)
            r = follow_splits(recovery, f.input_seq);
        if (r < 0)
            break;
        if (f.id == 0)
            db_holdings_reset(&recovery->holdings, account, reset_ns);
        else if (f.id != last)
            r = db_holdings_fill(&recovery->holdings, account, symbol,
                                 (enum order_side)order_side_parse(side ? side : ""), f.qty, f.notional,
                                 f.fee, f.ts_ns);
        last = f.id;
    }
    if (r == 0)
        r = follow_splits(recovery, UINT64_MAX);
    if (r < 0)
        snprintf(recovery->err, sizeof recovery->err, "the fills lead to no positions: %s",
                 r == -ENOMEM ? "out of memory" : db_reader_error(recovery->reader));
    return db_query_end(stmt, r);
}

static bool agree(const struct position *a, const struct position *b)
{
    return a->qty == b->qty && a->cost == b->cost && a->realized == b->realized &&
           a->fifo_cost == b->fifo_cost && a->fifo_realized == b->fifo_realized;
}

static void take_position(void *ctx, const struct db_position_row *row)
{
    struct recovery *recovery = ctx;
    struct db_recovered *to = recovery->to;
    if (recovery->r < 0)
        return;
    int symbol = index_of(recovery, &row->symbol->symbol);
    if (symbol < 0 && row->position.qty == 0)
        return; /* flat, and no longer streamed */
    if (symbol < 0 && find_symbol(recovery, &row->symbol->symbol, "a position") < 0)
        return;
    struct db_holding *holding = db_holdings_of(&recovery->holdings, row->account->number, row->symbol->id);
    struct db_recovered_position *position =
        holding ? APPEND(recovery, to->positions, to->n_positions) : NULL;
    if (!position) {
        recovery->r = -ENOMEM;
        return;
    }
    if (!agree(&row->position, &holding->position)) {
        snprintf(recovery->err, sizeof recovery->err,
                 "the fills of %s do not lead to account %s's position: see papertape ledger verify",
                 row->symbol->symbol.name, row->account->name);
        recovery->r = -EBADMSG;
    }
    *position = (struct db_recovered_position){row->account->number, symbol, row->position, holding->lots};
    position->position.closed_ns = holding->position.closed_ns;
    holding->lots = (struct lots){0};
}

static void take_order(void *ctx, const struct db_order_row *row)
{
    struct recovery *recovery = ctx;
    struct db_recovered *to = recovery->to;
    if (recovery->r < 0)
        return;
    if (!row->symbol || !row->account) {
        snprintf(recovery->err, sizeof recovery->err, "orders: row %llu: live, without account or symbol",
                 (unsigned long long)row->order.id);
        recovery->r = -EBADMSG;
        return;
    }
    int symbol = find_symbol(recovery, &row->symbol->symbol, "a live order");
    struct order *order = symbol < 0 ? NULL : APPEND(recovery, to->orders, to->n_orders);
    if (order) {
        *order = row->order;
        order->symbol = symbol;
    }
}

/* Deposits count from the account's last reset. The sum of each account's rows of an asset, and the running
 * balance of the last of them, must agree. */
static int take_balances(struct recovery *recovery)
{
    struct db_recovered *to = recovery->to;
    sqlite3_stmt *stmt;
    int r = db_query(
        recovery->reader,
        "WITH since AS (SELECT * FROM ledger WHERE id > ?1), "
        "resets AS (SELECT account, max(id) AS id FROM since WHERE kind = 'reset' GROUP BY account), "
        "charged AS (SELECT account, max(ts_ns) AS ts_ns FROM (SELECT account, ts_ns FROM since WHERE kind = "
        "'interest' UNION ALL SELECT account, interest_ns FROM base_accounts WHERE interest_ns > 0) GROUP BY "
        "account), "
        /* The base's content is a first row. */
        "parts AS (SELECT id, account, asset, scale, kind, amount, balance FROM since UNION ALL SELECT 0, "
        "account, asset, scale, '', total, total FROM base_balances), loans AS (SELECT account, asset, "
        "scale, sum(borrowed) AS borrowed FROM (SELECT account, asset, scale, borrowed FROM base_balances "
        "UNION ALL SELECT account, asset, scale, amount FROM since WHERE kind = 'borrow') GROUP BY account, "
        "asset, scale) SELECT l.account, l.asset, l.scale, sum(l.amount), l.balance, max(l.id), "
        "sum(iif(l.kind IN ('deposit', 'transfer') AND l.id > ifnull(resets.id, 0), l.amount, 0)) + "
        "iif(resets.id IS NULL, ifnull((SELECT deposits FROM base_accounts WHERE account = l.account), 0), "
        "0), ifnull((SELECT borrowed FROM loans WHERE (account, asset, scale) = (l.account, l.asset, "
        "l.scale)), 0), charged.ts_ns FROM parts AS l LEFT JOIN resets ON resets.account = l.account LEFT "
        "JOIN charged ON charged.account = l.account GROUP BY l.account, l.asset, l.scale",
        RECORD_PARAMS(recovery->base.last_ledger), &stmt);
    struct db_recovered_balance row;
    int64_t running, last_id, deposits, interest_ns;
    char asset[ASSET_NAME_MAX + 1]; /* one that is longer is none */
    const struct record_into *columns =
        RECORD_INTO(&row.account, record_into_chars(asset, sizeof asset), &row.scale, &row.total, &running,
                    &last_id, &deposits, &row.borrowed, &interest_ns);
    while (r >= 0 && (r = db_query_next(recovery->reader, stmt, columns)) > 0) {
        struct db_recovered_balance *balance = APPEND(recovery, to->balances, to->n_balances);
        if (!balance)
            return db_query_end(stmt, -ENOMEM);
        memcpy(row.asset, asset, sizeof row.asset);
        row.asset[sizeof row.asset - 1] = '\0';
        *balance = row;
        if (strlen(asset) >= sizeof row.asset || row.account >= to->n_accounts || row.borrowed < 0 ||
            row.total != running) {
            snprintf(recovery->err, sizeof recovery->err,
                     "the ledger's rows of %s do not add up to its balance: see papertape ledger verify",
                     balance->asset);
            return db_query_end(stmt, -EBADMSG);
        }
        struct db_recovered_account *account = &to->accounts[balance->account];
        if (strcmp(account->account.currency, balance->asset) == 0) {
            account->deposits = deposits;
            account->interest_ns = interest_ns;
        }
    }
    return db_query_end(stmt, r);
}

/* Where the base's own rows are not there any more. */
static void take_base_ids(struct recovery *recovery)
{
    struct db_recovered *to = recovery->to;
    const struct db_base *base = &recovery->base;
    if (base->last_order > to->last_order)
        to->last_order = base->last_order;
    if (base->last_fill > to->last_fill)
        to->last_fill = base->last_fill;
    if (base->last_ledger < to->last_ledger || base->event_seq == 0)
        return;
    to->last_ledger = base->last_ledger;
    memcpy(to->ledger_hash, base->hash, sizeof base->hash);
}

/* A number of meta: 0 where there is none. */
#define NUMBER(key) "ifnull((SELECT CAST (value AS INTEGER) FROM meta WHERE key = '" key "'), 0)"

static int take_last_ids(struct recovery *recovery)
{
    struct db_recovered *to = recovery->to;
    int r = db_query_first(
        recovery->reader,
        "SELECT ifnull((SELECT max(id) FROM orders), 0), ifnull((SELECT max(id) FROM fills), 0), "
        "ifnull((SELECT max(id) FROM ledger), 0), max(ifnull((SELECT max(id) FROM commands), 0), " NUMBER(
            "last_command") "), "
                            "max(ifnull((SELECT max(id) FROM alerts), 0), " NUMBER(
                                "last_alert") "), "
                                              "ifnull((SELECT max(run) FROM runs), 0), "
                                              "(SELECT hash FROM ledger ORDER BY id DESC LIMIT 1), "
                                              "ifnull((SELECT value = '1' FROM meta WHERE key = 'paused'), "
                                              "0), " NUMBER("event_seq"),
        NULL,
        RECORD_INTO(&to->last_order, &to->last_fill, &to->last_ledger, &to->last_command, &to->last_alert,
                    &to->last_run, record_into_bytes(to->ledger_hash, sizeof to->ledger_hash), &to->paused,
                    &to->event_seq));
    if (r > 0)
        take_base_ids(recovery);
    return r < 0 ? r : 0;
}

/* Keys first, as texts may move while they are gathered. */
static int take_keys(struct recovery *recovery)
{
    struct db_recovered *to = recovery->to;
    sqlite3_stmt *stmt;
    int r =
        db_query(recovery->reader,
                 "SELECT " DB_COMMAND_COLUMNS " FROM commands WHERE id IN "
                 "(SELECT max(id) FROM commands WHERE key <> '' GROUP BY key ORDER BY max(id) DESC LIMIT ?1) "
                 "ORDER BY key",
                 RECORD_PARAMS(DB_RECOVERED_KEYS_MAX), &stmt);
    struct db_queue texts = {0}; /* a growing block of memory */
    struct db_command row;
    while (r >= 0 && (r = db_query_row(recovery->reader, stmt, &db_record_commands, &row, NULL)) > 0) {
        struct db_recovered_key *key = APPEND(recovery, to->keys, to->n_keys);
        const char *const parts[] = {row.cmd, row.args, row.result};
        if (!key || !db_queue_append(&texts, 0, 0, 0, "", 0, parts, 3)) {
            r = -ENOMEM;
            break;
        }
        *key = (struct db_recovered_key){.command = row.id,
                                         .order_id = row.order_id,
                                         .event = row.event,
                                         .ts_ns = row.ts_ns,
                                         .peer_uid = row.peer_uid,
                                         .peer_pid = row.peer_pid,
                                         .state = row.state};
        if ((size_t)snprintf(key->key, sizeof key->key, "%s", row.key) >= sizeof key->key) {
            r = db_query_bad_row(recovery->reader, stmt, "commands", "too long a key");
            break;
        }
    }
    to->key_texts = texts.data;
    size_t at = 0;
    for (size_t i = 0; r == 0 && i < to->n_keys; i++) {
        const struct db_row_header *header = (const void *)(texts.data + at);
        to->keys[i].cmd = (const char *)(header + 1);
        to->keys[i].args = to->keys[i].cmd + strlen(to->keys[i].cmd) + 1;
        to->keys[i].result = to->keys[i].args + strlen(to->keys[i].args) + 1;
        at += header->size;
    }
    return db_query_end(stmt, r);
}

/* The curve says what was gained in the day, without what was moved. No decision depends on it: where it
 * cannot be read the day's P&L is since what the day began with. */
static void take_days(struct recovery *recovery)
{
    for (int i = 0; i < recovery->to->n_accounts; i++) {
        struct db_recovered_account *account = &recovery->to->accounts[i];
        int128_t pnl, closing;
        account->point = account->day_base = account->day_equity;
        if (db_report_day_gain(recovery->reader, &account->account, account->day, &pnl, &closing) < 0 ||
            closing == DB_REPORT_UNKNOWN)
            continue;
        account->point = (int64_t)closing;
        account->day_base = (int64_t)(pnl == DB_REPORT_UNKNOWN ? closing : closing - pnl);
    }
}

static void take_receivable(void *ctx, const struct receivable_row *row, const struct db_account *account)
{
    (void)account;
    struct recovery *recovery = ctx;
    struct db_recovered *to = recovery->to;
    to->last_receivable = row->id;
    if (row->kind == RECEIVABLE_BOOKED) {
        struct receivable_row *taken = APPEND(recovery, to->receivables, to->n_receivables);
        if (taken) {
            *taken = *row;
            taken->of.booked = row->id;
        }
        return;
    }
    for (size_t i = 0; i < to->n_receivables; i++)
        if (row->of.booked != 0 && to->receivables[i].id == row->of.booked) {
            memmove(&to->receivables[i], &to->receivables[i + 1],
                    (--to->n_receivables - i) * sizeof *to->receivables);
            return;
        }
}

static void take_fee_rate(void *ctx, const struct fee_rate_change *row, const struct db_account *account)
{
    (void)account;
    struct recovery *recovery = ctx;
    struct db_recovered *to = recovery->to;
    to->last_fee_rate = row->id;
    for (int a = 0; a < to->n_accounts; a++)
        if (to->accounts[a].account.number == row->account) {
            to->fee_rates[a] = *row;
            if (row->tiers[0] == '\0')
                to->fee_rates[a].rates.maker_e6 = -1;
            to->fee_rates[a].tiers = NULL;
        }
}

static int take_volumes(struct recovery *recovery)
{
    int account;
    int64_t day, notional;
    sqlite3_stmt *stmt;
    int r =
        db_query(recovery->reader,
                 "WITH days AS (SELECT account, ts_ns / 86400000000000 AS day, sum(notional) AS notional "
                 "FROM fills JOIN symbols ON symbols.id = fills.symbol JOIN accounts ON accounts.id = "
                 "fills.account WHERE quote = currency AND quote_scale = currency_scale GROUP BY 1, 2) "
                 "SELECT account, day, min(notional, ?1) FROM days WHERE day >= (SELECT max(day) FROM days) "
                 "- ?2 ORDER BY 1, 2",
                 RECORD_PARAMS((int64_t)FILL_MONEY_MAX, (int64_t)FEE_VOLUME_DAYS), &stmt);
    while (r >= 0 &&
           (r = db_query_next(recovery->reader, stmt, RECORD_INTO(&account, &day, &notional))) > 0) {
        struct db_recovered_volume *volume = APPEND(recovery, recovery->to->volumes, recovery->to->n_volumes);
        if (volume)
            *volume = (struct db_recovered_volume){account, day, notional};
    }
    return db_query_end(stmt, r);
}

/* Dividends that are open, and what rates follow from. */
static int take_charges(struct recovery *recovery)
{
    struct db_recovered *to = recovery->to;
    int r = db_reader_receivables(recovery->reader, take_receivable, recovery);
    to->fee_rates = calloc((size_t)to->n_accounts + 1, sizeof *to->fee_rates);
    if (!to->fee_rates)
        return -ENOMEM;
    if (r == 0)
        r = db_reader_fee_rates(recovery->reader, take_fee_rate, recovery);
    return r == 0 && recovery->r == 0 ? take_volumes(recovery) : r;
}

static int take_all(struct recovery *recovery)
{
    struct db_reader *reader = recovery->reader;
    int r = db_base_read(reader, &recovery->base);
    if (r == 0)
        r = db_reader_symbols(reader, check_symbol, recovery);
    if (r == 0)
        r = db_reader_accounts(reader, take_account, recovery);
    if (r == 0 && recovery->r == 0)
        take_days(recovery);
    if (r == 0 && recovery->r == 0)
        r = take_at_venue(recovery);
    if (r == 0 && recovery->r == 0)
        r = db_reader_policies(reader, take_policy, recovery);
    if (r == 0 && recovery->r == 0)
        r = take_balances(recovery);
    if (r == 0 && recovery->r == 0)
        r = db_reader_actions(reader, NULL, take_action, recovery);
    if (r == 0 && recovery->r == 0)
        r = take_charges(recovery);
    if (r == 0 && recovery->r == 0)
        r = db_reader_sessions(reader, take_session, recovery);
    if (r == 0 && recovery->r == 0)
        r = follow_fills(recovery);
    if (r == 0 && recovery->r == 0)
        r = db_reader_positions(reader, take_position, recovery);
    if (r == 0 && recovery->r == 0)
        r = db_reader_orders(reader, true, 0, take_order, recovery);
    if (r == 0 && recovery->r == 0)
        r = take_keys(recovery);
    if (r == 0 && recovery->r == 0)
        r = take_last_ids(recovery);
    return r;
}

int db_recover(struct db_reader *reader, const struct symbol *symbols, int n_symbols,
               struct db_recovered **ret, char *err, size_t err_size)
{
    struct recovery recovery = {
        .reader = reader,
        .to = calloc(1, sizeof *recovery.to),
        .symbols = symbols,
        .n_symbols = n_symbols,
    };
    if (!recovery.to)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    int r = db_reader_begin(reader);
    if (r == 0) {
        r = take_all(&recovery);
        db_reader_end(reader);
    }
    db_holdings_finish(&recovery.holdings);
    free(recovery.splits);
    r = r < 0 ? r : recovery.r;
    if (r < 0) {
        snprintf(err, err_size, "%s", *recovery.err ? recovery.err : db_reader_error(reader));
        db_recovered_destroy(recovery.to);
        return r;
    }
    *ret = recovery.to;
    return 0;
}

void db_recovered_destroy(struct db_recovered *recovered)
{
    if (!recovered)
        return;
    for (size_t i = 0; i < recovered->n_positions; i++)
        position_lots_finish(&recovered->positions[i].lots);
    free(recovered->accounts);
    free(recovered->balances);
    free(recovered->positions);
    free(recovered->orders);
    free(recovered->actions);
    free(recovered->receivables);
    free(recovered->fee_rates);
    free(recovered->volumes);
    free(recovered->sessions);
    free(recovered->keys);
    free(recovered->key_texts);
    free(recovered);
}
