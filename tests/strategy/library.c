/* Strategies as shared objects: what is said of every table, file and version that cannot be used, in one
 * sentence; what a good one becomes, what its host does with a bar, and that a changed file is another
 * strategy while the one before continues. library FOLDER, where the test's plug-ins were built. */
#include "strategy/library.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "strategy/intent.h"
#include "strategy/record.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/strategy/plugins/cases.h"

static char *case_bytes, *mark;
static size_t case_size;
static char folder[SCRATCH_MAX];

/* ---- the ABI: what a file that was built once relies on ---- */

#define AT(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)

_Static_assert(sizeof(struct papertape_param) == 56, "papertape_param");
_Static_assert(sizeof(struct papertape_record) == 32, "papertape_record");
_Static_assert(sizeof(struct papertape_input) == 216, "papertape_input");
_Static_assert(sizeof(struct papertape_peer) == 160, "papertape_peer");
_Static_assert(sizeof(struct papertape_intent) == 128, "papertape_intent");
_Static_assert(sizeof(struct papertape_columns) == 64, "papertape_columns");
_Static_assert(sizeof(struct papertape_strategy) == 96, "papertape_strategy");
AT(papertape_param, fallback, 16);
AT(papertape_param, integer, 40);
AT(papertape_param, words, 48);
AT(papertape_input, ts_ns, 8);
AT(papertape_input, open, 40);
AT(papertape_input, indicators, 80);
AT(papertape_input, live_orders, 88);
AT(papertape_input, qty, 96);
AT(papertape_input, positions, 144);
AT(papertape_input, record, 152);
AT(papertape_input, leverage, 184);
AT(papertape_input, orders, 192);
AT(papertape_input, peers, 200);
AT(papertape_input, self, 208);
AT(papertape_peer, name, 8);
AT(papertape_peer, indicators, 64);
AT(papertape_peer, leverage, 104);
AT(papertape_peer, orders, 120);
AT(papertape_peer, record, 128);
AT(papertape_intent, fraction, 8);
AT(papertape_intent, good_ns, 40);
AT(papertape_intent, why, 48);
AT(papertape_intent, side, 56);
AT(papertape_intent, qty, 72);
AT(papertape_intent, reduce_only, 96);
AT(papertape_intent, symbol, 100);
AT(papertape_intent, later, 104);
AT(papertape_columns, n, 8);
AT(papertape_columns, indicators, 56);
AT(papertape_strategy, version, 4);
AT(papertape_strategy, name, 8);
AT(papertape_strategy, params, 24);
AT(papertape_strategy, n_params, 32);
AT(papertape_strategy, state_size, 40);
AT(papertape_strategy, check, 48);
AT(papertape_strategy, scan, 72);
AT(papertape_strategy, needs_shorts, 80);
AT(papertape_strategy, symbols_min, 92);

/* ---- files ---- */

static char *read_whole(const char *path, size_t *ret_n)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    CHECK(file && stat(path, &st) == 0);
    if (!file)
        exit(1);
    char *bytes = malloc((size_t)st.st_size);
    CHECK_INT(fread(bytes, 1, (size_t)st.st_size, file), st.st_size);
    fclose(file);
    *ret_n = (size_t)st.st_size;
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t n, mode_t mode)
{
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && fchmod(fd, mode) == 0);
    close(fd);
}

