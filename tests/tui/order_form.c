/* The form of an order: its fields are the verb's rows, its line is a line that the verb takes with just
 * these values, its steps and its least quantity pass the venue's filters, and what it looks like. */
#include "tui/order_form.h"

#include <locale.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/verbs.h"
#include "exchange/filter.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/collect.h"
#include "tui/keys.h"
#include "tui/panel/panel.h"
#include "tui/verbs.h"

#define E8 INT64_C(100000000)

static const char *golden;
static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

static const struct symbol rules = {
    .name = "BTCUSDT",
    .base = "BTC",
    .quote = "USDT",
    .price_scale = 8,
    .qty_scale = 8,
    .quote_scale = 8,
    .trading = true,
    .filters = {.price_min = E8 / 100,
                .price_max = 1000000 * E8,
                .tick = E8 / 100,
                .qty_min = 1000,
                .qty_max = 9000 * E8,
                .step = 1000,
                .market_qty_max = 120 * E8,
                .notional_min = 5 * E8,
                .notional_max = 9000000 * E8,
                .notional_min_market = true,
                .bid_up_e4 = 50000,
                .bid_down_e4 = 2000,
                .ask_up_e4 = 50000,
                .ask_down_e4 = 2000,
                .orders_max = 200},
};

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

static void type(const char *text)
{
    for (; *text; text++)
        press(*text);
}

static void begin(bool readonly)
{
    tui_view_finish(&view);
    tui_view_init(&view, readonly, 1000);
}

static void go(const char *name)
{
    for (int i = 0; i < view.order_form->n; i++)
        if (strcmp(view.order_form->fields[i].name, name) == 0)
            view.order_form->row = i;
    view.order_form->fresh = true;
}

/* Each option of the verb is a field, except those that a form has no use for; and the other way round. */
static void check_fields(void)
{
    const struct option_verb *verb = option_find_verb(&tui_papertape, "order");
    const char *const actions[] = {"buy", "amend"};

    for (int amends = 0; amends < 2; amends++) {
        const struct option_action *action = option_find_action(verb, actions[amends]);
        struct order_form *form = tui_order_form_create(amends ? 7 : 0);
        int n = amends ? 0 : 3; /* side, symbol, qty */
        for (size_t i = 0; i < verb->n_options; i++) {
            const struct option_row *row = &verb->options[i];
            if (!row->name || !option_row_is_of(row, action))
                continue;
            const struct order_field *field = tui_order_form_field(form, row->name);
            bool used = amends ? strcmp(row->name, "client-id") && strcmp(row->name, "account") &&
                                     strcmp(row->name, "key")
                               : strcmp(row->name, "dry-run") != 0;
            CHECK(!field == !used);
            n += used;
            if (field)
                CHECK(field->words == row->words && field->argument == row->argument &&
                      (field->kind == ORDER_FIELD_FLAG) == !row->argument);
        }
        CHECK_INT(form->n, n);
        tui_order_form_destroy(form);
    }
}

/* What the line asks of the daemon, for json_decref(); NULL: the verb refuses it. */
static json_t *request(const char *line)
{
    char words[CANVAS_SIDE_MAX], verb[COMMAND_WORD_MAX];
    struct ask_line asking;
    int status = tui_command_line_request(line, &asking, words, sizeof(words), verb);

    if (status == ASK_LINE_FIRST)
        return asking.args;
    CHECK(words[0] != '\0');
    return NULL;
}

