#include "daemon/board.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board_internal.h"
#include "daemon/compute.h"
#include "daemon/log.h"
#include "indicators_gpu/module.h"

enum {
    TICK_MS = 1000,         /* between two looks at bars that have not closed */
    STOP_TIMEOUT_MS = 1000, /* that the thread has to come back from the device */
};

static bool left_behind;

bool board_abandoned(void)
{
    return left_behind;
}

/* ---- begin ---- */

static int results_init(struct board_results *results, size_t outputs)
{
    results->rows = calloc(BOARD_RESULTS_MAX, sizeof *results->rows);
    results->outputs = calloc(BOARD_RESULTS_MAX * outputs + 1, sizeof *results->outputs);
    return results->rows && results->outputs ? 0 : -ENOMEM;
}

static void results_finish(struct board_results *results)
{
    for (size_t i = 0; i < results->n; i++)
        free(results->rows[i].memory);
    free(results->rows);
    free(results->outputs);
}

static void destroy(struct board *board)
{
    results_finish(&board->given);
    results_finish(&board->results);
    streams_destroy(board->streams);
    pthread_mutex_destroy(&board->lock);
    pthread_cond_destroy(&board->work);
    pthread_cond_destroy(&board->room);
    free(board->specs_text);
    free(board->names_text);
    free(board->queue);
    free(board->taken);
    free(board->forming);
    free(board->forming_taken);
    free(board->newest);
    free(board->newest_closed);
    free(board->newest_forming);
    free(board->symbols);
    free(board->frames);
    free(board->changed);
    free(board->unsaved);
    free(board->round.series);
    free(board->round.bars);
    free(board->round.ticks);
    free(board->round.outputs);
    free(board->round.there);
    free(board);
}

/* The specs and their outputs' names, as they are stored. */
static int take_specs(struct board *board, const struct config *config)
{
    size_t n_specs_text, n_names_text, at = 0;
    FILE *specs = open_memstream(&board->specs_text, &n_specs_text);
    FILE *names = open_memstream(&board->names_text, &n_names_text);
    board->n_specs = (size_t)config->n_specs;
    for (size_t i = 0; specs && names && i < board->n_specs; i++) {
        char text[64];
        board->specs[i] = config->specs[i];
        config_spec_text(&board->specs[i], text, sizeof text);
        fprintf(specs, "%s%s", i ? " " : "", text);
        for (size_t k = 0; k < board->specs[i].row->n_outputs; k++, at++) {
            indicator_spec_name(&board->specs[i], k, board->names[at], sizeof board->names[at]);
            fprintf(names, "%s%s", at ? " " : "", board->names[at]);
        }
    }
    board->outputs = at;
    bool closed = (!specs || fclose(specs) == 0) & (!names || fclose(names) == 0);
    return specs && names && closed ? 0 : -ENOMEM;
}

static void on_wake(uv_async_t *async);
static void on_tick(uv_timer_t *timer);

struct board *board_create(struct daemon *daemon)
{
    const struct config *config = &daemon->config;
    struct board *board = calloc(1, sizeof *board);
    if (!board)
        return NULL;
    board->daemon = daemon;
    board->base_ns = config->interval_ns;
    board->n_timeframes = config_timeframes(config, board->timeframes);
    pthread_mutex_init(&board->lock, NULL);
    pthread_cond_init(&board->work, NULL);
    pthread_cond_init(&board->room, NULL);
    board->queue = calloc(BOARD_QUEUE_MAX, sizeof *board->queue);
    board->taken = calloc(BOARD_QUEUE_MAX, sizeof *board->taken);
    int r = board->queue && board->taken ? take_specs(board, config) : -ENOMEM;
    if (r == 0)
        r = results_init(&board->given, board->outputs);
    if (r == 0)
        r = results_init(&board->results, board->outputs);
    if (r == 0)
        r = -pthread_create(&board->thread, NULL, board_run, board);
    if (r < 0) {
        destroy(board);
        return NULL;
    }
    uv_async_init(daemon->loop, &board->wake, on_wake);
    uv_timer_init(daemon->loop, &board->tick);
    board->wake.data = board->tick.data = board;
    uv_timer_start(&board->tick, on_tick, TICK_MS, TICK_MS);
    return board;
}

