/* Loads what the database holds for the board: the memories that a former run stored, and bars. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board_internal.h"

struct catching_up {
    struct board *board;
    int symbol;
    uint32_t series;
    bool loaded[CONFIG_TIMEFRAMES_MAX];
    bool astray;              /* a stored bar of the series opens where by the calendar none does */
    struct board_book *books; /* stored ones, oldest first, of which the first `next` are taken */
    size_t n_books, next;
};

static void load_series(void *ctx, const struct db_chart_row *row)
{
    struct catching_up *up = ctx;
    struct board *board = up->board;
    int t = 0;
    while (t < board->n_timeframes && board->timeframes[t] != row->series.interval_ns)
        t++;
    if (t == board->n_timeframes)
        daemon_board_give(board,
                          (struct board_result){.kind = BOARD_ROW_GONE,
                                                .series = board_series(board, up->symbol, 0),
                                                .interval_ns = row->series.interval_ns},
                          NULL);
    if (t == board->n_timeframes || row->series.base_ns != board->base_ns ||
        strcmp(row->series.specs, board->specs) != 0)
        return;
    uint32_t series = board_series(board, up->symbol, t);
    up->loaded[t] =
        daemon_streams_load(board->streams, series, row->series.memory, row->series.memory_size) == 0;
    if (up->loaded[t])
        board->frames[series].next_ns = row->series.next_ns;
}

/* Shows the former run's last results. */
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
    up->board->newest_ns = bar->open_ns;
}

static void stored_book(void *ctx, const struct engine_book_bar *reported)
{
    struct catching_up *up = ctx;
    if (up->n_books < BOARD_WARM_BARS)
        up->books[up->n_books++] = daemon_board_book_of(reported);
}

/* Books of bars that the streams have seen, or that are not the board's: they warm up the indicators of
 * books. */
static void warm_books(struct catching_up *up, int64_t before_ns)
{
    double outputs[CONFIG_SPEC_OUTPUTS_MAX];
    for (; up->next < up->n_books && up->books[up->next].open_ns < before_ns; up->next++)
        daemon_board_measured_take(up->board, up->symbol, &up->books[up->next], outputs);
}

static void stored_bar(void *ctx, const struct bar *bar)
{
    struct catching_up *up = ctx;
    struct board_book book = {0};
    if (daemon_board_stopping(up->board))
        return; /* the next run takes the rest, as the memory says */
    warm_books(up, bar->open_ns);
    if (up->next < up->n_books && up->books[up->next].open_ns == bar->open_ns)
        book = up->books[up->next++];
    daemon_board_take_bar(up->board, up->symbol, bar, &book);
    if (book.there)
        daemon_board_close_round(up->board); /* before a later book is taken */
}

static void look_at_opening(void *ctx, const struct db_chart_bar *row)
{
    struct catching_up *up = ctx;
    up->astray |= !daemon_timeframe_opens(&up->board->frames[up->series],
                                          daemon_board_days(up->board, up->symbol), row->bar.open_ns);
}

/* Bars that were made by the clock, before the calendar was known, are forgotten with what their streams
 * remember of them. */
static int forget_astray(struct catching_up *up, struct db_reader *reader, const char *name, int timeframe)
{
    struct board *board = up->board;
    up->astray = false;
    int r = db_reader_chart_bars(reader, name, board->timeframes[timeframe], DB_CHART_BARS_KEPT,
                                 look_at_opening, up);
    if (r < 0 || !up->astray)
        return r;
    up->loaded[timeframe] = false;
    board->frames[up->series].next_ns = INT64_MIN;
    return daemon_streams_load(board->streams, up->series, "", 0) == -ENOMEM ? -ENOMEM : 0;
}

/* Loads the memories that a former run stored. A series that has none, or had other specifications, starts
 * without a past; one of a timeframe that is no longer kept is deleted. */
static int begin_series(struct catching_up *up, struct db_reader *reader)
{
    struct board *board = up->board;
    struct board_symbol *symbol = &board->symbols[up->symbol];
    char name[SYMBOL_NAME_MAX];
    int r = db_reader_chart_series(reader, daemon_board_name(board, up->symbol, name), load_series, up);
    for (int t = 0; r == 0 && t < board->n_timeframes; t++) {
        up->series = board_series(board, up->symbol, t);
        if (up->loaded[t])
            r = forget_astray(up, reader, name, t);
        if (r == 0 && up->loaded[t])
            r = db_reader_chart_bars(reader, name, board->timeframes[t], 1, show_stored, up);
        else if (r == 0)
            daemon_board_give(board, (struct board_result){.kind = BOARD_ROW_REPLACED, .series = up->series},
                              NULL);
    }
    symbol->started = r == 0;
    return r;
}

/* Has the loop said that the symbol's past has changed? Then its streams have seen no bar, and those of the
 * book's measures start without a past: it was recorded in other share counts. */
