#include "strategy/process/line.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

/* The keys of a line, and its numbers without the indicators; and of each peer in it. */
enum { LINE_WORDS = 2048, LINE_PEER_WORDS = 1024 };

#define EXACT_UNITS      ((int128_t)1 << 53) /* every whole number up to it is a double */

#define PUT(to, literal) put((to), literal, sizeof(literal) - 1)

static char *put(char *to, const char *text, size_t len)
{
    memcpy(to, text, len);
    return to + len;
}

void strategy_line_symbol(const struct symbol *symbol, struct strategy_line_symbol *ret)
{
    json_t *name = json_stringn(symbol->name, strnlen(symbol->name, sizeof symbol->name));
    char *text = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
    *ret = (struct strategy_line_symbol){.price_scale = symbol->price_scale, .qty_scale = symbol->qty_scale};
    snprintf(ret->quoted, sizeof ret->quoted, "%s", text ? text : "\"\"");
    free(text);
    json_decref(name);
}

size_t strategy_line_room(const struct strategy_request *request)
{
    const size_t each = LINE_QUOTED_MAX + request->n_indicators * (LINE_NUMBER_MAX + 1);
    return LINE_WORDS + each + (size_t)request->input.n_peers * (LINE_PEER_WORDS + each);
}

static char *put_whole(char *to, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0)
        digits[--at] = '-';
    return put(to, digits + at, sizeof digits - at);
}

/* units / 10^scale is the double: both are doubles, and a division rounds to the nearest, as reading does. */
static bool units_of(double value, int scale, int64_t *ret)
{
    const double power = (double)decimal_powers[scale], units = nearbyint(value * power);
    if (!(fabs(units) < (double)EXACT_UNITS) || units / power != value)
        return false;
    *ret = (int64_t)units;
    return true;
}

char *strategy_line_number(char *to, double value)
{
    char text[DECIMAL_TEXT_MAX];
    int64_t units;
    if (!isfinite(value))
        return PUT(to, "null");
    if (value == 0)
        return PUT(to, "0"); /* of -0 as well, which compares equal */
    if (units_of(value, 0, &units))
        return put_whole(to, units);
    int scale = units_of(value, 2, &units) ? 2 : units_of(value, 8, &units) ? 8 : 0;
    if (scale > 0)
        return put(to, text, decimal_format_short(units, scale, text));
    return to + snprintf(to, LINE_NUMBER_MAX, "%.17g", value);
}

static char *put_units(char *to, int128_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    if (units > EXACT_UNITS || units < -EXACT_UNITS)
        return strategy_line_number(to, decimal_to_double(units, scale));
    return put(to, text, decimal_format_short(units, scale, text));
}

static char *put_text(char *to, int128_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    *to++ = '"';
    to = put(to, text, decimal_format_short(units, scale, text));
    *to++ = '"';
    return to;
}

static char *put_flag(char *to, bool value)
{
    return value ? PUT(to, "true") : PUT(to, "false");
}

static char *put_bar(char *to, const struct bar *bar, const struct strategy_line_symbol *symbol)
{
    const int price = symbol->price_scale, qty = symbol->qty_scale;
    to = put_units(PUT(to, ",\"open\":"), bar->open, price);
    to = put_units(PUT(to, ",\"high\":"), bar->high, price);
    to = put_units(PUT(to, ",\"low\":"), bar->low, price);
    to = put_units(PUT(to, ",\"close\":"), bar->close, price);
    to = put_units(PUT(to, ",\"volume\":"), bar->volume, qty);
    to = put_text(PUT(to, ",\"exact\":["), bar->open, price);
    to = put_text(PUT(to, ","), bar->high, price);
    to = put_text(PUT(to, ","), bar->low, price);
    to = put_text(PUT(to, ","), bar->close, price);
    to = put_text(PUT(to, ","), bar->volume, qty);
    return PUT(to, "]");
}

static char *put_number(char *to, const char *key, double value)
{
    return strategy_line_number(put(to, key, strlen(key)), value);
}

/* Of a round whose first symbol has had no bar. */
static char *put_no_bar(char *to)
{
    return PUT(to, ",\"open\":null,\"high\":null,\"low\":null,\"close\":null,\"volume\":null,"
                   "\"exact\":[null,null,null,null,null]");
}

static char *put_indicators(char *to, const double *values, size_t n)
{
    to = PUT(to, ",\"indicators\":[");
    for (size_t i = 0; i < n; i++)
        to = strategy_line_number(i > 0 ? PUT(to, ",") : to, values[i]);
    return PUT(to, "]");
}

