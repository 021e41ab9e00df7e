/* HTTPS through libcurl's multi interface on the loop: TLS verified, HTTP/1.1 with connections kept and
 * used again, gzip accepted, no redirects, no proxy.
 *
 * Only a GET goes over a kept connection. The other side may close that at any moment, and libcurl then sends
 * what got no answer once more over a new one, although the first may have been read: an order would be two.
 * Every other method gets a connection of its own, and the call fails before anything of it is sent twice. */
#ifndef EXCHANGE_NET_HTTP_H
#define EXCHANGE_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/net/context.h"

enum {
    HTTP_HEADERS_MAX = 16,
    HTTP_HEADER_MAX = 1024, /* bytes of a name and its value */
    HTTP_TIMEOUT_MS_DEFAULT = 20000,
    HTTP_BODY_MAX_DEFAULT = 32 << 20, /* bytes; the longest list of symbols is 14 MB in 2026 */
};

struct http_request {
    const char *method; /* upper case; NULL: GET */
    const char *url;
    int64_t timeout_ms; /* name look-up to last byte (a slow look-up itself is not cut short); 0: default */
    size_t body_max;    /* decompressed; 0: default */
    const struct net_header *headers;
    size_t n_headers;
    const void *body; /* NULL: none, and Content-Length 0 where a POST, PUT or PATCH has none; not of a GET */
    size_t body_len;  /* Content-Type: one of `headers`; else that of a form */
};

struct http_reply {
    const char *error; /* why there is no reply, one line; NULL when there is one */
    int status;        /* 0 when there is none */
    bool sent; /* false: for certain no byte of the request left: no address, no connection, or no TLS */
    const char *body; /* also NUL-terminated; lives during the callback */
    size_t len;
    int64_t retry_after_ms;        /* Retry-After; -1: missing or malformed */
    int64_t used_weight;           /* X-MBX-USED-WEIGHT-1M; -1: not said */
    int64_t rate_limit, rate_left; /* X-RateLimit-Limit and -Remaining; -1: not said */
    int64_t rate_reset_s;          /* X-RateLimit-Reset, Unix seconds; -1: not said */
    int64_t date_s;                /* Date, Unix seconds; -1: not said */
    int64_t elapsed_ms;
};

typedef void http_done(void *user, const struct http_reply *reply);

struct http_call;

/* Starts. `done` is called once from the loop, never from here, unless http_cancel() comes first. 0 and the
 * call in *ret (gone when `done` is called), or -errno: -EINVAL, -EPROTONOSUPPORT for the URL, -EINVAL
 * for a method or a header that is none and for a GET with a body, -ENAMETOOLONG for a header that is too
 * long or too many, -ENOMEM. */
int http_send(struct net_context *net, const struct http_request *request, http_done *done, void *user,
              struct http_call **ret);

/* Forgets the call: `done` will not be called. NULL is fine. */
void http_cancel(struct http_call *call);

#endif
