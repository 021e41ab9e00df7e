/* What differs between a running daemon's configuration and the one that was read again, key by key: what it
 * takes while it runs (CONFIG_KEY_LIVE), and what needs a restart. Pure. */
#ifndef DAEMON_CONFIG_CHANGES_H
#define DAEMON_CONFIG_CHANGES_H

#include "daemon/config.h"

enum { CONFIG_CHANGE_NAME_MAX = 64 };

struct daemon_config_change {
    char section[CONFIG_CHANGE_NAME_MAX], key[CONFIG_CHANGE_NAME_MAX]; /* key "": the whole section */
    char *was, *now; /* as a file has them; NULL: there is no such key, or section */
    bool live;       /* else it needs a restart */
};

struct daemon_config_changes {
    struct daemon_config_change *list; /* in the order of a printed configuration; what is gone is last */
    size_t n, cap;
};

/* The differences, and what runs from now on: `running` with those of `read` that are live. `early`: no venue
 * has answered yet, so all of it is live but CONFIG_KEY_START. 0; -EINVAL where that contradicts itself,
 * since something else needs a restart first: `error` begins with "[SECTION] KEY: "; -ENOMEM. On failure
 * *ret_merged and *ret are not set. */
int daemon_config_changes_find(const struct daemon_config *running, const struct daemon_config *read,
                               bool early, struct daemon_config *ret_merged,
                               struct daemon_config_changes *ret, char error[static CONFIG_ERROR_MAX]);
void daemon_config_changes_finish(struct daemon_config_changes *changes);

#endif