static char *put_account(char *to, const struct strategy_input *input)
{
    to = strategy_line_number(PUT(to, ",\"qty\":"), input->qty);
    to = strategy_line_number(PUT(to, ",\"entry\":"), input->entry);
    to = strategy_line_number(PUT(to, ",\"equity\":"), input->equity);
    to = strategy_line_number(PUT(to, ",\"cash\":"), input->cash);
    to = put_flag(PUT(to, ",\"live_orders\":"), input->live_orders);
    to = put_flag(PUT(to, ",\"shorts\":"), input->shorts);
    to = strategy_line_number(PUT(to, ",\"stop\":"), input->stop);
    to = strategy_line_number(PUT(to, ",\"profit\":"), input->profit);
    to = put_whole(PUT(to, ",\"positions\":"), input->positions);
    to = put_whole(PUT(to, ",\"symbols\":"), input->symbols);
    if (input->leverage > 1)
        to = strategy_line_number(PUT(to, ",\"leverage\":"), input->leverage);
    return input->orders > 0 ? put_whole(PUT(to, ",\"orders\":"), input->orders) : to;
}

static char *put_record(char *to, const struct strategy_record *record)
{
    to = put_whole(PUT(to, ",\"record\":["), record->wins);
    to = put_whole(PUT(to, ","), record->losses);
    to = put_whole(PUT(to, ","), record->losing);
    to = strategy_line_number(PUT(to, ","), record->won);
    to = strategy_line_number(PUT(to, ","), record->lost);
    return PUT(to, "]");
}

static char *put_session(char *to, const struct strategy_input *input)
{
    to = put_whole(PUT(to, ",\"session\":["), input->session_open_ns);
    to = put_whole(PUT(to, ","), input->session_close_ns);
    return PUT(to, "]");
}

static char *put_peer(char *to, const struct strategy_peer *peer, const char *quoted, int64_t interval_ns,
                      size_t n_indicators)
{
    to = put(PUT(to, "{\"symbol\":"), quoted, strlen(quoted));
    to = peer->ts_ns != 0 ? put_whole(PUT(to, ",\"time\":"), peer->ts_ns - interval_ns)
                          : PUT(to, ",\"time\":null");
    to = put_flag(PUT(to, ",\"fresh\":"), peer->fresh);
    to = put_number(to, ",\"open\":", peer->open);
    to = put_number(to, ",\"high\":", peer->high);
    to = put_number(to, ",\"low\":", peer->low);
    to = put_number(to, ",\"close\":", peer->close);
    to = put_number(to, ",\"volume\":", peer->volume);
    to = put_indicators(to, peer->indicators, n_indicators);
    to = put_number(to, ",\"qty\":", peer->qty);
    to = put_number(to, ",\"entry\":", peer->entry);
    to = put_number(to, ",\"stop\":", peer->stop);
    to = put_number(to, ",\"profit\":", peer->profit);
    to = put_flag(PUT(to, ",\"live_orders\":"), peer->live_orders);
    to = put_flag(PUT(to, ",\"shorts\":"), peer->shorts);
    if (peer->leverage > 1)
        to = put_number(to, ",\"leverage\":", peer->leverage);
    if (peer->orders > 0)
        to = put_whole(PUT(to, ",\"orders\":"), peer->orders);
    if (peer->record && peer->record->wins + peer->record->losses > 0)
        to = put_record(to, peer->record);
    return PUT(to, "}");
}

static char *put_peers(char *to, const struct strategy_line_symbol *symbols,
                       const struct strategy_request *request)
{
    const struct strategy_input *input = &request->input;
    to = put_whole(PUT(to, ",\"self\":"), input->self);
    to = PUT(to, ",\"peers\":[");
    for (int k = 0; k < input->n_peers; k++)
        to = put_peer(k > 0 ? PUT(to, ",") : to, &input->peers[k], symbols[input->peers[k].symbol].quoted,
                      input->interval_ns, request->n_indicators);
    return PUT(to, "]");
}

size_t strategy_line_bar(char *to, const struct strategy_line_symbol *symbols,
                         const struct strategy_request *request, bool again)
{
    const struct strategy_line_symbol *symbol = &symbols[request->symbol];
    const struct strategy_input *input = &request->input;
    const struct strategy_record *record = input->record;
    char *const start = to;
    to = put_whole(PUT(to, "{\"type\":\"bar\",\"time\":"), request->bar.open_ns);
    to = PUT(to, ",\"symbol\":");
    to = put(to, symbol->quoted, strlen(symbol->quoted));
    to = isnan(input->close) ? put_no_bar(to) : put_bar(to, &request->bar, symbol);
    to = put_indicators(to, input->indicators, request->n_indicators);
    to = put_account(to, input);
    if (record && record->wins + record->losses > 0)
        to = put_record(to, record);
    if (input->session_close_ns != 0)
        to = put_session(to, input);
    if (input->n_peers > 0)
        to = put_peers(to, symbols, request);
    if (again)
        to = PUT(to, ",\"again\":true");
    if (!request->acts)
        to = PUT(to, ",\"history\":true");
    return (size_t)(PUT(to, "}\n") - start);
}
