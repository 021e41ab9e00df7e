/* When a failing sink is tried again, quiet hours, command lines, and the words of each format. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/notify/backoff.h"
#include "daemon/notify/sink.h"
#include "tests/check.h"

#define S  INT64_C(1000000000)
#define MS INT64_C(1000000)

/* The attempts of a sink that is down, by a simulated clock: the waits in between, in seconds. */
static void test_backoff(void)
{
    struct notify_backoff backoff = {0};
    int64_t now = 1000 * S;
    int often = 0;
    CHECK_INT(daemon_notify_backoff_next(&backoff), 0);
    for (;;) {
        daemon_notify_backoff_failed(&backoff, NOTIFY_RETRY_NS, now, now + 10 * MS, -1);
        int64_t wait = daemon_notify_backoff_next(&backoff) - now;
        now += wait;
        if (wait != 3 * S)
            break;
        often++;
    }
    CHECK_INT(often, 300); /* 15 minutes */
    CHECK_INT(now - 1000 * S, 900 * S + 6 * S);
    static const int64_t more[] = {12, 24, 48, 96, 192, 300, 300, 300};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        daemon_notify_backoff_failed(&backoff, NOTIFY_RETRY_NS, now, now + S, -1);
        CHECK_INT(daemon_notify_backoff_next(&backoff) - now, more[i] * S);
        now += more[i] * S;
    }
    CHECK_INT(backoff.since_ns, 1000 * S);
    daemon_notify_backoff_again(&backoff, NOTIFY_RETRY_NS, now); /* a new notice, just after an attempt */
    CHECK_INT(daemon_notify_backoff_next(&backoff), backoff.started_ns + 3 * S);
    daemon_notify_backoff_failed(&backoff, NOTIFY_RETRY_NS, now, now + S, -1);
    CHECK_INT(daemon_notify_backoff_next(&backoff) - now, 3 * S);
    daemon_notify_backoff_accepted(&backoff);
    CHECK(!backoff.failing && daemon_notify_backoff_next(&backoff) == 0);
}

static void test_retry_after(void)
{
    struct notify_backoff backoff = {0};
    daemon_notify_backoff_failed(&backoff, NOTIFY_RETRY_NS, 10 * S, 11 * S, 60 * S);
    CHECK_INT(daemon_notify_backoff_next(&backoff), 71 * S);
    daemon_notify_backoff_again(&backoff, NOTIFY_RETRY_NS, 20 * S); /* a new notice waits too */
    CHECK_INT(daemon_notify_backoff_next(&backoff), 71 * S);
    daemon_notify_backoff_failed(&backoff, NOTIFY_RETRY_NS, 71 * S, 71 * S, 0);
    CHECK_INT(daemon_notify_backoff_next(&backoff), 74 * S);
    daemon_notify_backoff_failed(&backoff, NOTIFY_RETRY_NS, 74 * S, 74 * S, 365 * 86400 * S);
    CHECK_INT(daemon_notify_backoff_next(&backoff), 74 * S + 86400 * S);
}

static void test_quiet(void)
{
    for (int minute = 0; minute < 1440; minute++) {
        CHECK(!daemon_notify_quiet(-1, -1, minute));
        CHECK(daemon_notify_quiet(1320, 420, minute) == (minute >= 1320 || minute < 420));
        CHECK(daemon_notify_quiet(60, 120, minute) == (minute >= 60 && minute < 120));
    }
}

