#include "daemon/board.h"

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

/* How its alerts begin. */
#define GPU_SILENT "the GPU has not answered"
#define GPU_FAILED "the GPU failed"

static bool left_behind;

bool daemon_board_abandoned(void)
{
    return left_behind;
}

static void on_wake(uv_async_t *async);
static void on_tick(uv_timer_t *timer);

struct board *daemon_board_create(struct daemon *daemon)
{
    struct board *board;
    if (daemon_board_make(daemon, &board) < 0)
        return NULL;
    if (pthread_create(&board->thread, NULL, daemon_board_run, board) != 0) {
        daemon_board_destroy(board);
        return NULL;
    }
    uv_async_init(daemon->loop, &board->wake, on_wake);
    uv_timer_init(daemon->loop, &board->tick);
    board->wake.data = board->tick.data = board;
    uv_timer_start(&board->tick, on_tick, TICK_MS, TICK_MS);
    return board;
}

/* ---- to the thread ---- */

void daemon_board_book_bar(struct board *board, const struct engine_book_bar *bar)
{
    if (board && daemon_board_started(board) && board->newest_books && bar->symbol < board->n_published)
        board->newest_books[bar->symbol] = daemon_board_book_of(bar);
}

void daemon_board_bar(struct board *board, int symbol, const struct bar *bar)
{
    if (!board || !daemon_board_started(board) || symbol >= board->n_published || board->left[symbol])
        return;
    uint64_t ticket = db_writer_last(daemon_session_writer(board->daemon->session));
    struct board_book book = {0};
    if (board->newest_books && board->newest_books[symbol].open_ns == bar->open_ns)
        book = board->newest_books[symbol];
    pthread_mutex_lock(&board->lock);
    bool full = !board->needs && board->n_queue == BOARD_QUEUE_MAX;
    if (board->needs || full) {
        board->missed += full;
    } else {
        board->queue[board->n_queue++] = (struct queued_bar){symbol, *bar, book};
        pthread_cond_signal(&board->work);
    }
    pthread_mutex_unlock(&board->lock);
    if (full) {
        char text[160];
        snprintf(text, sizeof text,
                 "the compute thread is behind: %d bars wait; more are read from the database later",
                 BOARD_QUEUE_MAX);
        daemon_log_event(LOG_ALERT, LOG_OF(.alert = "indicators-behind"), "indicators: %s", text);
        daemon_session_alert_lasting(board->daemon->session, DB_WARNING, "indicators-behind", text, text);
    }
    if (full) {
        board->needs = true;
        board->need_first = ticket;
    }
    if (board->needs)
        board->need_last = ticket;
}

void daemon_board_need(struct board *board)
{
    uint64_t ticket = db_writer_last(daemon_session_writer(board->daemon->session));
    if (!board->needs)
        board->need_first = ticket;
    board->needs = true;
    board->need_last = ticket;
}

void daemon_board_again(struct board *board, int symbol)
{
    if (!board || !daemon_board_started(board) || symbol >= board->n_published)
        return;
    pthread_mutex_lock(&board->lock);
    board->again[symbol] = true;
    pthread_mutex_unlock(&board->lock);
    daemon_board_need(board);
}

/* The lock is held. */
static void no_forming(struct board *board, int symbol)
{
    board->forming[symbol].open_ns = BOARD_NOT_STREAMED;
    for (int t = 0; t < board->n_timeframes; t++)
        board->newest[board_series(board, symbol, t)].forming.open_ns = 0;
}

void daemon_board_rename(struct board *board, int symbol, const char *name)
{
    if (!board || board->stopped || !daemon_board_started(board) || symbol >= board->n_published)
        return;
    pthread_mutex_lock(&board->lock);
    snprintf(board->symbols[symbol].name, sizeof board->symbols[symbol].name, "%s", name);
    pthread_mutex_unlock(&board->lock);
}

const char *daemon_board_name(struct board *board, int symbol, char ret[static SYMBOL_NAME_MAX])
{
    pthread_mutex_lock(&board->lock);
    memcpy(ret, board->symbols[symbol].name, SYMBOL_NAME_MAX);
    pthread_mutex_unlock(&board->lock);
    return ret;
}

void daemon_board_follow(struct board *board, int symbol, bool follow)
{
    if (!board || board->stopped || !daemon_board_started(board) || symbol >= board->n_published ||
        board->left[symbol] == !follow)
        return;
    board->left[symbol] = !follow;
    if (follow) /* bars of the meantime may be in the database */
        daemon_board_need(board);
}

