#include "tui/backtest_job.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "exchange/folder.h"
#include "record/json.h"
#include "tui/status_reader.h"

enum { LINE_SIZE = 512, PATH_SIZE = sizeof(((struct backtest_job *)NULL)->folder) + 16 };

void tui_backtest_job_init(struct backtest_job *job)
{
    *job = (struct backtest_job){0};
    tui_child_init(&job->child);
}

static void equity_path(const struct backtest_job *job, char path[static PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/equity.csv", job->folder);
}

void tui_backtest_job_finish(struct backtest_job *job)
{
    char path[PATH_SIZE];

    tui_child_finish(&job->child);
    if (job->folder[0]) {
        equity_path(job, path);
        unlink(path);
        rmdir(job->folder);
        job->folder[0] = '\0';
    }
}

static void fail(struct backtest_view *view, const char *words, int64_t mono_ms)
{
    view->state = BACKTEST_FAILED;
    view->ended_ms = mono_ms;
    cli_text_clean(view->words, sizeof(view->words), words);
}

static int make_folder(struct backtest_job *job)
{
    int r = folder_temporary("backtest", job->folder);
    if (r < 0)
        job->folder[0] = '\0';
    return r;
}

int tui_backtest_job_start(struct backtest_job *job, const char *state_dir, const char *account,
                           int64_t mono_ms, struct backtest_view *view)
{
    char path[PATH_SIZE];

    if (job->child.pid)
        return -EBUSY;
    tui_backtest_job_finish(job);
    *view = (struct backtest_view){.state = BACKTEST_RUNNING, .started_ms = mono_ms};
    cli_text_clean(view->account, sizeof(view->account), account);
    int r = make_folder(job);
    equity_path(job, path);
    char *const argv[] = {(char[]){"papertape"}, (char[]){"backtest"},
                          (char[]){"--account"}, (char *)(uintptr_t)account,
                          (char[]){"--state"},   (char *)(uintptr_t)state_dir,
                          (char[]){"--equity"},  path,
                          (char[]){"--json"},    NULL};
    if (r == 0)
        r = tui_child_start(&job->child, argv);
    if (r < 0) {
        fail(view, strerror(-r), mono_ms);
        tui_backtest_job_finish(job);
    }
    return r;
}

void tui_backtest_job_stop(struct backtest_job *job, int64_t mono_ms, struct backtest_view *view)
{
    if (!job->child.pid)
        return;
    tui_backtest_job_finish(job);
    view->state = BACKTEST_STOPPED;
    view->ended_ms = mono_ms;
}

/* Drops every second point whenever there is no room; the last one stays. */
static void read_curve(struct backtest_view *view, const char *path)
{
    char line[LINE_SIZE];
    FILE *file = fopen(path, "re");
    struct history_equity last = {0};
    int64_t step = 1, at = 0;

    view->n_curve = 0;
    if (!file)
        return;
    while (fgets(line, sizeof(line), file)) {
        int64_t ts_ns;
        char account[ACCOUNT_NAME_MAX];
        double equity;
        if (sscanf(line, "%" SCNd64 ",%31[^,],%lf", &ts_ns, account, &equity) != 3 || !isfinite(equity))
            continue;
        last = (struct history_equity){ts_ns, equity};
        if (at++ % step != 0)
            continue;
        if (view->n_curve == HISTORY_EQUITY_MAX) {
            for (int i = 0; i < HISTORY_EQUITY_MAX / 2; i++)
                view->curve[i] = view->curve[2 * i];
            view->n_curve = HISTORY_EQUITY_MAX / 2;
            step *= 2;
        }
        view->curve[view->n_curve++] = last;
    }
    fclose(file);
    if (view->n_curve > 0 && view->curve[view->n_curve - 1].ts_ns != last.ts_ns)
        view->curve[view->n_curve == HISTORY_EQUITY_MAX ? view->n_curve - 1 : view->n_curve++] = last;
}

bool tui_backtest_view_take(struct backtest_view *view, const char *report, const char *path)
{
    json_t *object = json_loads(report, 0, NULL);
    const json_t *account = json_array_get(json_object_get(object, "accounts"), 0);
    const char *schema = json_string_value(json_object_get(object, "schema"));
    bool fits = schema && strcmp(schema, "papertape.backtest/1") == 0 && account;

    if (fits) {
        view->equity = record_json_number(account, "equity");
        view->return_pct = record_json_number(account, "return_pct");
        view->drawdown_pct = record_json_number(account, "max_drawdown_pct");
        view->sharpe = record_json_number(account, "sharpe");
        view->win_rate_pct = record_json_number(account, "win_rate_pct");
        view->trades = tui_status_count(account, "trades");
        view->fills = tui_status_count(account, "fills");
        read_curve(view, path);
    }
    json_decref(object);
    return fits;
}

bool tui_backtest_job_io(struct backtest_job *job, int64_t mono_ms, struct backtest_view *view)
{
    char path[PATH_SIZE];

    if (!job->child.pid)
        return false;
    int r = tui_child_io(&job->child);
    if (r > 0)
        return false;
    equity_path(job, path);
    if (r == -ECHILD)
        fail(view, job->child.complaint, mono_ms);
    else if (r < 0)
        fail(view, strerror(-r), mono_ms);
    else if (!tui_backtest_view_take(view, job->child.text, path))
        fail(view, "its report is not understood", mono_ms);
    else {
        view->state = BACKTEST_DONE;
        view->ended_ms = mono_ms;
    }
    tui_backtest_job_finish(job);
    return true;
}
