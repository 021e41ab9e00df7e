/* The command line: words, completion from the verbs' rows and from the model, earlier lines, and what a line
 * requests and says: with an answer that the daemon could give. */
#include "tui/command_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/ask.h"
#include "exchange/exit_status.h"
#include "fixtures/dashboard.h"
#include "record/option.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tui/collect.h"
#include "tui/command_history.h"
#include "tui/keys.h"
#include "tui/panel/panel.h"

enum { TABULATOR = '\t' };

static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

static enum action type(const char *text)
{
    enum action action = ACTION_NONE;

    for (; *text; text++)
        action = press(*text);
    return action;
}

/* Opens the line and types; the text after that many Tabs. */
static const char *completed(const char *text, int tabs)
{
    press(PRESS_ESCAPE);
    press(PRESS_ESCAPE);
    press(':');
    CHECK_INT(view.prompt, PROMPT_COMMAND);
    type(text);
    for (int i = 0; i < tabs; i++)
        press(TABULATOR);
    return view.line->edit.text;
}

static void check_completion(void)
{
    CHECK_STR(completed("ord", 1), "order ");
    CHECK_STR(completed("order b", 1), "order buy ");
    CHECK_STR(completed("order buy BT", 1), "order buy BTCUSDT ");
    CHECK_STR(completed("order buy BTCUSDT 1 --lim", 1), "order buy BTCUSDT 1 --limit ");
    CHECK_STR(completed("order buy BTCUSDT 1 --tif=g", 1), "order buy BTCUSDT 1 --tif=gt");
    CHECK_INT(view.line->n_offers, 2);
    CHECK_STR(completed("order buy BTCUSDT 1 --tif g", 2), "order buy BTCUSDT 1 --tif gtc");
    CHECK_STR(completed("order buy BTCUSDT 1 --tif g", 3), "order buy BTCUSDT 1 --tif gtd");
    CHECK_STR(completed("order buy BTCUSDT 1 --tif g", 4), "order buy BTCUSDT 1 --tif gtc");
    CHECK_STR(completed("account deposit ma", 1), "account deposit main ");
    CHECK_STR(completed("account li", 1), "account li"); /* it prints */
    CHECK_STR(completed("stat", 1), "stat");
    CHECK_STR(completed("order buy \"BT", 1), "order buy \"BT");
    CHECK_STR(completed("order cancel ", 1), "order cancel 7 "); /* the only one that is alive */
    int n_orders = model->status.n_orders;
    int64_t id = model->status.orders[0].id;
    model->status.orders[0].id = 100;
    for (int i = 1; i <= COMMAND_OFFERS_MAX; i++) /* the last of more than are offered begins otherwise */
        *(struct status_order *)tui_status_add(&model->status, STATUS_ORDERS) =
            (struct status_order){.id = i < COMMAND_OFFERS_MAX ? 100 + i : 200};
    CHECK_STR(completed("order cancel ", 1), "order cancel ");
    CHECK_STR(completed("order cancel ", 2), "order cancel 100");
    CHECK_STR(view.line->offers[0].words, "SELL STOP 0.08 BTCUSDT");
    model->status.n_orders = n_orders;
    model->status.orders[0].id = id;
    ((struct status_price_alert *)tui_status_add(&model->status, STATUS_PRICE_ALERTS))->id = 12;
    CHECK_STR(completed("alerts remove-price ", 1), "alerts remove-price 12 ");
    model->status.n_price_alerts = 0;
    CHECK_STR(completed("alerts price BTC", 1), "alerts price BTCUSDT ");
    completed("", 1);
    CHECK(view.line->n_offers > 5);
    for (int i = 0; i < view.line->n_offers; i++) {
        CHECK(strcmp(view.line->offers[i].word, "status") != 0);
        CHECK(view.line->offers[i].words[0] != '\0');
    }
    press(PRESS_ESCAPE); /* the offers first */
    CHECK_INT(view.prompt, PROMPT_COMMAND);
    press(PRESS_ESCAPE);
    CHECK_INT(view.prompt, PROMPT_NONE);

    completed("order  BTCUSDT 1", 0); /* in the middle of a line */
    press(PRESS_HOME);
    for (size_t i = 0; i < strlen("order "); i++)
        press(PRESS_RIGHT);
    type("se");
    press(TABULATOR);
    CHECK_STR(view.line->edit.text, "order sell BTCUSDT 1");
}

