/* Prints a line for each line of standard input, for the oracles in Python:
 *
 *   decimal            "parse SCALE TEXT" → units or EINVAL, ERANGE, EDOM
 *                      "format SCALE UNITS" → the text, a blank, the short text
 *   json               hexadecimal digits of a text → 1 accepted, 0 refused
 *   book SYMBOL...     "F FRAME" → 0, or the parser's error
 *                      "S SYMBOL REPLY" (a REST depth reply) → the book's result
 *                      "P SYMBOL" → state, last id, bids, asks: price:qty in units, best first */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/format.h"
#include "exchange/book.h"
#include "exchange/json.h"

enum { BOOKS_MAX = 8 };

static const char *error_name(int r)
{
    return r == -EINVAL ? "EINVAL" : r == -ERANGE ? "ERANGE" : r == -EDOM ? "EDOM" : "?";
}

static void print_units(int128_t units)
{
    char buf[DECIMAL_TEXT_MAX];
    decimal_format(units, 0, buf);
    puts(buf);
}

static void answer_decimal(char *line)
{
    int scale = 0, at = 0;
    int64_t narrow = 0;
    char brief[DECIMAL_TEXT_MAX], text[DECIMAL_TEXT_MAX];
    int128_t units;
    if (sscanf(line, "parse %d %n", &scale, &at) == 1 && at > 0) {
        int r = decimal_parse128(line + at, strlen(line + at), scale, &units);
        int s = decimal_parse_str(line + at, scale, &narrow);
        bool fits = r == 0 && units >= INT64_MIN && units <= INT64_MAX;
        if (fits ? s != 0 || narrow != units : s != (r == 0 ? -ERANGE : r))
            puts("the narrow and the wide reading differ");
        else if (r < 0)
            puts(error_name(r));
        else
            print_units(units);
    } else if (sscanf(line, "format %d %n", &scale, &at) == 1 && at > 0) {
        if (decimal_parse128(line + at, strlen(line + at), 0, &units) < 0)
            puts("?");
        decimal_format(units, scale, text);
        decimal_format_short(units, scale, brief);
        printf("%s %s\n", text, brief);
    } else {
        puts("?");
    }
}

static void answer_json(const char *line)
{
    size_t len = strlen(line) / 2;
    char *text = malloc(len ? len : 1);
    for (size_t i = 0; text && i < len; i++) {
        unsigned byte = 0;
        sscanf(line + 2 * i, "%2x", &byte);
        text[i] = (char)byte;
    }
    struct json json;
    json_init(&json, text, len);
    bool accepted = json_skip(&json) && json_done(&json);
    puts(accepted ? "1" : "0");
    free(text);
}

static struct symbol symbols[BOOKS_MAX];
static struct book books[BOOKS_MAX];
static size_t n_books;
static struct venue_parser *parser;

static uint32_t read_side(struct json *json, struct book_level *levels)
{
    uint32_t n = 0;
    if (!json_enter_array(json))
        return 0;
    for (; json_element(json) && n < BOOK_LEVELS_MAX; n++) {
        if (!json_enter_array(json) || !json_element(json) || !json_decimal(json, 8, &levels[n].price) ||
            !json_element(json) || !json_decimal(json, 8, &levels[n].qty))
            return 0;
        while (json_element(json))
            json_skip(json);
    }
    return n;
}

static int take_snapshot(struct book *book, const char *reply)
{
    static struct book_level bids[BOOK_LEVELS_MAX], asks[BOOK_LEVELS_MAX];
    uint32_t n_bids = 0, n_asks = 0;
    int64_t id = 0;
    struct json json;
    struct json_text key;
    json_init(&json, reply, strlen(reply));
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "lastUpdateId"))
            json_int(&json, &id);
        else if (json_is(key, "bids"))
            n_bids = read_side(&json, bids);
        else if (json_is(key, "asks"))
            n_asks = read_side(&json, asks);
        else
            json_skip(&json);
    }
    if (!json_done(&json))
        return -EBADMSG;
    return book_snapshot(book, (uint64_t)id, bids, n_bids, asks, n_asks);
}

static void print_book(const struct book *book)
{
    const struct book_level *level;
    printf("%d %ju ", book->state == BOOK_SYNCED && book_valid(book), (uintmax_t)book->last_id);
    for (uint32_t i = 0; (level = book_bid(book, i)) != NULL; i++)
        printf("%s%jd:%jd", i ? "," : "", (intmax_t)level->price, (intmax_t)level->qty);
    putchar(' ');
    for (uint32_t i = 0; (level = book_ask(book, i)) != NULL; i++)
        printf("%s%jd:%jd", i ? "," : "", (intmax_t)level->price, (intmax_t)level->qty);
    putchar('\n');
}

static void answer_book(char *line)
{
    if (line[0] == 'F' && line[1] == ' ') {
        struct market_event event;
        int r = binance_parse(parser, line + 2, strlen(line + 2), &event);
        if (r == 0 && event.kind == MARKET_DEPTH)
            book_diff(&books[event.symbol], event.depth.first_id, event.depth.last_id, event.depth.bids,
                      event.depth.n_bids, event.depth.asks, event.depth.n_asks);
        printf("%d\n", r);
        return;
    }
    char *rest = strchr(line + 2, ' ');
    if (rest)
        *rest++ = '\0';
    for (size_t i = 0; i < n_books; i++)
        if (strcmp(symbols[i].name, line + 2) == 0) {
            if (line[0] == 'P')
                print_book(&books[i]);
            else
                printf("%d\n", take_snapshot(&books[i], rest ? rest : ""));
            return;
        }
    puts("?");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    bool decimal = strcmp(mode, "decimal") == 0, json = strcmp(mode, "json") == 0;
    if (strcmp(mode, "book") == 0 && argc > 2 && argc - 2 <= BOOKS_MAX) {
        for (; n_books < (size_t)argc - 2; n_books++) {
            struct symbol *symbol = &symbols[n_books];
            *symbol = (struct symbol){.price_scale = 8, .qty_scale = 8, .quote_scale = 8};
            snprintf(symbol->name, sizeof symbol->name, "%s", argv[2 + n_books]);
            book_init(&books[n_books]);
        }
        if (binance_parser_create(symbols, n_books, &parser) < 0)
            return EXIT_FAILURE;
    } else if (!decimal && !json) {
        fprintf(stderr, "usage: lines decimal | json | book SYMBOL...\n");
        return 2;
    }
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    while ((len = getline(&line, &cap, stdin)) > 0) {
        if (line[len - 1] == '\n')
            line[len - 1] = '\0';
        if (decimal)
            answer_decimal(line);
        else if (json)
            answer_json(line);
        else
            answer_book(line);
    }
    free(line);
    for (size_t i = 0; i < n_books; i++)
        book_finish(&books[i]);
    binance_parser_destroy(parser);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
