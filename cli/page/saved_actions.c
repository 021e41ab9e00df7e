/* Splits and dividends of a saved backtest, and what they did to its accounts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/saved.h"
#include "db/holdings.h"
#include "db/reader.h"

struct taking {
    struct page_saved *saved;
    struct backtest_taken *taken; /* [cap]: each action, as it is of no account yet */
    size_t n, cap;
    int r;
};

/* What an account has done so far. */
struct replayed {
    struct backtest_account *account;
    struct db_holdings holdings;
    size_t fill, dividend; /* the next ones */
};

static int symbol_of(const struct market *market, const char *name)
{
    for (int s = 0; s < market->n_symbols; s++)
        if (strcmp(market->series[s].symbol.name, name) == 0)
            return s;
    return -1;
}

static void take_row(void *ctx, const struct db_action_row *row)
{
    struct taking *taking = ctx;
    int symbol = symbol_of(taking->saved->market, row->symbol->symbol.name);
    if (taking->r == 0 && symbol < 0)
        taking->r = -EBADMSG;
    if (taking->r == 0 && taking->n == taking->cap) {
        size_t cap = taking->cap ? 2 * taking->cap : 16;
        struct backtest_taken *moved = reallocarray(taking->taken, cap, sizeof *moved);
        taking->r = moved ? 0 : -ENOMEM;
        taking->taken = moved ? moved : taking->taken;
        taking->cap = moved ? cap : taking->cap;
    }
    if (taking->r == 0)
        taking->taken[taking->n++] = (struct backtest_taken){.symbol = symbol,
                                                             .action = row->action.action,
                                                             .ts_ns = row->action.ts_ns,
                                                             .input_seq = row->action.input_seq};
}

static int fill_until(struct replayed *replayed, uint64_t seq)
{
    const struct backtest_account *account = replayed->account;
    int r = 0;
    for (; replayed->fill < account->n_fills && account->fills[replayed->fill].input_seq <= seq && r == 0;
         replayed->fill++) {
        const struct fill *fill = &account->fills[replayed->fill];
        r = db_holdings_fill(&replayed->holdings, 0, fill->symbol, fill->side, fill->qty, fill->notional,
                             fill->fee, fill->ts_ns);
    }
    return r;
}

/* The ledger's row of a dividend, which has none where nothing was paid. */
static int64_t paid(struct replayed *replayed, const struct symbol *symbol,
                    const struct backtest_taken *taken, const struct db_holding *holding)
{
    const struct backtest_account *account = replayed->account;
    int64_t qty = position_before(&holding->position, &holding->lots, taken->action.ex_ns), amount = 0;
    while (replayed->dividend < account->n_ledger &&
           (account->ledger[replayed->dividend].kind != LEDGER_DIVIDEND ||
            account->ledger[replayed->dividend].ts_ns < taken->ts_ns))
        replayed->dividend++;
    if (qty == 0 || !engine_dividend_amount(&taken->action, symbol, qty, &amount) || amount == 0 ||
        replayed->dividend == account->n_ledger)
        return 0;
    const struct ledger_row *row = &account->ledger[replayed->dividend];
    if (row->ts_ns != taken->ts_ns || strcmp(row->asset, symbol->quote) != 0 ||
        (row->amount < 0) != (amount < 0))
        return 0;
    replayed->dividend++;
    return row->amount;
}

/* What was booked to be paid later. */
static int64_t booked(const struct backtest_account *account, const struct backtest_taken *taken)
{
    int64_t sum = 0;
    for (size_t i = 0; i < account->n_receivables; i++) {
        const struct receivable_row *row = &account->receivables[i];
        sum += row->kind == RECEIVABLE_BOOKED && row->input_seq == taken->input_seq &&
                       strcmp(row->of.action, taken->action.id) == 0
                   ? row->of.amount
                   : 0;
    }
    return sum;
}

static int take(struct replayed *replayed, const struct market *market, struct backtest_taken *taken)
{
    const struct corporate_action *action = &taken->action;
    int r = fill_until(replayed, taken->input_seq);
    struct db_holding *holding = r == 0 ? db_holdings_of(&replayed->holdings, 0, taken->symbol) : NULL;
    taken->n_fills = replayed->fill;
    if (!holding)
        return r < 0 ? r : -ENOMEM;
    const struct stock_split split = {action->shares, action->per, action->ex_ns};
    bool left_out;
    if (action->kind == ACTION_DIVIDEND)
        taken->paid = action->pay_ns > taken->ts_ns
                          ? booked(replayed->account, taken)
                          : paid(replayed, &market->series[taken->symbol].symbol, taken, holding);
    else if (position_before(&holding->position, &holding->lots, split.ex_ns) != 0)
        r = engine_split_position(&split, &holding->position, &holding->lots, taken->ts_ns, &taken->change,
                                  &left_out);
    return r;
}

static int replay(const struct taking *taking, struct backtest_account *account)
{
    struct replayed replayed = {.account = account};
    int r = 0;
    account->taken = calloc(taking->n + 1, sizeof *account->taken);
    if (!account->taken)
        return -ENOMEM;
    for (size_t i = 0; i < taking->n && r == 0; i++) {
        account->taken[i] = taking->taken[i];
        r = take(&replayed, taking->saved->market, &account->taken[i]);
        account->n_taken += r == 0;
    }
    db_holdings_finish(&replayed.holdings);
    return r == -ERANGE ? -EBADMSG : r;
}

static int list(const struct taking *taking)
{
    struct page_saved *saved = taking->saved;
    saved->actions = calloc(taking->n + 1, sizeof *saved->actions);
    for (size_t i = 0; saved->actions && i < taking->n; i++)
        saved->actions[i] = (struct backtest_action){.symbol = taking->taken[i].symbol,
                                                     .at_ns = taking->taken[i].ts_ns,
                                                     .action = taking->taken[i].action};
    saved->n_actions = saved->actions ? taking->n : 0;
    return saved->actions ? 0 : -ENOMEM;
}

static void take_receivable(void *ctx, const struct receivable_row *row, const struct db_account *account)
{
    (void)account;
    struct taking *taking = ctx;
    struct backtest *backtest = &taking->saved->backtest;
    if (taking->r < 0 || row->account < 0 || row->account >= backtest->n_accounts)
        return;
    struct backtest_account *of = &backtest->accounts[row->account];
    struct receivable_row *moved = of->receivables;
    if ((of->n_receivables & (of->n_receivables - 1)) == 0)
        moved = reallocarray(moved, of->n_receivables ? 2 * of->n_receivables : 1, sizeof *moved);
    if (!moved) {
        taking->r = -ENOMEM;
        return;
    }
    of->receivables = moved;
    moved[of->n_receivables++] = *row;
}

int cli_page_saved_actions(struct db_reader *reader, struct page_saved *saved, int *ret_r)
{
    struct taking taking = {.saved = saved};
    int r = db_reader_actions(reader, NULL, take_row, &taking);
    if (r == 0 && taking.r == 0)
        r = db_reader_receivables(reader, take_receivable, &taking);
    if (r == 0 && taking.r == 0)
        taking.r = list(&taking);
    for (int a = 0; a < saved->backtest.n_accounts && r == 0 && taking.r == 0; a++)
        taking.r = replay(&taking, &saved->backtest.accounts[a]);
    free(taking.taken);
    *ret_r = taking.r;
    return r;
}
