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

int tui_overlay_end(const struct history *history, int first)
{
    const char *name = history->output_names[first];
    size_t len = strcspn(name, ".");
    int end = first + 1;

    while (name[len] && end < history->n_outputs && strncmp(name, history->output_names[end], len + 1) == 0 &&
           tui_overlay_on_price(history->output_names[end]) == tui_overlay_on_price(name))
        end++;
    return end;
}

bool tui_overlay_below(const struct history *history, int at, int *ret_first, int *ret_end)
{
    for (int i = 0, end; i < history->n_outputs; i = end) {
        end = tui_overlay_end(history, i);
        if (tui_overlay_on_price(history->output_names[i]) || at-- > 0)
            continue;
        *ret_first = i;
        *ret_end = end;
        return true;
    }
    return false;
}
