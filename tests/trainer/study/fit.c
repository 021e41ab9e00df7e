/* Whether a study fits its rows: at each boundary exactly enough is accepted and one row less refused, by the
 * arithmetic, by opening the study, and by training on the split that it names. */
#include <errno.h>

#include "tests/trainer/study/place.h"
#include "trainer/study/fit.h"

static const char *const splits[] = {"cpcv:5,2", "cpcv:6,3",       "kfold:2",        "kfold:5",
                                     "kfold:4",  "walk-forward:1", "walk-forward:3", "kfold:16"};
enum { N_SPLITS = sizeof splits / sizeof *splits };

static struct study_demand demand_of(const char *split, size_t rows)
{
    char err[SPLIT_ERROR_MAX];
    struct study_demand demand = {
        .rows = rows, .first = 34, .lookback = 3, .episode = 100, .purge = 4, .embargo = 33, .holdout = 0.2};
    if (split_parse(split, &demand.split, err) < 0)
        fatal("%s", err);
    return demand;
}

/* ---- The arithmetic. ---- */

/* What is refused names so many rows, and with these it fits; with one less it does not. */
static void test_more_rows(void)
{
    for (size_t i = 0; i < N_SPLITS; i++)
        for (size_t rows = 0; rows < 700; rows += 37) {
            struct study_demand demand = demand_of(splits[i], rows);
            size_t more = study_fit_more_rows(&demand);
            demand.rows = rows + more;
            CHECK_INT(study_fit_of(&demand).lack, STUDY_LACK_NOTHING);
            demand.rows--;
            CHECK(more == 0 || study_fit_of(&demand).lack != STUDY_LACK_NOTHING);
        }
    struct study_demand never = demand_of("kfold:4", 500);
    never.holdout = 0.9;
    never.purge = SIZE_MAX / 8; /* nothing is left beside it */
    CHECK_INT(study_fit_more_rows(&never), SIZE_MAX);
}

/* Its figures are those of the splits, counted here row by row. */
static void test_figures(void)
{
    for (size_t i = 0; i < N_SPLITS; i++) {
        const struct study_demand demand = demand_of(splits[i], 3000);
        const struct study_fit fit = study_fit_of(&demand);
        size_t rows = fit.search.to - fit.search.from, shortest = SIZE_MAX, most = 0;
        int chosen[SPLIT_GROUPS_MAX], which = 1, worst = 0;
        CHECK_INT(fit.lack, STUDY_LACK_NOTHING);
        CHECK(fit.search.from == 37 && fit.holdout.to == 2997 && fit.gap == 37);
        CHECK_INT(fit.holdout.to - fit.holdout.from, 592);
        CHECK_INT(fit.holdout.from - fit.search.to, 37);
        split_begin(&demand.split, chosen);
        do {
            struct split_rows blocks[SPLIT_BLOCKS_MAX];
            size_t longest = 0;
            int n = split_training(&demand.split, rows, chosen, 4, 33, blocks);
            for (int b = 0; b < n; b++)
                longest = blocks[b].to - blocks[b].from > longest ? blocks[b].to - blocks[b].from : longest;
            most = longest > most ? longest : most;
            worst = longest < shortest ? which : worst;
            shortest = longest < shortest ? longest : shortest;
            which++;
        } while (split_next(&demand.split, chosen));
        CHECK(fit.longest == shortest && fit.split == worst && fit.block.most == most);
        CHECK(fit.block.least <= shortest && fit.train.least >= shortest && fit.train.most < rows);
        CHECK(fit.test.least >= rows / 17 && fit.test.most <= rows);
        CHECK_INT(fit.needed, 100);
    }
}

static void lacks(struct study_demand demand, enum study_lack lack, const char *words, const char *also)
{
    char err[STUDY_FIT_ERROR_MAX] = "";
    const struct study_fit fit = study_fit_of(&demand);
    CHECK_INT(fit.lack, lack);
    CHECK_INT(study_fit_refuse(&demand, &fit, err), -EINVAL);
    if (!strstr(err, words) || !strstr(err, also))
        fprintf(stderr, "%s, %s: %s\n", words, also, err);
    CHECK(strstr(err, words) && strstr(err, also));
}

