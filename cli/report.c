#include "db/report/report.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/page/charts.h"
#include "cli/selected.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"
#include "exchange/whole_file.h"
#include "report/page.h"

#define DAY_NS (86400 * INT64_C(1000000000))

struct asked {
    const char *day, *account, *html, *dir, *sink;
    int64_t from_ns, to_ns, keep;
    bool text, summary, chart, send;
};

enum { KEEP_DEFAULT = 90, MESSAGE_MAX = DB_ALERT_TEXT_MAX };

/* ---- files ---- */

#define PREFIX "report-"
static const char *const endings[] = {".html", ".json", ".txt"};
enum { ENDINGS = sizeof endings / sizeof *endings, DAY_LEN = sizeof "2026-11-24" - 1 };

/* Is it "report-" and a day? The day's place; NULL. */
static const char *day_of_file(const char *name)
{
    const size_t prefix = strlen(PREFIX);
    int year, month, of_month, n = 0;
    if (strncmp(name, PREFIX, prefix) != 0 ||
        sscanf(name + prefix, "%4d-%2d-%2d%n", &year, &month, &of_month, &n) != 3 || n != DAY_LEN)
        return NULL;
    for (int i = 0; i < ENDINGS; i++)
        if (strcmp(name + prefix + DAY_LEN, endings[i]) == 0)
            return name + prefix;
    return NULL;
}

static int is_report(const struct dirent *entry)
{
    return day_of_file(entry->d_name) != NULL;
}

/* Removes the reports of all days but the newest `keep`. 0 or -errno. */
static int drop_old(const char *path, int64_t keep)
{
    struct dirent **entries;
    char file[STATE_PATH_MAX + 64];
    const char *day = "";
    int64_t days = 0;
    int n = scandir(path, &entries, is_report, alphasort), r = n < 0 ? -errno : 0;
    for (int i = n; i-- > 0;) {
        const char *of = day_of_file(entries[i]->d_name);
        days += strncmp(of, day, DAY_LEN) != 0;
        day = of;
        if (days > keep &&
            snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name) < (int)sizeof file &&
            unlink(file) < 0 && errno != ENOENT)
            r = -errno;
    }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    if (n >= 0)
        free(entries);
    return r;
}

static int write_text(const char *path, const char *bytes, size_t n)
{
    struct whole_file file;
    int r = whole_file_open(path, ".", 0640, &file);
    return r < 0 ? r : whole_file_close(&file, whole_file_put(&file, bytes, n));
}

static int write_json(const struct db_report *report, const char *path)
{
    json_t *object = db_report_json(report);
    char *text = decimal_json_text(object, 15);
    json_decref(object);
    struct text line = {0};
    text_str(&line, text ? text : "");
    text_lit(&line, "\n");
    int r = text && text_ok(&line) ? write_text(path, line.data, line.len) : -ENOMEM;
    text_finish(&line);
    free(text);
    return r;
}

static int write_page(const struct db_report *report, const char *path)
{
    struct text page = {0};
    int r = db_report_page(report, &page);
    r = r < 0 ? r : report_page_write(&page, path);
    text_finish(&page);
    return r;
}

static int write_lines(const struct db_report *report, const char *path)
{
    struct text lines = {0};
    db_report_text(report, &lines);
    int r = text_ok(&lines) ? write_text(path, lines.data, lines.len) : -ENOMEM;
    text_finish(&lines);
    return r;
}

static int fail_path(const char *path, int r)
{
    return cli_stored_fail(EXIT_ERROR, "report", path, strerror(-r));
}

/* The three forms of a day, and no more days than are kept. */
static int write_dir(const struct db_report *report, const struct asked *asked)
{
    static int (*const writers[])(const struct db_report *, const char *) = {write_page, write_json,
                                                                             write_lines};
    char path[STATE_PATH_MAX], day[DB_REPORT_DAY_MAX];
    db_report_day(report->query.day, day);
    if (mkdir(asked->dir, 0750) < 0 && errno != EEXIST)
        return fail_path(asked->dir, -errno);
    for (int i = 0; i < ENDINGS; i++) {
        if (snprintf(path, sizeof path, "%s/" PREFIX "%s%s", asked->dir, day, endings[i]) >= (int)sizeof path)
            return fail_path(asked->dir, -ENAMETOOLONG);
        int r = writers[i](report, path);
        if (r < 0)
            return fail_path(path, r);
    }
    int r = drop_old(asked->dir, asked->keep);
    return r < 0 ? fail_path(asked->dir, r) : EXIT_OK;
}

/* ---- to the sinks of alerts ---- */