static void test_words(void)
{
    static const struct {
        const char *line, *words; /* each word and a | */
    } lines[] = {
        {"a", "a|"},
        {"  /bin/x \t -v  ", "/bin/x|-v|"},
        {"a 'b c' \"d \\\" e\" f\\ g", "a|b c|d \" e|f g|"},
        {"a '' \"\"", "a|||"},
        {"a'b'c", "abc|"},
        {"a 'b\\'", "a|b\\|"},
        {"a \"b c", NULL},
        {"a 'b c", NULL},
        {"", NULL},
        {"   ", NULL},
        {"''", NULL},
        {"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32", NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char buf[NOTIFY_TARGET_MAX], *words[NOTIFY_ARGS_MAX], found[NOTIFY_TARGET_MAX * 2] = "";
        int n = daemon_notify_words(lines[i].line, buf, words);
        for (int k = 0; k < n; k++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s|", words[k]);
        CHECK(n < 0 ? lines[i].words == NULL : words[n] == NULL);
        if (lines[i].words)
            CHECK_STR(found, lines[i].words);
    }
    char url[40];
    CHECK_INT(daemon_notify_url("https://h/a/{token}/b", "se/sa", url, sizeof url), 0);
    CHECK_STR(url, "https://h/a/se/sa/b");
    CHECK_INT(daemon_notify_url("https://h/a", "sesame", url, sizeof url), 0);
    CHECK_STR(url, "https://h/a");
    CHECK_INT(
        daemon_notify_url("https://h/{token}", "0123456789012345678901234567890123456789", url, sizeof url),
        -ENAMETOOLONG);
}

static const struct db_notice notice = {.key = "abc-7-raised-error",
                                        .alert = 7,
                                        .severity = DB_ERROR,
                                        .raised_ns = 1764072000 * S,
                                        .rule = "DISK",
                                        .text =
                                            "disk: /x: 96 % <used> & \"more\" \xc3\xa4, critical from 95 %"};

static const char *text_in(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void test_json(void)
{
    char *text = daemon_notify_json(&notice, "host");
    json_t *object = json_loads(text, 0, NULL);
    CHECK(!strchr(text, '\n'));
    CHECK_STR(text_in(object, "schema"), "papertape.alert/1");
    CHECK_INT(json_integer_value(json_object_get(object, "id")), 7);
    CHECK_STR(text_in(object, "rule"), "DISK");
    CHECK_STR(text_in(object, "severity"), "error");
    CHECK_STR(text_in(object, "state"), "raised");
    CHECK_STR(text_in(object, "text"), notice.text);
    CHECK_STR(text_in(object, "raised_at"), "2025-11-25T12:00:00Z");
    CHECK(json_is_null(json_object_get(object, "recovered_at")));
    CHECK_STR(text_in(object, "host"), "host");
    json_decref(object);
    free(text);
    struct db_notice over = notice;
    over.state = DB_NOTICE_RECOVERED;
    over.over_ns = notice.raised_ns + 61 * S;
    text = daemon_notify_json(&over, "host");
    object = json_loads(text, 0, NULL);
    CHECK_STR(text_in(object, "state"), "recovered");
    CHECK_STR(text_in(object, "recovered_at"), "2025-11-25T12:01:01Z");
    json_decref(object);
    free(text);
}

static void test_formats(void)
{
    struct notify_sink sink = {.kind = NOTIFY_WEBHOOK, .format = NOTIFY_SLACK};
    char *body = daemon_notify_body(&sink, &notice, "host");
    json_t *object = json_loads(body, 0, NULL);
    CHECK_STR(text_in(object, "text"),
              "error: DISK on host: disk: /x: 96 % &lt;used&gt; &amp; \"more\" \xc3\xa4, critical from 95 %");
    json_decref(object);
    free(body);
    sink.format = NOTIFY_DISCORD;
    body = daemon_notify_body(&sink, &notice, "host");
    object = json_loads(body, 0, NULL);
    CHECK(strstr(text_in(object, "content"), "<used> & \"more\"") != NULL);
    CHECK(json_is_array(json_object_get(json_object_get(object, "allowed_mentions"), "parse")));
    json_decref(object);
    free(body);
    sink.format = NOTIFY_TELEGRAM;
    snprintf(sink.chat, sizeof sink.chat, "-42");
    body = daemon_notify_body(&sink, &notice, "host");
    object = json_loads(body, 0, NULL);
    CHECK_STR(text_in(object, "chat_id"), "-42");
    CHECK(strncmp(text_in(object, "text"), "error: DISK on host: ", 21) == 0);
    json_decref(object);
    free(body);
    sink.format = NOTIFY_NTFY;
    body = daemon_notify_body(&sink, &notice, "host");
    CHECK_STR(body, notice.text);
    free(body);
}

static void test_message(void)
{
    struct notify_sink sink = {.kind = NOTIFY_MAIL, .to = "a@x.org, b@x.org", .from = "p@x.org"};
    char *text = daemon_notify_message(&sink, &notice, "host", 1764072061 * S);
    CHECK(
        strstr(text, "Date: Tue, 25 Nov 2025 12:01:01 +0000\r\nFrom: p@x.org\r\nTo: a@x.org, b@x.org\r\n") ==
        text);
    CHECK(strstr(text, "\r\nSubject: [papertape] error: DISK on host\r\n") != NULL);
    CHECK(strstr(text, "\r\nMessage-ID: <abc-7-raised-error@host>\r\n") != NULL);
    CHECK(strstr(text, "\r\n\r\ndisk: /x: 96 %") != NULL);
    for (const char *c = text; *c; c++)
        CHECK(*c != '\n' || (c > text && c[-1] == '\r'));
    free(text);
}

int main(void)
{
    test_backoff();
    test_retry_after();
    test_quiet();
    test_words();
    test_json();
    test_formats();
    test_message();
    return check_done("daemon/notify");
}
