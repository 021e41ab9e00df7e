/* What the market shows: the order book, corrected at the top by the best bid and ask, which come more
 * often; and how much of it an account has taken already. */
#include <stdlib.h>
#include <string.h>

#include "engine/match.h"
#include "exchange/fill_rules.h"

/* An account that takes more prices than this of one market before it moves: the oldest are dropped. */
enum { TAKEN_MAX = 256 };

static bool quote_counts(const struct market_state *market, const struct book_level *best)
{
    return best->price > 0 && best->qty > 0 &&
           (market->quotes_only || market->book.state != BOOK_SYNCED ||
            market->quote.update_id >= market->book.last_id);
}

static struct book_level quoted(const struct market_state *market, enum order_side side)
{
    const struct market_quote *quote = &market->quote;
    return side == ORDER_BUY ? (struct book_level){quote->bid, quote->bid_qty}
                             : (struct book_level){quote->ask, quote->ask_qty};
}

static enum order_side other_side(enum order_side side)
{
    return side == ORDER_BUY ? ORDER_SELL : ORDER_BUY;
}

void engine_walk_begin(struct book_walk *walk, const struct engine *engine, int account, int symbol,
                       enum order_side taker)
{
    const struct market_state *market = &engine->markets[symbol];
    *walk = (struct book_walk){.market = market, .account = account, .taker = taker};
    walk->quote = quoted(market, other_side(taker));
    walk->use_book = market->book.state == BOOK_SYNCED && !market->quotes_only;
    walk->use_quote = quote_counts(market, &walk->quote);
}

bool engine_walk_quotes_alone(const struct market_state *market)
{
    return market->quotes_only || market->symbol.calendar[0] != '\0';
}

void engine_walk_beyond(struct book_walk *walk, const struct engine *engine)
{
    const struct market_state *market = walk->market;
    const struct symbol_filters *filters = &market->symbol.filters;
    walk->beyond = engine->beyond == FILL_BEYOND_IMPACT && walk->use_quote && !walk->use_book &&
                   engine_walk_quotes_alone(market);
    walk->step = fill_beyond_step(market->quote.bid, market->quote.ask, filters->tick);
    walk->price_min = filters->price_min;
}

/* The next multiple of the quantity shown. */
static bool next_beyond(struct book_walk *walk)
{
    if (!walk->beyond || walk->steps == WALK_BEYOND_MAX)
        return false;
    walk->steps++;
    walk->level = (struct book_level){
        fill_beyond_price(walk->taker, walk->quote.price, walk->step, walk->steps, walk->price_min),
        walk->quote.qty};
    return walk->level.price > 0;
}

static bool next_level(struct book_walk *walk)
{
    walk->from_book = false;
    if (walk->use_quote && !walk->quote_taken) {
        walk->quote_taken = true;
        walk->level = walk->quote;
        return true;
    }
    if (!walk->use_book)
        return next_beyond(walk);
    const struct book *book = &walk->market->book;
    walk->from_book = true;
    for (;;) {
        uint32_t i = walk->next++;
        const struct book_level *level = walk->taker == ORDER_BUY ? book_ask(book, i) : book_bid(book, i);
        if (!level)
            return false;
        bool worse =
            walk->taker == ORDER_BUY ? level->price > walk->quote.price : level->price < walk->quote.price;
        if (walk->use_quote && !worse)
            continue;
        walk->level = *level;
        return true;
    }
}

static struct taken *find_taken(const struct market_state *market, int account, enum order_side taker,
                                int64_t price)
{
    for (uint32_t i = 0; i < market->n_taken; i++) {
        struct taken *taken = &market->taken[i];
        if (taken->price == price && taken->account == account && taken->taker == taker)
            return taken;
    }
    return NULL;
}

bool engine_walk_next(struct book_walk *walk)
{
    if (!next_level(walk))
        return false;
    const struct taken *taken = find_taken(walk->market, walk->account, walk->taker, walk->level.price);
    walk->taken = taken ? taken->qty : 0;
    return true;
}

int64_t engine_walk_part(struct book_walk *walk, const struct order *order, int64_t left)
{
    while (engine_walk_next(walk)) {
        if (order_works_as_limit(order) && !fill_limit_crosses(order->side, order->price, walk->level.price))
            return -1;
        int64_t offered = walk->level.qty - walk->taken;
        if (offered > 0)
            return left < offered ? left : offered;
    }
    return 0;
}

bool engine_match_best(const struct engine *engine, int account, int symbol, enum order_side taker,
                       struct book_level *ret)
{
    struct book_walk walk;
    if (engine->fill_model == FILL_BAR) {
        *ret = (struct book_level){engine_price(engine, account, symbol), INT64_MAX};
        return ret->price > 0;
    }
    engine_walk_begin(&walk, engine, -1, symbol, taker);
    if (!next_level(&walk))
        return false;
    *ret = walk.level;
    return true;
}

static void forget(struct market_state *market, uint32_t at)
{
    market->n_taken--;
    memmove(&market->taken[at], &market->taken[at + 1], (market->n_taken - at) * sizeof *market->taken);
}

static void forget_oldest(struct market_state *market, int account)
{
    uint32_t n = 0, oldest = 0;
    for (uint32_t i = market->n_taken; i > 0; i--)
        if (market->taken[i - 1].account == account) {
            oldest = i - 1;
            n++;
        }
    if (n == TAKEN_MAX)
        forget(market, oldest);
}

bool engine_walk_take(struct engine *engine, const struct book_walk *walk, int symbol, int64_t qty)
{
    struct market_state *market = &engine->markets[symbol];
    struct taken *taken = find_taken(market, walk->account, walk->taker, walk->level.price);
    if (taken) {
        taken->qty += qty;
        return true;
    }
    forget_oldest(market, walk->account);
    if (market->n_taken == market->cap_taken) {
        uint32_t cap = market->cap_taken ? 2 * market->cap_taken : 16;
        struct taken *moved = realloc(market->taken, cap * sizeof *moved);
        if (!moved)
            return false;
        market->taken = moved;
        market->cap_taken = cap;
    }
    market->taken[market->n_taken++] = (struct taken){
        .account = walk->account, .taker = walk->taker, .price = walk->level.price, .qty = qty};
    return true;
}

int64_t engine_walk_shown(const struct market_state *market, enum order_side side, int64_t price)
{
    struct book_level best = quoted(market, side);
    if (quote_counts(market, &best)) {
        if (price == best.price)
            return best.qty;
        if (side == ORDER_BUY ? price > best.price : price < best.price)
            return 0;
    }
    return market->book.state == BOOK_SYNCED && !market->quotes_only
               ? book_shown(&market->book, side == ORDER_BUY, price)
               : -1;
}

void engine_walk_refresh(struct market_state *market)
{
    for (uint32_t i = market->n_taken; i > 0; i--) {
        struct taken *taken = &market->taken[i - 1];
        int64_t shown = engine_walk_shown(market, other_side(taken->taker), taken->price);
        if (shown == 0)
            forget(market, i - 1);
        else if (shown > 0 && shown < taken->qty)
            taken->qty = shown;
    }
}
