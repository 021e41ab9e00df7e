/* Lanes of doubles against the integers of exchange/fill_rules.h, bit by bit: quotients that are whole, one
 * below and one above, lots and ticks with an offset, and numbers of every size. Built once for each
 * instruction set that has fused products. */
#include "trainer/env/simd/exact.h"
#include "tests/check.h"
#include "tests/random.h"

enum { ROUNDS = 60000, ROUNDS_LONG = 6000000, PER_ROUND = 4 * LANES_D };

#define LARGEST (((int64_t)1 << 52) - 1)

static uint64_t cases, odd_lanes, plain_lanes;

/* Of every size alike, and often at a power of two or the largest. */
static int64_t number(struct random *random, int64_t max)
{
    if (max <= 0)
        return 0;
    int64_t edge = (int64_t)1 << random_between(random, 0, 52);
    int64_t v;
    if (random_chance(random, 10))
        v = edge + random_between(random, -1, 1);
    else if (random_chance(random, 5))
        v = max - random_between(random, 0, 2);
    else
        v = random_between(random, 0, edge);
    return v < 0 ? 0 : v > max ? v % (max + 1) : v;
}

static int64_t divide_bound(int64_t by, int64_t p)
{
    if (p == 0)
        return LARGEST;
    __int128 most = ((__int128)by * LARGEST) / p;
    return most < LARGEST ? (int64_t)most : LARGEST;
}

/* q with p q = 1 mod d, where there is one. */
static int64_t inverse_modulo(int64_t p, int64_t d)
{
    __int128 a = p % d, b = d, x = 1, y = 0;
    while (b != 0) {
        __int128 whole = a / b, rest = a % b, z = x - whole * y;
        a = b;
        b = rest;
        x = y;
        y = z;
    }
    return a == 1 ? (int64_t)((x % d + d) % d) : 0;
}

static int64_t some_divisor(struct random *random)
{
    int64_t by = 1;
    switch (random_between(random, 0, 3)) {
    case 0:
        for (int64_t n = random_between(random, 0, 17); n > 0; n--)
            by *= 10;
        return by;
    case 1:
        return (int64_t)1 << random_between(random, 0, 52);
    case 2:
        return 1 + number(random, LARGEST);
    default:
        return random_between(random, 1, 1000) * random_between(random, 1, 1000000);
    }
}

/* A pair whose product is near a multiple of `by`, or any. */
static void some_pair(struct random *random, int64_t by, int64_t *p, int64_t *q)
{
    *p = number(random, LARGEST);
    int64_t most = divide_bound(by, *p);
    *q = number(random, most);
    int64_t kind = random_between(random, 0, 3);
    if (kind == 0 && *p > 0 && by < LARGEST) { /* whole: q takes what of the divisor p lacks */
        int64_t a = *p, b = by;
        while (b != 0) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        int64_t lacks = by / a;
        if (lacks <= most)
            *q = lacks * number(random, most / lacks);
    } else if (kind <= 2 && *p > 0 && by > 1 && by < LARGEST) { /* one above, one below */
        int64_t one = inverse_modulo(*p, by);
        if (one > 0 && kind == 2)
            one = by - one;
        if (one > 0 && one <= most)
            *q = one + by * number(random, (most - one) / by);
    }
}

static void compare(const char *what, int64_t p, int64_t q, int64_t by, double got, int64_t want)
{
    cases++;
    if (got != (double)want && ++check_failures < 20)
        fprintf(stderr, "%s of %jd, %jd, %jd is %.17g, not %jd\n", what, (intmax_t)p, (intmax_t)q,
                (intmax_t)by, got, (intmax_t)want);
}

/* Counted, so that the lanes' own way is seen to be taken. */
static bool is_odd(mask_d odd, int lane)
{
    bool is = d_bits(odd) >> lane & 1;
    *(is ? &odd_lanes : &plain_lanes) += 1;
    return is;
}

