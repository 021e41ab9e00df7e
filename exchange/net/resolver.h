/* Resolves names to addresses without stopping the loop: getaddrinfo() on libuv's thread pool. */
#ifndef EXCHANGE_NET_RESOLVER_H
#define EXCHANGE_NET_RESOLVER_H

#include <uv.h>

enum {
    RESOLVER_ADDRESSES_MAX = 8,
    RESOLVER_ADDRESS_MAX = 46, /* an IPv6 address as text, with the NUL */
};

struct resolver_result {
    int error; /* 0, or a libuv error (UV_EAI_…): see uv_strerror() */
    int n;     /* addresses, in the system's order of preference; >= 1 when error is 0 */
    char addresses[RESOLVER_ADDRESSES_MAX][RESOLVER_ADDRESS_MAX];
};

typedef void resolver_done(void *user, const struct resolver_result *result);

struct resolver_query;

/* Resolves `host` (a name or a numeric address). `done` is called once from the loop, never from here. 0
 * and the query in *ret, or -errno. The query is the resolver's and is gone after `done`. */
int net_resolver_start(uv_loop_t *loop, const char *host, resolver_done *done, void *user,
                       struct resolver_query **ret);

/* Forgets the query: `done` will not be called. A look-up under way ends by itself on its thread. NULL is
 * fine. */
void net_resolver_cancel(struct resolver_query *query);

#endif