static int round_init(struct board_round *round, size_t n_series, size_t outputs)
{
    round->series = calloc(n_series, sizeof *round->series);
    round->bars = calloc(n_series, sizeof *round->bars);
    round->ticks = calloc(n_series, sizeof *round->ticks);
    round->outputs = calloc(n_series * outputs + 1, sizeof *round->outputs);
    round->there = calloc(n_series, sizeof *round->there);
    return round->series && round->bars && round->ticks && round->outputs && round->there ? 0 : -ENOMEM;
}

/* The symbols are known: everything before is read from the database. */
static int begin(struct board *board)
{
    const struct engine *engine = session_engine(board->daemon->session);
    int n = engine_symbols(engine);
    size_t n_series = (size_t)n * (size_t)board->n_timeframes;
    board->symbols = calloc((size_t)n, sizeof *board->symbols);
    board->forming = calloc((size_t)n, sizeof *board->forming);
    board->forming_taken = calloc((size_t)n, sizeof *board->forming_taken);
    board->unsaved = calloc((size_t)n, sizeof *board->unsaved);
    board->newest = calloc(n_series, sizeof *board->newest);
    board->newest_closed = calloc(n_series * board->outputs + 1, sizeof *board->newest_closed);
    board->newest_forming = calloc(n_series * board->outputs + 1, sizeof *board->newest_forming);
    board->frames = calloc(n_series, sizeof *board->frames);
    board->changed = calloc(n_series, sizeof *board->changed);
    if (!board->symbols || !board->forming || !board->forming_taken || !board->unsaved || !board->newest ||
        !board->newest_closed || !board->newest_forming || !board->frames || !board->changed ||
        round_init(&board->round, n_series, board->outputs) < 0 ||
        streams_create(board->specs, board->n_specs, n_series, &board->streams) < 0)
        return -ENOMEM;
    for (int s = 0; s < n; s++) {
        const struct symbol *symbol = engine_symbol(engine, s);
        snprintf(board->symbols[s].name, sizeof board->symbols[s].name, "%s", symbol->name);
        board->symbols[s].price_scale = symbol->price_scale;
        board->symbols[s].qty_scale = symbol->qty_scale;
        for (int t = 0; t < board->n_timeframes; t++)
            timeframe_init(&board->frames[board_series(board, s, t)], board->timeframes[t], board->base_ns);
    }
    board->newest_ns = INT64_MIN / 2;
    pthread_mutex_lock(&board->lock);
    board->n_symbols = n; /* the thread looks at nothing of this before */
    pthread_mutex_unlock(&board->lock);
    board->begun = board->needs = true;
    board->need_first = board->need_last = db_writer_last(session_writer(board->daemon->session));
    return 0;
}

bool board_begun(struct board *board)
{
    if (!board->begun && session_begun(board->daemon->session) && begin(board) < 0)
        daemon_fail("out of memory");
    return board->begun;
}

/* ---- to the thread ---- */

void board_bar(struct board *board, int symbol, const struct bar *bar)
{
    if (!board_begun(board))
        return;
    uint64_t ticket = db_writer_last(session_writer(board->daemon->session));
    pthread_mutex_lock(&board->lock);
    bool full = !board->needs && board->n_queue == BOARD_QUEUE_MAX;
    if (board->needs || full) {
        board->missed += full;
    } else {
        board->queue[board->n_queue++] = (struct queued_bar){symbol, *bar};
        pthread_cond_signal(&board->work);
    }
    pthread_mutex_unlock(&board->lock);
    if (full) {
        char text[160];
        snprintf(text, sizeof text,
                 "the compute thread is behind: %d bars wait; more are read from the database later",
                 BOARD_QUEUE_MAX);
        log_warning("indicators: %s", text);
        session_alert(board->daemon->session, DB_WARNING, "indicators-behind", text);
    }
    if (full) {
        board->needs = true;
        board->need_first = ticket;
    }
    if (board->needs)
        board->need_last = ticket;
}