/* The summary in one line; lines that have no room are left out. */
static void put_message(struct text *summary, char ret[static MESSAGE_MAX])
{
    static const char more[] = "; ...";
    size_t n = 0;
    ret[0] = '\0';
    for (char *line = summary->data, *end; line < summary->data + summary->len; line = end + 1) {
        end = memchr(line, '\n', summary->len - (size_t)(line - summary->data));
        size_t len = (size_t)(end - line);
        if (n + len + sizeof "; " + sizeof more > MESSAGE_MAX) {
            snprintf(ret + n, MESSAGE_MAX - n, "%s", more);
            return;
        }
        n += (size_t)snprintf(ret + n, MESSAGE_MAX - n, "%s%.*s", n > 0 ? "; " : "", (int)len, line);
    }
}

static void print_sinks(const json_t *sinks)
{
    size_t n = json_array_size(sinks);
    for (size_t i = 0; i < n; i++)
        printf("%s%s", i > 0 ? ", " : "given to ", json_string_value(json_array_get(sinks, i)));
    puts(n > 0 ? "" : "no sink takes it: nothing is sent");
}

static int send_message(const struct option_call *call, const struct db_report *report)
{
    const struct asked *asked = call->into;
    char message[MESSAGE_MAX];
    json_t *result;
    struct text summary = {0};
    db_report_summary(report, &summary);
    if (!text_ok(&summary)) {
        text_finish(&summary);
        return cli_stored_fail(EXIT_ERROR, "report", "", "out of memory");
    }
    put_message(&summary, message);
    text_finish(&summary);
    int status = cli_ask_daemon("report", call->state, "report_send",
                                json_pack("{s:s, s:s*}", "text", message, "sink", asked->sink), &result);
    if (status != EXIT_OK)
        return status;
    if (!call->json)
        print_sinks(json_object_get(result, "sinks"));
    json_decref(result);
    return EXIT_OK;
}

/* ---- the verb ---- */

static int print_text(const struct db_report *report, bool summary)
{
    struct text text = {0};
    (summary ? db_report_summary : db_report_text)(report, &text);
    bool ok = text_ok(&text);
    for (char *line = ok ? text.data : NULL, *end; line && line < text.data + text.len; line = end + 1) {
        end = memchr(line, '\n', text.len - (size_t)(line - text.data)); /* each line is ended */
        *end = '\0';
        cli_text_print(stdout, line); /* alerts quote what venues sent */
        putchar('\n');
    }
    text_finish(&text);
    return ok ? EXIT_OK : cli_stored_fail(EXIT_ERROR, "report", "", "out of memory");
}

/* Below the text. */
static int print_chart(const struct db_report *report)
{
    int status = print_text(report, false);
    int r = status == EXIT_OK ? tui_report_chart(report, tui_run_chart_width(), stdout) : 0;
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "report", "--chart", strerror(-r)) : status;
}

static int put_report(const struct option_call *call, const struct db_report *report)
{
    const struct asked *asked = call->into;
    int r = asked->html ? write_page(report, asked->html) : 0;
    if (r < 0)
        return fail_path(asked->html, r);
    int status = asked->dir ? write_dir(report, asked) : EXIT_OK;
    if (status == EXIT_OK && asked->send)
        status = send_message(call, report);
    if (status == EXIT_OK && call->json)
        return cli_stored_print("report", db_report_json(report), 15);
    if (status == EXIT_OK && asked->chart)
        return print_chart(report);
    if (status == EXIT_OK && (asked->text || asked->summary || (!asked->html && !asked->dir && !asked->send)))
        return print_text(report, asked->summary);
    return status;
}

static void take_newest(void *ctx, const struct db_equity_point *point)
{
    int64_t *newest_ns = ctx;
    *newest_ns = point->ts_ns > *newest_ns ? point->ts_ns : *newest_ns;
}

struct newest_points {
    struct db_reader *reader;
    int numbers[ACCOUNTS_MAX], n;
};

static void take_number(void *ctx, const struct db_account_row *row)
{
    struct newest_points *newest = ctx;
    if (newest->n < ACCOUNTS_MAX)
        newest->numbers[newest->n++] = row->account.number;
}

/* Of the newest point of equity; 0: there is none. */
static int newest_point(struct db_reader *reader, int64_t *ret_ns)
{
    struct newest_points newest = {.n = 0};
    *ret_ns = 0;
    int r = db_reader_accounts(reader, take_number, &newest);
    for (int i = 0; i < newest.n && r == 0; i++)
        r = db_reader_equity(reader, newest.numbers[i], INT64_MIN, 1, take_newest, ret_ns);
    return r;
}

