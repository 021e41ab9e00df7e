/* The board's thread: makes bars of each timeframe, gives them to the streams and the results to the loop. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board_internal.h"
#include "indicators_gpu/module.h"

struct indicator_bar daemon_board_tick(const struct board_symbol *symbol, const struct bar *bar)
{
    return (struct indicator_bar){
        .open = decimal_to_double(bar->open, symbol->price_scale),
        .high = decimal_to_double(bar->high, symbol->price_scale),
        .low = decimal_to_double(bar->low, symbol->price_scale),
        .close = decimal_to_double(bar->close, symbol->price_scale),
        .volume = decimal_to_double(bar->volume, symbol->qty_scale),
        .time = (double)bar->open_ns * 1e-9,
    };
}

/* The lock is held: the loop may have abandoned this thread. */
static void wake_loop(struct board *board)
{
    if (!board->abandoned)
        uv_async_send(&board->wake);
}

void daemon_board_trouble(struct board *board, const char *words, const char *why)
{
    pthread_mutex_lock(&board->lock);
    snprintf(board->trouble, sizeof board->trouble, "%s: %s", words, why);
    wake_loop(board);
    pthread_mutex_unlock(&board->lock);
}

/* Everything that is stored is read; else it is tried again. */
static void caught_up(struct board *board, bool whole)
{
    bool over = whole && board->astray;
    board->astray = !whole;
    if (!over)
        return;
    pthread_mutex_lock(&board->lock);
    board->trouble_over = true;
    wake_loop(board);
    pthread_mutex_unlock(&board->lock);
}

bool daemon_board_stopping(struct board *board)
{
    pthread_mutex_lock(&board->lock);
    bool stop = board->stop;
    pthread_mutex_unlock(&board->lock);
    return stop;
}

/* ---- results ---- */

void daemon_board_give(struct board *board, struct board_result row, const double *outputs)
{
    pthread_mutex_lock(&board->lock);
    while (board->results.n == BOARD_RESULTS_MAX && !board->abandoned) {
        wake_loop(board);
        pthread_cond_wait(&board->room, &board->lock);
    }
    struct board_results *results = &board->results;
    if (results->n < BOARD_RESULTS_MAX) {
        if (outputs && board->outputs > 0)
            memcpy(results->outputs + results->n * board->outputs, outputs, board->outputs * sizeof *outputs);
        results->rows[results->n++] = row;
        row.memory = NULL;
    }
    pthread_mutex_unlock(&board->lock);
    free(row.memory);
}

/* ---- the device ---- */

/* Called before any call of the streams that may use the device. */
static void begin_call(struct board *board)
{
    if (!board->module)
        return;
    pthread_mutex_lock(&board->lock);
    board->device_call_ns = uv_hrtime();
    pthread_mutex_unlock(&board->lock);
}

/* The streams are on the CPU: the module is not used any more. */
static void lose_device(struct board *board, const char *reason)
{
    gpu_module_close(board->module);
    board->module = NULL;
    pthread_mutex_lock(&board->lock);
    board->device_call_ns = 0;
    board->on_device = false;
    board->device_lost = true;
    snprintf(board->lost_reason, sizeof board->lost_reason, "%s", reason);
    wake_loop(board);
    pthread_mutex_unlock(&board->lock);
}

/* The device has answered. */
static void show_device(struct board *board, bool on_device)
{
    pthread_mutex_lock(&board->lock);
    board->device_call_ns = 0;
    board->on_device = on_device;
    pthread_mutex_unlock(&board->lock);
}

/* Moves all streams at once, when all of history has been taken. */
static void go_to_device(struct board *board)
{
    char reason[GPU_REASON_MAX];
    if (!board->module || daemon_streams_are_on_device(board->streams) ||
        !board->symbols[board->n_symbols - 1].started)
        return;
    begin_call(board);
    if (daemon_streams_to_device(board->streams, board->module, reason, sizeof reason) < 0)
        lose_device(board, reason);
    else
        show_device(board, true);
}

void daemon_board_leave_device(struct board *board)
{
    if (!daemon_streams_are_on_device(board->streams))
        return;
    begin_call(board);
    if (daemon_streams_to_host(board->streams))
        show_device(board, false);
    else
        lose_device(board, daemon_streams_failure(board->streams));
}

/* Called after it: the device may have failed. */
static void end_call(struct board *board)
{
    bool on_device = daemon_streams_are_on_device(board->streams);
    if (board->module && board->on_device && !on_device)
        lose_device(board, daemon_streams_failure(board->streams));
    else if (board->module)
        show_device(board, on_device);
}

/* ---- bars ---- */

