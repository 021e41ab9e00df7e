/* A key whose value is the interval of bars. */
#include <string.h>

#include "exchange/bar.h"
#include "record/config_key.h"

int config_key_read_interval(const struct config_key *key, const char *text, void *base,
                             char why[static CONFIG_WHY_MAX])
{
    bool none = !*text && key->fallback && !*key->fallback;
    int i = none ? 0 : config_key_word(text, BAR_INTERVAL_NAMES, why);
    if (i < 0)
        return i;
    int64_t ns = none ? 0 : bar_intervals[i].ns;
    memcpy((char *)base + key->offset, &ns, sizeof ns);
    return 0;
}

void config_key_print_interval(const struct config_key *key, const void *base, FILE *to)
{
    int64_t ns;
    memcpy(&ns, (const char *)base + key->offset, sizeof ns);
    fputs(ns ? bar_interval_name(ns) : "", to);
}
