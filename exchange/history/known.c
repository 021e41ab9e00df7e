#include "exchange/history/known.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/whole_file.h"

#define SCHEMA "papertape.history_known/1"

enum { BYTES_MAX = 16 << 20, MODE = 0644 };

static bool take_days(const json_t *list, struct history_known *known)
{
    const size_t n = json_array_size(list);
    size_t bad;
    known->days = calloc(n + 1, sizeof *known->days);
    if (!known->days)
        return false;
    for (size_t i = 0; i < n; i++) {
        json_int_t early, open, close, late;
        if (json_unpack(json_array_get(list, i), "[I, I, I, I]", &early, &open, &close, &late) < 0)
            return false;
        known->days[known->n_days++] = (struct trading_day){early, open, close, late};
    }
    return trading_days_check(known->days, n, &bad) == 0;
}

static bool take(const json_t *object, struct history_known *known)
{
    const char *schema, *symbol, *calendar;
    json_int_t first, listed;
    json_t *days, *listing = NULL;
    if (json_unpack((json_t *)(uintptr_t)object, "{s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:o, s?o}", "schema",
                    &schema, "symbol", &symbol, "calendar", &calendar, "price_scale", &known->price_scale,
                    "qty_scale", &known->qty_scale, "first_ns", &first, "listed_ns", &listed, "days", &days,
                    "listing", &listing) < 0)
        return false;
    known->first_ns = first;
    known->listed_ns = listed;
    known->listing = json_incref(listing);
    return strcmp(schema, SCHEMA) == 0 &&
           snprintf(known->symbol, sizeof known->symbol, "%s", symbol) < (int)sizeof known->symbol &&
           snprintf(known->calendar, sizeof known->calendar, "%s", calendar) < (int)sizeof known->calendar &&
           known->price_scale >= 0 && known->price_scale <= 18 && known->qty_scale >= 0 &&
           known->qty_scale <= 18 && listed >= 0 && listed <= first && take_days(days, known);
}

int history_known_read(const char *folder, const struct history_series *series, struct history_known *ret)
{
    char path[PATH_MAX];
    int r = history_series_path(folder, series, HISTORY_KNOWN_ENDING, path);
    return r < 0 ? r : history_known_read_file(path, ret);
}

int history_known_read_file(const char *path, struct history_known *ret)
{
    struct history_known known = {.n_days = 0};
    char *text;
    size_t n;
    int r = whole_file_read(path, BYTES_MAX, &text, &n);
    if (r < 0)
        return r;
    json_t *object = json_loadb(text, n, 0, NULL);
    free(text);
    r = object && take(object, &known) ? 0 : -EBADMSG;
    json_decref(object);
    if (r == 0)
        *ret = known;
    else
        history_known_finish(&known);
    return r;
}

static char *text_of(const struct history_known *known)
{
    json_t *days = json_array();
    for (size_t i = 0; i < known->n_days; i++) {
        const struct trading_day *day = &known->days[i];
        json_array_append_new(days,
                              json_pack("[I, I, I, I]", (json_int_t)day->early_ns, (json_int_t)day->open_ns,
                                        (json_int_t)day->close_ns, (json_int_t)day->late_ns));
    }
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:o, s:O*}", "schema", SCHEMA, "symbol", known->symbol,
                  "calendar", known->calendar, "price_scale", known->price_scale, "qty_scale",
                  known->qty_scale, "first_ns", (json_int_t)known->first_ns, "listed_ns",
                  (json_int_t)known->listed_ns, "days", days, "listing", known->listing);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

int history_known_write(const char *folder, const struct history_series *series,
                        const struct history_known *known)
{
    struct whole_file file;
    char path[PATH_MAX], *text = text_of(known);
    int r = text ? history_series_path(folder, series, HISTORY_KNOWN_ENDING, path) : -ENOMEM;
    if (r == 0)
        r = whole_file_open(path, ".new", MODE, &file);
    if (r == 0)
        r = whole_file_close(&file, whole_file_put(&file, text, strlen(text)));
    free(text);
    return r;
}

void history_known_finish(struct history_known *known)
{
    free(known->days);
    json_decref(known->listing);
    *known = (struct history_known){.n_days = 0};
}
