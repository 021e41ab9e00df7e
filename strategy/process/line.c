#include "strategy/process/line.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

enum { LINE_WORDS = 2048 }; /* the keys of a line, and its numbers without the indicators */

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

size_t strategy_line_room(size_t n_indicators)
{
    return LINE_WORDS + LINE_QUOTED_MAX + n_indicators * LINE_NUMBER_MAX;
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

size_t strategy_line_bar(char *to, const struct strategy_line_symbol *symbol,
                         const struct strategy_request *request, bool again)
{
    const struct strategy_input *input = &request->input;
    const struct strategy_record *record = input->record;
    char *const start = to;
    to = put_whole(PUT(to, "{\"type\":\"bar\",\"time\":"), request->bar.open_ns);
    to = PUT(to, ",\"symbol\":");
    to = put(to, symbol->quoted, strlen(symbol->quoted));
    to = put_bar(to, &request->bar, symbol);
    to = PUT(to, ",\"indicators\":[");
    for (size_t i = 0; i < request->n_indicators; i++)
        to = strategy_line_number(i > 0 ? PUT(to, ",") : to, input->indicators[i]);
    to = put_account(PUT(to, "]"), input);
    if (record && record->wins + record->losses > 0)
        to = put_record(to, record);
    if (input->session_close_ns != 0)
        to = put_session(to, input);
    if (again)
        to = PUT(to, ",\"again\":true");
    if (!request->acts)
        to = PUT(to, ",\"history\":true");
    return (size_t)(PUT(to, "}\n") - start);
}
