/* Every kernel of the masks against comparing value by value: all sizes around a word, equal values, both
 * zeros, infinities, NaN; nothing is written past the last word. */
#include "strategy/mask.h"

#include "tests/check.h"
#include "tests/random.h"

enum { VALUES_MAX = 300, WORDS = VALUES_MAX / MASK_BITS + 2, ROUNDS = 50 };

#define GUARD 0xdeadbeefcafef00d

static double random_value(struct random *random)
{
    static const double odd[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 1e-310, 1e308};
    return random_chance(random, 60) ? odd[random_between(random, 0, 8)]
                                     : (double)random_between(random, -3, 3);
}

static void expect(const uint64_t *above, const uint64_t *below, const double *a, const double *b,
                   size_t step, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = a[i], y = b[i * step];
        CHECK_INT(above[i / 64] >> (i % 64) & 1, x > y);
        CHECK_INT(below[i / 64] >> (i % 64) & 1, x < y);
    }
    if (n % MASK_BITS)
        CHECK(above[n / 64] >> (n % 64) == 0 && below[n / 64] >> (n % 64) == 0);
    for (size_t w = mask_words(n); w < WORDS; w++)
        CHECK(above[w] == GUARD && below[w] == GUARD);
}

static void poison(uint64_t *above, uint64_t *below)
{
    for (size_t w = 0; w < WORDS; w++)
        above[w] = below[w] = GUARD;
}

static void test_kernels(struct random *random)
{
    double a[VALUES_MAX], b[VALUES_MAX];
    uint64_t above[WORDS], below[WORDS];
    mask_compare *kernels[MASK_KERNELS];
    size_t n_kernels = mask_kernels(kernels);
    printf("%zu kernels\n", n_kernels);
    CHECK(n_kernels >= 1 && n_kernels <= MASK_KERNELS);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < VALUES_MAX; i++) {
            a[i] = random_value(random);
            b[i] = random_value(random);
        }
        for (size_t k = 0; k < n_kernels; k++) {
            for (size_t words = 0; words <= VALUES_MAX / MASK_BITS; words++) {
                poison(above, below);
                kernels[k](a, b, MASK_BITS, words, above, below);
                expect(above, below, a, b, 1, words * MASK_BITS);
            }
        }
        static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 192, VALUES_MAX};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            poison(above, below);
            mask_columns(a, b, sizes[k], above, below);
            expect(above, below, a, b, 1, sizes[k]);
            double level = random_value(random);
            poison(above, below);
            mask_level(a, level, sizes[k], above, below);
            expect(above, below, a, &level, 0, sizes[k]);
        }
    }
}

static void test_words(void)
{
    for (size_t n = 0; n < 200; n++) {
        for (size_t from = 0; from <= 200; from += 7) {
            for (size_t i = 0; i < 256; i++)
                CHECK_INT(mask_range(i / 64, from, n) >> (i % 64) & 1, i >= from && i < n);
        }
    }
    uint64_t before = 0;
    CHECK(mask_rises(0xf00000000000000f, &before) == 0x1000000000000001 && before == 1);
    CHECK(mask_rises(0x3, &before) == 0 && before == 0);
    CHECK(mask_rises(0x5, &before) == 0x5);

    static const double first[] = {NAN, NAN, 1, 2}, second[] = {NAN, 1, 2, 3}, never[] = {NAN, NAN, NAN, NAN};
    const double *outputs[] = {first, second, never};
    struct strategy_columns columns = {.n = 4, .indicators = outputs};
    CHECK_INT(mask_known_from(&columns, 0), 0);
    CHECK_INT(mask_known_from(&columns, 1), 2);
    CHECK_INT(mask_known_from(&columns, 2), 2);
    CHECK_INT(mask_known_from(&columns, 3), 4);
}

int main(void)
{
    struct random random = random_seeded("strategy/mask", 7);
    test_kernels(&random);
    test_words();
    return check_done("strategy/mask");
}
