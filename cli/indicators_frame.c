/* Indicators of a longer interval's closed bars: ema:9@1h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/indicators.h"
#include "cli/stored.h"
#include "exchange/bar.h"
#include "exchange/exit_status.h"
#include "indicators_gpu/features/group.h"

enum { SECOND_NS = 1000000000 };

int cli_indicators_split(const char *text, char *spec, size_t cap, const char **ret_interval,
                         int64_t *ret_seconds)
{
    const char *at = strrchr(text, '@');
    int64_t interval_ns = 0;
    size_t n = at ? (size_t)(at - text) : strlen(text);
    if (at && (bar_interval_parse_any(at + 1, &interval_ns) < 0 || interval_ns % SECOND_NS != 0 ||
               interval_ns <= 0))
        return cli_stored_fail(EXIT_USAGE, "indicators", text,
                               "an interval of whole seconds is needed after @, as ema:9@1h");
    if (n >= cap)
        return cli_stored_fail(EXIT_USAGE, "indicators", text, "too long for an indicator");
    memcpy(spec, text, n);
    spec[n] = '\0';
    *ret_interval = at ? at + 1 : NULL;
    *ret_seconds = interval_ns / SECOND_NS;
    return EXIT_OK;
}

int cli_indicators_frame(const char *path, const struct bars_file *bars, const double *open_time_s,
                         int64_t seconds, struct feature_timeframe *ret)
{
    const struct feature_bars from = {
        .n = bars->n,
        .columns = {bars->open, bars->high, bars->low, bars->close, bars->volume, open_time_s},
        .interval_s = bars->interval_ns / SECOND_NS,
    };
    char wrong[FEATURE_ERROR_MAX] = "";
    int r = feature_timeframe_build(seconds, &from, ret, wrong, sizeof(wrong));
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "indicators", path, *wrong ? wrong : strerror(-r)) : EXIT_OK;
}
