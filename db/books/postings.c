#include "db/books/journal_internal.h"

#include <errno.h>
#include <string.h>

#include "db/reader_query.h"

/* ---- one posting ---- */

static struct db_books_posting *post(struct books_journal *j, enum db_books_place place, int account,
                                     const char *asset, int scale, int64_t amount)
{
    static struct db_books_posting none;
    if (!BOOKS_ROOM(j->postings, j->gathering.n, j->cap_postings)) {
        j->r = -ENOMEM;
        return &none;
    }
    struct db_books_posting *posting = &j->postings[j->gathering.n++];
    *posting = (struct db_books_posting){.place = place,
                                         .account = j->reader->accounts[account].account.name,
                                         .scale = scale,
                                         .amount = amount};
    strcpy(posting->asset, asset);
    return posting;
}

static void price(struct db_books_posting *posting, const char *quote, int scale, int64_t cost)
{
    posting->costed = DB_COST_TOTAL;
    strcpy(posting->cost_asset, quote);
    posting->cost_scale = scale;
    posting->cost = cost;
}

static void assert_balance(struct db_books_posting *posting, int64_t balance)
{
    posting->asserted = true;
    posting->balance = balance;
}

static const struct symbol *symbol_of(const struct books_journal *j, int symbol)
{
    return &j->reader->symbols[symbol].symbol;
}

static void post_gains(struct books_journal *j, int account, const char *quote, int scale, int64_t amount)
{
    if (amount != 0)
        post(j, DB_PLACE_GAINS, account, quote, scale, amount);
}

/* ---- lots ---- */

static void post_lot(struct books_journal *j, int account, const struct symbol *symbol, uint64_t lot,
                     unsigned part, int64_t opened_ns, int64_t amount, int64_t cost)
{
    struct db_books_posting *posting =
        post(j, DB_PLACE_LOTS, account, symbol->base, symbol->qty_scale, amount);
    price(posting, symbol->quote, symbol->quote_scale, cost);
    posting->costed = DB_COST_LOT;
    posting->symbol = symbol->name;
    posting->opened_ns = opened_ns;
    snprintf(posting->label, sizeof posting->label, "%llu.%u", (unsigned long long)lot, part);
}

/* The open parts of a lot come, with `sign` 1. What they are. */
static int64_t post_open(struct books_journal *j, size_t lot, int sign)
{
    const struct books_open_lot *of = &j->parts.lots[lot];
    const int held = of->is_short ? -1 : 1;
    struct books_part_at at = {0};
    int64_t sum = 0;
    while (db_books_parts_next(&j->parts, lot, &at)) {
        post_lot(j, of->account, symbol_of(j, of->symbol), lot + 1, at.number, of->opened_ns,
                 sign * held * at.qty, at.cost);
        sum += sign * held * at.qty;
    }
    return sum;
}

/* The change's lots: those that end go, those that begin come. By how much it changes what is held. */
static int64_t post_lots(struct books_journal *j, const struct db_books_change *change)
{
    const struct symbol *symbol = symbol_of(j, change->symbol);
    int64_t sum = 0;
    for (size_t i = 0; i < change->n_ended && j->r == 0; i++) {
        const struct db_books_lot *of = &change->ended[i].of;
        const int64_t amount = change->ended_short ? of->qty : -of->qty;
        post_lot(j, change->account, symbol, of->number, j->parts.lots[of->number - 1].number, of->opened_ns,
                 amount, of->cost);
        sum += amount;
    }
    db_books_follow(j, change);
    for (size_t i = 0; i < change->n_begun && j->r == 0; i++)
        sum += post_open(j, (size_t)change->begun[i].number - 1, 1);
    return sum;
}

struct moved {
    int64_t amount;              /* of what is held */
    int64_t ended, begun, value; /* costs, and the value of what ended */
};

static struct moved moved_of(const struct db_books_change *change)
{
    struct moved moved = {0};
    for (size_t i = 0; i < change->n_ended; i++) {
        moved.amount += change->ended_short ? change->ended[i].of.qty : -change->ended[i].of.qty;
        moved.ended += change->ended[i].of.cost;
        moved.value += change->ended[i].value;
    }
    for (size_t i = 0; i < change->n_begun; i++) {
        moved.amount += change->begun_short ? -change->begun[i].qty : change->begun[i].qty;
        moved.begun += change->begun[i].cost;
    }
    return moved;
}

/* ---- what is yet to come in the ledger ---- */

