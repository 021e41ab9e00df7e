/* What the pages of sweeps want done, and the files of all sweeps. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tui/collect.h"

static void report(struct sweep_page *page, int r, const char *words)
{
    page->failed = r < 0;
    snprintf(page->words, sizeof(page->words), "%s", words);
}

/* A new one, or `id` again; its table is then opened, and shows how far it is. */
static void start(struct sweep_job *job, struct sweep_page *page, const json_t *fields, const char *state_dir,
                  const char *id)
{
    char started[SWEEP_ID_MAX], words[SWEEP_COMPLAINT_MAX];

    snprintf(started, sizeof(started), "%s", id);
    int r = tui_sweep_job_start(job, fields, state_dir, started, words);
    report(page, r, r < 0 ? words : "");
    if (r < 0)
        return;
    tui_sweep_list_read(&page->list);
    memcpy(page->chosen, started, sizeof(page->chosen));
    tui_sweep_detail_finish(&page->detail);
    page->mode = SWEEP_TABLE;
    page->of_table = (struct sweep_list_view){0};
}

static void remove_chosen(struct sweep_page *page)
{
    int r = tui_sweep_job_remove(page->chosen);

    report(page, r, r < 0 ? strerror(-r) : "removed");
    if (r == 0 && page->mode != SWEEP_FORM) {
        page->mode = SWEEP_LIST;
        tui_sweep_detail_finish(&page->detail);
    }
}

static void run(struct sweep_job *job, struct sweep_page *page, const struct sweep_entry *entry,
                const char *state_dir, struct moment now)
{
    struct sweep_argv argv = {0};

    tui_backtest_job_stop(&job->run, now.mono_ms, &page->run);
    tui_sweep_argv_run(&argv, entry->fields, page->run_set);
    if (argv.over)
        report(page, -1, "not run: too many words, or out of memory");
    else
        tui_backtest_job_run(&job->run, argv.words, argv.n, state_dir, now.mono_ms, &page->run);
    tui_sweep_argv_finish(&argv);
}

static void plan(struct sweep_job *job, struct sweep_page *page, const char *state_dir, struct moment now)
{
    json_t *fields = tui_sweep_form_fields(page->form);
    int r = tui_sweep_job_plan(job, fields, state_dir);

    page->plan.since_ms = now.mono_ms;
    if (r < 0)
        tui_sweep_page_planned(page, NULL, strerror(-r));
    json_decref(fields);
}

static void start_form(struct sweep_job *job, struct sweep_page *page, const char *state_dir)
{
    json_t *fields = tui_sweep_form_fields(page->form);

    start(job, page, fields, state_dir, "");
    json_decref(fields);
}

static void act(struct collector *collector, struct sweep_page *page, unsigned wants, struct moment now)
{
    struct sweep_job *job = &collector->sweep;
    const char *state_dir = collector->state.path;
    struct sweep_entry *entry = tui_sweep_page_chosen(page);

    if (wants & SWEEP_WANTS_NO_RUN)
        tui_backtest_job_stop(&job->run, now.mono_ms, &page->run);
    if (wants & SWEEP_WANTS_DESCRIPTION) {
        int r = tui_sweep_job_describe(job, tui_sweep_form_value(page->form, "strategy"));
        if (r < 0)
            tui_sweep_page_described(page, NULL, strerror(-r));
    }
    if (wants & SWEEP_WANTS_PLAN && !(wants & SWEEP_WANTS_DESCRIPTION))
        plan(job, page, state_dir, now);
    if (wants & SWEEP_WANTS_START)
        start_form(job, page, state_dir);
    if (wants & SWEEP_WANTS_AGAIN && entry)
        start(job, page, entry->fields, state_dir, entry->id);
    if (wants & SWEEP_WANTS_STOP && entry)
        report(page, 0, tui_sweep_job_stop(entry) ? "it stops; what it has done is kept" : "it does not run");
    if (wants & SWEEP_WANTS_REMOVE)
        remove_chosen(page);
    if (wants & SWEEP_WANTS_RUN && entry)
        run(job, page, entry, state_dir, now);
}

void tui_collector_sweeps(struct collector *collector, struct view *view, struct moment now)
{
    struct sweep_page *page = view->sweeps;
    struct sweep_job *job = &collector->sweep;

    tui_sweep_job_reap(job);
    if (!page) {
        tui_child_finish(&job->child);
        tui_backtest_job_finish(&job->run);
        return;
    }
    if (!page->bars[0] && !page->form && access(collector->state.database, R_OK) == 0)
        snprintf(page->bars, sizeof(page->bars), "%s", collector->state.path);
    const unsigned wants = page->wants;
    page->wants = 0;
    act(collector, page, wants, now);
    tui_sweep_list_read(&page->list);
    tui_sweep_page_read(page);
}

/* "papertape: sweep: --grid: …" without its beginning. */
static const char *reason(const char *complaint)
{
    static const char *const prefixes[] = {"papertape: sweep: ", "papertape: backtest: "};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(complaint, prefixes[i], strlen(prefixes[i])) == 0)
            return complaint + strlen(prefixes[i]);
    return complaint;
}

static bool take_answer(struct sweep_job *job, struct sweep_page *page)
{
    if (!job->child.pid)
        return false;
    int r = tui_child_io(&job->child);
    if (r > 0)
        return false;
    const char *text = r == 0 ? job->child.text : NULL,
               *why = r == -ECHILD ? reason(job->child.complaint) : strerror(-r);
    if (page)
        (job->describes ? tui_sweep_page_described : tui_sweep_page_planned)(page, text, why);
    tui_child_finish(&job->child);
    return true;
}

bool tui_collector_sweeps_io(struct collector *collector, struct view *view, struct moment now)
{
    struct sweep_page *page = view->sweeps;
    bool changed = take_answer(&collector->sweep, page);

    if (page) {
        changed |= tui_backtest_job_io(&collector->sweep.run, now.mono_ms, &page->run);
        if (page->wants)
            tui_collector_sweeps(collector, view, now);
    }
    return changed;
}
