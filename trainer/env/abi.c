#include "trainer/env/abi.h"

#include <string.h>

#include "exchange/symbol.h"
#include "trainer/env/env.h"

static const struct {
    const char *name;
    size_t size;
} structures[] = {
    {"config_key", sizeof(struct config_key)},   {"env_asset_source", sizeof(struct env_asset_source)},
    {"env_episode", sizeof(struct env_episode)}, {"env_info", sizeof(struct env_info)},
    {"env_io", sizeof(struct env_io)},           {"env_market_source", sizeof(struct env_market_source)},
    {"env_options", sizeof(struct env_options)}, {"env_params", sizeof(struct env_params)},
    {"env_trade", sizeof(struct env_trade)},     {"symbol", sizeof(struct symbol)},
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