static void await(struct books_journal *j, const struct db_books_change *change, int64_t cost, int64_t contra,
                  int64_t gains)
{
    const struct symbol *symbol = symbol_of(j, change->symbol);
    struct books_pending pending = {.account = change->account,
                                    .ts_ns = change->ts_ns,
                                    .place =
                                        change->cause == DB_BOOKS_RESET ? DB_PLACE_RESETS : DB_PLACE_SPLITS,
                                    .scale = symbol->qty_scale,
                                    .quote_scale = symbol->quote_scale,
                                    .amount = moved_of(change).amount,
                                    .cost = cost,
                                    .contra = contra,
                                    .gains = gains};
    strcpy(pending.asset, symbol->base);
    strcpy(pending.quote, symbol->quote);
    if (pending.amount == 0)
        return;
    if (!BOOKS_ROOM(j->pending, j->n_pending, j->cap_pending))
        j->r = -ENOMEM;
    else
        j->pending[j->n_pending++] = pending;
}

static void post_pending(struct books_journal *j, const struct books_pending *p)
{
    price(post(j, DB_PLACE_ASSETS, p->account, p->asset, p->scale, p->amount), p->quote, p->quote_scale,
          p->cost);
    price(post(j, p->place, p->account, p->asset, p->scale, -p->amount), p->quote, p->quote_scale, p->contra);
    post_gains(j, p->account, p->quote, p->quote_scale, p->gains);
}

/* A row of a split or a reset: what positions know of it, and the rest of it as it is. */
static void post_expected(struct books_journal *j, const struct db_ledger_row *entry,
                          enum db_books_place contra)
{
    const struct ledger_row *row = &entry->row;
    int64_t rest = row->amount;
    size_t kept = 0;
    for (size_t i = 0; i < j->n_pending; i++) {
        const struct books_pending *p = &j->pending[i];
        if (p->account != row->account || p->scale != row->scale || strcmp(p->asset, row->asset) != 0) {
            j->pending[kept++] = *p;
            continue;
        }
        rest -= p->amount;
        if (!j->query->lots)
            post_pending(j, p);
    }
    const bool known = kept < j->n_pending;
    j->n_pending = kept;
    if (rest != 0 || !known)
        post(j, contra, row->account, row->asset, row->scale, -rest);
    assert_balance(post(j, DB_PLACE_ASSETS, row->account, row->asset, row->scale, rest), row->balance);
}

void db_books_post_rest(struct books_journal *j, const struct books_pending *pending)
{
    if (!j->query->lots)
        post_pending(j, pending);
    post(j, DB_PLACE_ASSETS, pending->account, pending->asset, pending->scale, -pending->amount);
    post(j, pending->place, pending->account, pending->asset, pending->scale, pending->amount);
}

/* ---- rows ---- */

static enum db_books_place contra_of(enum ledger_kind kind)
{
    switch (kind) {
    case LEDGER_DEPOSIT:
        return DB_PLACE_DEPOSITS;
    case LEDGER_FEE:
        return DB_PLACE_FEES;
    case LEDGER_TRANSFER:
        return DB_PLACE_TRANSFERS;
    case LEDGER_BORROW:
        return DB_PLACE_LOANS;
    case LEDGER_INTEREST:
        return DB_PLACE_INTEREST;
    case LEDGER_RESET:
        return DB_PLACE_RESETS;
    case LEDGER_SPLIT:
        return DB_PLACE_SPLITS;
    case LEDGER_DIVIDEND:
        return DB_PLACE_DIVIDENDS;
    case LEDGER_TRADE:
    case LEDGER_KINDS:
        break;
    }
    return DB_PLACE_CONVERSION;
}

void db_books_post_row(struct books_journal *j, const struct db_ledger_row *entry)
{
    const struct ledger_row *row = &entry->row;
    if (row->kind == LEDGER_SPLIT || row->kind == LEDGER_RESET) {
        post_expected(j, entry, contra_of(row->kind));
        return;
    }
    assert_balance(post(j, DB_PLACE_ASSETS, row->account, row->asset, row->scale, row->amount), row->balance);
    if (row->kind != LEDGER_TRADE)
        post(j, contra_of(row->kind), row->account, row->asset, row->scale, -row->amount);
}

/* ---- changes of positions ---- */

