/* The rows that a study has: where they end, what is kept clear of tests, what is fitted once, and what is
 * refused when it begins. */
#include "tests/trainer/study/place.h"

#include <errno.h>

enum { ROWS = 1500 };

/* ---- What is kept clear of. ---- */

/* The most that the space has is what is kept clear of. */
static void test_purge(void)
{
    struct place_bars bars;
    struct study_settings settings;
    struct distribution lookback, forced;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    char err[DISTRIBUTION_ERROR_MAX];
    place_settings(&settings, "kfold:4");
    place_draw(&bars, ROWS, false, 61);
    place_config(config, place_write(&bars, "AAA", NULL), place_features(PLACE_FEATURES),
                 "[environment]\ncooldown_bars = 7\n");
    struct study_market *market = place_open(config, &settings);
    CHECK_INT(market->purge, 2 + 7 + 1);
    CHECK_INT(market->embargo, 4); /* sma:5 has its first value with the fifth bar */
    CHECK_INT(market->search.from, 4 + 2);
    CHECK_INT(market->holdout.to, ROWS - 2);
    CHECK_INT(market->holdout.from - market->search.to, market->purge + market->embargo);
    CHECK_NEAR((double)(market->holdout.to - market->holdout.from), 0.2 * (ROWS - 8), 1);
    study_market_close(market);

    CHECK_INT(distribution_number(DISTRIBUTION_INT, 1, 5, 1, false, &lookback, err), 0);
    CHECK_INT(distribution_number(DISTRIBUTION_INT, 0, 20, 1, false, &forced, err), 0);
    CHECK_INT(space_add(&settings.space, "lookback", &lookback), 0);
    CHECK_INT(space_add(&settings.space, "forced_exit_bars", &forced), 0);
    market = place_open(config, &settings);
    CHECK_INT(market->lookback, 5);
    CHECK_INT(market->purge, 5 + 20 + 1);
    study_market_close(market);
    settings.purge_bars = 11;
    settings.embargo_bars = 12;
    settings.holdout = 0;
    market = place_open(config, &settings);
    CHECK(market->purge == 11 && market->embargo == 12);
    CHECK_INT(market->search.to, ROWS - 5);
    CHECK_INT(market->holdout.to - market->holdout.from, 0);
    study_market_close(market);
    space_finish(&settings.space);
    distribution_finish(&lookback);
    distribution_finish(&forced);
    place_free(&bars);
    free(config);
}

/* ---- Where it ends. ---- */

/* A symbol whose bars end while another is traded on: the study ends with it, as if the other's bars after
 * that had never been, and says so. */
enum { ENDED = 600 };

static bool after_end(size_t row)
{
    return row >= ENDED;
}

static bool halted(size_t row)
{
    return row >= ROWS - 100 && row < ROWS - 5;
}

static void keep_words(void *ctx, const char *words)
{
    snprintf(ctx, TRIAL_ERROR_MAX, "%s", words);
}

/* AAA with `rows` bars beside BBB with ROWS, except those `missing`. Opened; its messages. */
static int open_two(size_t rows, bool (*missing)(size_t), const char *more, struct train_config *config,
                    struct study_settings *settings, struct study_market **ret,
                    char reported[static TRIAL_ERROR_MAX], char err[static TRIAL_ERROR_MAX])
{
    struct place_bars a, b;
    char first[SCRATCH_PATH_MAX], both[2 * SCRATCH_PATH_MAX + 8];
    const struct study_market_options options = {.warned = keep_words, .ctx = reported};
    reported[0] = err[0] = '\0';
    place_settings(settings, "kfold:2");
    place_draw(&a, ROWS, true, 83);
    place_draw(&b, ROWS, true, 84);
    a.rows = rows;
    snprintf(first, sizeof first, "%s", place_write(&a, "AAA", NULL));
    snprintf(both, sizeof both, "%s,%s", first, place_write(&b, "BBB", missing));
    place_config(config, both, place_features(PLACE_FEATURES), more);
    config->ppo.total_steps = 1024;
    place_free(&a);
    place_free(&b);
    return study_market_open(config, settings, &options, ret, err);
}

