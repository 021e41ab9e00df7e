#include "exchange/replay/alpaca/recorded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/fail.h"
#include "exchange/replay/alpaca/recorded_internal.h"
#include "exchange/replay/alpaca/subscriber.h"
#include "exchange/replay/alpaca/unpack.h"

/* "T" of each kind, in the order of enum flow_kind. */
static const char letters[FLOW_KINDS + 1] = "tqbudslicxo";

static int fail(const struct recorded_file *file, int err, char *error)
{
    snprintf(error, SOURCE_ERROR_MAX, "%s", file->lines.error);
    return err;
}

static int fail_frame(struct recorded_file *file, char *error)
{
    replay_lines_fail(&file->lines, -EBADMSG, "bad frame", "an array of messages, as this venue sends them");
    return fail(file, -EBADMSG, error);
}

/* ---- values ---- */

int replay_recorded_time(const json_t *time, int64_t *ret_ns)
{
    return json_is_string(time) ? bars_time_parse(json_string_value(time), json_string_length(time), ret_ns)
                                : -EINVAL;
}

/* A number in units of 10^-9. */
static bool e9_of(const json_t *number, int64_t *ret)
{
    char text[64];
    if (json_is_integer(number))
        return !__builtin_mul_overflow((int64_t)json_integer_value(number), MADE_E9, ret);
    return json_is_real(number) && snprintf(text, sizeof text, "%.9f", json_real_value(number)) < 40 &&
           decimal_parse_str(text, 9, ret) == 0;
}

void replay_recorded_put(struct wire *wire, const char *key, const json_t *value)
{
    int64_t number;
    const char *name;
    const json_t *member;
    if (key)
        replay_wire_key(wire, key);
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        replay_wire_map(wire, json_object_size(value));
        json_object_foreach((json_t *)(uintptr_t)value, name, member) replay_recorded_put(wire, name, member);
        replay_wire_map_end(wire);
        break;
    case JSON_ARRAY:
        replay_wire_array(wire, json_array_size(value));
        for (size_t i = 0; i < json_array_size(value); i++)
            replay_recorded_put(wire, NULL, json_array_get(value, i));
        replay_wire_array_end(wire);
        break;
    case JSON_STRING:
        if (key && strcmp(key, "t") == 0 && replay_recorded_time(value, &number) == 0)
            replay_wire_time(wire, number);
        else
            replay_wire_str(wire, json_string_value(value));
        break;
    case JSON_INTEGER:
        replay_wire_int(wire, json_integer_value(value));
        break;
    case JSON_REAL:
        if (e9_of(value, &number))
            replay_wire_e9(wire, number);
        else
            replay_wire_null(wire);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        replay_wire_bool(wire, json_is_true(value));
        break;
    case JSON_NULL:
        replay_wire_null(wire);
        break;
    }
}

/* ---- books ---- */

static struct recorded_book *book_of(struct replay_recorded *r, const char *symbol)
{
    int i = 0;
    while (i < r->n_books && strcmp(r->books[i].symbol, symbol) != 0)
        i++;
    if (i == RECORDED_BOOKS_MAX)
        return NULL;
    if (i == r->n_books) {
        struct recorded_book *book = &r->books[r->n_books++];
        snprintf(book->symbol, sizeof book->symbol, "%s", symbol);
        book->bids.bid = true;
    }
    return &r->books[i];
}