/* Keys at random: a line that the verb takes asks for just the values of the fields. */
static void check_lines(void)
{
    static const int keys[] = {
        PRESS_UP,     PRESS_DOWN, PRESS_LEFT, PRESS_RIGHT, PRESS_HOME, PRESS_END, PRESS_BACKSPACE,
        PRESS_DELETE, '\t',       ' ',        '0',         '1',        '5',       '.',
        '-',          'b',        's',        'g',         'm',        'A',       '%',
        'U' & 0x1f};
    static const struct {
        const char *field, *argument;
    } plain[] = {{"account", "account"}, {"symbol", "symbol"},       {"side", "side"},
                 {"qty", "qty"},         {"notional", "notional"},   {"limit", "limit"},
                 {"tif", "tif"},         {"client-id", "client_id"}, {"post-only", "post_only"}};
    struct random random = random_seeded("tui/order_form", 30);
    int taken = 0;

    for (int turn = 0; turn < 400; turn++) {
        begin(false);
        press('O');
        struct order_form *form = view.order_form;
        CHECK(form != NULL);
        tui_order_form_take_rules(form, &rules, 60000 * E8);
        for (int i = 0; i < 40; i++)
            press(keys[random_between(&random, 0, sizeof(keys) / sizeof(keys[0]) - 1)]);
        CHECK(view.order_form == form && view.prompt == PROMPT_NONE);
        char line[COMMAND_LINE_MAX];
        CHECK(tui_order_form_line(form, line));
        json_t *args = request(line);
        taken += args != NULL;
        for (size_t i = 0; args && i < sizeof(plain) / sizeof(plain[0]); i++) {
            const char *value = tui_order_form_value(form, plain[i].field);
            const json_t *given = json_object_get(args, plain[i].argument);
            CHECK_STR(json_is_true(given) ? "yes" : given ? json_string_value(given) : "", value);
        }
        json_decref(args);
        int width = (int)random_between(&random, 40, 300), height = (int)random_between(&random, 10, 100);
        char *text = picture_draw(model, &view, now, width, height, (enum glyphs)(turn % 3));
        CHECK(text && picture_safe("order form", text, width, height));
        free(text);
    }
    CHECK(taken > 40);
}

/* A line that would be too long is none: its beginning would be another order. */
static void check_long(void)
{
    char line[COMMAND_LINE_MAX], text[ORDER_VALUE_MAX];
    bool cut = false;

    for (size_t len = 1; len < sizeof(text); len++) {
        begin(false);
        press('O');
        memset(text, '1', len);
        text[len] = '\0';
        for (int i = 0; i < view.order_form->n; i++)
            tui_order_form_put(view.order_form, view.order_form->fields[i].name, text);
        size_t whole = strlen("order");
        for (int i = 0; i < view.order_form->n; i++) {
            const struct order_field *field = &view.order_form->fields[i];
            bool flag = field->kind == ORDER_FIELD_FLAG;
            whole += field->word ? 1 + len : strlen(" --") + strlen(field->name) + (flag ? 0 : 1 + len);
        }
        bool made = tui_order_form_line(view.order_form, line);
        CHECK_INT(strlen(line), whole < COMMAND_LINE_MAX ? whole : 0);
        CHECK(made == (whole < COMMAND_LINE_MAX));
        cut |= !made;
        press(PRESS_ENTER);
        CHECK_INT(view.prompt, PROMPT_NONE);
        CHECK(made || strstr(view.order_form->words, "too long"));
    }
    CHECK(cut);
}

/* The least quantity passes the filters and one lot less does not; a step is the next price, or quantity,
 * that passes. */
