/* The internals of a control socket, shared by its files: control.c listens and decides whose turn it is,
 * control_shared.c has the answer that many clients read, control_connection.c moves the bytes of one
 * client, control_answer.c passes a line to the handler and its answer to the client. */
#ifndef EXCHANGE_NET_CONTROL_INTERNAL_H
#define EXCHANGE_NET_CONTROL_INTERNAL_H

#include <sys/un.h>

#include "exchange/net/control.h"
#include "exchange/net/control_turn.h"

enum {
    CONTROL_OUTPUT_MAX = 256 * 1024,  /* bytes of answers that a client has not read: more, and it waits */
    CONTROL_UNREAD_ANSWER_MAX = 4096, /* an answer above this is an error while so much is unread */
    CONTROL_ACCEPTS = 32,             /* newcomers a turn … */
    CONTROL_ACCEPTS_PAUSE_MS = 5,     /* … and so rarely while all connections are taken */
    CONTROL_ACCEPT_FAILED_PAUSE_MS = 100,
    CONTROL_PAUSE_TURNS = 3,    /* between two turns the loop gets so many times what the former took, … */
    CONTROL_PAUSE_MAX_MS = 100, /* … but no longer */
    CONTROL_CLOSE_MS = 1000,    /* what is unread then is not waited for */
    CONTROL_SHARED_PAUSE = 10,  /* a shared answer is built again after so many times what it took … */
    CONTROL_SHARED_PAUSE_MIN_NS = 20000000, /* … or this */
    CONTROL_URGENT_LINE_MAX = 4096,         /* an urgent command's line is not longer */
};

struct control_text {
    unsigned refs;
    bool shared; /* of control_share() */
    size_t len;
    char bytes[];
};

struct control_output {
    struct control_output *next;
    struct control_text *text;
};

struct control_connection {
    uv_poll_t poll;
    struct control *control; /* NULL once it closes */
    int place, fd;
    int events; /* that are watched */
    struct control_peer peer;
    struct control_call *calls; /* unanswered */
    size_t n_calls;
    size_t n_shared; /* unread answers that are the shared text */
    char *line;      /* [CONTROL_LINE_MAX]: bytes from `at` on are not parsed yet */
    size_t at, len;
    struct control_output *output, **output_end;
    size_t output_at, output_bytes; /* sent of the first; of all, with what they cost */
    bool readable, writable;        /* as the kernel said last */
    bool skipping;                  /* the rest of a line that is too long */
    bool ended;                     /* it sends no more; what it asked is still answered … */
    bool gone;                      /* … unless it reads no more either */
    bool paused;                    /* too much is unread: nothing is taken from it */
};

struct control_call {
    struct control_connection *connection; /* NULL when it left */
    struct control_call *next;
    bool shared; /* waits for the shared text */
    json_t *id;
};

struct control {
    struct control_groups groups; /* that are admitted */
    uv_loop_t *loop;
    int fd;
    uv_poll_t listener;
    uv_timer_t turn, deadline;
    unsigned open_handles; /* of the three */
    struct control_options options;
    struct control_places places;
    struct control_connection *connections[CONTROL_CLIENTS_MAX];
    size_t n_connections;
    uint64_t ready; /* has something to do: a bit a place */
    unsigned served_last, urgent_last;
    struct control_view seen; /* what is counted */
    uint64_t accept_from_ms;
    int64_t turn_from_ns, shared_from_ns; /* the next turn, and shared text, not before */
    bool in_turn, knock;                  /* knock: a client waits to be accepted */
    bool closing;
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    dev_t dev; /* of the socket's file */
    ino_t ino;
};

int64_t control_now_ns(void);

/* ---- control.c ---- */

/* It has something to do: a turn comes. */
void control_wake(struct control_connection *connection);

/* A reserve connection sends a command that only ordinary ones may: it becomes one where another of its
 * user has sent no request since it connected, which is closed. */
bool control_make_ordinary(struct control_connection *connection);

/* A connection was closed: if it was the last one of a socket that closes, frees that. */
void control_end_if_closed(struct control *control);

/* ---- control_connection.c ---- */

/* Of an accepted socket, taken over, non-blocking. NULL: it is closed, for want of memory. */
struct control_connection *control_connection_create(struct control *control, int place, int fd,
                                                     const struct control_peer *peer);

/* Drops what is unread, and what is unanswered; the memory goes with the loop's next turn. */
void control_connection_close(struct control_connection *connection);

/* Puts a line that is no request's answer and closes: {"id":null,"ok":false,"error":{…}}. What the client
 * does not take at once is lost. */
void control_connection_refuse(struct control_connection *connection, const char *code, const char *message);

/* Adds to what is to be sent; `text` is borrowed. Closes without memory. */
void control_connection_put(struct control_connection *connection, struct control_text *text);

/* Sends what the client accepts, once. */
void control_connection_flush(struct control_connection *connection);

enum control_step control_connection_step(struct control_connection *connection);

/* After its part of a turn: sends, watches for what comes next, closes one that has ended. */
void control_connection_leave(struct control_connection *connection);

/* Carries out its next request where that is urgent: true. Reads once where it has no whole line. */
bool control_connection_urgent(struct control_connection *connection);

/* Has its first line come as a whole, whatever follows? Reads once; it may be closed then. */
bool control_connection_has_line(struct control_connection *connection);

/* Does it have a request that was not taken, or an answer that it waits for, and does it read? */
bool control_connection_busy(const struct control_connection *connection);

/* ---- control_answer.c ---- */

struct control_text *control_text_of(const char *bytes, size_t len); /* NULL without memory */

/* One line, without its end: takes it to the handler. */
void control_line(struct control_connection *connection, const char *line, size_t len);

/* Is the line an urgent command: one that reserve connections answer, and that has no shared text? */
bool control_line_urgent(const struct control *control, const char *line, size_t len);

/* Answers all of a client's requests that wait for the shared text; NULL: without memory. */
void control_answer_shared(struct control_connection *connection, struct control_text *text);

void control_call_free(struct control_call *call);

/* {"id":null,"ok":false,"error":{"code":…,"message":…}} and the line's end; NULL without memory. */
struct control_text *control_refusal(const char *code, const char *message);

/* ---- control_shared.c ---- */

/* Does a client wait for the shared text that would take it? */
bool control_shared_awaited(const struct control *control);

/* Builds it where it is awaited and its time has come, and gives it to all clients that wait. */
void control_shared_run(struct control *control);

#endif
