/* What a reload reads, on its thread. */
#include "daemon/command/reload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/crypto.h>

#include "daemon/execution/executions.h"
#include "daemon/policies.h"
#include "exchange/net/context.h"
#include "strategy/external.h"

static int read_trust(struct reload *reload, char error[static CONFIG_ERRORS_MAX])
{
    char why[NET_ERROR_MAX];
    const char *ca_file = reload->merged->ca_file;
    int r = net_trust_read(ca_file[0] ? ca_file : NULL, &reload->trust, why);
    if (r < 0)
        snprintf(error, CONFIG_ERRORS_MAX, "%s: %s",
                 reload->given->ca_file ? "--ca-file" : "[market] ca_file", why);
    return r;
}

static int read_keys(struct reload *reload, char error[static CONFIG_ERRORS_MAX])
{
    char why[CONFIG_ERROR_MAX - 60];
    for (int v = 0; v < reload->merged->n_venues; v++) {
        const struct daemon_config_venue *venue = &reload->merged->venues[v];
        int r = venue->keys[0] ? feed_keys_read(venue->keys, &reload->keys[v], why, sizeof why) : 0;
        if (r < 0) {
            snprintf(error, CONFIG_ERRORS_MAX, "[venue %s] %s", venue->venue->format->name, why);
            return r;
        }
    }
    return 0;
}

/* As the next start will, which takes what is new of them. */
static int read_execution_keys(struct reload *reload, char error[static CONFIG_ERRORS_MAX])
{
    const char *unseen;
    return daemon_executions_read_keys(reload->read, &reload->execution_keys, &unseen, error);
}

static int find_lines(struct reload *reload)
{
    reload->lines = calloc(reload->changes.n + 1, sizeof *reload->lines);
    if (!reload->lines)
        return -ENOMEM;
    for (size_t i = 0; i < reload->changes.n; i++)
        reload->lines[i] = daemon_config_line(reload->given->file, reload->changes.list[i].section,
                                              reload->changes.list[i].key);
    return 0;
}

/* A file of the same name with other contents is another strategy. */
static void take_strategies(struct reload *reload)
{
    for (int a = 0; a < reload->merged->n_accounts; a++) {
        struct account_config *to = &reload->merged->accounts[a];
        const struct account_config *from = NULL;
        for (int i = 0; i < reload->read->n_accounts; i++)
            if (strcmp(reload->read->accounts[i].name, to->name) == 0)
                from = &reload->read->accounts[i];
        if (!from || !to->strategy || !from->strategy ||
            strcmp(to->strategy->name, from->strategy->name) != 0 ||
            strategy_same(to->strategy, from->strategy))
            continue;
        char section[CONFIG_CHANGE_NAME_MAX];
        to->strategy = from->strategy;
        memcpy(to->params, from->params, sizeof to->params);
        snprintf(section, sizeof section, "account %s", to->name);
        json_array_append_new(reload->contents,
                              json_pack("{s:s, s:s}", "section", section, "key", "strategy"));
    }
}

static int read_all(struct reload *reload, char error[static CONFIG_ERRORS_MAX])
{
    struct policy_set *policies = NULL; /* only looked at: accounts' policies change by a restart */
    bool read;
    int r = daemon_config_load(reload->given, reload->read, &read, error);
    if (r == 0)
        r = daemon_config_check_files(reload->given, reload->read, &policies, error);
    daemon_policy_set_destroy(policies);
    if (r == 0)
        r = daemon_config_changes_find(reload->running, reload->read, reload->early, reload->merged,
                                       &reload->changes, error);
    if (r == 0)
        take_strategies(reload);
    if (r == 0)
        r = read_keys(reload, error);
    if (r == 0)
        r = read_execution_keys(reload, error);
    if (r == 0)
        r = read_trust(reload, error);
    if (r == 0 && (find_lines(reload) < 0 || daemon_reload_compare(reload) < 0)) {
        snprintf(error, CONFIG_ERRORS_MAX, "out of memory");
        r = -ENOMEM;
    }
    return r;
}

void daemon_reload_read(struct reload *reload)
{
    char *error = calloc(1, CONFIG_ERRORS_MAX), *placed = calloc(1, CONFIG_ERRORS_MAX);
    if (!error || !placed) {
        daemon_reload_add_line(reload, "out of memory");
    } else if (read_all(reload, error) < 0) {
        daemon_config_place(reload->given->file, error, placed, CONFIG_ERRORS_MAX - 1);
        daemon_reload_add_line(reload, placed);
    }
    free(error);
    free(placed);
    OPENSSL_thread_stop(); /* frees what it keeps of this thread */
}
