#include "trainer/env/session.h"

#include <errno.h>
#include <stdio.h>

#include "exchange/fail.h"
#include "exchange/zone.h"

enum { DAY_S = 86400, NS_PER_S = 1000000000 };

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
        int64_t next = zone_session(zone, params->session_close_s, open + interval_ns);
        next = next > session ? next : session; /* a clock set back does not reopen a session */
        bool before = session != INT64_MIN && next != session; /* the row before ends its session */
        session = next;
        if (row < rows)
            ret[row] = 0;
        if (before && row >= 1 && row - 1 < rows)
            ret[row - 1] |= ENV_ROW_ENDS;
        if (before && row >= 2)
            ret[row - 2] |= ENV_ROW_LEAVES;
    }
    zone_close(zone);
    return 0;
}
