/* The fast backend against the reference: every row with every instruction set and precision. */
#include "indicators_gpu/indicators.h"

#include "tests/check.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/specs.h"

int main(void)
{
    struct series s = series_make(5000, SERIES_WALK, 1);
    struct indicator_columns in = series_columns(&s);
    for (int f32 = 0; f32 < 2; f32++)
        for (enum indicator_isa isa = INDICATOR_ISA_BASELINE; isa <= indicator_isa_best(); isa++)
            for (size_t t = 0; t < TEST_SPECS; t++) {
                struct indicator_spec spec = test_spec(test_specs[t]);
                static double cols[6][5000], out[4][5000];
                static float fcols[6][5000], fout[4][5000];
                const double *src[6] = {in.open, in.high, in.low, in.close, in.volume, in.time};
                struct indicator_request rq = {.precision = f32 ? INDICATOR_F32 : INDICATOR_F64,
                                               .isa = isa,
                                               .n_specs = 1,
                                               .specs = &spec};
                for (int c = 0; c < 6; c++) {
                    for (int i = 0; i < 5000; i++)
                        cols[c][i] = f32 && c < 5 ? (double)(fcols[c][i] = (float)src[c][i]) : src[c][i];
                    rq.columns[c].n = 5000;
                    rq.columns[c].values = f32 && c < 5 ? (void *)fcols[c] : (void *)cols[c];
                }
                void *outs[4];
                for (int k = 0; k < 4; k++)
                    outs[k] = f32 ? (void *)fout[k] : (void *)out[k];
                rq.out = outs;
                char err[200] = "";
                CHECK_INT(indicator_compute(&rq, err, sizeof(err)), 0);
                CHECK_STR(err, "");
                static double ref[4][5000];
                double *refs[4] = {ref[0], ref[1], ref[2], ref[3]};
                struct indicator_columns rin = {cols[0], cols[1], cols[2], cols[3], cols[4], cols[5]};
                CHECK_INT(indicator_reference(&spec, &rin, 5000, refs), 0);
                double worst = 0;
                for (size_t k = 0; k < spec.row->n_outputs; k++)
                    for (int i = 0; i < 5000; i++) {
                        double got = f32 ? (double)fout[k][i] : out[k][i];
                        CHECK(isnan(got) == isnan(ref[k][i]));
                        double d = fabs(got - ref[k][i]);
                        if (d > worst)
                            worst = d;
                    }
                printf("%s %s %s %g\n", test_specs[t], f32 ? "f32" : "f64", indicator_isa_name(isa), worst);
            }
    series_free(&s);
    return check_done("indicators_gpu/fast");
}