static void test_ended(const char *execution)
{
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config), *whole = fatal_calloc(1, sizeof *whole);
    struct study_market *market = NULL, *without = NULL;
    struct trial_outcome outcome, other;
    struct trial_split held, held_without;
    char err[TRIAL_ERROR_MAX], reported[TRIAL_ERROR_MAX], more[160];
    size_t n = 0, n_other = 0;
    snprintf(more, sizeof more, "[environment]\nexecution = %s\n", execution);
    CHECK_INT(open_two(ROWS, after_end, more, config, &settings, &market, reported, err), 0);
    CHECK(strstr(reported, "BBBUSDT: none after 2024-01-25T23:00:00Z") &&
          strstr(reported, "last 900 of 1500 rows"));
    CHECK_INT(market->rows, ENDED);
    CHECK_INT(market->holdout.to, ENDED - 2);
    for (int i = 0; i < 2; i++)
        CHECK(trainer_data_row(market->grid, market->rows - 1) <= market->source.market->series[i].last);
    CHECK_INT(open_two(ENDED, after_end, more, whole, &settings, &without, reported, err), 0);
    CHECK_STR(reported, "");
    CHECK(market->search.to == without->search.to && market->holdout.from == without->holdout.from);
    CHECK_INT(study_trial_run(market, config, scratch_path("ended"), NULL, &outcome, err), 0);
    CHECK_INT(study_trial_final(market, config, scratch_path("ended"), NULL, &held, err), 0);
    CHECK_INT(study_trial_run(without, whole, scratch_path("without"), NULL, &other, err), 0);
    CHECK_INT(study_trial_final(without, whole, scratch_path("without"), NULL, &held_without, err), 0);
    char *of = place_read("ended/returns.csv", &n);
    char *than = place_read("without/returns.csv", &n_other);
    CHECK(outcome.value == other.value && held.sharpe == held_without.sharpe);
    CHECK(n > 1000 && n == n_other && memcmp(of, than, n) == 0);
    free(of);
    free(than);
    study_market_close(market);
    study_market_close(without);

    /* It is traded again after a halt; it ends after the study's last row. */
    CHECK_INT(open_two(ROWS, halted, more, config, &settings, &market, reported, err), 0);
    CHECK_STR(reported, "");
    CHECK_INT(trainer_data_row(market->grid, market->rows - 1), ROWS - 1);
    study_market_close(market);
    snprintf(more, sizeof more, "train_to = 2024-01-25T12:00:00Z\n[environment]\nexecution = %s\n",
             execution);
    CHECK_INT(open_two(ROWS, after_end, more, config, &settings, &market, reported, err), 0);
    CHECK_STR(reported, "");
    CHECK_INT(market->rows, ENDED - 12);
    study_market_close(market);
    /* What comes after train_to says nothing of a halt before it: it may not have come yet. */
    snprintf(more, sizeof more, "train_to = 2024-02-29T12:00:00Z\n[environment]\nexecution = %s\n",
             execution);
    CHECK_INT(open_two(ROWS, halted, more, config, &settings, &market, reported, err), 0);
    CHECK(strstr(reported, "BBBUSDT: none after 2024-02-28T07:00:00Z") &&
          strstr(reported, "last 28 of 1428 rows"));
    CHECK_INT(market->rows, ROWS - 100);
    study_market_close(market);
    /* It has none of the study's rows. */
    snprintf(more, sizeof more, "train_from = 2024-01-26T00:00:00Z\n[environment]\nexecution = %s\n",
             execution);
    CHECK_INT(open_two(ROWS, after_end, more, config, &settings, &market, reported, err), -EINVAL);
    CHECK(strstr(err, "BBBUSDT: none after 2024-01-25T23:00:00Z: a study without it"));
    free(config);
    free(whole);
}

/* ---- What is fitted once, and what each trial fits. ---- */

static bool ends_after(void *ctx)
{
    int *looks = ctx;
    return (*looks)-- == 0;
}

