/* A time of day that neither goes back nor stands still. */
#include "daemon/steady.h"

#include "tests/check.h"

#define S 1000000000LL

static void test_wall(void)
{
    struct steady steady = {0};
    struct steady_step step;
    CHECK_INT(daemon_steady_stamp(&steady, 100 * S, 5 * S, &step), 100 * S);
    CHECK_INT(daemon_steady_stamp(&steady, 3700 * S, 6 * S, &step), 3700 * S); /* forward it may step */
    CHECK_INT(step.ahead_ns, 0);
    CHECK_INT(daemon_steady_look(&steady, 3701 * S, 7 * S), 3701 * S);
}

static void test_steps_back(void)
{
    struct steady steady = {0};
    struct steady_step step;
    int64_t reported = 0, last = 1000 * S;
    daemon_steady_begin(&steady, last, 0);
    for (int64_t boot = 1; boot <= 500; boot++) { /* twenty seconds behind: the wall catches up */
        int64_t wall = (1000 - 20 + boot) * S, look = daemon_steady_look(&steady, wall, boot * S);
        int64_t now = daemon_steady_stamp(&steady, wall, boot * S, &step);
        CHECK_INT(look, now);
        CHECK(now - last >= S - S / 16 && now - last <= S);
        CHECK_INT(boot > 320 ? now - wall : 0, 0);
        last = now;
        reported += step.ahead_ns > 0;
    }
    CHECK_INT(reported, 1);
    CHECK_INT(daemon_steady_stamp(&steady, 1000 * S, 501 * S, &step), last + S - S / 16);
    CHECK(step.ahead_ns > 480 * S); /* and it is reported again */
    daemon_steady_stamp(&steady, 1001 * S, 502 * S, &step);
    CHECK_INT(step.ahead_ns, 0);
    daemon_steady_stamp(&steady, 900 * S, 503 * S, &step); /* again */
    CHECK(step.ahead_ns > 580 * S);
}

static void test_jumps_forward(void)
{
    struct steady steady = {0};
    struct steady_step step;
    daemon_steady_stamp(&steady, 100 * S, 5 * S, &step);
    CHECK_INT(step.jump_ns, 0); /* there was no moment before */
    daemon_steady_stamp(&steady, 102 * S, 6 * S + S / 4, &step);
    CHECK_INT(step.jump_ns, 0); /* less than a second more than passed */
    daemon_steady_stamp(&steady, 4000 * S, 3904 * S, &step);
    CHECK_INT(step.jump_ns, 0); /* a suspend, which the other clock counts */
    CHECK_INT(daemon_steady_stamp(&steady, 7601 * S, 3905 * S, &step), 7601 * S);
    CHECK_INT(step.jump_ns, 3600 * S);
    daemon_steady_stamp(&steady, 7602 * S, 3906 * S, &step);
    CHECK_INT(step.jump_ns, 0); /* once */
}

static void test_catches_up(void)
{
    struct steady steady = {0};
    struct steady_step step;
    int over = 0;
    daemon_steady_begin(&steady, 1000 * S, 0);
    for (int64_t boot = 1; boot <= 40; boot++) {
        daemon_steady_stamp(&steady, (998 + boot) * S, boot * S, &step);
        CHECK_INT(step.jump_ns, 0);
        CHECK(!step.caught_up || boot >= 32);
        over += step.caught_up;
    }
    CHECK_INT(over, 1);
}

int main(void)
{
    test_wall();
    test_steps_back();
    test_jumps_forward();
    test_catches_up();
    return check_done("daemon/steady");
}