/* When bars come faster than they are stored the thread reads what there is, again and again, until it has
 * them all. */
static void look_at_need(struct board *board, uint64_t committed)
{
    if (!board->needs || committed < board->need_first)
        return;
    pthread_mutex_lock(&board->lock);
    bool busy = board->catch_up || board->catching_up;
    if (!busy) {
        board->catch_up = true;
        pthread_cond_signal(&board->work);
    }
    pthread_mutex_unlock(&board->lock);
    if (busy)
        return; /* it wakes the loop when it is done, and then again */
    board->needs = committed < board->need_last;
    board->need_first = committed + 1;
}

void board_committed(struct board *board, uint64_t ticket)
{
    if (board && board->begun && !board->stopped)
        look_at_need(board, ticket);
}

static void look_at_device(struct board *board, int64_t call_ms)
{
    bool silent = call_ms >= COMPUTE_SILENT_MS;
    if (silent && !board->silence_told) {
        char text[160];
        snprintf(text, sizeof text,
                 "the GPU has not answered for %d s: the charts' indicators wait for it, orders do not",
                 COMPUTE_SILENT_MS / 1000);
        log_warning("indicators: %s", text);
        session_alert(board->daemon->session, DB_WARNING, "gpu", text);
    }
    board->silence_told = silent;
}

static void on_tick(uv_timer_t *timer)
{
    struct board *board = timer->data;
    if (board->daemon->stopping || !board_begun(board))
        return;
    struct db_writer *writer = session_writer(board->daemon->session);
    const struct engine *engine = session_engine(board->daemon->session);
    pthread_mutex_lock(&board->lock);
    if (board->ask_again && !board->catch_up) {
        board->needs = true;
        board->need_first = board->need_last = db_writer_last(writer);
    }
    for (int s = 0; s < board->n_symbols; s++) {
        struct engine_symbol_view view;
        engine_symbol_view(engine, s, &view);
        board->forming[s] = view.forming;
    }
    board->forming_news = true;
    int64_t call_ms = board_device_call_ms(board);
    pthread_cond_signal(&board->work);
    pthread_mutex_unlock(&board->lock);
    look_at_need(board, db_writer_committed(writer));
    look_at_device(board, call_ms);
}

void board_take_device(struct board *board, struct gpu_module *module)
{
    struct gpu_module *unwanted = module;
    if (board) {
        pthread_mutex_lock(&board->lock);
        if (!board->stop && !board->offered) {
            board->offered = module;
            unwanted = NULL;
            pthread_cond_signal(&board->work);
        }
        pthread_mutex_unlock(&board->lock);
    }
    gpu_module_close(unwanted);
}

/* ---- from the thread ---- */

static void store(struct board *board, const struct board_result *row, const double *outputs)
{
    struct db_writer *writer = session_writer(board->daemon->session);
    int symbol = (int)row->series / board->n_timeframes;
    int64_t interval_ns = board->timeframes[(int)row->series % board->n_timeframes];
    if (row->kind == BOARD_ROW_BAR) {
        struct db_chart_bar bar = {.symbol = symbol,
                                   .interval_ns = interval_ns,
                                   .bar = row->bar,
                                   .outputs = outputs,
                                   .n_outputs = board->outputs};
        db_writer_put_chart_bar(writer, &bar);
        return;
    }
    if (row->kind == BOARD_ROW_GONE) {
        db_writer_drop_chart_series(writer, symbol, row->interval_ns);
        return;
    }
    struct db_chart_series series = {.symbol = symbol,
                                     .interval_ns = interval_ns,
                                     .base_ns = board->base_ns,
                                     .next_ns = row->next_ns,
                                     .specs = board->specs_text,
                                     .names = board->names_text,
                                     .memory = row->memory,
                                     .memory_size = row->memory_size};
    db_writer_put_chart_series(writer, &series, row->kind == BOARD_ROW_ANEW);
}

