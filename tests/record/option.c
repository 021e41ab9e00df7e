/* Command lines by rows: what is parsed, what is refused and in which words, help, pages and completion. */
#include "record/option.h"

#include "exchange/exit_status.h"
#include "record/config_key.h"
#include "tests/check.h"

struct given {
    const char *limit, *venue, *tif, *type;
    bool flag;
    int sets;
    int64_t most, rate;
};

static struct given last;
static struct option_call last_call;
static char last_arguments[256], err[OPTION_ERROR_MAX];

static int keep(struct option_call *call)
{
    if (call->into)
        last = *(struct given *)call->into;
    last_call = *call;
    last_arguments[0] = '\0';
    for (int i = 0; i < call->n; i++) {
        strcat(last_arguments, i ? " " : "");
        strcat(last_arguments, call->arguments[i]);
    }
    return EXIT_OK;
}

static int count(struct option_call *call, const struct option_row *row, const char *value)
{
    struct given *given = call->into;
    (void)row;
    given->sets += value != NULL;
    return strcmp(value, "bad") == 0
               ? option_fail(call, EXIT_USAGE, "--set: \"%s\": key=value is needed", value)
               : EXIT_OK;
}

static const struct config_key rate = {
    NULL, "rate", "a share", "0.001", KEY_RATE(0, 0.1, 6), KEY_AT(struct given, rate)};
static const struct option_row options[] = {
    {"limit", "P", "at P. Or better; twice", offsetof(struct given, limit), .letter = 'l'},
    {"venue", "V", "whose", offsetof(struct given, venue), .of = "add cut"},
    {"tif", "gtc|ioc", "how long", offsetof(struct given, tif)},
    {NULL, NULL, "Further"},
    {"flag", NULL, "a flag", offsetof(struct given, flag)},
    {"most", "N", "how many", offsetof(struct given, most), .low = -2, .high = 9, .without = "set rate"},
    {"set", "K=V", "a parameter", .take = count},
    {"rate", "R", .key = &rate, .only = "flag most"},
    {"type", "market|limit|stop|stop-limit|take-profit|take-profit-limit|trailing-stop",
     "longer than a line's part", offsetof(struct given, type), .of = "stop"},
    {"symbols", "SYMBOL[,SYMBOL...]", "several", offsetof(struct given, type), .of = "stop"},
    {"a_b", "SYMBOL", "with an underscore", offsetof(struct given, type), .of = "stop"},
    {"until", "T", "the end", offsetof(struct given, type), .of = "cut", .with = "flag"},
};
static const struct option_action some_actions[] = {
    {"list", NULL, "all of them", OPTION_LISTS, .run = keep, .need = OPTION_NEEDS_EITHER},
    {"add", "SYMBOL", "one more", "SOLUSDT", .run = keep},
    {"stop|resume", "SYMBOL FILE... ", "either", .run = keep},
    {"cut", "[SYMBOL]", "needs several", "X --set a=1", .needed = "*|flag venue,tif,limit", .run = keep},
};
static const struct option_action one_action[] = {{NULL, "[SYMBOL]", OPTION_LISTS, .run = keep}};
static const struct option_refusal refused[] = {{"stars", "there are none by day"}};
static const struct option_verb symbol = {"symbol",
                                          "what is streamed",
                                          "About symbols.\nTwice.",
                                          "1 also: a fault",
                                          "market",
                                          some_actions,
                                          4,
                                          options,
                                          sizeof options / sizeof *options,
                                          OPTION_REFUSED(refused),
                                          .size = sizeof(struct given)};
static const struct option_verb fills = {"fills", "every fill", "About fills.", NULL, "market", one_action,
                                         1};
static const struct option_verb *const verbs[] = {&fills, &symbol};
static const struct option_row globals[] = {
    {"state", "DIR", "where", offsetof(struct option_call, state)},
    {"json", NULL, "one object", offsetof(struct option_call, json)},
    {"csv", NULL, "rows", offsetof(struct option_call, csv), .without = "json"},
    {"help", NULL, "this text", offsetof(struct option_call, help), .letter = 'h'},
};

static void say(const char *line)
{
    snprintf(err, sizeof err, "%s", line);
}

