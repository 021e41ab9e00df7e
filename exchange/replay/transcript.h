/* The messages sent to each client, as a file: a line each, in order.
 *
 *   3 open /stream?streams=btcusdt@trade     a websocket; its number from 1 on
 *   3 text {"stream":"btcusdt@trade",...}    a text message to it
 *   3 binary 91a3...                         a binary one, in hexadecimal digits
 *   3 end                                    it is gone
 *   0 rest GET /api/v3/time? 200 {...}       a request, its status and the body; a refused websocket too
 *
 * Messages are listed when they were queued, so that a client may have received fewer at its end. */
#ifndef EXCHANGE_REPLAY_TRANSCRIPT_H
#define EXCHANGE_REPLAY_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "exchange/replay/protocol.h"

struct transcript {
    FILE *file; /* NULL: nothing is written */
    uint64_t clients;
};

/* 0 or -errno. */
int replay_transcript_open(struct transcript *transcript, const char *path);
/* False when not all could be written. */
bool replay_transcript_close(struct transcript *transcript);

/* The number of a client that opened. */
uint64_t replay_transcript_enter(struct transcript *transcript, const struct replay_request *request);
void replay_transcript_message(struct transcript *transcript, uint64_t client, bool binary,
                               const unsigned char *data, size_t len);
void replay_transcript_leave(struct transcript *transcript, uint64_t client);
void replay_transcript_rest(struct transcript *transcript, const struct replay_request *request,
                            const struct response *response);

#endif
