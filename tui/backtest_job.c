#include "tui/backtest_job.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* With --equity, --json and the state directory behind it. */
static int start(struct backtest_job *job, char *const *line, int n, const char *state_dir)
{
    char path[PATH_SIZE];
    char **argv = calloc((size_t)n + 6, sizeof(*argv));
    int r = argv ? make_folder(job) : -ENOMEM;

    if (r == 0) {
        equity_path(job, path);
        memcpy(argv, line, (size_t)n * sizeof(*argv));
        char *const more[] = {(char[]){"--state"}, (char *)(uintptr_t)state_dir, (char[]){"--equity"}, path,
                              (char[]){"--json"}};
        memcpy(argv + n, more, sizeof(more));
        r = tui_child_start(&job->child, argv);
    }
    free(argv);
    return r;
}

int tui_backtest_job_run(struct backtest_job *job, char *const *line, int n, const char *state_dir,
                         int64_t mono_ms, struct backtest_view *view)
{
    if (job->child.pid)
        return -EBUSY;
    tui_backtest_job_finish(job);
    *view = (struct backtest_view){.state = BACKTEST_RUNNING, .started_ms = mono_ms};
    int r = start(job, line, n, state_dir);
    if (r < 0) {
        fail(view, strerror(-r), mono_ms);
        tui_backtest_job_finish(job);
    }
    return r;
}

int tui_backtest_job_start(struct backtest_job *job, const char *state_dir, const char *account,
                           int64_t mono_ms, struct backtest_view *view)
{
    char *const line[] = {(char[]){"papertape"}, (char[]){"backtest"}, (char[]){"--account"},
                          (char *)(uintptr_t)account};
    int r = tui_backtest_job_run(job, line, sizeof(line) / sizeof(line[0]), state_dir, mono_ms, view);

    if (r != -EBUSY)
        cli_text_clean(view->account, sizeof(view->account), account);
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

/* What is kept of consecutive points: the lowest, the highest, and the furthest below the peak so far. */
enum { KEPT = 3, BUCKETS_MAX = (HISTORY_EQUITY_MAX - 2) / KEPT };
_Static_assert(BUCKETS_MAX % 2 == 0, "each bucket has one to be joined with");

struct bucket {
    struct history_equity points[2 * KEPT]; /* going up in time */
    int n;
};

static void thin(struct bucket *bucket)
{
    const struct history_equity *p = bucket->points;
    struct history_equity kept[KEPT];
    int low = 0, high = 0, deepest = 0, n = 0;

    for (int i = 1; i < bucket->n; i++) {
        low = p[i].equity < p[low].equity ? i : low;
        high = p[i].equity > p[high].equity ? i : high;
        deepest = p[i].equity / p[i].peak < p[deepest].equity / p[deepest].peak ? i : deepest;
    }
    for (int i = 0; i < bucket->n; i++)
        if (i == low || i == high || i == deepest)
            kept[n++] = p[i];
    memcpy(bucket->points, kept, (size_t)n * sizeof(*kept));
    bucket->n = n;
}

/* Makes one of each two buckets. */
static void halve(struct bucket buckets[static BUCKETS_MAX])
{
    for (int i = 0; i < BUCKETS_MAX / 2; i++) {
        struct bucket both = buckets[2 * i];
        const struct bucket *next = &buckets[2 * i + 1];
        memcpy(both.points + both.n, next->points, (size_t)next->n * sizeof(both.points[0]));
        both.n += next->n;
        thin(&both);
        buckets[i] = both;
    }
}

static void add(struct backtest_view *view, const struct history_equity *point)
{
    const struct history_equity *before = view->n_curve > 0 ? &view->curve[view->n_curve - 1] : NULL;

    if (!before || before->ts_ns != point->ts_ns || before->equity != point->equity)
        view->curve[view->n_curve++] = *point;
}

static bool read_point(const char *line, struct history_equity *ret)
{
    char account[ACCOUNT_NAME_MAX];

    return sscanf(line, "%" SCNd64 ",%31[^,],%lf,%*[^,],%lf", &ret->ts_ns, account, &ret->equity,
                  &ret->peak) == 4 &&
           isfinite(ret->equity) && isfinite(ret->peak);
}

/* The first point, the last one, and of each of equally many in between those that are kept. */
static void read_curve(struct backtest_view *view, const char *path)
{
    static struct bucket buckets[BUCKETS_MAX];
    char line[LINE_SIZE];
    FILE *file = fopen(path, "re");
    struct history_equity first = {0}, last = {0}, point;
    int n = 0, in_last = 0, size = 1; /* points in the last bucket, and in the others */
    bool any = false;

    view->n_curve = 0;
    if (!file)
        return;
    while (fgets(line, sizeof(line), file)) {
        if (!read_point(line, &point))
            continue;
        first = any ? first : point;
        last = point;
        any = true;
        if (n == 0 || in_last == size) {
            if (n == BUCKETS_MAX) {
                halve(buckets);
                n = BUCKETS_MAX / 2;
                size *= 2;
            }
            buckets[n++].n = in_last = 0;
        }
        struct bucket *bucket = &buckets[n - 1];
        bucket->points[bucket->n++] = point;
        thin(bucket);
        in_last++;
    }
    fclose(file);
    if (any)
        add(view, &first);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < buckets[i].n; k++)
            add(view, &buckets[i].points[k]);
    if (any)
        add(view, &last);
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
