#include "tui/command/order.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "tui/command/ask.h"
#include "tui/dashboard.h"
#include "tui/text.h"

static const char help[] =
    "Usage: papertape order buy|sell SYMBOL QTY [--limit P] [--stop P] [--account A] [--state DIR]\n"
    "       papertape order cancel ID [--state DIR]\n"
    "\n"
    "A paper order by hand. Without --limit or --stop it is a market order. Exit status 0\n"
    "once the daemon has accepted and committed it, 1 when it was refused, with the reason.\n"
    "\n"
    "  --limit P    a limit order at price P\n"
    "  --stop P     a stop order: a market order once the price reaches P\n"
    "  --account A  the account, where there are several\n";

static const char qty_words[] = "the quantity must be a decimal number above 0, as 0.01";
static const char cancel_words[] = "cancel needs the order's number, as: order cancel 7";

struct wish {
    const char *state, *limit, *stop, *account;
};

static bool is_decimal(const char *text)
{
    int128_t units;

    return decimal_parse128(text, strlen(text), DECIMAL_SCALE_MAX, &units) == 0 && units > 0;
}

static int accepted(const json_t *result, const char *word)
{
    const char *state = json_string_value(json_object_get(result, "state"));

    printf("%s %lld", word, (long long)json_integer_value(json_object_get(result, "order")));
    if (state) {
        putchar(' ');
        text_print(stdout, state);
    }
    putchar('\n');
    return EXIT_OK;
}

static int place(const char *side, char **words, int n, const struct wish *wish)
{
    json_t *result;

    if (n != 2)
        return ask_usage("order", "buy and sell need a symbol and a quantity, as: order buy BTCUSDT 0.01");
    if (!is_decimal(words[1]))
        return ask_usage("order", qty_words);
    if ((wish->limit && !is_decimal(wish->limit)) || (wish->stop && !is_decimal(wish->stop)))
        return ask_usage("order", "--limit and --stop need a decimal number above 0, as 61000.5");
    if (wish->limit && wish->stop)
        return ask_usage("order", "--limit, --stop: one of them; stop-limit orders are not offered");
    json_t *args = json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s*}", "side", side, "symbol", words[0], "qty",
                             words[1], "limit", wish->limit, "stop", wish->stop, "account", wish->account);
    if (!args)
        return ask_usage("order", "the symbol and the account must be UTF-8");
    int r = ask_daemon("order", wish->state, "order", args, &result);
    if (r != EXIT_OK)
        return r;
    r = accepted(result, "order");
    json_decref(result);
    return r;
}

static int cancel(char **words, int n, const struct wish *wish)
{
    json_t *result;
    char *end = NULL;

    errno = 0;
    long long id = n == 1 ? strtoll(words[0], &end, 10) : 0;
    if (n != 1 || errno || *end || id < 1)
        return ask_usage("order", cancel_words);
    int r = ask_daemon("order", wish->state, "cancel", json_pack("{s:I}", "order", (json_int_t)id), &result);
    if (r != EXIT_OK)
        return r;
    r = accepted(result, "canceled");
    json_decref(result);
    return r;
}

/* A negative number, which getopt takes for an option. */
static int negative(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "cancel") == 0)
            return ask_usage("order", cancel_words);
    return ask_usage("order", qty_words);
}

int command_order(int argc, char **argv)
{
    static const struct option options[] = {
        {"state", required_argument, NULL, 's'}, {"limit", required_argument, NULL, 'l'},
        {"stop", required_argument, NULL, 't'},  {"account", required_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    struct wish wish = {0};
    int option;

    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (option) {
        case 's':
            wish.state = optarg;
            break;
        case 'l':
            wish.limit = optarg;
            break;
        case 't':
            wish.stop = optarg;
            break;
        case 'a':
            wish.account = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_OK;
        default:
            if (optopt == '.' || (optopt >= '0' && optopt <= '9'))
                return negative(argc, argv);
            return ask_wrong_option("order", argv, option);
        }
    }
    const char *what = optind < argc ? argv[optind] : "";
    char **words = argv + optind + 1;
    int n = argc - optind - 1;
    if (strcmp(what, "buy") == 0 || strcmp(what, "sell") == 0)
        return place(what, words, n, &wish);
    if (strcmp(what, "cancel") == 0)
        return cancel(words, n, &wish);
    return ask_usage("order", "buy, sell or cancel comes first, as: order buy BTCUSDT 0.01");
}
