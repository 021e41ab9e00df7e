#include "exchange/net/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct resolver_query {
    uv_getaddrinfo_t request;
    resolver_done *done; /* NULL once cancelled */
    void *user;
};

static void on_addresses(uv_getaddrinfo_t *request, int status, struct addrinfo *list)
{
    struct resolver_query *query = request->data;
    struct resolver_result result = {.error = status};
    for (struct addrinfo *info = list; info && result.n < RESOLVER_ADDRESSES_MAX; info = info->ai_next)
        if (uv_ip_name(info->ai_addr, result.addresses[result.n], RESOLVER_ADDRESS_MAX) == 0)
            result.n++;
    uv_freeaddrinfo(list);
    if (status == 0 && result.n == 0)
        result.error = UV_EAI_NODATA;
    if (query->done)
        query->done(query->user, &result);
    free(query);
}

int net_resolver_start(uv_loop_t *loop, const char *host, resolver_done *done, void *user,
                       struct resolver_query **ret)
{
    struct resolver_query *query = malloc(sizeof(*query));
    if (!query)
        return -ENOMEM;
    *query = (struct resolver_query){.done = done, .user = user};
    query->request.data = query;
    /* No AI_ADDRCONFIG: it does not count loopback, and a machine with loopback alone must reach it. */
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    /* localhost is loopback and must not be looked up at a server (RFC 6761, 6.3); a minimal system has no
     * hosts file. */
    const char *asked = strcasecmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    int r = uv_getaddrinfo(loop, &query->request, on_addresses, asked, NULL, &hints);
    if (r < 0) {
        free(query);
        return r;
    }
    *ret = query;
    return 0;
}

void net_resolver_cancel(struct resolver_query *query)
{
    if (!query)
        return;
    query->done = NULL;
    uv_cancel((uv_req_t *)&query->request);
}
