/* What all connections of a program share: one libwebsockets context, one curl multi handle and one set of
 * trusted certificates, on the program's libuv loop. Single-threaded: everything in exchange/net is called
 * from the loop's thread, and every callback comes from it. libwebsockets makes the process ignore SIGPIPE.
 */
#ifndef EXCHANGE_NET_CONTEXT_H
#define EXCHANGE_NET_CONTEXT_H

#include <stdbool.h>
#include <uv.h>

enum { NET_ERROR_MAX = 256 };

struct net_context;

/* A header of a request. The sender keeps a copy, and wipes it. */
struct net_header {
    const char *name, *value; /* "Content-Type", "application/msgpack"; no line ends */
};

struct net_config {
    uv_loop_t *loop;
    const char *ca_file;    /* PEM; trusted alone. NULL: the system's certificates */
    const char *user_agent; /* NULL: "papertape/VERSION" */
    int ping_s, hangup_s;   /* silence before a websocket is pinged, and given up; 0: 15 and 30 */
};

/* Is it a file of certificates in PEM form? 0; -ENOMEM; -errno with one line: what is wrong and what would be
 * right. */
int net_ca_check(const char *ca_file, char error[static NET_ERROR_MAX]);

/* Certificates to trust, as a file has them at this moment. Read on any thread, so that the loop reads none.
 */
struct net_trust;
/* `ca_file` NULL: the system's. 0; errors as above. */
int net_trust_read(const char *ca_file, struct net_trust **ret, char error[static NET_ERROR_MAX]);
void net_trust_destroy(struct net_trust *trust); /* NULL is fine */
/* New connections are checked by these from now on; takes them. Returns whether they are others than before.
 */
bool net_context_trust(struct net_context *net, struct net_trust *trust);

/* 0 and the context in *ret, or -errno with one line in `error`: -ENOENT or -EINVAL for the ca_file, -ELIBACC
 * when libwebsockets has no libuv plug-in (package libwebsockets-evlib-uv), -ENOMEM. */
int net_context_create(const struct net_config *config, struct net_context **ret,
                       char error[static NET_ERROR_MAX]);

/* Ends everything that still runs, without further callbacks to it, and frees the context. Needs some turns
 * of the loop; then `done` (may be NULL) is called from the loop and the context is gone. To be called
 * once; websockets and calls should be destroyed before. The loop can be closed once it has run out. */
void net_context_stop(struct net_context *net, void (*done)(void *user), void *user);

uv_loop_t *net_context_loop(const struct net_context *net);

#endif