/* What stands above the line is of the word at the cursor. */
static void check_about(void)
{
    static const struct {
        const char *line, *about; /* begins so; "": nothing */
    } rows[] = {
        {"", ""},
        {"nothing", ""},
        {"order", "order: by hand: buy, sell, oco, amend, cancel"},
        {"order ", "order: by hand"},
        {"order buy", "buy|sell SYMBOL [QTY]: a new order"},
        {"order buy BTCUSDT 1 ", "buy|sell SYMBOL [QTY]: a new order"},
        {"order buy BTCUSDT 1 --limit", "--limit P: a limit order at P, or better"},
        {"order buy BTCUSDT 1 --limit ", "--limit P: a limit order"},
        {"order buy BTCUSDT 1 --limit 59", "--limit P: a limit order"},
        {"order buy BTCUSDT 1 --limit=59", "--limit P: a limit order"},
        {"order buy BTCUSDT 1 --limit 59 ", "buy|sell SYMBOL [QTY]: a new order"},
        {"order buy BTCUSDT 1 --post-only ", "buy|sell SYMBOL [QTY]: a new order"},
        {"order amend 7 --qty 1", "--qty Q: a new quantity"},
        {"pause", "pause: "},
        {"order buy \"BTC", ""},
    };
    char about[1024];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        completed(rows[i].line, 0);
        tui_command_line_about(view.line, about, sizeof about);
        CHECK(rows[i].about[0] ? strncmp(about, rows[i].about, strlen(rows[i].about)) == 0 : !about[0]);
    }
    completed("order buy BTCUSDT 1 --limit 5", 0); /* of the word at the cursor, not of the last */
    for (size_t i = 0; i < strlen(" BTCUSDT 1 --limit 5"); i++)
        press(PRESS_LEFT);
    tui_command_line_about(view.line, about, sizeof about);
    CHECK(strncmp(about, "buy|sell", strlen("buy|sell")) == 0);
    press(PRESS_ESCAPE);
}

static void check_lines(void)
{
    completed("", 0);
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE); /* an empty one does nothing */
    completed("pause", 0);
    CHECK_INT(press(PRESS_ENTER), ACTION_LINE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    completed("pause", 0);
    CHECK_INT(press(PRESS_F5), ACTION_NONE); /* of new orders alone */
    completed("order buy BTCUSDT 1", 0);
    CHECK_INT(press(PRESS_F5), ACTION_LINE_TRY);
    CHECK_INT(view.prompt, PROMPT_COMMAND);
    tui_view_report(&view, OUTCOME_DONE, "order", "it would cost 1", now); /* in a box above the line */
    CHECK_INT(panel_answer_shown_ms(&view, 80), ANSWER_SHOWN_MS);
    press(PRESS_ESCAPE);
    tui_view_report(&view, OUTCOME_DONE, "order", "order 9", now);
    CHECK_INT(panel_answer_shown_ms(&view, 80), COMMAND_SHOWN_MS);
    CHECK_INT(panel_answer_shown_ms(&view, 20), ANSWER_SHOWN_MS);
    press('B');
    CHECK_STR(view.line->edit.text, "order buy BTCUSDT ");
    press(PRESS_ESCAPE);
    press('@');
    CHECK_STR(view.line->edit.text, "alerts price BTCUSDT --above ");
    press(PRESS_ESCAPE);
    press('E'); /* no order is chosen */
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK_STR(view.command, "amend:");
    press('6');
    press('E');
    CHECK(view.order_form && view.order_form->amends == 7);
    press(':'); /* the form's line: nothing is changed yet */
    CHECK_INT(view.prompt, PROMPT_COMMAND);
    CHECK_STR(view.line->edit.text, "order amend 7");
    press(PRESS_ESCAPE);
    CHECK(!view.order_form);
    press('1');
    CHECK(tui_command_line_keep(view.line, "pause"));
    CHECK(!tui_command_line_keep(view.line, "pause"));
    CHECK(!tui_command_line_keep(view.line, "  "));
    CHECK(tui_command_line_keep(view.line, "resume"));
    completed("ord", 0);
    press(PRESS_UP);
    CHECK_STR(view.line->edit.text, "resume");
    press(PRESS_UP);
    press(PRESS_UP); /* there is none before */
    CHECK_STR(view.line->edit.text, "pause");
    press(PRESS_DOWN);
    press(PRESS_DOWN);
    CHECK_STR(view.line->edit.text, "ord");
    press(PRESS_DOWN);
    CHECK_STR(view.line->edit.text, "ord");
    for (int i = 0; i < 3 * COMMAND_LINES_MAX; i++) {
        char text[32];
        snprintf(text, sizeof text, "order cancel %d", i);
        CHECK(tui_command_line_keep(view.line, text));
    }
    CHECK_INT(view.line->n_lines, COMMAND_LINES_MAX);
    CHECK_STR(view.line->lines[COMMAND_LINES_MAX - 1], "order cancel 599");
}

