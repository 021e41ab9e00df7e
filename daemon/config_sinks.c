/* [alerts] command, webhook, mail: the sinks of alerts, each with a name or without one. */
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config_values.h"
#include "daemon/credential.h"
#include "daemon/notify/sink_keys.h"
#include "daemon/safe_program.h"
#include "exchange/fail.h"
#include "exchange/net/context.h"
#include "exchange/net/lazy_curl.h"
#include "exchange/net/secret.h"

enum { WHY = CONFIG_WHY_MAX, NAME_MAX_ = 24, KEY_NAME_MAX = 64 };

#define AT(field) KEY_AT(struct notify_sink, field)

/* A key's place in a sink, by its name in [alerts]. */
static const struct config_key fields[] = {
    {NULL, "command", NULL, "", KEY_TEXT, AT(target)},
    {NULL, "command_severity", NULL, "info", KEY_WORDS(NOTIFY_SEVERITIES), AT(severity)},
    {NULL, "webhook", NULL, "", KEY_TEXT, AT(target)},
    {NULL, "webhook_format", NULL, "json", KEY_WORDS(NOTIFY_FORMATS), AT(format)},
    {NULL, "webhook_token", NULL, "", KEY_TEXT, AT(token)},
    {NULL, "webhook_chat", NULL, "", KEY_TEXT, AT(chat)},
    {NULL, "webhook_severity", NULL, "info", KEY_WORDS(NOTIFY_SEVERITIES), AT(severity)},
    {NULL, "mail", NULL, "", KEY_TEXT, AT(target)},
    {NULL, "mail_to", NULL, "", KEY_TEXT, AT(to)},
    {NULL, "mail_from", NULL, "", KEY_TEXT, AT(from)},
    {NULL, "mail_user", NULL, "", KEY_TEXT, AT(user)},
    {NULL, "mail_password", NULL, "", KEY_TEXT, AT(token)},
    {NULL, "mail_tls", NULL, "required", KEY_WORDS(NOTIFY_TLS_WORDS), AT(tls)},
    {NULL, "mail_severity", NULL, "info", KEY_WORDS(NOTIFY_SEVERITIES), AT(severity)},
};
enum { FIELDS_N = sizeof fields / sizeof *fields };

#define ROW_COUNT_(...) +1
_Static_assert(FIELDS_N == NOTIFY_SINK_KEYS(ROW_COUNT_), "each key of a sink has a place");

static enum notify_kind kind_of(const struct config_key *field)
{
    int kind = NOTIFY_COMMAND;
    while (strncmp(field->name, daemon_notify_kinds[kind], strlen(daemon_notify_kinds[kind])) != 0)
        kind++;
    return (enum notify_kind)kind;
}

static bool is_target(const struct config_key *field)
{
    return strcmp(field->name, daemon_notify_kinds[kind_of(field)]) == 0;
}

/* "webhook_format.ops": the field, and the name of its sink, "webhook.ops"; NULL. */
static const struct config_key *field_of(const char *key, char ret_sink[static DB_NOTICE_SINK_MAX])
{
    char base[KEY_NAME_MAX];
    size_t n = strcspn(key, ".");
    snprintf(base, sizeof base, "%.*s", (int)n, key);
    const struct config_key *field = config_key_find(fields, FIELDS_N, NULL, base);
    if (field)
        snprintf(ret_sink, DB_NOTICE_SINK_MAX, "%s%.30s", daemon_notify_kinds[kind_of(field)], key + n);
    return field;
}

const struct config_key *daemon_config_sink_row(const struct config_key *keys, size_t n, const char *key,
                                                struct config_key *ret)
{
    char base[KEY_NAME_MAX], sink[DB_NOTICE_SINK_MAX];
    size_t len = strcspn(key, ".");
    if (!key[len] || len >= sizeof base || !field_of(key, sink))
        return NULL;
    snprintf(base, sizeof base, "%.*s", (int)len, key);
    const struct config_key *row = config_key_find(keys, n, "alerts", base);
    if (!row)
        return NULL;
    *ret = *row;
    ret->name = key;
    return ret;
}

static int find(const struct notify_config *config, const char *name)
{
    int i = 0;
    while (i < config->n_sinks && strcmp(config->sinks[i].name, name) != 0)
        i++;
    return i;
}

