/* Checks what fills cost beside a fixed rate, and dividends between their ex-date and their payment:
 * engine/fee_tiers.c and engine/dividends.c have the rules. A row of receivables says by `ledger_id` where it
 * is among the rows of the ledger. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "db/verification.h"
#include "exchange/fill_rules.h"
#include "exchange/regulatory_fees.h"

static void take_receivable(void *ctx, const struct receivable_row *row, const struct db_account *account)
{
    (void)account;
    struct verification *v = ctx;
    struct verified_receivable *known = VERIFY_APPEND(v, v->receivables, v->n_receivables);
    if (known)
        known->row = *row;
}

int db_verify_load_receivables(struct verification *v)
{
    return db_reader_receivables(v->reader, take_receivable, v);
}

/* ---- receivables ---- */

#define wrong_receivable(v, r, ...) db_verify_wrong(v, "receivables", (r)->id, __VA_ARGS__)

static const struct verified_action *action_of(const struct verification *v, const struct receivable_row *r)
{
    for (size_t i = 0; i < v->n_actions; i++) {
        const struct verified_action *action = &v->actions[i];
        if (action->input_seq == r->input_seq && action->action.kind == ACTION_DIVIDEND &&
            action->action.ex_ns == r->of.ex_ns && strcmp(action->action.id, r->of.action) == 0)
            return action;
    }
    return NULL;
}

static int64_t held_at_ex(struct verification *v, int account, int symbol, int64_t ex_ns)
{
    for (size_t i = 0; i < v->holdings.n; i++) {
        const struct db_holding *holding = &v->holdings.rows[i];
        if (holding->account == account && holding->symbol == symbol)
            return position_before(&holding->position, &holding->lots, ex_ns);
    }
    return 0;
}

static void check_amounts(struct verification *v, const struct receivable_row *r)
{
    const struct receivable *of = &r->of;
    if (of->amount != of->gross - of->withheld || of->withheld < 0 ||
        of->withheld > (of->gross > 0 ? of->gross : 0))
        wrong_receivable(v, r, "%" PRId64 " less %" PRId64 " withheld are not %" PRId64, of->gross,
                         of->withheld, of->amount);
}

static void check_booked(struct verification *v, const struct receivable_row *r)
{
    const struct verified_action *action = action_of(v, r);
    int64_t gross = 0;
    check_amounts(v, r);
    if (r->of.booked != 0 || r->paid != 0)
        wrong_receivable(v, r, "is booked, and says that something is paid");
    if (r->input_seq <= v->base.event_seq)
        return; /* what was held then is not known any more */
    if (!action || action->action.pay_ns != r->of.pay_ns || r->of.pay_ns <= r->ts_ns) {
        wrong_receivable(v, r, "there is no such dividend that is paid later");
        return;
    }
    int64_t qty = held_at_ex(v, r->account, action->symbol, r->of.ex_ns);
    if (qty != r->of.qty)
        wrong_receivable(v, r, "is for %" PRId64 " held, its account held %" PRId64, r->of.qty, qty);
    if (!engine_dividend_amount(&action->action, &v->reader->symbols[action->symbol].symbol, qty, &gross) ||
        gross != r->of.gross)
        wrong_receivable(v, r, "is of %" PRId64 ", the dividend comes to %" PRId64, r->of.gross, gross);
}

/* The row that it closes, once; NULL: it closes none, or one from before the base. */
static struct verified_receivable *closes(struct verification *v, const struct receivable_row *r)
{
    size_t low = 0, high = v->n_receivables;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (v->receivables[mid].row.id < r->of.booked)
            low = mid + 1;
        else
            high = mid;
    }
    bool found = low < v->n_receivables && v->receivables[low].row.id == r->of.booked &&
                 v->receivables[low].row.kind == RECEIVABLE_BOOKED && r->of.booked < r->id;
    if (!found && v->base.event_seq == 0 && (r->of.booked != 0 || r->kind == RECEIVABLE_WRITTEN_OFF))
        wrong_receivable(v, r, "nothing was booked as %" PRIu64, r->of.booked);
    return found ? &v->receivables[low] : NULL;
}

