/* What the page of a training has on it. */
#include "trainer/command/train_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/policy/session_columns.h"
#include "trainer/command/train_seeds.h"
#include "trainer/report/conditions.h"

/* ---- what it was trained on ---- */

enum { WORDS_MAX = 256 };

/* Keys of [training], [network] and [ppo] that differ from their defaults, and these. */
static bool is_shown(const struct config_key *key, const char *value, const char *fallback)
{
    static const char *const always[] = {"seed",          "total_steps", "copies",        "steps",
                                         "learning_rate", "gamma",       "policy_layers", "keep"};
    static const char *const never[] = {"name", "output", "tensorboard", "checkpoint_every",
                                        "checkpoint_keep"};
    if (strcmp(key->section, "training") != 0 && strcmp(key->section, "network") != 0 &&
        strcmp(key->section, "ppo") != 0)
        return false;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strcmp(key->name, never[i]) == 0)
            return false;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strcmp(key->name, always[i]) == 0)
            return true;
    return strcmp(fallback, value) != 0;
}

static bool get(const struct train_config *config, const struct config_key *key, char *ret)
{
    return train_config_get(config, key->section, key->name, ret, CONFIG_LIST_MAX) == 0;
}

static bool list_keys(struct text *text, const struct train_config *config)
{
    size_t n;
    const struct config_key *keys = train_config_keys(&n);
    struct train_config *defaults = malloc(sizeof *defaults);
    char *value = malloc(CONFIG_LIST_MAX), *fallback = malloc(CONFIG_LIST_MAX);
    bool done = defaults && value && fallback;
    if (done)
        train_config_defaults(defaults);
    for (size_t i = 0; i < n && done; i++)
        if (get(config, &keys[i], value) && get(defaults, &keys[i], fallback) &&
            is_shown(&keys[i], value, fallback))
            report_page_fact(text, keys[i].name, value, keys[i].about);
    free(value);
    free(fallback);
    free(defaults);
    return done;
}

static void list_rows(struct text *text, const struct train_run *run, const char *name,
                      const struct source_rows *rows, const char *remark)
{
    const struct market *market = run->source.market;
    char words[REPORT_ROWS_MAX];
    if (rows->to == 0)
        report_page_fact(text, name, "none", remark);
    else
        report_page_fact(text, name,
                         trainer_report_rows(market_open_ns(market, rows->from),
                                             market_open_ns(market, rows->to - 1), rows->to - rows->from,
                                             words),
                         remark);
}

static void list_market(struct text *text, const struct train_run *run)
{
    const struct train_config_data *data = &run->config.data;
    report_page_fact(text, "Bars", data->bars[0] ? data->bars : data->state, NULL);
    trainer_report_symbols(text, run->source.train_market);
    list_rows(text, run, "Trained on", &run->source.train, "opening times, UTC");
    list_rows(text, run, "Chosen by", &run->source.judging[SOURCE_VALIDATION].rows,
              "the validation range: the policy that is kept is the best there");
    list_rows(text, run, "Judged by", &run->source.judging[SOURCE_TEST].rows,
              "the test range, by which nothing was chosen");
    char columns[SESSION_COLUMNS_TEXT_MAX];
    report_page_fact(text, "Features", data->features[0] ? data->features : "closes and volumes", NULL);
    if (data->session_features)
        report_page_fact(text, "Session", policy_session_columns_text(data->session_features, columns),
                         "columns of each row's session, after the features");
}

static void list_run(struct text *text, const struct train_run *run, const char *result)
{
    char words[WORDS_MAX];
    if (run->seeds) {
        snprintf(words, sizeof words, "%d of %d", run->seeds->done, run->seeds->n);
        report_page_fact(text, "Seeds", words, result);
    } else {
        snprintf(words, sizeof words, "%lld of %lld, in %lld updates", (long long)run->steps,
                 (long long)run->config.ppo.total_steps, (long long)run->iteration);
        report_page_fact(text, "Steps", words, result);
        snprintf(words, sizeof words, "%lld steps", (long long)train_kept_steps(run));
        report_page_fact(text, "The policy kept", words, "after so many it was as it is judged here");
    }
    if (run->making.learner)
        report_page_fact(text, "Backend", run->making.learner->ops->backend, NULL);
    if (run->from_path[0])
        report_page_fact(text, "Resumed from", run->from_path, "curves of learning begin there");
    report_page_fact(text, "Version", "papertape " PAPERTAPE_VERSION, NULL);
}

static int list_conditions(struct text *text, const struct train_run *run, const char *result)
{
    report_page_heading(text, "What it was trained on");
    report_page_facts(text);
    list_run(text, run, result);
    bool done = list_keys(text, &run->config);
    if (run->source.market) {
        list_market(text, run);
        trainer_report_params(text, &run->config.env, true);
    }
    report_page_facts_end(text);
    char *all = train_config_text(&run->config);
    report_page_details(text, "The whole configuration", all ? all : "");
    free(all);
    return done && all ? 0 : -ENOMEM;
}

