#include "tui/command/backtest.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/bars_file.h"
#include "tui/command/ask.h"
#include "tui/command/backtest_run.h"
#include "tui/command/stored.h"
#include "tui/command/strategies.h"
#include "tui/dashboard.h"
#include "tui/text.h"

static const char help[] =
    "Usage: papertape backtest --events LOG [--from T] [--to T] [--json]\n"
    "                          [--ledger F] [--trades F] [--orders F] [--equity F]\n"
    "       papertape backtest --list-strategies [--json]\n"
    "\n"
    "Plays a recorded event log through the engine again, at full speed. Strategies, accounts and limits "
    "are\n"
    "those of the log; the same events give the same ledger, row by row. The database is not read.\n"
    "\n"
    "  --events LOG  a daemon's state directory, a log's directory, or one segment of it\n"
    "  --from T      begin at the newest state of the log that is not after T; default: at the oldest\n"
    "  --to T        end before the first event after T\n"
    "  --ledger F    the ledger's rows as CSV, as papertape ledger export prints them\n"
    "  --trades F    the fills, as papertape fills --csv\n"
    "  --orders F    the orders as they are at the end, as papertape orders --csv\n"
    "  --equity F    the points of the equity curve: ts_ns,account,equity,cash,peak\n"
    "  --json        papertape.backtest/1, or papertape.strategies/1\n"
    "  --list-strategies\n"
    "                what strategies there are, with their parameters: what each is, by default, and its "
    "range\n"
    "  --state DIR   accepted as by every verb; not used\n"
    "\n"
    "T is ISO 8601 (UTC without a zone), or epoch in s, ms, us or ns.\n";

enum output { OUTPUT_LEDGER, OUTPUT_TRADES, OUTPUT_ORDERS, OUTPUT_EQUITY, OUTPUTS };
enum { OPTION_LATER = 'x', HASH_TEXT = 2 * LEDGER_HASH_SIZE + 1 };

struct request {
    const char *events, *from, *to;
    const char *paths[OUTPUTS];
    FILE *files[OUTPUTS];
    bool json, list, done;
};

static int fail(int status, const char *what, const char *words)
{
    return stored_fail(status, "backtest", what, words);
}

static bool has_outputs(const struct request *request)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (request->paths[i])
            return true;
    return false;
}

static int parse(int argc, char **argv, struct request *request)
{
    static const struct option options[] = {
        {"events", required_argument, NULL, 'e'},
        {"from", required_argument, NULL, 'f'},
        {"to", required_argument, NULL, 't'},
        {"ledger", required_argument, NULL, 'L'},
        {"trades", required_argument, NULL, 'T'},
        {"orders", required_argument, NULL, 'O'},
        {"equity", required_argument, NULL, 'E'},
        {"json", no_argument, NULL, 'j'},
        {"state", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {"strategy", required_argument, NULL, OPTION_LATER},
        {"bars", required_argument, NULL, OPTION_LATER},
        {"set", required_argument, NULL, OPTION_LATER},
        {"cash", required_argument, NULL, OPTION_LATER},
        {"fee-maker", required_argument, NULL, OPTION_LATER},
        {"fee-taker", required_argument, NULL, OPTION_LATER},
        {"slippage", required_argument, NULL, OPTION_LATER},
        {"policy", required_argument, NULL, OPTION_LATER},
        {"list-strategies", no_argument, NULL, 'l'},
        {NULL, 0, NULL, 0},
    };
    int option, index;
    char name[32];
    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, (index = -1, &index))) != -1) {
        switch (option) {
        case 'e':
            request->events = optarg;
            break;
        case 'f':
            request->from = optarg;
            break;
        case 't':
            request->to = optarg;
            break;
        case 'L':
            request->paths[OUTPUT_LEDGER] = optarg;
            break;
        case 'T':
            request->paths[OUTPUT_TRADES] = optarg;
            break;
        case 'O':
            request->paths[OUTPUT_ORDERS] = optarg;
            break;
        case 'E':
            request->paths[OUTPUT_EQUITY] = optarg;
            break;
        case 'j':
            request->json = true;
            break;
        case 'l':
            request->list = true;
            break;
        case 's':
            break;
        case OPTION_LATER:
            snprintf(name, sizeof name, "--%s", options[index].name);
            return fail(EXIT_USAGE, name,
                        "this version plays recorded logs only, with the strategies in them: --events LOG");
        case 'h':
            fputs(help, stdout);
            request->done = true;
            return EXIT_OK;
        default:
            return ask_wrong_option("backtest", argv, option);
        }
    }
    if (optind < argc)
        return fail(EXIT_USAGE, argv[optind], "no argument is expected: --events LOG");
    if (request->list && (request->events || request->from || request->to || has_outputs(request)))
        return fail(EXIT_USAGE, "--list-strategies", "takes --json only");
    if (!request->events && !request->list)
        return fail(EXIT_USAGE, "",
                    "--events LOG is needed: a state directory, a log's directory or a segment");
    return EXIT_OK;
}