static void clear_round(struct board *board)
{
    struct board_round *round = &board->round;
    for (size_t i = 0; i < round->n; i++)
        round->there[round->series[i]] = false;
    round->n = 0;
}

static void add(struct board *board, uint32_t series, const struct bar *bar, const struct board_book *book)
{
    struct board_round *round = &board->round;
    round->series[round->n] = series;
    round->bars[round->n] = *bar;
    round->books[round->n] = *book;
    round->ticks[round->n++] = daemon_board_tick(&board->symbols[(int)series / board->n_timeframes], bar);
    round->there[series] = true;
}

/* The values of prices, and behind them those of the book: the bars have closed, or form. */
static void compose(struct board *board, bool closed)
{
    struct board_round *round = &board->round;
    size_t priced = daemon_streams_outputs(board->streams);
    for (size_t i = 0; i < round->n && round->priced != round->outputs; i++) {
        uint32_t series = round->series[i];
        double *to = round->outputs + i * board->outputs;
        bool base = board->timeframes[series % (uint32_t)board->n_timeframes] == board->base_ns;
        memcpy(to, round->priced + i * priced, priced * sizeof *to);
        if (closed && base)
            daemon_board_measured_take(board, (int)series / board->n_timeframes, &round->books[i],
                                       to + priced);
        else
            daemon_board_measured_none(board, -1, to + priced);
    }
}

/* Gives the gathered closed bars to the streams, and the results to the loop. */
void daemon_board_close_round(struct board *board)
{
    struct board_round *round = &board->round;
    if (round->n == 0)
        return;
    begin_call(board);
    daemon_streams_update(board->streams, round->n, round->series, round->ticks, round->priced);
    end_call(board);
    compose(board, true);
    pthread_mutex_lock(&board->lock);
    board->updates += round->n;
    for (size_t i = 0; i < round->n; i++) {
        struct board_newest *newest = &board->newest[round->series[i]];
        newest->closed = round->bars[i];
        if (newest->forming.open_ns <= newest->closed.open_ns)
            newest->forming.open_ns = 0;
        memcpy(board->newest_closed + round->series[i] * board->outputs, round->outputs + i * board->outputs,
               board->outputs * sizeof *round->outputs);
    }
    pthread_mutex_unlock(&board->lock);
    for (size_t i = 0; i < round->n; i++) {
        uint32_t series = round->series[i];
        board->changed[series] = true;
        if (round->bars[i].open_ns >
            board->newest_ns - DB_CHART_BARS_KEPT * board->frames[series].interval_ns)
            daemon_board_give(
                board, (struct board_result){.kind = BOARD_ROW_BAR, .series = series, .bar = round->bars[i]},
                round->outputs + i * board->outputs);
    }
    clear_round(board);
}

static void save(struct board *board, uint32_t series)
{
    struct board_result row = {
        .kind = BOARD_ROW_MEMORY, .series = series, .next_ns = board->frames[series].next_ns};
    if (!board->changed[series])
        return;
    begin_call(board);
    int r = daemon_streams_save(board->streams, series, &row.memory, &row.memory_size);
    end_call(board);
    if (r < 0)
        return; /* the memory before it and the bars since give the same */
    board->changed[series] = false;
    daemon_board_give(board, row, NULL);
}

void daemon_board_save_symbol(struct board *board, int symbol)
{
    daemon_board_close_round(board);
    for (int t = 0; t < board->n_timeframes; t++)
        save(board, board_series(board, symbol, t));
    board->unsaved[symbol] = 0;
}

void daemon_board_take_bar(struct board *board, int symbol, const struct bar *bar,
                           const struct board_book *book)
{
    const struct trading_calendar *days = daemon_board_days(board, symbol);
    for (int t = 0; t < board->n_timeframes; t++) {
        uint32_t series = board_series(board, symbol, t);
        struct bar higher[TIMEFRAME_CLOSED_MAX];
        int n = daemon_timeframe_take(&board->frames[series], days, bar, higher);
        for (int i = 0; i < n; i++) {
            if (board->round.there[series])
                daemon_board_close_round(board);
            add(board, series, &higher[i], book);
        }
    }
    if (++board->unsaved[symbol] >= BOARD_SAVE_BARS)
        daemon_board_save_symbol(board, symbol);
}

/* The series' forming bar. Between the close of a lower bar and the first news of the next one it is made of
 * the closed ones alone: the loop's tick may fall into that time again and again. */
