/* Indicators of what the book was: streams of their own for each measure, a series a symbol, of bars of the
 * market's interval. Of longer timeframes, and of bars during which there was no book, they have no value. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "daemon/board_internal.h"

int daemon_board_measured_grow(struct board *board, size_t n_symbols)
{
    for (int m = 0; m < BOOK_MEASURES; m++) {
        if (board->measured[m]) {
            if (daemon_streams_grow(board->measured[m], n_symbols) < 0)
                return -ENOMEM;
            continue;
        }
        struct indicator_spec specs[CONFIG_SPECS_MAX];
        size_t n = 0;
        for (int i = 0; i < board->kept.n; i++)
            if (board->kept.measures[i] == m)
                specs[n++] = board->kept.specs[i];
        if (n > 0 && daemon_streams_create(specs, n, n_symbols, &board->measured[m]) < 0)
            return -ENOMEM;
    }
    return 0;
}

void daemon_board_measured_finish(struct board *board)
{
    for (int m = 0; m < BOOK_MEASURES; m++)
        daemon_streams_destroy(board->measured[m]);
}

void daemon_board_measured_take(struct board *board, int symbol, const struct board_book *book, double *out)
{
    for (int m = 0; m < BOOK_MEASURES; m++) {
        struct streams *streams = board->measured[m];
        const uint32_t series = (uint32_t)symbol;
        if (!streams)
            continue;
        if (book->there) {
            const struct indicator_bar bar = {.open = book->bars[m].open,
                                              .high = book->bars[m].high,
                                              .low = book->bars[m].low,
                                              .close = book->bars[m].close,
                                              .time = (double)book->open_ns * 1e-9};
            daemon_streams_update(streams, 1, &series, &bar, out);
        } else {
            daemon_board_measured_none(board, m, out);
        }
        out += daemon_streams_outputs(streams);
    }
}

void daemon_board_measured_none(const struct board *board, int measure, double *out)
{
    for (int m = 0; m < BOOK_MEASURES; m++)
        if (board->measured[m] && (measure < 0 || measure == m))
            for (size_t k = 0; k < daemon_streams_outputs(board->measured[m]); k++)
                *out++ = NAN;
}

struct board_book daemon_board_book_of(const struct engine_book_bar *reported)
{
    struct board_book book = {.there = true, .open_ns = reported->open_ns};
    for (int m = 0; m < BOOK_MEASURES; m++)
        book.bars[m] = (struct measure_bar){reported->measures[m].open, reported->measures[m].high,
                                            reported->measures[m].low, reported->measures[m].close};
    return book;
}
