/* A time of day that neither goes back nor stands still. */
#include "daemon/steady.h"

#include "tests/check.h"

#define S 1000000000LL

static void test_wall(void)
{
    struct steady steady = {0};
    int64_t ahead;
    CHECK_INT(steady_stamp(&steady, 100 * S, 5 * S, &ahead), 100 * S);
    CHECK_INT(steady_stamp(&steady, 3700 * S, 6 * S, &ahead), 3700 * S); /* forward it may step */
    CHECK_INT(ahead, 0);
    CHECK_INT(steady_look(&steady, 3701 * S, 7 * S), 3701 * S);
}

static void test_steps_back(void)
{
    struct steady steady = {0};
    int64_t ahead, told = 0, last = 1000 * S;
    steady_begin(&steady, last, 0);
    for (int64_t boot = 1; boot <= 500; boot++) { /* twenty seconds behind: the wall catches up */
        int64_t wall = (1000 - 20 + boot) * S, look = steady_look(&steady, wall, boot * S);
        int64_t now = steady_stamp(&steady, wall, boot * S, &ahead);
        CHECK_INT(look, now);
        CHECK(now - last >= S - S / 16 && now - last <= S);
        CHECK_INT(boot > 320 ? now - wall : 0, 0);
        last = now;
        told += ahead > 0;
    }
    CHECK_INT(told, 1);
    CHECK_INT(steady_stamp(&steady, 1000 * S, 501 * S, &ahead), last + S - S / 16);
    CHECK(ahead > 480 * S); /* and it is told again */
    steady_stamp(&steady, 1001 * S, 502 * S, &ahead);
    CHECK_INT(ahead, 0);
    steady_stamp(&steady, 900 * S, 503 * S, &ahead); /* once more */
    CHECK(ahead > 580 * S);
}

int main(void)
{
    test_wall();
    test_steps_back();
    return check_done("daemon/steady");
}