static int parse_time(const char *option, const char *text, int64_t *ret_ns)
{
    if (!text || (bars_time_parse(text, strlen(text), ret_ns) == 0 && *ret_ns > 0))
        return EXIT_OK;
    char what[96];
    snprintf(what, sizeof what, "%s: \"%.64s\"", option, text);
    return fail(EXIT_USAGE, what, "a time as 2024-08-08, 2024-08-08T14:02:00Z or 1723125720 is needed");
}

static int open_files(struct request *request)
{
    for (int i = 0; i < OUTPUTS; i++) {
        if (!request->paths[i])
            continue;
        request->files[i] = fopen(request->paths[i], "we");
        if (!request->files[i])
            return fail(EXIT_ERROR, request->paths[i], strerror(errno));
    }
    return EXIT_OK;
}

static int close_files(struct request *request)
{
    int status = EXIT_OK;
    for (int i = 0; i < OUTPUTS; i++) {
        if (!request->files[i])
            continue;
        bool failed = ferror(request->files[i]) != 0;
        errno = 0;
        failed |= fclose(request->files[i]) != 0;
        request->files[i] = NULL;
        if (failed)
            status =
                fail(EXIT_ERROR, request->paths[i], errno ? strerror(errno) : "not all of it was written");
    }
    return status;
}

static const char *hash_text(const uint8_t hash[static LEDGER_HASH_SIZE], char text[static HASH_TEXT])
{
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    return text;
}

static double rate(const struct backtest_result *result)
{
    return result->seconds > 0 ? (double)result->events / result->seconds : 0;
}

static json_t *time_or_null(int64_t ns)
{
    return ns ? json_integer(ns) : json_null();
}

static int print_json(const char *log, const struct backtest_result *result)
{
    char hash[HASH_TEXT];
    json_t *accounts = json_array();
    for (int a = 0; a < engine_accounts(result->engine); a++) {
        const struct account *account = engine_account(result->engine, a);
        int scale = account->currency_scale;
        json_array_append_new(accounts, json_pack("{s:s, s:s, s:o, s:o, s:o}", "account", account->name,
                                                  "currency", account->currency, "equity",
                                                  stored_number(engine_equity(result->engine, a), scale),
                                                  "equity_peak", stored_number(account->equity_peak, scale),
                                                  "deposits", stored_number(account->deposits, scale)));
    }
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:f, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:s, s:o}",
        "schema", "papertape.backtest/1", "log", log, "events", (json_int_t)result->events, "seconds",
        result->seconds, "events_per_s", result->seconds > 0 ? json_real(rate(result)) : json_null(), "runs",
        (json_int_t)result->runs, "events_missing", (json_int_t)result->holes, "first_seq",
        (json_int_t)result->first_seq, "last_seq", (json_int_t)result->last_seq, "first_ns",
        time_or_null(result->first_ns), "last_ns", time_or_null(result->last_ns), "orders",
        (json_int_t)result->orders, "rejected", (json_int_t)result->rejected, "fills",
        (json_int_t)result->fills, "ledger_rows", (json_int_t)result->ledger_rows, "ledger_rows_before",
        (json_int_t)result->before.last_ledger, "ledger_hash", hash_text(result->after.hash, hash),
        "accounts", accounts);
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(object);
    if (!text)
        return fail(EXIT_ERROR, "", "out of memory");
    puts(text);
    free(text);
    return EXIT_OK;
}