/* When bars come faster than they are stored, the thread reads the database again and again until it has
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
        return; /* it wakes the loop when it is done, and this is looked at again */
    board->needs = committed < board->need_last;
    board->need_first = committed + 1;
    if (!board->needs)
        daemon_session_alert_over(board->daemon->session, "indicators-behind", "");
}

void daemon_board_committed(struct board *board, uint64_t ticket)
{
    if (board && board->started && !board->stopped)
        look_at_need(board, ticket);
}

static void look_at_device(struct board *board, int64_t call_ms)
{
    bool silent = call_ms >= COMPUTE_SILENT_MS;
    if (silent && !board->silence_reported) {
        char text[160];
        snprintf(text, sizeof text, GPU_SILENT " for %d s: the charts' indicators wait for it, orders do not",
                 COMPUTE_SILENT_MS / 1000);
        daemon_log_event_at(LOG_LEVEL_WARNING, LOG_DEVICE, LOG_OF(.alert = "gpu"), "indicators: %s", text);
        daemon_session_alert_lasting(board->daemon->session, DB_WARNING, "gpu", GPU_SILENT, text);
    }
    if (!silent && board->silence_reported)
        daemon_session_alert_over(board->daemon->session, "gpu", GPU_SILENT);
    board->silence_reported = silent;
}

static void on_tick(uv_timer_t *timer)
{
    struct board *board = timer->data;
    if (board->daemon->stopping || !daemon_board_started(board))
        return;
    struct db_writer *writer = daemon_session_writer(board->daemon->session);
    const struct engine *engine = daemon_session_engine(board->daemon->session);
    pthread_mutex_lock(&board->lock);
    if (board->ask_again && !board->catch_up) {
        board->needs = true;
        board->need_first = board->need_last = db_writer_last(writer);
    }
    for (int s = 0; s < board->n_published; s++) {
        struct engine_symbol_view view;
        engine_symbol_view(engine, s, &view);
        board->forming[s] = view.forming;
        if (board->left[s])
            no_forming(board, s);
    }
    board->forming_news = true;
    int64_t call_ms = daemon_board_device_call_ms(board);
    bool on_device = board->on_device;
    pthread_cond_signal(&board->work);
    pthread_mutex_unlock(&board->lock);
    look_at_need(board, db_writer_committed(writer));
    look_at_device(board, call_ms);
    if (on_device && board->failure_reported)
        daemon_session_alert_over(board->daemon->session, "gpu", GPU_FAILED);
    board->failure_reported &= !on_device;
}

void daemon_board_take_device(struct board *board, struct gpu_module *module)
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
    struct db_writer *writer = daemon_session_writer(board->daemon->session);
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
                                     .specs = board->specs,
                                     .names = board->names_text,
                                     .memory = row->memory,
                                     .memory_size = row->memory_size};
    db_writer_put_chart_series(writer, &series, row->kind == BOARD_ROW_REPLACED);
}

static void device_lost(struct board *board, const char *reason)
{
    char text[GPU_REASON_MAX + 160];
    int64_t again_ms = daemon_compute_failed(board->daemon->compute, reason);
    snprintf(text, sizeof text, GPU_FAILED ": %s: indicators continue on the CPU", reason);
    daemon_log_event_at(LOG_LEVEL_WARNING, LOG_DEVICE, LOG_OF(.alert = "gpu"), "indicators: %s", text);
    if (again_ms > 0)
        daemon_log_info("gpu: it is looked for again in %.0f s", (double)again_ms / 1000);
    daemon_session_alert_lasting(board->daemon->session, DB_WARNING, "gpu", GPU_FAILED, text);
    board->failure_reported = true;
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
    bool over = board->trouble_over;
    board->trouble_over = false;
    bool lost = board->device_lost;
    memcpy(lost_reason, board->lost_reason, sizeof lost_reason);
    board->device_lost = false;
    pthread_cond_signal(&board->room);
    pthread_mutex_unlock(&board->lock);
    if (lost)
        device_lost(board, lost_reason);
    if (trouble[0]) {
        daemon_log_event(LOG_ALERT, LOG_OF(.alert = "indicators"), "indicators: %s", trouble);
        daemon_session_alert_lasting(board->daemon->session, DB_WARNING, "indicators", "", trouble);
    } else if (over) {
        daemon_session_alert_over(board->daemon->session, "indicators", "");
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
        daemon_board_destroy(board);
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
    if (board->started && !board->stopped)
        look_at_need(board, db_writer_committed(daemon_session_writer(board->daemon->session)));
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
        return; /* it has just come back: the loop is about to be notified */
    daemon_log_error("indicators: the compute thread does not come back from the device: it is left behind");
    pthread_detach(board->thread);
    left_behind = true;
    end(board);
}

void daemon_board_stop(struct board *board, void (*done)(void *user), void *user)
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
