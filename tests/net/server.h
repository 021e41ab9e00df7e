/* A venue's front for the tests of exchange/net and exchange/binance: a TLS server on 127.0.0.1 and the
 * tester's own loop, that sends exactly the bytes of the test. Certificates are made at start. */
#ifndef TESTS_NET_SERVER_H
#define TESTS_NET_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

enum server_kind {
    SERVER_GOOD,      /* a certificate for localhost and 127.0.0.1, signed by the CA of server_ca_file() */
    SERVER_OTHER,     /* the same CA, another name */
    SERVER_NAMELESS,  /* the same CA, the host as its common name alone: no alternative names */
    SERVER_UNTRUSTED, /* an unknown CA, the right name */
    SERVER_EXPIRED,
    SERVER_MUTE, /* accepts TCP and never says a byte */
};

struct server;
struct peer;

struct server_handler {
    void (*request)(struct peer *peer, const char *head); /* a whole request: head and body */
    void (*frame)(struct peer *peer, int opcode, const char *payload, size_t len); /* after peer_upgrade() */
    void *user;
    void (*closed)(struct peer *peer); /* may be NULL */
};

struct server *server_start(uv_loop_t *loop, enum server_kind kind, const struct server_handler *handler);
unsigned server_port(const struct server *server);
unsigned server_accepted(const struct server *server); /* TCP connections so far */
void server_stop(struct server *server);               /* and all peers; needs loop turns */

/* The CA's certificate, PEM, in a file of its own, unlinked by server_forget_ca(). */
const char *server_ca_file(void);
void server_forget_ca(void);

void *peer_user(const struct peer *peer);
void peer_write(struct peer *peer, const void *data, size_t len);
void peer_print(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void peer_upgrade(struct peer *peer); /* answers 101 to the request just handed over */
void peer_frame(struct peer *peer, bool final, int opcode, const void *payload, size_t len);
void peer_text(struct peer *peer, const char *text);
void peer_close_frame(struct peer *peer, int code, const char *reason);
void peer_drop(struct peer *peer); /* after what was written: FIN without TLS's good-bye */
void peer_reset(struct peer *peer);
struct peer *server_peer(struct server *server); /* the newest one still there, or NULL */

#endif
