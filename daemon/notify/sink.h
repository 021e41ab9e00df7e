/* Where alerts go apart from the log and the dashboard: commands, webhooks, mail. What the configuration says
 * of each ([alerts] of papertaped.ini, daemon/config_sinks.c), and one attempt at delivery. */
#ifndef DAEMON_NOTIFY_SINK_H
#define DAEMON_NOTIFY_SINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/notices.h"

enum {
    NOTIFY_SINKS_MAX = 8,
    NOTIFY_TARGET_MAX = 512,
    NOTIFY_FILE_MAX = 256,
    NOTIFY_WORD_MAX = 128,
    NOTIFY_TO_MAX = 512,
    NOTIFY_SECRET_MAX = 512,
    NOTIFY_ARGS_MAX = 32,
    NOTIFY_DETAIL_MAX = 320,
    NOTIFY_HOST_MAX = 65,
};

enum notify_kind { NOTIFY_COMMAND, NOTIFY_WEBHOOK, NOTIFY_MAIL };

#define NOTIFY_FORMATS "json slack discord telegram ntfy"
enum notify_format { NOTIFY_JSON, NOTIFY_SLACK, NOTIFY_DISCORD, NOTIFY_TELEGRAM, NOTIFY_NTFY };

#define NOTIFY_TLS_WORDS "required off"
enum notify_tls { NOTIFY_TLS_REQUIRED, NOTIFY_TLS_OFF };

#define NOTIFY_SEVERITIES "info warning error" /* enum db_severity */

/* The token's place in a URL. */
#define NOTIFY_TOKEN_PLACE "{token}"

struct notify_sink {
    char name[DB_NOTICE_SINK_MAX]; /* "command", "webhook.ops", "mail": the key that says where it is */
    enum notify_kind kind;
    char
        target[NOTIFY_TARGET_MAX]; /* a command line, a URL; "": there is none, and the sink does not count */
    int severity;                  /* enum db_severity: from which on it gets notices */
    char token[NOTIFY_FILE_MAX]; /* a credential's name or a file's path: a token, the mail's password; "" */
    /* of a webhook */
    int format;                 /* enum notify_format */
    char chat[NOTIFY_WORD_MAX]; /* Telegram's chat_id */
    /* of mail */
    char to[NOTIFY_TO_MAX]; /* addresses with commas */
    char from[NOTIFY_WORD_MAX], user[NOTIFY_WORD_MAX];
    int tls; /* enum notify_tls */
};

/* The severity that notices of a rule have, whatever the alert's; NOTIFY_OFF: no notice of it is sent. */
enum { NOTIFY_OFF = -1, NOTIFY_SEVERITIES_MAX = 32 };
struct notify_severity {
    char rule[DB_NOTICE_RULE_MAX];
    int severity;
};

/* What all sinks share of the configuration. */
struct notify_config {
    struct notify_severity severities[NOTIFY_SEVERITIES_MAX];
    int n_severities;
    struct notify_sink sinks[NOTIFY_SINKS_MAX];
    int n_sinks;
    int quiet_from, quiet_to; /* minutes of the machine's local day; quiet_from -1: no quiet hours */
    int64_t retry_ns;         /* between two attempts, at first */
    int summary;              /* enum notify_summary */
    int summary_minute;       /* of the local day: of a daily one */
    char ca_file[NOTIFY_FILE_MAX];
};

#define NOTIFY_SUMMARIES "off hourly daily"
enum notify_summary { NOTIFY_SUMMARY_OFF, NOTIFY_SUMMARY_HOURLY, NOTIFY_SUMMARY_DAILY };

extern const char *const daemon_notify_kinds[]; /* by enum notify_kind: "command", … */

/* ---- words.c: what is sent. Pure; NULL without memory ---- */

/* papertape.alert/1, one line. The caller's to free. */
char *daemon_notify_json(const struct db_notice *notice, const char *host);
/* "error: DISK on HOST", for subjects. */
void daemon_notify_title(const struct db_notice *notice, const char *host, char *ret, size_t size);
/* The body that a webhook of that format is given. */
char *daemon_notify_body(const struct notify_sink *sink, const struct db_notice *notice, const char *host);
/* The whole message with its headers, lines of \r\n. */
char *daemon_notify_message(const struct notify_sink *sink, const struct db_notice *notice, const char *host,
                            int64_t now_ns);

/* Splits a command line at blanks; quotes ('…' and "…") hold them, a \ stands before a character as it is.
 * Returns how many words, which point into buf; -EINVAL: a quote is open, no word, or more than
 * NOTIFY_ARGS_MAX - 1. */
int daemon_notify_words(const char *line, char buf[static NOTIFY_TARGET_MAX],
                        char *ret[static NOTIFY_ARGS_MAX]);

/* The target with the token in its place; -ENAMETOOLONG. */
int daemon_notify_url(const char *target, const char *token, char *ret, size_t size);

/* ---- send_*.c: one attempt, which waits ---- */

struct notify_attempt {
    const struct notify_sink *sink;
    const struct db_notice *notice;
    const char *host, *ca_file; /* ca_file "": the system's certificates */
    const atomic_bool *stop;    /* once it is true, the attempt ends as failed */
};

struct notify_outcome {
    bool accepted;
    int64_t retry_after_ns;         /* that the sink asked for; -1: nothing */
    char detail[NOTIFY_DETAIL_MAX]; /* "HTTP 204", "exit 1: no route"; no secret, no control character */
};

void daemon_notify_send(const struct notify_attempt *attempt, struct notify_outcome *ret);

/* Runs a command line without a shell, with that text on its standard input, for at most so long. */
void daemon_notify_run(const char *command, const char *text, int timeout_ms, const atomic_bool *stop,
                       struct notify_outcome *ret);
enum { NOTIFY_COMMAND_MS = 30000 };
void daemon_notify_send_command(const struct notify_attempt *attempt, struct notify_outcome *ret);
/* With the token (secret memory; "": none). */
void daemon_notify_send_webhook(const struct notify_attempt *attempt, const char *token,
                                struct notify_outcome *ret);
void daemon_notify_send_mail(const struct notify_attempt *attempt, const char *password,
                             struct notify_outcome *ret);

#endif
