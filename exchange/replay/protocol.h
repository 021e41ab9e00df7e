/* One venue's protocol, behind one table: serve.c has the sockets, TLS, queues, the position of the play
 * and its pace; a protocol has the market that is played, the answers over REST, and the messages of its
 * websockets. A third venue is a row in protocols.c and a folder beside binance/. */
#ifndef EXCHANGE_REPLAY_PROTOCOL_H
#define EXCHANGE_REPLAY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/client.h"
#include "exchange/replay/fault.h"
#include "exchange/replay/options.h"
#include "exchange/replay/source.h"
#include "exchange/text.h"

enum {
    REQUEST_ARGS_MAX = 32,
    REQUEST_HEADERS_MAX = 12,
    REQUEST_BODY_MAX = 256 << 10,
    RESPONSE_HEADERS_MAX = 8,
    PROTOCOL_ERROR_MAX = SOURCE_ERROR_MAX,
};

/* A complete HTTP request. All lives until the call that it is given to returns. */
struct replay_request {
    const char *method;                 /* "GET" */
    const char *path;                   /* without arguments: "/api/v3/klines" */
    const char *args[REQUEST_ARGS_MAX]; /* decoded: "name=value" */
    int n_args;
    const char
        *headers[REQUEST_HEADERS_MAX]; /* values, in the order of protocol_ops.headers; NULL: not sent */
    const char *body;                  /* "" when there is none; ends with a zero byte */
    size_t body_len;
};

/* The value of an argument; NULL: not sent. */
const char *replay_request_arg(const struct replay_request *request, const char *name);

/* A response: the body starts empty, the status is 200, the type JSON. */
struct response {
    int status;
    const char *type; /* Content-Type; a literal */
    struct text body;
    struct {
        const char *name; /* a literal in lower case with its colon: "retry-after:" */
        char value[64];
    } headers[RESPONSE_HEADERS_MAX];
    int n_headers;
    bool lost; /* by a fault: none of it goes out, and the connection ends */
};

/* Beyond the room a header is left out; a longer value is cut. */
void replay_response_header_int(struct response *response, const char *name, int64_t value);

struct protocol;
struct server;

struct protocol_ops {
    /* Names of request headers that it wants to see, in lower case with their colon ("content-type:"), ending
     * with NULL. */
    const char *const *headers;

    /* Has the venue all of these faults? 0, or -EINVAL with "what: where: what would be right"; NULL: it has
     * any. */
    int (*check_faults)(const struct faults *faults, char error[static PROTOCOL_ERROR_MAX]);

    /* Market time at the position. */
    int64_t (*now_ns)(const struct protocol *protocol);

    /* One REST request. */
    void (*answer)(struct protocol *protocol, const struct replay_request *request,
                   struct response *response);

    /* A client requests a websocket: true opens it; else the response is sent instead. */
    bool (*admit)(struct protocol *protocol, const struct replay_request *request, struct response *response);

    /* It is open; client->state is the protocol's to set and, in `leave`, to free. May close it at once with
     * replay_client_close(); `leave` follows in any case. */
    void (*enter)(struct protocol *protocol, struct client *client, const struct replay_request *request);
    void (*leave)(struct protocol *protocol, struct client *client);

    /* A whole message from the client, followed by a zero byte after its `len`. */
    void (*receive)(struct protocol *protocol, struct client *client, const char *data, size_t len,
                    bool binary);
    /* At full speed with several clients: when this number changes, all of them have read what was sent
     * before the position moves on; NULL: they are apart by up to their windows. */
    int64_t (*stage)(struct protocol *protocol);
    /* The client sent a ping or a pong, which some venues count; NULL: they are ignored. */
    void (*heartbeat)(struct protocol *protocol, struct client *client);

    /* Called several times a second of wall time, for what ends by itself; NULL: nothing does. */
    void (*beat)(struct protocol *protocol);

    void (*destroy)(struct protocol *protocol); /* the source with it */
};

/* First member of each venue's own. */
struct protocol {
    const struct protocol_ops *ops;
    struct replay_source *source; /* what is played: due, step; its tape and book may be missing */
    struct server *server;        /* set before any call above */
};

/* A venue that can be played. */
struct protocol_row {
    const char *name; /* of --venue */
    /* Names of options of its own ("plan"), which may be given more than once; ends with NULL. */
    const char *const *options;
    bool trades; /* the line that is printed also has data_url and trading_url */
    /* Checks the options before anything is made. 0, or -EINVAL with "what: where: what would be right". */
    int (*check)(const struct options *options, char error[static PROTOCOL_ERROR_MAX]);
    /* 0; or a negative errno with an error of the same form. The options outlive the protocol. */
    int (*create)(const struct options *options, struct protocol **ret,
                  char error[static PROTOCOL_ERROR_MAX]);
};

/* NULL when there is none of that name. */
const struct protocol_row *replay_protocol_find(const char *name, size_t len);

static inline void protocol_destroy(struct protocol *protocol)
{
    if (protocol)
        protocol->ops->destroy(protocol);
}

#endif
