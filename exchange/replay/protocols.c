#include <string.h>

#include "exchange/replay/alpaca/alpaca.h"
#include "exchange/replay/binance/protocol.h"

static const struct protocol_row *const rows[] = {&replay_alpaca_protocol, &replay_binance_protocol};

const struct protocol_row *replay_protocol_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strlen(rows[i]->name) == len && memcmp(rows[i]->name, name, len) == 0)
            return rows[i];
    return NULL;
}
