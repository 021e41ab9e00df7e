/* The board's memory: what it allocates before any symbol is known, and how it starts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board_internal.h"
#include "engine/specs.h"

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

static void round_finish(struct board_round *round)
{
    free(round->series);
    free(round->bars);
    free(round->ticks);
    if (round->priced != round->outputs)
        free(round->priced);
    free(round->outputs);
    free(round->books);
    free(round->there);
}

void daemon_board_destroy(struct board *board)
{
    results_finish(&board->given);
    results_finish(&board->results);
    daemon_streams_destroy(board->streams);
    daemon_board_measured_finish(board);
    pthread_mutex_destroy(&board->lock);
    pthread_cond_destroy(&board->work);
    pthread_cond_destroy(&board->room);
    free(board->names_text);
    free(board->queue);
    free(board->taken);
    free(board->forming);
    free(board->forming_taken);
    free(board->newest);
    free(board->newest_closed);
    free(board->newest_forming);
    free(board->symbols);
    free(board->newest_books);
    free(board->left);
    free(board->dated);
    daemon_board_calendars_forget(&board->calendars_given);
    daemon_board_calendars_forget(&board->calendars);
    free(board->frames);
    free(board->changed);
    free(board->unsaved);
    free(board->again);
    round_finish(&board->round);
    free(board);
}

/* The specs and their outputs' names, as they are stored. */
static int take_specs(struct board *board)
{
    const struct daemon_config_specs *kept = &board->kept;
    char why[CONFIG_WHY_MAX];
    size_t size, at = 0;
    int r = daemon_config_specs_parse(board->specs, &board->kept, why);
    FILE *names = r == 0 ? open_memstream(&board->names_text, &size) : NULL;
    if (!names)
        return r < 0 ? r : -ENOMEM;
    for (int i = 0; i < kept->n; i++) {
        const struct runner_spec named = {kept->specs[i], 0, kept->measures[i]};
        board->n_priced += kept->measures[i] < 0;
        for (size_t k = 0; k < named.indicator.row->n_outputs; k++, at++) {
            engine_runner_output_name(&named, k, board->names[at], sizeof board->names[at]);
            fprintf(names, "%s%s", at ? " " : "", board->names[at]);
        }
    }
    board->outputs = at;
    return fclose(names) == 0 ? 0 : -ENOMEM;
}

int daemon_board_make(struct daemon *daemon, struct board **ret)
{
    const struct daemon_config *config = &daemon->config;
    struct board *board = calloc(1, sizeof *board);
    if (!board)
        return -ENOMEM;
    board->daemon = daemon;
    board->base_ns = config->interval_ns;
    memcpy(board->specs, config->specs, sizeof board->specs);
    board->n_timeframes = daemon_config_timeframes(config, board->timeframes);
    board->newest_ns = INT64_MIN / 2;
    pthread_mutex_init(&board->lock, NULL);
    pthread_cond_init(&board->work, NULL);
    pthread_cond_init(&board->room, NULL);
    board->queue = calloc(BOARD_QUEUE_MAX, sizeof *board->queue);
    board->taken = calloc(BOARD_QUEUE_MAX, sizeof *board->taken);
    int r = board->queue && board->taken ? take_specs(board) : -ENOMEM;
    if (r == 0)
        r = results_init(&board->given, board->outputs);
    if (r == 0)
        r = results_init(&board->results, board->outputs);
    if (r < 0) {
        daemon_board_destroy(board);
        return r;
    }
    *ret = board;
    return 0;
}

static int round_init(struct board_round *round, size_t n_series, size_t outputs, bool all_priced)
{
    round->series = calloc(n_series, sizeof *round->series);
    round->bars = calloc(n_series, sizeof *round->bars);
    round->ticks = calloc(n_series, sizeof *round->ticks);
    round->outputs = calloc(n_series * outputs + 1, sizeof *round->outputs);
    round->priced = all_priced ? round->outputs : calloc(n_series * outputs + 1, sizeof *round->outputs);
    round->books = calloc(n_series, sizeof *round->books);
    round->there = calloc(n_series, sizeof *round->there);
    return round->priced && round->books && round->series && round->bars && round->ticks && round->outputs &&
                   round->there
               ? 0
               : -ENOMEM;
}

