#include "indicators_gpu/fast/plain.h"

#include <errno.h>
#include <stdlib.h>

int fast_plain(const struct indicator_spec *spec, const struct fast_columns *columns, void *const out[])
{
    size_t n = columns->n, n_outputs = spec->row->n_outputs;
    bool narrow = columns->precision == INDICATOR_F32;
    double *memory = malloc((INDICATOR_COLUMNS + INDICATOR_OUTPUTS_MAX) * n * sizeof(double));
    const double *in[INDICATOR_COLUMNS] = {NULL};
    double *result[INDICATOR_OUTPUTS_MAX];
    if (!memory)
        return -ENOMEM;

    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        double *wide = memory + c * n;
        in[c] = columns->at[c];
        if (!columns->at[c] || fast_cell(columns->precision, c) == sizeof(double))
            continue;
        for (size_t i = 0; i < n; i++)
            wide[i] = (double)((const float *)columns->at[c])[i];
        in[c] = wide;
    }
    for (size_t k = 0; k < n_outputs; k++)
        result[k] = narrow ? memory + (INDICATOR_COLUMNS + k) * n : out[k];
    struct indicator_columns bars = {in[FAST_OPEN],  in[FAST_HIGH],   in[FAST_LOW],
                                     in[FAST_CLOSE], in[FAST_VOLUME], in[FAST_TIME]};
    int r = indicator_reference(spec, &bars, n, result);
    for (size_t k = 0; k < n_outputs && r == 0 && narrow; k++)
        for (size_t i = 0; i < n; i++)
            ((float *)out[k])[i] = (float)result[k][i];
    free(memory);
    return r;
}
