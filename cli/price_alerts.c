#include "cli/price_alerts.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/text.h"
#include "exchange/exit_status.h"

/* "3: BTCUSDT at 65000.00 or above". */
static void print_alert(const struct option_call *call, const json_t *alert)
{
    fprintf(call->out, " %lld: ", (long long)json_integer_value(json_object_get(alert, "price_alert")));
    cli_text_print(call->out, cli_answer_text(alert, "symbol"));
    fputs(" at ", call->out);
    cli_text_print(call->out, cli_answer_text(alert, "price"));
    fputs(" or ", call->out);
    cli_text_print(call->out, cli_answer_text(alert, "side"));
    fputs(json_is_true(json_object_get(alert, "repeated")) ? " (done before)\n" : "\n", call->out);
}

static void print_set(const struct option_call *call, const json_t *alert)
{
    fputs("price alert", call->out);
    print_alert(call, alert);
}

static void print_removed(const struct option_call *call, const json_t *alert)
{
    fputs("removed price alert", call->out);
    print_alert(call, alert);
}

int cli_price_alerts_set(struct option_call *call)
{
    char symbol[SYMBOL_NAME_MAX];
    json_t *result = NULL;
    int r = cli_ask_args_put(call, "symbol", cli_stored_symbol(call->arguments[0], symbol));

    if (r == EXIT_OK)
        r = cli_ask_args_send(call, "price_alert", &result);
    return cli_ask_done(call, r, "papertape.price-alert/1", result, print_set);
}

int cli_price_alerts_remove(struct option_call *call)
{
    const struct ask_args *into = call->into;
    const char *text = call->arguments[0];
    json_t *result = NULL;
    json_int_t id;

    if (!cli_ask_id(text, &id))
        return option_fail(call, EXIT_USAGE, "remove-price needs the number of one, as alerts prices has it");
    json_object_set_new(into->args, "price_alert", json_integer(id));
    int r = cli_ask_args_send(call, "price_alert_remove", &result);
    return cli_ask_done(call, r, "papertape.price-alert/1", result, print_removed);
}

/* ---- the list ---- */

enum { ID, SYMBOL, SIDE, PRICE, LAST, STREAMED, CREATED, COLUMNS };

static const struct stored_column columns[COLUMNS] = {
    {"price_alert", 11}, {"symbol", -10},  {"side", -5},        {"price", 12},
    {"last", 12},        {"streamed", -8}, {"created_ns", -24},
};

/* Prices, which the daemon answers as texts with all of their digits, as numbers; null: there is none. */
static void print_object(struct stored_list *list, const json_t *alert)
{
    json_t *object = json_deep_copy(alert);
    static const char *const prices[] = {"price", "last"};

    for (size_t i = 0; object && i < sizeof prices / sizeof *prices; i++) {
        const char *text = json_string_value(json_object_get(object, prices[i]));
        json_object_set_new(object, prices[i], text ? json_real(strtod(text, NULL)) : json_null());
    }
    cli_stored_object(list, object);
}

static void print_row(struct stored_list *list, const json_t *alert)
{
    char id[STORED_CELL], created[STORED_CELL];
    const json_t *streamed = json_object_get(alert, "streamed");
    const char *cells[COLUMNS] = {
        [ID] = cli_stored_integer(id, json_integer_value(json_object_get(alert, "price_alert"))),
        [SYMBOL] = cli_answer_text(alert, "symbol"),
        [SIDE] = cli_answer_text(alert, "side"),
        [PRICE] = cli_answer_text(alert, "price"),
        [LAST] = cli_answer_text(alert, "last"),
        [CREATED] =
            cli_stored_time(list->form, created, json_integer_value(json_object_get(alert, "created_ns"))),
        [STREAMED] = json_is_true(streamed) ? "yes" : "no",
    };

    cli_stored_row(list, cells);
}

int cli_price_alerts_list(struct option_call *call)
{
    struct stored_list list = {.name = "price-alerts",
                               .key = "price_alerts",
                               .form = cli_stored_form(call),
                               .columns = columns,
                               .n_columns = COLUMNS};
    json_t *result = NULL;
    const json_t *alert;
    size_t i;
    int r = cli_ask_daemon("alerts", call->state, "price_alerts", NULL, &result);

    if (r != EXIT_OK)
        return r;
    json_array_foreach(json_object_get(result, "price_alerts"), i, alert)
    {
        if (list.form == STORED_JSON)
            print_object(&list, alert);
        else
            print_row(&list, alert);
    }
    cli_stored_end(&list);
    json_decref(result);
    return list.r < 0 ? EXIT_ERROR : EXIT_OK;
}
