#include "daemon/steady.h"

enum { SLOWER_BY = 16 };

static const int64_t REPORTED_FROM_NS = 100 * 1000000LL;
static const int64_t JUMP_FROM_NS = 1000 * 1000000LL; /* the two clocks are not read at one moment */

void daemon_steady_begin(struct steady *steady, int64_t last_ns, int64_t boot_ns)
{
    *steady = (struct steady){.last_ns = last_ns, .boot_ns = boot_ns};
}

int64_t daemon_steady_look(const struct steady *steady, int64_t wall_ns, int64_t boot_ns)
{
    int64_t passed = boot_ns - steady->boot_ns;
    int64_t least = steady->last_ns + (passed - passed / SLOWER_BY);
    return wall_ns > least ? wall_ns : least;
}

int64_t daemon_steady_stamp(struct steady *steady, int64_t wall_ns, int64_t boot_ns, struct steady_step *ret)
{
    int64_t now = daemon_steady_look(steady, wall_ns, boot_ns), ahead = now - wall_ns;
    int64_t jump = wall_ns - steady->last_ns - (boot_ns - steady->boot_ns);
    *ret = (struct steady_step){.caught_up = ahead <= 0 && steady->reported_ns > 0};
    if (ahead <= 0)
        steady->reported_ns = 0;
    else if (ahead >= steady->reported_ns + REPORTED_FROM_NS)
        ret->ahead_ns = steady->reported_ns = ahead;
    else if (ahead < steady->reported_ns)
        steady->reported_ns = ahead;
    if (steady->last_ns > 0 && jump >= JUMP_FROM_NS)
        ret->jump_ns = jump;
    steady->last_ns = now;
    steady->boot_ns = boot_ns;
    return now;
}
