/* trainer/env/simd/lanes.h lane by lane against plain C, the zeros, infinities and NaNs too. Built once for
 * each instruction set. */
#include "trainer/env/simd/lanes.h"
#include "tests/check.h"
#include "tests/random.h"

enum { ROUNDS = 2000, ROW = 37, ROWS = 64 };

static const double odd[] = {
    0.0,        -0.0,         0.3,        -0.3,      1,     -1,     2.5,      -2.5,      0x1p52, -0x1p52,
    0x1p52 - 1, 0x1p51 + 0.5, 1 - 0x1p52, 0x1p-1074, 1e300, -1e300, INFINITY, -INFINITY, NAN};
enum { ODD = sizeof odd / sizeof *odd };

static double number(struct random *random)
{
    if (random_chance(random, 50))
        return odd[random_between(random, 0, ODD - 1)];
    return (double)random_between(random, -1000000, 1000000) / 1024;
}

static bool same_f(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

static bool same_d(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

static void floats(struct random *random)
{
    float x[LANES], y[LANES], least[LANES], most[LANES], plain[LANES];
    for (int j = 0; j < LANES; j++) {
        x[j] = (float)number(random);
        y[j] = (float)number(random);
    }
    lane_f a = f_load(x), b = f_load(y);
    f_store(least, f_min(a, b));
    f_store(most, f_max(a, b));
    f_store(plain, f_abs(a));
    unsigned lt = f_bits(f_lt(a, b)), le = f_bits(f_le(a, b)), gt = f_bits(f_gt(a, b)),
             ge = f_bits(f_ge(a, b));
    unsigned eq = f_bits(f_eq(a, b)), other = f_bits(not_(f_lt(a, b)));
    for (int j = 0; j < LANES; j++) {
        CHECK((lt >> j & 1) == (x[j] < y[j]));
        CHECK((le >> j & 1) == (x[j] <= y[j]));
        CHECK((gt >> j & 1) == (x[j] > y[j]));
        CHECK((ge >> j & 1) == (x[j] >= y[j]));
        CHECK((eq >> j & 1) == (x[j] == y[j]));
        CHECK((other >> j & 1) == !(x[j] < y[j]));
        CHECK(same_f(least[j], x[j] < y[j] ? x[j] : y[j]));
        CHECK(same_f(most[j], x[j] > y[j] ? x[j] : y[j]));
        CHECK(same_f(plain[j], fabsf(x[j])));
    }
}

static void doubles(struct random *random)
{
    double x[LANES], y[LANES], least[LANES], most[LANES], plain[LANES_D], whole[LANES_D], sum[LANES];
    float narrow[LANES], back[LANES];
    for (int j = 0; j < LANES; j++) {
        x[j] = number(random);
        y[j] = number(random);
    }
    lane_dd a = dd_load(x), b = dd_load(y);
    dd_store(least, dd_min(a, b));
    dd_store(most, dd_max(a, b));
    dd_store(sum, dd_sub(dd_mul(a, b), dd_div(a, b)));
    d_store(plain, d_abs(a.lo));
    d_store(whole, d_floor(a.lo));
    f_store(narrow, f_of(a));
    f_store(back, f_of(dd_of(f_load(narrow))));
    unsigned lt = f_bits(f_mask_of(dd_lt(a, b))), ge = f_bits(f_mask_of(dd_ge(a, b)));
    for (int j = 0; j < LANES; j++) {
        CHECK((lt >> j & 1) == (x[j] < y[j]));
        CHECK((ge >> j & 1) == (x[j] >= y[j]));
        CHECK(same_d(least[j], x[j] < y[j] ? x[j] : y[j]));
        CHECK(same_d(most[j], x[j] > y[j] ? x[j] : y[j]));
        CHECK(same_d(sum[j], x[j] * y[j] - x[j] / y[j]));
        CHECK(same_f(narrow[j], (float)x[j]));
        CHECK(same_f(back[j], narrow[j]));
    }
    for (int j = 0; j < LANES_D; j++) {
        CHECK(same_d(plain[j], fabs(x[j])));
        CHECK(!(fabs(x[j]) <= 0x1p52) || same_d(whole[j], floor(x[j])));
    }
}

static void masks(struct random *random)
{
    unsigned bits = (unsigned)random_between(random, 0, (1 << LANES) - 1), low = bits & ((1u << LANES_D) - 1);
    CHECK(f_bits(f_mask(bits)) == bits);
    CHECK(f_any(f_mask(bits)) == (bits != 0));
    CHECK(d_bits(d_mask(low)) == low);
    mask_dd wide = dd_mask(f_mask(bits));
    CHECK((d_bits(wide.lo) | d_bits(wide.hi) << LANES_D) == bits);
    CHECK(f_bits(f_mask_of(wide)) == bits);
    float one[LANES];
    double two[LANES];
    int32_t three[LANES];
    f_store(one, f_select(f_mask(bits), f_all(1), f_all(-0.0f)));
    dd_store(two, dd_select(f_mask(bits), dd_all(1), dd_all(-0.0)));
    i_store(three, i_select(f_mask(bits), i_all(INT32_MAX), i_all(INT32_MIN)));
    unsigned equal = f_bits(i_eq(i_load(three), i_all(INT32_MAX)));
    unsigned less = f_bits(i_lt(i_load(three), i_all(0)));
    for (int j = 0; j < LANES; j++) {
        bool set = bits >> j & 1;
        CHECK(same_f(one[j], set ? 1 : -0.0f));
        CHECK(same_d(two[j], set ? 1 : -0.0));
        CHECK(three[j] == (set ? INT32_MAX : INT32_MIN));
        CHECK((equal >> j & 1) == set);
        CHECK((less >> j & 1) == !set);
    }
}

static void rows(struct random *random)
{
    static float narrow[ROWS][ROW];
    static double wide[ROWS][ROW];
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < ROW; k++)
            wide[r][k] = narrow[r][k] = (float)(r * ROW + k);
    const float *row[LANES];
    const double *row_d[LANES_D];
    for (int j = 0; j < LANES; j++)
        row[j] = &narrow[random_between(random, 0, ROWS - 1)][random_between(random, 0, ROW - 4)];
    for (int j = 0; j < LANES_D; j++)
        row_d[j] = &wide[random_between(random, 0, ROWS - 1)][random_between(random, 0, ROW - 4)];
    lane_f columns[4];
    lane_d columns_d[4];
    f_rows(row, columns);
    d_rows(row_d, columns_d);
    for (int k = 0; k < 4; k++) {
        float column[LANES];
        double column_d[LANES_D];
        f_store(column, columns[k]);
        d_store(column_d, columns_d[k]);
        for (int j = 0; j < LANES; j++)
            CHECK(column[j] == row[j][k]);
        for (int j = 0; j < LANES_D; j++)
            CHECK(column_d[j] == row_d[j][k]);
    }
}

int main(void)
{
#if LANES_BYTES == 64
    if (!__builtin_cpu_supports("avx512dq"))
        return CHECK_SKIP;
#elif LANES_BYTES == 32
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return CHECK_SKIP;
#endif
    struct random random = random_seeded("trainer/env/lanes", 20261121);
    for (int i = 0; i < ROUNDS; i++) {
        floats(&random);
        doubles(&random);
        masks(&random);
        rows(&random);
    }
    printf("trainer/env/lanes: %d lanes\n", (int)LANES);
    return check_done("trainer/env/lanes");
}
