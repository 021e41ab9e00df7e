#include "trainer/env/abi.h"

#include <string.h>

#include "exchange/symbol.h"
#include "trainer/env/env.h"

#define ROW(name) {#name, sizeof(struct name)}

static const struct {
    const char *name;
    size_t size;
} structures[] = {
    ROW(env_asset_source), ROW(env_episode), ROW(env_info),   ROW(env_io),    ROW(env_market_source),
    ROW(env_options),      ROW(env_param),   ROW(env_params), ROW(env_trade), ROW(symbol),
};

const char *env_version(void)
{
    return PAPERTAPE_VERSION;
}

size_t env_struct_size(const char *name)
{
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++)
        if (strcmp(structures[i].name, name) == 0)
            return structures[i].size;
    return 0;
}
