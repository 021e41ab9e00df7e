/* Events as the journal keeps them: bytes that mean the same for ever. The layout is stateless: a record is
 * read without those before it. */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include "engine/codec.h"
#include "engine/event.h"

enum { EVENT_RECORD_VERSION = 1 };

/* Replaces the codec's bytes by the event's (seq and recv_ns are the journal's). 0 or -ENOMEM. */
int event_encode(const struct event *event, struct codec *codec);

/* The levels, bars and texts that a decoded event points to; reused from event to event. */
struct event_memory {
    struct book_level *levels;
    struct bar *bars;
    char *text;
    size_t cap_levels, cap_bars, cap_text;
};
void event_memory_finish(struct event_memory *memory);

/* 0; -EBADMSG for bytes that are no event, or one that names symbols or kinds beyond all bounds; -ENOTSUP for
 * a newer layout or a strategy that this program does not have; -ENOMEM. ret->seq and recv_ns are the
 * caller's to set. */
int event_decode(const void *bytes, size_t len, struct event_memory *memory, struct event *ret);

#endif
