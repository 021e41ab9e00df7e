/* Goes through the fills from the beginning of the record to the period's end, as the recovery does, and says
 * what of them was gained in the period, by symbol and by who decided. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"
#include "exchange/fill_rules.h"

static struct db_reader *reader_of(const struct report_walk *walk)
{
    return walk->prices->reader;
}

struct db_report_account *db_report_account_of(const struct report_walk *walk, int64_t number)
{
    for (size_t i = 0; i < walk->report->n_accounts; i++) {
        struct db_report_account *account = &walk->report->accounts[i];
        if (account->account.number == number)
            return account->from_ns == walk->from_ns && account->to_ns == walk->to_ns ? account : NULL;
    }
    return NULL;
}

static int source_of(struct report_walk *walk, const char *name)
{
    for (int i = 0; i < walk->n_sources; i++)
        if (strcmp(walk->sources[i], name) == 0)
            return i;
    void *more = reallocarray(walk->sources, (size_t)walk->n_sources + 1, sizeof *walk->sources);
    if (!more)
        return -ENOMEM;
    walk->sources = more;
    snprintf(walk->sources[walk->n_sources], sizeof *walk->sources, "%s", name);
    return walk->n_sources++;
}

/* ---- what is held, valued ---- */

static int unit_of(const struct symbol *symbol, int64_t *ret)
{
    int shift = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
    if (shift < 0 || shift > DECIMAL_SCALE_MAX)
        return -EBADMSG;
    *ret = decimal_pow10(shift);
    return 0;
}

/* As the engine values it: what a short costs is not made smaller by rounding. */
static int128_t unrealized(const struct position *position, int64_t price, int64_t unit)
{
    const bool is_short = position->qty < 0;
    const int64_t qty = is_short ? -position->qty : position->qty;
    const int128_t worth = fill_notional(is_short ? ORDER_BUY : ORDER_SELL, price, qty, unit);
    return is_short ? position->cost - worth : worth - position->cost;
}

int db_report_value(struct report_walk *walk, struct report_holding *row, int64_t ts_ns, int128_t *ret)
{
    const struct db_symbol_row *symbol;
    int64_t unit = 1, price = 0;
    *ret = 0;
    if (row->position.qty == 0)
        return 0;
    int r = db_reader_symbol_id(reader_of(walk), row->symbol, &symbol);
    if (r == 0)
        r = !symbol || unit_of(&symbol->symbol, &unit) < 0
                ? -EBADMSG
                : db_report_price(walk->prices, row->symbol, ts_ns, ts_ns, &price);
    if (r < 0)
        return r;
    if (price > 0)
        *ret = unrealized(&row->position, price, unit);
    row->unpriced |= price <= 0;
    return 0;
}

/* ---- the period's beginning, and resets ---- */

static int begin_row(struct report_walk *walk, struct report_holding *row)
{
    const struct db_report_account *account = db_report_account_of(walk, row->account);
    if (!account)
        return 0;
    int r = db_report_value(walk, row, report_opened_ns(account), &row->from.unrealized);
    row->from.qty = row->position.qty;
    row->from.realized = row->position.realized;
    row->from.fees = row->position.fees;
    return r;
}

/* Once, before the first thing that happens in the period. */
static int begin_period(struct report_walk *walk, bool begins)
{
    int r = 0;
    if (walk->holdings.counts || !begins)
        return 0;
    for (size_t i = 0; i < walk->holdings.n && r == 0; i++)
        r = begin_row(walk, &walk->holdings.rows[i]);
    walk->holdings.counts = r == 0;
    return r;
}

/* What is held at a reset leaves the account at its price. */
static int reset_row(struct report_walk *walk, struct report_holding *row, int64_t ts_ns)
{
    const struct position *position = &row->position;
    int128_t left;
    int r = walk->holdings.counts ? db_report_value(walk, row, ts_ns, &left) : 0;
    if (r < 0)
        return r;
    if (walk->holdings.counts) {
        row->gone.realized += position->realized - row->from.realized;
        row->gone.unrealized += left - row->from.unrealized;
        row->gone.fees += position->fees - row->from.fees;
        row->from.realized = row->from.unrealized = row->from.fees = 0;
    }
    position_lots_finish(&row->lots);
    row->position = (struct position){.updated_ns = ts_ns};
    return 0;
}

