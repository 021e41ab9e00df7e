/* The venue on loopback: websocket streams and REST on one TLS port, one loop, one owner. POST /_control with
 * the text of a fault adds it while the play runs. */
#ifndef EXCHANGE_REPLAY_SERVE_H
#define EXCHANGE_REPLAY_SERVE_H

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "exchange/replay/ca.h"
#include "exchange/replay/client.h"
#include "exchange/replay/fault_schedule.h"
#include "exchange/replay/play.h"
#include "exchange/replay/protocol.h"

struct replay_session;
struct transcript;

struct server {
    uv_loop_t *loop;
    struct protocol *protocol;
    struct play play;
    struct fault_schedule *schedule; /* POST /_control adds to it */
    struct faults *faults;           /* those of it that are in effect */
    uv_timer_t schedule_timer;       /* until it has more to do */
    bool schedule_armed;             /* that timer is set when there is more: play has started */
    struct transcript *transcript;
    bool closed_one, cut_one; /* faults close@N and half-frame have happened */
    bool frozen;              /* fault freeze is in effect */
    uint64_t answers;         /* of REST, with a body */

    struct lws_context *context;
    int port;        /* that it listens on */
    uv_timer_t beat; /* pings, pongs that stay away, silence that ends */
    uv_prepare_t turn;

    struct client *clients;
    struct replay_session *deferred; /* REST requests that wait until the play stands still */
    unsigned deferred_steps;         /* steps of the play since the first of them */
    unsigned settled_turns;          /* turns of the loop since the play stood still */
    uv_idle_t settle;
    int n_behind, n_listening; /* clients that the play waits for; that have subscriptions */
    int64_t stage;             /* of the protocol, that all clients have reached */
};

struct server_options {
    const char *host;                /* "127.0.0.1" */
    int port;                        /* 0: the system picks one */
    double speed;                    /* 0: as fast as clients read */
    bool live;                       /* the market is of now: it moves before the first client */
    struct fault_schedule *schedule; /* of faults */
    struct transcript *transcript;   /* may be one without a file */
};

/* Listens. The protocol, the certificates and the options outlive the server. 0; -EADDRINUSE and other errors
 * of the address; -EIO when libwebsockets cannot start. */
int replay_server_init(struct server *server, uv_loop_t *loop, struct protocol *protocol, const struct ca *ca,
                       const struct server_options *options);

/* Closes all and runs the loop until it has no handles left: the caller has closed its own. */
void replay_server_finish(struct server *server);

/* For protocols: client->listening has changed, of one client or of several. */
void replay_server_recount(struct server *server);

/* For protocols: one message of the play to one client, with the pace of full speed and the faults. Answers
 * to a client's messages go by replay_client_say() and replay_client_push(). */
void replay_server_send(struct client *client, struct message *message);

#endif
