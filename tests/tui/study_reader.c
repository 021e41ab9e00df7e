/* A storage of studies whose queries end when this test lets them, and not before: keys are answered while
 * one runs, another study's page interrupts it, and so does the end. A query runs as long as it bars a
 * writer. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/keys.h"
#include "tui/study_source.h"

/* A study's directions are looked up in a view, as full-text search's outside content: where `slow` says so,
 * another row would come after all numbers. A plain view would be no table of Optuna's. */
static const char slow_view[] =
    "CREATE TABLE slow (v INTEGER); INSERT INTO slow VALUES (0);"
    "ALTER TABLE study_directions RENAME TO own;"
    "CREATE VIEW held AS SELECT study_direction_id AS id, direction, study_id, objective FROM own UNION ALL "
    "SELECT i, '', 0, 0 FROM (WITH RECURSIVE n (i) AS (SELECT 1 FROM slow WHERE v UNION ALL SELECT i + 1 FROM n) "
    "SELECT i FROM n) WHERE i < 0;"
    "CREATE VIRTUAL TABLE study_directions USING fts5 (direction, study_id, objective, content = held, "
    "content_rowid = id);";

static sqlite3 *db;
static struct tui_study_reader *reader;
static struct model *model;
static struct view view;

static bool run(const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Until the reader holds its lock: its query runs. */
static void await_query(void)
{
    while (run("BEGIN EXCLUSIVE")) {
        CHECK(run("ROLLBACK"));
        sched_yield();
    }
}

static void want(const char *label)
{
    struct tui_study_want wanted = {.trial = -1};

    for (int i = 0; model->studies && i < model->studies->n; i++)
        if (strcmp(model->studies->study[i].label, label) == 0)
            memcpy(wanted.key, model->studies->study[i].key, sizeof(wanted.key));
    tui_study_reader_want(reader, &wanted);
}

/* The reading that comes next, where the storage is not locked; it is asked for again where it is. */
static void take(const char *label)
{
    struct pollfd ready = {tui_study_reader_fd(reader), POLLIN, 0};
    struct tui_study_reading reading;

    do {
        do
            CHECK_INT(poll(&ready, 1, -1), 1);
        while (!tui_study_reader_take(reader, &reading));
        if (reading.error == -EBUSY)
            want(label);
        tui_model_take_studies(model, &reading);
    } while (model->studies_error == -EBUSY || (label[0] && !model->study_page) ||
             (label[0] && strcmp(model->study_page->study.label, label) != 0));
    CHECK_INT(model->studies_error, 0);
}

/* A study with three trials. */
static void put_study(const char *path, const char *name)
{
    static const enum study_direction directions[] = {STUDY_MAXIMIZE};
    char err[STUDY_ERROR_MAX];
    struct study_store *store;
    int64_t study, trial;
    int number;

    CHECK_INT(study_store_open(path, STUDY_STORE_WRITE, 0, &store, err), 0);
    CHECK_INT(study_store_create(store, name, directions, 1, &study, NULL, err), 0);
    for (int i = 0; i < 3; i++) {
        const double value = i;
        CHECK_INT(study_store_ask(store, study, false, &trial, &number, err), 0);
        CHECK_INT(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err), 0);
    }
    study_store_close(store);
}

static void *open_gate(void *ctx)
{
    sqlite3 *writer = ctx;

    return sqlite3_exec(writer, "BEGIN EXCLUSIVE; UPDATE slow SET v = 0; COMMIT", NULL, NULL, NULL) ==
                   SQLITE_OK
               ? ctx
               : NULL;
}

/* A key moves the chosen trial, and the next frame shows it, while no reading comes. */
static void check_keys(void)
{
    struct tui_study_reading unused;
    struct moment now = tui_model_now();
    struct canvas canvas;
    const int before = tui_view_cursor(&view, model, PANEL_TRIALS);

    tui_keys_press(&view, model, 80, 24, now, 'j');
    CHECK_INT(tui_view_cursor(&view, model, PANEL_TRIALS), before + 1);
    CHECK_INT(tui_canvas_init(&canvas, 80, 24, GLYPHS_ASCII), 0);
    tui_view_draw(&view, model, now, &canvas);
    tui_canvas_finish(&canvas);
    CHECK(!tui_study_reader_take(reader, &unused));
}

static void check_interrupt(sqlite3 *writer)
{
    pthread_t thread;
    void *done;

    CHECK(run("UPDATE slow SET v = 1"));
    want("one");
    await_query();
    check_keys();
    CHECK_INT(pthread_create(&thread, NULL, open_gate, writer), 0);
    while (sqlite3_exec(db, "SELECT v FROM slow", NULL, NULL, NULL) == SQLITE_OK) /* until it bars readers */
        sched_yield();
    want("two"); /* of no use any more: its query ends, and the writer comes */
    CHECK_INT(pthread_join(thread, &done), 0);
    CHECK(done != NULL);
    take("two");
}

int main(void)
{
    const char *path = scratch_path("studies.db");
    sqlite3 *writer = NULL;

    if (!setlocale(LC_CTYPE, "C.UTF-8") || !sqlite3_compileoption_used("ENABLE_FTS5"))
        return CHECK_SKIP;
    put_study(path, "one");
    put_study(path, "two");
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_open(path, &writer) != SQLITE_OK || !run(slow_view))
        return EXIT_FAILURE;
    sqlite3_busy_timeout(writer, 60000);
    model = tui_model_create(1000);
    reader = tui_study_reader_create(path, scratch_root());
    want("");
    take("");
    want("one");
    take("one");
    tui_view_init(&view, false, 1000);
    CHECK(tui_view_open_study(&view, model, "one"));
    check_interrupt(writer);
    CHECK(run("UPDATE slow SET v = 1"));
    want("two");
    await_query();
    tui_study_reader_destroy(reader); /* it does not wait for what never ends */
    CHECK(run("BEGIN EXCLUSIVE"));
    sqlite3_close(db);
    sqlite3_close(writer);
    tui_view_finish(&view);
    tui_model_destroy(model);
    return check_done("tui/study_reader");
}
