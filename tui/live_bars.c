#include "tui/live_bars.h"

#include <math.h>
#include <string.h>

#include "cli/text.h"
#include "record/json.h"

void tui_live_bars_finish(struct live_bars *live)
{
    for (int i = 0; i < live->n; i++)
        json_decref(live->values[i]);
    *live = (struct live_bars){0};
}

static void add(struct live_bars *live, const json_t *object, bool forming)
{
    const struct history_bar bar = {
        .open_ns = json_integer_value(json_object_get(object, "open_time_ms")) * 1000000,
        .open = record_json_number(object, "open"),
        .high = record_json_number(object, "high"),
        .low = record_json_number(object, "low"),
        .close = record_json_number(object, "close"),
        .volume = record_json_number(object, "volume"),
    };

    if (bar.open_ns <= 0 || !isfinite(bar.open) || !isfinite(bar.high) || !isfinite(bar.low) ||
        !isfinite(bar.close) || !isfinite(bar.volume) ||
        (live->n > 0 && bar.open_ns <= live->bars[live->n - 1].open_ns))
        return;
    live->bars[live->n] = bar;
    live->forming[live->n] = forming;
    live->values[live->n++] = json_incref(json_object_get(object, "indicators"));
}

void tui_live_bars_take(struct live_bars *live, const char *symbol, const char *timeframe,
                        const json_t *result, int64_t now_ms)
{
    tui_live_bars_finish(live);
    cli_text_clean(live->symbol, sizeof(live->symbol), symbol);
    cli_text_clean(live->timeframe, sizeof(live->timeframe), timeframe);
    live->mono_ms = now_ms;
    add(live, json_object_get(result, "closed"), false);
    add(live, json_object_get(result, "forming"), true);
}

int tui_live_bars_newer(const struct live_bars *live, const struct history *history)
{
    int n = 0;

    if (history->n_bars == 0 || !history->bars_newest || strcmp(live->symbol, history->bars_symbol) != 0 ||
        strcmp(live->timeframe, history->bars_interval) != 0)
        return 0;
    while (n < live->n && live->bars[live->n - 1 - n].open_ns > history->bars[history->n_bars - 1].open_ns)
        n++;
    return n;
}

double tui_live_bars_value(const struct live_bars *live, int i, const char *name)
{
    return record_json_number(live->values[i], name);
}
