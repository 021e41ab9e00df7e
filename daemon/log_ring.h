/* A queue of the log's entries on their way to the journal: bounded, without a lock, from any number of
 * threads to one (D. Vyukov's bounded queue). What is in it is what goes out, byte for byte, so that a signal
 * handler may read it too. */
#ifndef DAEMON_LOG_RING_H
#define DAEMON_LOG_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    LOG_RING_SLOTS = 512, /* a power of two */
    LOG_ENTRY_MAX = 3072, /* bytes of an entry: a line of the log and its fields */
};

struct log_slot {
    _Atomic size_t turn; /* number: free for the entry of that number; number + 1: it is there */
    size_t len;
    char bytes[LOG_ENTRY_MAX];
};

struct log_ring {
    _Atomic size_t tail; /* number of the next entry, and … */
    _Atomic size_t head; /* … of the oldest one */
    struct log_slot slots[LOG_RING_SLOTS];
};

void daemon_log_ring_init(struct log_ring *ring);

/* Any thread: a slot to write an entry into, then it is published; NULL when all are in use. Never waits. */
struct log_slot *daemon_log_ring_claim(struct log_ring *ring);
void daemon_log_ring_publish(struct log_slot *slot, size_t len);

/* One thread: the oldest entry, which stays until it is dropped; NULL without one. */
struct log_slot *daemon_log_ring_oldest(struct log_ring *ring);
void daemon_log_ring_drop(struct log_ring *ring);

/* In use now; of another thread than those two a moment's figure. */
size_t daemon_log_ring_used(const struct log_ring *ring);

/* Calls see() for each whole entry, the oldest first, and removes none. May be called in a signal handler. */
void daemon_log_ring_each(struct log_ring *ring, void (*see)(const char *bytes, size_t len));

#endif
