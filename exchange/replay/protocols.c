#include <stdio.h>
#include <string.h>

#include "exchange/replay/alpaca/alpaca.h"
#include "exchange/replay/binance/protocol.h"

static const struct protocol_row *const rows[] = {&alpaca_protocol, &binance_protocol};

const struct protocol_row *protocol_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strlen(rows[i]->name) == len && memcmp(rows[i]->name, name, len) == 0)
            return rows[i];
    return NULL;
}

const char *protocol_names(void)
{
    static char names[128];
    size_t used = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? " " : "", rows[i]->name);
    return names;
}
