/* A reload takes effect. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/alert_watch.h"
#include "daemon/board.h"
#include "daemon/command/reload.h"
#include "daemon/execution/executions.h"
#include "daemon/http/http.h"
#include "daemon/log.h"
#include "daemon/notify/notify.h"
#include "daemon/roles.h"
#include "strategy/external.h"
#include "strategy/risk_keys.h"

static const struct account_config *account_of(const struct daemon_config *config, const char *name)
{
    for (int a = 0; a < config->n_accounts; a++)
        if (strcmp(config->accounts[a].name, name) == 0)
            return &config->accounts[a];
    return NULL;
}

static bool same_limits(const struct risk_limits *a, const struct risk_limits *b)
{
    char one[64], other[64];
    for (size_t i = 0; i < RISK_KEYS_N; i++)
        if (!config_key_text(&risk_keys[i], a, one, sizeof one) ||
            !config_key_text(&risk_keys[i], b, other, sizeof other) || strcmp(one, other) != 0)
            return false;
    return true;
}

static bool same_strategy(const struct account_config *a, const struct account_config *b)
{
    if (!strategy_same(a->strategy, b->strategy))
        return false;
    return !a->strategy || memcmp(a->params, b->params, a->strategy->n_params * sizeof *a->params) == 0;
}

/* What the file does not change of it stays as commands have made it. */
static bool change_account(const struct reload *reload, const struct account_config *now,
                           struct account_spec *spec)
{
    const struct account_config *was = account_of(reload->running, now->name);
    if (!was)
        return false;
    struct risk_limits before = daemon_config_rules(reload->running, was).risk,
                       after = daemon_config_rules(reload->merged, now).risk;
    bool limits = !same_limits(&before, &after), strategy = !same_strategy(was, now);
    if (limits)
        spec->rules.risk = after;
    if (strategy) {
        spec->strategy = now->strategy;
        spec->policy = NULL;
        memcpy(spec->params, now->params, sizeof spec->params);
    }
    return limits || strategy;
}

struct account_spec *daemon_reload_accounts(const struct reload *reload, int *ret_n)
{
    const struct engine *engine = daemon_session_engine(reload->commands->daemon->session);
    struct account_spec *list = calloc((size_t)reload->merged->n_accounts + 1, sizeof *list);
    int n = 0;
    for (int a = 0; list && a < reload->merged->n_accounts; a++) {
        const struct account_config *now = &reload->merged->accounts[a];
        int index = engine_find_account(engine, now->name);
        if (index < 0 || engine_account(engine, index)->closed_ns != 0)
            continue;
        list[n] = *engine_account_spec(engine, index);
        bool changes = change_account(reload, now, &list[n]);
        n += changes || engine_answers(engine, index).halted; /* then it is asked again */
    }
    *ret_n = n;
    return list;
}

static void note_contents(const struct reload *reload, const char *section, const char *key)
{
    json_array_append_new(reload->contents, json_pack("{s:s, s:s}", "section", section, "key", key));
}

static void take_keys(const struct reload *reload, int venue)
{
    char section[CONFIG_CHANGE_NAME_MAX];
    struct feed *feed = feeds_at(reload->commands->daemon->feeds, (size_t)venue);
    if (!reload->keys[venue].id[0] || !feed_take_keys(feed, &reload->keys[venue]))
        return;
    snprintf(section, sizeof section, "venue %s", feed_venue(feed)->format->name);
    note_contents(reload, section, "keys");
}

/* Of accounts that are not attached: another try, as the next start's. */
static void take_execution_keys(const struct reload *reload)
{
    const struct daemon *daemon = reload->commands->daemon;
    char section[CONFIG_CHANGE_NAME_MAX];
    for (int a = 0; reload->execution_keys && a < reload->read->n_accounts; a++) {
        const struct account_config *account = &reload->read->accounts[a];
        snprintf(section, sizeof section, "account %s", account->name);
        if (daemon_executions_take_keys(daemon->executions, account, &reload->execution_keys[a]))
            note_contents(reload, section, "execution_keys");
    }
}

