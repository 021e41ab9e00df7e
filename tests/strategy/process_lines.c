/* The lines between the engine and a strategy's process: numbers to the bit, bars read back by jansson, and
 * answers, right and wrong. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "exchange/decimal.h"
#include "strategy/process/answer.h"
#include "strategy/process/history.h"
#include "strategy/process/line.h"
#include "strategy/process/said.h"
#include "strategy/record.h"
#include "tests/check.h"
#include "tests/counts.h"
#include "tests/random.h"

static void check_number(double value, const char *expected)
{
    char text[LINE_NUMBER_MAX + 1];
    char *end = strategy_line_number(text, value);
    CHECK(end - text <= LINE_NUMBER_MAX);
    *end = '\0';
    if (expected)
        CHECK_STR(text, expected);
    if (isfinite(value)) {
        double again = strtod(text, NULL);
        CHECK(again == value);
    }
}

static double random_double(struct random *random)
{
    uint64_t bits = random_next(random);
    double value;
    switch (random_between(random, 0, 3)) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return value;
    case 1:
        return decimal_to_double(random_between(random, -1000000000000, 1000000000000),
                                 (int)random_between(random, 0, 12));
    case 2:
        return (double)(int64_t)random_next(random);
    default:
        return (double)(bits >> 11) * 0x1p-53 * 100000;
    }
}

static void test_numbers(struct random *random)
{
    check_number(0, "0");
    check_number(-0.0, "0");
    check_number(1, "1");
    check_number(-12, "-12");
    check_number(0.1, "0.1");
    check_number(65012.1, "65012.1");
    check_number(0.00000001, "0.00000001");
    check_number(-0.25, "-0.25");
    check_number(1.0 / 3, "0.33333333333333331");
    check_number(9007199254740992.0, NULL);
    check_number(-9223372036854775808.0, NULL);
    check_number(1e300, "1.0000000000000001e+300");
    check_number(5e-324, NULL);
    check_number(NAN, "null");
    check_number(INFINITY, "null");
    check_number(-INFINITY, "null");
    for (int i = counts_of("numbers", 200000, 20000); i > 0; i--)
        check_number(random_double(random), NULL);
}

static const struct symbol btc = {.name = "BTC/\"X\"", .price_scale = 8, .qty_scale = 8, .quote_scale = 8};

/* The double of a number in the line. */
static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    CHECK(json_is_number(value));
    return json_number_value(value);
}

static void check_peer(const json_t *object, const struct strategy_peer *peer, size_t n_indicators)
{
    CHECK_STR(json_string_value(json_object_get(object, "symbol")), btc.name);
    const json_t *time = json_object_get(object, "time"), *close = json_object_get(object, "close");
    CHECK(peer->ts_ns == 0 ? json_is_null(time) : json_integer_value(time) == peer->ts_ns - 60);
    CHECK(isnan(peer->close) ? json_is_null(close) : json_number_value(close) == peer->close);
    CHECK(json_is_true(json_object_get(object, "fresh")) == peer->fresh);
    CHECK(number(object, "qty") == peer->qty && number(object, "stop") == peer->stop);
    CHECK_INT(json_array_size(json_object_get(object, "indicators")), n_indicators);
    CHECK_INT(json_array_size(json_object_get(object, "record")), peer->record->wins > 0 ? 5 : 0);
    CHECK(peer->leverage > 1 ? number(object, "leverage") == peer->leverage
                             : !json_object_get(object, "leverage"));
}

static void check_peers(const json_t *object, const struct strategy_request *request)
{
    const struct strategy_input *input = &request->input;
    const json_t *peers = json_object_get(object, "peers");
    CHECK_INT(json_array_size(peers), input->n_peers);
    CHECK(input->n_peers == 0 ? !peers : number(object, "self") == input->self);
    for (int k = 0; k < input->n_peers; k++)
        check_peer(json_array_get(peers, (size_t)k), &input->peers[k], request->n_indicators);
}

