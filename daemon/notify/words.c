/* What sinks are sent. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/notify/sink.h"
#include "exchange/clock.h"
#include "exchange/text_words.h"

enum { TITLE_MAX = 200, DISCORD_TEXT_MAX = 2000 };

const char *const daemon_notify_kinds[] = {
    [NOTIFY_COMMAND] = "command", [NOTIFY_WEBHOOK] = "webhook", [NOTIFY_MAIL] = "mail"};

static const char *state_word(const struct db_notice *notice)
{
    return notice->state == DB_NOTICE_RECOVERED ? "recovered" : "raised";
}

static json_t *time_or_null(int64_t ns)
{
    char text[CLOCK_TEXT_MAX];
    return ns > 0 && clock_utc_text(ns, text)[0] ? json_string(text) : json_null();
}

char *daemon_notify_json(const struct db_notice *notice, const char *host)
{
    json_t *object = json_pack(
        "{s:s, s:I, s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:s}", "schema", "papertape.alert/1", "id",
        (json_int_t)notice->alert, "rule", notice->rule, "severity", db_severity_name(notice->severity),
        "state", state_word(notice), "text", notice->text, "raised_at", time_or_null(notice->raised_ns),
        "recovered_at", time_or_null(notice->over_ns), "host", host, "key", notice->key);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

void daemon_notify_title(const struct db_notice *notice, const char *host, char *ret, size_t size)
{
    snprintf(ret, size, "%s: %s on %s",
             notice->state == DB_NOTICE_RECOVERED ? "recovered" : db_severity_name(notice->severity),
             notice->rule, host);
}

/* "error: DISK on host: text"; the caller's. */
static char *plain(const struct db_notice *notice, const char *host)
{
    char title[TITLE_MAX], *text = NULL;
    daemon_notify_title(notice, host, title, sizeof title);
    return asprintf(&text, "%s: %s", title, notice->text) < 0 ? NULL : text;
}

/* Slack's three characters with a meaning. */
static char *slack_text(const char *text)
{
    size_t size;
    char *escaped = NULL;
    FILE *to = text ? open_memstream(&escaped, &size) : NULL;
    if (!to)
        return NULL;
    for (const char *c = text; *c; c++)
        if (*c == '&')
            fputs("&amp;", to);
        else if (*c == '<')
            fputs("&lt;", to);
        else if (*c == '>')
            fputs("&gt;", to);
        else
            fputc(*c, to);
    return fclose(to) == 0 ? escaped : NULL;
}

static json_t *body_object(const struct notify_sink *sink, const char *text)
{
    switch (sink->format) {
    case NOTIFY_SLACK:
        return json_pack("{s:s}", "text", text);
    case NOTIFY_DISCORD: /* @everyone in a text mentions no one */
        return json_pack("{s:s, s:{s:[]}}", "content", text, "allowed_mentions", "parse");
    default:
        return json_pack("{s:s, s:s}", "chat_id", sink->chat, "text", text);
    }
}

char *daemon_notify_body(const struct notify_sink *sink, const struct db_notice *notice, const char *host)
{
    if (sink->format == NOTIFY_JSON)
        return daemon_notify_json(notice, host);
    if (sink->format == NOTIFY_NTFY) /* its title is a header */
        return strdup(notice->text);
    char *text = plain(notice, host), *body = NULL;
    if (sink->format == NOTIFY_SLACK) {
        char *escaped = slack_text(text);
        free(text);
        text = escaped;
    }
    json_t *object = text ? body_object(sink, text) : NULL;
    if (object)
        body = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    free(text);
    return body;
}

/* A date of RFC 5322, in English whatever the locale. */
static void date_text(int64_t ns, char *ret, size_t size)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm utc;
    time_t s = (time_t)clock_whole_s(ns);
    gmtime_r(&s, &utc);
    snprintf(ret, size, "%.3s, %d %.3s %d %02d:%02d:%02d +0000", days + 3 * utc.tm_wday, utc.tm_mday,
             months + 3 * utc.tm_mon, utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

char *daemon_notify_message(const struct notify_sink *sink, const struct db_notice *notice, const char *host,
                            int64_t now_ns)
{
    char title[TITLE_MAX], date[64], raised[CLOCK_TEXT_MAX], over[CLOCK_TEXT_MAX] = "", *text = NULL;
    daemon_notify_title(notice, host, title, sizeof title);
    date_text(now_ns, date, sizeof date);
    clock_utc_text(notice->raised_ns, raised);
    if (notice->over_ns > 0)
        clock_utc_text(notice->over_ns, over);
    int n = asprintf(&text,
                     "Date: %s\r\nFrom: %s\r\nTo: %s\r\nSubject: [papertape] %s\r\nMessage-ID: <%s@%s>\r\n"
                     "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                     "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
                     "%s\r\n\r\nalert %llu, rule %s, severity %s, %s\r\nraised %s%s%s\r\n",
                     date, sink->from, sink->to, title, notice->key, host, notice->text,
                     (unsigned long long)notice->alert, notice->rule, db_severity_name(notice->severity),
                     state_word(notice), raised, over[0] ? ", recovered " : "", over);
    return n < 0 ? NULL : text;
}

/* ---- a command line ---- */

int daemon_notify_words(const char *line, char buf[static NOTIFY_TARGET_MAX],
                        char *ret[static NOTIFY_ARGS_MAX])
{
    return text_words(line, buf, NOTIFY_TARGET_MAX, ret, NOTIFY_ARGS_MAX);
}

int daemon_notify_url(const char *target, const char *token, char *ret, size_t size)
{
    const char *place = strstr(target, NOTIFY_TOKEN_PLACE);
    int n = place ? snprintf(ret, size, "%.*s%s%s", (int)(place - target), target, token,
                             place + strlen(NOTIFY_TOKEN_PLACE))
                  : snprintf(ret, size, "%s", target);
    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
