/* A key whose value is the interval of bars. */
#include <errno.h>
#include <string.h>

#include "exchange/bar.h"
#include "record/config_key.h"

int config_key_read_interval(const struct config_key *key, const char *text, void *base,
                             char why[static CONFIG_WHY_MAX])
{
    int64_t ns = 0;
    bool none = !*text && key->fallback && !*key->fallback;
    if (!none && bar_interval_parse(text, &ns) < 0) {
        (void)config_key_word(text, "1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w", why);
        return -EINVAL;
    }
    memcpy((char *)base + key->offset, &ns, sizeof ns);
    return 0;
}

void config_key_print_interval(const struct config_key *key, const void *base, FILE *to)
{
    int64_t ns;
    memcpy(&ns, (const char *)base + key->offset, sizeof ns);
    fputs(ns ? bar_interval_name(ns) : "", to);
}