static int reset(struct report_walk *walk, int64_t account, int64_t ts_ns)
{
    int r = 0;
    for (size_t i = 0; i < walk->holdings.n && r == 0; i++)
        if (walk->holdings.rows[i].account == account)
            r = reset_row(walk, &walk->holdings.rows[i], ts_ns);
    return r;
}

/* ---- splits ---- */

/* Its trip's quantities become those of the new shares, as what is held does. */
static int split_row(struct report_holding *row, const struct report_split *split)
{
    const int64_t before = row->position.qty;
    int64_t change;
    bool left_out;
    int r =
        engine_split_position(&split->split, &row->position, &row->lots, split->ts_ns, &change, &left_out);
    if (r < 0 || before == 0)
        return r;
    row->trip.entered = (int64_t)((int128_t)row->trip.entered * row->position.qty / before);
    row->trip.left = (int64_t)((int128_t)row->trip.left * row->position.qty / before);
    return r;
}

static int apply_split(struct report_walk *walk, const struct report_split *split)
{
    int r = 0;
    for (size_t i = 0; i < walk->holdings.n && r == 0; i++) {
        struct report_holding *row = &walk->holdings.rows[i];
        if (row->symbol == split->symbol &&
            position_before(&row->position, &row->lots, split->split.ex_ns) != 0)
            r = split_row(row, split);
    }
    return r;
}