static void defaults(struct notify_sink *sink, const struct config_key *field, const char *name)
{
    *sink = (struct notify_sink){.kind = kind_of(field)};
    snprintf(sink->name, sizeof sink->name, "%s", name);
}

/* All but the name. */
static bool is_default(const struct notify_sink *sink)
{
    struct notify_sink other = {.kind = sink->kind};
    memcpy(other.name, sink->name, sizeof other.name);
    return memcmp(&other, sink, sizeof other) == 0;
}

/* ---- values ---- */

static bool good_name(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("-_", name[i]))
            return false;
    return n > 0 && n < NAME_MAX_;
}

/* A part of a URL; NULL: it has none. The caller's. */
static char *part_of(CURLU *url, CURLUPart which)
{
    char *part = NULL;
    return curl_url_get(url, which, &part, 0) == CURLUE_OK ? part : NULL;
}

struct target {
    char scheme[16], host[128];
    bool user, named; /* it has a user; it has a host */
};

static bool parse_target(const char *text, struct target *ret)
{
    char whole[NOTIFY_TARGET_MAX + 16];
    CURLU *url = daemon_notify_url(text, "token", whole, sizeof whole) == 0 ? curl_url() : NULL;
    *ret = (struct target){0};
    bool good = url && curl_url_set(url, CURLUPART_URL, whole, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    char *scheme = good ? part_of(url, CURLUPART_SCHEME) : NULL,
         *host = good ? part_of(url, CURLUPART_HOST) : NULL;
    char *user = good ? part_of(url, CURLUPART_USER) : NULL;
    snprintf(ret->scheme, sizeof ret->scheme, "%s", scheme ? scheme : "");
    snprintf(ret->host, sizeof ret->host, "%s", host ? host : "");
    ret->user = user != NULL;
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(url);
    return good && ret->host[0];
}

static bool is_this_machine(const struct target *target)
{
    return strncmp(target->host, "127.", 4) == 0 || strcmp(target->host, "[::1]") == 0 ||
           strcmp(target->host, "localhost") == 0;
}

int daemon_config_check_url(const char *text, const char *one, const char *other, const char *example,
                            char *why)
{
    struct target target;
    char absent[128];
    int r = net_curl_load(absent, sizeof absent);
    if (r < 0)
        return config_key_refuse(why, WHY, "%s", absent);
    bool parsed = parse_target(text, &target) && !strpbrk(text, " \t");
    if (!parsed || (strcmp(target.scheme, one) != 0 && strcmp(target.scheme, other) != 0))
        return config_key_refuse(why, WHY, "\"%.100s\": a URL like %s is needed", text, example);
    if (target.user)
        return config_key_refuse(why, WHY,
                                 "a user or password in a URL is not taken: a file is needed, by "
                                 "webhook_token or mail_user and mail_password");
    return 0;
}

static int check_addresses(const char *text, const char *key, char *why)
{
    bool good = true;
    for (const char *at = text + strspn(text, ", \t"); *at && good; at += strspn(at, ", \t")) {
        size_t n = strcspn(at, ", \t");
        const char *sign = memchr(at, '@', n);
        good = sign && sign > at && sign < at + n - 1 && !memchr(at, '<', n) && !memchr(at, '>', n);
        at += n;
    }
    if (strcmp(key, "mail_from") == 0 && strpbrk(text, ", \t"))
        good = false;
    return good ? 0
                : config_key_refuse(why, WHY, "\"%.100s\": an address like me@example.org is needed", text);
}

static int check_value(const struct config_key *field, const char *text, char *why)
{
    char buf[NOTIFY_TARGET_MAX], *words[NOTIFY_ARGS_MAX];
    if (!text[0])
        return 0;
    if (strcmp(field->name, "command") == 0 && daemon_notify_words(text, buf, words) < 0)
        return config_key_refuse(
            why, WHY,
            "\"%.100s\": a program and its arguments, at most %d words, with closed quotes, "
            "are needed",
            text, NOTIFY_ARGS_MAX - 1);
    if (strcmp(field->name, "webhook") == 0)
        return daemon_config_check_url(text, "https", "http", "https://HOST/PATH", why);
    if (strcmp(field->name, "mail") == 0)
        return daemon_config_check_url(text, "smtp", "smtps", "smtp://HOST:587", why);
    if (strcmp(field->name, "mail_to") == 0 || strcmp(field->name, "mail_from") == 0)
        return check_addresses(text, field->name, why);
    return 0;
}

int daemon_config_read_sink(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    struct notify_config *config = &((struct daemon_config *)base)->notify;
    char name[DB_NOTICE_SINK_MAX];
    const struct config_key *field = field_of(key->name, name);
    const char *own = strchr(key->name, '.');
    struct notify_sink sink;
    if (own && !good_name(own + 1))
        return config_key_refuse(why, WHY, "a name of letters, digits, - and _ is needed, at most %d: %s.ops",
                                 NAME_MAX_ - 1, daemon_notify_kinds[kind_of(field)]);
    if (!text[0])
        text = field->fallback;
    int at = find(config, name), e = check_value(field, text, why);
    if (at < config->n_sinks)
        sink = config->sinks[at];
    else
        defaults(&sink, field, name);
    if (e == 0)
        e = config_key_read(field, text, &sink, why);
    if (e < 0)
        return e;
    if (at == NOTIFY_SINKS_MAX && !is_default(&sink))
        return config_key_refuse(why, WHY, "there is no sink %s, and there are %d, as many as there can be",
                                 name, NOTIFY_SINKS_MAX);
    if (!is_default(&sink)) {
        config->sinks[at] = sink;
        config->n_sinks += at == config->n_sinks;
    } else if (at < config->n_sinks) {
        config->n_sinks--;
        memmove(&config->sinks[at], &config->sinks[at + 1],
                (size_t)(config->n_sinks - at) * sizeof *config->sinks);
    }
    return 0;
}

void daemon_config_print_sink(const struct config_key *key, const void *base, FILE *to)
{
    const struct notify_config *config = &((const struct daemon_config *)base)->notify;
    char name[DB_NOTICE_SINK_MAX];
    const struct config_key *field = field_of(key->name, name);
    int at = find(config, name);
    if (at < config->n_sinks)
        config_key_print(field, &config->sinks[at], to);
    else
        fputs(field->fallback, to);
}

/* Named ones; "webhook.ops" has the keys that begin with "webhook". */
void daemon_config_print_sinks(const struct daemon_config *config, FILE *to)
{
    char text[NOTIFY_TARGET_MAX + 8];
    for (int i = 0; i < config->notify.n_sinks; i++) {
        const struct notify_sink *sink = &config->notify.sinks[i];
        const char *own = strchr(sink->name, '.');
        for (size_t k = 0; own && k < FIELDS_N; k++)
            if (kind_of(&fields[k]) == sink->kind && config_key_text(&fields[k], sink, text, sizeof text) &&
                (is_target(&fields[k]) || strcmp(text, fields[k].fallback) != 0))
                fprintf(to, "%s%s = %s\n", fields[k].name, own, text);
    }
}

/* ---- what single keys cannot see ---- */

/* The line is that of the key, or of another key of that sink. */
static void misfit(const struct daemon_config_check *check, const struct notify_sink *sink, const char *key,
                   const char *words)
{
    const char *own = strchr(sink->name, '.');
    char keys[(FIELDS_N + 2) * KEY_NAME_MAX];
    size_t n = (size_t)snprintf(keys, sizeof keys, "%s%s %s", key, own ? own : "", sink->name);
    for (size_t k = 0; k < FIELDS_N && n < sizeof keys; k++)
        if (kind_of(&fields[k]) == sink->kind)
            n += (size_t)snprintf(keys + n, sizeof keys - n, " %s%s", fields[k].name, own ? own : "");
    daemon_config_misfit(check, "alerts", keys, "%s", words);
}

static void check_webhook(const struct notify_sink *sink, const struct target *target,
                          const struct daemon_config_check *check)
{
    bool place = strstr(sink->target, NOTIFY_TOKEN_PLACE) != NULL;
    if (place && !sink->token[0])
        misfit(check, sink, "webhook_token",
               "its URL has a place for a token: a credential or a file is needed");
    if (sink->token[0] && strcmp(target->scheme, "https") != 0 && !is_this_machine(target))
        misfit(check, sink, "webhook", "a token is only sent by https://, or to this machine");
    if (sink->format == NOTIFY_TELEGRAM && !sink->chat[0])
        misfit(check, sink, "webhook_chat", "telegram needs a chat_id");
}

static void check_mail(const struct notify_sink *sink, const struct target *target,
                       const struct daemon_config_check *check)
{
    if (!sink->to[0])
        misfit(check, sink, "mail_to", "an address is needed");
    if (!sink->from[0])
        misfit(check, sink, "mail_from", "an address is needed");
    if (sink->user[0] && !sink->token[0])
        misfit(check, sink, "mail_password", "a login needs a credential or a file with the password");
    if (sink->token[0] && !sink->user[0])
        misfit(check, sink, "mail_user", "a password needs the user's name");
    if (sink->user[0] && sink->tls == NOTIFY_TLS_OFF && strcmp(target->scheme, "smtp") == 0 &&
        !is_this_machine(target))
        misfit(check, sink, "mail_tls",
               "a password is only sent by TLS, or to this machine: required is needed");
}

void daemon_config_sinks_check(const struct daemon_config *config, const struct daemon_config_check *check)
{
    for (int i = 0; i < config->notify.n_sinks; i++) {
        const struct notify_sink *sink = &config->notify.sinks[i];
        struct target target;
        if (!sink->target[0])
            misfit(check, sink, daemon_notify_kinds[sink->kind],
                   sink->kind == NOTIFY_COMMAND ? "a program is needed" : "a URL is needed");
        else if (sink->kind != NOTIFY_COMMAND && parse_target(sink->target, &target))
            (sink->kind == NOTIFY_WEBHOOK ? check_webhook : check_mail)(sink, &target, check);
    }
}

static int check_files(const struct notify_sink *sink, char *secret, char *why, size_t size)
{
    char buf[NOTIFY_TARGET_MAX], *words[NOTIFY_ARGS_MAX], key[KEY_NAME_MAX], unsafe[CONFIG_ERROR_MAX - 64];
    const char *own = strchr(sink->name, '.');
    if (sink->kind == NOTIFY_COMMAND)
        return daemon_notify_words(sink->target, buf, words) > 0 &&
                       daemon_safe_program(words[0], unsafe, sizeof unsafe) < 0
                   ? fail_with(-EINVAL, why, size, "%s: %s", sink->name, unsafe)
                   : 0;
    snprintf(key, sizeof key, "%s%s", sink->kind == NOTIFY_MAIL ? "mail_password" : "webhook_token",
             own ? own : "");
    return sink->token[0] && !daemon_credential_unseen(sink->token)
               ? daemon_credential_line(key, sink->token, secret, NOTIFY_SECRET_MAX, why, size)
               : 0;
}

int daemon_config_sinks_files(const struct daemon_config *config, char error[static CONFIG_ERROR_MAX])
{
    const struct notify_config *notify = &config->notify;
    char why[CONFIG_ERROR_MAX - 16], ca_why[NET_ERROR_MAX], *secret = net_secret_alloc(NOTIFY_SECRET_MAX);
    int r = secret ? 0 : fail_with(-ENOMEM, error, CONFIG_ERROR_MAX, "out of memory");
    for (int i = 0; i < notify->n_sinks && r == 0; i++)
        if ((r = check_files(&notify->sinks[i], secret, why, sizeof why)) < 0)
            snprintf(error, CONFIG_ERROR_MAX, "[alerts] %s", why);
    if (r == 0 && notify->ca_file[0] && (r = net_ca_check(notify->ca_file, ca_why)) < 0)
        snprintf(error, CONFIG_ERROR_MAX, "[alerts] ca_file: %s", ca_why);
    net_secret_free(secret);
    return r < 0 && r != -ENOMEM ? -EINVAL : r;
}

const char *daemon_config_shown(const char *section, const char *key, const char *value, char *buf,
                                size_t size)
{
    const char *host = value && strcmp(section, "alerts") == 0 && strncmp(key, "webhook", 7) == 0
                           ? strstr(value, "://")
                           : NULL;
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (!path || !path[1])
        return value;
    snprintf(buf, size, "%.*s/...", (int)(path - value), value);
    return buf;
}
