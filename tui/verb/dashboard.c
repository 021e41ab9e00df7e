#include "tui/verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "cli/text.h"
#include "exchange/exit_status.h"
#include "tui/collect.h"
#include "tui/dashboard.h"
#include "tui/plain.h"
#include "tui/print.h"
#include "tui/saved_view_keys.h"
#include "tui/screen.h"
#include "tui/view.h"

enum {
    STATUS_TIMEOUT_MS = 3000,   /* how long a printed screen waits for the daemon */
    EXPLAIN_TIMEOUT_MS = 60000, /* and for the explanation of an order */
};

enum printed { PRINT_NOTHING, PRINT_ONCE, PRINT_JSON, PRINT_SCREEN };

struct dashboard_request {
    struct dashboard_options dashboard;
    enum printed printed;
    int width, height;  /* PRINT_SCREEN */
    long times;         /* --loop */
    const char *opener; /* the option that names the page to begin with */
    bool scheme_given, glyphs_given, interval_given, plain;
};

static int wrong(const struct option_call *call, const struct option_row *row, const char *value,
                 const char *right)
{
    return option_fail(call, EXIT_USAGE, "--%s: \"%s\": %s", row->name, value, right);
}

static bool parse_interval(const char *text, int64_t *ret_ms)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end ||
        !(seconds >= VIEW_INTERVAL_MIN_MS / 1e3 && seconds <= VIEW_INTERVAL_MAX_MS / 1e3))
        return false;
    *ret_ms = (int64_t)(seconds * 1000);
    return true;
}

static bool parse_size(const char *text, int *ret_width, int *ret_height)
{
    int width, height, used = 0;

    if (sscanf(text, "%4dx%4d%n", &width, &height, &used) != 2 || text[used] || width < 1 || height < 1 ||
        width > CANVAS_SIDE_MAX || height > CANVAS_SIDE_MAX)
        return false;
    *ret_width = width;
    *ret_height = height;
    return true;
}

static bool parse_count(const char *text, long most, long *ret)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);

    if (errno || end == text || *end || value < 1 || value > most)
        return false;
    *ret = value;
    return true;
}

static int parse_glyphs(const char *name)
{
    static const char *const names[] = {
        [GLYPHS_ASCII] = "ascii", [GLYPHS_BLOCK] = "block", [GLYPHS_BRAILLE] = "braille"};

    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -EINVAL;
}

static int take_tab(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;
    long number;

    if (!parse_count(value, TABS, &number))
        return wrong(call, row, value, "1 to 8");
    request->dashboard.tab = (enum tab)(number - 1);
    return EXIT_OK;
}

static int take_interval(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;

    if (!parse_interval(value, &request->dashboard.interval_ms))
        return wrong(call, row, value, "seconds from 0.25 to 60");
    request->interval_given = true;
    return EXIT_OK;
}

static int take_scheme(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;

    request->dashboard.scheme = (enum scheme)tui_scheme_parse(value);
    request->scheme_given = true;
    (void)row;
    return EXIT_OK;
}

static int take_glyphs(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;

    request->dashboard.glyphs = (enum glyphs)parse_glyphs(value);
    request->glyphs_given = true;
    (void)row;
    return EXIT_OK;
}

static int take_once(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;

    (void)row, (void)value;
    request->printed = PRINT_ONCE;
    return EXIT_OK;
}

static int take_size(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;

    if (!parse_size(value, &request->width, &request->height))
        return wrong(call, row, value, "WIDTHxHEIGHT, each 1 to 1000, as 80x24");
    request->printed = PRINT_SCREEN;
    return EXIT_OK;
}

static int take_times(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;

    return parse_count(value, 1000000000, &request->times)
               ? EXIT_OK
               : wrong(call, row, value, "how often to print, 1 or more");
}

static int take_open(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;

    request->opener = row->name;
    return tui_opened_parse(value, &request->dashboard.open) ? EXIT_OK
                                                             : wrong(call, row, value, OPENED_FORMS);
}

