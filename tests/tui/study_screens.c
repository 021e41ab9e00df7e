/* Golden screens of studies: their list beside trainings and policies, a study's page, its parts alone, its
 * validation; with several workers, of Optuna's making, empty, of several objectives, stale, gone, and when
 * the storage cannot be read; what the keys do there; and every size. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <time.h>

#include "fixtures/dashboard.h"
#include "fixtures/studies.h"
#include "tests/check.h"
#include "tests/tui/picture.h"
#include "tui/keys.h"
#include "tui/study_rows.h"

static const int64_t now_us = 1723161255342000;
static const char *golden;
static struct model *model;
static struct moment now = {1723161255342000000, 1000000};
static struct view view;
static struct study *studies[16];
static size_t n_studies;

static void check_screen(const char *name, int width, int height, enum glyphs glyphs)
{
    CHECK(picture_matches(golden, name, model, &view, now, width, height, glyphs));
}

static bool shows(const char *words)
{
    char *text = picture_draw(model, &view, now, 80, 24, GLYPHS_BRAILLE);
    bool found = text && strstr(text, words);

    free(text);
    return found;
}

/* As the thread would: what the view wants of the studies that there are. */
static void read_wanted(void)
{
    struct tui_study_reading reading = {.studies = tui_studies_make(studies, n_studies, now_us),
                                        .mono_ms = now.mono_ms};
    struct study *members[16];
    struct tui_study_want want;
    size_t at[16];

    tui_model_take_studies(model, &reading); /* the list comes first: the page is of one of it */
    tui_view_want_study(&view, model, &want);
    size_t n = tui_studies_members(studies, n_studies, want.key, at, 16);
    for (size_t i = 0; i < n; i++)
        members[i] = studies[at[i]];
    reading = (struct tui_study_reading){.studies = tui_studies_make(studies, n_studies, now_us),
                                         .mono_ms = now.mono_ms};
    if (n > 0)
        reading.page = tui_study_page_make(members, n, &want, NULL, now_us);
    tui_model_take_studies(model, &reading);
}

static enum action press(int key)
{
    enum action action = tui_keys_press(&view, model, 80, 24, now, key);

    if (action == ACTION_COLLECT)
        read_wanted();
    return action;
}

static void begin(const char *label)
{
    tui_view_finish(&view);
    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    view.focus = PANEL_STUDIES;
    for (int i = 0; model->studies && i < model->studies->n; i++)
        if (strcmp(model->studies->study[i].label, label) == 0)
            memcpy(view.study, model->studies->study[i].key, sizeof(view.study));
    read_wanted();
}

/* The page of a study, its trial with the best value chosen. */
static void open_page(const char *label)
{
    begin(label);
    press(PRESS_ENTER);
    CHECK_INT(view.study_view, STUDY_PAGE);
    read_wanted(); /* with the chosen trial's attributes */
}

