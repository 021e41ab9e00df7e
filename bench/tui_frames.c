/* What a frame of the dashboard costs to draw, at 200x60, on every tab, on a training's page and on a study's
 * of 1000 trials, from a full model; and what it costs to read a training's past, whole and its newest part.
 * One JSON line a figure. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"
#include "fixtures/dashboard.h"
#include "fixtures/studies.h"
#include "tui/history_reader.h"
#include "tui/view.h"

enum {
    WIDTH = 200,
    HEIGHT = 60,
    FRAMES = 200,
    READINGS = 50,
    POINTS = 4096,
    TRIALS = 1000,
    PAGES = 20,
    TRAININGS = 64
};

static const char name[] = "bench";

static void fail(const char *what)
{
    fprintf(stderr, "bench/tui_frames: %s\n", what);
    exit(EXIT_FAILURE);
}

static void report(const char *what, double value, double limit)
{
    printf(
        "{\"bench\":\"tui\",\"case\":\"%s\",\"value\":%.3f,\"unit\":\"ms\",\"peer\":null,\"peer_value\":null,"
        "\"ratio\":null,\"limit\":%g,\"of_limit\":%.3f}\n",
        what, value, limit, value / limit);
    fflush(stdout);
}

/* A frame's own: another process between two of its instructions is not its cost. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fill(const char *path)
{
    static const struct db_writer_config config;
    struct db_writer *writer = NULL;
    char words[DB_ERROR_MAX];

    if (fixture_database(path) < 0 || db_writer_open(path, &config, &writer, words, sizeof(words)) < 0)
        fail("no database");
    struct db_training row = fixture_training_row(name, "update", (int64_t)POINTS * 1024);
    db_writer_put_training(writer, &row);
    for (int i = 0; i < POINTS; i++)
        fixture_put_point(writer, name, i, 0);
    for (int i = 0; i < HISTORY_PHASES_MAX; i++) {
        struct db_training_state state = {name, i % 2 ? "rollout" : "update",
                                          fixture_now_ns - (HISTORY_PHASES_MAX - i) * (int64_t)1000000000,
                                          0.9};
        db_writer_put_training_state(writer, &state);
    }
    if (db_writer_close(writer, 20000, words, sizeof(words)) < 0)
        fail(words);
}

static struct model *full_model(void)
{
    json_t *object = json_loads(fixture_status, 0, NULL), *more = json_loads(fixture_several, 0, NULL),
           *trainings = json_loads(fixture_trainings, 0, NULL), *all = json_array();
    struct model *model = tui_model_create(1000);
    const struct moment now = {fixture_now_ns, 1000000};

    for (int i = 0; i < TRAININGS; i++) {
        json_t *training = json_deep_copy(json_array_get(json_object_get(trainings, "trainings"), 1));
        json_object_set_new(training, "training", i ? json_sprintf("bench_%d", i) : json_string(name));
        json_array_append_new(all, training);
    }
    json_object_update(object, more);
    json_object_update(object, trainings);
    json_object_set_new(object, "trainings", all);
    if (!model || tui_model_take_status(model, object, now) < 0)
        fail("no model");
    json_decref(object);
    json_decref(more);
    json_decref(trainings);
    return model;
}

static void readings(const char *path, struct model *model)
{
    struct history_want want = {.symbol = "BTCUSDT", .interval = "1m"};
    struct history_reader *reader;
    double on[READINGS];
    char words[256];

    if (tui_history_open(path, &reader, words, sizeof(words)) < 0)
        fail(words);
    snprintf(want.training, sizeof(want.training), "%s", name);
    if (tui_history_read(reader, fixture_now_ns, &want, &model->history, words, sizeof(words)) < 0)
        fail(words);
    model->have_history = true;
    model->history.training.points.stride = 0;
    double start = bench_seconds();
    if (tui_history_read_training(reader, &model->history.training, name) < 0)
        fail("not read");
    report("reading a training's past, 4096 points, whole", (bench_seconds() - start) * 1e3, 50);
    for (int i = 0; i < READINGS; i++) {
        start = bench_seconds();
        if (tui_history_read_training(reader, &model->history.training, name) < 0)
            fail("not read");
        on[i] = bench_seconds() - start;
    }
    qsort(on, READINGS, sizeof(on[0]), bench_by_value);
    report("reading a training's past, its newest part, median", on[READINGS / 2] * 1e3, 2);
    tui_history_close(reader);
}

static void frames(const struct model *model)
{
    struct canvas canvas;
    struct view view;
    double *each = bench_room(FRAMES, sizeof(*each)), worst_median = 0;
    char what[64];

    if (tui_canvas_init(&canvas, WIDTH, HEIGHT, GLYPHS_BRAILLE) < 0)
        fail("no canvas");
    for (int page = 0; page <= TABS; page++) {
        tui_view_init(&view, false, 1000);
        view.tab = page < TABS ? (enum tab)page : TAB_STUDY;
        view.detail = page == TABS;
        snprintf(view.training, sizeof(view.training), "%s", name);
        for (int i = 0; i < FRAMES; i++) {
            double start = cpu_seconds();
            tui_view_draw(&view, model, (struct moment){fixture_now_ns, 1000000 + i}, &canvas);
            each[i] = cpu_seconds() - start;
        }
        qsort(each, FRAMES, sizeof(*each), bench_by_value);
        snprintf(what, sizeof(what),
                 page < TABS ? "frame 200x60, tab %d, worst of 200"
                             : "frame 200x60, a training's page, worst of 200",
                 page + 1);
        report(what, each[FRAMES - 1] * 1e3, 8);
        worst_median = each[FRAMES / 2] > worst_median ? each[FRAMES / 2] : worst_median;
    }
    report("frame 200x60, the dearest page's median", worst_median * 1e3, 8);
    tui_canvas_finish(&canvas);
    free(each);
}

/* A study's page: made by the thread that reads, where a trial has ended; drawn as the others. */
static void study_pages(struct model *model)
{
    const int64_t now_us = fixture_now_ns / 1000;
    struct tui_study_want want = {.study = "study", .trial = TRIALS - 1};
    struct tui_study_reading reading = {.mono_ms = 1000000};
    double each[PAGES];
    struct study *study;

    fixture_studies_begin();
    study = fixture_training_study("study", 1, TRIALS, 2 * TRIALS, false);
    snprintf(want.key, sizeof(want.key), "%s", study->name);
    for (int i = 0; i < PAGES; i++) {
        double start = cpu_seconds();
        struct tui_study_page *page = tui_study_page_make(&study, 1, &want, NULL, now_us);
        each[i] = cpu_seconds() - start;
        if (!page)
            fail("no page");
        tui_study_page_destroy(page);
    }
    qsort(each, PAGES, sizeof(*each), bench_by_value);
    report("a study's page of 1000 trials made, importance too, worst of 20", each[PAGES - 1] * 1e3, 250);
    reading.studies = tui_studies_make(&study, 1, now_us);
    reading.page = tui_study_page_make(&study, 1, &want, NULL, now_us);
    if (!reading.studies || !reading.page)
        fail("no page");
    tui_model_take_studies(model, &reading);
}

