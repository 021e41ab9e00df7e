#include "daemon/config_changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_keys.h"

#define STRATEGY_PARAM "strategy."

/* A printed configuration, in lines. */
struct setting {
    const char *section, *key, *value;
};

struct settings {
    char *text;
    struct setting *list;
    size_t n, cap;
};

static void settings_finish(struct settings *settings)
{
    free(settings->text);
    free(settings->list);
    *settings = (struct settings){0};
}

static bool put(struct settings *settings, const char *section, const char *key, const char *value)
{
    if (settings->n == settings->cap) {
        size_t cap = settings->cap ? 2 * settings->cap : 256;
        struct setting *grown = reallocarray(settings->list, cap, sizeof *grown);
        if (!grown)
            return false;
        settings->list = grown;
        settings->cap = cap;
    }
    settings->list[settings->n++] = (struct setting){section, key, value};
    return true;
}

/* Cuts the text into pieces: each line "[SECTION]", "KEY = VALUE", a comment, or empty. */
static bool cut(struct settings *settings)
{
    const char *section = "";
    bool room = true;
    for (char *line = settings->text, *next; *line && room; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        char *end = strchr(line, *line == '[' ? ']' : '=');
        if (!end || *line == '#')
            continue;
        if (*line == '[') {
            *end = '\0';
            section = line + 1;
            continue;
        }
        end[-1] = '\0'; /* the blank before it */
        room = put(settings, section, line, end + 1 + strspn(end + 1, " "));
    }
    return room;
}

static int settings_of(const struct daemon_config *config, struct settings *ret)
{
    size_t size;
    *ret = (struct settings){0};
    FILE *to = open_memstream(&ret->text, &size);
    if (to)
        daemon_config_print(config, to);
    if (to && fclose(to) == 0 && cut(ret))
        return 0;
    settings_finish(ret);
    return -ENOMEM;
}

static bool is_of(const struct setting *setting, const char *section, const char *key)
{
    return strcmp(setting->section, section) == 0 && (!key || strcmp(setting->key, key) == 0);
}

/* From `hint` on, which is behind the last one that was found: both are in the same order, nearly. Without a
 * key the section's first. */
static const struct setting *find(const struct settings *settings, const char *section, const char *key,
                                  size_t *hint)
{
    for (size_t i = 0; i < settings->n; i++) {
        size_t at = (*hint + i) % settings->n;
        if (!is_of(&settings->list[at], section, key))
            continue;
        *hint = at + 1;
        return &settings->list[at];
    }
    return NULL;
}

static const char *value_of(const struct settings *settings, const char *section, const char *key)
{
    size_t from = 0;
    const struct setting *setting = find(settings, section, key, &from);
    return setting ? setting->value : NULL;
}

/* ---- is it live? ---- */

struct comparison {
    struct settings was, now;
    bool other_venue;  /* [market] venue */
    bool takes_venues; /* one more can be streamed while it runs */
};

static bool differs(const struct comparison *comparison, const char *section, const char *key)
{
    const char *was = value_of(&comparison->was, section, key),
               *now = value_of(&comparison->now, section, key);
    return (was || now) && (!was || !now || strcmp(was, now) != 0);
}

static bool is_account(const char *section)
{
    return strncmp(section, "account ", strlen("account ")) == 0;
}

static bool is_venue(const char *section)
{
    return strncmp(section, "venue ", strlen("venue ")) == 0;
}

static const struct config_key *row_of(const char *section, const char *key)
{
    size_t n;
    if (is_venue(section)) {
        const struct config_key *keys = daemon_config_venue_keys(&n);
        return config_key_find(keys, n, NULL, key);
    }
    const struct config_key *keys = daemon_config_keys(&n);
    char plain[CONFIG_CHANGE_NAME_MAX]; /* of a sink's key with its name */
    bool alerts = strcmp(section, "alerts") == 0;
    snprintf(plain, sizeof plain, "%.*s", alerts ? (int)strcspn(key, ".") : (int)strlen(key), key);
    return config_key_find(keys, n, is_account(section) ? "account" : section, plain);
}

/* What trades for an account by a policy is loaded at the start only. */
static bool is_live(const struct comparison *comparison, const struct setting *now, const char *was)
{
    const char *section = now->section, *key = now->key;
    bool param = is_account(section) && strncmp(key, STRATEGY_PARAM, strlen(STRATEGY_PARAM)) == 0;
    const struct config_key *row = param ? NULL : row_of(section, key);
    if (!param && (!row || !(row->marks & CONFIG_KEY_LIVE)))
        return false;
    if (param || (is_account(section) && strcmp(key, "strategy") == 0))
        return !differs(comparison, section, "policy");
    if (strcmp(section, "market") == 0)
        return !comparison->other_venue;
    return strcmp(key, "keys") != 0 || (was && *was && *now->value);
}

/* ---- the list ---- */