static bool forms(const struct board *board, int symbol, uint32_t series, struct bar *ret)
{
    const struct timeframe *tf = &board->frames[series];
    const struct bar *lower = &board->forming_taken[symbol];
    if (lower->open_ns == BOARD_NOT_STREAMED)
        return false;
    if (lower->open_ns == 0 || lower->open_ns <= tf->last_ns)
        return daemon_timeframe_forming(tf, ret);
    return daemon_timeframe_peek(tf, daemon_board_days(board, symbol), lower, ret);
}

/* Computes the values of the forming bars. */
static void peek(struct board *board)
{
    static const struct board_book no_book;
    struct board_round *round = &board->round;
    for (int s = 0; s < board->n_symbols; s++)
        for (int t = 0; t < board->n_timeframes; t++) {
            uint32_t series = board_series(board, s, t);
            struct bar forming;
            if (forms(board, s, series, &forming))
                add(board, series, &forming, &no_book);
        }
    begin_call(board);
    if (round->n > 0)
        daemon_streams_peek(board->streams, round->n, round->series, round->ticks, round->priced);
    end_call(board);
    compose(board, false);
    pthread_mutex_lock(&board->lock);
    for (size_t i = 0; i < round->n; i++) {
        board->newest[round->series[i]].forming = round->bars[i];
        memcpy(board->newest_forming + round->series[i] * board->outputs, round->outputs + i * board->outputs,
               board->outputs * sizeof *round->outputs);
    }
    pthread_mutex_unlock(&board->lock);
    clear_round(board);
}

/* ---- the thread ---- */

struct board_due {
    size_t n_bars;
    int n_published;
    bool catch_up, forming, stop;
};

/* The module that the loop found, with the lock held. */
static void take_device(struct board *board)
{
    if (!board->offered || board->module)
        return;
    board->module = board->offered;
    board->offered = NULL;
}

static void take_work(struct board *board, struct board_due *ret)
{
    pthread_mutex_lock(&board->lock);
    while (!board->stop && !board->catch_up && board->n_queue == 0 && !board->forming_news &&
           (!board->offered || board->module))
        pthread_cond_wait(&board->work, &board->lock);
    *ret = (struct board_due){.n_bars = board->n_queue,
                              .n_published = board->n_published,
                              .catch_up = board->catch_up,
                              .forming = board->forming_news && !board->stop,
                              .stop = board->stop};
    struct queued_bar *empty = board->taken;
    board->taken = board->queue;
    board->queue = empty;
    board->n_queue = 0;
    board->catching_up = board->catch_up;
    board->catch_up = board->forming_news = false;
    take_device(board);
    daemon_board_calendars_take(board);
    if (ret->forming && board->n_symbols > 0)
        memcpy(board->forming_taken, board->forming, (size_t)board->n_symbols * sizeof *board->forming);
    pthread_mutex_unlock(&board->lock);
}

/* A stop leaves bars where they are: the database has them too, for the next run. Bars that were left out
 * before those in the queue come first; until they are read nothing that follows is taken, and the loop is
 * notified so that it asks again. */
static void work(struct board *board, const struct board_due *work)
{
    bool room = work->n_published == board->n_symbols || daemon_board_grow(board, work->n_published) == 0;
    char name[SYMBOL_NAME_MAX];
    if (!room)
        daemon_board_trouble(board, daemon_board_name(board, work->n_published - 1, name),
                             "no memory for its series");
    if (work->catch_up || !room)
        caught_up(board, room && daemon_board_catch_up(board));
    if (!board->astray && board->n_symbols > 0) {
        if (!work->stop)
            go_to_device(board);
        for (size_t i = 0; i < work->n_bars && !daemon_board_stopping(board); i++)
            daemon_board_take_bar(board, board->taken[i].symbol, &board->taken[i].bar, &board->taken[i].book);
        daemon_board_close_round(board);
        if (work->forming)
            peek(board);
    }
    pthread_mutex_lock(&board->lock);
    board->catching_up = false;
    board->ask_again = board->astray;
    wake_loop(board);
    pthread_mutex_unlock(&board->lock);
}

void *daemon_board_run(void *arg)
{
    struct board *board = arg;
    struct board_due todo;
    do {
        take_work(board, &todo);
        work(board, &todo);
    } while (!todo.stop);
    if (board->n_symbols > 0)
        daemon_board_leave_device(board);
    for (int s = 0; s < board->n_symbols; s++)
        daemon_board_save_symbol(board, s);
    pthread_mutex_lock(&board->lock);
    struct gpu_module *offered = board->offered;
    board->offered = NULL;
    pthread_mutex_unlock(&board->lock);
    gpu_module_close(offered);
    gpu_module_close(board->module);
    pthread_mutex_lock(&board->lock);
    board->ended = true;
    wake_loop(board);
    pthread_mutex_unlock(&board->lock);
    return NULL;
}
