#include "record/book.h"

#include "exchange/decimal.h"

const char *record_book_state(enum book_state state)
{
    static const char *const names[] = {
        [BOOK_EMPTY] = "none", [BOOK_SYNCING] = "syncing", [BOOK_SYNCED] = "synced"};

    return names[state];
}

static json_t *levels_array(const struct symbol *symbol, const struct book *book, bool bids, size_t n)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < n; i++) {
        const struct book_level *level = bids ? book_bid(book, i) : book_ask(book, i);
        char at[DECIMAL_TEXT_MAX], qty[DECIMAL_TEXT_MAX];
        if (!level)
            break;
        decimal_format(level->price, symbol->price_scale, at);
        decimal_format(level->qty, symbol->qty_scale, qty);
        json_array_append_new(array, json_pack("[ss]", at, qty));
    }
    return array;
}

json_t *record_book_object(const struct symbol *symbol, const struct book *book, size_t levels)
{
    bool synced = book->state == BOOK_SYNCED;

    return json_pack("{s:s, s:s, s:I, s:o, s:o}", "symbol", symbol->name, "state",
                     record_book_state(book->state), "last_id", (json_int_t)book->last_id, "bids",
                     levels_array(symbol, book, true, synced ? levels : 0), "asks",
                     levels_array(symbol, book, false, synced ? levels : 0));
}
