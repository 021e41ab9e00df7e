/* The calendars by which the board's thread makes bars: the loop gives it copies of the engine's, whenever
 * days have come or symbols have, and never waits for it to take them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board_internal.h"

void daemon_board_calendars_forget(struct board_calendars *calendars)
{
    for (int i = 0; i < calendars->n; i++)
        trading_calendar_forget(&calendars->all[i]);
    free(calendars->all);
    free(calendars->of);
    *calendars = (struct board_calendars){0};
}

static int find(const struct board_calendars *calendars, const char *name)
{
    int i = 0;
    while (i < calendars->n && strcmp(calendars->all[i].name, name) != 0)
        i++;
    return i < calendars->n ? i : -1;
}

static int add(struct board_calendars *calendars, const struct trading_calendar *calendar)
{
    struct trading_calendar *all =
        realloc(calendars->all, ((size_t)calendars->n + 1) * sizeof *calendars->all);
    if (!all)
        return -ENOMEM;
    calendars->all = all;
    int r = trading_calendar_copy(calendar, &all[calendars->n]);
    return r < 0 ? r : calendars->n++;
}

/* Its index, of a copy that is made where there is none; -1 without days; -ENOMEM. */
static int index_of(struct board_calendars *calendars, const struct trading_calendar *calendar)
{
    int at = calendar->n > 0 ? find(calendars, calendar->name) : -1;
    return calendar->n > 0 && at < 0 ? add(calendars, calendar) : at;
}

/* Copies of those that the engine knows days of. */
static int copy(const struct engine *engine, int n_symbols, struct board_calendars *ret)
{
    ret->of = calloc((size_t)n_symbols + 1, sizeof *ret->of);
    if (!ret->of)
        return -ENOMEM;
    ret->n_symbols = n_symbols;
    for (int s = 0; s < n_symbols; s++)
        if ((ret->of[s] = index_of(ret, engine_calendar(engine, s))) == -ENOMEM)
            return -ENOMEM;
    return 0;
}

/* Symbols whose days have become known make their bars again: those so far are by the clock. */
static void begin_again(struct board *board, const struct engine *engine)
{
    for (int s = 0; s < board->n_published; s++) {
        bool dated = engine_calendar(engine, s)->n > 0;
        if (dated && board->dated[s] == BOARD_BY_CLOCK)
            daemon_board_again(board, s);
        board->dated[s] = dated ? BOARD_BY_CALENDAR : BOARD_BY_CLOCK;
    }
}

int daemon_board_calendars_give(struct board *board, const struct engine *engine)
{
    struct board_calendars given = {0}, before;
    int r = copy(engine, board->n_published, &given);
    if (r < 0) {
        daemon_board_calendars_forget(&given);
        return r;
    }
    pthread_mutex_lock(&board->lock);
    before = board->calendars_given;
    board->calendars_given = given;
    pthread_mutex_unlock(&board->lock);
    daemon_board_calendars_forget(&before);
    board->calendars_due = false;
    begin_again(board, engine);
    return 0;
}

void daemon_board_calendars(struct board *board)
{
    if (board)
        board->calendars_due = true;
}

/* ---- the thread's ---- */

void daemon_board_calendars_take(struct board *board)
{
    if (!board->calendars_given.of)
        return;
    daemon_board_calendars_forget(&board->calendars);
    board->calendars = board->calendars_given;
    board->calendars_given = (struct board_calendars){0};
}

const struct trading_calendar *daemon_board_days(const struct board *board, int symbol)
{
    static const struct trading_calendar always;
    const struct board_calendars *calendars = &board->calendars;
    int at = symbol < calendars->n_symbols ? calendars->of[symbol] : -1;
    return at < 0 ? &always : &calendars->all[at];
}
