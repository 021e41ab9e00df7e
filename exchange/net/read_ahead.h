/* What OpenSSL read of a socket beyond the record that was asked for, with one system call instead of two for
 * each record: no poll notices it, so it is handed to libwebsockets before the loop polls again. */
#ifndef EXCHANGE_NET_READ_AHEAD_H
#define EXCHANGE_NET_READ_AHEAD_H

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>

struct net_context;

struct net_reader {
    struct lws **wsi;  /* the connection; NULL: no more */
    bool held;         /* by flow control: nothing is to be handed on */
    uint64_t received; /* pieces, counted by the owner */
    struct net_reader *next, **here;
};

/* Of a connection that is established and whose wsi the owner keeps at `wsi`: all that is read later is read
 * ahead. The owner keeps the reader until net_reader_stop(). */
void net_reader_start(struct net_context *net, struct net_reader *reader, struct lws **wsi);
/* From any callback, its own too. More than once, or without a start: nothing. */
void net_reader_stop(struct net_reader *reader);

/* For the context: the handles count among its own. */
void net_read_ahead_init(struct net_context *net);
void net_read_ahead_finish(struct net_context *net);

#endif
