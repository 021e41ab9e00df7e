/* The rules' one division against the language's own: quotients that fit a register and those that do not;
 * notionals and fees against their definition. */
#include "exchange/fill_rules.h"
#include "tests/check.h"
#include "tests/random.h"

static int64_t draw(struct random *random)
{
    return (int64_t)(random_next(random) >> random_between(random, 1, 63));
}

int main(void)
{
    struct random random = random_seeded("exchange/fill_divide", 12);
    for (int i = 0; i < 500000; i++) {
        int64_t a = draw(&random), b = draw(&random), by = draw(&random) + 1, rest;
        if (i % 7 == 0)
            by = a > 0 ? a : 1; /* the quotient is b, and at its bound */
        __int128 product = (__int128)a * b, whole = fill_divide(product, by, &rest);
        CHECK(whole == product / by && rest == (int64_t)(product % by));
        CHECK(fill_quotient(product, by) == product / by && fill_quotient(-product, by) == -product / by);
        int32_t rate = (int32_t)random_between(&random, 0, 1000000);
        CHECK_INT(fill_fee(a, rate), (int64_t)(((__int128)a * rate + 999999) / 1000000));
        if (whole < INT64_MAX) {
            CHECK_INT(fill_notional(ORDER_SELL, a, b, by), (int64_t)whole);
            CHECK_INT(fill_notional(ORDER_BUY, a, b, by), (int64_t)whole + (product % by != 0));
        }
    }
    return check_done("exchange/fill_divide");
}
