#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/stream/visit.h"

const struct indicator indicator_stddev = {
    .name = "stddev",
    .summary = "Standard deviation (population), times a factor",
    .family = "statistics",
    .source = "TA-Lib STDDEV",
    .id = INDICATOR_STDDEV,
    .inputs = INDICATOR_CLOSE,
    .n_options = 2,
    .options = {INDICATOR_PERIOD("period", 5, 2), {"factor", 1, 0, 1000, false}},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-6},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_stddev, visit_row_stddev},
};

const struct indicator indicator_var = {
    .name = "var",
    .summary = "Variance (population)",
    .family = "statistics",
    .source = "TA-Lib VAR",
    .id = INDICATOR_VAR,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 5, 1)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_COLUMN, 1e-13, 1e-5},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_var, visit_row_var},
};

const struct indicator indicator_linreg_slope = {
    .name = "linreg_slope",
    .summary = "Slope of the least squares line, a bar",
    .family = "statistics",
    .source = "TA-Lib LINEARREG_SLOPE",
    .id = INDICATOR_LINREG_SLOPE,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 14, 2)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-6},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_linreg_slope, visit_row_linreg_slope},
};

const struct indicator indicator_linreg_angle = {
    .name = "linreg_angle",
    .summary = "Angle of the least squares line in degrees",
    .family = "statistics",
    .source = "TA-Lib LINEARREG_ANGLE",
    .id = INDICATOR_LINREG_ANGLE,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 14, 2)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_PRICE, 1e-11, 6e-5},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_linreg_angle, visit_row_linreg_angle},
};

const struct indicator indicator_log_return = {
    .name = "log_return",
    .summary = "Logarithmic return over some bars; 0 where a price is not above 0",
    .family = "statistics",
    .source = "ln(close / close before)",
    .id = INDICATOR_LOG_RETURN,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("bars", 1, 1)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_ONE, 1e-14, 2e-6},
    .lookback = lookback_changes,
    .warmup = warmup_changes,
    .code = &(const struct indicator_code){reference_log_return, visit_row_log_return},
};

const struct indicator indicator_zscore = {
    .name = "zscore",
    .summary = "Deviations (population) of the close from its mean; 0 where there is none",
    .family = "statistics",
    .source = "scipy.stats.zscore (ddof 0) of a rolling window",
    .id = INDICATOR_ZSCORE,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 20, 2)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_ONE, 1e-12, 1e-5},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_zscore, visit_row_zscore},
};

const struct indicator indicator_quantile = {
    .name = "quantile",
    .summary = "Quantile of the window, between two values in proportion",
    .family = "statistics",
    .source = "numpy.quantile, linear",
    .id = INDICATOR_QUANTILE,
    .inputs = INDICATOR_CLOSE,
    .n_options = 2,
    .options = {INDICATOR_PERIOD("period", 20, 1), {"q", 0.5, 0, 1, false}},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_PRICE, 1e-15, 2e-7},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_quantile, visit_row_quantile},
};

const struct indicator indicator_rank = {
    .name = "rank",
    .summary = "Rank of the newest close in its window, a share of 1; equals share theirs",
    .family = "statistics",
    .source = "pandas Rolling.rank(pct=True)",
    .id = INDICATOR_RANK,
    .inputs = INDICATOR_CLOSE,
    .n_options = 1,
    .options = {INDICATOR_PERIOD("period", 20, 2)},
    .n_outputs = 1,
    .outputs = {""},
    .tolerance = {INDICATOR_OF_ONE, 1e-15, 2e-7},
    .lookback = lookback_window,
    .warmup = warmup_window,
    .code = &(const struct indicator_code){reference_rank, visit_row_rank},
};
