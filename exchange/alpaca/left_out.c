#include "exchange/alpaca/left_out.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void alpaca_left_out_add(struct venue_left_out *left_out, struct json_text symbol, const char *format, ...)
{
    size_t at = left_out->n++;
    if (at >= VENUE_LEFT_OUT_MAX)
        return;
    char *name = left_out->list[at].symbol, *text = left_out->list[at].text;
    name[0] = '\0';
    if (symbol.data && symbol.len < sizeof(left_out->list[at].symbol)) {
        memcpy(name, symbol.data, symbol.len);
        name[symbol.len] = '\0';
    }
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(left_out->list[at].text), format, args);
    va_end(args);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
            *p = '?';
}