/* Grows an array, the new elements zero; NULL: it is unchanged. */
static void *widen(void *array, size_t n_before, size_t n, size_t size)
{
    char *wider = realloc(array, (n + 1) * size);
    if (wider)
        memset(wider + n_before * size, 0, (n - n_before) * size);
    return wider;
}

#define WIDEN(array, n_before, n) \
    ((wider = widen((array), (n_before), (n), sizeof *(array))) != NULL && ((array) = wider) != NULL)

int daemon_board_grow(struct board *board, int n)
{
    size_t was = (size_t)board->n_symbols, is = (size_t)n, frames = (size_t)board->n_timeframes;
    struct board_round round = {0};
    bool all_priced = board->n_priced == (size_t)board->kept.n;
    void *wider;
    if (board->streams)
        daemon_board_leave_device(board);
    if (!WIDEN(board->forming_taken, was, is) || !WIDEN(board->unsaved, was, is) ||
        !WIDEN(board->frames, was * frames, is * frames) ||
        !WIDEN(board->changed, was * frames, is * frames) || daemon_board_measured_grow(board, is) < 0 ||
        (board->streams
             ? daemon_streams_grow(board->streams, is * frames)
             : daemon_streams_create(board->kept.specs, board->n_priced, is * frames, &board->streams)) < 0 ||
        round_init(&round, is * frames, board->outputs, all_priced) < 0) {
        round_finish(&round);
        return -ENOMEM;
    }
    round_finish(&board->round); /* it is empty between two rounds */
    board->round = round;
    for (int s = board->n_symbols; s < n; s++)
        for (int t = 0; t < board->n_timeframes; t++)
            daemon_timeframe_init(&board->frames[board_series(board, s, t)], board->timeframes[t],
                                  board->base_ns);
    board->n_symbols = n;
    return 0;
}

/* The lock is held. */
static int make_room(struct board *board, int n)
{
    size_t was = (size_t)board->n_published, is = (size_t)n, frames = (size_t)board->n_timeframes;
    size_t was_values = was * frames * board->outputs, values = is * frames * board->outputs;
    bool books = board->n_priced < (size_t)board->kept.n;
    void *wider;
    return WIDEN(board->forming, was, is) && WIDEN(board->again, was, is) && WIDEN(board->left, was, is) &&
                   WIDEN(board->dated, was, is) && (!books || WIDEN(board->newest_books, was, is)) &&
                   WIDEN(board->newest, was * frames, is * frames) &&
                   WIDEN(board->newest_closed, was_values, values) &&
                   WIDEN(board->newest_forming, was_values, values)
               ? 0
               : -ENOMEM;
}

/* The engine knows symbols that the board does not: their past is read from the database. */
static int take_symbols(struct board *board, const struct engine *engine)
{
    int n = engine_symbols(engine);
    if (!board->symbols)
        board->symbols = calloc(SYMBOLS_MAX, sizeof *board->symbols);
    for (int s = board->n_published; board->symbols && s < n; s++) {
        const struct symbol *symbol = engine_symbol(engine, s);
        snprintf(board->symbols[s].name, sizeof board->symbols[s].name, "%s", symbol->name);
        board->symbols[s].price_scale = symbol->price_scale;
        board->symbols[s].qty_scale = symbol->qty_scale;
    }
    pthread_mutex_lock(&board->lock);
    int r = board->symbols ? make_room(board, n) : -ENOMEM;
    if (r == 0)
        board->n_published = n;
    pthread_mutex_unlock(&board->lock);
    if (r < 0)
        return r;
    board->calendars_due = true;
    daemon_board_need(board);
    return 0;
}

bool daemon_board_started(struct board *board)
{
    const struct session *session = board->daemon->session;
    if (!daemon_session_started(session))
        return false;
    const struct engine *engine = daemon_session_engine(session);
    if (board->n_published < engine_symbols(engine) && take_symbols(board, engine) < 0)
        daemon_fail("out of memory");
    if (board->calendars_due && daemon_board_calendars_give(board, engine) < 0)
        daemon_fail("out of memory");
    board->started = board->n_published > 0;
    return board->started;
}
