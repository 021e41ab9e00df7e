/* A trial: what its training may see, what its test says, and when it ends. */
#include "tests/trainer/study/place.h"

#include <errno.h>

#include "strategy/metrics.h"
#include "trainer/command/eval_episode.h"

enum { ROWS = 1500, SOME = 60 };

/* ---- What training sees. ---- */

/* Weights and normalisers of a training on split `which`, one after the other. */
static float *learn(const struct study_market *market, const struct train_config *config, int which,
                    size_t *ret_n)
{
    const struct study_split *split = &market->settings->split;
    int chosen[SPLIT_GROUPS_MAX];
    struct split_rows blocks[SPLIT_BLOCKS_MAX];
    char err[TRIAL_ERROR_MAX] = "";
    struct study_running_trial run = {.market = market, .config = config, .whole = 1};
    struct study_trained learnt = {0};
    split_begin(split, chosen);
    for (int i = 0; i < which; i++)
        split_next(split, chosen);
    int n = study_training(market, chosen, blocks);
    CHECK_INT(study_train(&run, which, blocks, n, market->search.to + market->lookback, &learnt, err), 0);
    CHECK_STR(err, "");
    size_t o = (size_t)learnt.policy.layout.shape.observation, p = learnt.policy.layout.n_params;
    float *all_of_it = fatal_calloc(p + 2 * o, sizeof(float));
    memcpy(all_of_it, learnt.policy.params, p * sizeof(float));
    memcpy(all_of_it + p, learnt.policy.mean, o * sizeof(float));
    memcpy(all_of_it + p + o, learnt.policy.scale, o * sizeof(float));
    *ret_n = p + 2 * o;
    study_trained_finish(&learnt);
    return all_of_it;
}

/* Other values in the rows where `spoil`, which say something else throughout. */
static void spoil_rows(struct place_bars *bars, const bool *spoil, uint64_t seed)
{
    struct random random = {seed};
    for (size_t r = 0; r < bars->rows; r++)
        if (spoil[r]) {
            bars->close[r] *= 0.5 + place_evenly(&random);
            bars->volume[r] = 100 * place_evenly(&random);
        }
}

/* Which rows no training of split `which` may depend on: everything but its blocks, and what features of the
 * first rows of a block look back to, `window` bars. */
static void mark_unseen(const struct study_market *market, int which, size_t window, bool *ret)
{
    const struct study_split *split = &market->settings->split;
    size_t all = market->search.to - market->search.from;
    int chosen[SPLIT_GROUPS_MAX];
    struct split_rows blocks[SPLIT_BLOCKS_MAX];
    split_begin(split, chosen);
    for (int i = 0; i < which; i++)
        split_next(split, chosen);
    int n = split_training(split, all, chosen, market->purge, market->embargo, blocks);
    for (size_t r = 0; r < ROWS; r++)
        ret[r] = true;
    for (int i = 0; i < n; i++)
        for (size_t r = blocks[i].from; r < blocks[i].to + window; r++)
            ret[r + market->search.from - window] = false;
}

static size_t marked(const bool *rows)
{
    size_t n = 0;
    for (size_t r = 0; r < ROWS; r++)
        n += rows[r];
    return n;
}

/* Every split is learnt again where all that it must not see is another story: the same bits. And where
 * some bars of a training block differ: other ones. `window`: bars that features look back. */
