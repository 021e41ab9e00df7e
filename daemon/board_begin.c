/* The board's memory: what it has before any symbol is known, and what it takes to begin. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

void board_destroy(struct board *board)
{
    results_finish(&board->given);
    results_finish(&board->results);
    streams_destroy(board->streams);
    board_measured_finish(board);
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
    free(board->again);
    free(board->round.series);
    free(board->round.bars);
    free(board->round.ticks);
    if (board->round.priced != board->round.outputs)
        free(board->round.priced);
    free(board->round.outputs);
    free(board->round.books);
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
        board->measures[i] = config->measures[i];
        board->n_priced += board->measures[i] < 0;
        config_spec_text(&board->specs[i], board->measures[i], text, sizeof text);
        fprintf(specs, "%s%s", i ? " " : "", text);
        for (size_t k = 0; k < board->specs[i].row->n_outputs; k++, at++) {
            const struct desk_spec named = {board->specs[i], 0, board->measures[i]};
            desk_output_name(&named, k, board->names[at], sizeof board->names[at]);
            fprintf(names, "%s%s", at ? " " : "", board->names[at]);
        }
    }
    board->outputs = at;
    bool closed = !specs || fclose(specs) == 0;
    closed = (!names || fclose(names) == 0) && closed;
    return specs && names && closed ? 0 : -ENOMEM;
}

int board_make(struct daemon *daemon, struct board **ret)
{
    const struct config *config = &daemon->config;
    struct board *board = calloc(1, sizeof *board);
    if (!board)
        return -ENOMEM;
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
    if (r < 0) {
        board_destroy(board);
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
    board->again = calloc((size_t)n, sizeof *board->again);
    board->newest = calloc(n_series, sizeof *board->newest);
    board->newest_closed = calloc(n_series * board->outputs + 1, sizeof *board->newest_closed);
    board->newest_forming = calloc(n_series * board->outputs + 1, sizeof *board->newest_forming);
    board->frames = calloc(n_series, sizeof *board->frames);
    board->changed = calloc(n_series, sizeof *board->changed);
    if (!board->symbols || !board->forming || !board->forming_taken || !board->unsaved || !board->again ||
        !board->newest || !board->newest_closed || !board->newest_forming || !board->frames ||
        !board->changed ||
        round_init(&board->round, n_series, board->outputs, board->n_priced == board->n_specs) < 0 ||
        streams_create(board->specs, board->n_priced, n_series, &board->streams) < 0 ||
        board_measured_begin(board, (size_t)n) < 0)
        return -ENOMEM;
    if (board->n_priced < board->n_specs)
        board->book_told = calloc((size_t)n, sizeof *board->book_told);
    if (board->n_priced < board->n_specs && !board->book_told)
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