static void test_notionals(struct random *random)
{
    int64_t by = some_divisor(random);
    struct exact_divisor divisor = exact_divisor(by);
    for (int v = 0; v < PER_ROUND / LANES_D; v++) {
        int64_t p[LANES_D], q[LANES_D];
        double dp[LANES_D], dq[LANES_D], sold[LANES_D], bought[LANES_D], near[LANES_D];
        for (int j = 0; j < LANES_D; j++) {
            some_pair(random, by, &p[j], &q[j]);
            dp[j] = (double)p[j];
            dq[j] = (double)q[j];
        }
        mask_d odd = d_mask(0);
        d_store(near, exact_cost(d_load(dp), d_load(dq), &divisor, &odd));
        d_store(sold, exact_proceeds(d_load(dp), d_load(dq), &divisor, NULL));
        d_store(bought, exact_cost(d_load(dp), d_load(dq), &divisor, NULL));
        for (int j = 0; j < LANES_D; j++) {
            compare("floor", p[j], q[j], by, sold[j], fill_notional(ORDER_SELL, p[j], q[j], by));
            compare("ceil", p[j], q[j], by, bought[j], fill_notional(ORDER_BUY, p[j], q[j], by));
            if (!is_odd(odd, j))
                compare("ceil in lanes", p[j], q[j], by, near[j], fill_notional(ORDER_BUY, p[j], q[j], by));
        }
    }
}

static void test_fees(struct random *random)
{
    for (int v = 0; v < PER_ROUND / LANES_D; v++) {
        int64_t notional[LANES_D], rate[LANES_D];
        double dn[LANES_D], dr[LANES_D], fee[LANES_D], near[LANES_D];
        for (int j = 0; j < LANES_D; j++) {
            notional[j] = number(random, LARGEST);
            rate[j] = random_chance(random, 30) ? 1 << random_between(random, 0, 19)
                                                : random_between(random, 0, 1000000);
            if (random_chance(random, 30) && notional[j] >= 1000000)
                notional[j] -= notional[j] % 1000000 + random_between(random, -1, 1);
            dn[j] = (double)notional[j];
            dr[j] = (double)rate[j];
        }
        mask_d odd = d_mask(0);
        d_store(near, exact_fee(d_load(dn), d_load(dr), &odd));
        d_store(fee, exact_fee(d_load(dn), d_load(dr), NULL));
        for (int j = 0; j < LANES_D; j++) {
            compare("fee", notional[j], rate[j], 1000000, fee[j], fill_fee(notional[j], (int32_t)rate[j]));
            if (!is_odd(odd, j))
                compare("fee in lanes", notional[j], rate[j], 1000000, near[j],
                        fill_fee(notional[j], (int32_t)rate[j]));
        }
    }
}

static void test_lots(struct random *random)
{
    struct fill_lot lot = {
        .min = random_chance(random, 50) ? number(random, LARGEST / 8) : 0,
        .max = random_chance(random, 50) ? number(random, LARGEST) : 0,
        .step = random_chance(random, 80) ? number(random, LARGEST / 4) : 1,
        .market_min = random_chance(random, 30) ? number(random, LARGEST / 8) : 0,
        .market_max = random_chance(random, 30) ? number(random, LARGEST) : 0,
        .market_step = random_chance(random, 50) ? number(random, LARGEST / 4) : 0,
    };
    struct exact_lot exact = exact_lot(&lot);
    for (int v = 0; v < PER_ROUND / LANES_D; v++) {
        int64_t qty[LANES_D];
        double dq[LANES_D], fits[LANES_D];
        for (int j = 0; j < LANES_D; j++) {
            qty[j] = number(random, LARGEST);
            if (random_chance(random, 50) && lot.step > 0 && qty[j] >= lot.min)
                qty[j] -= (qty[j] - lot.min) % lot.step + random_between(random, -1, 1);
            if (random_chance(random, 20) && lot.market_step > 0) /* near where no market's lot is */
                qty[j] = lot.min + number(random, lot.market_step);
            if (qty[j] < 0 || qty[j] > LARGEST)
                qty[j] = 0;
            dq[j] = (double)qty[j];
        }
        d_store(fits, exact_floor_qty(&exact, d_load(dq)));
        for (int j = 0; j < LANES_D; j++)
            compare("lots", qty[j], lot.step, lot.market_step, fits[j], fill_floor_qty(&lot, true, qty[j]));
    }
}