/* cases.so with another number, as `name` in the scratch folder; its path. */
static const char *write_case(const char *name, uint32_t which)
{
    static char path[SCRATCH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    memcpy(mark + 16, &which, sizeof which);
    write_whole(path, case_bytes, case_size, 0755);
    return path;
}

static const struct strategy *opened(const char *path)
{
    char name[5000], err[STRATEGY_LIBRARY_ERROR_MAX] = "";
    const struct strategy *strategy = NULL;
    snprintf(name, sizeof name, "lib:%s", path);
    if (strategy_open(name, &strategy, err, sizeof err) < 0)
        fprintf(stderr, "%s: %s\n", path, err);
    CHECK(strategy);
    return strategy;
}

/* It is refused in one line that begins with `path` and has the words. */
static void refused(const char *source, const char *path, const char *words)
{
    char name[5000], err[STRATEGY_LIBRARY_ERROR_MAX] = "";
    const struct strategy *strategy = NULL;
    snprintf(name, sizeof name, "lib:%s", source);
    CHECK(strategy_open(name, &strategy, err, sizeof err) < 0);
    CHECK(!strategy && strlen(err) < sizeof err - 1 && !strchr(err, '\n'));
    bool says = strncmp(err, path, strlen(path)) == 0 && strstr(err, words);
    CHECK(says);
    if (!says)
        fprintf(stderr, "%s: \"%s\", not \"%s\"\n", source, err, words);
}

/* ---- tables ---- */

static const struct {
    uint32_t which;
    const char *says; /* NULL: it is right */
} tables[] = {
    {CASE_RIGHT, NULL},
    {CASE_NULL, "returned NULL: a table is needed"},
    {CASE_VERSION, "made for version 2 of papertape/strategy.h, this program has 1: build it again"},
    {CASE_SHORT, "says that it has 16 bytes: sizeof, at least 96, is needed"},
    {CASE_LARGER_ZERO, NULL},
    {CASE_LARGER_USED, "papertape is older than the header"},
    {CASE_PARAM_SIZE, "papertape is older than the header"},
    {CASE_NO_NAME, "its name: lower case letters, digits and -"},
    {CASE_BAD_NAME, "its name: lower case letters, digits and -"},
    {CASE_LONG_NAME, "at most 63"},
    {CASE_NO_SUMMARY, "its summary: one line"},
    {CASE_LONG_SUMMARY, "its summary: one line of at most 159 bytes"},
    {CASE_TWO_LINES, "its summary: one line"},
    {CASE_MANY_PARAMS, "40 parameters: at most"},
    {CASE_NO_PARAMS, "2 parameters, and their rows are missing"},
    {CASE_STATE, "1073741824 bytes of state for each symbol: at most"},
    {CASE_SHORTS, "shorts is 7: 0 or 1 is needed"},
    {CASE_PEERS, "peers, together, needs_shorts are 2, 0, 0: each 0 or 1 is needed"},
    {CASE_SYMBOLS, "symbols_min is 5000: at most 4096"},
    {CASE_TOGETHER, NULL},
    {CASE_TOGETHER_SCAN, "together and scan: a scan is of one symbol, without it"},
    {CASE_NO_ON_BAR, "the function on_bar is missing"},
    {CASE_PARAM_NAME, "the name of parameter 2: lower case letters"},
    {CASE_PARAM_TWICE, "two parameters are called period"},
    {CASE_PARAM_SUMMARY, "parameter way: its summary: one line"},
    {CASE_RANGE, "parameter period: its range 200 to 100"},
    {CASE_RANGE_NAN, "parameter period: its range 1 to nan"},
    {CASE_RANGE_INFINITE, "parameter period: its range 1 to inf"},
    {CASE_DEFAULT_OUTSIDE, "parameter period: its default 101 is not within 1 to 100"},
    {CASE_DEFAULT_NAN, "parameter period: its default nan is not within 1 to 100"},
    {CASE_DEFAULT_FRACTION, "parameter period: whole numbers"},
    {CASE_INTEGER, "parameter period: integer is 3: 0 or 1 is needed"},
    {CASE_WORDS_BLANK, "its words \"long  short\": two or more, one blank between"},
    {CASE_WORDS_ONE, "its words \"long\": two or more"},
    {CASE_WORDS_RANGE, "with 3 words, integer 1 and the range 0 to 2 are needed"},
    {CASE_WORDS_NUMBER, "with 3 words, integer 1 and the range 0 to 2 are needed"},
    {CASE_DEFAULTS_CONTRADICT, "its own defaults contradict each other: period: more is needed"},
    {CASE_MANY_SPECS, "specs() says 1000 indicators with the defaults: at most"},
    {CASE_ENDLESS_SPEC, "the text of indicator 1 has no end within 128 bytes"},
    {CASE_WRONG_SPEC, "indicator 1 with the defaults: there is no indicator \"smaa\": the nearest"},
    {CASE_FRAME_SPEC, NULL},
};

static void test_tables(void)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char name[32];
        snprintf(name, sizeof name, "table%u", tables[i].which);
        const char *path = write_case(name, tables[i].which);
        if (tables[i].says)
            refused(path, path, tables[i].says);
        else
            (void)opened(path);
    }
}

