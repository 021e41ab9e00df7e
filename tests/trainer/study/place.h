/* Generated bars as files, and searches over them. Of one asset a hidden regime is up or down and stays with
 * a probability of PLACE_STAY; the volume shows it, with noise. Where there is a signal the next bar's return
 * is +PLACE_DRIFT or -PLACE_DRIFT by it; without, that is drawn again at every bar. */
#ifndef TESTS_TRAINER_STUDY_PLACE_H
#define TESTS_TRAINER_STUDY_PLACE_H

#include "exchange/whole_file.h"
#include "tests/check.h"
#include "tests/fatal.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "trainer/study/internal.h"

#define PLACE_STAY  0.9
#define PLACE_DRIFT 0.004

/* Three columns, one of each kind of normaliser. */
#define PLACE_FEATURES "log_return:1 zscore\nsma:5 /close-1 minmax\nvolume log1p normal\n"

enum { PLACE_TEXT = 4096, PLACE_FILE_MAX = 1 << 20 };

/* Rows of bars, in memory, so that some can be given other values. */
struct place_bars {
    size_t rows;
    double *close, *volume; /* [rows] */
};

static inline double place_evenly(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

static inline void place_draw(struct place_bars *bars, size_t rows, bool signal, uint64_t seed)
{
    struct random random = {seed * 2 + signal};
    double close = 100;
    int regime = 1;
    *bars = (struct place_bars){rows, fatal_calloc(rows, sizeof(double)), fatal_calloc(rows, sizeof(double))};
    for (size_t r = 0; r < rows; r++) {
        int drift = signal ? regime : random_chance(&random, 50) ? 1 : -1;
        close *= 1 + PLACE_DRIFT * drift + 0.004 * (2 * place_evenly(&random) - 1);
        regime = place_evenly(&random) < PLACE_STAY ? regime : -regime;
        bars->close[r] = close;
        bars->volume[r] = exp(regime + 0.3 * (2 * place_evenly(&random) - 1));
    }
}

static inline void place_free(struct place_bars *bars)
{
    free(bars->close);
    free(bars->volume);
}

static inline bool place_every_17th(size_t row)
{
    return row % 17 == 5;
}

/* All of a file of the program's directory, for free(). */
static inline char *place_read(const char *name, size_t *ret_n)
{
    const char *path = scratch_path(name);
    char *bytes;
    if (whole_file_read(path, PLACE_FILE_MAX, &bytes, ret_n) < 0)
        fatal("%s", path);
    return bytes;
}

/* Hourly, NAMEUSDT_1h.csv; of every bar but those of which missing(row) says so. */
static inline const char *place_write(const struct place_bars *bars, const char *name,
                                      bool (*missing)(size_t))
{
    char file[64];
    snprintf(file, sizeof file, "%.16sUSDT_1h.csv", name);
    const char *path = scratch_path(file);
    FILE *out = fopen(path, "we");
    if (!out)
        fatal("%s", path);
    fputs("timestamp,open,high,low,close,volume\n", out);
    double before = bars->close[0];
    for (size_t r = 0; r < bars->rows; before = bars->close[r++])
        if (!missing || !missing(r))
            fprintf(out, "%zu,%.6f,%.6f,%.6f,%.6f,%.6f\n", 1704067200 + 3600 * r, before,
                    fmax(before, bars->close[r]), fmin(before, bars->close[r]), bars->close[r],
                    bars->volume[r]);
    if (fclose(out) != 0)
        fatal("%s", path);
    return path;
}

static inline const char *place_features(const char *lines)
{
    const char *path = scratch_path("features.txt");
    FILE *out = fopen(path, "we");
    if (!out || fprintf(out, "set place\n%s", lines) < 0 || fclose(out) != 0)
        fatal("%s", path);
    return path;
}

/* A small training: `bars` as [data] bars takes it; `features` "" or a path; `more`: further lines. */
static inline void place_text(char text[static PLACE_TEXT], const char *bars, const char *features,
                              const char *more)
{
    snprintf(
        text, PLACE_TEXT,
        "[training]\nname = small\ntotal_steps = 4096\nthreads = 1\ndevice = cpu\nseed = 3\n"
        "[network]\npolicy_layers = 16,16\nvalue_layers = 16,16\n"
        "[ppo]\ncopies = 4\nsteps = 128\nminibatch = 256\nepochs = 2\nlearning_rate = 0.003\ngamma = 0.95\n"
        "[environment]\nlookback = 2\nepisode_bars = 60\nrandom_start = true\nforced_exit_bars = 0\n"
        "norm_action = 0.25\nnorm_cash = 0.001\nnorm_stocks = 0.1\nnorm_tech = 1\nnorm_reward = 1\n"
        "weight_alpha = 0\nweight_cash = 0\nweight_absolute = 1\ntime_decay_floor = 1\n"
        "buy_cost_pct = 0.001\nsell_cost_pct = 0.001\n"
        "[data]\nbars = %s\nfeatures = %s\n%s\n",
        bars, features, more);
}

static inline void place_config(struct train_config *config, const char *bars, const char *features,
                                const char *more)
{
    char text[PLACE_TEXT], err[CONFIG_ERROR_MAX];
    place_text(text, bars, features, more);
    if (train_config_parse("place", text, config, err) < 0)
        fatal("%s", err);
}

static inline void place_settings(struct study_settings *settings, const char *split)
{
    char err[SPLIT_ERROR_MAX];
    *settings = (struct study_settings){.purge_bars = -1,
                                        .embargo_bars = -1,
                                        .holdout = 0.2,
                                        .deviation_weight = 0.1,
                                        .ensemble = 1,
                                        .gates = {0, 0.2, 0.95, 0.3, 20}};
    if (split_parse(split, &settings->split, err) < 0)
        fatal("%s", err);
}

static inline struct study_market *place_open(const struct train_config *config,
                                              struct study_settings *settings)
{
    struct study_market *market = NULL;
    char err[TRIAL_ERROR_MAX];
    if (study_market_open(config, settings, NULL, &market, err) != 0)
        fatal("%s", err);
    return market;
}

#endif