static int take_study(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;
    struct opened *open = &request->dashboard.open;

    request->opener = row->name;
    if (!value[0] || strlen(value) >= sizeof(open->name))
        return wrong(call, row, value, "a study's name");
    *open = (struct opened){.kind = OPENED_STUDY};
    snprintf(open->name, sizeof(open->name), "%s", value);
    return EXIT_OK;
}

static int take_at(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;
    struct past_want *at = &request->dashboard.at;
    int64_t ago_ns;

    *at = (struct past_want){.jumps = true};
    if ((at->of_day = tui_past_clock_parse(value, &at->at_ns)))
        return EXIT_OK;
    if (!cli_stored_ago_parse(value, &ago_ns))
        return cli_stored_take_time(call, row, value);
    at->at_ns = -ago_ns;
    return EXIT_OK;
}

static int take_view(struct option_call *call, const struct option_row *row, const char *value)
{
    struct dashboard_request *request = call->into;
    char words[KEPT_FILE_WORDS_MAX];
    struct saved_view saved;

    if (tui_saved_view_read(value, &saved, words) == -ENOENT)
        return wrong(call, row, value, words);
    request->dashboard.view = value;
    return EXIT_OK;
}

static int find_state(const struct option_call *call, struct dashboard_options *dashboard)
{
    char words[512];
    int r = db_state_dir_resolve(call->state, &dashboard->state, words, sizeof(words));

    if (r < 0)
        return option_fail(call, r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", words);
    if (db_state_dir_denied(&dashboard->state, call->state, words, sizeof(words)))
        return option_fail(call, EXIT_ERROR, "%s", words);
    return EXIT_OK;
}

/* Of the moment that --at names, where it names one. False: a sentence was written. */
static bool go_back(const struct dashboard_request *request, struct collector *collector, struct view *view)
{
    char words[STATUS_TEXT_MAX];

    if (!request->dashboard.at.jumps ||
        tui_collector_past_once(collector, view, &request->dashboard.at, request->width, words))
        return true;
    fprintf(stderr, "papertape: --at: %s\n", words);
    return false;
}

/* 0; 1: the page that --open names is of nothing that there is; -errno, -ENOENT: nor is its study. */
static int print_screen(const struct dashboard_request *request, struct collector *collector,
                        struct view *from)
{
    struct model *model = tui_collector_shown(collector);
    struct history_want past;
    struct tui_study_want want;
    struct view view = *from;
    struct canvas canvas;
    struct layout layout;
    char words[KEPT_FILE_WORDS_MAX];
    int r = tui_canvas_init(&canvas, request->width, request->height, request->dashboard.glyphs);

    if (r < 0)
        return r;
    if (request->dashboard.view &&
        (tui_saved_view_keys_open(&view, model, request->dashboard.view, words) < 0 || words[0]))
        fprintf(stderr, "papertape: --view: %s\n", words);
    if (!tui_opened_show(&request->dashboard.open, &view, model)) {
        tui_canvas_finish(&canvas);
        return -ENOENT;
    }
    tui_view_want(&view, model, request->width, &past); /* which the first reading could not know */
    if (model == collector->model)
        tui_collector_read(collector, &past);
    tui_view_layout(&view, model, canvas.width, canvas.height, &layout);
    tui_collector_page_once(collector, &view, &layout, EXPLAIN_TIMEOUT_MS);
    const int readings = view.tab == TAB_STUDY && model == collector->model ? 2 : 0;
    for (int i = 0; i < readings; i++) { /* the page, then its chosen trial's attributes */
        tui_view_want_study(&view, model, &want);
        tui_collector_studies_once(collector, &want, COLLECTOR_BUSY_MS);
    }
    char missing[STATUS_TEXT_MAX];
    r = tui_opened_missing(&request->dashboard.open, &view, model, missing, sizeof(missing));
    if (r)
        fprintf(stderr, "papertape: --open: %s\n", missing);
    if (model == collector->model) {
        const char *timeframe = "", *symbol = tui_view_wanted_live(&view, model, &layout, &timeframe);
        tui_collector_want_depth(collector, tui_view_wanted_depth(&view, model, &layout));
        tui_collector_want_live(collector, symbol, timeframe);
        tui_collector_depth_once(collector, STATUS_TIMEOUT_MS);
    } else {
        tui_collector_book_once(collector, tui_view_wanted_depth(&view, model, &layout), EXPLAIN_TIMEOUT_MS);
    }
    tui_view_draw(&view, model, tui_model_now(), &canvas);
    tui_canvas_print(&canvas, stdout);
    tui_canvas_finish(&canvas);
    return r;
}

static int print(const struct dashboard_request *request)
{
    struct collector collector;
    struct view view;
    int status = EXIT_OK;
    int r = tui_collector_init(&collector, &request->dashboard.state, request->dashboard.studies,
                               request->dashboard.interval_ms);

    for (long i = 0; i < request->times && r >= 0; i++) {
        if (i > 0)
            poll(NULL, 0, (int)request->dashboard.interval_ms);
        tui_collector_once(&collector, STATUS_TIMEOUT_MS);
        tui_view_init(&view, request->dashboard.readonly, request->dashboard.interval_ms);
        view.tab = request->dashboard.tab;
        if (!go_back(request, &collector, &view)) {
            tui_collector_finish(&collector);
            return EXIT_ERROR;
        }
        const struct model *model = tui_collector_shown(&collector);
        if (request->printed == PRINT_JSON)
            r = tui_print_json(stdout, model, model->at_ns ? NULL : collector.status_json);
        else if (request->printed == PRINT_SCREEN)
            r = print_screen(request, &collector, &view);
        else
            tui_print_overview(stdout, model, tui_model_moment(model, tui_model_now()));
        if (fflush(stdout) != 0 || ferror(stdout))
            break; /* option_main() reports it */
    }
    if (r == -ENOENT) {
        char shown[80];
        cli_text_clean(shown, sizeof(shown), request->dashboard.open.name);
        fprintf(stderr, "papertape: --%s: \"%s\": a study that there is: papertape study list names them\n",
                request->opener, shown);
        status = EXIT_USAGE;
    } else if (r < 0) {
        fprintf(stderr, "papertape: printing: %s\n", strerror(-r));
        status = EXIT_ERROR;
    } else if (model_is_saved(collector.model) || collector.past) {
        status = r > 0 ? EXIT_ERROR : EXIT_OK; /* no daemon is expected, and nothing in it becomes stale */
    } else if (collector.model->source != MODEL_DAEMON) {
        const char *database = collector.model->database_words;
        if (*database && strcmp(database, DB_NOT_YET("database", "papertaped")) != 0)
            fprintf(stderr, "papertape: the database: %s\n", database);
        fprintf(stderr, "papertape: %s: start papertaped, or name its state with --state\n",
                collector.model->daemon_words);
        status = EXIT_NO_DAEMON;
    } else if (r > 0) {
        status = EXIT_ERROR;
    } else if (tui_print_is_stale(collector.model, tui_model_now())) {
        status = EXIT_STALE;
    }
    tui_collector_finish(&collector);
    return status;
}

/* What the user has set up, and over it what the command line says. */
static int run_live(struct dashboard_request *request)
{
    struct dashboard_settings *settings = &request->dashboard.settings;
    char path[PATH_MAX], words[KEPT_FILE_WORDS_MAX] = "";

    tui_settings_defaults(settings);
    if (tui_settings_path(path))
        tui_settings_read(path, settings, words);
    if (request->scheme_given)
        settings->scheme = (int)request->dashboard.scheme;
    if (request->glyphs_given)
        settings->glyphs = SETTINGS_ASCII + (int)request->dashboard.glyphs - (int)GLYPHS_ASCII;
    if (request->interval_given)
        settings->interval = (double)request->dashboard.interval_ms / 1000;
    request->dashboard.settings_words = words;
    return tui_dashboard_run(&request->dashboard);
}

static int run(struct option_call *call)
{
    struct dashboard_request *request = call->into;
    int status = find_state(call, &request->dashboard);

    if (status != EXIT_OK)
        return status;
    if (request->dashboard.at.jumps && request->dashboard.open.kind >= OPENED_STUDY)
        return option_fail(call, EXIT_USAGE, "--open: studies are not kept as they were: without --at");
    char *name = NULL, err[STUDY_ERROR_MAX];
    int r = request->dashboard.studies ? study_store_name(request->dashboard.studies, &name, err) : 0;
    free(name);
    if (r < 0)
        return option_fail(call, exit_status_of_start(r), "--studies: %s", err);
    if (call->json)
        request->printed = PRINT_JSON;
    if (request->plain && request->printed == PRINT_NOTHING)
        return tui_plain_run(&request->dashboard);
    if (request->printed == PRINT_NOTHING && (request->times > 0 || !tui_screen_possible()))
        request->printed = PRINT_ONCE;
    if (request->printed == PRINT_ONCE && request->dashboard.view)
        return option_fail(call, EXIT_USAGE, "--view: a terminal or --dump-screen is needed");
    if (request->printed == PRINT_NOTHING)
        return run_live(request);
    if (request->times == 0)
        request->times = 1;
    return print(request);
}

static void init(void *into)
{
    struct dashboard_request *request = into;

    request->dashboard.interval_ms = 1000;
    request->dashboard.glyphs = tui_dashboard_glyphs();
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_EITHER, .run = run}};