static void take_feeds(struct reload *reload)
{
    struct feeds *feeds = reload->commands->daemon->feeds;
    bool others = feeds_take_trust(feeds, reload->trust);
    reload->trust = NULL;
    if (others)
        note_contents(reload, "market", "ca_file");
    for (size_t v = 0; v < feeds_count(feeds); v++) {
        feed_take_streams(feeds_at(feeds, v));
        feed_take_limits(feeds_at(feeds, v));
        feed_take_history(feeds_at(feeds, v));
        take_keys(reload, (int)v);
    }
    take_execution_keys(reload);
}

static bool same_indicators(const struct daemon_config *a, const struct daemon_config *b)
{
    int64_t one[CONFIG_TIMEFRAMES_MAX], other[CONFIG_TIMEFRAMES_MAX];
    int n = daemon_config_timeframes(a, one);
    return a->interval_ns == b->interval_ns && daemon_config_timeframes(b, other) == n &&
           memcmp(one, other, (size_t)n * sizeof *one) == 0 && strcmp(a->specs, b->specs) == 0;
}

/* What follows the configuration without the session. */
static void take_parts(struct daemon *daemon, bool indicators)
{
    if (indicators)
        daemon_board_renew(daemon);
    daemon_log_set_level(daemon->config.log_level);
    daemon_roles_take(daemon);
    daemon_notify_configure(daemon->notify, &daemon->config.notify);
    daemon_alert_watch_limits(daemon->watch, &daemon->config.alerts);
    daemon->keep_rows_ms = 0; /* by what holds now */
    daemon_http_take(daemon->http);
}

void daemon_reload_apply(struct reload *reload)
{
    struct daemon *daemon = reload->commands->daemon;
    bool indicators = !same_indicators(&daemon->config, reload->merged);
    daemon->config = *reload->merged; /* in its place: others hold its address */
    take_parts(daemon, indicators);
    daemon_reload_remove(reload);
    take_feeds(reload);
    daemon_reload_add(reload);
}

/* ---- before the session ---- */

static const struct daemon_config_venue *venue_of(const struct daemon_config *config,
                                                  const struct venue *venue)
{
    for (int v = 0; v < config->n_venues; v++)
        if (config->venues[v].venue == venue)
            return &config->venues[v];
    return NULL;
}

/* Files of the same name with other contents; the new feeds read them again, accounts at their venue once
 * they are opened. */
static void note_files(struct reload *reload)
{
    struct feeds *feeds = reload->commands->daemon->feeds;
    const struct daemon_config *was = reload->running, *now = reload->merged;
    if (strcmp(was->ca_file, now->ca_file) == 0) {
        if (feeds_take_trust(feeds, reload->trust))
            note_contents(reload, "market", "ca_file");
        reload->trust = NULL;
    }
    for (int v = 0; v < now->n_venues; v++) {
        const struct daemon_config_venue *former = venue_of(was, now->venues[v].venue);
        struct feed *feed = feeds_find(feeds, now->venues[v].venue->format->name);
        char section[CONFIG_CHANGE_NAME_MAX];
        if (!feed || !former || !now->venues[v].keys[0] || strcmp(former->keys, now->venues[v].keys) != 0 ||
            !feed_take_keys(feed, &reload->keys[v]))
            continue;
        snprintf(section, sizeof section, "venue %s", feed_venue(feed)->format->name);
        note_contents(reload, section, "keys");
    }
    take_execution_keys(reload);
}

int daemon_reload_apply_early(struct reload *reload)
{
    struct daemon *daemon = reload->commands->daemon;
    bool indicators = !same_indicators(&daemon->config, reload->merged);
    struct daemon_config *before = malloc(sizeof *before);
    char err[SESSION_ERROR_MAX] = "out of memory";
    if (before) {
        *before = daemon->config;
        note_files(reload);
        daemon->config = *reload->merged;
    }
    int r = before ? feeds_replace(daemon, err, sizeof err) : -ENOMEM;
    if (r < 0 && before)
        daemon->config = *before;
    free(before);
    if (r < 0)
        daemon_reload_refuse(reload, "%s", err);
    else
        take_parts(daemon, indicators);
    return r;
}
