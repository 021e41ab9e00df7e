#include "cli/verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/order_args.h"
#include "cli/text.h"
#include "exchange/exit_status.h"

static const char help[] =
    "Usage: papertape order buy|sell SYMBOL QTY [--limit P] [--stop P] [--take-profit P] [--trail D|X%]\n"
    "                                           [--type T] [--tif T] [OPTION…]\n"
    "       papertape order buy|sell SYMBOL QTY … --bracket-take-profit P --bracket-stop P\n"
    "       papertape order oco buy|sell SYMBOL QTY --take-profit P --stop P [--stop-limit P]\n"
    "       papertape order amend ID|CLIENT_ID [--qty Q] [--limit P] [--stop P] [--trail D|X%] [--account "
    "A]\n"
    "       papertape order cancel ID|CLIENT_ID [--account A]\n"
    "       papertape order cancel --all [--symbol S] [--account A]\n"
    "\n"
    "A paper order by hand. Exit status 0 once the daemon has accepted and committed it, 1 when it was\n"
    "refused, with the reason. Given again with the same --client-id, it answers with the same order.\n"
    "\n"
    "The type follows from the prices: none, a market order; or\n"
    "  --limit P               a limit order at P, or better\n"
    "  --stop P                a market order once a trade reaches P against it\n"
    "  --stop P --limit L      a limit order at L once a trade reaches P\n"
    "  --take-profit P         a market order once a trade reaches P in its favour\n"
    "  --trail D|X%            a stop that follows the best trade at a distance, in price or percent\n"
    "  --type T                market, limit, stop, stop-limit, take-profit, take-profit-limit, "
    "trailing-stop\n"
    "How long, and how:\n"
    "  --tif T                 gtc (default): till cancelled; ioc: what fills at once; fok: whole at once "
    "or\n"
    "                          not at all; day: till 00:00 UTC; gtd: till --expire\n"
    "  --expire T              when it ends, as 2024-08-08T14:02:00Z or epoch seconds\n"
    "  --post-only             a limit order that is cancelled rather than take\n"
    "  --reduce-only           never opens or turns a position\n"
    "  --client-id ID          your own name for it: 36 of A-Z a-z 0-9 . _ : / -\n"
    "  --account A             the account, where there are several; of amend and cancel the one whose "
    "client\n"
    "                          id it is (the first account, when left out)\n"
    "Orders that belong together:\n"
    "  oco                     one cancels the other: a limit order at --take-profit, and a stop at --stop,\n"
    "                          stop-limit with --stop-limit L, or trailing with --trail\n"
    "    --take-profit-stop P  instead: a take-profit order, a market order once a trade reaches P; with\n"
    "                          --take-profit L too, a limit order at L from then on\n"
    "  --bracket-take-profit L, --bracket-take-profit-stop P, --bracket-stop P, --bracket-stop-limit L,\n"
    "  --bracket-trail D|X%    an oco that leaves what this order has filled, once it has filled; its "
    "orders\n"
    "                          are made as an oco's are\n"
    "Changing:\n"
    "  --key K                 of amend and cancel: given again with the same key, nothing is done twice\n"
    "  --all                   cancel every order, or those of --symbol and --account\n";

static const char first_words[] = "buy, sell, oco, amend or cancel comes first, as: order buy BTCUSDT 0.01";

/* "order 9 PENDING", and a line for each further order of its group. */
static void print_orders(const json_t *result)
{
    const char *state = json_string_value(json_object_get(result, "state"));
    json_int_t first = json_integer_value(json_object_get(result, "order"));
    const json_t *more = json_object_get(result, "orders"), *id;
    size_t i;

    printf("order %lld", (long long)first);
    if (state) {
        putchar(' ');
        text_print(stdout, state);
    }
    puts(json_is_true(json_object_get(result, "repeated")) ? " (given before)" : "");
    json_array_foreach(more, i, id) if (json_integer_value(id) != first)
        printf("order %lld\n", (long long)json_integer_value(id));
}

static void print_changed(const json_t *result, const char *word)
{
    const json_t *list = json_object_get(result, "canceled"), *id;
    size_t i;

    if (!list) {
        printf("%s %lld%s\n", word, (long long)json_integer_value(json_object_get(result, "order")),
               json_is_true(json_object_get(result, "repeated")) ? " (done before)" : "");
        return;
    }
    json_array_foreach(list, i, id) printf("%s %lld\n", word, (long long)json_integer_value(id));
    if (json_array_size(list) == 0)
        puts("nothing to cancel");
}

/* Sends what the line came to, and prints the answer; `changed` is the word for it, NULL for new orders. */
static int send(const char *cmd, json_t *args, const char *words, const struct order_wish *wish,
                const char *changed)
{
    json_t *result;

    if (!args)
        return ask_usage("order", words);
    int r = ask_daemon("order", wish->state, cmd, args, &result);
    if (r != EXIT_OK)
        return r;
    if (changed)
        print_changed(result, changed);
    else
        print_orders(result);
    json_decref(result);
    return EXIT_OK;
}

