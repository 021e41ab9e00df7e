#include "exchange/net/control_places.h"

const struct control_limits control_limits_default = {
    .clients = CONTROL_CLIENTS_MAX,
    .reserves = CONTROL_RESERVES,
    .first_line_ns = INT64_C(100000000),
    .idle_ns = INT64_C(600000000000),
    .reserve_idle_ns = INT64_C(5000000000),
    .unread_shared = 64 << 20,
};

#define ANY CONTROL_FREE /* of both kinds */

static bool is(const struct control_place *place, enum control_kind kind)
{
    return place->kind != CONTROL_FREE && (kind == ANY || place->kind == kind);
}

static unsigned count(const struct control_places *places, enum control_kind kind)
{
    unsigned n = 0;
    for (unsigned i = 0; i < places->limits.clients; i++)
        n += is(&places->place[i], kind);
    return n;
}

static unsigned count_of(const struct control_places *places, enum control_kind kind, uid_t uid)
{
    unsigned n = 0;
    for (unsigned i = 0; i < places->limits.clients; i++)
        n += is(&places->place[i], kind) && places->place[i].uid == uid;
    return n;
}

/* The user with most connections of a kind; `own` where no other has more. */
static uid_t greediest(const struct control_places *places, enum control_kind kind, uid_t own)
{
    uid_t found = own;
    unsigned most = count_of(places, kind, own);
    for (unsigned i = 0; i < places->limits.clients; i++) {
        const struct control_place *place = &places->place[i];
        unsigned n = is(place, kind) ? count_of(places, kind, place->uid) : 0;
        if (n > most) {
            most = n;
            found = place->uid;
        }
    }
    return found;
}

static int64_t idle_ns(const struct control_place *place, int64_t now_ns)
{
    return now_ns - place->active_ns + (place->spoke ? 0 : CONTROL_SILENT_NS);
}

/* The place of a user that has been idle for longest, the busy ones after all others. -1: the user has
 * none. */
static int longest_idle(const struct control_places *places, enum control_kind kind, uid_t uid, uint64_t busy,
                        int64_t now_ns)
{
    int found = -1;
    for (unsigned i = 0; i < places->limits.clients; i++) {
        const struct control_place *place = &places->place[i];
        if (!is(place, kind) || place->uid != uid)
            continue;
        bool is_busy = busy >> i & 1, found_busy = found >= 0 && (busy >> found & 1);
        if (found < 0 || (found_busy && !is_busy) ||
            (found_busy == is_busy && idle_ns(place, now_ns) > idle_ns(&places->place[found], now_ns)))
            found = (int)i;
    }
    return found;
}

static int free_place(const struct control_places *places)
{
    for (unsigned i = 0; i < places->limits.clients; i++)
        if (places->place[i].kind == CONTROL_FREE)
            return (int)i;
    return -1;
}

void control_places_admit(const struct control_places *places, uid_t uid, uint64_t busy, int64_t now_ns,
                          struct control_admission *ret)
{
    const struct control_limits *limits = &places->limits;
    int place = free_place(places);
    if (place >= 0 && count(places, CONTROL_ORDINARY) < limits->clients - limits->reserves) {
        *ret = (struct control_admission){place, false, CONTROL_ORDINARY};
        return;
    }
    uid_t most = greediest(places, CONTROL_ORDINARY, uid);
    if (count_of(places, CONTROL_ORDINARY, most) > count_of(places, CONTROL_ORDINARY, uid) + 1) {
        place = longest_idle(places, CONTROL_ORDINARY, most, busy, now_ns);
        *ret = (struct control_admission){place, true, CONTROL_ORDINARY};
        return;
    }
    if (place >= 0) {
        *ret = (struct control_admission){place, false, CONTROL_RESERVE};
        return;
    }
    place = longest_idle(places, ANY, greediest(places, ANY, uid), busy, now_ns);
    *ret = (struct control_admission){place, true, places->place[place].kind};
}

void control_places_take(struct control_places *places, const struct control_admission *admission, uid_t uid,
                         int64_t now_ns)
{
    places->place[admission->place] =
        (struct control_place){.kind = admission->kind, .uid = uid, .since_ns = now_ns, .active_ns = now_ns};
}

void control_places_leave(struct control_places *places, int place)
{
    places->place[place] = (struct control_place){.kind = CONTROL_FREE};
}

bool control_places_promote(struct control_places *places)
{
    struct control_place *oldest = NULL;
    if (count(places, CONTROL_ORDINARY) >= places->limits.clients - places->limits.reserves)
        return false;
    for (unsigned i = 0; i < places->limits.clients; i++) {
        struct control_place *place = &places->place[i];
        if (place->kind == CONTROL_RESERVE && place->spoke && (!oldest || place->since_ns < oldest->since_ns))
            oldest = place;
    }
    if (oldest)
        oldest->kind = CONTROL_ORDINARY;
    return oldest;
}

int control_places_silent(const struct control_places *places, uid_t uid, uint64_t busy)
{
    int found = -1;
    for (unsigned i = 0; i < places->limits.clients; i++) {
        const struct control_place *place = &places->place[i];
        if (is(place, CONTROL_ORDINARY) && place->uid == uid && !place->spoke && !(busy >> i & 1) &&
            (found < 0 || place->since_ns < places->place[found].since_ns))
            found = (int)i;
    }
    return found;
}

static int64_t idle_end_ns(const struct control_places *places, const struct control_place *place)
{
    const struct control_limits *limits = &places->limits;
    if (place->kind == CONTROL_RESERVE && !place->spoke)
        return place->since_ns + limits->first_line_ns;
    return place->active_ns + (place->kind == CONTROL_RESERVE ? limits->reserve_idle_ns : limits->idle_ns);
}

enum control_overdue control_place_overdue(const struct control_places *places, int index, bool busy,
                                           int64_t now_ns)
{
    const struct control_place *place = &places->place[index];
    if (place->kind == CONTROL_FREE || busy || now_ns < idle_end_ns(places, place))
        return CONTROL_IN_TIME;
    return place->kind == CONTROL_RESERVE && !place->spoke ? CONTROL_NO_FIRST_LINE : CONTROL_IDLE;
}

int64_t control_places_next_ns(const struct control_places *places)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < places->limits.clients; i++) {
        const struct control_place *place = &places->place[i];
        if (place->kind != CONTROL_FREE && idle_end_ns(places, place) < next)
            next = idle_end_ns(places, place);
    }
    return next;
}
