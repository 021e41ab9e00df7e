#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/registry.h"
#include "indicators_gpu/step/window_rows.h"
#include "indicators_gpu/stream/visit.h"

#define INDICATOR_FAMILY "statistics"

/* clang-format off */

const struct indicator indicator_stddev = {
    INDICATOR_ROW(stddev),
    .summary = "Standard deviation (population), times a factor",
    .source = "TA-Lib STDDEV",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 5, 2), {"factor", 1, 0, 1000, false}),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-6},
    INDICATOR_WINDOW,
};

const struct indicator indicator_var = {
    INDICATOR_ROW(var),
    .summary = "Variance (population)",
    .source = "TA-Lib VAR",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 5, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_COLUMN, 1e-13, 1e-5},
    INDICATOR_WINDOW,
};

const struct indicator indicator_linreg_slope = {
    INDICATOR_ROW(linreg_slope),
    .summary = "Slope of the least squares line, a bar",
    .source = "TA-Lib LINEARREG_SLOPE",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-13, 1e-6},
    INDICATOR_WINDOW,
};

const struct indicator indicator_linreg_angle = {
    INDICATOR_ROW(linreg_angle),
    .summary = "Angle of the least squares line in degrees",
    .source = "TA-Lib LINEARREG_ANGLE",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-11, 6e-5},
    INDICATOR_WINDOW,
};

const struct indicator indicator_log_return = {
    INDICATOR_ROW(log_return),
    .summary = "Logarithmic return over some bars; 0 where a price is not above 0",
    .source = "ln(close / close before)",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("bars", 1, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-14, 2e-6},
    INDICATOR_CHANGES,
};

const struct indicator indicator_zscore = {
    INDICATOR_ROW(zscore),
    .summary = "Deviations (population) of the close from its mean; 0 where there is none",
    .source = "scipy.stats.zscore (ddof 0) of a rolling window",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-12, 1e-5},
    INDICATOR_WINDOW,
};

const struct indicator indicator_quantile = {
    INDICATOR_ROW(quantile),
    .summary = "Quantile of the window, between two values in proportion",
    .source = "numpy.quantile, linear",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 1), {"q", 0.5, 0, 1, false}),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_PRICE, 1e-15, 2e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_rank = {
    INDICATOR_ROW(rank),
    .summary = "Rank of the newest close in its window, a share of 1; equals share theirs",
    .source = "pandas Rolling.rank(pct=True)",
    .inputs = INDICATOR_CLOSE,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 20, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_ONE, 1e-15, 2e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_linearreg = {
    INDICATOR_ROW(linearreg),
    .summary = "Linear regression: the line at the newest bar",
    .source = "TA-Lib LINEARREG",
    .inputs = linearreg_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_linearreg_intercept = {
    INDICATOR_ROW(linearreg_intercept),
    .summary = "Linear regression: the line at the oldest bar",
    .source = "TA-Lib LINEARREG_INTERCEPT",
    .inputs = linearreg_intercept_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_tsf = {
    INDICATOR_ROW(tsf),
    .summary = "Time series forecast: the line one bar ahead",
    .source = "TA-Lib TSF",
    .inputs = tsf_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_avgdev = {
    INDICATOR_ROW(avgdev),
    .summary = "Mean absolute deviation",
    .source = "TA-Lib AVGDEV",
    .inputs = avgdev_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 14, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_beta = {
    INDICATOR_ROW(beta),
    .summary = "Beta of the low's returns on the high's",
    .source = "TA-Lib BETA",
    .inputs = beta_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 5, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};

const struct indicator indicator_correl = {
    INDICATOR_ROW(correl),
    .summary = "Correlation of high and low",
    .source = "TA-Lib CORREL",
    .inputs = correl_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 1)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_sum = {
    INDICATOR_ROW(sum),
    .summary = "Sum",
    .source = "TA-Lib SUM",
    .inputs = sum_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 30, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_WINDOW,
};

const struct indicator indicator_percentrank = {
    INDICATOR_ROW(percentrank),
    .summary = "Share of the closes before that are lower, in per cent",
    .source = "TA-Lib PERCENTRANK",
    .inputs = percentrank_inputs,
    INDICATOR_OPTIONS(INDICATOR_PERIOD("period", 100, 2)),
    INDICATOR_OUTPUTS(""),
    .tolerance = {INDICATOR_OF_VALUE, 1e-15, 1e-7},
    INDICATOR_CHANGES,
};