static void test_fitted(bool (*missing)(size_t))
{
    enum { SPLITS = 3 };
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    struct trial_outcome all, one;
    struct study_market *some = NULL;
    char err[TRIAL_ERROR_MAX] = "";
    size_t bytes = 0;
    place_settings(&settings, "kfold:3");
    place_draw(&bars, ROWS, true, 72);
    place_config(config, place_write(&bars, "AAA", missing), missing ? "" : place_features(PLACE_FEATURES),
                 missing ? "[environment]\nexecution = reference\n" : "");
    config->ppo.total_steps = 512;
    struct study_market *market = place_open(config, &settings);
    for (int i = 0; i <= SPLITS; i++)
        bytes += trainer_data_bytes(market->fitted[i]);
    CHECK_INT(market->fitted_bytes, bytes);
    CHECK_INT(study_market_each_bytes(market), 0);
    const struct env_market_source *source = trainer_data_source(market->fitted[0]);
    const size_t split = trainer_data_bytes(market->fitted[0]);
    /* Of each row its place, a bit, and its features; of bars with gaps five columns and a time. */
    CHECK_INT(split, source->rows * (8 + 4 * (size_t)source->n_features + (missing ? 48 : 0)) +
                         (source->rows + 63) / 64 * 8);
    CHECK((source->n_features > 0) == !missing);
    CHECK_INT(study_trial_run(market, config, scratch_path("fitted"), NULL, &all, err), 0);

    const struct study_market_options room = {.fitted_bytes = split + 1};
    CHECK_INT(study_market_open(config, &settings, &room, &some, err), 0);
    CHECK(some->fitted[0] && !some->fitted[1] && !some->fitted[SPLITS - 1] && !some->fitted[SPLITS]);
    CHECK_INT(some->fitted_bytes, split);
    CHECK_INT(study_market_each_bytes(some), split);
    CHECK_INT(study_trial_run(some, config, scratch_path("fitted"), NULL, &one, err), 0);
    CHECK(one.value == all.value);
    study_market_close(some);

    const struct study_market_options last = {.no_trials = true};
    CHECK_INT(study_market_open(config, &settings, &last, &some, err), 0);
    CHECK(!some->fitted[0] && !some->fitted[SPLITS - 1] && some->fitted[SPLITS]);
    CHECK_INT(study_market_each_bytes(some), 0);
    study_market_close(some);

    for (int looks = 0; looks <= SPLITS; looks++) {
        int left = looks;
        const struct study_market_options ends = {.stopped = ends_after, .ctx = &left};
        some = NULL;
        CHECK_INT(study_market_open(config, &settings, &ends, &some, err), 1);
        CHECK(!some && left == -1);
    }
    study_market_close(market);
    place_free(&bars);
    free(config);
}

/* ---- What is refused. ---- */

/* `range`: of [search] episode_bars; NULL: it is not searched. */
static void refused_of(const char *text, size_t rows, double holdout, int64_t purge, const char *more,
                       const double *range, const char *word)
{
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    struct study_market *market = NULL;
    char err[TRIAL_ERROR_MAX] = "";
    place_settings(&settings, text);
    settings.holdout = holdout;
    settings.purge_bars = purge;
    place_draw(&bars, rows, false, 51);
    place_config(config, place_write(&bars, "AAA", NULL), "", more);
    char name[] = "episode_bars";
    struct space_param episode = {.name = name};
    if (range)
        episode.distribution =
            (struct distribution){.kind = DISTRIBUTION_INT, .low = range[0], .high = range[1], .step = 1};
    settings.space = (struct space){.params = &episode, .n = range != NULL};
    CHECK_INT(study_market_open(config, &settings, NULL, &market, err), word ? -EINVAL : 0);
    CHECK(!word || strstr(err, word));
    if (word && !strstr(err, word))
        fprintf(stderr, "%s: %s\n", word, err);
    study_market_close(market);
    place_free(&bars);
    free(config);
}

static void refused(const char *text, size_t rows, double holdout, int64_t purge, const char *more,
                    const char *word)
{
    refused_of(text, rows, holdout, purge, more, NULL, word);
}

static void test_refusals(void)
{
    refused("cpcv:5,2", 120, 0.2, -1, "", "an episode needs 60");
    refused("cpcv:5,2", 1500, 0.2, 400, "", "purge of 400");
    refused("kfold:5", 200, 0.97, 10, "", "holdout");
    refused("kfold:64", 100, 0, 0, "", "too few for 64 groups");
}

/* A searched episode: the most of its range counts, what [environment] has of it does not. What is said to be
 * right is. */
static void test_searched_episode(void)
{
    refused_of("cpcv:5,2", 1500, 0.2, -1, "", (double[]){60, 100}, NULL);
    refused_of("cpcv:5,2", 120, 0.2, -1, "", (double[]){5, 5}, NULL); /* 60 would not be right */
    refused_of("cpcv:5,2", 120, 0.2, -1, "", (double[]){300, 400}, "[search] episode_bars: 400: split ");
    refused_of("cpcv:5,2", 120, 0.2, -1, "", (double[]){5, 400}, "at most 15, or ");
    refused_of("cpcv:5,2", 120, 0.2, -1, "", (double[]){5, 16}, "[search] episode_bars: 16: ");
    refused_of("cpcv:5,2", 120, 0.2, -1, "", (double[]){5, 15}, NULL);
    refused_of("cpcv:5,2", 1500, 0.2, 400, "", (double[]){5, 60}, "[study] validation: ");
}

int main(void)
{
    test_purge();
    test_ended("market");
    test_ended("reference");
    test_fitted(NULL);
    test_fitted(place_every_17th);
    test_refusals();
    test_searched_episode();
    return check_done("trainer/study/market");
}
