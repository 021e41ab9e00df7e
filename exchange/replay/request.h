/* HTTP as libwebsockets has it: requests read off a connection, responses written to it. */
#ifndef EXCHANGE_REPLAY_REQUEST_H
#define EXCHANGE_REPLAY_REQUEST_H

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>

#include "exchange/replay/protocol.h"

enum { REQUEST_HEAD_MAX = 65000 }; /* bytes of a request's head: a URL of 1024 streams */

/* A request and the memory that its texts point into. */
struct request_copy {
    struct replay_request request;
    struct text body; /* grows while it arrives */
    char *space;
};

/* Copies the request at the connection now: libwebsockets drops it after the callback. NULL when memory is
 * out. */
struct request_copy *replay_request_read(struct lws *wsi, const char *const *headers);
void replay_request_free(struct request_copy *copy); /* NULL is fine */

/* More of the body; false when it is too long or memory is out. */
bool replay_request_append(struct request_copy *copy, const char *data, size_t len);

/* How many bytes of body follow the head. */
size_t replay_request_body_expected(struct lws *wsi);

void replay_response_init(struct response *response);
void replay_response_clear(struct response *response); /* keeps the memory */
void replay_response_finish(struct response *response);

/* Writes the head; false when it cannot be. The body goes by replay_response_write_some(). */
bool replay_response_write_head(const struct response *response, struct lws *wsi);
/* Writes some of the body from *sent on, at most `most` bytes. 0: some is left; 1: the response is over, and
 * what belongs to its session may be gone; -1: the connection is to be closed. */
int replay_response_write_some(const struct response *response, struct lws *wsi, size_t *sent, size_t most);

/* All at once, of a connection that is closed then: for upgrades that are refused. */
void replay_response_refuse(const struct response *response, struct lws *wsi);

#endif
