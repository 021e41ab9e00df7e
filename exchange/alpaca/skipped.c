#include "exchange/alpaca/rest_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void alpaca_skipped_add(struct venue_skipped *skipped, struct json_text symbol, const char *format, ...)
{
    size_t at = skipped->n++;
    if (at >= VENUE_SKIPPED_MAX)
        return;
    char *name = skipped->list[at].symbol, *text = skipped->list[at].text;
    name[0] = '\0';
    if (symbol.data)
        json_text_copy(symbol, name, sizeof(skipped->list[at].symbol));
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(skipped->list[at].text), format, args);
    va_end(args);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
            *p = '?';
}
