/* What can be checked of venues without a feed: for --check-config, a reload and `papertape doctor`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/feed.h"
#include "daemon/feed/feeds.h"
#include "daemon/feed/keys.h"
#include "exchange/fail.h"
#include "exchange/net/context.h"
#include "exchange/net/secret.h"

enum { SECTION_ROOM = 40 };

const char *feed_unlisted(const struct venue_symbol *listed_now)
{
    return listed_now->unusable ? "lists it without the filters and scales that are needed"
                                : "does not list it";
}

int feeds_check_ca(const struct daemon_config *config, const char *name, char error[static CONFIG_ERROR_MAX])
{
    char why[NET_ERROR_MAX];
    int r = config->ca_file[0] ? net_ca_check(config->ca_file, why) : 0;
    if (r < 0)
        snprintf(error, CONFIG_ERROR_MAX, "%s: %s", name, why);
    return r;
}

int feeds_check_keys(const struct daemon_config *config, const char **ret_unseen,
                     char error[static CONFIG_ERROR_MAX])
{
    char why[CONFIG_ERROR_MAX - SECTION_ROOM];
    struct feed_keys *keys = net_secret_alloc(sizeof *keys);
    int r = keys ? 0 : fail_with(-ENOMEM, error, CONFIG_ERROR_MAX, "out of memory");
    *ret_unseen = NULL;
    for (int v = 0; v < config->n_venues && r == 0; v++) {
        const char *name = config->venues[v].keys;
        if (!name[0])
            continue;
        if (!strchr(name, '/') && !getenv("CREDENTIALS_DIRECTORY")) {
            *ret_unseen = name;
            continue;
        }
        r = feed_keys_read(name, keys, why, sizeof why);
        if (r < 0)
            snprintf(error, CONFIG_ERROR_MAX, "[venue %s] %s", config->venues[v].venue->format->name, why);
    }
    net_secret_free(keys);
    return r;
}
