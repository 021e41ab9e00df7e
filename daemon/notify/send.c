/* One attempt at delivery: what all kinds share. */
#include <stdio.h>
#include <string.h>

#include "daemon/credential.h"
#include "daemon/notify/sink.h"
#include "exchange/net/secret.h"

/* The token is in no message, whatever a library or a sink says; nor what begins it, four characters or more,
 * where a reply was cut. */
static void hide(char *detail, const char *secret)
{
    size_t n = strlen(secret), length = strlen(detail);
    for (char *at = n > 0 ? strstr(detail, secret) : NULL; at; at = strstr(at, secret)) {
        memset(at, '*', n);
        at += n;
    }
    for (size_t cut = n < length ? n : length; cut > 3; cut--)
        if (strncmp(detail + length - cut, secret, cut) == 0) {
            memset(detail + length - cut, '*', cut);
            return;
        }
}

/* One line of ASCII: what a sink says may be anything. */
static void make_line(char *detail)
{
    for (char *c = detail; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = (unsigned char)*c < ' ' ? ' ' : '?';
    for (size_t n = strlen(detail); n > 0 && detail[n - 1] == ' '; n--)
        detail[n - 1] = '\0';
}

static const char *token_key(const struct notify_sink *sink)
{
    return sink->kind == NOTIFY_MAIL ? "mail_password" : "webhook_token";
}

void daemon_notify_send(const struct notify_attempt *attempt, struct notify_outcome *ret)
{
    const struct notify_sink *sink = attempt->sink;
    *ret = (struct notify_outcome){.retry_after_ns = -1};
    if (sink->kind == NOTIFY_COMMAND) {
        daemon_notify_send_command(attempt, ret);
        make_line(ret->detail);
        return;
    }
    char *secret = net_secret_alloc(NOTIFY_SECRET_MAX);
    if (!secret) {
        snprintf(ret->detail, sizeof ret->detail, "out of memory");
        return;
    }
    /* Read each time: a token that was replaced counts from then on. */
    if (sink->token[0] && daemon_credential_line(token_key(sink), sink->token, secret, NOTIFY_SECRET_MAX,
                                                 ret->detail, sizeof ret->detail) < 0) {
        net_secret_free(secret);
        return;
    }
    if (sink->kind == NOTIFY_WEBHOOK)
        daemon_notify_send_webhook(attempt, secret, ret);
    else
        daemon_notify_send_mail(attempt, secret, ret);
    hide(ret->detail, secret);
    make_line(ret->detail);
    net_secret_free(secret);
}