static void check_numbers(void)
{
    struct random random = random_seeded("tui/order_form", 31);

    for (int i = 0; i < 300; i++) {
        struct symbol own = rules;
        int64_t price = random_between(&random, 1, 100000 * 100) * (E8 / 100), units;
        char text[DECIMAL_TEXT_MAX];
        own.filters.qty_max = own.filters.notional_max = 0;
        own.filters.bid_up_e4 = own.filters.bid_down_e4 = 0;
        own.filters.step = random_between(&random, 1, E8 / 100);
        own.filters.qty_min = random_between(&random, 0, 3) * own.filters.step;
        own.filters.notional_min = random_between(&random, 0, 20 * E8);
        begin(false);
        press('O');
        struct order_form *form = view.order_form;
        decimal_format_short(price, own.price_scale, text);
        tui_order_form_put(form, "limit", text);
        tui_order_form_take_rules(form, &own, 0);
        CHECK_INT(decimal_parse_str(tui_order_form_value(form, "qty"), own.qty_scale, &units), 0);
        struct filter_request order = {.type = ORDER_LIMIT, .qty = units, .price = price};
        CHECK_INT(filter_check(&own, &order), ORDER_OK);
        order.qty -= own.filters.step;
        CHECK(filter_check(&own, &order) != ORDER_OK);

        static const struct {
            const char *name;
            int key;
        } steps[] = {
            {"qty", PRESS_RIGHT}, {"qty", PRESS_LEFT}, {"limit", PRESS_RIGHT}, {"limit", PRESS_LEFT}};
        own.filters.notional_min = 0;
        for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
            bool qty = k < 2, up = steps[k].key == PRESS_RIGHT;
            int64_t before = random_between(&random, E8, 100 * E8),
                    step = qty ? own.filters.step : own.filters.tick, after;
            form->rules = own;
            decimal_format_short(before, 8, text);
            tui_order_form_put(form, steps[k].name, text);
            go(steps[k].name);
            press(steps[k].key);
            CHECK_INT(decimal_parse_str(tui_order_form_value(form, steps[k].name), 8, &after), 0);
            CHECK(up ? after > before && after - before <= step : after < before && before - after <= step);
            order = (struct filter_request){
                .type = ORDER_LIMIT, .qty = qty ? after : 1000 * step, .price = qty ? E8 : after};
            order.qty = qty ? after : own.filters.qty_min > 0 ? own.filters.qty_min : own.filters.step;
            CHECK_INT(filter_check(&own, &order), ORDER_OK);
        }
    }
}

static void check_screen(const char *name, int width, int height, enum glyphs glyphs)
{
    CHECK(picture_matches(golden, name, model, &view, now, width, height, glyphs));
}

/* The daemon's answer to the line as it is. */
static void answer(const char *reply, int64_t age_ms)
{
    struct order_answer *a = &view.order_form->answer;
    char text[COMMAND_LINE_MAX + 16];
    json_t *object = json_loads(reply, 0, NULL);

    tui_order_form_line(view.order_form, a->line);
    snprintf(text, sizeof(text), "%s --dry-run", a->line);
    a->done = tui_collector_line_outcome(text, object, a->words, sizeof(a->words)) == OUTCOME_DONE;
    a->mono_ms = now.mono_ms - age_ms;
    json_decref(object);
}

static const char would_be[] =
    "{\"id\":1,\"ok\":true,\"result\":{\"dry_run\":true,\"account\":\"main\",\"legs\":[{\"symbol\":\"BTCUSDT\",\"side\":"
    "\"BUY\",\"type\":\"LIMIT\",\"tif\":\"GTC\",\"qty\":\"0.01\",\"limit\":\"59000\"}],\"currency\":\"USDT\","
    "\"notional\":\"590\",\"fee\":\"0.59\",\"fill\":null,\"would_take\":false,\"reserve\":{\"asset\":\"USDT\","
    "\"amount\":\"590.59\",\"free\":\"5000.1\",\"free_after\":\"4409.51\"}}}";
static const char too_dear[] =
    "{\"id\":1,\"ok\":false,\"error\":{\"code\":\"INSUFFICIENT_BALANCE\",\"message\":\"the account does not hold enough: "
    "601176.8763 USDT needed, 48818.82 available\"}}";

