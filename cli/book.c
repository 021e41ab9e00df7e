#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "db/state.h"
#include "engine/replay.h"
#include "exchange/book.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "record/book.h"

enum {
    TEXT_LEVELS = 20,
    JSON_LEVELS = BOOK_LEVELS_MAX, /* all there can be */
};

/* A side's level, "" past its end. */
static void level(const json_t *side, size_t at, size_t field, char *buf, size_t size)
{
    const char *text = json_string_value(json_array_get(json_array_get(side, at), field));

    cli_text_clean(buf, size, text ? text : "");
}

static void print_text(const json_t *book)
{
    const json_t *bids = json_object_get(book, "bids"), *asks = json_object_get(book, "asks");
    const char *symbol = json_string_value(json_object_get(book, "symbol"));
    const char *state = json_string_value(json_object_get(book, "state"));
    size_t rows =
        json_array_size(bids) > json_array_size(asks) ? json_array_size(bids) : json_array_size(asks);
    char bid[48], bid_qty[48], ask[48], ask_qty[48], at[CLOCK_TEXT_MAX];

    cli_text_print(stdout, symbol ? symbol : "");
    fputs("  book ", stdout);
    cli_text_print(stdout, state ? state : "n/a");
    printf("  last id %lld", (long long)json_integer_value(json_object_get(book, "last_id")));
    if (json_is_integer(json_object_get(book, "at_ns")))
        printf("  of %s", clock_utc_text(json_integer_value(json_object_get(book, "at_ns")), at));
    putchar('\n');
    printf("%18s %16s   %16s %18s\n", "qty", "bid", "ask", "qty");
    for (size_t i = 0; i < rows; i++) {
        level(bids, i, 0, bid, sizeof(bid));
        level(bids, i, 1, bid_qty, sizeof(bid_qty));
        level(asks, i, 0, ask, sizeof(ask));
        level(asks, i, 1, ask_qty, sizeof(ask_qty));
        printf("%18s %16s   %16s %18s\n", bid_qty, bid, ask, ask_qty);
    }
}

static bool decimal(const char *text)
{
    int128_t units;
    return text && decimal_parse128(text, strlen(text), DECIMAL_SCALE_MAX, &units) == 0;
}

/* The daemon says decimals as strings, exact to the last digit; here they become JSON numbers with the same
 * digits. */
static void print_side(const char *name, const json_t *side)
{
    const char *comma = "";
    printf(",\"%s\":[", name);
    for (size_t i = 0; i < json_array_size(side); i++) {
        const json_t *pair = json_array_get(side, i);
        const char *price = json_string_value(json_array_get(pair, 0));
        const char *qty = json_string_value(json_array_get(pair, 1));
        if (!decimal(price) || !decimal(qty))
            continue;
        printf("%s[%s,%s]", comma, price, qty);
        comma = ",";
    }
    putchar(']');
}

static void print_json(const json_t *book)
{
    char *symbol = json_dumps(json_object_get(book, "symbol"), JSON_COMPACT | JSON_ENCODE_ANY);
    char *state = json_dumps(json_object_get(book, "state"), JSON_COMPACT | JSON_ENCODE_ANY);
    printf("{\"schema\":\"papertape.book/1\",\"symbol\":%s,\"state\":%s,\"last_id\":%lld",
           symbol ? symbol : "null", state ? state : "null",
           (long long)json_integer_value(json_object_get(book, "last_id")));
    free(symbol);
    free(state);
    if (json_is_integer(json_object_get(book, "at_ns")))
        printf(",\"at_ns\":%lld", (long long)json_integer_value(json_object_get(book, "at_ns")));
    else
        fputs(",\"at_ns\":null", stdout);
    print_side("bids", json_object_get(book, "bids"));
    print_side("asks", json_object_get(book, "asks"));
    puts("}");
}

struct asked {
    int64_t at_ns; /* 0: now, of the daemon */
};

/* Did the run end before the moment? A log that ends there without a stop may be one that a daemon writes. */
static bool was_over(const struct replay_run *run, int64_t at_ns, const char *state)
{
    struct control_error ignored;
    json_t *pong = NULL;
    if (at_ns <= run->last_ns)
        return false;
    if (run->stopped || run->followed)
        return true;
    bool runs = cli_ask_quietly(state, "ping", NULL, &pong, &ignored) == EXIT_OK;
    json_decref(pong);
    return !runs;
}