static void test_unseen(const char *split, const char *execution, const char *lines, size_t window)
{
    struct place_bars bars, spoilt;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    char more[128], own[16];
    const char *path = lines[0] ? place_features(lines) : "";
    snprintf(more, sizeof more, "[environment]\nexecution = %s\n", execution);
    place_settings(&settings, split);
    place_draw(&bars, ROWS, true, 11);
    place_config(config, place_write(&bars, "AAA", NULL), path, more);
    config->ppo.total_steps = 1024;
    struct study_market *market = place_open(config, &settings);
    CHECK(market->embargo + 1 >= window);
    for (int which = 0; which < settings.split.combinations; which++) {
        bool unseen[ROWS];
        size_t n, n_again, n_other;
        float *once = learn(market, config, which, &n);
        struct train_config *again = fatal_calloc(1, sizeof *again);
        snprintf(own, sizeof own, "B%d", which % 100);
        for (int seen = 0; seen < 2; seen++) {
            place_draw(&spoilt, ROWS, true, 11);
            mark_unseen(market, which, window, unseen);
            CHECK(marked(unseen) > ROWS / 4 && marked(unseen) < ROWS);
            if (seen) { /* some bars that are trained on */
                size_t row = 20;
                while (unseen[row] || unseen[row + SOME])
                    row++;
                memset(unseen, 0, sizeof unseen);
                memset(unseen + row, 1, SOME * sizeof *unseen);
            }
            spoil_rows(&spoilt, unseen, 5);
            place_config(again, place_write(&spoilt, own, NULL), path, more);
            again->ppo.total_steps = 1024;
            struct study_market *other = place_open(again, &settings);
            CHECK_INT(other->search.from, market->search.from);
            CHECK_INT(other->search.to, market->search.to);
            float *there = learn(other, again, which, &n_again);
            CHECK_INT(n_again, n);
            CHECK((memcmp(once, there, n * sizeof(float)) == 0) == !seen);
            free(there);
            study_market_close(other);
            place_free(&spoilt);
        }
        float *twice = learn(market, config, which, &n_other);
        CHECK(memcmp(once, twice, n * sizeof(float)) == 0);
        free(twice);
        free(once);
        free(again);
    }
    study_market_close(market);
    place_free(&bars);
    free(config);
}

/* ---- What the test says. ---- */

/* The holdout of study_trial_final(), and what eval makes of its policy on the same rows, with a lookback
 * before them and one behind, as an episode has them. */
static void test_eval(const char *lines, const char *execution)
{
    struct place_bars bars[2];
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    struct trial_split split;
    struct trained_policy *policy = NULL;
    struct eval_market market;
    struct training_episode episode;
    char err[TRIAL_ERROR_MAX] = "", more[128], both[2 * SCRATCH_PATH_MAX + 2];
    char *paths[2];
    for (int i = 0; i < 2; i++) {
        place_draw(&bars[i], ROWS, true, 21 + (uint64_t)i);
        paths[i] = strdup(place_write(&bars[i], i ? "BBB" : "AAA", NULL));
    }
    snprintf(both, sizeof both, "%s,%s", paths[0], paths[1]);
    snprintf(more, sizeof more, "[environment]\nexecution = %s\n", execution);
    place_settings(&settings, "kfold:4");
    place_config(config, both, lines[0] ? place_features(lines) : "", more);
    struct study_market *search = place_open(config, &settings);
    CHECK_INT(study_trial_final(search, config, scratch_path("final"), NULL, &split, err), 0);
    CHECK_STR(err, "");
    CHECK(split.trades > 20 && split.steps >= config->ppo.total_steps);
    CHECK_INT(policy_trained_load(scratch_path("final/policy.safetensors"), &policy, err), 0);
    const struct eval_bars on = {.paths = paths, .n = 2, .from_ns = 0, .to_ns = INT64_MAX};
    CHECK_INT(trainer_eval_market_open(policy, &on, &market, err), 0);
    size_t lookback = (size_t)config->env.lookback, n = search->holdout.to - search->holdout.from;
    CHECK_INT(trainer_eval_episode_play(&market, search->holdout.from - lookback,
                                        search->holdout.to + lookback, NULL, &episode, err),
              0);
    CHECK_INT(episode.n, n);
    CHECK_INT(episode.buys + episode.sells, split.trades);

    FILE *in = fopen(scratch_path("final/holdout.csv"), "re");
    double *returns = fatal_calloc(n, sizeof(double)), before = episode.capital;
    char line[256];
    CHECK(in && fgets(line, sizeof line, in) &&
          strcmp(line, "timestamp_ns,path_1,holding,equal_weight\n") == 0);
    size_t read = 0, bad = 0;
    for (; in && read < n && fgets(line, sizeof line, in); read++) {
        long long time;
        double ours, holding, equal, mean = 0;
        CHECK(sscanf(line, "%lld,%lf,%lf,%lf", &time, &ours, &holding, &equal) == 4);
        size_t row = search->holdout.from + read;
        bad += time != env_market_open_ns(market.env_market, row);
        returns[read] = episode.equity[read] / before - 1;
        before = episode.equity[read];
        bad += !(fabs(ours - returns[read]) <= 1e-9);
        for (int i = 0; i < 2; i++)
            mean += (bars[i].close[row] / bars[i].close[row - 1] - 1) / 2;
        bad += !(fabs(equal - mean) <= 1e-7); /* files have six decimals */
    }
    CHECK_INT(read, n);
    CHECK_INT(bad, 0);
    CHECK(in && !fgets(line, sizeof line, in));
    if (in)
        fclose(in);
    const struct metrics_series series = metrics_returns(returns, n);
    struct metrics m;
    metrics_compute(&series, 365 * 24, &m);
    CHECK_NEAR(split.sharpe, m.sharpe, 1e-9 * fabs(m.sharpe));
    CHECK_NEAR(split.total_return, m.total_return, 1e-9);
    CHECK_NEAR(split.drawdown, -m.max_drawdown, 1e-9);
    free(returns);
    training_episode_finish(&episode);
    trainer_eval_market_close(&market);
    policy_trained_destroy(policy);
    free(paths[0]);
    free(paths[1]);
    study_market_close(search);
    place_free(&bars[0]);
    place_free(&bars[1]);
    free(config);
}