static void test_words(void)
{
    struct study_demand demand = demand_of("cpcv:5,2", 514);
    lacks(demand, STUDY_LACK_BLOCK, "[study] validation: cpcv:5,2: split ",
          "an episode needs 100 (episode_bars)");
    lacks(demand, STUDY_LACK_BLOCK, "rows more, validation = kfold:5, episode_bars of at most ",
          "of 514 rows warm-up takes 34, lookback 3 at each end, holdout 95, purge and embargo before it 37");
    demand.searched = true;
    lacks(demand, STUDY_LACK_BLOCK, "[search] episode_bars: 100: split ", "at most ");
    demand.searched = false;
    demand.episode = 0;
    demand.rows = 220;
    lacks(demand, STUDY_LACK_BLOCK, "an episode needs 7 (2 * lookback + 1)", "rows more");
    demand.rows = 40;
    lacks(demand, STUDY_LACK_ROWS, "[data] bars: 40 rows: the slowest feature has its first value after 34",
          "more");
    demand.rows = 34;
    lacks(demand, STUDY_LACK_ROWS, "[data] bars: 34 rows: in no row do all features have a value",
          "more are needed");
    demand = demand_of("cpcv:5,2", 514);
    demand.holdout = 0.003;
    lacks(demand, STUDY_LACK_HOLDOUT, "[study] holdout: 0.003: of 474 rows that is 1",
          "0, or 0.004219, is right");
    demand.holdout = 0.9;
    demand.rows = 300;
    lacks(demand, STUDY_LACK_SEARCH, "[study] holdout: 0.9: of 260 rows", "none to search on: fewer, or ");
    demand = demand_of("kfold:60", 200);
    lacks(demand, STUDY_LACK_GROUPS, "[study] validation: kfold:60: ", "too few for 60 groups");
}

/* The first of the candidates that fits. */
static void test_auto(void)
{
    static const struct {
        size_t rows;
        const char *split;
    } right[] = {{3000, "cpcv:5,2"}, {514, "kfold:5"}, {440, "kfold:5"}, {400, "walk-forward:1"}};
    char text[STUDY_SPLIT_TEXT_MAX];
    struct study_split split;
    const char *last = "cpcv:5,2";
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        const struct study_demand demand = demand_of("kfold:2", right[i].rows);
        CHECK(study_fit_auto(&demand, &split));
        CHECK_STR(study_split_text(&split, text), right[i].split);
    }
    /* Fewer rows never give one that asks for more of them. */
    for (size_t rows = 1200; rows > 0; rows--) {
        struct study_demand demand = demand_of("kfold:2", rows);
        bool fits = study_fit_auto(&demand, &split);
        study_split_text(&split, text);
        demand.split = split;
        CHECK_INT(study_fit_of(&demand).lack == STUDY_LACK_NOTHING, fits);
        CHECK(fits || strcmp(text, "walk-forward:1") == 0);
        if (fits && strcmp(text, last) != 0) {
            char err[SPLIT_ERROR_MAX];
            struct study_demand before = demand;
            CHECK_INT(split_parse(last, &before.split, err), 0);
            CHECK(study_fit_of(&before).lack != STUDY_LACK_NOTHING);
        }
        last = strcmp(text, "cpcv:5,2") == 0  ? "cpcv:5,2"
               : strcmp(text, "kfold:5") == 0 ? "kfold:5"
               : strcmp(text, "kfold:4") == 0 ? "kfold:4"
                                              : "walk-forward:1";
    }
}

/* ---- The study itself. ---- */

/* Opens it with so many rows; 0: it is run too, and its trials train on every split. */
static int open_with(const char *split, size_t rows, int64_t episode, bool run, struct study_demand *ret)
{
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    struct study_market *market = NULL;
    struct trial_outcome outcome;
    struct study_fit fit;
    char err[TRIAL_ERROR_MAX] = "", why[TRIAL_ERROR_MAX] = "";
    place_settings(&settings, split);
    place_draw(&bars, rows, true, 17);
    place_config(config, place_write(&bars, "AAA", NULL), place_features(PLACE_FEATURES), "");
    config->ppo.total_steps = 512;
    config->env.episode_bars = episode;
    int r = study_market_open(config, &settings, NULL, &market, err);
    if (r == 0) {
        study_market_fit(market, ret, &fit);
        CHECK_INT(study_fit_of(ret).longest, fit.longest);
    }
    if (r == 0 && run) {
        CHECK_INT(study_trial_run(market, config, scratch_path("fits"), NULL, &outcome, why), 0);
        CHECK_INT(outcome.n_splits, settings.split.combinations);
        CHECK_STR(why, "");
        config->env.episode_bars = (int64_t)fit.longest + 1; /* one row more than some split has */
        CHECK_INT(study_trial_run(market, config, scratch_path("fits"), NULL, &outcome, why), -EINVAL);
        CHECK(strstr(why, "room for an episode"));
    }
    study_market_close(market);
    place_free(&bars);
    free(config);
    return r;
}

/* Exactly enough is trained on; with one row less it is refused, and a trial that were let through would find
 * no block for its episode. */
static void test_boundary(const char *split)
{
    struct study_demand demand;
    CHECK_INT(open_with(split, 1200, 60, false, &demand), 0);
    demand.rows = 0;
    size_t rows = study_fit_more_rows(&demand);
    CHECK_INT(open_with(split, rows, 60, true, &demand), 0);
    CHECK_INT(demand.rows, rows);
    CHECK_INT(open_with(split, rows - 1, 60, false, &demand), -EINVAL);
}

int main(void)
{
    test_more_rows();
    test_figures();
    test_words();
    test_auto();
    test_boundary("cpcv:5,2");
    test_boundary("kfold:4");
    test_boundary("walk-forward:1");
    return check_done("trainer/study/fit");
}