static void check_bar(const struct strategy_request *request, bool again)
{
    struct strategy_line_symbol symbol;
    char line[16384];
    json_error_t error;
    strategy_line_symbol(&btc, &symbol);
    size_t len = strategy_line_bar(line, &symbol, request, again);
    CHECK(len <= strategy_line_room(request));
    CHECK(line[len - 1] == '\n' && !memchr(line, '\n', len - 1));
    json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
    CHECK(object != NULL);
    CHECK_STR(json_string_value(json_object_get(object, "type")), "bar");
    CHECK_STR(json_string_value(json_object_get(object, "symbol")), btc.name);
    CHECK_INT(json_integer_value(json_object_get(object, "time")), request->bar.open_ns);
    const struct strategy_input *input = &request->input;
    const struct bar *bar = &request->bar;
    CHECK(number(object, "open") == decimal_to_double(bar->open, 8));
    CHECK(number(object, "high") == decimal_to_double(bar->high, 8));
    CHECK(number(object, "low") == decimal_to_double(bar->low, 8));
    CHECK(number(object, "close") == decimal_to_double(bar->close, 8));
    CHECK(number(object, "volume") == decimal_to_double(bar->volume, 8));
    int64_t open;
    int128_t volume;
    const json_t *exact = json_object_get(object, "exact");
    const char *text = json_string_value(json_array_get(exact, 0)),
               *text_volume = json_string_value(json_array_get(exact, 4));
    CHECK(text && decimal_parse_str(text, 8, &open) == 0 && open == bar->open);
    CHECK(text_volume && decimal_parse128(text_volume, strlen(text_volume), 8, &volume) == 0 &&
          volume == bar->volume);
    const json_t *indicators = json_object_get(object, "indicators");
    CHECK_INT(json_array_size(indicators), request->n_indicators);
    for (size_t i = 0; i < request->n_indicators; i++) {
        const json_t *value = json_array_get(indicators, i);
        CHECK(isfinite(input->indicators[i]) ? json_number_value(value) == input->indicators[i]
                                             : json_is_null(value));
    }
    CHECK(number(object, "qty") == input->qty && number(object, "entry") == input->entry);
    CHECK(number(object, "equity") == input->equity && number(object, "cash") == input->cash);
    CHECK(number(object, "stop") == input->stop && number(object, "profit") == input->profit);
    CHECK(number(object, "positions") == input->positions && number(object, "symbols") == input->symbols);
    CHECK(json_is_true(json_object_get(object, "live_orders")) == input->live_orders);
    CHECK(json_is_true(json_object_get(object, "shorts")) == input->shorts);
    CHECK(input->leverage > 1 ? number(object, "leverage") == input->leverage
                              : !json_object_get(object, "leverage"));
    CHECK(input->orders > 0 ? number(object, "orders") == input->orders : !json_object_get(object, "orders"));
    CHECK(json_is_true(json_object_get(object, "history")) == !request->acts);
    CHECK(json_is_true(json_object_get(object, "again")) == again);
    const json_t *record = json_object_get(object, "record"), *session = json_object_get(object, "session");
    CHECK_INT(json_array_size(record), input->record->wins > 0 ? 5 : 0);
    CHECK(!record || json_number_value(json_array_get(record, 3)) == input->record->won);
    check_peers(object, request);
    CHECK_INT(json_array_size(session), input->session_close_ns != 0 ? 2 : 0);
    CHECK(!session || json_integer_value(json_array_get(session, 1)) == input->session_close_ns);
    json_decref(object);
}