/* Words put together with quotes and blanks at random come apart again. */
static void check_words(void)
{
    static const char *const parts[] = {"a", "--limit=5", "two words", "it's", "", "\xc3\xa4", "\t"};
    struct random random = random_seeded("tui/command_line", 1);

    for (int round = 0; round < 2000; round++) {
        char line[OPTION_LINE_MAX] = " ", text[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1];
        const char *picked[8];
        int n = (int)random_between(&random, 0, 8);
        size_t from;
        for (int i = 0; i < n; i++) {
            picked[i] = parts[random_between(&random, 0, sizeof parts / sizeof *parts - 1)];
            char quote = strchr(picked[i], '\'') || random_chance(&random, 50) ? '"' : '\'';
            size_t at = strlen(line);
            snprintf(line + at, sizeof line - at, "%c%s%c%s", quote, picked[i], quote,
                     i + 1 == n && random_chance(&random, 50) ? "" : "  ");
        }
        CHECK_INT(option_line_words(line, text, words, &from), n);
        for (int i = 0; i < n; i++)
            CHECK_STR(words[i], picked[i]);
        CHECK(words[n] == NULL);
        CHECK(from <= strlen(line));
    }
    char text[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1], many[2 * OPTION_LINE_WORDS + 4] = "";
    CHECK_INT(option_line_words("order \"buy", text, words, NULL), -1);
    for (int i = 0; i <= OPTION_LINE_WORDS; i++)
        strcat(many, "x ");
    CHECK_INT(option_line_words(many, text, words, NULL), -1);
}

/* What the line requests, as JSON in the order of keys; else what it says. */
static char asked[1024];
static const char *request(const char *text)
{
    char said[512], verb[COMMAND_WORD_MAX], *printed;
    struct ask_line asking = {.args = NULL};
    size_t size;
    FILE *out = open_memstream(&printed, &size);
    int status = tui_command_line_run(text, out, &asking, said, sizeof said, verb);

    CHECK_INT(fclose(out), 0);
    CHECK_STR(printed, "");
    free(printed);
    if (status == ASK_LINE_FIRST) {
        char *args = json_dumps(asking.args, JSON_SORT_KEYS);
        snprintf(asked, sizeof asked, "%s %s", asking.cmd, args);
        free(args);
    } else {
        snprintf(asked, sizeof asked, "%d %s", status, said);
    }
    json_decref(asking.args);
    return asked;
}