static void names(const char *kind, const struct option_call *call, void *ctx,
                  void (*offer)(void *, const char *))
{
    if (strcmp(kind, "SYMBOL") == 0) {
        offer(ctx, "BTCUSDT");
        offer(ctx, call->state ? call->state : "ETHUSDT");
    }
    if (strcmp(kind, "K") == 0) {
        offer(ctx, "fast");
        offer(ctx, call->n > 0 ? call->arguments[0] : "slow");
    }
}

static const struct option_program program = {"prog", "1", "About.", NULL, verbs, 2, globals, 4, say, names};

static int run(const char *line)
{
    static char copy[256], *argv[32];
    int argc = 0;

    snprintf(copy, sizeof copy, "prog %s", line);
    for (char *next = copy, *word; (word = strsep(&next, " "));)
        if (*word)
            argv[argc++] = word;
    argv[argc] = NULL;
    err[0] = '\0';
    memset(&last, 0, sizeof last);
    return option_main(&program, argc, argv);
}

static void check_taken(void)
{
    CHECK_INT(run("symbol add SOL --limit 5 --flag --tif=ioc"), EXIT_OK);
    CHECK_STR(last.limit, "5");
    CHECK_STR(last.tif, "ioc");
    CHECK(last.flag && last_call.action == &some_actions[1]);
    CHECK_STR(last_arguments, "SOL");
    CHECK_INT(run("--json --state d symbol --limit 5 resume A b c"), EXIT_OK); /* global ones first */
    CHECK(last_call.json && strcmp(last_call.state, "d") == 0);
    CHECK_STR(last_call.word, "resume");
    CHECK_STR(last_arguments, "A b c");
    CHECK_INT(run("symbol add A --most -2"), EXIT_OK);
    CHECK_INT(last.most, -2);
    CHECK_INT(run("symbol add -l7 --set a=1 --set b=2 -- --x"), EXIT_OK);
    CHECK_STR(last.limit, "7");
    CHECK_INT(last.sets, 2);
    CHECK_STR(last_arguments, "--x");
    CHECK_INT(run("symbol add A --rate 0.5%"), EXIT_OK); /* as the key is read */
    CHECK_INT(last.rate, 5000);
    CHECK_INT(run("symbol add A --rate 1% --flag --json"), EXIT_OK);
    CHECK_INT(run("symbol add -5"), EXIT_OK); /* a number is a word */
    CHECK_STR(last_arguments, "-5");
    CHECK_INT(run("symbol"), EXIT_OK); /* bare is list */
    CHECK_STR(last_call.action->name, "list");
    CHECK_INT(run("fills list BTC --csv"), EXIT_OK);
    CHECK_STR(last_arguments, "BTC");
    CHECK(last_call.csv);
    CHECK_INT(run("fills"), EXIT_OK);
    CHECK_STR(last_arguments, "");
}

static void check_refused(const char *line, const char *words)
{
    CHECK_INT(run(line), EXIT_USAGE);
    CHECK_STR(err, words);
}