static void test_bars(struct random *random)
{
    for (int i = counts_of("bars", 5000, 1000); i > 0; i--) {
        struct strategy_record record = {.wins = (uint32_t)random_between(random, 0, 1),
                                         .won = random_double(random)};
        double indicators[16];
        struct strategy_peer peers[3];
        struct strategy_request request = {
            .bar = {.open_ns = random_between(random, 0, INT64_MAX - 1),
                    .open = random_between(random, 1, INT64_MAX),
                    .high = random_between(random, 1, 1000000000000),
                    .low = random_between(random, 1, 100),
                    .close = random_between(random, 1, INT64_MAX) >> random_between(random, 0, 60),
                    .volume = (int128_t)random_next(random) << random_between(random, 0, 40)},
            .acts = random_chance(random, 50),
            .input = {.qty = random_double(random),
                      .entry = random_double(random),
                      .equity = random_double(random),
                      .cash = random_double(random),
                      .stop = random_double(random),
                      .profit = random_double(random),
                      .live_orders = random_chance(random, 50),
                      .shorts = random_chance(random, 50),
                      .positions = (int)random_between(random, 0, 9),
                      .symbols = (int)random_between(random, 0, 4096),
                      .orders = (int)random_between(random, 0, 2),
                      .leverage = (double)random_between(random, 0, 5) / 2,
                      .session_close_ns =
                          random_chance(random, 50) ? random_between(random, 1, INT64_MAX) : 0,
                      .indicators = indicators,
                      .record = &record},
            .n_indicators = (size_t)random_between(random, 0, 16)};
        double *numbers[] = {&request.input.qty,  &request.input.entry, &request.input.equity,
                             &request.input.cash, &request.input.stop,  &request.input.profit,
                             &record.won};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            *numbers[k] = isfinite(*numbers[k]) ? *numbers[k] : 0;
        if (random_chance(random, 30)) {
            request.input.interval_ns = 60;
            request.input.peers = peers;
            request.input.n_peers = (int)random_between(random, 1, 3);
            request.input.self = request.input.n_peers - 1;
        }
        for (int k = 0; k < request.input.n_peers; k++)
            peers[k] = (struct strategy_peer){.name = btc.name,
                                              .ts_ns = random_between(random, 0, 1) * 600,
                                              .fresh = random_chance(random, 50),
                                              .close = random_chance(random, 50) ? NAN : 0.1,
                                              .qty = record.won,
                                              .stop = 1e300,
                                              .leverage = (double)random_between(random, 0, 5) / 2,
                                              .indicators = indicators,
                                              .record = &record};
        for (size_t k = 0; k < request.n_indicators; k++)
            indicators[k] = random_chance(random, 10) ? NAN : random_double(random);
        check_bar(&request, random_chance(random, 50));
    }
}

/* ---- answers ---- */

#define HEAD "{\"type\":\"intents\",\"bar\":60,\"symbol\":\"A\",\"intents\":"

static const struct strategy_input *round_of; /* that answers are of; NULL: of a bar */

static int read_all(const char *line, struct strategy_decision *ret)
{
    struct strategy_answer answer;
    *ret = (struct strategy_decision){0};
    int r = strategy_answer_read(line, strlen(line), &answer, ret->fault);
    if (r == 0 && answer.kind == ANSWER_INTENTS)
        r = strategy_answer_intents(answer.intents, round_of, ret);
    return r;
}

static void test_right(void)
{
    struct strategy_decision d;
    CHECK_INT(read_all(HEAD "[]}", &d), 0);
    CHECK_INT(d.n, 0);
    CHECK_INT(read_all(HEAD
                       "[{\"kind\":\"enter\",\"fraction\":0.25,\"stop\":99.5,\"profit\":null,\"limit\":1e2,"
                       "\"good\":1700000000000000000,\"why\":\"caf\\u00e9 \\\"x\\\"\"},"
                       "{\"kind\":\"exit\"},{\"kind\":\"stop\",\"stop\":7},"
                       "{\"kind\":\"exit\",\"fraction\":0.5},"
                       "{\"why\":\"down\",\"kind\":\"target\",\"fraction\":-0.5}]}",
                       &d),
              0);
    CHECK_INT(d.n, 5);
    CHECK(d.intents[0].kind == INTENT_ENTER && d.intents[0].fraction == 0.25 && d.intents[0].stop == 99.5);
    CHECK(d.intents[0].profit == 0 && d.intents[0].limit == 100);
    CHECK_INT(d.intents[0].good_ns, 1700000000000000000);
    CHECK_STR(d.intents[0].why, "caf\xc3\xa9 \"x\"");
    CHECK(d.intents[1].kind == INTENT_EXIT && d.intents[1].fraction == 0 && !d.intents[1].why);
    CHECK(d.intents[2].kind == INTENT_STOP && d.intents[2].stop == 7);
    CHECK(d.intents[3].kind == INTENT_EXIT && d.intents[3].fraction == 0.5);
    CHECK(d.intents[4].kind == INTENT_TARGET && d.intents[4].fraction == -0.5);
    CHECK_STR(d.intents[4].why, "down");
    /* A long reason is cut, between characters. */
    CHECK_INT(read_all(HEAD "[{\"kind\":\"exit\",\"why\":\"123456789012345678901234567890\xc3\xa9z\"}]}", &d),
              0);
    CHECK_STR(d.intents[0].why, "123456789012345678901234567890");
    /* More intents than there may be are counted, and the first are kept: the engine refuses them. */
    CHECK_INT(read_all(HEAD
                       "[{\"kind\":\"exit\"},{\"kind\":\"exit\"},{\"kind\":\"exit\"},{\"kind\":\"exit\"},"
                       "{\"kind\":\"exit\"},{\"kind\":\"exit\"},{\"kind\":\"exit\"},{\"kind\":\"exit\"},"
                       "{\"kind\":\"exit\"}]}",
                       &d),
              0);
    CHECK_INT(d.n, 9);
}