static int place(const char *side, char **words, int n, const struct order_wish *wish)
{
    const char *why = NULL;

    if (n != 2)
        return ask_usage("order", "buy and sell need a symbol and a quantity, as: order buy BTCUSDT 0.01");
    json_t *args = order_args_single(side, words[0], words[1], wish, &why);
    return send("order", args, why, wish, NULL);
}

static int place_oco(char **words, int n, const struct order_wish *wish)
{
    const char *why = NULL;

    if (n != 3 || (strcmp(words[0], "buy") != 0 && strcmp(words[0], "sell") != 0))
        return ask_usage("order",
                         "oco needs a side, a symbol and a quantity, as: order oco sell BTCUSDT 0.01 "
                         "--take-profit 62000 --stop 60000");
    json_t *args = order_args_oco(words[0], words[1], words[2], wish, &why);
    return send("order", args, why, wish, NULL);
}

static int change(const char *what, char **words, int n, const struct order_wish *wish)
{
    const char *why = NULL, *name = n > 0 ? words[0] : NULL;
    bool cancels = strcmp(what, "cancel") == 0;

    if (n > 1)
        return ask_usage("order", cancels ? "cancel takes one order, as: order cancel 7"
                                          : "amend takes one order, as: order amend 7 --limit 61000.5");
    json_t *args = cancels ? order_args_cancel(name, wish, &why) : order_args_amend(name, wish, &why);
    return send(what, args, why, wish, cancels ? "canceled" : "amended");
}

/* A negative number, which getopt takes for an option. */
static int negative(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "cancel") == 0 || strcmp(argv[i], "amend") == 0)
            return ask_usage("order", "an order's number is above 0, as: order cancel 7");
    return ask_usage("order", "the quantity must be a decimal number above 0, as 0.01");
}

static int run_line(int argc, char **argv)
{
    struct order_wish wish = {0};
    const struct {
        const char *name;
        const char **text; /* or … */
        bool *flag;
    } fields[] = {
        {"state", &wish.state, NULL},
        {"account", &wish.account, NULL},
        {"symbol", &wish.symbol, NULL},
        {"client-id", &wish.client_id, NULL},
        {"key", &wish.key, NULL},
        {"type", &wish.type, NULL},
        {"tif", &wish.tif, NULL},
        {"expire", &wish.expire, NULL},
        {"qty", &wish.qty, NULL},
        {"limit", &wish.limit, NULL},
        {"stop", &wish.stop, NULL},
        {"stop-limit", &wish.stop_limit, NULL},
        {"take-profit", &wish.take_profit, NULL},
        {"take-profit-stop", &wish.take_profit_stop, NULL},
        {"trail", &wish.trail, NULL},
        {"bracket-take-profit", &wish.bracket_take_profit, NULL},
        {"bracket-take-profit-stop", &wish.bracket_take_profit_stop, NULL},
        {"bracket-stop", &wish.bracket_stop, NULL},
        {"bracket-stop-limit", &wish.bracket_stop_limit, NULL},
        {"bracket-trail", &wish.bracket_trail, NULL},
        {"post-only", NULL, &wish.post_only},
        {"reduce-only", NULL, &wish.reduce_only},
        {"all", NULL, &wish.all},
    };
    enum { FIELDS = sizeof fields / sizeof *fields, FIRST_FIELD = 0x100 };
    struct option options[FIELDS + 2] = {[FIELDS] = {"help", no_argument, NULL, 'h'}};
    int option;

    for (int i = 0; i < FIELDS; i++)
        options[i] = (struct option){fields[i].name, fields[i].text ? required_argument : no_argument, NULL,
                                     FIRST_FIELD + i};
    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (option < FIRST_FIELD && (optopt == '.' || (optopt >= '0' && optopt <= '9')))
            return negative(argc, argv);
        if (option < FIRST_FIELD)
            return ask_wrong_option("order", argv, option);
        if (fields[option - FIRST_FIELD].text)
            *fields[option - FIRST_FIELD].text = optarg;
        else
            *fields[option - FIRST_FIELD].flag = true;
    }
    const char *what = optind < argc ? argv[optind] : "";
    char **words = argv + optind + 1;
    int n = argc - optind - 1;
    if (strcmp(what, "buy") == 0 || strcmp(what, "sell") == 0)
        return place(what, words, n, &wish);
    if (strcmp(what, "oco") == 0)
        return place_oco(words, n, &wish);
    if (strcmp(what, "amend") == 0 || strcmp(what, "cancel") == 0)
        return change(what, words, n, &wish);
    return ask_usage("order", first_words);
}

const struct option_verb cli_order = {
    .name = "order", .words = "paper orders by hand: buy, sell, oco, amend, cancel", .run = run_line};
