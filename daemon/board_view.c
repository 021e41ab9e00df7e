/* The board as the loop sees it: counts, timeframes, the newest bars. */
#include "daemon/board_internal.h"
#include "daemon/status_internal.h"
#include "record/json.h"

int64_t daemon_board_device_call_ms(const struct board *board)
{
    return board->device_call_ns ? (int64_t)((uv_hrtime() - board->device_call_ns) / 1000000) : 0;
}

void daemon_board_view(struct board *board, struct board_view *ret)
{
    pthread_mutex_lock(&board->lock);
    *ret = (struct board_view){.updates = board->updates,
                               .waiting = board->n_queue,
                               .missed = board->missed,
                               .behind = board->needs || board->catch_up || board->catching_up,
                               .on_device = board->on_device,
                               .device_call_ms = daemon_board_device_call_ms(board)};
    pthread_mutex_unlock(&board->lock);
}

json_t *daemon_board_timeframes(const struct board *board)
{
    json_t *array = json_array();
    for (int t = 0; t < board->n_timeframes; t++)
        json_array_append_new(array, json_string(bar_interval_name(board->timeframes[t])));
    return array;
}

static json_t *bar_object(const struct board *board, const struct board_symbol *symbol, const struct bar *bar,
                          const double *outputs)
{
    if (bar->open_ns == 0)
        return json_null();
    json_t *values = json_object();
    for (size_t k = 0; k < board->outputs; k++)
        json_object_set_new(values, board->names[k], record_json_real(outputs[k]));
    struct indicator_bar tick = daemon_board_tick(symbol, bar);
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:o}", "open_time_ms",
                     (json_int_t)(bar->open_ns / 1000000), "open", tick.open, "high", tick.high, "low",
                     tick.low, "close", tick.close, "volume", tick.volume, "indicators", values);
}

json_t *daemon_board_object(struct board *board, int symbol, int64_t interval_ns)
{
    int t = 0;
    while (t < board->n_timeframes && board->timeframes[t] != interval_ns)
        t++;
    if (t == board->n_timeframes || !daemon_board_started(board) || symbol < 0 ||
        symbol >= board->n_published)
        return NULL;
    uint32_t series = board_series(board, symbol, t);
    const struct board_symbol *of = &board->symbols[symbol];
    pthread_mutex_lock(&board->lock);
    const struct board_newest *newest = &board->newest[series];
    json_t *closed =
        bar_object(board, of, &newest->closed, board->newest_closed + (size_t)series * board->outputs);
    json_t *forming =
        bar_object(board, of, &newest->forming, board->newest_forming + (size_t)series * board->outputs);
    pthread_mutex_unlock(&board->lock);
    return json_pack("{s:s, s:s, s:o, s:o}", "symbol", of->name, "timeframe", bar_interval_name(interval_ns),
                     "closed", closed, "forming", forming);
}