static void check_requests(void)
{
    CHECK_STR(request("order buy BTCUSDT 0.01 --limit 59000"),
              "order {\"limit\": \"59000\", \"qty\": \"0.01\", \"side\": \"buy\", \"symbol\": \"BTCUSDT\"}");
    CHECK_STR(request("order cancel 7"), "cancel {\"order\": 7}");
    CHECK_STR(request("order amend 7 --limit '61000.5'"), "amend {\"limit\": \"61000.5\", \"order\": 7}");
    CHECK_STR(request("pause"), "pause {}");
    CHECK_STR(request("flatten --yes"), "flatten {\"confirm\": \"FLATTEN\"}");
    CHECK_STR(request("alerts ack 3"), "ack {\"alert\": 3}");
    CHECK_STR(request("account withdraw main 5"),
              "account_deposit {\"account\": \"main\", \"amount\": \"-5\"}");
    CHECK_STR(request("symbol add SOLUSDT"), "symbol_add {\"symbol\": \"SOLUSDT\"}");
    CHECK_STR(request("alerts price btcusdt --below 59000"),
              "price_alert {\"below\": \"59000\", \"symbol\": \"BTCUSDT\"}");
    CHECK_STR(request("alerts remove-price 3"), "price_alert_remove {\"price_alert\": 3}");
    CHECK_STR(request("policy retire p"), "policy_retire {\"name\": \"p\"}");
    CHECK_STR(request("train stop ppo"), "train_stop {\"name\": \"ppo\"}");
    CHECK_STR(request("flatten"), "2 --yes: it closes every position, and nothing is done without this");
    CHECK_STR(request("status"), "2 only what changes something is done here: in a shell, papertape status");
    CHECK_STR(request("train log ppo"),
              "2 only what changes something is done here: in a shell, papertape train log");
    CHECK_STR(request("stauts"), "2 not a verb: did you mean status? Tab lists them");
    CHECK_STR(request("pause --state /x"), "2 --state: unknown option: see papertape pause --help");
    CHECK_STR(request("train start ppo --config x"), "2 --config: not here: the forms of tab 2 have it");
    CHECK_STR(request("order buy \"X"), "2 a quotation mark is open, or the line is too long");
    CHECK_STR(request("  "), "2 a verb is needed");
    CHECK(tui_command_line_acts("flatten") && tui_command_line_acts("order buy BTCUSDT x"));
    CHECK(tui_command_line_acts("order --account hand cancel --all"));
    CHECK(!tui_command_line_acts("status") && !tui_command_line_acts("train log ppo"));
    CHECK(!tui_command_line_acts("order") && !tui_command_line_acts("") &&
          !tui_command_line_acts("\"flatten"));
}

static enum outcome answered(const char *text, const char *answer)
{
    json_t *reply = json_loads(answer, 0, NULL);
    enum outcome outcome = tui_collector_line_outcome(text, reply, asked, sizeof asked);

    json_decref(reply);
    return outcome;
}

static void check_answers(void)
{
    CHECK_INT(
        answered("order buy BTCUSDT 0.01",
                 "{\"id\":1,\"ok\":true,\"result\":{\"order\":9,\"state\":\"PENDING\",\"orders\":[9,10]}}"),
        OUTCOME_DONE);
    CHECK_STR(asked, "order 9 PENDING; order 10");
    CHECK_INT(
        answered(
            "order buy BTCUSDT 0.01 --limit 5",
            "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"EINVAL\",\"message\":\"args.limit: \\\"5\\\": no\"}}"),
        OUTCOME_REFUSED);
    CHECK_STR(asked, "EINVAL: --limit: \"5\": no");
    CHECK_INT(answered("policy retire p",
                       "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"ENOENT\",\"message\":\"none\"}}"),
              OUTCOME_REFUSED);
    CHECK_STR(asked, "ENOENT: none");
    CHECK_INT(answered("pause", "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"\",\"message\":\"\"}}"),
              OUTCOME_REFUSED);
    CHECK_STR(asked, "no reason given");
    CHECK_INT(answered("pause", "{\"id\":1}"), OUTCOME_REFUSED);
    CHECK_STR(asked, "no reason given");
}

