#include "trainer/env/session.h"

#include <errno.h>
#include <stdio.h>

#include "exchange/fail.h"
#include "exchange/zone.h"

enum { DAY_S = 86400, NS_PER_S = 1000000000 };

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The session of an instant, counted in days: an end belongs to the session that it ends. */
static int64_t session_of(const struct env_params *params, const struct zone *zone, int64_t ns)
{
    int64_t s = floor_divide(ns - 1, NS_PER_S); /* the last second that began before it */
    return floor_divide(s + zone_offset(zone, s) - params->session_close_s, DAY_S);
}

int env_session(const struct env_params *params, const int64_t *open_ns, int64_t start_ns,
                int64_t interval_ns, size_t rows, uint8_t *ret, char err[static ENV_ERROR_MAX])
{
    char why[ZONE_ERROR_MAX];
    struct zone *zone;
    if (interval_ns >= DAY_S * (int64_t)NS_PER_S)
        return fail_with(-EINVAL, err, ENV_ERROR_MAX,
                         "task day-trade: bars of a day or more: shorter ones, many in a session");
    int r = zone_open(params->session_zone, &zone, why);
    if (r < 0) {
        snprintf(err, ENV_ERROR_MAX, "session_zone: %s", why);
        return r == -ENOMEM ? r : -EINVAL;
    }
    int64_t session = INT64_MIN;
    for (size_t row = 0; row <= rows + 1; row++) {
        int64_t open = !open_ns     ? start_ns + (int64_t)row * interval_ns
                       : row < rows ? open_ns[row]
                                    : open_ns[rows - 1] + (int64_t)(row - rows + 1) * interval_ns;
        int64_t next = session_of(params, zone, open + interval_ns);
        next = next > session ? next : session; /* a clock set back does not reopen a session */
        bool before = session != INT64_MIN && next != session; /* the row before ends its session */
        session = next;
        if (row < rows)
            ret[row] = 0;
        if (before && row >= 1 && row - 1 < rows)
            ret[row - 1] |= ENV_SESSION_ENDS;
        if (before && row >= 2)
            ret[row - 2] |= ENV_SESSION_LAST_ORDER;
    }
    zone_close(zone);
    return 0;
}