/* ---- what is no strategy ---- */

static void test_files(const char *built)
{
    char path[4200], source[4200];
    snprintf(path, sizeof path, "%s/plugin-newer.so", built);
    refused(path, path, "made for version 2 of papertape/strategy.h, this program has 1: build it again");
    snprintf(path, sizeof path, "%s/plugin-nothing.so", built);
    refused(path, path, "it exports no papertape_strategy_v1()");
    snprintf(path, sizeof path, "%s/gone.so", folder);
    refused(path, path, "No such file");
    snprintf(path, sizeof path, "%s/folder.so", folder);
    CHECK_INT(mkdir(path, 0700), 0);
    refused(path, path, "is a folder: a shared object is needed");
    snprintf(path, sizeof path, "%s/fifo.so", folder);
    CHECK_INT(mkfifo(path, 0600), 0);
    refused(path, path, "is no regular file");
    snprintf(path, sizeof path, "%s/text.so", folder);
    write_whole(path, "all work and no play", 20, 0700);
    refused(path, path, "is no shared object");
    write_whole(path, "", 0, 0700);
    refused(path, path, "is no shared object");
    write_whole(path, case_bytes, 600, 0700); /* its beginning alone */
    refused(path, path, "not all of one");
    snprintf(source, sizeof source, "%s/strategy", folder);
    refused(source, source, "a shared object's name ends in .so");
    refused("no-such-name", "no-such-name", "there is no such file in ");
    refused("no-such-file.so", "no-such-file.so", "there is no such file, here or in ");
}

static void test_owner(void)
{
    const char *path = write_case("owner", CASE_RIGHT);
    CHECK_INT(chmod(path, 0775), 0);
    refused(path, path, "others may write to it: chmod go-w");
    CHECK_INT(chmod(path, 0757), 0);
    refused(path, path, "others may write to it: chmod go-w");
    CHECK_INT(chmod(path, 0755), 0);
    if (geteuid() == 0 && chown(path, 12345, 0) == 0) {
        refused(path, path, "belongs to user 12345: its code would run as user 0");
        CHECK_INT(chown(path, 0, 0), 0);
    }
    (void)opened(path);
}

/* ---- what a good one is ---- */

static void test_good(void)
{
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT], word[STRATEGY_WORD_MAX];
    double params[STRATEGY_PARAMS_MAX];
    const struct strategy *strategy = opened(write_case("good", CASE_RIGHT));
    const struct strategy_external *external = strategy->external;
    CHECK(external && external->form == STRATEGY_LIBRARY && !strategy_is_asked(strategy));
    CHECK_STR(strategy_title(strategy), "case");
    CHECK(strncmp(strategy->name, "lib:/", 5) == 0 && strcmp(strategy->name + 4, external->source) == 0);
    CHECK_INT(strategy->n_params, 2);
    strategy_defaults(strategy, params);
    CHECK_STR(strategy_param_word(&strategy->params[1], params[1], word), "short");
    CHECK_INT(strategy_set(strategy, params, "way", "both", NULL), 0);
    CHECK_INT((int)params[1], 2);
    CHECK(!strategy_check(strategy, params) && !strategy_scans(strategy));
    CHECK_INT(strategy_specs(strategy, params, specs), 1);
    CHECK_STR(specs[0], "sma:20");
}