/* The period that was asked for; without one the newest day that there is. */
static int set_query(struct option_call *call, struct db_reader *reader, struct db_report_query *ret)
{
    const struct asked *asked = call->into;
    int64_t newest_ns, wall_ns = clock_wall_ns();
    int r = newest_point(reader, &newest_ns);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "report", "", db_reader_error(reader));
    *ret = (struct db_report_query){.by_day = asked->from_ns == INT64_MIN && asked->to_ns == INT64_MAX,
                                    .from_ns = asked->from_ns,
                                    .to_ns = asked->to_ns,
                                    .now_ns = wall_ns > newest_ns ? wall_ns : newest_ns + 1,
                                    .account = asked->account,
                                    .pictures = asked->html || asked->dir};
    ret->day = (newest_ns ? newest_ns : wall_ns) / DAY_NS;
    if (asked->day && !db_report_day_parse(asked->day, wall_ns, &ret->day))
        return option_fail(call, EXIT_USAGE,
                           "--day: \"%.64s\": a day as 2026-11-24, today or yesterday is needed", asked->day);
    if (!ret->by_day && asked->dir)
        return option_fail(call, EXIT_USAGE,
                           "--dir: its files are of a day: --day, not --from or --to, is needed");
    return EXIT_OK;
}

static int run(struct option_call *call)
{
    struct db_reader *reader;
    struct db_report_query query;
    struct db_report report;
    int status = cli_stored_open("report", call->state, &reader);
    if (status != EXIT_OK)
        return status;
    status = set_query(call, reader, &query);
    if (status != EXIT_OK) {
        db_reader_close(reader);
        return status;
    }
    int r = db_report_make(reader, &query, &report);
    if (r == -EDOM) {
        const char *option = query.by_day ? "--day" : query.to_ns <= query.from_ns ? "--to" : "--from";
        status = option_fail(call, EXIT_USAGE, "%s: %s", option, db_reader_error(reader));
        db_reader_close(reader);
        return status;
    }
    if (r < 0)
        return cli_stored_close("report", reader, r);
    status = put_report(call, &report);
    db_report_finish(&report);
    db_reader_close(reader);
    return status;
}

static void init(void *into)
{
    *(struct asked *)into = (struct asked){.from_ns = INT64_MIN, .to_ns = INT64_MAX, .keep = KEEP_DEFAULT};
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, .run = run}};

static const struct option_row options[] = {
    {"day", "D", "the day: 2026-11-24, today or yesterday; without it the newest day that there is, so far",
     offsetof(struct asked, day), .without = "from to"},
    {"from", "T", "from T on, which belongs to it: " STORED_TIME_WORDS, offsetof(struct asked, from_ns),
     cli_stored_take_time},
    {"to", "T", "until T, which does not; now without it", offsetof(struct asked, to_ns),
     cli_stored_take_time, .after = "from"},
    {"account", "ACCOUNT", "this account alone", offsetof(struct asked, account)},
    {"html", "F", "one HTML page, which loads nothing and runs nothing", offsetof(struct asked, html)},
    {"text", NULL,
     "lines of 80 columns on stdout, which is the default without --html, --dir, --send and --json",
     offsetof(struct asked, text)},
    {"chart", NULL,
     "the text and below it, in characters as the terminal and its locale have them: of each account equity, drawdown, "
     "what is not cash, months, the distribution of daily returns",
     offsetof(struct asked, chart), .without = "json"},
    {"summary", NULL, "a line an account on stdout, for a message", offsetof(struct asked, summary),
     .without = "text chart"},
    {"dir", "DIR", "report-DAY.html, .json and .txt into DIR, which is made if it is missing",
     offsetof(struct asked, dir)},
    {"keep", "N", "the reports of the newest N days stay there, 90 by default; older ones are removed",
     offsetof(struct asked, keep), .low = 1, .high = 100000, .with = "dir"},
    {"send", NULL, "the summary to the sinks of alerts, through the daemon: those that take severity info",
     offsetof(struct asked, send)},
    {"sink", "SINK", "to this sink alone, as webhook.ops", offsetof(struct asked, sink), .with = "send"},
};

static const struct option_refusal refused[] = {
    {"at", "a report is of a period: --day D, or --from T and --to T"}};

CLI_VERB(cli_report) = {
    .name = "report",
    .words = "what a day or another period was, as text, JSON or an HTML page",
    .about =
        "Equity, time-weighted return, drawdown, P&L by symbol and by who decided, trades, fees, what holding would have "
        "been, alerts, parity, uptime and the data's gaps, from the database, with or without a daemon. Days are UTC's; "
        "those of an account that holds symbols of one calendar alone, as stocks, are its exchange's, from midnight to "
        "midnight there: each account says which. --from and --to are moments, the same for all. What is not known is n/a, "
        "in JSON null, never 0. docs/report.md defines each figure. With --json, papertape.report/1.",
    .exits = "2 also for a period that is in the future.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct asked),
    .init = init,
};
