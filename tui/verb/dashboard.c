#include "tui/verb/dashboard.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/text.h"
#include "exchange/exit_status.h"
#include "tui/collect.h"
#include "tui/dashboard.h"
#include "tui/print.h"
#include "tui/screen.h"
#include "tui/verbs.h"
#include "tui/view.h"

enum { STATUS_TIMEOUT_MS = 3000 }; /* that something printed waits for the daemon */

enum printed { PRINT_NOTHING, PRINT_ONCE, PRINT_JSON, PRINT_SCREEN };

struct request {
    struct dashboard_options dashboard;
    enum printed printed;
    int width, height; /* PRINT_SCREEN */
    long times;        /* --loop */
};

static const char help[] =
    "Usage: papertape [OPTION...]\n"
    "       papertape VERB [ARGUMENT...]\n"
    "\n"
    "Without a verb: the dashboard of a paper-trading daemon, live in the terminal.\n"
    "\n"
    "  --state DIR          the daemon's state directory; else $STATE_DIRECTORY, else of\n"
    "                       $XDG_STATE_HOME/papertape (~/.local/state/papertape) and the\n"
    "                       service's " STATE_SERVICE_DIR " the first that has one\n"
    "  --studies URL        where studies are kept (its studies.db): sqlite:///F, or a file\n"
    "  --study NAME         begin with that study's page\n"
    "  --readonly           no key changes anything\n"
    "  --tab N              the tab to begin with, 1 to 8\n"
    "  --interval S         seconds between two looks, 0.25 to 60 (1)\n"
    "  --scheme NAME        colours: default, light, colour-blind, mono; NO_COLOR is mono\n"
    "  --glyphs NAME        charts: braille, block, ascii (by locale and terminal)\n"
    "  --once               print the state as text, and end\n"
    "  --json               print it as one line of JSON, papertape.dashboard/1\n"
    "  --dump-screen WxH    print the screen of that size as text\n"
    "  --loop N             print N times, once an interval\n"
    "  -h, --help           this text\n"
    "  -V, --version        the version\n"
    "\n";

static const char help_end[] =
    "\nWithout a terminal, --once is what happens. papertape VERB --help tells more.\n"
    "Exit status: 0 ok, 1 error, 2 usage, 3 no daemon, 4 stale.\n";