/* The same contents are the same strategy; others, under the same path, another one, beside it. */
static void test_change(void)
{
    const struct strategy *first = opened(write_case("change", CASE_RIGHT));
    CHECK(opened(write_case("change", CASE_RIGHT)) == first);
    CHECK(strategy_find(first->name) == first);
    const struct strategy *second = opened(write_case("change", CASE_LONG_WHY));
    CHECK(second != first && strcmp(second->name, first->name) == 0);
    CHECK(!strategy_same(first, second) && strategy_same(second, second));
    CHECK(memcmp(first->external->hash, second->external->hash, STRATEGY_HASH_SIZE) != 0);
    CHECK(strategy_find(first->name) == second);
    CHECK(opened(write_case("change", CASE_RIGHT)) == first);
    CHECK(strategy_find(first->name) == first);
    /* Another table than the one before: two copies of the code, not one. */
    const struct strategy_library *a = first->external->ctx, *b = second->external->ctx;
    CHECK(a->table.on_bar != b->table.on_bar);
    /* And what is wrong with a later one leaves them as they are. */
    const char *path = write_case("change", CASE_NO_ON_BAR);
    refused(path, path, "the function on_bar is missing");
    CHECK(strategy_find(first->name) == first);
}

/* ---- its host ---- */

/* One bar of a symbol whose last decision left `state`. */
static struct strategy_decision decide_after(struct strategy_host *host, const void *state, uint32_t len,
                                             bool begins)
{
    const struct strategy_record record = {0};
    const double value = 1;
    struct strategy_decision decision;
    const struct strategy_request request = {.acts = true,
                                             .begins = begins,
                                             .state = {state, len},
                                             .input = {.ts_ns = 60000000000,
                                                       .interval_ns = 60000000000,
                                                       .close = 100,
                                                       .leverage = 1.5,
                                                       .orders = 7,
                                                       .indicators = &value,
                                                       .record = &record}};
    memset(&decision, 0xA5, sizeof decision);
    strategy_host_decide(host, &request, &decision);
    return decision;
}

/* After `bars` others. */
static struct strategy_decision decide(struct strategy_host *host, uint32_t bars)
{
    return decide_after(host, &bars, sizeof bars, false);
}

static struct strategy_host *host_of(const struct strategy *strategy, int64_t limit_ns)
{
    double params[STRATEGY_PARAMS_MAX];
    char err[STRATEGY_LIBRARY_ERROR_MAX] = "";
    struct strategy_host *host = NULL;
    const struct strategy_hello hello = {
        .account = "a", .currency = "USDT", .n_symbols = 2, .limit_ns = limit_ns};
    strategy_defaults(strategy, params);
    CHECK_INT(strategy_host_open(strategy, params, &hello, &host, err, sizeof err), 0);
    CHECK_STR(err, "");
    return host;
}

static uint32_t count_of(const struct strategy_decision *decision)
{
    uint32_t count = UINT32_MAX;
    CHECK(decision->keeps && decision->state.len == sizeof count);
    memcpy(&count, decision->state.bytes, sizeof count);
    return count;
}