static void check_lists(void)
{
    begin("ppo-btc_1..3");
    check_screen("studies-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("studies-ascii-80x24", 80, 24, GLYPHS_ASCII);
    check_screen("studies-40x10", 40, 10, GLYPHS_BRAILLE);
    check_screen("studies-120x40", 120, 40, GLYPHS_BRAILLE);
    check_screen("studies-200x60", 200, 60, GLYPHS_BRAILLE);
    press('j');
    CHECK_STR(tui_view_study(&view, model)->label, "theirs");
    view.tab = TAB_OVERVIEW;
    view.focus = PANEL_PRICES;
    check_screen("overview-studies-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("overview-studies-200x60", 200, 60, GLYPHS_BRAILLE);
}

static void check_page(void)
{
    open_page("ppo-btc_1..3");
    check_screen("study-page-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("study-page-ascii-80x24", 80, 24, GLYPHS_ASCII);
    check_screen("study-page-block-80x24", 80, 24, GLYPHS_BLOCK);
    check_screen("study-page-40x10", 40, 10, GLYPHS_BRAILLE);
    check_screen("study-page-120x40", 120, 40, GLYPHS_BRAILLE);
    check_screen("study-page-200x60", 200, 60, GLYPHS_BRAILLE);
    view.zoomed = PANEL_TRIALS;
    check_screen("trials-zoomed-120x40", 120, 40, GLYPHS_BRAILLE);
    press(PRESS_ESCAPE);
    CHECK_INT(view.zoomed, PANEL_NONE);
    press('o');
    check_screen("trials-value-80x24", 80, 24, GLYPHS_BRAILLE);
    read_wanted();
    press(PRESS_HOME);
    CHECK_INT(tui_view_trial(&view, model)->number, model->study_page->study.best_number);
    read_wanted();
    press(PRESS_ENTER); /* the chosen trial alone */
    check_screen("trial-80x24", 80, 24, GLYPHS_BRAILLE);
    press(PRESS_ESCAPE);
    view.focus = PANEL_REPORTS;
    press('z');
    check_screen("reports-80x24", 80, 24, GLYPHS_BRAILLE);
    press('z');
    CHECK_INT(view.study_view, STUDY_PAGE);
}

/* The trial that the cursor is on, by its page's rows. */
static const struct tui_study_trial *row_at(int place, int *ret_n)
{
    const struct list_choice *list = &view.lists[LIST_TRIALS];

    return tui_study_rows(model->study_page, list->sort, list->invert, list->filter, ret_n)[place];
}

/* A parameter whose name no choice can have: another column to hide would not help. */
static void check_unnameable(void)
{
    struct tui_study_page *page = model->study_page;
    const int param = tui_study_rows_param(page, 0);
    const char *const name = page->params[param];

    page->params[param] = "two words";
    tui_list_columns(LIST_TRIALS, &view.choosing_row); /* the first after the columns */
    press(' ');
    CHECK_STR(view.words, "a parameter whose name has a blank cannot be chosen");
    CHECK_STR(view.settings.columns[LIST_TRIALS], LIST_COLUMNS_AUTO);
    page->params[param] = name;
    view.outcome = OUTCOME_NONE;
}

/* The keys of every list: n and N go round those that a search has, whatever it filters, the cursor stays on
 * its trial in another order, C chooses columns. */
static void check_list(void)
{
    int n, steps = 0, failed = 0;

    press(PRESS_END);
    const struct tui_study_trial *last = tui_view_trial(&view, model);
    CHECK(last == row_at(tui_view_cursor(&view, model, PANEL_TRIALS), &n));
    CHECK_INT(tui_view_cursor(&view, model, PANEL_TRIALS), n - 1);
    CHECK_INT(n, model->study_page->n_trials);
    press('o');
    CHECK(tui_view_trial(&view, model) == last);
    press('I');
    CHECK(tui_view_trial(&view, model) == last);
    press(PRESS_HOME);
    CHECK(tui_view_trial(&view, model) == row_at(0, &n));
    for (int i = 0; i < model->study_page->n_trials; i++)
        failed += model->study_page->trials[i].state == TRIAL_FAIL;
    strcpy(view.lists[LIST_TRIALS].find, "fail");
    press('n');
    const struct tui_study_trial *first = tui_view_trial(&view, model);
    int before = -1;
    do {
        const int at = tui_view_cursor(&view, model, PANEL_TRIALS);
        CHECK_INT(tui_view_trial(&view, model)->state, TRIAL_FAIL);
        CHECK(at > before);
        before = at;
        press('n');
        steps++;
    } while (tui_view_trial(&view, model) != first && steps <= failed);
    CHECK_INT(steps, failed);
    press('N');
    CHECK_INT(tui_view_cursor(&view, model, PANEL_TRIALS), before);
    press('C');
    CHECK_INT(view.choosing, CHOOSING_COLUMNS);
    CHECK_INT(view.listed, LIST_TRIALS);
    check_unnameable();
    press(PRESS_ESCAPE);
    strcpy(view.settings.columns[LIST_TRIALS], "trial state started ended tries failure");
    view.zoomed = PANEL_TRIALS;
    check_screen("trials-columns-120x40", 120, 40, GLYPHS_BRAILLE);
    view.zoomed = PANEL_NONE;
    strcpy(view.settings.columns[LIST_TRIALS], LIST_COLUMNS_AUTO);
}

static void check_keys(void)
{
    open_page("ppo-btc_1..3");
    for (int i = 0; i < SORT_PARAMS; i++)
        press('o');
    check_screen("trials-parameter-80x24", 80, 24, GLYPHS_BRAILLE);
    strcpy(view.settings.columns[LIST_TRIALS], "trial param:gamma param:epochs"); /* and no other */
    check_screen("trials-params-80x24", 80, 24, GLYPHS_BRAILLE);
    strcpy(view.settings.columns[LIST_TRIALS], LIST_COLUMNS_AUTO);
    press('C');
    check_screen("trials-choice-80x24", 80, 24, GLYPHS_BRAILLE);
    press(PRESS_ESCAPE);
    press('I');
    CHECK(view.lists[LIST_TRIALS].invert && shows(", inverted"));
    press('/');
    CHECK_INT(view.prompt, PROMPT_LIST);
    for (const char *c = "fail"; *c; c++)
        press(*c);
    check_screen("trials-filter-80x24", 80, 24, GLYPHS_BRAILLE);
    press(PRESS_ENTER);
    CHECK_INT(view.prompt, PROMPT_NONE);
    press(PRESS_HOME);
    read_wanted();
    CHECK_INT(tui_view_trial(&view, model)->state, TRIAL_FAIL);
    check_screen("trials-failed-80x24", 80, 24, GLYPHS_BRAILLE);
    press(PRESS_ESCAPE); /* the filter goes first */
    CHECK(view.study_view == STUDY_PAGE && !view.lists[LIST_TRIALS].filter[0]);
    press('/');
    press('q');
    press(PRESS_ESCAPE);
    CHECK(!view.lists[LIST_TRIALS].filter[0] && view.prompt == PROMPT_NONE);
    check_list();
    press('v');
    CHECK_INT(view.study_view, STUDY_VALIDATION);
    press('v');
    CHECK_INT(view.study_view, STUDY_PAGE);
    press('v');
    press(PRESS_ESCAPE);
    CHECK_INT(view.study_view, STUDY_PAGE);
    press(PRESS_ESCAPE);
    CHECK_INT(view.study_view, STUDY_LISTED);
    CHECK_INT(view.focus, PANEL_STUDIES);
    CHECK_STR(tui_view_study(&view, model)->label, "ppo-btc_1..3");
    press(PRESS_ENTER);
    press('1');
    CHECK_INT(view.study_view, STUDY_LISTED);

    /* What starts and stops a training does so with a study's. */
    begin("ppo-world-wide-5m_2");
    press('x');
    CHECK_INT(view.prompt, PROMPT_STOP);
    CHECK_STR(view.subject, "ppo-world-wide-5m_2");
    CHECK(shows("It ends; e resumes it"));
    CHECK_INT(press('y'), ACTION_TRAIN_STOP);
    begin("ppo-btc_1..3");
    press('x');
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK(strstr(view.words, "ppo-btc_1..3 is no training of the co-process") != NULL);
    press('s');
    CHECK_INT(view.prompt, PROMPT_NAME);
    for (const char *c = "next"; *c; c++)
        press(*c);
    CHECK_INT(press(PRESS_ENTER), ACTION_FORM);
    CHECK(view.page && view.page->study && !view.page->restart);
    begin("ppo-btc_1..3");
    view.focus = PANEL_TRAININGS;
    press('s');
    press('n');
    press(PRESS_ENTER);
    CHECK(view.page && !view.page->study);
    begin("ppo-btc_1..3");
    view.focus = PANEL_TRAININGS;
    press('S');
    press('n');
    press(PRESS_ENTER);
    CHECK(view.page && view.page->study);
    begin("ppo-btc_1..3");
    view.readonly = true;
    press('x');
    CHECK_STR(view.words, "read-only: started with --readonly");
    view.tab = TAB_GPU;
    press('o');
    CHECK(strstr(view.words, "a study's page") != NULL);
}

/* The plots in place of the parameters' importance, at three sizes and alone. */
static void check_plots(void)
{
    static const char *const names[STUDY_PLOTS] = {[PLOT_SLICE] = "slice",
                                                   [PLOT_HISTOGRAM] = "histogram",
                                                   [PLOT_CONTOUR] = "contour",
                                                   [PLOT_PARALLEL] = "parallel"};
    char name[64];

    open_page("ppo-btc_1..3");
    for (int i = PLOT_SLICE; i < STUDY_PLOTS; i++) {
        press('i');
        CHECK_INT(view.study_plot, i);
        view.outcome = OUTCOME_NONE;
        snprintf(name, sizeof(name), "study-%s-80x24", names[i]);
        check_screen(name, 80, 24, GLYPHS_BRAILLE);
        snprintf(name, sizeof(name), "study-%s-120x40", names[i]);
        check_screen(name, 120, 40, GLYPHS_BRAILLE);
        snprintf(name, sizeof(name), "study-%s-200x60", names[i]);
        check_screen(name, 200, 60, GLYPHS_BRAILLE);
        view.zoomed = PANEL_IMPORTANCE;
        snprintf(name, sizeof(name), "%s-80x24", names[i]);
        check_screen(name, 80, 24, GLYPHS_BRAILLE);
        snprintf(name, sizeof(name), "%s-ascii-80x24", names[i]);
        check_screen(name, 80, 24, GLYPHS_ASCII);
        view.zoomed = PANEL_NONE;
    }
    press('i');
    CHECK_INT(view.study_plot, PLOT_IMPORTANCE);
    CHECK(shows("plot: importance") && shows("Importance (fANOVA)"));
}

/* The parameters of a slice and a contour, by keys and by the panel's cursor. */
static void check_plot_keys(void)
{
    open_page("ppo-btc_1..3");
    press('i');
    CHECK(shows("Slice of gamma"));
    press(']');
    CHECK(shows("Slice of lr_schedule") && shows("plot: slice of lr_schedule"));
    view.zoomed = PANEL_IMPORTANCE; /* of categories */
    view.outcome = OUTCOME_NONE;
    check_screen("slice-categories-80x24", 80, 24, GLYPHS_BRAILLE);
    press(']');
    view.outcome = OUTCOME_NONE;
    check_screen("slice-log-80x24", 80, 24, GLYPHS_BRAILLE);
    press(PRESS_DOWN);
    CHECK(shows("Slice of epochs"));
    press(PRESS_HOME);
    press('[');
    CHECK(shows("Slice of clip_range")); /* from the first to the last */
    press('i');
    press('i');
    CHECK(shows("Contour: clip_range, gamma"));
    press('}');
    CHECK(shows("Contour: clip_range, lr_schedule"));
    press('{');
    press('{'); /* not of itself */
    CHECK(shows("Contour: clip_range, net_dimension"));
    view.zoomed = PANEL_NONE;
    press('2');
    int curve = view.curve;
    press('i'); /* on the lists it is the training's figure */
    CHECK(view.study_plot == PLOT_CONTOUR && view.curve == curve + 1);
    open_page("theirs");
    view.study_plot = PLOT_SLICE;
    view.zoomed = PANEL_IMPORTANCE;
    check_screen("slice-optuna-80x24", 80, 24, GLYPHS_BRAILLE);

    double *value = studies[4]->trials[0]->values, kept = *value; /* one that diverged */
    *value = -5e6;
    open_page("ppo-btc_1..3");
    view.study_plot = PLOT_SLICE;
    view.zoomed = PANEL_IMPORTANCE;
    check_screen("slice-beyond-80x24", 80, 24, GLYPHS_BRAILLE);
    view.study_plot = PLOT_PARALLEL;
    CHECK(shows("1 worse than") && shows(" <0."));
    view.study_plot = PLOT_HISTOGRAM;
    CHECK(shows("1 worse than") && shows(" <0."));
    *value = kept;
    open_page("empty");
    view.study_plot = PLOT_SLICE;
    CHECK(shows("Slice of no parameter") && shows("no parameters"));
    view.study_plot = PLOT_HISTOGRAM;
    CHECK(shows("no trial has completed"));
}

/* The trainings of the workers of one study. */
static struct status_training *set_job(int at, const char *study, const char *state)
{
    while (model->status.n_trainings <= at)
        CHECK(tui_status_add(&model->status, STATUS_TRAININGS) != NULL);
    struct status_training *job = &model->status.trainings[at];

    *job = (struct status_training){
        .steps = -1, .checkpoint_steps = -1, .attempts = 1, .age_ms = 100, .expected_ms = 1000, .due_ns = -1};
    snprintf(job->training, sizeof(job->training), "%s", study);
    snprintf(job->study, sizeof(job->study), "%s", study);
    snprintf(job->state, sizeof(job->state), "%s", state);
    return job;
}

static void check_asked(int key, enum prompt prompt, enum action action, const char *subject,
                        const char *also)
{
    char names[4 * STATUS_TRAINING_NAME_MAX] = "";

    press(key);
    CHECK_INT(view.prompt, prompt);
    CHECK_INT(press('y'), action);
    CHECK_STR(view.subject, subject);
    for (int i = 0; i < view.n_also; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? " " : "", view.also[i]);
    CHECK_STR(names, also);
}

/* One question for the workers of a study that are trainings, about those that it is right for. */
static void check_workers(void)
{
    static const char text[] = "[study]\ntrials = 60\n";
    struct status *kept = malloc(sizeof(*kept));

    CHECK(tui_status_copy(&model->status, kept));
    model->status.n_trainings = 0;
    set_job(0, "ppo-btc_1", "searching");
    set_job(1, "ppo-btc_2", "searching");
    set_job(2, "ppo-btc_3", "stopped"); /* the newest study */
    open_page("ppo-btc_1..3");
    CHECK(shows("jobs searching (2 of 3)"));
    check_asked('x', PROMPT_STOP, ACTION_TRAIN_STOP, "ppo-btc_2", "ppo-btc_1");
    check_asked('e', PROMPT_RESUME, ACTION_TRAIN_RESUME, "ppo-btc_3", "");
    press('x');
    check_screen("stop-workers-80x24", 80, 24, GLYPHS_BRAILLE);
    snprintf(model->status.trainings[1].state, STATUS_WORD_MAX, "done"); /* while it stands */
    CHECK_INT(press('y'), ACTION_TRAIN_STOP);
    CHECK_STR(view.subject, "ppo-btc_1"); /* the one that is left */
    CHECK_INT(view.n_also, 0);
    set_job(1, "ppo-btc_2", "searching");
    press('x');
    for (int i = 0; i < 2; i++)
        snprintf(model->status.trainings[i].state, STATUS_WORD_MAX, "done");
    CHECK_INT(press('y'), ACTION_NONE);
    CHECK_STR(view.words, "ppo-btc_2 is done: there is nothing to stop");
    press('x');
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK_STR(view.words, "ppo-btc_3 has ended: e resumes it, r restarts it");

    set_job(0, "ppo-btc_1", "stopped");
    set_job(1, "ppo-btc_2", "failed");
    check_asked('e', PROMPT_RESUME, ACTION_TRAIN_RESUME, "ppo-btc_3", "ppo-btc_2 ppo-btc_1");
    CHECK(!shows("resume ppo-btc_3, ppo-btc_2 and ppo-btc_1?"));
    press('e');
    CHECK(shows("resume ppo-btc_3, ppo-btc_2 and ppo-btc_1?") && shows("Each continues with the trials"));
    press('n');

    /* A restart is for all that work, with what was changed in the first one's configuration too. */
    set_job(0, "ppo-btc_1", "searching");
    set_job(1, "ppo-btc_2", "searching");
    CHECK_INT(press('r'), ACTION_FORM);
    CHECK(view.page && view.page->restart);
    CHECK_STR(view.page->name, "ppo-btc_2");
    CHECK_INT(tui_form_page_fill(view.page, text), 0);
    press('s');
    CHECK_INT(view.prompt, PROMPT_RESTART);
    CHECK(shows("restart ppo-btc_2 and ppo-btc_1?") && shows("unchanged"));
    CHECK_INT(press('y'), ACTION_FORM_SEND);
    CHECK_STR(view.subject, "ppo-btc_2");
    CHECK_INT(view.n_also, 1);
    CHECK_STR(view.also[0], "ppo-btc_1");
    press(PRESS_ENTER); /* trials = 60 */
    press('1');
    press(PRESS_ENTER);
    CHECK_INT(tui_form_changes(&view.page->form), 1);
    press('s');
    CHECK(shows("restart ppo-btc_2 and ppo-btc_1?") && shows("with 1") && shows("changed value") &&
          shows("no training is restarted"));
    check_screen("restart-workers-80x24", 80, 24, GLYPHS_BRAILLE);
    press('n');
    press(PRESS_ESCAPE);
    CHECK(shows("leave the form?") && !shows("ppo-btc_1"));
    press('y');
    CHECK(view.page == NULL);
    view.focus = PANEL_TRAININGS; /* a training alone is asked about alone */
    view.study_view = STUDY_LISTED;
    snprintf(view.training, sizeof(view.training), "ppo-btc_1");
    check_asked('x', PROMPT_STOP, ACTION_TRAIN_STOP, "ppo-btc_1", "");
    tui_status_finish(&model->status);
    model->status = *kept;
    free(kept);
}

static void check_others(void)
{
    open_page("theirs");
    check_screen("study-page-optuna-80x24", 80, 24, GLYPHS_BRAILLE);
    open_page("two");
    check_screen("study-page-two-80x24", 80, 24, GLYPHS_BRAILLE);
    open_page("empty");
    check_screen("study-page-empty-80x24", 80, 24, GLYPHS_BRAILLE);
}

static void check_validation(void)
{
    static const enum study_direction maximize = STUDY_MAXIMIZE;

    open_page("ppo-btc_1..3");
    press('v');
    CHECK(shows("not read yet"));
    struct tui_study_validation *v = &model->study_page->validation;
    *v = (struct tui_study_validation){
        .have = true,
        .made_ns = now_us * 1000,
        .trial = 29,
        .value = 1.84,
        .pbo = 0.41,
        .loss = 0.2,
        .slope = -0.1,
        .intercept = 0.2,
        .deflated = 0.97,
        .skill = 0.93,
        .study = "ppo-btc_2",
        .expected = 0.4,
        .verdict = "refused: excess 0.40 (0 is needed), pbo 0.41 (at most 0.2 is right)",
        .holdout = {1.2, 0.8, 0.7, 3.1, -4.0, 41},
        .gates = {{"excess", 0.4, 0, true}, {"pbo", 0.41, 0.2, false}},
        .n_gates = 2,
        .columns = 120,
        .rows = 100000,
        .n_lambda = 3432,
        .n_equity = STUDY_EQUITY_POINTS,
        .equity_trial = 29,
        .equity_study = "ppo-btc_2",
        .pbo_now = 0.41};
    for (int i = 0; i < STUDY_LAMBDA_BINS; i++)
        v->lambda[i] = (int)(100 * exp(-0.01 * (i - 22) * (i - 22)));
    for (int i = 0; i < STUDY_EQUITY_POINTS; i++) {
        v->equity[0][i] = 1 + 0.001 * i + 0.02 * sin(i * 0.2);
        v->equity[1][i] = 1 + 0.0004 * i;
        v->equity[2][i] = NAN;
    }
    model->study_page->have_validation = true;
    check_screen("validation-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("validation-ascii-80x24", 80, 24, GLYPHS_ASCII);
    check_screen("validation-40x10", 40, 10, GLYPHS_BRAILLE);
    check_screen("validation-120x40", 120, 40, GLYPHS_BRAILLE);
    v->left_out = 2;
    check_screen("validation-200x60", 200, 60, GLYPHS_BRAILLE);
    v->made_ns = 0;
    CHECK(shows("trial ppo-btc_2#29, fetched from the artifact store"));
    v->made_ns = now_us * 1000;
    v->pbo_now = 0.3; /* more trials have ended since the proposal */
    check_screen("validation-moved-80x24", 80, 24, GLYPHS_BRAILLE);
    char nowhere[] = "/nonexistent/papertape";
    struct study_member member = {fixture_study("ppo-btc_3", 9, 1, &maximize), nowhere};
    fixture_study_user(member.study, "papertape:trials", "40");
    struct returns_kept *kept = returns_kept_create();
    tui_study_validation_read(&(struct study_members){&member, 1}, NULL, kept, 0, NULL, v);
    returns_kept_destroy(kept);
    check_screen("validation-none-80x24", 80, 24, GLYPHS_BRAILLE);
}

static void fail(int error, const char *words)
{
    struct tui_study_reading reading = {.error = error, .mono_ms = now.mono_ms};

    snprintf(reading.words, sizeof(reading.words), "%s", words);
    tui_model_take_studies(model, &reading);
}

static void check_ages(void)
{
    open_page("ppo-btc_1..3");
    now.mono_ms += 4000;
    fail(-EBUSY, "studies.db: locked for longer than 0.25 s: another program writes");
    CHECK(shows("STALE 4s") && shows("locked"));
    CHECK(model->study_page->study.have_best && shows("fANOVA"));
    press(PRESS_ESCAPE);
    now.mono_ms -= 4000; /* what pressing read */
    read_wanted();
    now.mono_ms += 4000;
    fail(-EBUSY, "studies.db: locked for longer than 0.25 s: another program writes");
    check_screen("studies-stale-80x24", 80, 24, GLYPHS_BRAILLE);
    now.mono_ms += 8000;
    check_screen("studies-gone-80x24", 80, 24, GLYPHS_BRAILLE);
    view.study_view = STUDY_PAGE;
    CHECK(shows("Trials (") && !shows("0.95"));
    check_screen("study-page-gone-80x24", 80, 24, GLYPHS_BRAILLE);
    now.mono_ms -= 12000;

    size_t kept = n_studies; /* the study is deleted while its page is open */
    open_page("two");
    n_studies = 1;
    read_wanted();
    CHECK(shows("no such study two any more (it was here, and may have been deleted)"));
    n_studies = kept;

    struct model *whole = model;
    model = tui_model_create(1000);
    CHECK_INT(fixture_take(model, fixture_trainings, now), 0);
    tui_view_init(&view, false, 1000);
    view.tab = TAB_STUDY;
    fail(-EMEDIUMTYPE, "studies.db: schema 13 of Optuna 6.0.0: 12 would be right");
    check_screen("studies-newer-80x24", 80, 24, GLYPHS_BRAILLE);
    tui_model_destroy(model);
    model = whole;
}

/* No crash and no control character, at any size, of any study, in any part. */
static void check_every_size(void)
{
    static const int sides[] = {1, 9, 10, 11, 17, 24, 39, 40, 41, 59, 60, 61, 80, 121, 200, 301};
    static const char *const which[] = {"ppo-btc_1..3", "theirs", "two", "empty"};
    enum { SIDES = sizeof(sides) / sizeof(sides[0]) };

    for (int k = 0; k < 4; k++) {
        open_page(which[k]);
        for (int i = 0; i < SIDES * SIDES; i++) {
            int width = sides[i % SIDES], height = sides[i / SIDES];
            view.study_view = (enum layout_study)(i % 3);
            view.zoomed =
                i % 5 ? PANEL_NONE : (enum panel)(PANEL_STUDIES + i % (PANEL_TESTED - PANEL_STUDIES));
            view.lists[LIST_TRIALS].sort = i % tui_study_rows_sorts(model->study_page);
            view.study_plot = (enum study_plot)(i / 3 % STUDY_PLOTS);
            view.cursor[PANEL_IMPORTANCE] = i % 7;
            char *text = picture_draw(model, &view, now, width, height, (enum glyphs)(i % 3));
            CHECK(text && picture_safe("every size", text, width, height));
            free(text);
        }
    }
}

/* A worker whose parameter is of another scale is left out, which the page says wherever there is room. */
static void check_left_out(void)
{
    n_studies = 0;
    fixture_studies_begin();
    studies[n_studies++] = fixture_training_study("odd_1", 1, 40, 60, true);
    studies[n_studies++] = fixture_training_study("odd_2", 2, 30, 60, true);
    open_page("odd_1..2");
    CHECK_INT(model->study_page->importance_of.studies, 2);
    CHECK_INT(model->study_page->importance_of.trials, model->study_page->n_results);
    for (int i = 0; i < studies[1]->n_distributions; i++)
        if (studies[1]->distributions[i].low == 0.88) /* gamma's */
            studies[1]->distributions[i].log = true;
    read_wanted();
    const struct importance_basis *basis = &model->study_page->importance_of;
    CHECK_INT(basis->studies, 1);
    CHECK_INT(basis->left_out, 1);
    CHECK_INT(basis->trials, 35);
    CHECK(shows(" 1 of 2 workers "));
    char *text = picture_draw(model, &view, now, 120, 40, GLYPHS_BRAILLE);
    CHECK(text && strstr(text, " of 35 trials, 1 of 2 workers "));
    free(text);
}

static double seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* A thousand trials: what a frame and a page take is printed; bench/tui_frames measures it. */
static void print_times(void)
{
    enum { FRAMES = 20 };

    n_studies = 0;
    fixture_studies_begin();
    studies[n_studies++] = fixture_training_study("big", 1, 1000, 2000, false);
    begin("big");
    double start = seconds();
    open_page("big");
    double read = seconds();
    for (int i = 0; i < FRAMES; i++)
        free(picture_draw(model, &view, now, 200, 60, GLYPHS_BRAILLE));
    double drawn = seconds();
    snprintf(view.lists[LIST_TRIALS].filter, sizeof(view.lists[LIST_TRIALS].filter), "linear");
    for (int i = 0; i < FRAMES; i++)
        free(picture_draw(model, &view, now, 200, 60, GLYPHS_BRAILLE));
    printf("1000 trials, 200x60: page made in %.1f ms; a frame %.2f ms, with a filter %.2f ms\n",
           1e3 * (read - start) / 5, 1e3 * (drawn - read) / FRAMES, 1e3 * (seconds() - drawn) / FRAMES);
}

int main(int argc, char **argv)
{
    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    static const enum study_direction minimize[] = {STUDY_MINIMIZE};
    golden = argv[1];
    model = tui_model_create(1000);
    CHECK_INT(fixture_take(model, fixture_trainings, now), 0);
    snprintf(model->status.trainings[1].study, sizeof(model->status.trainings[1].study),
             "ppo-world-wide-5m_2");
    fixture_studies_begin();
    studies[n_studies++] = fixture_study("empty", 1, 1, minimize);
    studies[n_studies++] = fixture_two("two", 2);
    studies[n_studies++] = fixture_training_study("ppo-world-wide-5m_2", 3, 12, 60, true);
    studies[n_studies++] = fixture_foreign("theirs", 4);
    studies[n_studies++] = fixture_training_study("ppo-btc_1", 5, 40, 60, false);
    studies[n_studies++] = fixture_training_study("ppo-btc_2", 6, 33, 60, false);
    studies[n_studies++] = fixture_training_study("ppo-btc_3", 7, 9, 47, true);
    read_wanted();
    check_lists();
    check_page();
    check_keys();
    check_plots();
    check_plot_keys();
    check_workers();
    check_others();
    check_validation();
    check_ages();
    check_every_size();
    check_left_out();
    print_times();
    tui_view_finish(&view);
    tui_model_destroy(model);
    return check_done("tui/study_screens");
}