static void test_orders(void)
{
    struct strategy_decision d;
    CHECK_INT(
        read_all(HEAD
                 "[{\"kind\":\"exit\",\"fraction\":0.25},{\"kind\":\"cancel\",\"why\":\"old\"},"
                 "{\"kind\":\"order\",\"side\":\"sell\",\"type\":\"trailing_stop\",\"size\":\"position\","
                 "\"fraction\":0.5,\"trail_share\":0.02,\"reduce_only\":true},"
                 "{\"kind\":\"order\",\"side\":\"buy\",\"type\":\"stop_limit\",\"tif\":\"gtd\",\"qty\":3,"
                 "\"limit\":101,\"stop\":100,\"good\":60,\"trail\":null,\"reduce_only\":false},"
                 "{\"kind\":\"order\",\"side\":\"buy\",\"type\":\"market\",\"fraction\":2,\"tif\":null},"
                 "{\"kind\":\"order\",\"side\":\"buy\",\"type\":\"market\",\"fraction\":2,\"qty\":null},"
                 "{\"kind\":\"order\",\"side\":\"buy\",\"type\":\"market\",\"fraction\":null,\"qty\":3}]}",
                 &d),
        0);
    CHECK_INT(d.n, 7);
    const struct intent *i = d.intents;
    CHECK(i[0].kind == INTENT_EXIT && i[0].fraction == 0.25);
    CHECK(i[1].kind == INTENT_CANCEL && strcmp(d.whys[1], "old") == 0);
    CHECK(i[2].kind == INTENT_ORDER && i[2].side == ORDER_SELL && i[2].type == ORDER_TRAILING_STOP);
    CHECK(i[2].size == INTENT_OF_POSITION && i[2].fraction == 0.5 && i[2].trail_share == 0.02);
    CHECK(i[2].reduce_only && i[2].tif == ORDER_GTC);
    CHECK(i[3].side == ORDER_BUY && i[3].type == ORDER_STOP_LIMIT && i[3].tif == ORDER_GTD);
    CHECK(i[3].size == INTENT_OF_UNITS && i[3].qty == 3 && i[3].limit == 101 && i[3].stop == 100);
    CHECK(i[3].good_ns == 60 && i[3].trail == 0 && !i[3].reduce_only);
    CHECK(i[4].type == ORDER_MARKET && i[4].size == INTENT_OF_EQUITY && i[4].fraction == 2);
    CHECK(i[5].size == INTENT_OF_EQUITY && i[5].fraction == 2 && i[5].qty == 0);
    CHECK(i[6].size == INTENT_OF_UNITS && i[6].qty == 3 && i[6].fraction == 0);
}

