#include "tui/command/book.h"

#include <stdio.h>
#include <stdlib.h>

#include "tui/command/ask.h"
#include "tui/dashboard.h"
#include "tui/text.h"

static const char help[] =
    "Usage: papertape book SYMBOL [--json] [--state DIR]\n"
    "\n"
    "The best twenty levels of the local order book: bids at the left, asks at the right.\n"
    "\n"
    "  --json  as the daemon says it, with \"schema\": \"papertape.book/1\"\n";

/* A side's level, "" past its end. */
static void level(const json_t *side, size_t at, size_t field, char *buf, size_t size)
{
    const char *text = json_string_value(json_array_get(json_array_get(side, at), field));

    text_clean(buf, size, text ? text : "");
}

static void print_text(const json_t *book)
{
    const json_t *bids = json_object_get(book, "bids"), *asks = json_object_get(book, "asks");
    const char *symbol = json_string_value(json_object_get(book, "symbol"));
    const char *state = json_string_value(json_object_get(book, "state"));
    size_t rows =
        json_array_size(bids) > json_array_size(asks) ? json_array_size(bids) : json_array_size(asks);
    char bid[48], bid_qty[48], ask[48], ask_qty[48];

    text_print(stdout, symbol ? symbol : "");
    fputs("  book ", stdout);
    text_print(stdout, state ? state : "n/a");
    printf("  last id %lld\n", (long long)json_integer_value(json_object_get(book, "last_id")));
    printf("%18s %16s   %16s %18s\n", "qty", "bid", "ask", "qty");
    for (size_t i = 0; i < rows; i++) {
        level(bids, i, 0, bid, sizeof(bid));
        level(bids, i, 1, bid_qty, sizeof(bid_qty));
        level(asks, i, 0, ask, sizeof(ask));
        level(asks, i, 1, ask_qty, sizeof(ask_qty));
        printf("%18s %16s   %16s %18s\n", bid_qty, bid, ask, ask_qty);
    }
}

int command_book(int argc, char **argv)
{
    struct ask_options options;
    json_t *book;
    int r = ask_options(argc, argv, "json", help, &options);

    if (r != EXIT_OK || options.done)
        return r;
    if (argc - options.first != 1)
        return ask_usage("book", "one symbol is needed, as: book BTCUSDT");
    json_t *args = json_pack("{s:s, s:i}", "symbol", argv[options.first], "levels", 20);
    if (!args)
        return ask_usage("book", "the symbol must be UTF-8");
    r = ask_daemon("book", options.state, "book", args, &book);
    if (r != EXIT_OK)
        return r;
    if (options.flag) {
        json_object_set_new(book, "schema", json_string("papertape.book/1"));
        char *text = json_dumps(book, JSON_COMPACT | JSON_REAL_PRECISION(15));
        puts(text ? text : "null");
        free(text);
    } else {
        print_text(book);
    }
    json_decref(book);
    return EXIT_OK;
}
