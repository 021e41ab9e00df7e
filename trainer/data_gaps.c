/* Which rows a market's symbols have in common, and which bars are missing. */
#include <errno.h>
#include <stdio.h>

#include "exchange/fail.h"
#include "trainer/data.h"

#define refuse(err, ...) fail_with(-EINVAL, err, TRAINER_DATA_ERROR_MAX, __VA_ARGS__)

static bool in_common(const struct market_series *a, const struct market_series *b, size_t from, size_t to)
{
    for (size_t row = from; row < to; row++)
        if (market_present(a, row) && market_present(b, row))
            return true;
    return false;
}

int trainer_data_check(const struct market *market, size_t from, size_t to,
                       char err[static TRAINER_DATA_ERROR_MAX])
{
    for (int i = 0; i < market->n_symbols; i++) {
        const struct market_series *a = &market->series[i];
        if (!in_common(a, a, from, to))
            return refuse(err, "bars: %s: none in these rows: a range in which it was traded is right",
                          a->symbol.name);
        for (int k = 0; k < i; k++)
            if (!in_common(a, &market->series[k], from, to))
                return refuse(
                    err, "bars: %s and %s: none of the same time: symbols that are traded together need some",
                    market->series[k].symbol.name, a->symbol.name);
    }
    return 0;
}

size_t trainer_data_missing(const struct market *market, int symbol, size_t from, size_t to,
                            char note[TRAINER_DATA_NOTE_MAX])
{
    const struct market_series *series = &market->series[symbol];
    size_t begin = from > series->first ? from : series->first;
    size_t end = to <= series->last ? to : series->last + 1, missing = 0;
    for (size_t row = begin; row < end; row++)
        missing += !market_present(series, row);
    if (note)
        note[0] = '\0';
    if (note && missing > 0)
        snprintf(note, TRAINER_DATA_NOTE_MAX,
                 "%s: %zu of its bars are missing: no bar is synthesized, and nothing trades in them",
                 series->symbol.name, missing);
    return missing;
}