static void check_closing(struct verification *v, const struct receivable_row *r)
{
    struct verified_receivable *booked = closes(v, r);
    check_amounts(v, r);
    if (r->kind == RECEIVABLE_PAID &&
        (r->of.amount >= 0 ? r->paid != r->of.amount : r->paid > 0 || r->paid < r->of.amount))
        wrong_receivable(v, r, "%" PRId64 " are paid of %" PRId64, r->paid, r->of.amount);
    if (r->kind == RECEIVABLE_WRITTEN_OFF && r->paid != 0)
        wrong_receivable(v, r, "is written off, and says that something is paid");
    if (!booked)
        return;
    const struct receivable *was = &booked->row.of;
    if (booked->closed)
        wrong_receivable(v, r, "row %" PRIu64 " was closed before", booked->row.id);
    if (booked->row.account != r->account || was->amount != r->of.amount || was->gross != r->of.gross ||
        was->qty != r->of.qty || was->pay_ns != r->of.pay_ns || was->ex_ns != r->of.ex_ns ||
        strcmp(was->asset, r->of.asset) != 0 || strcmp(was->action, r->of.action) != 0)
        wrong_receivable(v, r, "is not what row %" PRIu64 " booked", booked->row.id);
    if (r->kind == RECEIVABLE_PAID && r->ts_ns < r->of.pay_ns)
        wrong_receivable(v, r, "is paid before its time");
    booked->closed = true;
}

static void check_ledger(struct verification *v, const struct receivable_row *r, const struct ledger_row *row)
{
    if (row->kind != LEDGER_DIVIDEND || row->account != r->account || row->amount != r->paid ||
        row->scale != r->of.scale || row->ts_ns != r->ts_ns || strcmp(row->asset, r->of.asset) != 0)
        wrong_receivable(v, r, "ledger row %" PRIu64 " is not its payment", row->id);
}

const struct receivable_row *db_verify_receivables(struct verification *v, const struct ledger_row *row)
{
    for (; v->receivables_done < v->n_receivables && !db_verify_stopped(v); v->receivables_done++) {
        const struct receivable_row *r = &v->receivables[v->receivables_done].row;
        bool booked = r->kind == RECEIVABLE_BOOKED;
        if (row && (booked ? r->ledger_id >= row->id : r->ledger_id > row->id))
            return NULL;
        if (booked) {
            check_booked(v, r);
            continue;
        }
        check_closing(v, r);
        if (r->kind != RECEIVABLE_PAID || r->ledger_id == 0)
            continue;
        if (row && r->ledger_id == row->id) {
            check_ledger(v, r, row);
            v->receivables_done++;
            return r;
        }
        if (r->ledger_id > v->base.last_ledger)
            wrong_receivable(v, r, "the ledger has no such payment as row %" PRIu64, r->ledger_id);
    }
    return NULL;
}

bool db_verify_withholds_all(const struct verification *v, int account, const struct verified_action *action)
{
    for (size_t i = 0; i < v->n_receivables; i++) {
        const struct receivable_row *r = &v->receivables[i].row;
        if (r->kind == RECEIVABLE_PAID && r->account == account && r->of.booked == 0 && r->of.amount == 0 &&
            action_of(v, r) == action)
            return true;
    }
    return false;
}

/* ---- rates by volume ---- */

struct rate_check {
    struct verification *v;
    struct fee_volume volumes[ACCOUNTS_MAX];
    struct fee_rates rates[ACCOUNTS_MAX]; /* by a schedule; maker_e6 < 0: by none */
    size_t fills_done;
    int64_t first_day; /* whose volumes are known: with all fills of the days before it */
};

static bool in_currency(const struct rate_check *c, const struct known_fill *fill)
{
    const struct symbol *symbol = &c->v->reader->symbols[fill->symbol].symbol;
    const struct db_account *account = &c->v->reader->accounts[fill->account].account;
    return strcmp(symbol->quote, account->currency) == 0 && symbol->quote_scale == account->currency_scale;
}

