#include "cli/verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/account_args.h"
#include "cli/account_list.h"
#include "cli/ask.h"
#include "exchange/exit_status.h"

static const char help[] =
    "Usage: papertape account list [--csv|--json] [--state DIR]\n"
    "       papertape account create NAME --currency C --cash X [--strategy S [--set k=v]…] [OPTION…]\n"
    "       papertape account deposit|withdraw NAME AMOUNT [--key K]\n"
    "       papertape account transfer FROM TO AMOUNT [--key K]\n"
    "       papertape account reset NAME [--cash X] [--key K]\n"
    "       papertape account resume NAME [--key K]\n"
    "\n"
    "Paper accounts. Exit status 0 once the daemon has accepted and committed it, 1 when it was refused,\n"
    "with the reason. reset cancels its orders, closes the books on what it holds and deposits anew; the\n"
    "past stays in the ledger. resume lets an account that its drawdown killed trade again; its highest\n"
    "equity begins anew.\n"
    "\n"
    "  --key K                       given again with the same key, nothing is done twice\n"
    "  --currency C, --cash X        what the new account is counted in, and its first deposit\n"
    "  --strategy S, --set k=v       who trades on it, with which parameters; without: orders by hand only\n"
    "  --fee-maker F, --fee-taker F  of the notional of a fill: 0.001 or 0.1%\n"
    "  --fees TIER                   instead: a tier of the venue, as papertape fees lists them\n"
    "  --shorts                      it may sell what it does not hold\n"
    "  --collateral X%               of a short's value, to open it (150%)\n"
    "  --maintenance X%              below which it is bought back (125%)\n"
    "  --borrow-rate X%              a year, on what is borrowed\n"
    "  --risk-exposure-symbol X%, --risk-exposure-account X%\n"
    "                                most of equity in one symbol, and in all together; 0: no limit\n"
    "  --risk-daily-loss X%          of the day's first equity; 0: off\n"
    "  --risk-orders-per-second N    at most 64; 0: no limit\n"
    "  --risk-drawdown X%            of its highest equity; once lost it is closed and killed; 0: off\n"
    "  --risk-price-band X%          how far an opening order's price may be from the last; 0: off\n"
    "  --risk-cooldown S             seconds after a position was closed; 0: off\n"
    "  --risk-positions N            most symbols held or being entered; 0: no limit\n"
    "\n"
    "What is left out of create is as the configuration has it by default.\n";

static void print_done(const char *verb, char **words, const json_t *result)
{
    if (strcmp(verb, "create") == 0)
        printf("created %s", words[0]);
    else if (strcmp(verb, "reset") == 0)
        printf("reset %s", words[0]);
    else if (strcmp(verb, "resume") == 0)
        printf("resumed %s", words[0]);
    else if (strcmp(verb, "deposit") == 0)
        printf("deposited %s into %s", words[1], words[0]);
    else if (strcmp(verb, "withdraw") == 0)
        printf("withdrew %s from %s", words[1], words[0]);
    else
        printf("transferred %s from %s to %s", words[2], words[0], words[1]);
    puts(json_is_true(json_object_get(result, "repeated")) ? " (done before)" : "");
}

static int change(const char *verb, char **words, int n, const struct account_wish *wish)
{
    const char *cmd = NULL, *why = NULL;
    json_t *result, *args = account_args(verb, words, n, wish, &cmd, &why);

    if (!args)
        return ask_usage("account", why);
    int r = ask_daemon("account", wish->state, cmd, args, &result);
    if (r != EXIT_OK)
        return r;
    print_done(verb, words, result); /* words of a name's characters only: nothing that steers a terminal */
    json_decref(result);
    return EXIT_OK;
}

/* "cooldown_s" as "risk-cooldown": the unit is in the help. */
static void limit_option(const char *name, char *ret, size_t size)
{
    size_t n = strlen(name);
    snprintf(ret, size, "risk-%.*s", (int)(n > 2 && strcmp(name + n - 2, "_s") == 0 ? n - 2 : n), name);
    for (char *c = ret; *c; c++)
        *c = *c == '_' ? '-' : *c;
}

static int run_line(int argc, char **argv)
{
    struct account_wish wish = {0};
    const struct {
        const char *name;
        const char **text;
    } fields[] = {
        {"state", &wish.state},
        {"key", &wish.key},
        {"currency", &wish.currency},
        {"cash", &wish.cash},
        {"strategy", &wish.strategy},
        {"fees", &wish.fees},
        {"fee-maker", &wish.fee_maker},
        {"fee-taker", &wish.fee_taker},
        {"collateral", &wish.collateral},
        {"maintenance", &wish.maintenance},
        {"borrow-rate", &wish.borrow_rate},
    };
    enum { FIELDS = sizeof fields / sizeof *fields, ALL = FIELDS + RISK_KEYS_N, FIRST_FIELD = 0x100 };
    char limits[RISK_KEYS_N][32];
    struct option options[ALL + 4] = {
        [ALL] = {"help", no_argument, NULL, 'h'},
        [ALL + 1] = {"set", required_argument, NULL, 'p'},
        [ALL + 2] = {"shorts", no_argument, NULL, 'x'},
    };
    int option;

    if (argc > 1 && strcmp(argv[1], "list") == 0)
        return cli_account_list(argc, argv, help);
    for (int i = 0; i < FIELDS; i++)
        options[i] = (struct option){fields[i].name, required_argument, NULL, FIRST_FIELD + i};
    for (int i = 0; i < RISK_KEYS_N; i++) {
        limit_option(risk_keys[i].name, limits[i], sizeof limits[i]);
        options[FIELDS + i] = (struct option){limits[i], required_argument, NULL, FIRST_FIELD + FIELDS + i};
    }
    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option >= FIRST_FIELD + FIELDS) {
            wish.risk[option - FIRST_FIELD - FIELDS] = optarg;
        } else if (option >= FIRST_FIELD) {
            *fields[option - FIRST_FIELD].text = optarg;
        } else if (option == 'x') {
            wish.shorts = true;
        } else if (option == 'p' && wish.n_params < STRATEGY_PARAMS_MAX) {
            wish.params[wish.n_params++] = optarg;
        } else if (option == 'p') {
            return ask_usage("account", "--set: no strategy has so many parameters");
        } else if (option == 'h') {
            fputs(help, stdout);
            return EXIT_OK;
        } else if (optopt == '.' || (optopt >= '0' && optopt <= '9')) {
            return ask_usage("account",
                             "an amount must be a decimal number above 0, as 500; to take, withdraw");
        } else {
            return ask_wrong_option("account", argv, option);
        }
    }
    const char *verb = optind < argc ? argv[optind] : "";
    return change(verb, argv + optind + 1, optind < argc ? argc - optind - 1 : 0, &wish);
}

const struct option_verb cli_account = {
    .name = "account",
    .words = "accounts: list, create, deposit, withdraw, transfer, reset, resume",
    .run = run_line};