static void print_text(const struct backtest_result *result)
{
    char hash[HASH_TEXT], from[STORED_CELL], to[STORED_CELL];
    printf("events  %" PRIu64 " in %.3f s: %.0f events/s\n", result->events, result->seconds, rate(result));
    if (result->events > 0)
        printf("        %" PRIu64 " to %" PRIu64 ", %s to %s\n", result->first_seq, result->last_seq,
               stored_time(STORED_TABLE, from, result->first_ns),
               stored_time(STORED_TABLE, to, result->last_ns));
    printf("runs    %" PRIu64 "\n", result->runs);
    if (result->holes > 0)
        printf("missing %" PRIu64 " events that were never recorded\n", result->holes);
    printf("orders  %" PRIu64 ", %" PRIu64 " rejected\nfills   %" PRIu64 "\nledger  %" PRIu64
           " rows\nhash    %s\n",
           result->orders, result->rejected, result->fills, result->ledger_rows,
           hash_text(result->after.hash, hash));
    for (int a = 0; a < engine_accounts(result->engine); a++) {
        const struct account *account = engine_account(result->engine, a);
        char name[ACCOUNT_NAME_MAX], currency[ASSET_NAME_MAX], equity[STORED_CELL];
        text_clean(name, sizeof name, account->name);
        text_clean(currency, sizeof currency, account->currency);
        printf("equity  %-10s %24s %s\n", name,
               stored_decimal(STORED_CSV, equity, engine_equity(result->engine, a), account->currency_scale),
               currency);
    }
}

/* What the log cannot tell, since it begins later. */
static void note_before(const struct request *request, const struct engine_ids *before)
{
    if (request->paths[OUTPUT_LEDGER] && before->last_ledger > 0)
        fprintf(stderr,
                "papertape: backtest: %s: begins with row %" PRIu64 ": the %" PRIu64
                " before are from before the state that it begins with\n",
                request->paths[OUTPUT_LEDGER], before->last_ledger + 1, before->last_ledger);
    if (request->paths[OUTPUT_TRADES] && before->last_fill > 0)
        fprintf(stderr,
                "papertape: backtest: %s: begins with fill %" PRIu64 ": the %" PRIu64
                " before are from before the state that it begins with\n",
                request->paths[OUTPUT_TRADES], before->last_fill + 1, before->last_fill);
    if (request->paths[OUTPUT_ORDERS] && before->last_order > 0)
        fprintf(stderr,
                "papertape: backtest: %s: of the %" PRIu64
                " orders from before the state that it begins with, it has those that were still alive\n",
                request->paths[OUTPUT_ORDERS], before->last_order);
}

static int run(struct request *request)
{
    char log[STATE_PATH_MAX], err[JOURNAL_ERROR_MAX] = "";
    struct backtest_options options = {.log = log, .progress = isatty(STDERR_FILENO) == 1};
    struct backtest_result result;
    int status = parse_time("--from", request->from, &options.from_ns);
    if (status == EXIT_OK)
        status = parse_time("--to", request->to, &options.to_ns);
    if (status == EXIT_OK && request->to && request->from && options.to_ns <= options.from_ns)
        status = fail(EXIT_USAGE, "--to", "it must be later than --from");
    if (status == EXIT_OK)
        status = stored_find_log("backtest", request->events, log);
    if (status == EXIT_OK)
        status = open_files(request);
    if (status != EXIT_OK)
        return status;
    options.ledger = request->files[OUTPUT_LEDGER];
    options.trades = request->files[OUTPUT_TRADES];
    options.orders = request->files[OUTPUT_ORDERS];
    options.equity = request->files[OUTPUT_EQUITY];
    if (backtest_run(&options, &result, err, sizeof err) < 0)
        return fail(EXIT_ERROR, "", err);
    bool nothing = result.events == 0 && (request->from || request->to);
    if (nothing || (request->from && result.last_ns < options.from_ns)) {
        engine_destroy(result.engine);
        return fail(EXIT_ERROR, log, "no event is from that time: papertape events list says what it holds");
    }
    status = close_files(request);
    if (status == EXIT_OK) {
        note_before(request, &result.before);
        if (request->json)
            status = print_json(log, &result);
        else
            print_text(&result);
    }
    engine_destroy(result.engine);
    return status;
}

int command_backtest(int argc, char **argv)
{
    struct request request = {0};
    int status = parse(argc, argv, &request);
    if (status != EXIT_OK || request.done)
        return status;
    if (request.list)
        return strategies_list(request.json);
    status = run(&request);
    if (status == EXIT_OK)
        return status;
    for (int i = 0; i < OUTPUTS; i++)
        if (request.files[i])
            fclose(request.files[i]);
    return status;
}