static int take_side(struct replay_ladder *side, const json_t *levels)
{
    for (size_t i = 0; i < json_array_size(levels); i++) {
        const json_t *level = json_array_get(levels, i);
        int64_t price, size;
        if (e9_of(json_object_get(level, "p"), &price) && e9_of(json_object_get(level, "s"), &size) &&
            replay_ladder_set(side, price, size) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int take_book(struct recorded_book *book, const json_t *message)
{
    if (json_is_true(json_object_get(message, "r"))) {
        book->bids.n = book->asks.n = 0;
        book->whole = true;
    }
    int r = take_side(&book->bids, json_object_get(message, "b"));
    return r < 0 ? r : take_side(&book->asks, json_object_get(message, "a"));
}

static void put_side(struct wire *wire, const char *key, const struct replay_ladder *side)
{
    const struct level *level;
    replay_wire_key(wire, key);
    replay_wire_array(wire, side->n);
    for (size_t i = 0; (level = replay_ladder_best(side, i)); i++) {
        replay_wire_map(wire, 2);
        replay_wire_key(wire, "p");
        replay_wire_e9(wire, level->price);
        replay_wire_key(wire, "s");
        replay_wire_e9(wire, level->qty);
        replay_wire_map_end(wire);
    }
    replay_wire_array_end(wire);
}

static void put_whole(struct wire *wire, const struct recorded_book *book, const json_t *message)
{
    replay_wire_map(wire, 6);
    replay_recorded_put(wire, "T", json_object_get(message, "T"));
    replay_recorded_put(wire, "S", json_object_get(message, "S"));
    replay_recorded_put(wire, "t", json_object_get(message, "t"));
    put_side(wire, "b", &book->bids);
    put_side(wire, "a", &book->asks);
    replay_wire_key(wire, "r");
    replay_wire_bool(wire, true);
    replay_wire_map_end(wire);
}

/* ---- playing ---- */

/* Adds one message to what a subscriber is sent. */
static int add(struct alpaca *alpaca, struct alpaca_subscriber *s, const json_t *message,
               const struct recorded_book *book)
{
    struct text *text = &alpaca->scratch[s->msgpack];
    struct wire wire = wire_to(text, s->msgpack);
    int index = book ? (int)(book - alpaca->recorded->books) : 0;
    text_clear(text);
    if (book && book->whole && !s->has_book[index])
        put_whole(&wire, book, message);
    else
        replay_recorded_put(&wire, NULL, message);
    if (book)
        s->has_book[index] |= book->whole;
    replay_subscriber_put(s, text);
    return text_ok(text) ? 0 : -ENOMEM;
}

static int send_message(struct alpaca *alpaca, const json_t *message)
{
    const char *type = json_string_value(json_object_get(message, "T"));
    const char *symbol = json_string_value(json_object_get(message, "S"));
    const char *letter = type && type[0] && !type[1] ? strchr(letters, type[0]) : NULL;
    struct recorded_book *book = NULL;
    int rc = 0;
    if (!letter || !symbol || strlen(symbol) >= SYMBOL_NAME_MAX)
        return 0; /* it was sent to the recorder */
    enum flow_kind kind = (enum flow_kind)(letter - letters);
    bool crypto = strchr(symbol, '/') != NULL;
    if (kind == FLOW_BOOK) {
        book = book_of(alpaca->recorded, symbol);
        rc = book ? take_book(book, message) : -ENOSPC;
    }
    for (int i = 0; i < ALPACA_ENDPOINTS; i++) {
        struct replay_endpoint *endpoint = &alpaca->endpoints[i];
        if ((endpoint->flow.class == MADE_CRYPTO) != crypto)
            continue;
        for (struct alpaca_subscriber *s = endpoint->subscribers; s && rc == 0; s = s->next)
            if (replay_subscriber_wants(s, kind, symbol) && !replay_subscriber_silenced(s, kind, symbol))
                rc = add(alpaca, s, message, book);
    }
    return rc;
}

static json_t *read_frame(const struct frame_line *line)
{
    const char *data = line->frame.data;
    return data[0] == '[' ? json_loadb(data, line->frame.len, 0, NULL)
                          : replay_msgpack_read(data, line->frame.len);
}

static struct recorded_file *next_file(const struct replay_recorded *r)
{
    struct recorded_file *first = NULL;
    for (size_t i = 0; i < r->n_files; i++)
        if (!r->files[i].ended && (!first || r->files[i].line.ts_ns < first->line.ts_ns))
            first = &r->files[i];
    return first;
}

int64_t replay_recorded_due(const struct replay_recorded *r)
{
    const struct recorded_file *file = next_file(r);
    return file ? file->line.ts_ns : INT64_MAX;
}

static int read_next(struct recorded_file *file, char *error)
{
    int rc = replay_lines_next(&file->lines, &file->line);
    file->ended = rc == 0;
    return rc < 0 ? fail(file, rc, error) : 0;
}

int replay_recorded_step(struct alpaca *alpaca, char error[static SOURCE_ERROR_MAX])
{
    struct recorded_file *file = next_file(alpaca->recorded);
    int rc = 0;
    alpaca->now_ns = file->line.ts_ns > alpaca->now_ns ? file->line.ts_ns : alpaca->now_ns;
    if (file->line.url.len == 0) {
        json_t *frame = read_frame(&file->line);
        for (size_t i = 0; rc == 0 && i < json_array_size(frame); i++)
            rc = send_message(alpaca, json_array_get(frame, i));
        json_decref(frame);
        for (int i = 0; i < ALPACA_ENDPOINTS; i++)
            for (struct alpaca_subscriber *s = alpaca->endpoints[i].subscribers; s; s = s->next)
                replay_subscriber_flush(s);
    }
    if (rc < 0) {
        replay_lines_fail(&file->lines, rc, "cannot play", "books of at most %d coins, and memory (%s)",
                          RECORDED_BOOKS_MAX, strerror(-rc));
        return fail(file, rc, error);
    }
    return read_next(file, error);
}

/* ---- the first reading ---- */

/* Bars of the stream are also in REST, once they were streamed. */
static int learn_frame(struct replay_recorded *r, const struct frame_line *line)
{
    json_t *frame = read_frame(line);
    int rc = json_is_array(frame) ? 0 : -EBADMSG;
    for (size_t i = 0; rc == 0 && i < json_array_size(frame); i++) {
        json_t *message = json_array_get(frame, i);
        const char *type = json_string_value(json_object_get(message, "T"));
        const char *symbol = json_string_value(json_object_get(message, "S"));
        struct recorded_bar bar = {
            .timeframe = "1Min", .streamed = true, .known_ns = line->ts_ns, .bar = message};
        if (!type || (strcmp(type, "b") != 0 && strcmp(type, "u") != 0) || !symbol ||
            strlen(symbol) >= SYMBOL_NAME_MAX ||
            replay_recorded_time(json_object_get(message, "t"), &bar.open_ns) < 0)
            continue;
        strcpy(bar.symbol, symbol);
        rc = replay_recorded_keep_bar(r, &bar);
    }
    json_decref(frame);
    return rc;
}

static int learn_file(struct replay_recorded *r, struct recorded_file *file, char *error)
{
    int rc = replay_lines_open(&file->lines, file->lines.path);
    if (rc < 0)
        return fail(file, rc, error);
    while ((rc = read_next(file, error)) == 0 && !file->ended) {
        bool reply = file->line.url.len > 0;
        rc = reply ? replay_recorded_keep_reply(r, &file->line) : learn_frame(r, &file->line);
        if (rc < 0)
            return fail_frame(file, error);
    }
    replay_lines_close(&file->lines);
    return rc;
}

static int begin_file(struct recorded_file *file, int64_t from_ns, char *error)
{
    int rc = replay_lines_open(&file->lines, file->lines.path);
    if (rc < 0)
        return fail(file, rc, error);
    do
        rc = read_next(file, error);
    while (rc == 0 && !file->ended && file->line.ts_ns < from_ns);
    return rc;
}

int replay_recorded_open(const char *const *paths, size_t n_paths, int64_t from_ns,
                         struct replay_recorded **ret, char error[static PROTOCOL_ERROR_MAX])
{
    struct replay_recorded *r = calloc(1, sizeof *r);
    int rc = 0;
    if (r)
        r->files = calloc(n_paths, sizeof *r->files);
    if (!r || !r->files) {
        free(r);
        return fail_with(-ENOMEM, error, PROTOCOL_ERROR_MAX, "out of memory");
    }
    r->n_files = n_paths;
    for (size_t i = 0; rc == 0 && i < n_paths; i++) {
        r->files[i].lines.path = paths[i];
        rc = learn_file(r, &r->files[i], error);
    }
    replay_recorded_sort(r);
    for (size_t i = 0; rc == 0 && i < n_paths; i++)
        rc = begin_file(&r->files[i], from_ns, error);
    if (rc < 0)
        replay_recorded_close(r);
    else
        *ret = r;
    return rc;
}

void replay_recorded_close(struct replay_recorded *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_files; i++)
        replay_lines_finish(&r->files[i].lines);
    for (size_t i = 0; i < r->n_replies; i++) {
        free(r->replies[i].url);
        free(r->replies[i].body);
    }
    for (size_t i = 0; i < r->n_bars; i++)
        json_decref(r->bars[i].bar);
    for (int i = 0; i < r->n_books; i++) {
        replay_ladder_finish(&r->books[i].bids);
        replay_ladder_finish(&r->books[i].asks);
    }
    free(r->files);
    free(r->replies);
    free(r->bars);
    free(r);
}