static void device_lost(struct board *board, const char *reason)
{
    char text[GPU_REASON_MAX + 160];
    int64_t again_ms = compute_failed(board->daemon->compute, reason);
    snprintf(text, sizeof text, "the GPU failed: %s: indicators go on on the CPU", reason);
    log_warning("indicators: %s", text);
    if (again_ms > 0)
        log_info("gpu: it is looked for again in %.0f s", (double)again_ms / 1000);
    session_alert(board->daemon->session, DB_WARNING, "gpu", text);
}

static void take_results(struct board *board)
{
    char trouble[sizeof board->trouble], lost_reason[sizeof board->lost_reason];
    pthread_mutex_lock(&board->lock);
    struct board_results empty = board->given;
    board->given = board->results;
    board->results = empty;
    memcpy(trouble, board->trouble, sizeof trouble);
    board->trouble[0] = '\0';
    bool lost = board->device_lost;
    memcpy(lost_reason, board->lost_reason, sizeof lost_reason);
    board->device_lost = false;
    pthread_cond_signal(&board->room);
    pthread_mutex_unlock(&board->lock);
    if (lost)
        device_lost(board, lost_reason);
    if (trouble[0]) {
        log_warning("indicators: %s", trouble);
        session_alert(board->daemon->session, DB_WARNING, "indicators", trouble);
    }
    struct board_results *given = &board->given;
    for (size_t i = 0; i < given->n; i++) {
        store(board, &given->rows[i], given->outputs + i * board->outputs);
        free(given->rows[i].memory);
    }
    given->n = 0;
}

static void gone(uv_handle_t *handle)
{
    struct board *board = handle->data;
    if (--board->open_handles > 0)
        return;
    void (*stopped)(void *user) = board->stopped;
    void *user = board->stopped_user;
    if (!left_behind)
        destroy(board);
    stopped(user);
}

static void end(struct board *board)
{
    board->open_handles = 2;
    uv_close((uv_handle_t *)&board->wake, gone);
    uv_close((uv_handle_t *)&board->tick, gone);
}

static void on_wake(uv_async_t *async)
{
    struct board *board = async->data;
    take_results(board);
    if (board->begun && !board->stopped)
        look_at_need(board, db_writer_committed(session_writer(board->daemon->session)));
    pthread_mutex_lock(&board->lock);
    bool ended = board->ended;
    pthread_mutex_unlock(&board->lock);
    if (!ended || uv_is_closing((uv_handle_t *)&board->wake))
        return;
    pthread_join(board->thread, NULL);
    end(board);
}

/* ---- the end ---- */

static void give_up(uv_timer_t *timer)
{
    struct board *board = timer->data;
    pthread_mutex_lock(&board->lock);
    bool ended = board->ended;
    board->abandoned = !ended;
    pthread_cond_signal(&board->room);
    pthread_mutex_unlock(&board->lock);
    if (ended || uv_is_closing((uv_handle_t *)&board->wake))
        return; /* it has just come back: the loop is about to hear of it */
    log_error("indicators: the compute thread does not come back from the device: it is left behind");
    pthread_detach(board->thread);
    left_behind = true;
    end(board);
}

void board_stop(struct board *board, void (*done)(void *user), void *user)
{
    board->stopped = done;
    board->stopped_user = user;
    pthread_mutex_lock(&board->lock);
    board->stop = true;
    pthread_cond_signal(&board->work);
    pthread_cond_signal(&board->room);
    pthread_mutex_unlock(&board->lock);
    uv_timer_start(&board->tick, give_up, STOP_TIMEOUT_MS, 0);
}