static void check_refusals(void)
{
    check_refused("", "prog: a verb is needed: --help lists them");
    check_refused("--stat d symbol", "prog: --stat: unknown option: did you mean --state? see prog --help");
    check_refused("--moon d symbol", "prog: --moon: unknown option: see prog --help");
    check_refused("fils", "prog: fils: not a verb: did you mean fills? --help lists them");
    check_refused("xyzzy", "prog: xyzzy: not a verb: --help lists them");
    check_refused("fills a b",
                  "prog: fills: b: one argument too many: [SYMBOL] is right: see prog fills --help");
    check_refused("symbol add",
                  "prog: symbol: add SYMBOL is needed, as: symbol add SOLUSDT: see prog symbol --help");
    check_refused("completion",
                  "prog: completion: SHELL is needed, as: completion bash: see prog completion --help");
    check_refused("completion moon", "prog: completion: \"moon\": bash, zsh or fish is needed");
    check_refused("symbol list x", "prog: symbol: x: no argument is expected: see prog symbol --help");
    check_refused("symbol lst", "prog: symbol: lst: unknown: did you mean list? see prog symbol --help");
    check_refused("symbol moon", "prog: symbol: moon: unknown: one of list, add, stop/resume, cut is "
                                 "expected: see prog symbol --help");
    check_refused("symbol add A --limt 3",
                  "prog: symbol: --limt: unknown option: did you mean --limit? see prog symbol --help");
    check_refused("symbol add A --venu V",
                  "prog: symbol: --venu: unknown option: did you mean --venue? see prog symbol --help");
    check_refused("symbol add A --ven=V",
                  "prog: symbol: --ven=V: unknown option: did you mean --venue? see prog symbol --help");
    check_refused("symbol add A --v V",
                  "prog: symbol: --v: unknown option: did you mean --venue? see prog symbol --help");
    check_refused("symbol list --stars",
                  "prog: symbol: --stars: there are none by day: see prog symbol --help");
    check_refused("symbol list --stars=9",
                  "prog: symbol: --stars: there are none by day: see prog symbol --help");
    check_refused("symbol add A --moon", "prog: symbol: --moon: unknown option: see prog symbol --help");
    check_refused("symbol add A --rate 1", "prog: symbol: --rate: \"1\": a number from 0 to 0.1, or percent, "
                                           "is needed: see prog symbol --help");
    check_refused("symbol add A --limit", "prog: symbol: --limit: needs a value: see prog symbol --help");
    check_refused("symbol add A --limit=", "prog: symbol: --limit: needs a value: see prog symbol --help");
    check_refused("symbol add A --rate 1% --most 3", "prog: symbol: --most: --rate is given too: one of the "
                                                     "two is right: see prog symbol --help");
    check_refused("symbol add A --venue V --rate 1%",
                  "prog: symbol: --venue: not an option with --rate: see prog symbol --help");
    check_refused("fills --csv --json",
                  "prog: fills: --csv: --json is given too: one of the two is right: see prog fills --help");
    check_refused("help fills x", "prog: help: x: one argument too many: [VERB] is right");
    check_refused("symbol add A --flag=1", "prog: symbol: --flag=1: takes no value: see prog symbol --help");
    check_refused("symbol list --venue v",
                  "prog: symbol: --venue: not an option of symbol list: see prog symbol --help");
    check_refused("symbol cut --tif ioc",
                  "prog: symbol: cut SYMBOL or --flag is needed, as: symbol cut X --set a=1: "
                  "see prog symbol --help");
    check_refused("symbol cut X",
                  "prog: symbol: cut --venue V or --tif gtc|ioc or --limit P is needed, as: symbol cut "
                  "X --set a=1: see prog symbol --help");
    check_refused("symbol cut X --flag -l 1", "prog: symbol: one of SYMBOL, --flag is right: see prog "
                                              "symbol --help");
    check_refused("symbol cut X -l 1 --until 3",
                  "prog: symbol: --until: it goes with --flag: see prog symbol --help");
    check_refused("symbol add A --csv",
                  "prog: symbol: --csv: not an option of symbol add: see prog symbol --help");
    check_refused("symbol add A --tif day",
                  "prog: symbol: --tif: \"day\": one of gtc|ioc is needed: see prog symbol --help");
    check_refused(
        "symbol add A --most 10",
        "prog: symbol: --most: \"10\": a whole number from -2 to 9 is needed: see prog symbol --help");
    check_refused(
        "symbol add A --most 1x",
        "prog: symbol: --most: \"1x\": a whole number from -2 to 9 is needed: see prog symbol --help");
    check_refused("symbol add A --set bad", "prog: symbol: --set: \"bad\": key=value is needed");
}

/* What is done without a verb has no name to be refused by. */
static void check_bare(void)
{
    static const struct option_action action[] = {{.run = keep}};
    static const struct option_verb bare = {OPTION_ACTIONS(action)};
    char name[] = "prog", csv[] = "--csv", *argv[] = {name, csv, NULL};

    CHECK_INT(option_run(&program, &bare, 2, argv), EXIT_USAGE);
    CHECK_STR(err, "prog: --csv: not an option without a verb: see prog --help");
}

static char *printed(void (*print)(FILE *out, const char *what), const char *what)
{
    static char text[8192];
    text[0] = '\0';
    FILE *out = fmemopen(text, sizeof text, "w");

    print(out, what);
    fclose(out);
    return text;
}

static void print_help(FILE *out, const char *verb)
{
    option_help(&program, option_find_verb(&program, verb), out);
}

static void print_man(FILE *out, const char *page)
{
    CHECK(option_man(&program, page, out));
}