/* The posting of the base row is the last one: it gets its cost, or gives way to lots. */
void db_books_post_fill(struct books_journal *j, const struct db_books_change *change)
{
    const struct symbol *symbol = symbol_of(j, change->symbol);
    const struct moved moved = moved_of(change);
    struct db_books_posting base = j->postings[j->gathering.n - 1];
    if (j->query->lots) {
        j->gathering.n--;
        const int64_t rest = base.amount - post_lots(j, change);
        if (rest != 0) {
            post(j, DB_PLACE_ASSETS, change->account, base.asset, base.scale, rest);
            post(j, DB_PLACE_CONVERSION, change->account, base.asset, base.scale, -rest);
        }
        if (j->r == 0)
            assert_balance(&j->postings[j->gathering.n - 1], base.balance);
    } else {
        price(&j->postings[j->gathering.n - 1], symbol->quote, symbol->quote_scale,
              moved.ended + moved.begun);
        db_books_follow(j, change);
    }
    post_gains(j, change->account, symbol->quote, symbol->quote_scale,
               change->ended_short ? moved.value - moved.ended : moved.ended - moved.value);
}

void db_books_post_split(struct books_journal *j, const struct db_books_change *change)
{
    const struct symbol *symbol = symbol_of(j, change->symbol);
    const struct moved moved = moved_of(change);
    const bool nothing = change->cause == DB_BOOKS_VOID;
    const int64_t gains = !nothing ? 0 : change->ended_short ? -moved.ended : moved.ended;
    if (j->query->lots) {
        post_lots(j, change);
        post_gains(j, change->account, symbol->quote, symbol->quote_scale, gains);
    } else {
        db_books_follow(j, change);
    }
    await(j, change, nothing ? moved.ended : 0, 0, gains);
}

void db_books_post_reset(struct books_journal *j, const struct db_books_change *change)
{
    const struct symbol *symbol = symbol_of(j, change->symbol);
    const struct moved moved = moved_of(change);
    if (j->query->lots && moved.amount != 0) {
        post_lots(j, change);
        price(post(j, DB_PLACE_RESETS, change->account, symbol->base, symbol->qty_scale, -moved.amount),
              symbol->quote, symbol->quote_scale, moved.ended);
    } else {
        db_books_follow(j, change);
    }
    await(j, change, moved.ended, moved.ended, 0);
}

/* ---- what there is before ---- */

struct held {
    const struct symbol *symbol;
    int64_t qty, cost;
};

/* The next symbol after that one of which the account has lots, and what it has. False: there is none. */
static bool next_held(const struct books_journal *j, int account, int *symbol, struct held *ret)
{
    int least = -1;
    *ret = (struct held){0};
    for (size_t i = 0; i < j->parts.n_lots; i++) {
        const struct books_open_lot *lot = &j->parts.lots[i];
        if (lot->qty == 0 || lot->account != account || lot->symbol <= *symbol)
            continue;
        if (least < 0 || lot->symbol < least) {
            least = lot->symbol;
            *ret = (struct held){symbol_of(j, least), 0, 0};
        }
        if (lot->symbol == least) {
            ret->qty += lot->is_short ? -lot->qty : lot->qty;
            ret->cost += lot->cost;
        }
    }
    *symbol = least;
    return least >= 0;
}

static void post_held(struct books_journal *j, int account, int symbol, const struct held *held)
{
    const struct symbol *of = held->symbol;
    for (size_t i = 0; i < j->parts.n_lots && j->query->lots; i++)
        if (j->parts.lots[i].account == account && j->parts.lots[i].symbol == symbol)
            post_open(j, i, 1);
    if (!j->query->lots)
        price(post(j, DB_PLACE_ASSETS, account, of->base, of->qty_scale, held->qty), of->quote,
              of->quote_scale, held->cost);
    price(post(j, DB_PLACE_OPENING, account, of->base, of->qty_scale, -held->qty), of->quote, of->quote_scale,
          held->cost);
}

void db_books_post_opening(struct books_journal *j, int account)
{
    const struct books_balances *balances = &j->balances[account];
    for (size_t i = 0; i < balances->n; i++) {
        const struct books_balance *b = &balances->rows[i];
        int64_t rest = b->total;
        struct held held;
        for (int symbol = -1; next_held(j, account, &symbol, &held);)
            if (held.symbol->qty_scale == b->scale && strcmp(held.symbol->base, b->asset) == 0) {
                post_held(j, account, symbol, &held);
                rest -= held.qty;
            }
        if (rest != 0)
            post(j, DB_PLACE_OPENING, account, b->asset, b->scale, -rest);
        assert_balance(post(j, DB_PLACE_ASSETS, account, b->asset, b->scale, rest), b->total);
        if (b->borrowed != 0) {
            post(j, DB_PLACE_LOANS, account, b->asset, b->scale, -b->borrowed);
            post(j, DB_PLACE_OPENING, account, b->asset, b->scale, b->borrowed);
        }
    }
}