static void test_prices(struct random *random)
{
    int64_t price_min = random_chance(random, 70) ? number(random, LARGEST / 1024) : 0;
    int64_t tick = random_chance(random, 80) ? number(random, LARGEST / 1024) : 0;
    struct exact_tick exact = exact_tick(price_min, tick);
    for (int v = 0; v < PER_ROUND / LANES_D; v++) {
        int64_t price[LANES_D], slippage[LANES_D];
        double dp[LANES_D], ds[LANES_D], floor[LANES_D], at[LANES_D], near[LANES_D];
        unsigned buys = (unsigned)random_between(random, 0, (1 << LANES_D) - 1);
        for (int j = 0; j < LANES_D; j++) {
            price[j] = 1 + number(random, LARGEST / 2 - 2 * tick - 2);
            if (random_chance(random, 50) && tick > 0 && price[j] > price_min + 1)
                price[j] -= (price[j] - price_min) % tick + random_between(random, -1, 1);
            if (price[j] <= 0)
                price[j] = 1;
            slippage[j] = random_chance(random, 20)   ? 0
                          : random_chance(random, 50) ? random_between(random, 1, 5000)
                                                      : random_between(random, 1, 999999);
            dp[j] = (double)price[j];
            ds[j] = (double)slippage[j];
        }
        d_store(floor, exact_floor_price(&exact, d_load(dp)));
        const lane_d zero = d_all(0);
        mask_d odd = d_mask(0), bought = d_mask(buys), slips = d_gt(d_load(ds), zero);
        lane_d sign = d_select(bought, zero, d_all(-0.0));
        d_store(at, exact_slipped(&exact, bought, slips, d_load(dp), d_load(ds)));
        d_store(near, d_abs(exact_slipped_signed(&exact, sign, slips, d_load(dp), d_load(ds), &odd)));
        for (int j = 0; j < LANES_D; j++) {
            compare("tick", price[j], price_min, tick, floor[j], fill_floor_price(price[j], price_min, tick));
            enum order_side side = buys >> j & 1 ? ORDER_BUY : ORDER_SELL;
            int64_t want = fill_slipped(side, price[j], (int32_t)slippage[j], price_min, tick, 0);
            compare(side == ORDER_BUY ? "bought at" : "sold at", price[j], slippage[j], tick, at[j], want);
            if (!is_odd(odd, j))
                compare("traded in lanes at", price[j], slippage[j], tick, near[j], want);
        }
    }
}

static void test_affordable(struct random *random)
{
    int64_t by = some_divisor(random);
    struct exact_divisor divisor = exact_divisor(by);
    struct fill_lot lot = {.step = random_between(random, 1, 100)};
    int64_t p[LANES_D], q[LANES_D], cash[LANES_D], fee[LANES_D];
    double dp[LANES_D], dq[LANES_D], dc[LANES_D], df[LANES_D], most[LANES_D], costs[LANES_D];
    for (int j = 0; j < LANES_D; j++) {
        some_pair(random, by, &p[j], &q[j]);
        p[j] += p[j] == 0;
        fee[j] = random_between(random, 0, 100000);
        int64_t all = fill_purchase(p[j], q[j], by, (int32_t)fee[j]);
        cash[j] = random_chance(random, 60) ? all + random_between(random, -1, 1) : number(random, LARGEST);
        if (cash[j] < 0 || cash[j] > 2 * LARGEST)
            cash[j] = 0;
        dp[j] = (double)p[j];
        dq[j] = (double)q[j];
        dc[j] = (double)cash[j];
        df[j] = (double)fee[j];
    }
    d_store(costs, exact_purchase(d_load(dp), d_load(dq), &divisor, d_load(df), NULL));
    d_store(most, exact_affordable_integers(d_load(dc), d_load(dp), d_load(dq), by, d_load(df), &lot));
    for (int j = 0; j < LANES_D; j++) {
        compare("costs", p[j], q[j], by, costs[j], fill_purchase(p[j], q[j], by, (int32_t)fee[j]));
        compare("affordable", cash[j], p[j], q[j], most[j],
                fill_affordable(cash[j], p[j], q[j], by, (int32_t)fee[j], &lot));
    }
}

int main(void)
{
#if LANES_BYTES == 64
    bool works = __builtin_cpu_supports("avx512dq");
#else
    bool works = __builtin_cpu_supports("fma");
#endif
    if (!works) {
        puts("trainer/env/exact: the processor lacks the instruction set");
        return CHECK_SKIP;
    }
    struct random random = random_seeded("trainer/env/exact", 20261121);
    int rounds = getenv("PAPERTAPE_LONG") ? ROUNDS_LONG : ROUNDS;
    for (int i = 0; i < rounds; i++) {
        test_notionals(&random);
        test_fees(&random);
        test_lots(&random);
        test_prices(&random);
        test_affordable(&random);
    }
    printf("trainer/env/exact: %d lanes, %d rounds, %llu numbers compared\n", LANES_D, rounds,
           (unsigned long long)cases);
    printf("trainer/env/exact: %llu lanes were odd, %llu not\n", (unsigned long long)odd_lanes,
           (unsigned long long)plain_lanes);
    CHECK(odd_lanes > 0 && plain_lanes > odd_lanes / 4);
    check_count += cases;
    return check_done("trainer/env/exact");
}