/* Each names its symbol where a round is answered, and nowhere else. */
static void test_rounds(void)
{
    static const struct strategy_peer peers[] = {{.name = "A"}, {.name = "B\"C"}};
    static const struct strategy_input round = {.peers = peers, .n_peers = 2};
    struct strategy_decision d;
    char many[8192] = HEAD "[";
    round_of = &round;
    CHECK_INT(read_all(HEAD "[{\"kind\":\"exit\",\"symbol\":\"B\\\"C\"},"
                            "{\"symbol\":\"A\",\"kind\":\"target\",\"fraction\":-0.5}]}",
                       &d),
              0);
    CHECK(d.n == 2 && d.intents[0].symbol == 1 && d.intents[1].symbol == 0);
    CHECK(read_all(HEAD "[{\"kind\":\"exit\"}]}", &d) < 0);
    CHECK_STR(d.fault, "an intent \"exit\" needs a \"symbol\"");
    CHECK(read_all(HEAD "[{\"kind\":\"exit\",\"symbol\":\"C\"}]}", &d) < 0);
    CHECK_STR(d.fault, "\"symbol\" C of an intent is none of the account's");
    for (int i = 0; i < 100; i++)
        strcat(many,
               i == 0 ? "{\"kind\":\"exit\",\"symbol\":\"A\"}" : ",{\"kind\":\"exit\",\"symbol\":\"A\"}");
    strcat(many, "]}");
    CHECK_INT(read_all(many, &d), 0);
    CHECK_INT(d.n, STRATEGY_SAID_MAX); /* too many: the engine refuses them */
    round_of = NULL;
    CHECK(read_all(HEAD "[{\"kind\":\"exit\",\"symbol\":\"A\"}]}", &d) < 0);
    CHECK_STR(d.fault, "an intent \"exit\" has no \"symbol\"");
}

#define ORDER(members) HEAD "[{\"kind\":\"order\",\"side\":\"buy\",\"type\":\"market\"" members "}]}"

static void test_wrong(void)
{
    static const struct {
        const char *line, *fault;
    } lines[] = {
        {"", "what it wrote is no JSON object: "},
        {"[]", "what it wrote is no JSON object: []"},
        {"{\"type\":\"intents\",", "what it wrote is no JSON object: {\"type\":\"intents\","},
        {HEAD "[]} x", "what it wrote is no JSON object: {\"type\":\"intents\",\"bar\":60,\"symbol\":\"A\","},
        {HEAD "[{\"kind\":\"exit\"},]}",
         "what it wrote is no JSON object: {\"type\":\"intents\",\"bar\":60,\"symbol\":\"A\","},
        {HEAD "[{\"kind\":\"enter\",\"fraction\":NaN}]}",
         "what it wrote is no JSON object (JSON has no NaN and no Infinity): {\"type\":\"intents\",\"bar\":60,\"symbol\":\"A\","},
        {"\x01\xff", "what it wrote is no JSON object: ??"},
        {HEAD "{}}", "\"intents\" is no array"},
        {HEAD "[1]}", "an intent is no object"},
        {HEAD "[{}]}", "kind \"\" of an intent: enter, short, exit, stop, target, order or cancel is needed"},
        {HEAD "[{\"kind\":\"buy\"}]}",
         "kind \"buy\" of an intent: enter, short, exit, stop, target, order or cancel is needed"},
        {HEAD "[{\"kind\":1}]}", "\"kind\" of an intent is no text"},
        {HEAD "[{\"kind\":\"enter\",\"fraction\":\"1\"}]}", "\"fraction\" of an intent is no finite number"},
        {HEAD "[{\"kind\":\"enter\",\"fraction\":1e999}]}", "\"fraction\" of an intent is no finite number"},
        {HEAD "[{\"kind\":\"enter\",\"good\":1.5}]}", "\"good\" of an intent is no time in nanoseconds"},
        {HEAD "[{\"kind\":\"enter\",\"limt\":5}]}", "\"limt\" of an intent is not known, or there twice"},
        {HEAD "[{\"kind\":\"enter\",\"stop\":5,\"stop\":6}]}",
         "\"stop\" of an intent is not known, or there twice"},
        {HEAD "[{\"kind\":\"exit\",\"stop\":1}]}", "an intent \"exit\" has no \"stop\""},
        {HEAD "[{\"kind\":\"cancel\",\"fraction\":1}]}", "an intent \"cancel\" has no \"fraction\""},
        {ORDER(",\"profit\":1"), "an intent \"order\" has no \"profit\""},
        {HEAD "[{\"kind\":\"order\",\"type\":\"market\"}]}", "an order needs \"side\" and \"type\""},
        {HEAD "[{\"kind\":\"order\",\"side\":\"long\",\"type\":\"market\"}]}",
         "side \"long\" of an order: buy or sell is needed"},
        {HEAD "[{\"kind\":\"order\",\"side\":\"buy\",\"type\":\"MARKET\"}]}",
         "type \"MARKET\" of an order: market, limit, stop, stop_limit, take_profit, take_profit_limit or "
         "trailing_stop is needed"},
        {ORDER(",\"tif\":\"gtx\""), "tif \"gtx\" of an order: gtc, ioc, fok, day, gtd, opg or cls is needed"},
        {ORDER(",\"size\":\"lots\""), "size \"lots\" of an order: equity, position or units is needed"},
        {ORDER(",\"qty\":1,\"fraction\":1"), "an order of size \"units\" has no \"fraction\""},
        {ORDER(",\"size\":\"equity\",\"qty\":1"), "an order of size \"equity\" has no \"qty\""},
        {ORDER(",\"reduce_only\":1"), "\"reduce_only\" of an intent is no true or false"},
        {ORDER(",\"qty\":\"1\""), "\"qty\" of an intent is no finite number"},
        {HEAD "[{\"kind\":\"stop\",\"stop\":1,\"limit\":1}]}", "an intent \"stop\" has no \"limit\""},
        {HEAD "[],\"intent\":[]}", "\"intent\" of its answer is not known, or there twice"},
        {HEAD "[],\"bar\":60}", "\"bar\" of its answer is not known, or there twice"},
        {"{\"type\":\"intents\",\"bar\":60,\"intents\":[]}",
         "its answer needs \"type\", \"bar\", \"symbol\" and \"intents\""},
        {"{\"type\":\"error\"}", "its error has no \"text\""},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct strategy_decision d;
        CHECK(read_all(lines[i].line, &d) < 0);
        CHECK_STR(d.fault, lines[i].fault);
        CHECK_INT(d.n, 0);
    }
}

