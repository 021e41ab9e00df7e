/* Shared by the files of exchange/net only. */
#ifndef EXCHANGE_NET_INTERNAL_H
#define EXCHANGE_NET_INTERNAL_H

#include <curl/curl.h>
#include <libwebsockets.h>
#include <stdbool.h>
#include <uv.h>

#include "exchange/net/context.h"

struct net_context {
    uv_loop_t *loop;
    void *lws_loops[1]; /* libwebsockets' list of foreign loops */
    struct lws_context *lws;
    SSL_CTX *tls;
    lws_retry_bo_t liveness; /* ping and hang-up of websockets */
    CURLM *multi;
    uv_timer_t http_timer;
    struct net_trust *trust; /* that `tls` has */
    struct net_reader *readers;
    uv_prepare_t before_poll;
    uv_idle_t no_wait;
    char *user_agent;

    uv_idle_t stopping; /* runs once a turn while the context stops */
    bool lws_ending;
    int handles; /* of ours, still to be closed */
    void (*stopped)(void *user);
    void *stopped_user;
};

/* context.c: to a connection's TLS context. */
void net_context_give_trust(const struct net_context *net, SSL_CTX *tls);

/* http.c */
/* 0; -ENOMEM, -EINVAL, -ELIBACC with one line in `error`. */
int http_init(struct net_context *net, char error[static NET_ERROR_MAX]);
void http_finish(struct net_context *net);

/* websocket.c */
extern const struct lws_protocols websocket_protocols[];

#endif
