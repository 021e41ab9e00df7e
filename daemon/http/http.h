/* The daemon's HTTP server, as its loop has it: makes a status when clients wait for one, at most every
 * 100 ms, or twenty times as long as making it took; takes the configuration's sockets; raises the alert
 * `http` while it cannot listen on one of them. */
#ifndef DAEMON_HTTP_HTTP_H
#define DAEMON_HTTP_HTTP_H

#include <jansson.h>

#include "daemon/daemon.h"

struct daemon_http;

/* Listens as [metrics] says; where it says nothing there is no thread. NULL without memory. */
struct daemon_http *daemon_http_create(struct daemon *daemon);

/* The session has started: alerts can be stored from now on. */
void daemon_http_started(struct daemon_http *http);

/* Can it listen where that configuration has it, where it does not yet? 0; or -errno with
 * "[metrics] KEY: WHERE: why". */
int daemon_http_check(const struct daemon_http *http, const struct daemon_config *config,
                      char error[static CONFIG_ERROR_MAX]);

/* After the configuration was read again. */
void daemon_http_take(struct daemon_http *http);

/* The status object's "http"; null while it listens nowhere. A new reference. */
json_t *daemon_http_object(const struct daemon_http *http);

/* Ends it; frees on the loop's next turns. NULL is fine. */
void daemon_http_stop(struct daemon_http *http);

#endif