/* A line that a daemon answers: what the view says then. */
static void send_line(struct collector *collector, int listener, const char *text, const char *result)
{
    char request[512], reply[512];

    tui_collector_line(collector, &view, text, now);
    CHECK_INT(view.outcome, OUTCOME_PENDING);
    int fd = accept(listener, NULL, NULL);
    tui_collector_io(collector, &view, now);
    ssize_t n = recv(fd, request, sizeof request - 1, 0);
    CHECK(n > 0 && request[n - 1] == '\n');
    n = snprintf(reply, sizeof reply, "{\"id\":%lld,\"ok\":true,\"result\":%s}\n",
                 (long long)collector->command_id, result);
    CHECK_INT(send(fd, reply, (size_t)n, 0), n);
    tui_collector_io(collector, &view, now);
    close(fd);
    cli_control_close(&collector->control);
}

/* A pause that was typed is known at once, as one by its key is. */
static void check_sent(void)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    struct state_dir state = {.path = "/nowhere"};
    struct collector collector;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(sun.sun_path, sizeof sun.sun_path, "%s", scratch_path("control.sock"));
    snprintf(state.socket, sizeof state.socket, "%s", sun.sun_path);
    CHECK_INT(bind(listener, (struct sockaddr *)&sun, sizeof sun), 0);
    CHECK_INT(listen(listener, 8), 0);
    CHECK_INT(tui_collector_init(&collector, &state, NULL, 1000), 0);
    send_line(&collector, listener, "pause", "{\"trading\":\"paused\"}");
    CHECK_INT(view.outcome, OUTCOME_DONE);
    CHECK_STR(view.words, "trading paused");
    CHECK_STR(collector.model->status.trading, "paused");
    send_line(&collector, listener, "resume", "{\"trading\":\"on\"}");
    CHECK_STR(collector.model->status.trading, "on");
    close(listener);
    tui_collector_finish(&collector);
}

static int count_lines(const char *folder)
{
    char path[SCRATCH_PATH_MAX];
    int n = 0;

    snprintf(path, sizeof path, "%s/papertape-dashboard/commands", folder);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    for (int c; file && (c = fgetc(file)) != EOF;)
        n += c == '\n';
    if (file)
        fclose(file);
    return n;
}

/* Kept in a file, for another dashboard, whose order and bounds hold. */
static void check_history(void)
{
    char folder[SCRATCH_MAX];
    struct command_line *line = tui_command_line_create(), *other = tui_command_line_create();

    scratch_make(folder);
    setenv("XDG_STATE_HOME", folder, 1);
    tui_command_history_load(line); /* there is none */
    CHECK_INT(line->n_lines, 0);
    tui_command_history_add(line, "pause");
    tui_command_history_add(line, "pause");
    tui_command_history_add(line, "order \033[31mbuy");
    tui_command_history_load(other);
    CHECK_INT(other->n_lines, 2);
    CHECK_STR(other->lines[0], "pause");
    CHECK_STR(other->lines[1], "order ?[31mbuy");
    for (int i = 0; i < 2 * COMMAND_LINES_MAX; i++) {
        char text[32];
        snprintf(text, sizeof text, "order cancel %d", i);
        tui_command_history_add(line, text);
    }
    CHECK_INT(count_lines(folder), 2 * COMMAND_LINES_MAX + 2);
    for (int i = 0; i < 2; i++) { /* the first shortens the file */
        tui_command_line_destroy(other);
        other = tui_command_line_create();
        tui_command_history_load(other);
        CHECK_INT(other->n_lines, COMMAND_LINES_MAX);
        CHECK_STR(other->lines[0], "order cancel 200");
        CHECK_INT(count_lines(folder), COMMAND_LINES_MAX);
    }
    tui_command_line_destroy(line);
    tui_command_line_destroy(other);
}

int main(void)
{
    model = tui_model_create(1000);
    CHECK(model != NULL && fixture_take(model, "{}", now) == 0);
    tui_view_init(&view, false, 1000);
    check_completion();
    check_about();
    check_lines();
    check_words();
    check_requests();
    check_answers();
    check_sent();
    check_history();
    tui_view_finish(&view);
    tui_model_destroy(model);
    return check_done("tui/command_line");
}
