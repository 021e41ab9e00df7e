#include "trainer/training/ranges.h"

#include <errno.h>
#include <math.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "trainer/data.h"

#define say(err, ...) fail_with(-EINVAL, err, RANGES_ERROR_MAX, __VA_ARGS__)

size_t training_purge(size_t lookback, size_t forced_exit_bars, size_t cooldown_bars)
{
    return lookback + (forced_exit_bars > cooldown_bars ? forced_exit_bars : cooldown_bars) + 1;
}

static int find_rows(const struct market *market, const char *what, int64_t from_ns, int64_t to_ns,
                     struct source_rows *ret, char err[static RANGES_ERROR_MAX])
{
    size_t from = from_ns ? market_store_row_at(market, from_ns) : 0;
    size_t to = to_ns && to_ns != INT64_MAX ? market_store_row_at(market, to_ns) : market->rows;
    char first[CLOCK_TEXT_MAX], last[CLOCK_TEXT_MAX];
    if (from >= to) {
        clock_utc_text(market->start_ns, first);
        clock_utc_text(market_open_ns(market, market->rows - 1), last);
        return say(err, "[data] %s_from: no bars from there to %s_to: they go from %s to %s", what, what,
                   first, last);
    }
    *ret = (struct source_rows){from, to};
    return 0;
}

static size_t share_of(double share, size_t rows)
{
    return (size_t)llround(share * (double)rows);
}

static size_t purge_of(const struct train_config *config)
{
    const struct env_params *env = &config->env;
    return config->data.purge_bars >= 0 ? (size_t)config->data.purge_bars
                                        : training_purge((size_t)env->lookback, (size_t)env->forced_exit_bars,
                                                         (size_t)env->cooldown_bars);
}

static size_t length(const struct source_rows *rows)
{
    return rows->to - rows->from;
}

/* Takes the newest `share` of n rows off all->to, and a purge before it. */
static void take_newest(struct source_rows *all, double share, size_t n, size_t purge,
                        struct source_rows *ret)
{
    size_t rows = share_of(share, n);
    if (rows == 0)
        return;
    rows = rows < length(all) ? rows : length(all);
    *ret = (struct source_rows){all->to - rows, all->to};
    all->to = all->to - rows > all->from + purge ? all->to - rows - purge : all->from;
}

/* The rows that the smallest range lacks for an episode, as rows of the whole: 0 where it has enough. */
static size_t lacking(const struct train_config *config, const struct training_ranges *ranges, size_t n)
{
    const struct train_config_data *data = &config->data;
    const double rest = 1 - data->test_share - data->validation_share;
    const struct {
        const struct source_rows *rows;
        double share;
    } parts[] = {{&ranges->train, rest},
                 {&ranges->validation, data->validation_share},
                 {&ranges->test, data->test_share}};
    size_t needed = 2 * (size_t)config->env.lookback + 2, most = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t rows = length(parts[i].rows);
        size_t more = rows >= needed || parts[i].share <= 0
                          ? 0
                          : (size_t)ceil((double)(needed - rows) / parts[i].share);
        most = more > most ? more : most;
    }
    return n == 0 ? needed : most;
}

/* Only rows in which every symbol is listed: from the latest first bar to the earliest last one. */
static void keep_listed(const struct market *market, struct source_rows *rows)
{
    for (int i = 0; i < market->n_symbols; i++) {
        const struct market_series *series = &market->series[i];
        rows->from = series->first > rows->from ? series->first : rows->from;
        rows->to = series->last + 1 < rows->to ? series->last + 1 : rows->to;
    }
    rows->to = rows->to > rows->from ? rows->to : rows->from;
}

static int divide(const struct market *market, const struct train_config *config, struct training_ranges *ret,
                  char err[static RANGES_ERROR_MAX])
{
    const struct train_config_data *data = &config->data;
    size_t purge = purge_of(config);
    struct training_ranges ranges = {0};
    int r = find_rows(market, "train", data->train_from, data->to, &ranges.train, err);
    if (r == 0)
        r = trainer_data_check(market, ranges.train.from, ranges.train.to, err);
    if (r < 0)
        return r;
    keep_listed(market, &ranges.train);
    size_t n = length(&ranges.train);
    take_newest(&ranges.train, data->test_share, n, purge, &ranges.test);
    take_newest(&ranges.train, data->validation_share, n, purge, &ranges.validation);
    size_t more = lacking(config, &ranges, n);
    if (more > 0)
        return say(
            err,
            "[data] test_share: of %zu bars %g are to test, %g to validate, and %zu between two ranges "
            "(purge_bars): %zu, %zu and %zu to train on, and an episode of lookback %d needs %d: about %zu "
            "more bars, or a smaller lookback, are right",
            n, data->test_share, data->validation_share, purge, length(&ranges.test),
            length(&ranges.validation), length(&ranges.train), config->env.lookback,
            2 * config->env.lookback + 2, more);
    *ret = ranges;
    return 0;
}

static int find_given(const struct market *market, const struct train_config_data *data,
                      struct training_ranges *ret, char err[static RANGES_ERROR_MAX])
{
    int64_t end = data->to ? data->to : INT64_MAX;
    struct training_ranges ranges = {0};
    int r = find_rows(market, "train", data->train_from, train_config_train_end(data), &ranges.train, err);
    if (r == 0 && data->validation_from)
        r = find_rows(market, "validation", data->validation_from, train_config_validation_end(data),
                      &ranges.validation, err);
    if (r == 0 && data->test_from)
        r = find_rows(market, "test", data->test_from, data->test_to ? data->test_to : end, &ranges.test,
                      err);
    if (r == 0)
        *ret = ranges;
    return r;
}

static bool overlap(const struct source_rows *a, const struct source_rows *b)
{
    return b->to > 0 && a->from < b->to && b->from < a->to;
}

/* Features are fitted on what is trained on, unless fit_from or fit_to says otherwise. */
static int find_fit(const struct market *market, const struct train_config_data *data,
                    struct training_ranges *ranges, char err[static RANGES_ERROR_MAX])
{
    ranges->fit = ranges->train;
    if (data->fit_from || data->fit_to) {
        int r = find_rows(market, "fit", data->fit_from ? data->fit_from : data->train_from,
                          data->fit_to ? data->fit_to : market_open_ns(market, ranges->train.to),
                          &ranges->fit, err);
        if (r < 0)
            return r;
    }
    if (overlap(&ranges->fit, &ranges->validation) || overlap(&ranges->fit, &ranges->test))
        return say(
            err,
            "[data] fit_from, fit_to: features would be fitted on bars of evaluations: neither, or times "
            "outside these, are right");
    return 0;
}

int training_ranges_find(const struct market *market, const struct train_config *config, bool whole,
                         struct training_ranges *ret, char err[static RANGES_ERROR_MAX])
{
    const struct train_config_data *data = &config->data;
    struct training_ranges ranges = {0};
    int r = train_config_divides(data) && !whole ? divide(market, config, &ranges, err)
                                                 : find_given(market, data, &ranges, err);
    if (r == 0)
        r = find_fit(market, data, &ranges, err);
    if (r == 0)
        *ret = ranges;
    return r;
}