static struct daemon_config_change *add(struct daemon_config_changes *changes, const char *section,
                                        const char *key, const char *was, const char *now)
{
    if (changes->n == changes->cap) {
        size_t cap = changes->cap ? 2 * changes->cap : 16;
        struct daemon_config_change *grown = reallocarray(changes->list, cap, sizeof *grown);
        if (!grown)
            return NULL;
        changes->list = grown;
        changes->cap = cap;
    }
    struct daemon_config_change *change = &changes->list[changes->n];
    *change = (struct daemon_config_change){.was = was ? strdup(was) : NULL, .now = now ? strdup(now) : NULL};
    snprintf(change->section, sizeof change->section, "%s", section);
    snprintf(change->key, sizeof change->key, "%s", key);
    changes->n++;
    return (was && !change->was) || (now && !change->now) ? NULL : change;
}

void daemon_config_changes_finish(struct daemon_config_changes *changes)
{
    for (size_t i = 0; i < changes->n; i++) {
        free(changes->list[i].was);
        free(changes->list[i].now);
    }
    free(changes->list);
    *changes = (struct daemon_config_changes){0};
}

/* What `now` has, and has otherwise than `was`; of a section that is new one change. */
static bool list_changed(const struct comparison *comparison, struct daemon_config_changes *changes)
{
    const struct settings *now = &comparison->now;
    const char *last = "";
    size_t hint = 0;
    bool is_new = false;
    for (size_t i = 0; i < now->n; i++) {
        const struct setting *setting = &now->list[i];
        size_t from = hint;
        if (strcmp(last, setting->section) != 0) {
            last = setting->section;
            is_new = !find(&comparison->was, last, NULL, &from);
            struct daemon_config_change *added = is_new ? add(changes, last, "", NULL, "") : NULL;
            if (is_new && !added)
                return false;
            if (is_new)
                added->live = is_venue(last) && comparison->takes_venues;
        }
        if (is_new)
            continue;
        const struct setting *was = find(&comparison->was, last, setting->key, &hint);
        if (was && strcmp(was->value, setting->value) == 0)
            continue;
        const char *value = was ? was->value : NULL;
        struct daemon_config_change *change = add(changes, last, setting->key, value, setting->value);
        if (!change)
            return false;
        change->live = is_live(comparison, setting, value);
    }
    return true;
}

/* The keys of a sink of alerts that has a name, and is no longer there: empty. */
static bool list_gone_sinks(const struct comparison *comparison, struct daemon_config_changes *changes)
{
    for (size_t i = 0; i < comparison->was.n; i++) {
        const struct setting *was = &comparison->was.list[i];
        size_t hint = 0;
        if (strcmp(was->section, "alerts") != 0 || !strchr(was->key, '.') ||
            find(&comparison->now, was->section, was->key, &hint))
            continue;
        struct daemon_config_change *change = add(changes, was->section, was->key, was->value, "");
        if (!change)
            return false;
        change->live = true;
    }
    return true;
}

/* Sections that are no longer there. A strategy's parameters are gone with it. */
static bool list_gone(const struct comparison *comparison, struct daemon_config_changes *changes)
{
    const char *last = "";
    size_t hint = 0;
    for (size_t i = 0; i < comparison->was.n; i++) {
        const struct setting *setting = &comparison->was.list[i];
        if (strcmp(last, setting->section) == 0)
            continue;
        last = setting->section;
        if (!find(&comparison->now, last, NULL, &hint) && !add(changes, last, "", "", NULL))
            return false;
    }
    return true;
}

/* ---- what runs from now on ---- */

static bool has_changed(const struct daemon_config_changes *changes, const char *section, const char *key,
                        bool *ret_live)
{
    for (size_t i = 0; i < changes->n; i++)
        if (strcmp(changes->list[i].section, section) == 0 && strcmp(changes->list[i].key, key) == 0) {
            *ret_live = changes->list[i].live;
            return true;
        }
    return false;
}

/* A whole section, each key of it. */
static int merge_section(const struct settings *now, const char *section, struct daemon_config *merged,
                         char error[static CONFIG_ERROR_MAX])
{
    int r = 0;
    for (size_t i = 0; i < now->n && r == 0; i++)
        if (strcmp(now->list[i].section, section) == 0)
            r = daemon_config_set(merged, section, now->list[i].key, now->list[i].value, error);
    return r;
}