/* Those of events before that one. */
static int follow_splits(struct report_walk *walk, int64_t before_seq, const struct db_base *base)
{
    for (; walk->split < walk->prices->n_splits; walk->split++) {
        const struct report_split *split = &walk->prices->splits[walk->split];
        if (split->input_seq <= (int64_t)base->event_seq)
            continue;
        if (split->input_seq >= before_seq || split->ts_ns >= walk->to_ns)
            break;
        int r = begin_period(walk, split->ts_ns >= walk->from_ns);
        r = r < 0 ? r : apply_split(walk, split);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- fills ---- */

#define EARLIER "before the record"
/* Of an account without a strategy: a former one's, margin calls, the kill switch. */
#define OTHERS "other orders"

/* Who ordered: NULL is the account's strategy, as it is named now; a policy's order has its name, or the
 * beginning of its id where it has none any more. */
#define FILLS \
    "SELECT l.id, l.account, l.ts_ns, f.id, f.symbol, CASE f.side WHEN 'BUY' THEN f.qty - f.fee_base WHEN 'SELL' " \
    "THEN -f.qty END, f.notional, f.fee, f.input_seq, CASE WHEN o.by_hand THEN 'by hand' WHEN p.policy IS NOT NULL THEN " \
    "'policy ' || ifnull((SELECT name FROM policies WHERE policy = p.policy), lower(substr(hex(p.policy), 1, " \
    "12))) END, f.fee_base FROM ledger AS l LEFT JOIN fills AS f ON f.id = l.fill_id LEFT JOIN orders AS o ON o.id = " \
    "f.order_id LEFT JOIN order_policies AS p ON p.order_id = f.order_id WHERE l.id > ?1 AND l.id < ?2 AND " \
    "(l.kind = 'reset' OR (l.kind = 'trade' AND l.amount <> 0)) ORDER BY l.id"

struct fill_row {
    struct report_fill fill;
    uint64_t ledger_id;
    int64_t id, input_seq, change; /* of what is held */
    const char *source;
};

static int source_of_order(struct report_walk *walk, const struct fill_row *row)
{
    const struct db_report_account *of = db_report_account_of(walk, row->fill.account);
    const char *strategy = of && of->account.strategy[0] ? of->account.strategy : OTHERS;
    return source_of(walk, row->source ? row->source : strategy);
}

static int take_fill(struct report_walk *walk, struct fill_row *row, const struct db_base *base)
{
    const struct db_symbol_row *symbol;
    int r = follow_splits(walk, row->input_seq, base);
    r = r < 0 ? r : begin_period(walk, row->ledger_id >= walk->from_id);
    r = r < 0 ? r : db_reader_symbol_id(reader_of(walk), row->fill.symbol, &symbol);
    if (r < 0 || !symbol || row->change == 0)
        return r < 0 ? r : -EBADMSG;
    row->fill.id = row->id;
    row->fill.scale = symbol->symbol.quote_scale;
    row->fill.side = row->change < 0 ? ORDER_SELL : ORDER_BUY;
    row->fill.qty = row->change < 0 ? -row->change : row->change;
    row->fill.source = source_of_order(walk, row);
    return row->fill.source < 0 ? row->fill.source : db_report_holdings_fill(&walk->holdings, &row->fill);
}

int db_report_walk_read(struct report_walk *walk, const struct db_base *base)
{
    sqlite3_stmt *stmt;
    struct fill_row row = {0};
    int r = db_query(reader_of(walk), FILLS, RECORD_PARAMS(walk->after_id, walk->to_id), &stmt);
    while (r >= 0 &&
           (r = db_query_next(reader_of(walk), stmt,
                              RECORD_INTO(&row.ledger_id, &row.fill.account, &row.fill.ts_ns, &row.id,
                                          &row.fill.symbol, &row.change, &row.fill.notional, &row.fill.fee,
                                          &row.input_seq, &row.source, &row.fill.fee_base))) > 0) {
        if (row.id == 0) {
            r = begin_period(walk, row.ledger_id >= walk->from_id);
            r = r < 0 ? r : reset(walk, row.fill.account, row.fill.ts_ns);
        } else if (row.id != walk->after_fill) {
            r = take_fill(walk, &row, base);
        }
        if (r < 0) /* interrupted, perhaps: the next call takes this row again */
            break;
        walk->after_fill = row.id;
        walk->after_id = row.ledger_id;
    }
    r = r < 0 ? r : follow_splits(walk, INT64_MAX, base);
    r = db_query_end(stmt, r < 0 ? r : begin_period(walk, true));
    if ((r == -EBADMSG || r == -ERANGE) && !reader_of(walk)->error[0])
        snprintf(reader_of(walk)->error, sizeof reader_of(walk)->error,
                 "the fills lead to no positions: see papertape ledger verify");
    return r;
}

/* What a record without its beginning begins with. */
int db_report_walk_begin(struct report_walk *walk, const struct db_base *base)
{
    struct db_holdings held = {0};
    walk->after_id = base->last_ledger;
    if (base->event_seq == 0)
        return 0;
    int r = db_base_positions(reader_of(walk), false, &held), source = r < 0 ? r : source_of(walk, EARLIER);
    for (size_t i = 0; i < held.n && source >= 0; i++)
        for (int of = 0; of < 2; of++) {
            struct db_holding *holding = &held.rows[i];
            struct report_holding *row = db_report_holding_of(&walk->holdings, holding->account,
                                                              holding->symbol, of ? source : REPORT_WHOLE);
            if (!row)
                source = -ENOMEM;
            for (uint32_t k = holding->lots.first; row && k < holding->lots.n && source >= 0; k++)
                source = position_lots_push(&row->lots, &holding->lots.lots[k]) < 0 ? -ENOMEM : source;
            if (row) {
                row->position = holding->position;
                row->opened_ns = holding->position.opened_ns;
                row->opened_realized = holding->position.realized; /* what is of this trip is not known */
                row->opened_fees = holding->position.fees;
                row->trip = (struct report_trip){.source = source,
                                                 .entered = llabs(holding->position.qty),
                                                 .entry = holding->position.cost};
            }
        }
    db_holdings_finish(&held);
    return source < 0 ? source : 0;
}

void db_report_walk_finish(struct report_walk *walk)
{
    db_report_holdings_finish(&walk->holdings);
    free(walk->sources);
    walk->sources = NULL;
    walk->n_sources = 0;
}

int db_report_trades(struct report_prices *prices, const struct db_base *base,
                     const struct db_report_account *like, struct db_report *report)
{
    struct report_walk walk = {.prices = prices,
                               .report = report,
                               .from_ns = like->from_ns,
                               .to_ns = like->to_ns,
                               .from_id = like->from_id,
                               .to_id = like->to_id,
                               .holdings = {.closed = db_report_trip_closed}};
    walk.holdings.ctx = &walk;
    prices->reader->error[0] = '\0';
    int r = db_report_walk_begin(&walk, base);
    r = r < 0 ? r : db_report_walk_read(&walk, base);
    r = r < 0 ? r : db_report_trades_put(&walk);
    db_report_walk_finish(&walk);
    return r;
}