/* The state counts the bars, from the third on it enters: what it remembers is what the request has. */
static void test_host(void)
{
    struct strategy_host *host = host_of(opened(write_case("host", CASE_RIGHT)), 0);
    struct strategy_decision decision = decide_after(host, NULL, 0, true);
    CHECK_INT(decision.outcome, STRATEGY_DECIDED);
    CHECK_INT(decision.n, 0);
    CHECK_INT(count_of(&decision), 1);
    decision = decide(host, 2);
    CHECK_INT(decision.n, 1);
    CHECK_INT(count_of(&decision), 3);
    CHECK_INT(decision.intents[0].kind, INTENT_ENTER);
    CHECK(decision.intents[0].fraction == 0.2 && decision.intents[0].stop == 50);
    CHECK_STR(decision.whys[0], "go");
    decision = decide(host, 0); /* another symbol */
    CHECK_INT(count_of(&decision), 1);
    uint32_t left[2] = {2, 2};
    decision = decide_after(host, left, 4, true); /* its bars begin again */
    CHECK_INT(count_of(&decision), 1);
    decision = decide_after(host, left, 8, false); /* of another size: not its own */
    CHECK_INT(count_of(&decision), 1);
    strategy_host_close(host);
}

/* What the file was shown comes back as numbers of its orders. */
static void check_orders(const struct strategy_decision *decision)
{
    const struct intent *i = decision->intents;
    CHECK_INT(decision->n, 4);
    CHECK(i[0].kind == INTENT_EXIT && i[0].fraction == 0.25);
    CHECK(i[1].kind == INTENT_CANCEL);
    CHECK(i[2].kind == INTENT_ORDER && i[2].side == ORDER_SELL && i[2].type == ORDER_STOP_LIMIT);
    CHECK(i[2].tif == ORDER_GTD && i[2].good_ns == 60000000001 && i[2].size == INTENT_OF_UNITS);
    CHECK(i[2].qty == 1.5 && i[2].limit == 90 && i[2].stop == 91 && i[2].reduce_only);
    CHECK(i[3].type == ORDER_TRAILING_STOP && i[3].trail_share == 0.5 && i[3].trail == 7);
    CHECK(i[3].size == INTENT_OF_POSITION && !i[3].reduce_only);
}

/* A round: the file targets of each symbol its place's hundredths, in the opposite order. */
static void test_round(void)
{
    const struct strategy *strategy = opened(write_case("round", CASE_TOGETHER));
    const struct strategy_record record = {.wins = 3};
    const double values[] = {1, 2};
    const struct strategy_peer peers[] = {
        {.name = "A", .close = 10, .indicators = &values[0], .record = &record},
        {.name = "B",
         .fresh = true,
         .close = 20,
         .leverage = 2,
         .indicators = &values[1],
         .record = &record}};
    const struct strategy_input input = {
        .ts_ns = 1, .close = 10, .indicators = values, .record = &record, .peers = peers, .n_peers = 2};
    struct intent intents[2 * STRATEGY_INTENTS_MAX + STRATEGY_SAID_MAX];
    uint32_t state = 0;
    double params[STRATEGY_PARAMS_MAX];
    CHECK(strategy->together && strategy->needs_shorts && !strategy->peers && strategy->symbols_min == 2);
    strategy_defaults(strategy, params);
    CHECK_INT(strategy_on_bar(strategy, params, &state, &input, intents), 2);
    CHECK(intents[0].kind == INTENT_TARGET && intents[0].symbol == 1 && intents[1].symbol == 0);
    CHECK(intents[0].fraction == 20 + 2 + 2 + 3 + 1); /* close, indicator, leverage, wins, fresh */
    CHECK(intents[1].fraction == 10 + 1 + 1 + 3);
    CHECK_INT(state, 16); /* that it may write */
    struct strategy_host *host = host_of(strategy, 0);
    struct strategy_decision decision;
    const struct strategy_request request = {.acts = true, .begins = true, .input = input};
    strategy_host_decide(host, &request, &decision);
    CHECK(decision.n == 2 && decision.intents[0].symbol == 1 && decision.intents[1].fraction == 15);
    strategy_host_close(host);
}

