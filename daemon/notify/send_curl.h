/* What the attempts by libcurl share. Internal to daemon/notify/send_*.c. */
#ifndef DAEMON_NOTIFY_SEND_CURL_H
#define DAEMON_NOTIFY_SEND_CURL_H

#include <curl/curl.h>

#include "daemon/notify/sink.h"

enum {
    NOTIFY_CONNECT_MS = 5000, /* name look-up, connection, TLS */
    NOTIFY_HTTP_MS = 10000,   /* all of a webhook's attempt */
    NOTIFY_MAIL_MS = 30000,   /* of mail's: a server may look up names and greylist */
};

/* A handle with what every attempt has: time limits, TLS verified, no proxy, no redirect, no signal, an end
 * once the daemon stops. NULL without memory. `error` [CURL_ERROR_SIZE] outlives it. */
CURL *daemon_notify_curl(const struct notify_attempt *attempt, long timeout_ms, char *error);

/* Adds a line to a list, which is freed where that fails. False: without memory. */
bool daemon_notify_curl_add(struct curl_slist **list, const char *line);

#endif