static void test_parts(void)
{
    static const char line[] =
        "{\"state\": {\"a\":[1,2]} ,\"symbol\":\"A\\/B\",\"bar\":7,\"type\":\"intents\",\"intents\": []}";
    struct strategy_answer answer;
    char fault[STRATEGY_FAULT_MAX], name[32];
    CHECK_INT(strategy_answer_read(line, sizeof line - 1, &answer, fault), 0);
    CHECK(answer.names && answer.kind == ANSWER_INTENTS);
    CHECK_INT(answer.time_ns, 7);
    CHECK_INT(answer.state.len, strlen("{\"a\":[1,2]}"));
    CHECK(memcmp(answer.state.data, "{\"a\":[1,2]}", answer.state.len) == 0);
    strategy_answer_text(answer.symbol, name, sizeof name);
    CHECK_STR(name, "A/B");
    static const char error[] = "{\"type\":\"error\",\"text\":\"a\\nb\"}";
    CHECK_INT(strategy_answer_read(error, sizeof error - 1, &answer, fault), 0);
    CHECK(!answer.names && answer.kind == ANSWER_ERROR);
    strategy_answer_text(answer.text, name, sizeof name);
    CHECK_STR(name, "a?b");
}

/* Any bytes, and a right answer with some of them wrong: read or refused, never more than the line. */
static void test_any(struct random *random)
{
    static const char right[] =
        HEAD "[{\"kind\":\"enter\",\"fraction\":0.25,\"why\":\"\\u00e9x\"}],\"state\":{\"a\":[1]}}";
    for (int i = counts_of("damaged answers", 100000, 10000); i > 0; i--) {
        size_t len = sizeof right - 1 - (size_t)random_between(random, 0, 20);
        char *line = malloc(len + 1);
        memcpy(line, right, len);
        line[len] = '\0';
        for (int64_t k = random_between(random, 0, 3); k > 0; k--)
            line[random_between(random, 0, (int64_t)len - 1)] = (char)random_between(random, 1, 255);
        struct strategy_decision d;
        int r = read_all(line, &d);
        CHECK(r == 0 || d.fault[0]);
        free(line);
    }
}