/* ---- seeds ---- */

static void list_seed(struct text *text, const struct train_seed *seed, bool kept)
{
    const struct evaluation *evaluation = &seed->evaluation;
    const char *word = metrics_verdict_word(evaluation->verdict.kind);
    char words[WORDS_MAX];
    snprintf(words, sizeof words, "%llu%s", (unsigned long long)seed->seed, kept ? ", kept" : "");
    report_page_row(text);
    report_page_cell(text, words);
    snprintf(words, sizeof words, "%lld", (long long)seed->kept_steps);
    report_page_cell(text, words);
    report_page_value_fixed(text, 100 * expm1(seed->score), 2);
    report_page_value_fixed(text, 100 * training_return(evaluation), 2);
    report_page_value_fixed(text, 100 * training_benchmark_return(evaluation), 2);
    report_page_cell(text, word ? word : "n/a");
    report_page_row_end(text);
}

static void list_seeds(struct text *text, const struct train_run *run)
{
    static const char *const names[] = {"seed",    "steps of the policy", "validation, %",
                                        "test, %", "holding, %",          "verdict"};
    const struct train_seeds *seeds = run->seeds;
    double median, low, high;
    char words[WORDS_MAX];
    report_page_heading(text, "Seeds");
    if (train_seeds_returns(seeds, &median, &low, &high)) {
        snprintf(words, sizeof words,
                 "Return on the rows of testing: %+.2f %% in the median, from %+.2f %% to %+.2f %%.",
                 100 * median, 100 * low, 100 * high);
        report_page_paragraph(text, words);
    }
    report_page_table(text, names, sizeof names / sizeof *names);
    for (int i = 0; i < seeds->done; i++)
        list_seed(text, &seeds->each[i], i == seeds->best);
    report_page_table_end(text);
    if (seeds->best >= 0) {
        snprintf(
            words, sizeof words,
            "All that follows, up to the learning curves, is of seed %llu, whose policy is kept: chosen by %s.",
            (unsigned long long)seeds->each[seeds->best].seed,
            isfinite(seeds->each[seeds->best].score) ? "the rows of validation" : "being the first");
        report_page_paragraph(text, words);
    }
}

/* ---- the page ---- */

/* What the page shows of a market: the kept policy's evaluation, and the verdict on all. */
struct shown {
    const struct evaluation *evaluation; /* NULL: it was not evaluated */
    struct verdict verdict;
};

static struct shown find_shown(const struct train_run *run)
{
    const struct train_seeds *seeds = run->seeds;
    if (!seeds)
        return (struct shown){run->evaluated ? &run->evaluation : NULL, run->evaluation.verdict};
    const struct train_seed *best = seeds->best >= 0 ? &seeds->each[seeds->best] : NULL;
    return (struct shown){best && best->evaluated ? &best->evaluation : NULL, train_seeds_verdict(seeds)};
}

static int show_market(struct text *text, const struct train_run *run, const struct shown *shown)
{
    const struct train_page *page = run->page;
    const struct trainer_evaluated evaluated = {
        &page->shown.episode, &page->shown.trace, run->source.judging[SOURCE_TEST].market,
        &run->config.env,     &shown->verdict,    market_row_ns(run->source.market)};
    trainer_report_verdict(text, &shown->verdict);
    if (run->seeds)
        list_seeds(text, run);
    return page->shown.trace.failed ? -ENOMEM : trainer_report_evaluation(text, &evaluated);
}

static int show_evaluation(struct text *text, const struct train_run *run)
{
    const struct shown shown = find_shown(run);
    char words[WORDS_MAX];
    if (!shown.evaluation) {
        report_page_sentence(text, "Not evaluated: there are no rows of testing, or it did not get there.",
                             -1);
        return 0;
    }
    if (run->source.market)
        return show_market(text, run, &shown);
    snprintf(words, sizeof words, "Reward of an episode: %.6g, the mean of %lld, from %.6g to %.6g.",
             shown.evaluation->reward, (long long)shown.evaluation->episodes, shown.evaluation->reward_min,
             shown.evaluation->reward_max);
    report_page_sentence(text, words, -1);
    return 0;
}

int train_page_write(const struct train_run *run, const char *name, const char *result)
{
    const struct train_page *page = run->page;
    struct text text = {0};
    char title[CONFIG_WORD_MAX + 32];
    if (!page || (run->seeds && run->seeds->done == 0))
        return 0;
    snprintf(title, sizeof title, "Training of %s", name);
    report_page_begin(&text, title);
    int r = show_evaluation(&text, run);
    report_page_heading(&text, "Learning");
    if (r == 0 && page->n_seeds > 0)
        r = trainer_report_learning(&text, (const struct trainer_learning *const *)page->learning,
                                    train_page_curves(page), page->judged_on);
    r = r < 0 ? r : list_conditions(&text, run, result);
    report_page_end(&text);
    r = r < 0 ? r : report_page_write(&text, page->path);
    text_finish(&text);
    return r;
}