/* Two blocks that are not adjacent are two episodes: together as each alone, and not as one that plays from
 * the first to the last. */
static void test_apart(void)
{
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    struct study_trained learnt = {0};
    struct study_tested sums[4];
    char err[TRIAL_ERROR_MAX] = "";
    place_settings(&settings, "cpcv:4,2");
    place_draw(&bars, ROWS, true, 81);
    place_config(config, place_write(&bars, "AAA", NULL), "", "");
    config->ppo.total_steps = 2048;
    struct study_market *market = place_open(config, &settings);
    struct study_running_trial run = {.market = market, .config = config, .whole = 1};
    const struct split_rows train = {700, 1000}, blocks[] = {{100, 400}, {410, 650}}, joined = {100, 650};
    CHECK_INT(study_train(&run, 0, &train, 1, market->search.to + market->lookback, &learnt, err), 0);
    double together[540], alone[540], through[550];
    CHECK_INT(study_evaluate(&run, &learnt, blocks, 2, together, &sums[0], err), 0);
    CHECK_INT(study_evaluate(&run, &learnt, &blocks[0], 1, alone, &sums[1], err), 0);
    CHECK_INT(study_evaluate(&run, &learnt, &blocks[1], 1, alone + 300, &sums[2], err), 0);
    CHECK_INT(study_evaluate(&run, &learnt, &joined, 1, through, &sums[3], err), 0);
    CHECK(memcmp(together, alone, sizeof alone) == 0);
    CHECK(memcmp(together, through, 300 * sizeof *through) == 0);
    CHECK(memcmp(together + 300, through + 310, 240 * sizeof *through) != 0);
    CHECK(sums[0].trades == sums[1].trades + sums[2].trades && sums[1].trades > 5);
    CHECK_INT(sums[0].steps, 540);
    study_trained_finish(&learnt);
    study_market_close(market);
    place_free(&bars);
    free(config);
}

/* ---- Splits, paths, the objective. ---- */

struct recorded {
    int reports, stop_at;
    long progress, stop_progress;
    double values[TRIAL_SPLITS_MAX], share;
    bool shares_rise;
    enum trial_go stop;
};

static enum trial_go on_report(void *ctx, int step, double value)
{
    struct recorded *recorded = ctx;
    CHECK_INT(step, recorded->reports + 1);
    recorded->values[recorded->reports++] = value;
    return step == recorded->stop_at ? recorded->stop : TRIAL_GO;
}

static enum trial_go on_progress(void *ctx, double share, double steps_s)
{
    struct recorded *recorded = ctx;
    recorded->shares_rise = recorded->shares_rise && share >= recorded->share && share <= 1 && steps_s >= 0;
    recorded->share = share;
    return ++recorded->progress == recorded->stop_progress ? TRIAL_STOP_ASKED : TRIAL_GO;
}

static struct trial_calls calls_of(struct recorded *recorded)
{
    return (struct trial_calls){recorded, on_report, on_progress, NULL};
}

static double value_of(const struct study_settings *settings, const struct trial_split *splits, int n)
{
    double sum = 0, squares = 0, drawdown = 0, volatility = 0;
    for (int i = 0; i < n; i++) {
        double x = splits[i].sharpe - splits[i].holding;
        sum += x;
        squares += x * x;
        drawdown += splits[i].drawdown;
        volatility += splits[i].volatility;
    }
    double mean = sum / n, variance = squares / n - mean * mean;
    return mean - settings->deviation_weight * sqrt(fmax(variance, 0)) -
           settings->drawdown_penalty * drawdown / n - settings->volatility_penalty * volatility / n;
}

