/* [alerts] quiet and severities: when notices are sent, and how severe they are. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "daemon/alert_codes.h"
#include "daemon/config_values.h"

enum { WHY = CONFIG_WHY_MAX };

/* ---- quiet hours ---- */

static bool read_minute(const char *text, int *ret)
{
    int hour, minute, end = 0;
    if (strspn(text, "0123456789:") < 5 || sscanf(text, "%2d:%2d%n", &hour, &minute, &end) != 2 || end != 5 ||
        hour > 23 || minute > 59)
        return false;
    *ret = 60 * hour + minute;
    return true;
}

int daemon_config_read_quiet(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    struct notify_config *config = &((struct daemon_config *)base)->notify;
    int from = -1, to = -1;
    (void)key;
    bool off = strcmp(text, "off") == 0;
    if (!off && (strlen(text) != 11 || text[5] != '-' || !read_minute(text, &from) ||
                 !read_minute(text + 6, &to) || from == to))
        return config_key_refuse(why, WHY, "\"%.60s\": two times of day like 22:00-07:00, or off, are needed",
                                 text);
    config->quiet_from = from;
    config->quiet_to = to;
    return 0;
}

void daemon_config_print_quiet(const struct config_key *key, const void *base, FILE *to)
{
    const struct notify_config *config = &((const struct daemon_config *)base)->notify;
    (void)key;
    if (config->quiet_from < 0)
        fputs("off", to);
    else
        fprintf(to, "%02d:%02d-%02d:%02d", config->quiet_from / 60, config->quiet_from % 60,
                config->quiet_to / 60, config->quiet_to % 60);
}

/* ---- severities by code ---- */

#define SEVERITY_WORDS "off " NOTIFY_SEVERITIES

/* "DISK=error" */
static int read_severity(const char *text, size_t n, struct notify_severity *ret, char *why)
{
    char word[16];
    size_t name = 0;
    while (name < n && (isalnum((unsigned char)text[name]) || strchr("_-", text[name])))
        name++;
    if (name == 0 || name >= sizeof ret->rule || name == n || text[name] != '=' ||
        n - name - 1 >= sizeof word)
        return config_key_refuse(why, WHY,
                                 "\"%.*s\": an alert's code and a severity, as DISK=error, are needed",
                                 n < 60 ? (int)n : 60, text);
    snprintf(ret->rule, sizeof ret->rule, "%.*s", (int)name, text);
    struct nearest nearest = {0};
    if (!daemon_alert_code_known(ret->rule, &nearest))
        return config_key_refuse(why, WHY, "no alert has the code \"%s\"%s", ret->rule,
                                 NEAREST_HINT(&nearest, ret->rule));
    snprintf(word, sizeof word, "%.*s", (int)(n - name - 1), text + name + 1);
    int place = config_key_word(word, SEVERITY_WORDS, why);
    ret->severity = place - 1; /* off is first */
    return place < 0 ? place : 0;
}

int daemon_config_read_severities(const struct config_key *key, const char *text, void *base,
                                  char why[static WHY])
{
    struct notify_config *config = &((struct daemon_config *)base)->notify;
    struct notify_severity list[NOTIFY_SEVERITIES_MAX];
    int n = 0;
    (void)key;
    for (const char *at = text + strspn(text, ", \t"); *at; at += strspn(at, ", \t")) {
        size_t len = strcspn(at, ", \t");
        if (n == NOTIFY_SEVERITIES_MAX)
            return config_key_refuse(why, WHY, "more than %d codes", NOTIFY_SEVERITIES_MAX);
        if (read_severity(at, len, &list[n], why) < 0)
            return -EINVAL;
        for (int i = 0; i < n; i++)
            if (strcmp(list[i].rule, list[n].rule) == 0)
                return config_key_refuse(why, WHY, "%s is named twice", list[n].rule);
        n++;
        at += len;
    }
    memcpy(config->severities, list, (size_t)n * sizeof *list);
    config->n_severities = n;
    return 0;
}

void daemon_config_print_severities(const struct config_key *key, const void *base, FILE *to)
{
    static const char *const words[] = {"off", "info", "warning", "error"};
    const struct notify_config *config = &((const struct daemon_config *)base)->notify;
    (void)key;
    for (int i = 0; i < config->n_severities; i++)
        fprintf(to, "%s%s=%s", i > 0 ? ", " : "", config->severities[i].rule,
                words[config->severities[i].severity + 1]);
}
