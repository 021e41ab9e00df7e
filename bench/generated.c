#include <stdlib.h>

#include "bench/generated.h"
#include "bench/measure.h"
#include "exchange/symbol.h"

int generated_market(const struct env_params *params, int n_features, uint64_t *seed, struct env_market **ret,
                     char err[static ENV_ERROR_MAX])
{
    const struct symbol symbol = {.price_scale = 8,
                                  .trading = true,
                                  .qty_scale = 8,
                                  .quote_scale = 8,
                                  .filters = {.price_min = 1000000, /* 0.01 */
                                              .tick = 1000000,
                                              .qty_min = 1000, /* 0.00001 */
                                              .step = 1000,
                                              .notional_min = 500000000, /* 5.00 */
                                              .notional_min_market = true}};
    static const char *const names[GENERATED_ASSETS] = {"A", "B", "C", "D", "E"};
    struct env_asset_source assets[GENERATED_ASSETS];
    for (int i = 0; i < GENERATED_ASSETS; i++) {
        double *column[5];
        for (int c = 0; c < 5; c++)
            column[c] = bench_room(GENERATED_ROWS, sizeof(double));
        double cents = 5000.0 * (i + 1);
        for (size_t r = 0; r < GENERATED_ROWS; r++) {
            double open = cents;
            cents = (double)(int64_t)(cents * (1 + 0.004 * (bench_uniform(seed) - 0.5)) + 0.5);
            cents = cents < 1000 ? 1000 : cents;
            column[0][r] = open / 100;
            column[1][r] = ((open > cents ? open : cents) + 2) / 100;
            column[2][r] = ((open < cents ? open : cents) - 2) / 100;
            column[3][r] = cents / 100;
            column[4][r] = 1 + 9 * bench_uniform(seed);
        }
        assets[i] = (struct env_asset_source){.name = names[i],
                                              .min_order_qty = 1e-4,
                                              .symbol = &symbol,
                                              .open = column[0],
                                              .high = column[1],
                                              .low = column[2],
                                              .close = column[3],
                                              .volume = column[4]};
    }
    float *features = NULL;
    if (n_features) {
        features = bench_room((size_t)GENERATED_ROWS * (size_t)n_features, sizeof(float));
        for (size_t k = 0; k < (size_t)GENERATED_ROWS * (size_t)n_features; k++)
            features[k] = (float)bench_uniform(seed);
    }
    struct env_market_source source = {.rows = GENERATED_ROWS,
                                       .n_assets = GENERATED_ASSETS,
                                       .assets = assets,
                                       .interval_ns = INT64_C(300000000000),
                                       .features = features,
                                       .n_features = n_features};
    int r = env_market_create(&source, params, ret, err);
    free(features);
    for (int i = 0; i < GENERATED_ASSETS; i++) {
        const double *columns[] = {assets[i].open, assets[i].high, assets[i].low, assets[i].close,
                                   assets[i].volume};
        for (int c = 0; c < 5; c++)
            free((void *)columns[c]);
    }
    return r;
}