static void check_screens(void)
{
    begin(false);
    press('4');
    press('O');
    check_screen("order-asking-80x24", 80, 24, GLYPHS_BRAILLE); /* neither rules nor an answer yet */
    press(PRESS_F3); /* a small screen has no row for that the rules are not known; `w` says so */
    char *text = picture_draw(model, &view, now, 40, 10, GLYPHS_ASCII);
    CHECK(text && strstr(text, "form: The venue's rules of that "));
    free(text);
    press(PRESS_F3);
    tui_order_form_take_rules(view.order_form, &rules, tui_order_form_market(model, &rules));
    CHECK_STR(tui_order_form_value(view.order_form, "limit"), "61837.63");
    CHECK_STR(tui_order_form_value(view.order_form, "qty"), "0.00009"); /* 5 USDT are 0.0000809 */
    type("0.01");
    go("limit");
    type("59000");
    answer(would_be, 400);
    check_screen("order-80x24", 80, 24, GLYPHS_BRAILLE);
    check_screen("order-120x40", 120, 40, GLYPHS_BRAILLE);
    check_screen("order-200x60", 200, 60, GLYPHS_BRAILLE);
    check_screen("order-40x10", 40, 10, GLYPHS_ASCII);
    press(PRESS_F3); /* what is cut there, whole */
    check_screen("order-whole-40x10", 40, 10, GLYPHS_ASCII);
    press(PRESS_ESCAPE);
    CHECK(view.order_form && !view.whole);
    press(PRESS_ENTER);
    check_screen("order-confirm-40x10", 40, 10, GLYPHS_ASCII);
    CHECK_INT(view.prompt, PROMPT_ORDER);
    check_screen("order-confirm-80x24", 80, 24, GLYPHS_BRAILLE);
    CHECK_INT(press('n'), ACTION_NONE);
    CHECK_STR(view.words, "nothing is done");
    press(PRESS_ENTER);
    CHECK_INT(press('y'), ACTION_ORDER_SEND);
    press(PRESS_HELP);
    check_screen("order-help-80x24", 80, 24, GLYPHS_BRAILLE);
    press('x');
    answer(would_be, 4000);
    check_screen("order-stale-80x24", 80, 24, GLYPHS_BRAILLE);
    answer(too_dear, 100);
    check_screen("order-refused-80x24", 80, 24, GLYPHS_BRAILLE);
    view.order_form->sent_id = 1;
    tui_view_report(&view, OUTCOME_UNANSWERED, "order", "timed out: it may still be carried out", now);
    check_screen("order-unanswered-80x24", 80, 24, GLYPHS_BRAILLE);
    press(PRESS_ESCAPE);
    CHECK(!view.order_form);
}

/* A position is closed, an order amended by what was changed in it; and what is not to be done is not. */
static void check_openings(void)
{
    char line[COMMAND_LINE_MAX];

    begin(false);
    type("5");
    view.focus = PANEL_POSITIONS;
    press('O');
    CHECK(view.order_form && tui_order_form_line(view.order_form, line));
    CHECK_STR(line, "order sell BTCUSDT 0.08 --account main --limit 61837.63 --reduce-only");
    go("symbol");
    tui_order_form_put(view.order_form, "stop", "61000"); /* … and what is of the first one alone */
    tui_order_form_put(view.order_form, "bracket-stop-limit", "60000");
    tui_order_form_put(view.order_form, "trail", "150");
    tui_order_form_put(view.order_form, "bracket-trail", "1.5%");
    tui_order_form_put(view.order_form, "notional", "500");
    press(PRESS_RIGHT); /* another market: its price */
    CHECK(tui_order_form_line(view.order_form, line));
    CHECK_STR(line, "order sell ETHUSDT --account main --limit 2612.10 --reduce-only --bracket-trail 1.5%");
    tui_order_form_put(view.order_form, "limit", "");
    press(PRESS_RIGHT); /* a market order stays one */
    CHECK(tui_order_form_line(view.order_form, line));
    CHECK_STR(line, "order sell BTCUSDT --account main --reduce-only --bracket-trail 1.5%");
    press(PRESS_LEFT);
    tui_order_form_put(view.order_form, "bracket-trail", "");
    CHECK(tui_order_form_line(view.order_form, line));
    press(':');
    CHECK_STR(view.line->edit.text, line);
    CHECK(!view.order_form);
    press(PRESS_ESCAPE);

    type("6");
    press('E');
    CHECK(view.order_form && !tui_order_form_line(view.order_form, line));
    CHECK_INT(view.order_form->n, 2); /* it has no limit, and no distance */
    press(PRESS_ENTER);
    CHECK(view.prompt == PROMPT_NONE && strstr(view.order_form->words, "nothing is changed"));
    go("stop");
    type("61000");
    tui_order_form_take_rules(view.order_form, &rules, 0);
    CHECK(tui_order_form_line(view.order_form, line));
    CHECK_STR(line, "order amend 7 --stop 61000");
    check_screen("amend-80x24", 80, 24, GLYPHS_BRAILLE);
    press(PRESS_ENTER);
    CHECK_INT(view.prompt, PROMPT_ORDER);
    press('n');
    press(PRESS_ESCAPE);

    begin(false);
    press('O');
    go("qty");
    press('U' & 0x1f); /* the verb refuses it, before it is asked */
    press(PRESS_ENTER);
    CHECK(view.prompt == PROMPT_NONE && strstr(view.order_form->words, "a quantity or an amount is needed"));
    const int pasted[] = {'0', '.', '5'};
    tui_keys_paste(&view, model, 80, 24, pasted, 3);
    CHECK_STR(tui_order_form_value(view.order_form, "qty"), "0.5");
    const int text[] = {'1', ',', '5'};
    tui_keys_paste(&view, model, 80, 24, text, 3);
    CHECK_STR(tui_order_form_value(view.order_form, "qty"), "0.5");
    CHECK(strstr(view.order_form->words, "nothing was taken"));

    model->source = MODEL_DATABASE;
    begin(false);
    press('O');
    CHECK(!view.order_form && view.outcome == OUTCOME_REFUSED);
    model->source = MODEL_DAEMON;
    begin(true);
    for (const char *key = "OEB@"; *key; key++) {
        press('6');
        press(*key);
        CHECK(!view.order_form && view.prompt == PROMPT_NONE);
        CHECK_STR(view.words, "read-only: started with --readonly");
    }
}