static void test_history(void)
{
    struct process_history history;
    size_t n, len;
    uint64_t numbers[2] = {0, 0};
    CHECK_INT(strategy_history_init(&history, 3), 0);
    char *text = strategy_history_text(&history, numbers, &n, &len);
    CHECK_STR(text, "");
    free(text);
    CHECK_INT(strategy_history_add(&history, 0, "{1}\n", 4, false), 1);
    CHECK_INT(strategy_history_add(&history, 1, "{22}\n", 5, false), 2);
    CHECK_INT(strategy_history_add(&history, 0, "{3,\"history\":true}\n", 19, true), 3);
    CHECK_INT(strategy_history_add(&history, 0, "{4}\n", 4, false), 4);
    text = strategy_history_text(&history, numbers, &n, &len);
    CHECK_STR(text, "{22,\"history\":true}\n{3,\"history\":true}\n{4,\"history\":true}\n");
    CHECK_INT(n, 3);
    CHECK_INT(len, strlen(text));
    free(text);
    numbers[0] = 3; /* its state is as of then */
    text = strategy_history_text(&history, numbers, &n, &len);
    CHECK_STR(text, "{22,\"history\":true}\n{4,\"history\":true}\n");
    free(text);
    strategy_history_finish(&history);
    CHECK_INT(strategy_history_init(&history, 0), 0);
    CHECK_INT(strategy_history_add(&history, 0, "{1}\n", 4, false), 1);
    text = strategy_history_text(&history, numbers, &n, &len);
    CHECK_STR(text, "");
    free(text);
    strategy_history_finish(&history);
}

/* ---- its standard error ---- */

struct log {
    int lines;
    char last[SAID_MAX];
};

static void log_line(void *ctx, const char *line)
{
    struct log *log = ctx;
    log->lines++;
    snprintf(log->last, sizeof log->last, "%s", line);
}

/* 50,000 lines at once: a hundred are logged, the others counted; then one a second. */
static void test_said(void)
{
    const int64_t second_ns = 1000000000, start_ns = 7 * second_ns;
    struct log log = {0};
    struct strategy_said said = {.log = {log_line, &log}};
    for (int i = 0; i < 50000; i++)
        strategy_said_take(&said, "\ta line\n", 8, start_ns);
    CHECK_INT(log.lines, SAID_LINES);
    CHECK_STR(log.last, " a line");
    CHECK_STR(strategy_said_last(&said), "a line");
    strategy_said_take(&said, "next\nmore\n", 10, start_ns + second_ns);
    CHECK_INT(log.lines, SAID_LINES + 2);
    CHECK_STR(log.last, "next");
    strategy_said_take(&said, "no end", 6, start_ns + second_ns);
    strategy_said_end(&said, start_ns + second_ns);
    CHECK_INT(log.lines, SAID_LINES + 3);
    CHECK_STR(log.last, "2 lines left out: at most 100 at once, then one in 1 s");
    CHECK_STR(strategy_said_last(&said), "no end");
    strategy_said_take(&said, "\n   \n", 5, start_ns + 1000 * second_ns);
    CHECK_STR(log.last, "   ");
    CHECK_STR(strategy_said_last(&said), "no end"); /* the last one with words */
    strategy_said_end(&said, start_ns + 1000 * second_ns);
    CHECK_INT(log.lines, SAID_LINES + 5);
}

int main(void)
{
    struct random random = random_seeded("strategy/process_lines", (uint64_t)32);
    test_numbers(&random);
    test_bars(&random);
    test_right();
    test_orders();
    test_rounds();
    test_wrong();
    test_parts();
    test_any(&random);
    test_history();
    test_said();
    return check_done("strategy/process_lines");
}
