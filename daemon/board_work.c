/* The board's thread: bars into timeframes, timeframes' bars into streams, what comes of it to the loop. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board_internal.h"

struct indicator_bar board_tick(const struct board_symbol *symbol, const struct bar *bar)
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

/* The lock is held: the loop may have given this thread up. */
static void wake_loop(struct board *board)
{
    if (!board->abandoned)
        uv_async_send(&board->wake);
}

static void trouble(struct board *board, const char *words, const char *why)
{
    pthread_mutex_lock(&board->lock);
    snprintf(board->trouble, sizeof board->trouble, "%s: %s", words, why);
    wake_loop(board);
    pthread_mutex_unlock(&board->lock);
}

static bool stopping(struct board *board)
{
    pthread_mutex_lock(&board->lock);
    bool stop = board->stop;
    pthread_mutex_unlock(&board->lock);
    return stop;
}

/* ---- results ---- */

/* Leaves a row for the loop, once there is room. A stop waits for nobody: what finds no room then is left
 * out, and computed again by the next run. */
static void give(struct board *board, struct board_result row, const double *outputs)
{
    pthread_mutex_lock(&board->lock);
    while (board->results.n == BOARD_RESULTS_MAX && !board->stop) {
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

static void save(struct board *board, uint32_t series)
{
    struct board_result row = {
        .kind = BOARD_ROW_MEMORY, .series = series, .next_ns = board->frames[series].next_ns};
    if (!board->changed[series])
        return;
    if (streams_save(board->streams, series, &row.memory, &row.memory_size) < 0)
        return; /* the memory before it and the bars since give the same */
    board->changed[series] = false;
    give(board, row, NULL);
}

static void save_symbol(struct board *board, int symbol)
{
    for (int t = 0; t < board->n_timeframes; t++)
        save(board, board_series(board, symbol, t));
    board->unsaved[symbol] = 0;
}

/* ---- bars ---- */

/* Bars of different series that closed together go to the streams together. */
struct round {
    uint32_t series[CONFIG_TIMEFRAMES_MAX];
    struct bar bars[CONFIG_TIMEFRAMES_MAX];
    size_t n;
};

static void closed(struct board *board, const struct round *round, const struct board_symbol *symbol,
                   int64_t newest_ns)
{
    struct indicator_bar ticks[CONFIG_TIMEFRAMES_MAX];
    double outputs[CONFIG_TIMEFRAMES_MAX * CONFIG_SPEC_OUTPUTS_MAX];
    for (size_t i = 0; i < round->n; i++)
        ticks[i] = board_tick(symbol, &round->bars[i]);
    streams_update(board->streams, round->n, round->series, ticks, outputs);
    pthread_mutex_lock(&board->lock);
    board->updates += round->n;
    for (size_t i = 0; i < round->n; i++) {
        struct board_newest *newest = &board->newest[round->series[i]];
        newest->closed = round->bars[i];
        if (newest->forming.open_ns <= newest->closed.open_ns)
            newest->forming.open_ns = 0;
        memcpy(board->newest_closed + round->series[i] * board->outputs, outputs + i * board->outputs,
               board->outputs * sizeof *outputs);
    }
    pthread_mutex_unlock(&board->lock);
    for (size_t i = 0; i < round->n; i++) {
        int64_t interval_ns = board->frames[round->series[i]].interval_ns;
        board->changed[round->series[i]] = true;
        if (round->bars[i].open_ns > newest_ns - DB_CHART_BARS_KEPT * interval_ns)
            give(board,
                 (struct board_result){
                     .kind = BOARD_ROW_BAR, .series = round->series[i], .bar = round->bars[i]},
                 outputs + i * board->outputs);
    }
}

/* `newest_ns`: what is that far behind it will not be kept, and is not stored. */
static void take_bar(struct board *board, int symbol, const struct bar *bar, int64_t newest_ns)
{
    struct round round = {0};
    for (int t = 0; t < board->n_timeframes; t++) {
        uint32_t series = board_series(board, symbol, t);
        if (timeframe_take(&board->frames[series], bar, &round.bars[round.n]))
            round.series[round.n++] = series;
    }
    if (round.n > 0)
        closed(board, &round, &board->symbols[symbol], newest_ns);
    if (++board->unsaved[symbol] >= BOARD_SAVE_BARS)
        save_symbol(board, symbol);
}

static void peek(struct board *board, int symbol, const struct bar *bar)
{
    for (int t = 0; t < board->n_timeframes; t++) {
        uint32_t series = board_series(board, symbol, t);
        double outputs[CONFIG_SPEC_OUTPUTS_MAX];
        struct bar forming = {0};
        if (bar->open_ns == 0 || !timeframe_peek(&board->frames[series], bar, &forming))
            continue;
        struct indicator_bar tick = board_tick(&board->symbols[symbol], &forming);
        streams_peek(board->streams, series, &tick, outputs);
        pthread_mutex_lock(&board->lock);
        board->newest[series].forming = forming;
        memcpy(board->newest_forming + series * board->outputs, outputs, board->outputs * sizeof *outputs);
        pthread_mutex_unlock(&board->lock);
    }
}

/* ---- what the database holds ---- */

struct catching_up {
    struct board *board;
    int symbol;
    uint32_t series;
    int64_t newest_ns;
    bool loaded[CONFIG_TIMEFRAMES_MAX];
};

static void load_series(void *ctx, const struct db_chart_row *row)
{
    struct catching_up *up = ctx;
    struct board *board = up->board;
    int t = 0;
    while (t < board->n_timeframes && board->timeframes[t] != row->series.interval_ns)
        t++;
    if (t == board->n_timeframes || row->series.base_ns != board->base_ns ||
        strcmp(row->series.specs, board->specs_text) != 0)
        return;
    uint32_t series = board_series(board, up->symbol, t);
    up->loaded[t] = streams_load(board->streams, series, row->series.memory, row->series.memory_size) == 0;
    if (up->loaded[t])
        board->frames[series].next_ns = row->series.next_ns;
}

/* What the former run gave last. */
static void show_stored(void *ctx, const struct db_chart_bar *row)
{
    struct catching_up *up = ctx;
    struct board *board = up->board;
    if (row->n_outputs != board->outputs)
        return;
    pthread_mutex_lock(&board->lock);
    board->newest[up->series].closed = row->bar;
    memcpy(board->newest_closed + up->series * board->outputs, row->outputs,
           board->outputs * sizeof *row->outputs);
    pthread_mutex_unlock(&board->lock);
}

static void note_newest(void *ctx, const struct bar *bar)
{
    struct catching_up *up = ctx;
    up->newest_ns = bar->open_ns;
}

static void stored_bar(void *ctx, const struct bar *bar)
{
    struct catching_up *up = ctx;
    take_bar(up->board, up->symbol, bar, up->newest_ns);
}

/* The memories that a former run stored; a series that has none, or was kept with other specifications,
 * begins anew. */
static int begin_series(struct catching_up *up, struct db_reader *reader)
{
    struct board *board = up->board;
    struct board_symbol *symbol = &board->symbols[up->symbol];
    int r = db_reader_chart_series(reader, symbol->name, load_series, up);
    for (int t = 0; r == 0 && t < board->n_timeframes; t++) {
        up->series = board_series(board, up->symbol, t);
        if (up->loaded[t])
            r = db_reader_chart_bars(reader, symbol->name, board->timeframes[t], 1, show_stored, up);
        else
            give(board, (struct board_result){.kind = BOARD_ROW_ANEW, .series = up->series}, NULL);
    }
    symbol->begun = r == 0;
    return r;
}

/* Bars that open before this have all been taken, by every timeframe. */
static int64_t first_wanted(const struct board *board, int symbol)
{
    int64_t first = INT64_MAX;
    for (int t = 0; t < board->n_timeframes; t++) {
        int64_t next = board->frames[board_series(board, symbol, t)].next_ns;
        first = next < first ? next : first;
    }
    return first;
}

static int read_bars(struct catching_up *up, struct db_reader *reader)
{
    struct board *board = up->board;
    const char *name = board->symbols[up->symbol].name;
    int64_t from = first_wanted(board, up->symbol);
    up->newest_ns = INT64_MIN / 2;
    int r = db_reader_last_bars(reader, name, board->base_ns, BAR_VENUE, 1, note_newest, up);
    if (r < 0)
        return r;
    return from == INT64_MIN
               ? db_reader_last_bars(reader, name, board->base_ns, BAR_VENUE, BOARD_WARM_BARS, stored_bar, up)
               : db_reader_bars(reader, name, board->base_ns, BAR_VENUE, from, INT64_MAX, stored_bar, up);
}

/* False: not to the end, and what follows must wait until it is tried again. */
static bool catch_up(struct board *board)
{
    char reason[DB_ERROR_MAX] = "";
    struct db_reader *reader = NULL;
    int r = db_reader_open(board->daemon->state.database, &reader, reason, sizeof reason);
    bool cut = false;
    for (int s = 0; r == 0 && s < board->n_symbols && !(cut = stopping(board)); s++) {
        struct catching_up up = {.board = board, .symbol = s};
        r = board->symbols[s].begun ? 0 : begin_series(&up, reader);
        if (r == 0)
            r = read_bars(&up, reader);
        if (r == 0)
            save_symbol(board, s);
    }
    if (r < 0)
        trouble(board, "stored bars cannot be read", reader ? db_reader_error(reader) : reason);
    db_reader_close(reader);
    return r == 0 && !cut;
}

/* ---- the thread ---- */

struct work {
    size_t n_bars;
    bool catch_up, forming, stop;
};

static void take_work(struct board *board, struct work *ret)
{
    pthread_mutex_lock(&board->lock);
    board->catching_up = false;
    while (!board->stop && !board->catch_up && board->n_queue == 0 && !board->forming_news)
        pthread_cond_wait(&board->work, &board->lock);
    *ret = (struct work){.n_bars = board->n_queue,
                         .catch_up = board->catch_up,
                         .forming = board->forming_news && !board->stop,
                         .stop = board->stop};
    struct queued_bar *empty = board->taken;
    board->taken = board->queue;
    board->queue = empty;
    board->n_queue = 0;
    board->catching_up = board->catch_up;
    board->catch_up = board->forming_news = false;
    if (ret->forming)
        memcpy(board->forming_taken, board->forming, (size_t)board->n_symbols * sizeof *board->forming);
    pthread_mutex_unlock(&board->lock);
}

/* Bars that were left out before those in the queue come first; without them nothing that follows is taken,
 * and the loop is told to ask again. */
static void work(struct board *board, const struct work *work)
{
    if (work->catch_up)
        board->astray = !catch_up(board);
    for (size_t i = 0; i < work->n_bars && !board->astray; i++)
        take_bar(board, board->taken[i].symbol, &board->taken[i].bar, INT64_MIN / 2);
    for (int s = 0; work->forming && s < board->n_symbols && !board->astray; s++)
        peek(board, s, &board->forming_taken[s]);
    pthread_mutex_lock(&board->lock);
    board->ask_again = board->astray;
    wake_loop(board);
    pthread_mutex_unlock(&board->lock);
}

void *board_run(void *arg)
{
    struct board *board = arg;
    struct work todo;
    do {
        take_work(board, &todo);
        work(board, &todo);
    } while (!todo.stop);
    for (int s = 0; s < board->n_symbols; s++)
        save_symbol(board, s);
    pthread_mutex_lock(&board->lock);
    board->ended = true;
    wake_loop(board);
    pthread_mutex_unlock(&board->lock);
    return NULL;
}
