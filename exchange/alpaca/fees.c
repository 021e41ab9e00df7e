/* Crypto by the volume of the last 30 days in USD: https://alpaca.markets/support/crypto-maker-taker-gmt-faq,
 * in effect since 2023-03-13. Stocks are free of commission; what regulators take of sales is not in it. */
#include "exchange/alpaca/format.h"

static const struct fee_tier tiers[] = {
    {"crypto1", {1500, 2500}, "crypto, up to 100,000 USD in 30 days", ASSET_CRYPTO},
    {"crypto2", {1200, 2200}, "crypto, 100,000 USD in 30 days", ASSET_CRYPTO},
    {"crypto3", {1000, 2000}, "crypto, 500,000 USD in 30 days", ASSET_CRYPTO},
    {"crypto4", {800, 1800}, "crypto, 1,000,000 USD in 30 days", ASSET_CRYPTO},
    {"crypto5", {500, 1500}, "crypto, 10,000,000 USD in 30 days", ASSET_CRYPTO},
    {"crypto6", {200, 1300}, "crypto, 25,000,000 USD in 30 days", ASSET_CRYPTO},
    {"crypto7", {200, 1200}, "crypto, 50,000,000 USD in 30 days", ASSET_CRYPTO},
    {"crypto8", {0, 1000}, "crypto, 100,000,000 USD in 30 days", ASSET_CRYPTO},
    {"stocks", {0, 0}, "stocks", ASSET_US_EQUITY},
};

const struct fee_schedule alpaca_fees = {"alpaca", tiers, sizeof tiers / sizeof *tiers};
