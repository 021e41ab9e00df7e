/* A training's events.jsonl: its workers' events, a line each, numbered across all of its processes. Old
 * lines are thinned; the file is replaced whole or not at all, and a last line that a killed writer tore is
 * removed when it is opened. */
#ifndef TRAINER_SERVE_EVENTS_H
#define TRAINER_SERVE_EVENTS_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EVENTS_NEWEST = 4096,           /* of those that may be thinned, how many never are */
    EVENTS_MOST = 2 * EVENTS_NEWEST /* of those: with one more they are thinned */
};

struct event_entry {
    int64_t seq, at; /* its number; the offset of its line */
    bool lasting;    /* never thinned */
};

/* A zeroed one is closed. */
struct events {
    char path[PATH_MAX];
    int fd;
    bool open;
    int64_t size, last; /* bytes; the newest number, 0 for none */
    struct event_entry *entries;
    size_t n, cap, thinnable;
};

/* Opens or creates it, removes a torn last line. Where its first line is older than `created_ns` the file
 * belongs to an earlier training of the name, and is emptied. Numbers continue after the newest in it, or
 * after `seq` where that is more. 0 or -errno. */
int serve_events_open(struct events *events, const char *path, int64_t created_ns, int64_t seq);
void serve_events_close(struct events *events); /* fine on a zeroed one */

/* Adds it with the next number and the time, and thins. 0 or -errno: it is not in the file then, and its
 * number is the next one's. */
int serve_events_add(struct events *events, json_t *event, int64_t ts_ns);

/* Those after the number `after`, oldest first, at most `limit` of them and about `bytes_max` of text, as a
 * new array. 0 or -errno. */
int serve_events_read(const struct events *events, int64_t after, size_t limit, size_t bytes_max,
                      json_t **ret);

/* Decides which stay: all lasting ones, the newest `newest` others, and of the others before those every
 * second one, beginning with the first. Writes ret_keep[n], returns how many are removed. */
size_t serve_events_thin(const struct event_entry *entries, size_t n, size_t newest, bool *ret_keep);

#endif
