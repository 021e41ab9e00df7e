#include "tui/chart_window.h"

/* The last bar of the history that opens then or before; the first where none does. */
static int index_of(const struct history *history, int64_t open_ns)
{
    int at = history->n_bars - 1;

    while (at > 0 && history->bars[at].open_ns > open_ns)
        at--;
    return at;
}

static int end_of(const struct chart_window *window, const struct history *history)
{
    return window->end_ns ? index_of(history, window->end_ns) : history->n_bars - 1;
}

static int bars_of(const struct chart_window *window, int columns)
{
    int bars = window->bars ? window->bars : columns;

    return bars < CHART_BARS_MAX ? bars : CHART_BARS_MAX;
}

void tui_chart_window(const struct chart_window *window, const struct history *history, int columns,
                      int *ret_first, int *ret_n)
{
    int end = end_of(window, history), bars = bars_of(window, columns);

    *ret_first = end + 1 > bars ? end + 1 - bars : 0;
    *ret_n = end + 1 - *ret_first;
    if (*ret_n < bars && *ret_first + bars <= history->n_bars) /* the oldest ones: a whole window of them */
        *ret_n = bars;
    else if (*ret_n < bars)
        *ret_n = history->n_bars - *ret_first;
}

int tui_chart_crosshair(const struct chart_window *window, const struct history *history, int first, int n)
{
    if (!window->crosshair || n < 1)
        return -1;
    int at = window->crosshair_ns ? index_of(history, window->crosshair_ns) : first + n - 1;
    return at < first ? first : at >= first + n ? first + n - 1 : at;
}

static void set_end(struct chart_window *window, const struct history *history, int end)
{
    int newest = history->n_bars - 1;
    bool unread = end < 0 && !history->bars_oldest;

    end = end < 0 ? 0 : end < newest ? end : newest;
    window->end_ns = unread                                  ? history->bars[0].open_ns - 1
                     : end == newest && history->bars_newest ? 0
                                                             : history->bars[end].open_ns;
}

void tui_chart_pan(struct chart_window *window, const struct history *history, int columns, int bars)
{
    int first, n;

    tui_chart_window(window, history, columns, &first, &n);
    if (n < 1)
        return;
    if (window->crosshair) {
        int at = tui_chart_crosshair(window, history, first, n) + bars;
        at = at < 0 ? 0 : at >= history->n_bars ? history->n_bars - 1 : at;
        window->crosshair_ns = history->bars[at].open_ns;
        if (at < first)
            set_end(window, history, at + n - 1);
        else if (at >= first + n)
            set_end(window, history, at);
        return;
    }
    int end = first + n - 1 + bars;
    set_end(window, history, end < n - 1 && history->bars_oldest ? n - 1 : end);
}

void tui_chart_zoom(struct chart_window *window, const struct history *history, int columns, bool closer)
{
    int first, n;

    tui_chart_window(window, history, columns, &first, &n);
    int bars = closer ? n / 2 : 2 * n,
        most = history->n_bars < CHART_BARS_MAX ? history->n_bars : CHART_BARS_MAX;
    bars = bars > most ? most : bars;
    window->bars = bars < CHART_BARS_MIN ? CHART_BARS_MIN : bars;
    int at = tui_chart_crosshair(window, history, first, n);
    if (at < 0)
        return;
    window->crosshair_ns = history->bars[at].open_ns; /* a crosshair at the newest bar, too */
    int before = n > 1 ? (int)((long)(at - first) * (window->bars - 1) / (n - 1)) : window->bars - 1;
    int end = at - before + window->bars - 1;
    set_end(window, history, end < window->bars - 1 ? window->bars - 1 : end);
}
