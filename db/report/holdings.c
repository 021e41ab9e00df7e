#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"

/* ---- rows ---- */

static int compare(const struct report_holding *row, int64_t account, int64_t symbol, int source)
{
    if (row->account != account)
        return row->account < account ? -1 : 1;
    if (row->symbol != symbol)
        return row->symbol < symbol ? -1 : 1;
    return (row->source > source) - (row->source < source);
}

/* The place of the first row that is not before it. */
static size_t place_of(const struct report_holdings *holdings, int64_t account, int64_t symbol, int source)
{
    size_t low = 0, high = holdings->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&holdings->rows[middle], account, symbol, source) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct report_holding *db_report_holding_of(struct report_holdings *holdings, int64_t account, int64_t symbol,
                                            int source)
{
    size_t at = place_of(holdings, account, symbol, source);
    if (at < holdings->n && compare(&holdings->rows[at], account, symbol, source) == 0)
        return &holdings->rows[at];
    if ((holdings->n & (holdings->n - 1)) == 0) {
        size_t room = holdings->n ? 2 * holdings->n : 1;
        struct report_holding *rows = realloc(holdings->rows, room * sizeof *rows);
        if (!rows)
            return NULL;
        holdings->rows = rows;
    }
    struct report_holding *row = &holdings->rows[at];
    memmove(row + 1, row, (holdings->n++ - at) * sizeof *row);
    *row = (struct report_holding){.account = account, .symbol = symbol, .source = source};
    return row;
}

void db_report_holdings_finish(struct report_holdings *holdings)
{
    for (size_t i = 0; i < holdings->n; i++)
        position_lots_finish(&holdings->rows[i].lots);
    free(holdings->rows);
    *holdings = (struct report_holdings){0};
}

/* ---- fills ---- */

/* How much of `qty` closes: what is held on the other side. */
static int64_t closes(const struct report_holding *row, enum order_side side, int64_t qty)
{
    int64_t held = row->position.qty, against = side == ORDER_SELL ? held : -held;
    return against <= 0 ? 0 : against < qty ? against : qty;
}

static int close_trade(struct report_holdings *holdings, struct report_holding *row,
                       const struct report_fill *fill)
{
    const struct position *position = &row->position;
    int64_t profit = position->realized - row->opened_realized - (position->fees - row->opened_fees);
    if (!holdings->counts)
        return 0;
    metrics_trades_add(&row->trades, decimal_to_double(profit, fill->scale), fill->ts_ns - row->opened_ns);
    return row->source == REPORT_WHOLE && holdings->closed
               ? holdings->closed(holdings->ctx, row, fill, profit)
               : 0;
}

static void follow_trip(struct report_trip *trip, const struct report_fill *part, bool opens, bool flat)
{
    if (flat)
        *trip = (struct report_trip){.source = part->source, .first_fill = part->id};
    trip->fills++;
    *(opens ? &trip->entered : &trip->left) += part->qty;
    *(opens ? &trip->entry : &trip->exit) += part->notional;
}

/* A part of a fill that only opens, or only closes. */
static int apply(struct report_holdings *holdings, struct report_holding *row, const struct report_fill *part)
{
    const int64_t before = row->position.qty;
    follow_trip(&row->trip, part, before == 0 || (before > 0) == (part->side == ORDER_BUY), before == 0);
    if (before == 0) {
        row->opened_ns = part->ts_ns;
        row->opened_realized = row->position.realized;
        row->opened_fees = row->position.fees;
    }
    int r = position_apply(&row->position, &row->lots, part->side, part->qty, part->notional, part->ts_ns);
    if (r < 0)
        return r;
    row->position.fees += part->fee;
    row->volume += holdings->counts ? part->notional : 0;
    return before != 0 && row->position.qty == 0 ? close_trade(holdings, row, part) : 0;
}

/* Removes the part of so many from a fill; the last part has what is left. */
static struct report_fill cut(struct report_fill *fill, int64_t qty)
{
    struct report_fill part = *fill;
    part.qty = qty;
    if (qty < fill->qty) {
        part.notional = (int64_t)((int128_t)fill->notional * qty / fill->qty);
        part.fee = (int64_t)((int128_t)fill->fee * qty / fill->qty);
    }
    fill->qty -= part.qty;
    fill->notional -= part.notional;
    fill->fee -= part.fee;
    return part;
}

/* Of what others opened against it, the oldest. */
static struct report_holding *oldest_against(struct report_holdings *holdings, const struct report_fill *fill)
{
    struct report_holding *oldest = NULL;
    for (size_t i = place_of(holdings, fill->account, fill->symbol, REPORT_WHOLE + 1); i < holdings->n; i++) {
        struct report_holding *row = &holdings->rows[i];
        if (row->account != fill->account || row->symbol != fill->symbol)
            break;
        if (closes(row, fill->side, fill->qty) > 0 && (!oldest || row->opened_ns < oldest->opened_ns))
            oldest = row;
    }
    return oldest;
}

static int close_part(struct report_holdings *holdings, struct report_holding *row, struct report_fill *rest)
{
    int64_t qty = closes(row, rest->side, rest->qty);
    if (qty == 0)
        return 0;
    const struct report_fill part = cut(rest, qty);
    return apply(holdings, row, &part);
}

/* First what the row holds on the other side, then the rest opens. */
static int turn(struct report_holdings *holdings, struct report_holding *row, struct report_fill rest)
{
    int r = close_part(holdings, row, &rest);
    return r < 0 || rest.qty == 0 ? r : apply(holdings, row, &rest);
}

int db_report_holdings_fill(struct report_holdings *holdings, const struct report_fill *fill)
{
    struct report_holding *whole = db_report_holding_of(holdings, fill->account, fill->symbol, REPORT_WHOLE);
    if (!whole)
        return -ENOMEM;
    whole->fills += holdings->counts;
    whole->fees_base += holdings->counts ? fill->fee_base : 0;
    int r = turn(holdings, whole, *fill);
    struct report_holding *own =
        r == 0 ? db_report_holding_of(holdings, fill->account, fill->symbol, fill->source) : NULL;
    if (!own)
        return r == 0 ? -ENOMEM : r;
    own->fills += holdings->counts;
    struct report_fill rest = *fill;
    r = close_part(holdings, own, &rest);
    for (struct report_holding *other; r == 0 && rest.qty > 0 && (other = oldest_against(holdings, &rest));)
        r = close_part(holdings, other, &rest);
    return r < 0 || rest.qty == 0 ? r : apply(holdings, own, &rest);
}