static void print_candidates(FILE *out, const char *line)
{
    char copy[128], *words[16];
    int n = 0;

    snprintf(copy, sizeof copy, "%s", line);
    for (char *next = copy; next;)
        words[n++] = strsep(&next, " ");
    option_complete(&program, n, words, out);
}

static void check_texts(void)
{
    const char *text = printed(print_help, "symbol");
    CHECK(strstr(text, "Usage: prog symbol list [--limit P] [--tif gtc|ioc] [--flag] [--most N] [--set K=V] "
                       "[--rate R]\n            [--csv|--json]\n"));
    CHECK(strstr(text, "       prog symbol add SYMBOL [--limit P] [--venue V]"));
    CHECK(strstr(
        text,
        "       prog symbol cut {SYMBOL|--flag} {--venue V|--tif gtc|ioc|--limit P} [--most N] [--set K=V]\n"
        "            [--rate R] [--until T]\n"));
    CHECK(strstr(text, "the end; with --flag\n"));
    CHECK(strstr(text, "\n  -l, --limit P  at P. Or better; twice\n"));
    CHECK(strstr(text, "  list         all of them (shows what the database last had"));
    CHECK(strstr(text, "a share; a number from 0 to 0.1, or percent, 0.001 by default\n"));
    CHECK(strstr(text, "\nFurther:\n") && strstr(text, "3 no daemon or no state.\n1 also: a fault\n"));
    text = printed(print_help, "fills");
    CHECK(strstr(text, "Usage: prog fills [SYMBOL] [--csv|--json]\n\nAbout fills.\n"));
    text = printed(print_man, "market");
    CHECK(strstr(text, ".SH SYNOPSIS\n.PP\n.B prog fills [") &&
          strstr(text, ".SH EXAMPLES\n.PP\n.EX\nprog symbol add SOLUSDT\n.EE\n.PP\n.EX\nprog symbol cut X"));
    CHECK(strstr(text, ".TH prog\\-market 1\n") && strstr(text, ".B \\-l, \\-\\-limit P\n"));
    FILE *null = fopen("/dev/null", "w");
    CHECK(!option_man(&program, "moon", null));
    fclose(null);
}

static void check_candidates(const char *line, const char *expected)
{
    CHECK_STR(printed(print_candidates, line), expected);
}

static void check_completion(void)
{
    check_candidates("f", "fills\tevery fill\n");
    check_candidates("symbol a", "add\tone more\n");
    check_candidates("symbol add ", "BTCUSDT\nETHUSDT\n");
    check_candidates("symbol --state XY add ", "BTCUSDT\nXY\n");
    check_candidates("symbol stop A B", ""); /* files */
    check_candidates("symbol add --l", "--limit\tat P. Or better\n");
    check_candidates("symbol list --v", "");
    check_candidates("symbol add --r", "--rate\ta share\n");
    check_candidates("symbol add --v", "--venue\twhose\n");
    check_candidates("symbol add --tif i", "ioc\n");
    check_candidates("symbol stop --type ",
                     "market\nlimit\nstop\nstop-limit\ntake-profit\ntake-profit-limit\n"
                     "trailing-stop\n");
    check_candidates("symbol stop --type=tr", "--type=trailing-stop\n");
    check_candidates("symbol stop --type = tr", "trailing-stop\n"); /* as bash divides it */
    check_candidates("symbol stop --type =",
                     "market\nlimit\nstop\nstop-limit\ntake-profit\ntake-profit-limit\n"
                     "trailing-stop\n");
    check_candidates("symbol stop --symbols BTCUSDT,E", "BTCUSDT,ETHUSDT\n");
    check_candidates("symbol stop --a-b E", "ETHUSDT\n");
    check_candidates("symbol add --set f", "fast=\n");
    check_candidates("symbol add --set fast=", "");
    check_candidates("symbol add --set fast = 1 : 2", "");
    check_candidates("symbol --state=XY add ", "BTCUSDT\nXY\n");
    check_candidates("--state=XY symbol add ", "BTCUSDT\nXY\n");
    check_candidates("--state = XY symbol add ", "BTCUSDT\nXY\n");
    check_candidates("--state XY symbol add ", "BTCUSDT\nXY\n");
    check_candidates("moon ", "");
}

int main(void)
{
    check_taken();
    check_refusals();
    check_bare();
    check_texts();
    check_completion();
    return check_done("record/option");
}
