#include "tui/depth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "exchange/decimal.h"

static bool take_decimal(struct depth_decimal *ret, const json_t *json)
{
    const char *text = json_string_value(json);
    int128_t units;

    if (!text || strlen(text) >= DEPTH_TEXT_MAX ||
        decimal_parse128(text, strlen(text), DECIMAL_SCALE_MAX, &units) < 0)
        return false;
    snprintf(ret->text, sizeof(ret->text), "%s", text);
    ret->value = decimal_to_double(units, DECIMAL_SCALE_MAX);
    return true;
}

static int take_side(struct depth_level ret[static DEPTH_LEVELS_MAX], const json_t *side)
{
    int n = 0;

    for (size_t i = 0; i < json_array_size(side) && n < DEPTH_LEVELS_MAX; i++) {
        const json_t *pair = json_array_get(side, i);
        n += take_decimal(&ret[n].price, json_array_get(pair, 0)) &&
             take_decimal(&ret[n].qty, json_array_get(pair, 1));
    }
    return n;
}

/* True: there is a result to take. */
static bool take_answer(struct depth_answer *answer, const char *symbol, const json_t *result,
                        const char *words, int64_t now_ms)
{
    cli_text_clean(answer->symbol, sizeof(answer->symbol), symbol);
    cli_text_clean(answer->words, sizeof(answer->words), result ? "" : words);
    if (!result)
        return false;
    answer->have = true;
    answer->mono_ms = now_ms;
    return true;
}

void tui_depth_take_book(struct depth_book *book, const char *symbol, const json_t *result, const char *words,
                         int64_t now_ms)
{
    if (strcmp(book->answer.symbol, symbol) != 0)
        *book = (struct depth_book){0};
    if (!take_answer(&book->answer, symbol, result, words, now_ms))
        return;
    const char *state = json_string_value(json_object_get(result, "state"));
    cli_text_clean(book->state, sizeof(book->state), state ? state : "");
    book->n_bids = take_side(book->bids, json_object_get(result, "bids"));
    book->n_asks = take_side(book->asks, json_object_get(result, "asks"));
}

static enum depth_side take_taker(const json_t *json)
{
    const char *side = json_string_value(json);

    return !side                       ? DEPTH_UNKNOWN
           : strcmp(side, "BUY") == 0  ? DEPTH_BUY
           : strcmp(side, "SELL") == 0 ? DEPTH_SELL
                                       : DEPTH_UNKNOWN;
}

void tui_depth_take_tape(struct depth_tape *tape, const char *symbol, const json_t *result, const char *words,
                         int64_t now_ms)
{
    if (strcmp(tape->answer.symbol, symbol) != 0)
        *tape = (struct depth_tape){0};
    if (!take_answer(&tape->answer, symbol, result, words, now_ms))
        return;
    const json_t *trades = json_object_get(result, "trades");
    tape->n = 0;
    for (size_t i = 0; i < json_array_size(trades) && tape->n < DEPTH_TRADES_MAX; i++) {
        const json_t *object = json_array_get(trades, i);
        struct depth_trade *trade = &tape->trades[tape->n];
        trade->ts_ns = json_integer_value(json_object_get(object, "ts_ns"));
        trade->side = take_taker(json_object_get(object, "side"));
        trade->odd = json_is_true(json_object_get(object, "odd"));
        tape->n += take_decimal(&trade->price, json_object_get(object, "price")) &&
                   take_decimal(&trade->qty, json_object_get(object, "qty"));
    }
}

int tui_depth_own(const struct status *status, const char *symbol,
                  struct depth_own ret[static STATUS_ORDERS_MAX])
{
    int n = 0;

    for (int i = 0; i < status->n_orders; i++) {
        const struct status_order *order = &status->orders[i];
        double left = order->qty - (isfinite(order->filled) ? order->filled : 0);
        bool waits = order->stop > 0 && !order->triggered;
        bool rests = strcmp(order->state, "OPEN") == 0 || strcmp(order->state, "PARTIAL") == 0;
        if (strcmp(order->symbol, symbol) == 0 && rests && !waits && order->price > 0 && left > 0)
            ret[n++] = (struct depth_own){strcmp(order->side, "SELL") == 0, order->price, left};
    }
    return n;
}

int tui_depth_digits(const struct depth_decimal *decimal)
{
    const char *point = strchr(decimal->text, '.');
    int n = point ? (int)strlen(point + 1) : 0;

    while (n > 0 && point[n] == '0')
        n--;
    return n;
}

int tui_depth_width(const struct depth_decimal *decimal, int digits)
{
    const char *point = strchr(decimal->text, '.');
    int whole = point ? (int)(point - decimal->text) : (int)strlen(decimal->text);
    int has = point ? (int)strlen(point + 1) : 0;

    digits = digits < has ? digits : has;
    return digits > 0 ? whole + 1 + digits : whole;
}

const char *tui_depth_fit(char buf[static DEPTH_TEXT_MAX], const struct depth_decimal *decimal, int digits,
                          int columns)
{
    char text[FORMAT_MAX];
    int len = tui_depth_width(decimal, digits);

    if (len <= columns)
        snprintf(buf, DEPTH_TEXT_MAX, "%.*s", len, decimal->text);
    else if ((int)strlen(cli_format_fit(text, decimal->value, digits, columns)) <= columns ||
             (int)strlen(cli_format_count(text, decimal->value)) <= columns)
        snprintf(buf, DEPTH_TEXT_MAX, "%.23s", text);
    else
        snprintf(buf, DEPTH_TEXT_MAX, "~");
    return buf;
}
