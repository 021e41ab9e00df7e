#include "tui/overlay.h"

#include <string.h>

/* The name that is hidden in the text, where it is that of the output's indicator; NULL. */
static const char *hidden_at(const char *hides, const char *name)
{
    size_t len = strcspn(name, ".");

    for (const char *c = hides + strspn(hides, " "); *c; c += strspn(c, " ")) {
        size_t word = strcspn(c, " ");
        if (word == len && strncmp(c, name, len) == 0)
            return c;
        c += word;
    }
    return NULL;
}

bool tui_overlay_is_hidden(const char *hides, const char *name)
{
    return hidden_at(hides, name) != NULL;
}

bool tui_overlay_toggle(char hides[static OVERLAY_HIDES_MAX], const char *name)
{
    const char *at = hidden_at(hides, name);
    size_t len = strcspn(name, "."), used = strcmp(hides, OVERLAY_HIDES_NONE) == 0 ? 0 : strlen(hides);

    if (at) {
        const char *rest = at + len + strspn(at + len, " ");
        size_t before = (size_t)(at - hides);
        memmove(hides + before, rest, strlen(rest) + 1);
        for (size_t n = strlen(hides); n > 0 && hides[n - 1] == ' '; n--)
            hides[n - 1] = '\0';
        if (!hides[0])
            memcpy(hides, OVERLAY_HIDES_NONE, sizeof(OVERLAY_HIDES_NONE));
        return true;
    }
    if (used + 1 + len >= OVERLAY_HIDES_MAX)
        return false;
    if (used > 0)
        hides[used++] = ' ';
    memcpy(hides + used, name, len);
    hides[used + len] = '\0';
    return true;
}

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

bool tui_overlay_below(const struct history *history, const char *hides, int at, int *ret_first, int *ret_end)
{
    for (int i = 0, end; i < history->n_outputs; i = end) {
        end = tui_overlay_end(history, i);
        const char *name = history->output_names[i];
        if (tui_overlay_on_price(name) || tui_overlay_is_hidden(hides, name) || at-- > 0)
            continue;
        *ret_first = i;
        *ret_end = end;
        return true;
    }
    return false;
}
