#include "daemon/tape.h"

#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/market.h"
#include "exchange/order.h"

/* One symbol's, as a ring: the newest at `next` - 1. */
struct newest_trades {
    struct market_trade trades[TAPE_TRADES_MAX];
    size_t n, next;
    bool plain; /* plain trades have come: aggregated ones would repeat them */
};

struct trade_tape {
    struct newest_trades **rings; /* by the engine's index; NULL: no trade has come */
    int n;
};

struct trade_tape *daemon_tape_create(void)
{
    return calloc(1, sizeof(struct trade_tape));
}

void daemon_tape_destroy(struct trade_tape *tape)
{
    for (int i = 0; tape && i < tape->n; i++)
        free(tape->rings[i]);
    if (tape)
        free(tape->rings);
    free(tape);
}

static struct newest_trades *ring_of(const struct trade_tape *tape, int index)
{
    return index >= 0 && index < tape->n ? tape->rings[index] : NULL;
}

/* The symbol's ring, made if need be; NULL without memory. */
static struct newest_trades *ring_made(struct trade_tape *tape, int index)
{
    if (index < 0 || index >= SYMBOLS_MAX)
        return NULL;
    if (index >= tape->n) {
        struct newest_trades **more = realloc(tape->rings, (size_t)(index + 1) * sizeof *more);
        if (!more)
            return NULL;
        memset(more + tape->n, 0, (size_t)(index + 1 - tape->n) * sizeof *more);
        tape->rings = more;
        tape->n = index + 1;
    }
    if (!tape->rings[index])
        tape->rings[index] = calloc(1, sizeof(struct newest_trades));
    return tape->rings[index];
}

/* The trade that is `i` before the newest. */
static struct market_trade *trade_at(struct newest_trades *ring, size_t i)
{
    return &ring->trades[(ring->next + TAPE_TRADES_MAX - 1 - i) % TAPE_TRADES_MAX];
}

static void add(struct newest_trades *ring, bool plain, const struct market_trade *trade)
{
    if (!plain && ring->plain)
        return;
    if (plain && !ring->plain)
        ring->n = ring->next = 0;
    ring->plain = plain;
    ring->trades[ring->next] = *trade;
    ring->next = (ring->next + 1) % TAPE_TRADES_MAX;
    ring->n += ring->n < TAPE_TRADES_MAX;
}

/* Takes out the trade that is `i` before the newest: those after it move up. */
static void take_out(struct newest_trades *ring, size_t i)
{
    for (; i > 0; i--)
        *trade_at(ring, i) = *trade_at(ring, i - 1);
    ring->next = (ring->next + TAPE_TRADES_MAX - 1) % TAPE_TRADES_MAX;
    ring->n--;
}

static void correct(struct newest_trades *ring, bool cancels, const struct market_correction *correction)
{
    for (size_t i = 0; ring && i < ring->n; i++) {
        struct market_trade *trade = trade_at(ring, i);
        if (trade->id != correction->id)
            continue;
        if (cancels) {
            take_out(ring, i);
        } else {
            trade->id = correction->new_id;
            trade->price = correction->price;
            trade->qty = correction->qty;
        }
        return;
    }
}

void daemon_tape_take(struct trade_tape *tape, const struct market_event *event)
{
    bool plain = event->kind == MARKET_TRADE;
    if (event->kind == MARKET_CORRECTION || event->kind == MARKET_CANCEL)
        correct(ring_of(tape, event->symbol), event->kind == MARKET_CANCEL, &event->correction);
    if (!plain && event->kind != MARKET_AGG_TRADE)
        return;
    struct newest_trades *ring = ring_made(tape, event->symbol);
    if (ring)
        add(ring, plain, &event->trade);
}

/* Which side took; null of a share, whose venue does not say. */
static json_t *side_of(const struct symbol *symbol, const struct market_trade *trade)
{
    if (symbol->asset == ASSET_US_EQUITY)
        return json_null();
    return json_string(order_side_name(trade->buyer_maker ? ORDER_SELL : ORDER_BUY));
}

static json_t *trade_object(const struct symbol *symbol, const struct market_trade *trade)
{
    char price[DECIMAL_TEXT_MAX], qty[DECIMAL_TEXT_MAX];
    decimal_format(trade->price, symbol->price_scale, price);
    decimal_format(trade->qty, symbol->qty_scale, qty);
    return json_pack("{s:I, s:I, s:o, s:s, s:s, s:b}", "id", (json_int_t)trade->id, "ts_ns",
                     (json_int_t)trade->ts_ns, "side", side_of(symbol, trade), "price", price, "qty", qty,
                     "odd", trade->odd);
}

json_t *daemon_tape_trades(const struct trade_tape *tape, int index, const struct symbol *symbol, size_t n)
{
    json_t *array = json_array();
    struct newest_trades *ring = ring_of(tape, index);
    for (size_t i = 0; ring && i < ring->n && i < n; i++)
        json_array_append_new(array, trade_object(symbol, trade_at(ring, i)));
    return array;
}