static void test_objective(void)
{
    struct study_settings settings = {.deviation_weight = 0.1};
    struct trial_outcome outcome = {
        .n_splits = 2,
        .splits = {{.sharpe = 3, .holding = 1, .drawdown = 0.2, .volatility = 0.5},
                   {.sharpe = 1, .holding = -3, .drawdown = 0.4, .volatility = 0.7}}};
    CHECK_NEAR(study_value(&settings, &outcome), 3 - 0.1 * 1, 1e-12); /* 2 and 4 */
    settings.drawdown_penalty = 2;
    settings.volatility_penalty = 10;
    CHECK_NEAR(study_value(&settings, &outcome), 3 - 0.1 - 2 * 0.3 - 10 * 0.6, 1e-12);
    outcome.n_splits = 1;
    CHECK_NEAR(study_value(&settings, &outcome), 2 - 2 * 0.2 - 10 * 0.5, 1e-12);
}

/* Columns of the file, by path, and the rows that a path has of each. */
static void check_file(const struct study_market *market, const struct trial_outcome *outcome)
{
    const struct study_split *split = &market->settings->split;
    char line[1024], *end;
    size_t rows = 0, length = strlen("timestamp_ns");
    FILE *in = fopen(scratch_path("trial/returns.csv"), "re");
    if (!in)
        fatal("returns.csv");
    CHECK(fgets(line, sizeof line, in) && strncmp(line, "timestamp_ns", length) == 0);
    for (int p = 1; p <= split->paths; p++) {
        char name[32];
        snprintf(name, sizeof name, ",path_%d", p);
        CHECK(strncmp(line + length, name, strlen(name)) == 0);
        length += strlen(name);
    }
    CHECK_STR(line + length, ",holding,equal_weight\n");
    size_t all = market->search.to - market->search.from;
    size_t first = split->kind == SPLIT_WALK_FORWARD ? split_group(split, all, 1).from : 0;
    double paths[64] = {0}, tests = 0;
    for (int p = 0; p < split->paths; p++)
        paths[p] = 1;
    for (; fgets(line, sizeof line, in); rows++) {
        long long time = strtoll(line, &end, 10);
        CHECK(time == market_open_ns(market->source.market, market->search.from + first + rows));
        for (int p = 0; p < split->paths; p++)
            paths[p] *= 1 + strtod(end + 1, &end);
    }
    CHECK_INT(rows, all - first);
    fclose(in);
    /* Each split's returns are in the paths once: the product of all is the same. */
    for (int i = 0; i < outcome->n_splits; i++)
        tests += log1p(outcome->splits[i].total_return);
    for (int p = 0; p < split->paths; p++)
        tests -= log(paths[p]);
    CHECK_NEAR(tests, 0, 1e-6);
}

