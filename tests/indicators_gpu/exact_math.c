/* The logarithm, arcus tangent, sine and cosine of our own against libm's long double ones: how many units in
 * the last place they are off, on random numbers of every size and where the two change course; edges; and a
 * checksum of their bits, which no compiler may change. */
#include "indicators_gpu/step/exact_math.h"

#include "tests/check.h"
#include "tests/random.h"

enum { DRAWS = 400000 };
#define WORST_ULP 0.7

typedef double function(double x);
typedef long double reference_function(long double x);

/* Off by so many units in the last place of the true value. */
static double ulps(double got, long double expected)
{
    int exponent;
    frexpl(expected, &exponent);
    if (exponent < -1021)
        exponent = -1021;
    return (double)fabsl(ldexpl(got - expected, 53 - exponent));
}

static double uniform(struct random *random, double low, double high)
{
    return low + (high - low) * ((double)(random_next(random) >> 11) * 0x1p-53);
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

struct worst {
    double ulps, at;
};

static void look(struct worst *w, function *f, reference_function *reference, double x)
{
    double off = ulps(f(x), reference(x));
    if (!(off <= w->ulps)) {
        w->ulps = off;
        w->at = x;
    }
}

static void report(const char *name, const struct worst *w)
{
    printf("%s: at most %.4f units in the last place off, at %a\n", name, w->ulps, w->at);
    CHECK(w->ulps <= WORST_ULP);
}

/* At each point, its neighbours too. */
static void look_around(struct worst *w, function *f, reference_function *reference, double x)
{
    for (int i = -50; i <= 50; i++)
        look(w, f, reference, x + i * 0x1p-53 * x);
}

static void test_log(struct random random)
{
    struct worst any = {0}, near = {0}, ratio = {0}, turns = {0};
    for (int i = 0; i < DRAWS; i++) {
        look(&any, exact_log, logl, from_bits(1 + random_next(&random) % (0x7ff0000000000000u - 1)));
        look(&near, exact_log, logl, uniform(&random, 0.5, 2.0));
        double step = uniform(&random, -1, 1) * exp2((double)-random_between(&random, 0, 52));
        look(&ratio, exact_log, logl, 1.0 + 0.4 * step);
        look(&any, exact_log, logl, from_bits(1 + random_next(&random) % 0xfffffffffffffu)); /* subnormal */
    }
    for (int e = -5; e <= 5; e++) {
        look_around(&turns, exact_log, logl, ldexp(1.0, e));
        look_around(&turns, exact_log, logl, ldexp(M_SQRT2, e));
    }
    report("log of any number", &any);
    report("log from 1/2 to 2", &near);
    report("log near 1", &ratio);
    report("log where it changes course", &turns);

    CHECK(exact_log(0.0) == -INFINITY && exact_log(-0.0) == -INFINITY);
    CHECK(isnan(exact_log(-0x1p-1074)) && isnan(exact_log(-1.0)) && isnan(exact_log(-INFINITY)));
    CHECK(isnan(exact_log(NAN)) && exact_log(INFINITY) == INFINITY);
    CHECK(exact_log(1.0) == 0.0 && !signbit(exact_log(1.0)));
    CHECK_NEAR(exact_log(0x1p-1074), -744.4400719213812, 0x1p-43);
    CHECK_NEAR(exact_log(0x1.fffffffffffffp1023), 709.782712893384, 0x1p-43);
}

static void test_atan(struct random random)
{
    struct worst any = {0}, small = {0}, turns = {0};
    const double courses[] = {0x1p-28, 0.25, 0.5, 0.75, 1.0, 1.375, 2.0, 4.0, 0x1p60};
    for (int i = 0; i < DRAWS; i++) {
        look(&any, exact_atan, atanl, from_bits(random_next(&random) % 0x7ff0000000000000u));
        look(&small, exact_atan, atanl, uniform(&random, -6.0, 6.0));
        look(&small, exact_atan, atanl,
             uniform(&random, -1, 1) * exp2((double)random_between(&random, -30, 8)));
    }
    for (size_t i = 0; i < sizeof(courses) / sizeof(courses[0]); i++)
        look_around(&turns, exact_atan, atanl, courses[i]);
    report("atan of any number", &any);
    report("atan of small numbers", &small);
    report("atan where it changes course", &turns);

    for (int i = 0; i < 1000; i++) {
        double x = uniform(&random, 0, 10);
        CHECK(exact_atan(-x) == -exact_atan(x));
    }
    CHECK(exact_atan(0.0) == 0.0 && !signbit(exact_atan(0.0)) && signbit(exact_atan(-0.0)));
    CHECK(exact_atan(INFINITY) == M_PI_2 && exact_atan(-INFINITY) == -M_PI_2);
    CHECK(exact_atan(1.0) == M_PI_4 && exact_atan(-1.0) == -M_PI_4);
    CHECK(exact_atan(0x1p-1074) == 0x1p-1074 && isnan(exact_atan(NAN)));
}

/* Of angles to some turns: off by little of 1, which is what a sum of a period's products has. */
static void test_sin_cos(struct random random)
{
    double worst = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        double x = uniform(&random, -30.0, 30.0), sine, cosine;
        exact_sin_cos(x, &sine, &cosine);
        worst = fmax(worst, fmax((double)fabsl(sine - sinl(x)), (double)fabsl(cosine - cosl(x))));
    }
    printf("sine and cosine: at most %.3g off\n", worst);
    CHECK(worst > 0.0 && worst <= 0x1p-52);
    double sine, cosine;
    exact_sin_cos(0.0, &sine, &cosine);
    CHECK(sine == 0.0 && cosine == 1.0);
    exact_sin_cos(NAN, &sine, &cosine);
    CHECK(sine == 0.0 && cosine == 1.0);
}

/* FNV-1a over the bits of the functions on a grid: the same on every machine. */
static uint64_t add_bits(uint64_t sum, const double *values, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t bits;
        memcpy(&bits, &values[k], sizeof(bits));
        sum = (sum ^ bits) * 0x100000001b3u;
    }
    return sum;
}

static uint64_t bits_of_grid(void)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (int i = 1; i <= 100000; i++) {
        const double values[] = {exact_log(i * 0.001), exact_log(1.0 + 1e-3 / i), exact_atan(i * 0.0001),
                                 exact_atan(-1000.0 / i)};
        sum = add_bits(sum, values, sizeof(values) / sizeof(values[0]));
    }
    return sum;
}

/* Of sine and cosine, to some turns in both directions. */
static uint64_t bits_of_turns(void)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (int i = -50000; i <= 50000; i++) {
        double values[2];
        exact_sin_cos(i * 0.0005, &values[0], &values[1]);
        sum = add_bits(sum, values, 2);
    }
    return sum;
}

int main(void)
{
    struct random random = random_seeded("exact_math", 20260731);
    test_log(random);
    test_atan(random);
    test_sin_cos(random);
    uint64_t bits = bits_of_grid(), turns = bits_of_turns();
    printf("bits: %016" PRIx64 ", of sine and cosine %016" PRIx64 "\n", bits, turns);
    CHECK(bits == UINT64_C(0x8554c11478812b2c));
    CHECK(turns == UINT64_C(0x41b63311963f990d));
    return check_done("indicators_gpu/exact_math");
}