/* The next request that comes, of a dry run; its id. */
static long long asked(int fd, const char *part)
{
    char text[1024];
    ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    CHECK(strstr(text, "\"dry_run\"") && strstr(text, part));
    json_t *object = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    long long id = json_integer_value(json_object_get(object, "id"));
    json_decref(object);
    return id;
}

/* The daemon's socket, and a collector that will connect to it. */
static int listen_for(struct collector *collector)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    struct state_dir state = {.path = "/nowhere"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", scratch_path("control.sock"));
    snprintf(state.socket, sizeof(state.socket), "%s", sun.sun_path);
    unlink(sun.sun_path);
    CHECK_INT(bind(listener, (struct sockaddr *)&sun, sizeof(sun)), 0);
    CHECK_INT(listen(listener, 8), 0);
    CHECK_INT(tui_collector_init(collector, &state, NULL, 1000), 0);
    return listener;
}

/* The daemon's answer to the command that is pending, as of id 1. */
static void reply_to(struct collector *collector, int fd, const char *text)
{
    char reply[1024];
    int n = snprintf(reply, sizeof(reply), "{\"id\":%lld%s\n", (long long)collector->command_id,
                     text + strlen("{\"id\":1"));

    CHECK(collector->command_id > 0);
    CHECK_INT(send(fd, reply, (size_t)n, 0), n);
    tui_collector_io(collector, &view, now);
    CHECK_INT(collector->command_id, 0);
}

/* The form closes when its own order is done, and not when another command is, which it came too early for.
 */
static void check_sent(void)
{
    static const char canceled[] = "{\"id\":1,\"ok\":true,\"result\":{\"canceled\":[]}}";
    static const char ordered[] = "{\"id\":1,\"ok\":true,\"result\":{\"order\":8,\"state\":\"PENDING\"}}";
    struct collector collector;
    int listener = listen_for(&collector);

    begin(false);
    tui_collector_line(&collector, &view, "order cancel --all", now);
    CHECK_INT(view.outcome, OUTCOME_PENDING);
    int fd = accept(listener, NULL, NULL);
    press('O');
    type("0.01");
    tui_collector_order_send(&collector, &view, now);
    CHECK_STR(view.words, "another command is still pending");
    reply_to(&collector, fd, canceled);
    CHECK_INT(view.outcome, OUTCOME_DONE);
    CHECK(view.order_form && view.order_form->sent_id == 0);
    tui_collector_order_send(&collector, &view, now);
    CHECK_INT(view.outcome, OUTCOME_PENDING);
    CHECK_INT(view.order_form->sent_id, collector.command_id);
    reply_to(&collector, fd, too_dear);
    CHECK(view.order_form && view.outcome == OUTCOME_REFUSED);
    tui_collector_order_send(&collector, &view, now);
    reply_to(&collector, fd, ordered);
    CHECK(!view.order_form && view.outcome == OUTCOME_DONE);
    close(fd);
    close(listener);
    tui_collector_finish(&collector);
}

