#include "daemon/column_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/daemon.h"
#include "engine/column.h"
#include "exchange/fail.h"

enum { TICK_MS = 1000, FILES_MAX = 64 };

#define SEPARATORS ", \t"
#define ABOUT      "[market] columns"

/* What shows that a file has changed. */
struct seen_file {
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct seen_files {
    struct seen_file files[FILES_MAX];
};

struct column_files {
    struct daemon *daemon;
    uv_timer_t tick;
    uv_work_t work;
    struct external_columns columns; /* as they were read last */
    size_t *next;                    /* [columns.n] the first value that was not given */
    struct seen_files seen, read;    /* at the last tick; when they were last read */
    bool busy, started, stopped, closed;
    /* The thread's while busy. */
    char paths[CONFIG_PATH_MAX];
    struct external_columns found;
    char error[CONFIG_ERROR_MAX]; /* "": they were read */
};

/* ---- files ---- */

/* The next one of a list; *at moves behind it. False: there is none. */
static bool next_path(const char **at, char path[static CONFIG_PATH_MAX])
{
    *at += strspn(*at, SEPARATORS);
    size_t len = strcspn(*at, SEPARATORS);
    snprintf(path, CONFIG_PATH_MAX, "%.*s", (int)len, *at);
    *at += len;
    return len > 0;
}

static int read_paths(const char *paths, struct external_columns *ret, char error[static CONFIG_ERROR_MAX])
{
    char path[CONFIG_PATH_MAX], why[EXTERNAL_ERROR_MAX];
    struct external_columns columns = {0};
    const char *at = paths;
    int r = 0;
    for (int n = 0; r == 0 && next_path(&at, path); n++)
        r = n < FILES_MAX ? backtest_external_read(path, &columns, why)
                          : fail_with(-EINVAL, why, sizeof why, "at most %d files are read", FILES_MAX);
    if (r < 0) {
        backtest_external_finish(&columns);
        return fail_with(r, error, CONFIG_ERROR_MAX, ABOUT ": %.400s", why);
    }
    *ret = columns;
    return 0;
}

int daemon_column_files_read(const struct daemon_config *config, struct external_columns *ret,
                             char error[static CONFIG_ERROR_MAX])
{
    return read_paths(config->columns, ret, error);
}

static void look(const struct column_files *files, struct seen_files *ret)
{
    char path[CONFIG_PATH_MAX];
    struct stat file;
    const char *at = files->paths;
    memset(ret, 0, sizeof *ret); /* its padding too: compared as bytes */
    for (int i = 0; i < FILES_MAX && next_path(&at, path); i++) {
        struct seen_file *seen = &ret->files[i];
        if (stat(path, &file) < 0)
            continue;
        seen->there = true;
        seen->device = file.st_dev;
        seen->inode = file.st_ino;
        seen->size = file.st_size;
        seen->changed = file.st_mtim;
    }
}

static bool same(const struct seen_files *a, const struct seen_files *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- values ---- */

/* The first that is to be given: later than what the engine has, and of what is long past the newest. */
static size_t first_of(const struct engine *engine, int symbol, const struct external_column *column,
                       int64_t now_ns)
{
    const int64_t last_ns = engine_column_last(engine, symbol, column->name);
    size_t past = 0, first = 0;
    while (past < column->n && column->values[past].published_ns <= now_ns)
        past++;
    while (first < column->n && column->values[first].published_ns <= last_ns)
        first++;
    const size_t kept = past > COLUMN_VALUES_MAX ? past - COLUMN_VALUES_MAX : 0;
    return first > kept ? first : kept;
}

/* 0; -ENOSPC: later; with an alert: -EINVAL: it is left out; -E2BIG: and what follows. */
static int give_value(struct column_files *files, struct event *event)
{
    struct session *session = files->daemon->session;
    char why[COLUMN_ERROR_MAX], text[COLUMN_ERROR_MAX + 128];
    struct event given = *event; /* the session stamps it */
    int r = engine_column_check(daemon_session_engine(session), &event->column, why);
    if (r == 0)
        daemon_session_event(session, &given);
    if (r != -EINVAL && r != -E2BIG)
        return r;
    snprintf(text, sizeof text, "column %s: %s of its file %s left out: %s", event->column.name,
             r == -E2BIG ? "values" : "a value", r == -E2BIG ? "are" : "is", why);
    daemon_session_alert(session, DB_WARNING, "columns", text);
    return r;
}

static void give_column(struct column_files *files, size_t i)
{
    const struct external_column *column = &files->columns.columns[i];
    const struct engine *engine = daemon_session_engine(files->daemon->session);
    struct event event = {.kind = EVENT_COLUMN, .column.symbol = -1};
    if (column->symbol[0] && (event.column.symbol = engine_find_symbol_written(engine, column->symbol)) < 0)
        return; /* it may be added */
    if (files->next[i] == SIZE_MAX)
        files->next[i] =
            first_of(engine, event.column.symbol, column, daemon_session_now(files->daemon->session));
    memcpy(event.column.name, column->name, sizeof event.column.name);
    for (; files->next[i] < column->n; files->next[i]++) {
        event.column.value = column->values[files->next[i]];
        int r = give_value(files, &event);
        if (r == -ENOSPC)
            return;
        if (r == -E2BIG)
            files->next[i] = column->n - 1;
    }
}

static void give(struct column_files *files)
{
    for (size_t i = 0; files->started && i < files->columns.n; i++)
        give_column(files, i);
}

/* 0 or -ENOMEM; found is taken over. */
static int take(struct column_files *files, struct external_columns *found)
{
    size_t *next = malloc((found->n + 1) * sizeof *next);
    if (!next)
        return -ENOMEM;
    for (size_t i = 0; i < found->n; i++)
        next[i] = SIZE_MAX;
    free(files->next);
    backtest_external_finish(&files->columns);
    files->next = next;
    files->columns = *found;
    *found = (struct external_columns){0};
    return 0;
}

/* ---- files that change ---- */

/* Once it is stopped: neither the thread nor the timer has it any more. */
static void release(struct column_files *files)
{
    if (!files->closed || files->busy)
        return;
    backtest_external_finish(&files->columns);
    backtest_external_finish(&files->found);
    free(files->next);
    free(files);
}

static void on_thread(uv_work_t *work)
{
    struct column_files *files = work->data;
    files->error[0] = '\0';
    if (read_paths(files->paths, &files->found, files->error) < 0 && !files->error[0])
        snprintf(files->error, sizeof files->error, ABOUT ": out of memory");
}

/* Values are taken over, or an alert lasts until they can be. */
static void take_found(struct column_files *files)
{
    struct session *session = files->daemon->session;
    if (!files->error[0] && take(files, &files->found) < 0)
        snprintf(files->error, sizeof files->error, ABOUT ": out of memory");
    backtest_external_finish(&files->found);
    daemon_session_alert_over(session, "columns", ABOUT);
    if (files->error[0])
        daemon_session_alert_lasting(session, DB_WARNING, "columns", ABOUT, files->error);
    else
        give(files);
}

static void on_done(uv_work_t *work, int status)
{
    struct column_files *files = work->data;
    files->busy = false;
    if (files->stopped)
        release(files);
    else if (status == 0 && !files->daemon->stopping)
        take_found(files);
}

/* One that was just written to is left alone for a moment: its writer may not be done. */
static void on_tick(uv_timer_t *timer)
{
    struct column_files *files = timer->data;
    struct seen_files now;
    look(files, &now);
    bool settled = same(&now, &files->seen);
    files->seen = now;
    if (!files->started || files->daemon->stopping)
        return;
    if (settled && !same(&now, &files->read) && !files->busy) {
        files->read = now;
        files->busy = uv_queue_work(files->daemon->loop, &files->work, on_thread, on_done) == 0;
    }
    give(files);
}

struct column_files *daemon_column_files_create(struct daemon *daemon)
{
    struct column_files *files = calloc(1, sizeof *files);
    if (!files)
        return NULL;
    files->daemon = daemon;
    files->work.data = files;
    memcpy(files->paths, daemon->config.columns, sizeof files->paths);
    look(files, &files->read);
    files->seen = files->read;
    on_thread(&files->work);
    uv_timer_init(daemon->loop, &files->tick);
    files->tick.data = files;
    if (files->paths[0])
        uv_timer_start(&files->tick, on_tick, TICK_MS, TICK_MS);
    return files;
}

void daemon_column_files_started(struct column_files *files)
{
    files->started = true;
    take_found(files);
}

static void on_closed(uv_handle_t *handle)
{
    struct column_files *files = handle->data;
    files->closed = true;
    release(files);
}

void daemon_column_files_stop(struct column_files *files)
{
    if (!files)
        return;
    files->stopped = true;
    uv_close((uv_handle_t *)&files->tick, on_closed);
    if (files->busy)
        (void)uv_cancel((uv_req_t *)&files->work); /* it is called back either way */
}
