#include "trainer/command/replay_bars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exchange/bar.h"
#include "exchange/fail.h"

static const char quote[] = "USDT";

/* The paths and names of all symbols, in one piece of memory. */
struct replay_names {
    char (*name)[SYMBOL_NAME_MAX];
    char *text;
    const char **paths, **names;
};

static bool names_init(struct replay_names *names, const struct replay_params *params, const char *folder)
{
    size_t n = (size_t)params->n_symbols, room = strlen(folder) + SYMBOL_NAME_MAX + 32;
    names->name = calloc(n, sizeof(*names->name));
    names->text = malloc(n * room);
    names->paths = calloc(n, sizeof(char *));
    names->names = calloc(n, sizeof(char *));
    if (!names->name || !names->text || !names->paths || !names->names)
        return false;
    for (size_t i = 0; i < n; i++) {
        char *path = names->text + i * room;
        const char *symbol = params->symbols[i];
        size_t len = strlen(symbol), q = strlen(quote);
        bool whole = len > q && strcmp(symbol + len - q, quote) == 0;
        snprintf(names->name[i], SYMBOL_NAME_MAX, "%.*s%s", (int)(SYMBOL_NAME_MAX - sizeof quote), symbol,
                 whole ? "" : quote);
        int len_path = snprintf(path, room, "%s/%s_%s.csv.gz", folder, names->name[i],
                                bar_interval_name(params->interval_ns));
        if (access(path, F_OK) != 0) {
            path[len_path - 3] = '\0';
            if (access(path, F_OK) != 0)
                path[len_path - 3] = '.'; /* the error names the .csv, not the .csv.gz */
        }
        names->paths[i] = path;
        names->names[i] = names->name[i];
    }
    return true;
}

static void names_finish(struct replay_names *names)
{
    free(names->name);
    free(names->text);
    free(names->paths);
    free(names->names);
}

static void time_text(int64_t ns, char text[static 32])
{
    time_t s = (time_t)(ns / 1000000000);
    struct tm tm;
    gmtime_r(&s, &tm);
    strftime(text, 32, "%Y-%m-%d %H:%M:%SZ", &tm);
}

static int check_interval(const struct market *market, const struct replay_params *params,
                          const char *params_path, char err[static MARKET_ERROR_MAX])
{
    const char *name = bar_interval_name(market->interval_ns);
    if (market->interval_ns == params->interval_ns)
        return 0;
    return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "interval: %.256s: the bars are of %s, and not of %s",
                     params_path, name ? name : "another interval", bar_interval_name(params->interval_ns));
}

static int check_closes(const struct market *market, const struct replay_params *params, size_t row,
                        const char *params_path, char err[static MARKET_ERROR_MAX])
{
    for (int i = 0; i < market->n_symbols && params->first_close; i++)
        if (market->series[i].close[row] != params->first_close[i])
            return fail_with(
                -EINVAL, err, MARKET_ERROR_MAX,
                "first_close[%d]: %.256s: %.15g, at which the first bar of %s closes, and not %.15g", i,
                params_path, market->series[i].close[row], market->series[i].symbol.name,
                params->first_close[i]);
    return 0;
}

static int find_first(const struct market *market, int64_t first_ns, const char *params_path, size_t *ret,
                      char err[static MARKET_ERROR_MAX])
{
    size_t row = market_store_row_at(market, first_ns);
    char at[32], from[32], to[32];
    time_text(first_ns, at);
    time_text(market->start_ns, from);
    time_text(market_open_ns(market, market->rows - 1), to);
    if (row == market->rows || market_open_ns(market, row) != first_ns)
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                         "first_bar: %.256s: no bar opens at %s: they go from %s to %s", params_path, at,
                         from, to);
    for (int i = 0; i < market->n_symbols; i++)
        if (!market_present(&market->series[i], row))
            return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                             "first_bar: %.256s: %s has no bar at %s: one that all symbols have", params_path,
                             market->series[i].symbol.name, at);
    *ret = row;
    return 0;
}

int trainer_replay_bars_load(const struct replay_params *params, const char *params_path, const char *folder,
                             const char *exchange_info, struct market **ret, size_t *ret_first,
                             char err[static MARKET_ERROR_MAX])
{
    struct replay_names names = {0};
    struct market *market = NULL;
    int r = -ENOMEM;
    snprintf(err, MARKET_ERROR_MAX, "out of memory");
    if (names_init(&names, params, folder)) {
        struct market_options options = {
            .names = names.names, .no_cache = true, .exchange_info = exchange_info};
        r = market_store_load_files(names.paths, (size_t)params->n_symbols, &options, &market, NULL, err);
    }
    if (r == 0)
        r = check_interval(market, params, params_path, err);
    if (r == 0)
        r = find_first(market, params->first_ns, params_path, ret_first, err);
    if (r == 0)
        r = check_closes(market, params, *ret_first, params_path, err);
    names_finish(&names);
    if (r < 0) {
        market_store_close(market);
        return r;
    }
    *ret = market;
    return 0;
}
