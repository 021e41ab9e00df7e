/* The loop's turns by hand: shares, the wait of a moment, what is older than five seconds. */
#include "daemon/loop_time.h"

#include "tests/check.h"

enum { MS = 1000000 };

int main(void)
{
    struct loop_time time = {0};
    struct loop_times seen;
    daemon_loop_time_look(&time, 1000, &seen);
    CHECK_NEAR(seen.wait_p99_ms, 0, 0);
    CHECK_NEAR(seen.busy, 0, 0);

    /* Five seconds: 100 turns a second of 0.1 ms: a share of 1 % of the time; nothing waits but 1 %. */
    for (int64_t ms = 10000; ms < 15000; ms += 10)
        daemon_loop_time_turn(&time, ms, MS / 10);
    daemon_loop_time_look(&time, 14999, &seen);
    CHECK_NEAR(seen.turns_per_second, 100, 1);
    CHECK_NEAR(seen.busy, 0.01, 0.0002);
    CHECK(seen.wait_p99_ms <= 0.12);

    /* A turn of 4 ms each 100 ms as well: 4 % of the moments wait for it. */
    for (int64_t ms = 15000; ms < 20000; ms += 10) {
        daemon_loop_time_turn(&time, ms, MS / 10);
        if (ms % 100 == 0)
            daemon_loop_time_turn(&time, ms, 4 * MS);
    }
    daemon_loop_time_look(&time, 19999, &seen);
    CHECK_NEAR(seen.wait_p99_ms, 4, 0.8);
    CHECK_NEAR(seen.longest_ms, 4, 0);
    CHECK_NEAR(seen.busy, 0.05, 0.001);

    /* One stall of 30 ms in five seconds is 0.6 %: the longest, not the 99th of a hundred. */
    for (int64_t ms = 20000; ms < 25000; ms += 10)
        daemon_loop_time_turn(&time, ms, ms == 22000 ? 30 * MS : MS / 10);
    daemon_loop_time_look(&time, 24999, &seen);
    CHECK(seen.wait_p99_ms < 1);
    CHECK_NEAR(seen.longest_ms, 30, 0);

    /* Beyond a turn that took all the time, and after a long rest, nothing is left. */
    daemon_loop_time_turn(&time, 26000, 2000 * (int64_t)MS);
    daemon_loop_time_look(&time, 26000, &seen);
    CHECK(seen.wait_p99_ms > 500);
    daemon_loop_time_look(&time, 90000, &seen);
    CHECK_NEAR(seen.wait_p99_ms, 0, 0);
    CHECK_NEAR(seen.longest_ms, 0, 0);
    return check_done("daemon/loop_time");
}