/* One request at a time, of what the form has then; an answer is of the line that was asked; no answer is
 * none. */
static void check_dry_run(void)
{
    struct collector collector;
    struct moment later = now;
    char reply[1024];
    int listener = listen_for(&collector);

    begin(false);
    press('O');
    const struct order_answer *a = &view.order_form->answer;
    tui_collector_order_form(&collector, &view, now, false); /* no quantity yet: the verb refuses it */
    CHECK(a->line[0] && !a->unanswered && !a->done && !collector.dry_id);
    tui_order_form_put(view.order_form, "qty", "1");
    tui_collector_order_form(&collector, &view, now, false); /* not connected */
    CHECK(a->unanswered && !collector.dry_id);
    tui_collector_command(&collector, &view, "pause", NULL, now);
    int fd = accept(listener, NULL, NULL);
    tui_collector_io(&collector, &view, now);
    CHECK(recv(fd, reply, sizeof(reply), 0) > 0);

    go("qty");
    type("0.01");
    tui_collector_order_form(&collector, &view, now, false);
    CHECK(collector.dry_id > 0);
    tui_collector_io(&collector, &view, now);
    long long id = asked(fd, "\"qty\":\"0.01\"");
    type("5");
    tui_collector_order_form(&collector, &view, now, true);
    CHECK_INT(collector.dry_id, id);
    int n = snprintf(reply, sizeof(reply), "{\"id\":%lld%s\n", id, would_be + strlen("{\"id\":1"));
    CHECK_INT(send(fd, reply, (size_t)n, 0), n);
    tui_collector_io(&collector, &view, now);
    CHECK(a->done && strstr(a->line, " 0.01 ") && strstr(a->words, "would be BUY LIMIT 0.01 BTCUSDT"));
    tui_collector_io(&collector, &view, now);
    id = asked(fd, "\"qty\":\"0.015\""); /* what was typed meanwhile */
    CHECK(collector.dry_id == id && strstr(collector.dry_line, " 0.015 "));

    later.mono_ms += COMMAND_TIMEOUT_MS - 1;
    tui_collector_expire(&collector, &view, later);
    CHECK(!a->unanswered);
    later.mono_ms++;
    CHECK(tui_collector_expire(&collector, &view, later));
    CHECK(a->unanswered && !collector.dry_id && strstr(a->line, " 0.015 "));
    tui_collector_order_form(&collector, &view, later, true); /* not at once again */
    CHECK_INT(collector.dry_id, 0);
    later.mono_ms += 1000;
    tui_collector_order_form(&collector, &view, later, true);
    CHECK(collector.dry_id > 0);
    close(fd);
    tui_collector_io(&collector, &view, later);
    CHECK(a->unanswered && !collector.dry_id);
    CHECK_STR(a->words, "the daemon hung up");
    close(listener);
    tui_collector_finish(&collector);
}

int main(int argc, char **argv)
{
    json_t *status = json_loads(fixture_status, 0, NULL);

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    model = tui_model_create(1000);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
    tui_view_init(&view, false, 1000);
    check_fields();
    check_lines();
    check_long();
    check_numbers();
    check_screens();
    check_openings();
    check_sent();
    check_dry_run();
    tui_view_finish(&view);
    tui_model_destroy(model);
    return check_done("tui/order_form");
}
