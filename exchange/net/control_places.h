/* Who has the connections of a control socket: the ordinary ones, a few reserves for the commands that must
 * always get through, and a fair share for each user. Pure: time is passed in, ns of any clock. */
#ifndef EXCHANGE_NET_CONTROL_PLACES_H
#define EXCHANGE_NET_CONTROL_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CONTROL_CLIENTS_MAX = 64, CONTROL_RESERVES = 8 };

/* A client that has not sent a line yet counts as idle for so much longer, when one has to be closed: many
 * clients that only connect displace each other before they displace those with requests. */
#define CONTROL_SILENT_NS INT64_C(10000000000)

struct control_limits {
    unsigned clients, reserves; /* the reserves are among the clients; clients at most CONTROL_CLIENTS_MAX */
    int64_t first_line_ns;      /* within which a reserve's first line must have come */
    int64_t idle_ns;         /* the longest without a request or an answer read; not while one is awaited */
    int64_t reserve_idle_ns; /* the same of a reserve */
    size_t unread_shared;    /* bytes of shared answers, all different ones together, that wait for readers */
};
extern const struct control_limits control_limits_default; /* 64, 8, 100 ms, 10 min, 5 s, 64 MiB */

enum control_kind { CONTROL_FREE, CONTROL_ORDINARY, CONTROL_RESERVE };

struct control_place {
    enum control_kind kind;
    uid_t uid;
    int64_t since_ns;  /* connected */
    int64_t active_ns; /* its last request, or the last that it read of an answer */
    bool spoke;        /* a whole line of it has come */
};

struct control_places {
    struct control_limits limits;
    struct control_place place[CONTROL_CLIENTS_MAX];
};

struct control_admission {
    int place;              /* for the newcomer */
    bool displaces;         /* its present client has to be closed first */
    enum control_kind kind; /* of the newcomer */
};

/* Where a newcomer goes; changes nothing. There is always a place:
 *  - an ordinary one that is free;
 *  - else, where another user holds two more of the ordinary ones than the newcomer's, that of the longest
 *    idle of the user with most;
 *  - else a reserve that is free;
 *  - else the place of the longest idle of the user who holds most, the newcomer's own where they hold as
 *    many. `busy`: places with a request that is unread, or whose answer is awaited and is read: they go
 *    last. */
void control_places_admit(const struct control_places *places, uid_t uid, uint64_t busy, int64_t now_ns,
                          struct control_admission *ret);

void control_places_take(struct control_places *places, const struct control_admission *admission, uid_t uid,
                         int64_t now_ns);
void control_places_leave(struct control_places *places, int place);

/* Gives the oldest reserve that has spoken an ordinary place. False: no place is free, or no reserve has
 * spoken. */
bool control_places_promote(struct control_places *places);

/* The ordinary place of that user without a request for longest since it connected, that is not busy; -1:
 * there is none. */
int control_places_silent(const struct control_places *places, uid_t uid, uint64_t busy);

enum control_overdue { CONTROL_IN_TIME, CONTROL_NO_FIRST_LINE, CONTROL_IDLE };

/* Must it be closed? Not if `busy` has its bit: for a reserve that has not spoken, that its first line is
 * whole. */
enum control_overdue control_place_overdue(const struct control_places *places, int place, bool busy,
                                           int64_t now_ns);

/* When the first of them may be overdue; INT64_MAX: never. */
int64_t control_places_next_ns(const struct control_places *places);

#endif
