#include "tui/overlay.h"

#include <string.h>

bool tui_overlay_on_price(const char *name)
{
    static const char *const rows[] = {"sma",  "ema",        "wma",      "dema",     "tema",
                                       "kama", "hma",        "bbands",   "keltner",  "vwap",
                                       "sar",  "supertrend", "ichimoku", "donchian", "heikin_ashi"};
    const char *output = strchr(name, '.');

    if (output && strcmp(output, ".direction") == 0)
        return false;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t len = strlen(rows[i]);
        if (strncmp(name, rows[i], len) == 0 && (name[len] == '_' || name[len] == '.' || !name[len]))
            return true;
    }
    return false;
}

/* Outputs of one indicator share what stands before the point. */
static bool same_indicator(const char *a, const char *b)
{
    size_t len = strcspn(a, ".");

    return a[len] && strncmp(a, b, len + 1) == 0;
}

bool tui_overlay_below(const struct history *history, int at, int *ret_first, int *ret_end)
{
    for (int i = 0, end; i < history->n_outputs; i = end) {
        end = i + 1;
        if (tui_overlay_on_price(history->output_names[i]))
            continue;
        while (end < history->n_outputs &&
               same_indicator(history->output_names[i], history->output_names[end]) &&
               !tui_overlay_on_price(history->output_names[end]))
            end++;
        if (at-- > 0)
            continue;
        *ret_first = i;
        *ret_end = end;
        return true;
    }
    return false;
}