/* Counts fills up to that one; each was charged by the rates of then. */
static void count_fills(struct rate_check *c, uint64_t last)
{
    struct verification *v = c->v;
    for (; c->fills_done < v->n_fills && c->fills_done < last && !db_verify_stopped(v); c->fills_done++) {
        const struct known_fill *fill = &v->fills[c->fills_done];
        if (fill->missing)
            continue;
        const struct fee_rates *rates = &c->rates[fill->account];
        bool by_class = v->reader->symbols[fill->symbol].symbol.asset != ASSET_UNKNOWN;
        int32_t rate_e6 = fill->maker ? rates->maker_e6 : rates->taker_e6;
        if (rates->maker_e6 >= 0 && !by_class && !fill->of_venue && fill->fee_e6 != rate_e6)
            db_verify_wrong(v, "fills", c->fills_done + 1,
                            "its rate is %" PRId32 " in a million, its account's volume asks for %" PRId32,
                            fill->fee_e6, rate_e6);
        if (in_currency(c, fill))
            fee_volume_add(&c->volumes[fill->account], fee_volume_day(fill->ts_ns), fill->notional);
    }
}

static void take_rate(void *ctx, const struct fee_rate_change *row, const struct db_account *account)
{
    (void)account;
    struct rate_check *c = ctx;
    struct verification *v = c->v;
    struct fee_tiers tiers = {0};
    char why[FEE_TIERS_WHY_MAX];
    if (db_verify_stopped(v) || row->account < 0 || row->account >= ACCOUNTS_MAX)
        return;
    count_fills(c, row->last_fill);
    if (fee_tiers_parse(row->tiers, &tiers, why) < 0) {
        db_verify_wrong(v, "fee_rates", row->id, "its schedule is none: %s", why);
        return;
    }
    int64_t volume = fee_volume_before(&c->volumes[row->account], row->day);
    if (tiers.n > 0 && row->day >= c->first_day && volume != row->volume)
        db_verify_wrong(v, "fee_rates", row->id,
                        "the volume is %" PRId64 ", the fills of the %d days before add up to %" PRId64,
                        row->volume, FEE_VOLUME_DAYS, volume);
    struct fee_rates rates = row->rates;
    if (tiers.n > 0)
        rates =
            fee_tiers_rates(&tiers, row->volume, v->reader->accounts[row->account].account.currency_scale);
    if (rates.maker_e6 != row->rates.maker_e6 || rates.taker_e6 != row->rates.taker_e6)
        db_verify_wrong(v, "fee_rates", row->id, "its rates are not its schedule's");
    c->rates[row->account] = rates;
    if (tiers.n == 0)
        c->rates[row->account].maker_e6 = -1;
}

int db_verify_rates(struct verification *v)
{
    struct rate_check *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    c->v = v;
    if (v->base.event_seq != 0)
        c->first_day = fee_volume_day(v->base.ts_ns) + FEE_VOLUME_DAYS + 1;
    for (int a = 0; a < ACCOUNTS_MAX; a++)
        c->rates[a].maker_e6 = -1;
    int r = db_reader_fee_rates(v->reader, take_rate, c);
    if (r == 0)
        count_fills(c, v->n_fills);
    free(c);
    return r;
}

/* ---- regulatory fees ---- */

void db_verify_fee(struct verification *v, const struct fill *f, const struct symbol *symbol, bool rate_known)
{
    int64_t fee = fill_fee(f->notional, f->fee_e6), more = f->sec_fee + f->taf_fee;
    if (f->basis == FILL_BASIS_VENUE)
        return;
    if (rate_known && f->fee != fee + more)
        db_verify_wrong(v, "fills", f->id, "the fee is %" PRId64 ", its rate asks for %" PRId64, f->fee,
                        fee + more);
    if (more == 0)
        return;
    const struct regulatory_fees asked =
        fee_regulatory_of_sale(symbol, fee_regulatory_day(f->ts_ns), f->qty, f->notional, f->notional - fee);
    if (f->side != ORDER_SELL || f->sec_fee != asked.sec || f->taf_fee != asked.taf)
        db_verify_wrong(v, "fills", f->id,
                        "its regulatory fees are %" PRId64 " and %" PRId64 ", of its day %" PRId64
                        " and %" PRId64,
                        f->sec_fee, f->taf_fee, asked.sec, asked.taf);
}
