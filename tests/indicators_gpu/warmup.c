/* Every row's warm-up: from there on a history that began later gives what the longer one gives, to the bit
 * where the output depends on a window only, else within the row's tolerance for the precision. */
#include "indicators_gpu/indicators.h"

#include "tests/check.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/specs.h"

enum { SKIPPED = 777, AFTER = 400 };

/* What a tolerance of `share` is at one value. */
static double allowed(const struct indicator *row, double share, double value, double price, double column)
{
    switch (row->tolerance.scale) {
    case INDICATOR_OF_VALUE:
        return share * fabs(value);
    case INDICATOR_OF_PRICE:
        return share * price;
    case INDICATOR_OF_COLUMN:
        return share * column;
    case INDICATOR_OF_ONE:
        break;
    }
    return share;
}

static double largest(const double *x, size_t n)
{
    double top = 0.0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, fabs(x[i])); /* NaN is skipped */
    return top;
}

/* Values from bar `from` on that differ by more than `share`; with `bits`, at all. */
static size_t misses(const struct indicator *row, const double *late, const double *whole, size_t from,
                     size_t n, double share, bool bits, double price)
{
    double column = largest(whole, n);
    size_t count = 0;
    for (size_t i = from; i < n; i++)
        if (bits ? memcmp(&late[i], &whole[i], sizeof(double)) != 0
                 : !(fabs(late[i] - whole[i]) <= allowed(row, share, whole[i], price, column)))
            count++;
    return count;
}

static void test_spec_forgets(const char *text)
{
    struct indicator_spec spec = test_spec(text);
    size_t lookback = indicator_lookback(&spec);
    size_t w64 = indicator_warmup(&spec, INDICATOR_F64), w32 = indicator_warmup(&spec, INDICATOR_F32);
    CHECK(lookback <= w32 && w32 <= w64);
    if (w64 == INDICATOR_FOREVER)
        return;

    size_t n = w64 + AFTER;
    struct series s = series_make(SKIPPED + n, SERIES_WALK, 2024);
    struct indicator_columns in = series_columns(&s);
    struct indicator_columns since = {s.open + SKIPPED,  s.high + SKIPPED,   s.low + SKIPPED,
                                      s.close + SKIPPED, s.volume + SKIPPED, s.time + SKIPPED};
    struct outputs whole = outputs_make(spec.row, SKIPPED + n), late = outputs_make(spec.row, n);
    CHECK_INT(indicator_reference(&spec, &in, SKIPPED + n, whole.at), 0);
    CHECK_INT(indicator_reference(&spec, &since, n, late.at), 0);
    double price = largest(s.high, s.n);
    for (size_t k = 0; k < spec.row->n_outputs; k++) {
        const double *expected = whole.at[k] + SKIPPED;
        size_t bad64 =
            misses(spec.row, late.at[k], expected, w64, n, spec.row->tolerance.f64, w64 == lookback, price);
        size_t bad32 =
            misses(spec.row, late.at[k], expected, w32, n, spec.row->tolerance.f32, w32 == lookback, price);
        CHECK_INT(bad64, 0);
        CHECK_INT(bad32, 0);
        if (bad64 + bad32 > 0)
            fprintf(stderr, "  %s output %zu, from %zu and %zu of %zu bars on\n", text, k, w64, w32, n);
    }
    outputs_free(&late);
    outputs_free(&whole);
    series_free(&s);
}

int main(void)
{
    test_specs_check();
    for (size_t i = 0; i < TEST_SPECS; i++)
        test_spec_forgets(test_specs[i]);
    return check_done("indicators_gpu/warmup");
}