static int wrong(const char *option, const char *value, const char *right)
{
    fprintf(stderr, "papertape: --%s: \"%s\": %s\n", option, value, right);
    return EXIT_USAGE;
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

/* EXIT_OK to go on; *ret_done when the options asked for something that is done now. */
static int parse(int argc, char **argv, struct request *request, bool *ret_done)
{
    enum { STATE = 256, STUDIES, STUDY, READONLY, TAB, INTERVAL, SCHEME, GLYPHS, ONCE, JSON, DUMP, LOOP };
    static const struct option options[] = {
        {"state", required_argument, NULL, STATE},
        {"studies", required_argument, NULL, STUDIES},
        {"study", required_argument, NULL, STUDY},
        {"readonly", no_argument, NULL, READONLY},
        {"tab", required_argument, NULL, TAB},
        {"interval", required_argument, NULL, INTERVAL},
        {"scheme", required_argument, NULL, SCHEME},
        {"glyphs", required_argument, NULL, GLYPHS},
        {"once", no_argument, NULL, ONCE},
        {"json", no_argument, NULL, JSON},
        {"dump-screen", required_argument, NULL, DUMP},
        {"loop", required_argument, NULL, LOOP},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    struct dashboard_options *dashboard = &request->dashboard;
    const char *state = NULL;
    char words[512];
    long number;
    int option, r;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:hV", options, NULL)) != -1) {
        switch (option) {
        case STATE:
            state = optarg;
            break;
        case STUDIES:
            dashboard->studies = optarg;
            break;
        case STUDY:
            dashboard->study = optarg;
            break;
        case READONLY:
            dashboard->readonly = true;
            break;
        case TAB:
            if (!parse_count(optarg, TABS, &number))
                return wrong("tab", optarg, "1 to 8");
            dashboard->tab = (enum tab)(number - 1);
            break;
        case INTERVAL:
            if (!parse_interval(optarg, &dashboard->interval_ms))
                return wrong("interval", optarg, "seconds from 0.25 to 60");
            break;
        case SCHEME:
            if ((r = scheme_parse(optarg)) < 0)
                return wrong("scheme", optarg, "default, light, colour-blind or mono");
            dashboard->scheme = (enum scheme)r;
            break;
        case GLYPHS:
            if ((r = parse_glyphs(optarg)) < 0)
                return wrong("glyphs", optarg, "braille, block or ascii");
            dashboard->glyphs = (enum glyphs)r;
            break;
        case ONCE:
            request->printed = PRINT_ONCE;
            break;
        case JSON:
            request->printed = PRINT_JSON;
            break;
        case DUMP:
            if (!parse_size(optarg, &request->width, &request->height))
                return wrong("dump-screen", optarg, "WIDTHxHEIGHT, each 1 to 1000, as 80x24");
            request->printed = PRINT_SCREEN;
            break;
        case LOOP:
            if (!parse_count(optarg, 1000000000, &request->times))
                return wrong("loop", optarg, "how often to print, 1 or more");
            break;
        case 'h':
            fputs(help, stdout);
            verbs_list(stdout);
            fputs(help_end, stdout);
            *ret_done = true;
            return EXIT_OK;
        case 'V':
            printf("papertape %s\n", PAPERTAPE_VERSION);
            *ret_done = true;
            return EXIT_OK;
        default:
            return ask_wrong_option(NULL, argv, option);
        }
    }
    if (optind < argc) {
        char shown[64];
        text_clean(shown, sizeof(shown), argv[optind]);
        fprintf(stderr, "papertape: %s: not an option: a verb comes first, and its options after it\n",
                shown);
        return EXIT_USAGE;
    }
    r = state_dir_look(state, &dashboard->state, words, sizeof(words));
    if (r < 0) {
        fprintf(stderr, "papertape: %s\n", words);
        return r == -EINVAL ? EXIT_USAGE : EXIT_ERROR;
    }
    if (state_dir_denied(&dashboard->state, state, words, sizeof(words))) {
        fprintf(stderr, "papertape: %s\n", words);
        return EXIT_ERROR;
    }
    return EXIT_OK;
}

static int print_screen(const struct request *request, struct collector *collector)
{
    struct model *model = collector->model;
    struct search_want want;
    struct view view;
    struct canvas canvas;
    int r = canvas_init(&canvas, request->width, request->height, request->dashboard.glyphs);

    if (r < 0)
        return r;
    view_init(&view, request->dashboard.readonly, request->dashboard.interval_ms);
    view.tab = request->dashboard.tab;
    if (request->dashboard.study && !view_open_search(&view, model, request->dashboard.study)) {
        canvas_finish(&canvas);
        return -ENOENT;
    }
    for (int i = 0; i < 2 && view.tab == TAB_STUDY; i++) { /* the page, then its chosen trial's attributes */
        view_want_search(&view, model, &want);
        collector_searches_once(collector, &want, COLLECTOR_BUSY_MS);
    }
    view_draw(&view, model, moment_now(), &canvas);
    canvas_print(&canvas, stdout);
    canvas_finish(&canvas);
    return 0;
}

static int print(const struct request *request)
{
    struct collector collector;
    int status = EXIT_OK;
    int r = collector_init(&collector, &request->dashboard.state, request->dashboard.studies,
                           request->dashboard.interval_ms);

    for (long i = 0; i < request->times && r == 0; i++) {
        if (i > 0)
            poll(NULL, 0, (int)request->dashboard.interval_ms);
        collector_once(&collector, STATUS_TIMEOUT_MS);
        if (request->printed == PRINT_JSON)
            r = print_json(stdout, collector.model, collector.status_json);
        else if (request->printed == PRINT_SCREEN)
            r = print_screen(request, &collector);
        else
            print_overview(stdout, collector.model, moment_now());
        if (fflush(stdout) != 0)
            r = -errno;
    }
    if (r == -ENOENT) {
        char shown[80];
        text_clean(shown, sizeof(shown), request->dashboard.study);
        fprintf(stderr,
                "papertape: --study: \"%s\": a study that there is: papertape study list names them\n",
                shown);
        status = EXIT_USAGE;
    } else if (r < 0) {
        fprintf(stderr, "papertape: printing: %s\n", strerror(-r));
        status = EXIT_ERROR;
    } else if (model_is_saved(collector.model)) {
        status = EXIT_OK; /* no daemon is missed, and nothing of it grows old */
    } else if (collector.model->source != MODEL_DAEMON) {
        fprintf(stderr, "papertape: %s: start papertaped, or name its state with --state\n",
                collector.model->daemon_words);
        status = EXIT_NO_DAEMON;
    } else if (print_is_stale(collector.model, moment_now())) {
        status = EXIT_STALE;
    }
    collector_finish(&collector);
    return status;
}

int tui_dashboard(int argc, char **argv)
{
    struct request request = {
        .dashboard = {.interval_ms = 1000, .glyphs = dashboard_glyphs()},
    };
    bool done = false;
    int status = parse(argc, argv, &request, &done);

    if (status != EXIT_OK || done)
        return status;
    if (request.printed == PRINT_NOTHING && (request.times > 0 || !screen_possible()))
        request.printed = PRINT_ONCE;
    if (request.printed == PRINT_NOTHING)
        return dashboard_run(&request.dashboard);
    if (request.times == 0)
        request.times = 1;
    return print(&request);
}
