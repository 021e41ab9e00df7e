/* One websocket client: its queue of messages and its pace. */
#ifndef EXCHANGE_REPLAY_CLIENT_H
#define EXCHANGE_REPLAY_CLIENT_H

#include <libwebsockets.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/text.h"

enum {
    CLIENT_REQUEST_MAX = 256 << 10, /* bytes of one message that it sends */
    CLIENT_WINDOW = 64,             /* messages between two pings at full speed */
    CLIENT_WINDOWS_AHEAD = 2,
    CLIENT_QUEUE_MAX = 64 << 20, /* bytes; a slower client is closed */
};

/* A message that several clients may share. */
struct message {
    unsigned refs;
    enum lws_write_protocol protocol;
    size_t len;
    unsigned char space[]; /* LWS_PRE bytes of headroom, then the text */
};

/* A message with one reference and room for len bytes; NULL when memory is out. */
struct message *replay_message_new(enum lws_write_protocol protocol, size_t len);
static inline unsigned char *message_text(struct message *message)
{
    return message->space + LWS_PRE;
}
void replay_message_unref(struct message *message);

struct server;

struct client {
    struct server *server;
    struct lws *wsi;
    struct client *next;
    SSL *ssl;        /* the connection's, owned by lws; its writes are gathered: see replay_client_turn() */
    bool paced;      /* pings count the windows of full speed */
    bool listening;  /* it has subscriptions: set by the protocol, which then recounts */
    void *state;     /* the protocol's own */
    uint64_t number; /* in the transcript */

    struct message **queue; /* ring */
    size_t head, n_queued, cap_queue, queued_bytes;
    bool writable_asked;

    uint64_t sent;                       /* data messages put into the queue */
    uint64_t asked;                      /* of them, before the last ping that counts */
    uint64_t ping_seq, pong_seq;         /* of windows: the last asked, the last answered */
    uint64_t last_ping_ns, last_pong_ns; /* wall clock */

    struct text received;
    bool received_binary;

    struct message *held;  /* fault reorder: goes out after the next one */
    struct message *piece; /* being sent in fragments, from piece_at on */
    size_t piece_at;
    int64_t allowance; /* fault slow: bytes that it may get now */

    int end_code; /* not 0: close when what is queued has gone out */
    const char *end_reason;
    bool frozen;    /* fault freeze: it is neither read from nor written to */
    bool cut;       /* fault half-frame: the message that was started is the last, and is not ended */
    int close_code; /* not 0: close at the next chance */
    const char *close_reason;
    bool close_asked;
};

/* 0 or -ENOMEM. */
int replay_client_init(struct client *client, struct server *server, struct lws *wsi);
void replay_client_finish(struct client *client);

/* Queues a message (takes a reference of its own). */
void replay_client_push(struct client *client, struct message *message);
/* The same for a text. */
void replay_client_say(struct client *client, const char *text, size_t len);

/* Forgets what is queued and not written yet. */
void replay_client_drop_queue(struct client *client);

/* A ping with a number as payload. */
void replay_client_ping(struct client *client, uint64_t number);

/* Closes the connection with a websocket code; what is queued is dropped. The reason is a literal. */
void replay_client_close(struct client *client, int code, const char *reason);

/* The same once all that is queued has gone out; nothing more is queued. */
void replay_client_end(struct client *client, int code, const char *reason);

/* Is the play waiting for it? */
bool replay_client_behind(const struct client *client);

/* Writes what is queued; as lws's WRITEABLE callback returns: -1 closes. */
int replay_client_write(struct client *client);

/* Fault slow: so many bytes more may go out, and no more than that. */
void replay_client_allow(struct client *client, int64_t bytes);

/* Fault deflate: a frame that is flagged as compressed goes out, out of turn. */
void replay_client_deflated(struct client *client);

/* The client closes with that reason, which is answered at once. Then the client ends TLS, as with a server
 * that is further away: clients in Python (asyncio before 3.11.5) fail with one that ends it in the same
 * moment. False when libwebsockets is to answer. */
bool replay_client_farewell(struct client *client, const void *reason, size_t len);

/* Once in every turn of the loop, outside of lws's callbacks: hands gathered bytes to the socket, and begins
 * the close that was asked for (which may free the client). */
void replay_client_turn(struct client *client);

#endif