static bool begin_again(struct catching_up *up)
{
    struct board *board = up->board;
    bool failed = false;
    pthread_mutex_lock(&board->lock);
    bool again = board->again[up->symbol];
    board->again[up->symbol] = false;
    pthread_mutex_unlock(&board->lock);
    for (int t = 0; again && t < board->n_timeframes; t++) {
        uint32_t series = board_series(board, up->symbol, t);
        failed |= daemon_streams_load(board->streams, series, "", 0) ==
                  -ENOMEM; /* it has no memory: it starts without a past */
        daemon_timeframe_init(&board->frames[series], board->timeframes[t], board->base_ns);
        daemon_board_give(board, (struct board_result){.kind = BOARD_ROW_REPLACED, .series = series}, NULL);
    }
    for (int m = 0; again && m < BOOK_MEASURES; m++)
        if (board->measured[m])
            failed |= daemon_streams_load(board->measured[m], (uint32_t)up->symbol, "", 0) == -ENOMEM;
    char name[SYMBOL_NAME_MAX];
    if (failed)
        daemon_board_trouble(board, daemon_board_name(board, up->symbol, name),
                             "no memory to start again after a split");
    return again;
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

/* Bars of the market's interval that open before this have been taken; INT64_MAX where no series is of
 * them. */
static int64_t base_next(const struct board *board, int symbol)
{
    for (int t = 0; t < board->n_timeframes; t++)
        if (board->timeframes[t] == board->base_ns)
            return board->frames[board_series(board, symbol, t)].next_ns;
    return INT64_MAX;
}

/* Reads the books of bars from `from` on, and once, before the first, the books before them. */
static int read_books(struct catching_up *up, struct db_reader *reader, int64_t from, bool first)
{
    struct board *board = up->board;
    char name[SYMBOL_NAME_MAX];
    daemon_board_name(board, up->symbol, name);
    if (board->n_priced == (size_t)board->kept.n)
        return 0;
    up->books = calloc(BOARD_WARM_BARS, sizeof *up->books);
    if (!up->books)
        return -ENOMEM;
    if (first)
        return db_reader_last_book_bars(reader, name, board->base_ns, BOARD_WARM_BARS, stored_book, up);
    return db_reader_book_bars(reader, name, board->base_ns, from, INT64_MAX, stored_book, up);
}

static int read_bars(struct catching_up *up, struct db_reader *reader)
{
    struct board *board = up->board;
    char name[SYMBOL_NAME_MAX];
    daemon_board_name(board, up->symbol, name);
    int64_t from = first_wanted(board, up->symbol);
    board->newest_ns = INT64_MIN / 2;
    int r = db_reader_last_bars(reader, name, board->base_ns, BAR_VENUE, 1, note_newest, up);
    if (r < 0)
        return r;
    return from == INT64_MIN ? db_reader_last_split_bars(reader, name, board->base_ns, BAR_VENUE,
                                                         BOARD_WARM_BARS, stored_bar, up)
                             : db_reader_split_bars(reader, name, board->base_ns, BAR_VENUE, from, INT64_MAX,
                                                    stored_bar, up);
}

/* Books and bars are read in one snapshot: a bar that is stored between the two reads would seem to have
 * had no book. */
static int take_stored(struct catching_up *up, struct db_reader *reader, bool first, bool again)
{
    int64_t next = base_next(up->board, up->symbol);
    int r = db_reader_begin(reader);
    if (r < 0)
        return r;
    if (!again)
        r = read_books(up, reader, next, first);
    warm_books(up, next);
    if (r == 0)
        r = read_bars(up, reader);
    db_reader_end(reader);
    free(up->books);
    return r;
}

bool daemon_board_catch_up(struct board *board)
{
    char reason[DB_ERROR_MAX] = "";
    struct db_reader *reader = NULL;
    int r = db_reader_open(board->daemon->state.database, &reader, reason, sizeof reason);
    bool cut = false, unstored = false;
    daemon_board_leave_device(board);
    for (int s = 0; r == 0 && s < board->n_symbols && !(cut = daemon_board_stopping(board)); s++) {
        struct catching_up up = {.board = board, .symbol = s};
        bool first = !board->symbols[s].started;
        r = first ? begin_series(&up, reader) : 0;
        bool again = r == 0 && begin_again(&up);
        if (r == 0)
            r = take_stored(&up, reader, first, again);
        unstored = first && r == -ENOENT; /* it was added a moment ago, and is tried again when it is there */
        if (r == 0)
            daemon_board_save_symbol(board, s);
    }
    daemon_board_close_round(board); /* what was read before a failure is taken */
    board->newest_ns = INT64_MIN / 2;
    if (r < 0 && !unstored)
        daemon_board_trouble(board, "stored bars cannot be read", reader ? db_reader_error(reader) : reason);
    db_reader_close(reader);
    return r == 0 && !cut;
}