/* Another strategy starts with its defaults: then each of its parameters is set. */
static int merge(const struct settings *now, const struct daemon_config_changes *changes,
                 struct daemon_config *merged, char error[static CONFIG_ERROR_MAX])
{
    int r = 0;
    for (size_t i = 0; i < changes->n && r == 0; i++) {
        const struct daemon_config_change *change = &changes->list[i];
        if (!change->live || strncmp(change->key, STRATEGY_PARAM, strlen(STRATEGY_PARAM)) == 0)
            continue;
        r = change->key[0] ? daemon_config_set(merged, change->section, change->key, change->now, error)
                           : merge_section(now, change->section, merged, error);
    }
    for (size_t i = 0; i < now->n && r == 0; i++) {
        const struct setting *setting = &now->list[i];
        bool live = false;
        if (changes->n == 0 || !is_account(setting->section) ||
            strncmp(setting->key, STRATEGY_PARAM, strlen(STRATEGY_PARAM)) != 0)
            continue;
        if (has_changed(changes, setting->section, "strategy", &live)
                ? live
                : has_changed(changes, setting->section, setting->key, &live) && live)
            r = daemon_config_set(merged, setting->section, setting->key, setting->value, error);
    }
    return r;
}

/* A recording's files and the hours that accounts trade are of the start, and on the feed's clock so are its
 * venues. */
static bool takes_venues(const struct daemon_config *running, const struct daemon_config *read)
{
    return running->clock == CLOCK_WALL && !running->record_dir[0] &&
           daemon_config_extended(running) == daemon_config_extended(read);
}

/* ---- before a venue has answered ---- */

/* Policies are loaded at the start, for the accounts of then. */
static int check_policies(const struct comparison *comparison, const struct settings *settings,
                          char error[static CONFIG_ERROR_MAX])
{
    for (size_t i = 0; i < settings->n; i++) {
        const char *section = settings->list[i].section, *key = settings->list[i].key;
        if (!is_account(section) || (strcmp(key, "policy") != 0 && strcmp(key, "actions") != 0))
            continue;
        const char *was = value_of(&comparison->was, section, key),
                   *now = value_of(&comparison->now, section, key);
        if (strcmp(was ? was : "", now ? now : "") != 0) {
            snprintf(error, CONFIG_ERROR_MAX, "[%s] %s: another policy needs a restart", section, key);
            return -EINVAL;
        }
    }
    return 0;
}

/* A recording has a folder for each venue of the start. */
static int check_recorded(const struct daemon_config *running, const struct daemon_config *read,
                          char error[static CONFIG_ERROR_MAX])
{
    bool same = running->n_venues == read->n_venues;
    for (int v = 0; same && v < read->n_venues; v++)
        same = running->venues[v].venue == read->venues[v].venue;
    if (same || !running->record_dir[0])
        return 0;
    snprintf(error, CONFIG_ERROR_MAX, "[market] venue: with --record other venues need a restart");
    return -EINVAL;
}

/* What the daemon uses already stays as it is. */
static int merge_early(struct daemon_config_changes *changes, struct daemon_config *merged,
                       char error[static CONFIG_ERROR_MAX])
{
    int r = 0;
    for (size_t i = 0; i < changes->n && r == 0; i++) {
        struct daemon_config_change *change = &changes->list[i];
        const struct config_key *row = change->key[0] ? row_of(change->section, change->key) : NULL;
        change->live = !row || !(row->marks & CONFIG_KEY_START);
        if (!change->live)
            r = daemon_config_set(merged, change->section, change->key, change->was ? change->was : "",
                                  error);
    }
    return r;
}

static int compare(const struct daemon_config *running, const struct daemon_config *read, bool early,
                   struct comparison *comparison, struct daemon_config *merged,
                   struct daemon_config_changes *changes, char error[static CONFIG_ERROR_MAX])
{
    int r = settings_of(running, &comparison->was);
    if (r == 0)
        r = settings_of(read, &comparison->now);
    if (r < 0)
        return r;
    comparison->other_venue = differs(comparison, "market", "venue");
    comparison->takes_venues = takes_venues(running, read) && !comparison->other_venue;
    if (!list_changed(comparison, changes) || !list_gone_sinks(comparison, changes) ||
        !list_gone(comparison, changes))
        return -ENOMEM;
    *merged = early ? *read : *running;
    if (early && (r = check_policies(comparison, &comparison->was, error)) == 0 &&
        (r = check_policies(comparison, &comparison->now, error)) == 0)
        r = check_recorded(running, read, error);
    if (r == 0)
        r = early ? merge_early(changes, merged, error) : merge(&comparison->now, changes, merged, error);
    return r < 0 ? r : daemon_config_check(merged, error);
}

int daemon_config_changes_find(const struct daemon_config *running, const struct daemon_config *read,
                               bool early, struct daemon_config *ret_merged,
                               struct daemon_config_changes *ret, char error[static CONFIG_ERROR_MAX])
{
    struct comparison comparison = {0};
    struct daemon_config_changes changes = {0};
    struct daemon_config *merged = malloc(sizeof *merged);
    snprintf(error, CONFIG_ERROR_MAX, "out of memory");
    int r = merged ? compare(running, read, early, &comparison, merged, &changes, error) : -ENOMEM;
    settings_finish(&comparison.was);
    settings_finish(&comparison.now);
    if (r == 0) {
        *ret_merged = *merged;
        *ret = changes;
    } else {
        daemon_config_changes_finish(&changes);
    }
    free(merged);
    return r;
}
