/* One websocket client connection: text frames in and out, TLS always verified.
 *
 * No reconnection here: see exchange/net/link.h. No permessage-deflate: libwebsockets 4.1 can loop for
 * ever on an uncompressed frame of a compressed connection. */
#ifndef EXCHANGE_NET_WEBSOCKET_H
#define EXCHANGE_NET_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/net/context.h"

enum {
    WEBSOCKET_MESSAGE_MAX_DEFAULT = 16 << 20, /* bytes */
    WEBSOCKET_CONNECT_TIMEOUT_MS_DEFAULT = 10000,
    WEBSOCKET_QUEUE_MAX = 256, /* texts waiting to be sent */
    WEBSOCKET_PATH_MAX = 2000, /* libwebsockets 4.1 cuts the request line at 2048 bytes, silently */
    WEBSOCKET_HEADERS_MAX = 8,
    WEBSOCKET_HEADER_MAX = 256, /* bytes of a name, and of a value */
};

struct websocket;

struct websocket_config {
    const char *url;     /* wss://HOST[:PORT]/PATH?QUERY */
    const char *address; /* numeric, from resolver.h; the certificate is checked against the URL's host */
    size_t message_max;  /* 0: default; a longer message is refused by its header, with 1009 */
    int64_t connect_timeout_ms;       /* TCP, TLS and upgrade together; 0: default */
    const struct net_header *headers; /* of the upgrade's request, in addition to the usual ones */
    size_t n_headers;
};

struct websocket_end {
    bool opened;            /* it was open before it ended */
    int code;               /* the peer's close code, or the one sent; 1006: no code was seen */
    int http_status;        /* of a refused upgrade; 0: there was no such reply */
    int64_t retry_after_ms; /* of a refused upgrade; -1: not said */
    bool timed_out;         /* by connect_timeout_ms */
    const char *reason;     /* one line; lives during the callback */
};

/* Called from the loop, never from within websocket_connect(). Any of them may call any function below.
 * `ended` comes once, unless websocket_destroy() comes first; websocket_destroy() is still needed after it.
 */
struct websocket_handler {
    void (*opened)(void *user);
    void (*message)(void *user, const char *data, size_t len); /* whole; data lives during the call */
    void (*pong)(void *user);                                  /* may be NULL */
    void (*ended)(void *user, const struct websocket_end *end);
    /* Messages of binary frames; NULL: they come by message() as well. */
    void (*binary)(void *user, const char *data, size_t len);
};

/* Starts to connect. 0 and the socket in *ret; -EINVAL or -EPROTONOSUPPORT for the URL (see url.h), -EINVAL
 * for a header that is none; -ENAMETOOLONG for its path, a header, or too many of them; -ENOMEM. The handler
 * must outlive the socket, the config need not. */
int websocket_connect(struct net_context *net, const struct websocket_config *config,
                      const struct websocket_handler *handler, void *user, struct websocket **ret);

/* Queues one text frame. 0; -ENOTCONN when not open; -ENOBUFS when WEBSOCKET_QUEUE_MAX wait; -ENOMEM. */
int websocket_send(struct websocket *websocket, const char *text, size_t len);

/* The same as a binary frame. */
int websocket_send_binary(struct websocket *websocket, const void *data, size_t len);

/* Queues a ping behind what is queued. Its pong comes behind all that the peer had sent before it read the
 * ping. Errors as above. */
int websocket_ping(struct websocket *websocket);

/* Was the last of them answered? To be called in the handler's pong(), which is also called for the
 * keep-alive's pongs. */
bool websocket_pinged(const struct websocket *websocket);

/* Stops or continues reading, as back-pressure; what was read before may still be delivered. The connection
 * is not closed for missing pongs while paused. */
void websocket_pause(struct websocket *websocket, bool paused);

/* Closes with a code (RFC 6455, section 7.4) and a short reason; `ended` follows. Does nothing before it is
 * open. */
void websocket_close(struct websocket *websocket, int code, const char *reason);

/* Ends the connection, if there still is one (with close code 1001), and frees. No callback follows. NULL is
 * fine. */
void websocket_destroy(struct websocket *websocket);

#endif