static json_t *book_of(struct replay *replay, const char *symbol, size_t levels, char *err, size_t err_size)
{
    const struct engine *engine = engine_replay_engine(replay);
    int index = engine_find_symbol(engine, symbol);
    if (index < 0) {
        snprintf(err, err_size, "%.*s: it was not streamed then", SYMBOL_NAME_MAX, symbol);
        return NULL;
    }
    json_t *book = record_book_object(engine_symbol(engine, index), engine_book(engine, index), levels);
    if (!book)
        snprintf(err, err_size, "out of memory");
    else
        json_object_set_new(book, "at_ns", json_integer(engine_replay_received(replay)));
    return book;
}

/* The log is played to the moment, from the state before it. */
static json_t *play(const struct state_dir *dir, const struct option_call *call, int64_t at_ns, size_t levels,
                    char *err, size_t err_size)
{
    const struct replay_options options = {.path = dir->events, .from_ns = at_ns, .to_ns = at_ns};
    char ended[CLOCK_TEXT_MAX], name[SYMBOL_NAME_MAX];
    struct replay *replay;
    json_t *book = NULL;
    int r = engine_replay_open(&options, &replay, err, err_size);

    if (r < 0)
        return NULL;
    while ((r = engine_replay_step(replay)) > 0)
        ;
    const struct replay_run *run = engine_replay_run(replay);
    if (r < 0)
        snprintf(err, err_size, "%s", engine_replay_error(replay));
    else if (at_ns > run->last_ns && at_ns > clock_wall_ns())
        snprintf(err, err_size, "that is later than now: the newest event is of %s",
                 clock_utc_text(run->last_ns, ended));
    else if (was_over(run, at_ns, call->state))
        snprintf(err, err_size, "no daemon ran then: the run before it ended at %s",
                 clock_utc_text(run->last_ns, ended));
    else
        book = book_of(replay, cli_stored_symbol(call->arguments[0], name), levels, err, err_size);
    engine_replay_close(replay);
    return book;
}

static int book_at(const struct option_call *call, int64_t at_ns, size_t levels, json_t **ret)
{
    char err[JOURNAL_ERROR_MAX];
    struct state_dir dir;
    int status = cli_stored_state(call, &dir);

    if (status != EXIT_OK)
        return status;
    *ret = play(&dir, call, at_ns, levels, err, sizeof(err));
    return *ret ? EXIT_OK : cli_stored_fail(EXIT_ERROR, "book", "", err);
}

static int book_now(const struct option_call *call, size_t levels, json_t **ret)
{
    json_t *args = json_pack("{s:s, s:i}", "symbol", call->arguments[0], "levels", (int)levels);

    return args ? cli_ask_daemon("book", call->state, "book", args, ret)
                : cli_ask_usage("book", "the symbol must be UTF-8");
}

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    const size_t levels = call->json ? JSON_LEVELS : TEXT_LEVELS;
    json_t *book = NULL;
    int status = asked->at_ns ? book_at(call, asked->at_ns, levels, &book) : book_now(call, levels, &book);

    if (status != EXIT_OK)
        return status;
    if (call->json)
        print_json(book);
    else
        print_text(book);
    json_decref(book);
    return EXIT_OK;
}

static const struct option_action actions[] = {
    {.arguments = "SYMBOL", .example = "BTCUSDT", .need = OPTION_NEEDS_NOW, .run = run}};

static const struct option_row options[] = {
    {"at", "T", "of a past moment, as 2024-08-08T14:00:00Z, played from the event log",
     offsetof(struct asked, at_ns), cli_stored_take_time},
};

CLI_VERB(cli_book) = {
    .name = "book",
    .words = "a symbol's bids and asks",
    .about =
        "The best twenty levels of the local order book: bids at the left, asks at the right. With "
        "--json the whole book, [price, quantity] best first. Of a past moment it says of when the newest "
        "event is that made it (at_ns), and why there is none where no daemon ran.",
    .page = "market",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
};
