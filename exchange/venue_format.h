/* The part of a venue that needs no connection: its name, its fees, and the parsers of its messages. Pure,
 * and without the libraries of the network: for programs that read files. exchange/venue.h has the rest. */
#ifndef EXCHANGE_VENUE_FORMAT_H
#define EXCHANGE_VENUE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "exchange/fees.h"
#include "exchange/symbol.h"

struct market_event;
struct order_rules_table;
struct trading_calendar;
struct venue_parser;

/* A requested name and the venue's listing of it. */
struct venue_symbol {
    char name[SYMBOL_NAME_MAX];
    bool found;
    bool unusable;                 /* not found: it is listed, but in a form that cannot be used */
    struct symbol symbol;          /* if found */
    char nearest[SYMBOL_NAME_MAX]; /* if not: the most similar listed name; may be empty */
};

/* A listed name is offered to those wanted: the first of that name that is not found yet; else NULL, and the
 * others remember it where it is the most similar one. */
struct venue_symbol *venue_symbol_offer(struct venue_symbol *wanted, size_t n, const char *name);

struct venue_format {
    const char *name;
    const struct fee_schedule *fees;
    const struct order_rules_table *orders; /* by class of assets; NULL: those of exchange/order.h */

    /* Parses the text that lists its symbols into those wanted by name. 0; -EBADMSG for another text. */
    int (*list_parse)(const char *text, size_t len, struct venue_symbol *wanted, size_t n);

    /* Symbols are the caller's and must outlive the parser; events carry their index. 0; -ENOMEM; -EINVAL for
     * more than SYMBOLS_MAX or a name twice. */
    int (*parser_create)(const struct symbol *symbols, size_t n, struct venue_parser **ret);
    /* The caller's list has grown in its place, and has n symbols by now: what the parser remembers of the
     * others stays. The same errors; then nothing has changed. Not between the events of one message. */
    int (*parser_grow)(struct venue_parser *parser, size_t n);
    /* The days of the calendar of that name, copied, in place of the ones before: bars that the parser joins
     * for symbols with that calendar begin and end by it. Until then, and for others, by the clock. 0;
     * -ENOMEM. NULL: the venue's bars are its own. */
    int (*parser_calendar)(struct venue_parser *parser, const struct trading_calendar *calendar);
    /* A frame may hold several messages: *pos is 0 at first and advances with each call, until it is `len`.
     * Each call takes one message, or one more event of the same (then *pos has not moved yet): 0 with *ret
     * written (levels live until the next call); 1 for one that is valid but no market data; -EBADMSG for
     * one that is malformed, lacks a field or holds a number beyond its scale; -ENOENT for one of a symbol
     * that is not in the table. After an error that hides where the next message begins *pos is `len`. *ret
     * is meaningless unless 0 is returned. No allocation. */
    int (*parse)(struct venue_parser *parser, const char *frame, size_t len, size_t *pos,
                 struct market_event *ret);
    void (*parser_destroy)(struct venue_parser *parser); /* NULL is fine */
};

/* The i-th in order of names, or NULL beyond the last. */
const struct venue_format *venue_format(size_t i);

#endif