static void test_answers(void)
{
    struct strategy_input input = {.ts_ns = 1, .close = 100};
    struct strategy_host *host = host_of(opened(write_case("late", CASE_RIGHT)), 1);
    struct strategy_decision decision = decide(host, 5);
    CHECK_INT(decision.outcome, STRATEGY_LATE);
    CHECK_INT(decision.n, 0);
    CHECK(strstr(decision.fault, "its limit is") && !decision.keeps);
    strategy_host_close(host);

    host = host_of(opened(write_case("nan", CASE_NAN_INTENT)), 0);
    decision = decide(host, 2);
    CHECK_INT(intent_check(&decision.intents[0], &input), INTENT_BAD_FRACTION);
    strategy_host_close(host);

    host = host_of(opened(write_case("why", CASE_LONG_WHY)), 0);
    CHECK_STR(decide(host, 2).whys[0], "a reason that is longer than an");
    strategy_host_close(host);

    host = host_of(opened(write_case("kind", CASE_UNKNOWN_KIND)), 0);
    decision = decide(host, 2);
    CHECK_INT(intent_check(&decision.intents[0], &input), INTENT_BAD_KIND);
    strategy_host_close(host);

    host = host_of(opened(write_case("orders", CASE_ORDERS)), 0);
    decision = decide(host, 2);
    check_orders(&decision);
    strategy_host_close(host);

    host = host_of(opened(write_case("wrong", CASE_UNKNOWN_WORDS)), 0);
    decision = decide(host, 2);
    CHECK_INT(decision.n, 1);
    CHECK_INT(intent_check(&decision.intents[0], &input), INTENT_BAD_ORDER);
    strategy_host_close(host);

    host = host_of(opened(write_case("many", CASE_MANY_INTENTS)), 0);
    decision = decide(host, 2);
    CHECK(decision.outcome == STRATEGY_DECIDED && decision.n > STRATEGY_INTENTS_MAX);
    strategy_host_close(host);
    strategy_host_close(NULL);
}

/* ---- the folder of plug-ins ---- */

struct seen {
    int strategies, refused;
};

static void see(void *ctx, const char *file, const struct strategy *strategy, const char *why_not)
{
    struct seen *seen = ctx;
    CHECK((strategy != NULL) != (why_not != NULL));
    seen->strategies += strategy && strcmp(file, "good.so") == 0;
    seen->refused += why_not && strcmp(file, "text.so") == 0;
}

static void test_folder(void)
{
    struct seen seen = {0};
    char long_path[2000];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    CHECK_INT(indicator_plugin_folder_set(long_path), -ENAMETOOLONG);
    CHECK_INT(indicator_plugin_folder_set(folder), 0);
    CHECK_INT(strategy_library_each(see, &seen), 0);
    CHECK_INT(seen.strategies, 1);
    CHECK_INT(seen.refused, 1);
    CHECK(opened("good") == opened("good.so"));
    CHECK_INT(indicator_plugin_folder_set("/nonexistent"), 0);
    CHECK_INT(strategy_library_each(see, &seen), 0);
    CHECK_INT(seen.strategies, 1);
}

static void test_words(void)
{
    CHECK_INT(indicator_plugin_word("/a/b.so:x=1"), 7);
    CHECK_INT(indicator_plugin_word("b.so"), 4);
    CHECK_INT(indicator_plugin_word("b.some:c.so"), 11);
    CHECK_INT(indicator_plugin_word("name:period:3"), 4);
    CHECK_INT(indicator_plugin_word("name"), 4);
    CHECK_INT(indicator_plugin_word(""), 0);
}

int main(int argc, char **argv)
{
    char path[4200];
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/plugin-cases.so", argv[1]);
    case_bytes = read_whole(path, &case_size);
    mark = memmem(case_bytes, case_size, CASES_MARK, sizeof CASES_MARK);
    CHECK(mark);
    if (!mark)
        return 1;
    scratch_make(folder);
    test_words();
    test_tables();
    test_files(argv[1]);
    test_owner();
    test_good();
    test_change();
    test_host();
    test_answers();
    test_round();
    test_folder();
    free(case_bytes);
    return check_done("library");
}
