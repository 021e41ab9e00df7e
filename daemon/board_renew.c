/* Other indicators from now on: one board ends, another begins. */
#include "daemon/board.h"
#include "daemon/compute.h"
#include "daemon/feed/feeds.h"

const char *daemon_board_no_device(const struct daemon *daemon)
{
    return daemon->config.specs[0] ? NULL : "no indicators are kept";
}

static void renewed(void *user)
{
    struct daemon *daemon = user;
    daemon->board_before = NULL;
    daemon->board = daemon_board_create(daemon);
    if (!daemon->board) {
        daemon_fail("out of memory");
        return;
    }
    const struct engine *engine = daemon_session_engine(daemon->session);
    for (int s = 0; engine && s < engine_symbols(engine); s++)
        daemon_board_follow(daemon->board, s, feeds_stream_symbol(daemon->feeds, s));
    daemon_compute_again(daemon->compute, daemon_board_no_device(daemon));
}

void daemon_board_renew(struct daemon *daemon)
{
    if (!daemon->board)
        return; /* the one that is about to begin keeps them */
    daemon->board_before = daemon->board;
    daemon->board = NULL;
    daemon_board_stop(daemon->board_before, renewed, daemon);
}
