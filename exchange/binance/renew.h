/* Replaces one connection by another without a message lost or emitted twice.
 *
 * While both are up each brings every message of every stream, in the stream's order, neither ahead for
 * sure; the new one starts somewhere in the middle. Per stream: the old one's messages are emitted to the
 * user at once. The new one's are held until the old one has brought the first of them: from there on both
 * are complete, and whichever comes first is emitted. When the old one is gone, what is still held is
 * emitted, and the new one's messages that the user got from the old one already are left out.
 *
 * Nothing is lost as long as the old one stays until it has brought all that was sent before the new one's
 * streams started: its owner sends a ping on it after the new one is subscribed, and waits for the pong. If
 * either breaks earlier the other continues alone. Pure: no socket, no clock. */
#ifndef EXCHANGE_BINANCE_RENEW_H
#define EXCHANGE_BINANCE_RENEW_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/json.h"

/* Identifies a frame within its stream, so that the same message from two connections is recognized. */

/* Ids of a stream never go down. Messages of one stream with the same id and the same hash are the same. */
struct binance_identity {
    struct json_text stream; /* in the frame's text */
    uint64_t id;   /* trade t, aggTrade a, depth and bookTicker u, else E; 0 where there is no such member */
    uint64_t hash; /* of the data where the venue says that ids are not unique; else 0 */
};

/* Reads a combined stream's frame. False for anything else: an answer, an announcement of the connection's
 * own ("!serverShutdown"), a text that is no frame. */
bool binance_identify(const char *frame, size_t len, struct binance_identity *ret);

enum {
    RENEW_HELD_MAX = 64 << 20, /* bytes of messages */
    RENEW_TIES_MAX = 32,       /* messages of a stream with one id */
    RENEW_NAME_MAX = 64,       /* bytes of a stream's name */
};

enum renew_side { RENEW_OLD, RENEW_NEW };

struct renew;

/* Gets each frame for the user; `data` lives during the call. It must not call the functions below. */
typedef void renew_emit(void *user, const char *data, size_t len);

/* For one connection that is replaced again and again. NULL without memory. */
struct renew *binance_renew_create(renew_emit *emit, void *user);
void binance_renew_destroy(struct renew *renew); /* NULL is fine */

/* Before a second connection is made: from here on the frames of both go through binance_renew_frame(). */
void binance_renew_begin(struct renew *renew);

/* A frame of one of them; the side is ignored while there is only one. 0; -ENOBUFS or -ENOMEM when it
 * cannot be held: the new one is then of no use and must be closed. */
int binance_renew_frame(struct renew *renew, enum renew_side side, const struct binance_identity *identity,
                        const char *data, size_t len);

/* One of the two is gone; the other is alone, and is the old one of the next binance_renew_begin(). */
void binance_renew_end(struct renew *renew, enum renew_side gone);

/* Forgets everything. */
void binance_renew_reset(struct renew *renew);

/* Must frames go through binance_renew_frame()? From binance_renew_begin() until one is alone and has
 * brought all that the user got from the other. */
bool binance_renew_active(const struct renew *renew);
bool binance_renew_both(const struct renew *renew);

/* Nothing is held: the old one has caught up with all that the new one brought. */
bool binance_renew_caught_up(const struct renew *renew);

/* Frames left out because the user had them already, since creation. */
uint64_t binance_renew_doubled(const struct renew *renew);

#endif