static void test_splits(const char *text, int combinations, int paths)
{
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    struct trial_outcome outcome;
    struct recorded recorded = {.shares_rise = true};
    struct trial_calls calls = calls_of(&recorded);
    char err[TRIAL_ERROR_MAX] = "";
    place_settings(&settings, text);
    place_draw(&bars, ROWS, true, 31);
    place_config(config, place_write(&bars, "AAA", NULL), place_features(PLACE_FEATURES), "");
    config->ppo.total_steps = 2048;
    struct study_market *market = place_open(config, &settings);
    CHECK_INT(study_trial_run(market, config, scratch_path("trial"), &calls, &outcome, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(outcome.n_splits, combinations);
    CHECK_INT(settings.split.paths, paths);
    CHECK_INT(recorded.reports, combinations);
    CHECK(recorded.shares_rise && recorded.share == 1 && recorded.progress >= combinations * 2048 / 512);
    for (int i = 0; i < combinations; i++)
        CHECK_NEAR(recorded.values[i], value_of(&settings, outcome.splits, i + 1), 1e-9);
    CHECK(outcome.value == recorded.values[combinations - 1]);
    check_file(market, &outcome);

    /* Again: the same file; of another seed another one. */
    size_t n, n_again, n_other;
    char *once = place_read("trial/returns.csv", &n);
    CHECK_INT(study_trial_run(market, config, scratch_path("trial"), NULL, &outcome, err), 0);
    char *again = place_read("trial/returns.csv", &n_again);
    CHECK(n == n_again && memcmp(once, again, n) == 0);
    config->ppo.seed++;
    CHECK_INT(study_trial_run(market, config, scratch_path("trial/other"), NULL, &outcome, err), 0);
    char *other = place_read("trial/other/returns.csv", &n_other);
    CHECK(n != n_other || memcmp(once, other, n) != 0);
    free(once);
    free(again);
    free(other);
    study_market_close(market);
    place_free(&bars);
    free(config);
}

/* ---- It ends when it is asked to. ---- */

static void test_stops(void)
{
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    struct trial_outcome outcome;
    struct trial_split split;
    char err[TRIAL_ERROR_MAX] = "";
    place_settings(&settings, "cpcv:4,2");
    place_draw(&bars, ROWS, false, 41);
    place_config(config, place_write(&bars, "AAA", NULL), "", "");
    config->ppo.total_steps = 2048;
    struct study_market *market = place_open(config, &settings);

    struct recorded recorded = {.stop_at = 2, .stop = TRIAL_STOP_PRUNED};
    struct trial_calls calls = calls_of(&recorded);
    CHECK_INT(study_trial_run(market, config, scratch_path("pruned"), &calls, &outcome, err), 1);
    CHECK_STR(err, "pruned");
    CHECK_INT(outcome.n_splits, 2);
    CHECK_INT(recorded.reports, 2);
    CHECK(outcome.value == recorded.values[1]);
    CHECK(access(scratch_path("pruned/returns.csv"), F_OK) < 0);

    /* Pruned by its last report it is still whole. */
    recorded = (struct recorded){.stop_at = 6, .stop = TRIAL_STOP_PRUNED};
    CHECK_INT(study_trial_run(market, config, scratch_path("last"), &calls, &outcome, err), 0);
    CHECK(access(scratch_path("last/returns.csv"), F_OK) == 0);

    /* At once, wherever it is: within the first training, in the third. */
    static const long moments[] = {1, 3, 12};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        recorded = (struct recorded){.stop_progress = moments[i]};
        CHECK_INT(study_trial_run(market, config, scratch_path("stopped"), &calls, &outcome, err), 1);
        CHECK_STR(err, "stopped");
        CHECK_INT(recorded.progress, moments[i]);
        CHECK_INT(outcome.n_splits, recorded.reports);
        CHECK(access(scratch_path("stopped/returns.csv"), F_OK) < 0);
    }
    recorded = (struct recorded){.stop_progress = 2};
    CHECK_INT(study_trial_final(market, config, scratch_path("stopped"), &calls, &split, err), 1);
    CHECK(access(scratch_path("stopped/policy.safetensors"), F_OK) < 0);
    study_market_close(market);
    place_free(&bars);
    free(config);
}

/* ---- What cannot be. ---- */

static void test_refusals(void)
{
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config), *trial = fatal_calloc(1, sizeof *trial);
    struct trial_outcome outcome;
    char err[TRIAL_ERROR_MAX];
    place_settings(&settings, "kfold:4");
    place_draw(&bars, ROWS, false, 52);
    place_config(config, place_write(&bars, "AAA", NULL), "", "");
    config->ppo.total_steps = 512;
    struct study_market *market = place_open(config, &settings);
    *trial = *config;
    trial->env.lookback = 3; /* which the search space does not have */
    CHECK_INT(study_trial_run(market, trial, scratch_path("refused"), NULL, &outcome, err), -EINVAL);
    CHECK(strstr(err, "lookback: 3: at most 2"));
    *trial = *config;
    trial->ppo.learning_rate = 10;
    trial->ppo.bad_updates = 1;
    trial->ppo.net.activation = NET_RELU;
    trial->env.weight_alpha = 1e6;
    trial->env.initial_capital = (struct env_range){1e7, 1e7};
    trial->env.norm_reward = 1e12;
    trial->ppo.normalise_rewards = false;
    trial->ppo.max_grad_norm = 0;
    trial->ppo.total_steps = 1 << 16;
    CHECK_INT(study_trial_run(market, trial, scratch_path("refused"), NULL, &outcome, err), -EDOM);
    CHECK(err[0] != '\0');
    *trial = *config;
    CHECK_INT(study_trial_run(market, trial, "/dev/null/x", NULL, &outcome, err), -ENOTDIR);
    CHECK(strstr(err, "/dev/null"));
    study_market_close(market);
    place_free(&bars);
    free(config);
    free(trial);
}

