/* When a bar that REST has is over: by the venue's clock and by this machine's, while both may be right. */
#include "daemon/feed/internal.h"
#include "exchange/clock.h"

#include "tests/check.h"

#define SECOND_NS INT64_C(1000000000)

static struct daemon machine = {.config.clock = CLOCK_WALL};
static struct feed feed = {.daemon = &machine};

/* The venue's clock is so much ahead of this machine's. */
static int64_t over_ahead(int64_t ahead_ns)
{
    feed.have_offset = true;
    feed.server_boot_ns = clock_boot_ns();
    feed.server_ns = clock_wall_ns() + ahead_ns;
    return feed_over_ns(&feed) - feed.server_ns;
}

/* What the machine takes between two readings of its clocks: far less than the differences here. */
static void check_near(int64_t a, int64_t b)
{
    CHECK(a - b > -20 * SECOND_NS && a - b < 20 * SECOND_NS);
}

static void test_clocks(void)
{
    check_near(over_ahead(0), 0);
    check_near(over_ahead(-3600 * SECOND_NS), 0); /* one that is behind is believed */
    check_near(over_ahead(45 * SECOND_NS), -45 * SECOND_NS);
    check_near(over_ahead(3600 * SECOND_NS), 0); /* so much is this machine's error */
}

/* A stream's message is proof. */
static void test_newest(void)
{
    feed.newest_ns = clock_wall_ns() + 7200 * SECOND_NS;
    over_ahead(45 * SECOND_NS);
    CHECK_INT(feed_over_ns(&feed), feed.newest_ns);
    feed.newest_ns = 0;
}

int main(void)
{
    test_clocks();
    test_newest();
    return check_done("daemon/feed_over");
}
