/* Spot, without the 25 % off for fees paid in BNB: https://www.binance.com/en/fee/schedule, as of early
 * 2025. Volumes are of the last 30 days in USD; from VIP 1 on a balance of BNB is required as well. Pairs
 * on promotion are charged less; an account's fee_maker and fee_taker set any other rate. */
#include "exchange/binance/format.h"

static const struct fee_tier tiers[] = {
    {"regular", {1000, 1000}, "everyone"},
    {"vip1", {900, 1000}, "1,000,000 USD in 30 days and 25 BNB"},
    {"vip2", {800, 1000}, "5,000,000 USD in 30 days and 100 BNB"},
    {"vip3", {400, 600}, "20,000,000 USD in 30 days and 250 BNB"},
    {"vip4", {400, 520}, "75,000,000 USD in 30 days and 500 BNB"},
    {"vip5", {250, 310}, "150,000,000 USD in 30 days and 1,000 BNB"},
    {"vip6", {200, 290}, "400,000,000 USD in 30 days and 1,750 BNB"},
    {"vip7", {190, 280}, "800,000,000 USD in 30 days and 3,000 BNB"},
    {"vip8", {160, 250}, "2,000,000,000 USD in 30 days and 4,500 BNB"},
    {"vip9", {110, 230}, "4,000,000,000 USD in 30 days and 5,500 BNB"},
};

const struct fee_schedule binance_fees = {"binance", tiers, sizeof tiers / sizeof *tiers};

/* Binance US has tables of its own: the highest rates of its usual pairs, and those of its Tier 0 pairs, as
 * of 2025. Discounts by volume and BNB are not included: fee_maker and fee_taker set them. */
static const struct fee_tier us_tiers[] = {
    {"us", {4000, 6000}, "everyone"},
    {"us-tier0", {0, 100}, "its Tier 0 pairs, as BTCUSDT"},
};

const struct fee_schedule binance_us_fees = {"binance-us", us_tiers, sizeof us_tiers / sizeof *us_tiers};
