/* The keys of sinks and of their delivery, a row each: [alerts] of papertaped.ini and its page follow. Each
 * of NOTIFY_SINK_KEYS also stands with a name, KEY.NAME, for a further sink of its kind. */
#ifndef DAEMON_NOTIFY_SINK_KEYS_H
#define DAEMON_NOTIFY_SINK_KEYS_H

/* ROW(name, default, sentence, more) */
/* clang-format off */
#define NOTIFY_SINK_KEYS(ROW) \
    ROW("command", "", \
        "a program that is started for each alert, with its arguments, without a shell; JSON on its standard input; empty: none", \
        "papertape.alert/1 in one line (docs/alerts.md). Blanks separate words, quotes hold them. It is started again until " \
        "it ends with 0, at most 30 s each time. Further ones are command.NAME. In the unit it has the daemon's sandbox: no " \
        "set-user-ID or set-group-ID program works there (sendmail, sudo), and it may write to the state directory and its " \
        "own /tmp alone.") \
    ROW("command_severity", "info", "from which severity on it is started: info, warning or error", NULL) \
    ROW("webhook", "", \
        "a URL that each alert is posted to, https:// or http://; {token} in it is the token's place; empty: none", \
        "Again until it answers with 2xx; the header Idempotency-Key is the same each time. Further ones are webhook.NAME. " \
        "A URL that holds a secret, as Slack's, Discord's and Telegram's do, is written with {token} and the secret in " \
        "webhook_token's file: https://hooks.slack.com/services/{token}.") \
    ROW("webhook_format", "json", "of what is posted: json (papertape.alert/1), slack, discord, telegram or ntfy", NULL) \
    ROW("webhook_token", "", \
        "a systemd credential's name, or the path of a file of mode 0600: one line, the token; empty: none", \
        "It takes the place of {token} in the URL; without one it is sent as Authorization: Bearer.") \
    ROW("webhook_chat", "", "Telegram's chat_id", NULL) \
    ROW("webhook_severity", "info", "from which severity on it is posted to: info, warning or error", NULL) \
    ROW("mail", "", \
        "a mail server, smtp://HOST:587 (STARTTLS) or smtps://HOST:465 (TLS); empty: none", \
        "Further ones are mail.NAME, with mail_to.NAME and the others.") \
    ROW("mail_to", "", "addresses, with commas", NULL) \
    ROW("mail_from", "", "the sender's address", NULL) \
    ROW("mail_user", "", "the user's name at that server; empty: no login", \
        "A server that offers no login is sent to without one: it accepts what it accepts from everybody.") \
    ROW("mail_password", "", \
        "a systemd credential's name, or the path of a file of mode 0600: one line, the password; empty: none", NULL) \
    ROW("mail_tls", "required", "of smtp://: required (STARTTLS), or off", \
        "A login without TLS is refused except to this machine.") \
    ROW("mail_severity", "info", "from which severity on it is mailed to: info, warning or error", NULL)
/* clang-format on */

#endif