/* A gap after what is tested, longer than purge and embargo: features after it remember the test, and are not
 * trained on. Two symbols, of which one alone lacks bars. */
enum { GAP_FROM = 620, GAP_TO = 720 };

static bool in_gap(size_t row)
{
    return row >= GAP_FROM && row < GAP_TO;
}

static void test_gap_after(void)
{
    struct place_bars bars, spoilt, other;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config), *again = fatal_calloc(1, sizeof *again);
    char first[SCRATCH_PATH_MAX], both[2 * SCRATCH_PATH_MAX + 8], path[SCRATCH_PATH_MAX];
    static const char more[] = "[environment]\nexecution = market\n";
    snprintf(path, sizeof path, "%s", place_features("sma:50 /close-1 minmax\nvolume log1p normal\n"));
    place_settings(&settings, "kfold:2");
    place_draw(&bars, ROWS, true, 81);
    place_draw(&other, ROWS, true, 82);
    snprintf(first, sizeof first, "%s", place_write(&other, "AAA", NULL));
    snprintf(both, sizeof both, "%s,%s", first, place_write(&bars, "BBB", in_gap));
    place_config(config, both, path, more);
    config->ppo.total_steps = 1024;
    struct study_market *market = place_open(config, &settings);
    const struct split_rows tested = split_group(&settings.split, market->search.to - market->search.from, 0);
    const size_t end = tested.to + market->search.from, after = market->purge + market->embargo;
    int chosen[SPLIT_GROUPS_MAX] = {0};
    struct split_rows blocks[SPLIT_BLOCKS_MAX];
    CHECK(end < GAP_FROM && GAP_TO - GAP_FROM > after && GAP_FROM - end < after);
    CHECK_INT(study_training(market, chosen, blocks), 1);
    CHECK_INT(blocks[0].from, end + after + GAP_TO - GAP_FROM);
    CHECK_INT(blocks[0].to, market->search.to);

    size_t n, n_again;
    bool unseen[ROWS] = {0};
    float *once = learn(market, config, 0, &n);
    for (size_t r = market->search.from; r < end; r++)
        unseen[r] = true;
    place_draw(&spoilt, ROWS, true, 81);
    spoil_rows(&spoilt, unseen, 5);
    snprintf(both, sizeof both, "%s,%s", first, place_write(&spoilt, "BBB", in_gap));
    place_config(again, both, path, more);
    again->ppo.total_steps = 1024;
    struct study_market *than = place_open(again, &settings);
    float *there = learn(than, again, 0, &n_again);
    CHECK_INT(n_again, n);
    CHECK(memcmp(once, there, n * sizeof(float)) == 0);
    free(once);
    free(there);
    study_market_close(than);
    study_market_close(market);
    place_free(&bars);
    place_free(&other);
    place_free(&spoilt);
    free(config);
    free(again);
}

/* Bars that are missing: rows of the market and of the grid differ where only common ones count. */
static void test_gaps(const char *execution)
{
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    struct trial_outcome outcome;
    struct trial_split split;
    char err[TRIAL_ERROR_MAX] = "", more[96];
    snprintf(more, sizeof more, "[environment]\nexecution = %s\n", execution);
    place_settings(&settings, "walk-forward:3");
    place_draw(&bars, ROWS, true, 71);
    place_config(config, place_write(&bars, "AAA", place_every_17th), place_features(PLACE_FEATURES), more);
    config->ppo.total_steps = 512;
    struct study_market *market = place_open(config, &settings);
    CHECK((market->rows == ROWS) == (execution[0] == 'm'));
    CHECK_INT(study_trial_run(market, config, scratch_path("gaps"), NULL, &outcome, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(study_trial_final(market, config, scratch_path("gaps"), NULL, &split, err), 0);
    study_market_close(market);
    place_free(&bars);
    free(config);
}

int main(void)
{
    test_objective();
    test_gap_after();
    test_unseen("cpcv:4,2", "market", PLACE_FEATURES, 5);
    test_unseen("walk-forward:3", "reference", "", 0);
    test_eval(PLACE_FEATURES, "market");
    test_eval("", "reference");
    test_apart();
    test_splits("cpcv:4,2", 6, 3);
    test_splits("kfold:3", 3, 1);
    test_splits("walk-forward:3", 3, 1);
    test_stops();
    test_gaps("market");
    test_gaps("reference");
    test_refusals();
    return check_done("trial");
}
