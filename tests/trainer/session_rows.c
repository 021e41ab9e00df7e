/* session-rows BARS SESSION SET: the rows that an environment of that session has of a file of bars of New
 * York stocks, as CSV: when each opens (s), its bits of struct env_market_source's sessions, is its bar
 * there, its close, and its features, nine digits each. For tests/trainer/session_rows.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/market/compact.h"
#include "exchange/calendar_file.h"
#include "trainer/data.h"

static int fail(const char *err)
{
    fprintf(stderr, "session-rows: %s\n", err);
    return EXIT_FAILURE;
}

static void print_rows(const struct trainer_data *data, const struct market *market)
{
    const struct env_market_source *source = trainer_data_source(data);
    for (size_t row = 0; row < source->rows; row++) {
        printf("%lld,%d,%d,%.9g", (long long)(market_open_ns(market, row) / 1000000000),
               source->sessions[row], market_present(&market->series[0], row), source->assets[0].close[row]);
        for (int f = 0; f < source->n_features; f++)
            printf(",%.9g", row < source->first_row
                                ? 0.0
                                : (double)source->features[row * (size_t)source->n_features + (size_t)f]);
        printf(",%zu\n", source->first_row);
    }
}

int main(int argc, char **argv)
{
    struct calendar_file *file;
    struct market *all, *market;
    struct trainer_data *data;
    char why[CALENDAR_ERROR_MAX], err[MARKET_ERROR_MAX];
    if (argc != 4)
        return fail("BARS SESSION SET");
    enum session_choice choice = strcmp(argv[2], "extended") == 0 ? SESSION_EXTENDED : SESSION_REGULAR;
    if (calendar_file_open("nyse", &file, why) < 0)
        return fail(why);
    const struct trading_calendar *calendar = calendar_file_view(file);
    const struct market_options options = {.no_cache = true, .calendar = calendar, .session = choice};
    const char *const paths[] = {argv[1]};
    if (market_store_load_files(paths, 1, &options, &all, NULL, err) < 0 ||
        market_store_compact(all, calendar, choice, &market, err) < 0)
        return fail(err);
    const struct trainer_data_options wanted = {
        .features = argv[3], .fit_to = market->rows, .backend = FEATURE_EXACT};
    if (trainer_data_create(market, &wanted, &data, err) < 0)
        return fail(err);
    print_rows(data, market);
    trainer_data_destroy(data);
    market_store_close(market);
    market_store_close(all);
    calendar_file_close(file);
    return EXIT_SUCCESS;
}