static void study_frames(const struct model *model)
{
    static const char *const what[] = {
        "frame 200x60, a study of 1000 trials, worst of 200",
        "frame 200x60, a study of 1000 trials, sorted and filtered again, worst of 200"};
    struct canvas canvas;
    struct view view;
    double *each = bench_room(FRAMES, sizeof(*each));

    if (tui_canvas_init(&canvas, WIDTH, HEIGHT, GLYPHS_BRAILLE) < 0)
        fail("no canvas");
    for (int filtered = 0; filtered < 2; filtered++) {
        tui_view_init(&view, false, 1000);
        if (!tui_view_open_study(&view, model, "study"))
            fail("no study");
        for (int i = 0; i < FRAMES; i++) {
            if (filtered)
                snprintf(view.lists[LIST_TRIALS].filter, sizeof(view.lists[LIST_TRIALS].filter), "%s",
                         i % 2 ? "linear" : "!fail");
            view.lists[LIST_TRIALS].sort = filtered ? i % 8 : 0;
            double start = cpu_seconds();
            tui_view_draw(&view, model, (struct moment){fixture_now_ns, 1000000 + i}, &canvas);
            each[i] = cpu_seconds() - start;
        }
        qsort(each, FRAMES, sizeof(*each), bench_by_value);
        report(what[filtered], each[FRAMES - 1] * 1e3, 8);
    }
    tui_canvas_finish(&canvas);
    free(each);
}

int main(void)
{
    char folder[] = "/tmp/papertape-frames-XXXXXX", path[512];

    if (!setlocale(LC_CTYPE, "C.UTF-8") || !mkdtemp(folder))
        fail("no locale C.UTF-8, or no folder");
    snprintf(path, sizeof(path), "%s/papertape.db", folder);
    fill(path);
    struct model *model = full_model();
    readings(path, model);
    frames(model);
    study_pages(model);
    study_frames(model);
    tui_model_destroy(model);
    fixture_remove(folder);
    return EXIT_SUCCESS;
}