static const struct option_row options[] = {
    {"studies", "URL",
     "where studies are kept (its studies.db): sqlite:///F, a file, or postgresql://USER@HOST/DATABASE",
     offsetof(struct dashboard_request, dashboard.studies)},
    {"study", "STUDY", "begin with that study's page", .take = take_study},
    {"readonly", NULL, "no key changes anything", offsetof(struct dashboard_request, dashboard.readonly)},
    {"at", "T", "the past: everything as it was then, as 2026-08-08T12:00, 11:30 or -1h",
     offsetof(struct dashboard_request, dashboard.at.at_ns), take_at, .without = "plain study"},
    {"tab", "N", "the tab to begin with, 1 to 8", .take = take_tab},
    {"view", "NAME", "begin with that saved view, of V and :view save", .take = take_view,
     .without = "tab study open plain once json"},
    {"open", "ITEM", "the page to begin with: " OPENED_FORMS, .take = take_open, .without = "study"},
    {"interval", "S", "seconds between two looks, 0.25 to 60 (1)", .take = take_interval},
    {"scheme", "default|light|colour-blind|mono", "colours; NO_COLOR is mono", .take = take_scheme},
    {"glyphs", "braille|block|ascii", "what charts are made of; by locale and terminal", .take = take_glyphs},
    {"plain", NULL, "in lines, for screen readers: what happens is said, what is typed is answered",
     offsetof(struct dashboard_request, plain), .without = "once"},
    {"once", NULL, "print the state as text, and end", .take = take_once},
    {"dump-screen", "WxH", "print the screen of that size as text", .take = take_size},
    {"loop", "N", "print N times, once an interval", .take = take_times},
};

const struct option_verb tui_dashboard = {
    .about =
        "Without a verb: the dashboard of a paper-trading daemon, live in the terminal. Without a terminal, "
        "--once is what happens; --json prints papertape.dashboard/1: the daemon's status, and positions, "
        "equity, fills, orders, alerts, log, trainings and policies (without a daemon the database's), and "
        "studies as study list --json has them; of a saved backtest accounts have the report's figures.",
    .exits =
        "2 also: no terminal. 3 and 4 also of what was printed from the database. A verb that shows what is "
        "stale ends with 0.",
    .actions = actions,
    .n_actions = 1,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .size = sizeof(struct dashboard_request),
    .init = init,
};
