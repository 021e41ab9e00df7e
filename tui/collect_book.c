/* The order book of a past moment: what `papertape book --at` prints, which a child process plays from the
 * event log. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal_json.h"
#include "tui/collect.h"

void tui_collector_book_finish(struct collector *collector)
{
    tui_child_finish(&collector->past_book.child);
    collector->past_book = (struct collector_book){0};
    tui_child_init(&collector->past_book.child);
}

/* In the place of the book. */
static void put_words(struct collector *collector, const char *words)
{
    char text[STATUS_TEXT_MAX];

    snprintf(text, sizeof(text), "- %.140s", words);
    tui_depth_take_book(&collector->past->depth, collector->past_book.symbol, NULL, text, 0);
}

static void start(struct collector *collector)
{
    struct collector_book *book = &collector->past_book;
    char at[40];

    snprintf(at, sizeof(at), "%lld.%09lld", (long long)(book->at_ns / 1000000000),
             (long long)(book->at_ns % 1000000000));
    char *const argv[] = {
        (char[]){"papertape"}, (char[]){"book"},      book->symbol, (char[]){"--at"}, at, (char[]){"--json"},
        (char[]){"--state"},   collector->state.path, NULL};
    int r = tui_child_start(&book->child, argv);

    if (r < 0)
        put_words(collector, strerror(-r));
    else
        put_words(collector, "being played from the event log");
}

void tui_collector_want_book(struct collector *collector, const char *symbol)
{
    struct collector_book *book = &collector->past_book;
    const int64_t at_ns = collector->past ? collector->past->at_ns : 0;

    if (strcmp(book->symbol, symbol) == 0 && (book->at_ns == at_ns || !symbol[0]))
        return;
    tui_collector_book_finish(collector);
    if (!at_ns || !symbol[0])
        return;
    snprintf(book->symbol, sizeof(book->symbol), "%s", symbol);
    book->at_ns = at_ns;
    start(collector);
}

/* Prices and quantities as the texts that the daemon's answer has. */
static void take_texts(json_t *side)
{
    for (size_t i = 0; i < json_array_size(side) && i < DEPTH_LEVELS_MAX; i++)
        for (size_t k = 0; k < 2; k++) {
            char *text = decimal_json_digits(json_array_get(json_array_get(side, i), k));
            if (text)
                json_array_set_new(json_array_get(side, i), k, json_string(text));
            free(text);
        }
}

static void take(struct collector *collector, const char *text)
{
    struct collector_book *book = &collector->past_book;
    json_t *object = decimal_json_parse(text, strlen(text));

    take_texts(json_object_get(object, "bids"));
    take_texts(json_object_get(object, "asks"));
    tui_depth_take_book(&collector->past->depth, book->symbol, object, "- no book was played",
                        collector->past->status_mono_ms);
    json_decref(object);
}

bool tui_collector_book_io(struct collector *collector)
{
    static const char prefix[] = "papertape: book: ";
    struct tui_child *child = &collector->past_book.child;
    int r = child->pid ? tui_child_io(child) : 1;

    if (r > 0)
        return false;
    const char *words = child->complaint;
    if (strncmp(words, prefix, strlen(prefix)) == 0)
        words += strlen(prefix);
    if (collector->past && r == 0)
        take(collector, child->text ? child->text : "");
    else if (collector->past)
        put_words(collector, r == -ECHILD ? words : strerror(-r));
    tui_child_finish(child);
    return true;
}

void tui_collector_book_once(struct collector *collector, const char *symbol, int timeout_ms)
{
    const struct tui_child *child = &collector->past_book.child;
    struct moment start_moment = tui_model_now(), now = start_moment;

    tui_collector_want_book(collector, symbol);
    while (child->pid && now.mono_ms - start_moment.mono_ms < timeout_ms) {
        struct pollfd fds[] = {{.fd = child->out, .events = POLLIN}, {.fd = child->err, .events = POLLIN}};
        if (poll(fds, 2, timeout_ms - (int)(now.mono_ms - start_moment.mono_ms)) < 0 && errno != EINTR)
            break;
        now = tui_model_now();
        tui_collector_book_io(collector);
    }
}
