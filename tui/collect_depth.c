/* The order book and the newest trades of the symbol whose market is shown, and the bar that is forming in
 * its chart: requested over the control socket with each tick. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "tui/collect.h"

void tui_collector_want_depth(struct collector *collector, const char *symbol)
{
    if (strcmp(collector->depth_symbol, symbol) == 0)
        return;
    snprintf(collector->depth_symbol, sizeof(collector->depth_symbol), "%s", symbol);
    collector->book_id = collector->tape_id = 0; /* what was requested of another is not taken */
}

void tui_collector_want_live(struct collector *collector, const char *symbol, const char *timeframe)
{
    if (strcmp(collector->live_symbol, symbol) == 0 && strcmp(collector->live_timeframe, timeframe) == 0)
        return;
    snprintf(collector->live_symbol, sizeof(collector->live_symbol), "%s", symbol);
    snprintf(collector->live_timeframe, sizeof(collector->live_timeframe), "%s", timeframe);
    collector->live_id = 0;
}

static void ask_live(struct collector *collector)
{
    if (!collector->live_symbol[0] || collector->control.fd < 0 || collector->live_id)
        return;
    int64_t id = cli_control_send(
        &collector->control, "indicators",
        json_pack("{s:s, s:s}", "symbol", collector->live_symbol, "timeframe", collector->live_timeframe));
    collector->live_id = id > 0 ? id : 0;
}

static int64_t request(struct collector *collector, const char *command, const char *count, int n)
{
    int64_t id = cli_control_send(&collector->control, command,
                                  json_pack("{s:s, s:i}", "symbol", collector->depth_symbol, count, n));

    return id > 0 ? id : 0;
}

void tui_collector_ask_depth(struct collector *collector)
{
    ask_live(collector);
    if (!collector->depth_symbol[0] || collector->control.fd < 0)
        return;
    if (!collector->book_id)
        collector->book_id = request(collector, "book", "levels", DEPTH_LEVELS_MAX);
    if (!collector->tape_id)
        collector->tape_id = request(collector, "trades", "trades", DEPTH_TRADES_MAX);
}

bool tui_collector_depth_reply(struct collector *collector, int64_t id, const json_t *reply,
                               struct moment now)
{
    struct model *model = collector->model;
    const json_t *result = NULL;
    struct control_error error = {.message = ""};
    bool book = id == collector->book_id, live = id == collector->live_id;

    if (!book && !live && id != collector->tape_id)
        return false;
    if (!cli_control_reply(reply, &result, &error))
        result = NULL;
    if (live) {
        tui_live_bars_take(&model->live, collector->live_symbol, collector->live_timeframe, result,
                           now.mono_ms);
        collector->live_id = 0;
        return true;
    }
    if (book)
        tui_depth_take_book(&model->depth, collector->depth_symbol, result, error.message, now.mono_ms);
    else
        tui_depth_take_tape(&model->tape, collector->depth_symbol, result, error.message, now.mono_ms);
    *(book ? &collector->book_id : &collector->tape_id) = 0;
    return true;
}

void tui_collector_depth_lost(struct collector *collector)
{
    collector->book_id = collector->tape_id = collector->live_id = 0;
}

void tui_collector_depth_once(struct collector *collector, int timeout_ms)
{
    struct view unused;
    struct moment start = tui_model_now(), now = start;

    tui_view_init(&unused, true, 1000);
    tui_collector_ask_depth(collector);
    while ((collector->book_id || collector->tape_id || collector->live_id) &&
           now.mono_ms - start.mono_ms < timeout_ms) {
        struct pollfd pfd = {.fd = collector->control.fd, .events = cli_control_events(&collector->control)};
        if (poll(&pfd, 1, timeout_ms - (int)(now.mono_ms - start.mono_ms)) < 0 && errno != EINTR)
            break;
        now = tui_model_now();
        tui_collector_io(collector, &unused, now);
    }
}
