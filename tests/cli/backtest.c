/* papertape backtest --events: counts, rows and hash are those of the recorded run; what cannot be is refused
 * in one line. */

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "record/times.h"
#include "tests/engine/recording.h"
#include "tests/scratch.h"

static struct recording recording;
static char out_path[PATH_MAX], err_path[PATH_MAX], csv_path[PATH_MAX];
static char *out, *err;

static char *text_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat info;
    if (!f || fstat(fileno(f), &info) < 0)
        return strdup("");
    char *text = calloc(1, (size_t)info.st_size + 1);
    if (!text || fread(text, 1, (size_t)info.st_size, f) != (size_t)info.st_size)
        exit(EXIT_FAILURE);
    fclose(f);
    return text;
}

static void to_file(int fd, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, fd) < 0)
        _exit(99);
    close(file);
}

static const struct option_program program = {
    .name = "papertape", .global = cli_globals, .n_global = CLI_GLOBALS, .say = cli_say};

/* Runs the verb as a process; its exit status. The words end with NULL; what it printed is in out and err. */
static int backtest(const char *const *words)
{
    static char verb[] = "backtest";
    char *argv[24] = {verb};
    int argc = 1;
    while (words[argc - 1] && argc < 23) {
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
        argc++;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        to_file(STDOUT_FILENO, out_path);
        to_file(STDERR_FILENO, err_path);
        int status = option_run(&program, &cli_backtest, argc, argv);
        fflush(NULL);
        _exit(status);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    free(out);
    free(err);
    out = text_of(out_path);
    err = text_of(err_path);
    return WEXITSTATUS(status);
}

#define BACKTEST(...) backtest((const char *const[]){__VA_ARGS__, NULL})

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static const char *hash_text(const struct engine_ids *ids)
{
    static char text[2 * LEDGER_HASH_SIZE + 1];
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", ids->hash[i]);
    return text;
}

/* The log as papertape ledger export would have to print it, by another hand. */
struct expected {
    FILE *f;
    struct replay *replay;
};

static void expect_row(void *ctx, const struct ledger_row *row)
{
    struct expected *expected = ctx;
    char amount[DECIMAL_TEXT_MAX], balance[DECIMAL_TEXT_MAX], iso[RECORD_TIME_ISO_MAX];
    decimal_format(row->amount, row->scale, amount);
    decimal_format(row->balance, row->scale, balance);
    fprintf(expected->f, "%ju,%jd,%s,%s,%s,%s,%s,%s,", (uintmax_t)row->id, (intmax_t)row->ts_ns,
            engine_account(engine_replay_engine(expected->replay), row->account)->name, row->asset,
            ledger_row_word(row), ledger_contra_name(row->kind), amount, balance);
    if (row->order_id)
        fprintf(expected->f, "%ju", (uintmax_t)row->order_id);
    fputc(',', expected->f);
    if (row->fill_id)
        fprintf(expected->f, "%ju", (uintmax_t)row->fill_id);
    fputc(',', expected->f);
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        fprintf(expected->f, "%02x", row->hash[i]);
    fprintf(expected->f, ",%s\n", record_time_iso(row->ts_ns, iso));
}

static char *expected_ledger(void)
{
    char *text = NULL, error[JOURNAL_ERROR_MAX];
    size_t size;
    struct expected expected = {.f = open_memstream(&text, &size)};
    struct replay_options options = {.path = recording.dir, .sink = {.ctx = &expected, .ledger = expect_row}};
    fputs("id,ts_ns,account,asset,kind,contra,amount,balance,order_id,fill_id,hash,ts_iso\n", expected.f);
    CHECK_INT(engine_replay_open(&options, &expected.replay, error, sizeof error), 0);
    while (engine_replay_step(expected.replay) > 0)
        ;
    engine_replay_close(expected.replay);
    fclose(expected.f);
    return text;
}

static intmax_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (intmax_t)json_integer_value(value) : -1;
}

static void test_result(void)
{
    struct engine_ids ids;
    engine_ids(recording.engine, &ids);
    CHECK_INT(BACKTEST("--events", recording.dir, "--json", "--ledger", csv_path), 0);
    CHECK_STR(err, "");
    json_t *object = json_loads(out, 0, NULL);
    CHECK_STR(json_string_value(json_object_get(object, "schema")), "papertape.backtest/1");
    CHECK_INT(number(object, "events"), recording.driver.seq - recording.lost);
    CHECK_INT(number(object, "events_missing"), recording.lost);
    CHECK_INT(number(object, "first_seq"), 1);
    CHECK_INT(number(object, "last_seq"), recording.driver.seq);
    CHECK_INT(number(object, "last_ns"), recording.driver.now_ns);
    CHECK_INT(number(object, "fills"), recording.tape.fills);
    CHECK_INT(number(object, "ledger_rows"), recording.tape.rows);
    CHECK_INT(number(object, "ledger_rows_before"), 0);
    CHECK_STR(json_string_value(json_object_get(object, "ledger_hash")), hash_text(&ids));
    CHECK_INT(json_array_size(json_object_get(object, "accounts")), engine_accounts(recording.engine));
    for (int a = 0; a < engine_accounts(recording.engine); a++) {
        const json_t *account = json_array_get(json_object_get(object, "accounts"), (size_t)a);
        CHECK_STR(json_string_value(json_object_get(account, "account")),
                  engine_account(recording.engine, a)->name);
        CHECK_NEAR(json_real_value(json_object_get(account, "equity")),
                   (double)engine_equity(recording.engine, a) / 1e8, 1e-6);
    }
    json_decref(object);
    char *ledger = text_of(csv_path), *expected = expected_ledger();
    CHECK_STR(ledger, expected);
    CHECK_INT(lines_of(ledger), recording.tape.rows + 1);
    free(ledger);
    free(expected);

    CHECK_INT(BACKTEST("--events", recording.dir), 0);
    CHECK(strstr(out, "events ") && strstr(out, hash_text(&ids)) && strstr(out, "equity  alice"));
}

static void test_files(void)
{
    CHECK_INT(BACKTEST("--events", recording.dir, "--trades", csv_path), 0);
    char *text = text_of(csv_path);
    CHECK_INT(lines_of(text), recording.tape.fills + 1);
    CHECK(strncmp(text, "fill,order,ts_ns,account,symbol,side,", 37) == 0);
    free(text);
    struct engine_ids ids;
    engine_ids(recording.engine, &ids);
    CHECK_INT(BACKTEST("--events", recording.dir, "--orders", csv_path), 0);
    text = text_of(csv_path);
    CHECK(strncmp(text, "order,created_ns,updated_ns,account,symbol,", 43) == 0);
    CHECK(lines_of(text) <= ids.last_order + 1 &&
          lines_of(text) > ids.last_order / 2); /* some are in holes */
    free(text);
    CHECK_INT(BACKTEST("--events", recording.dir, "--equity", csv_path), 0);
    text = text_of(csv_path);
    CHECK_INT(lines_of(text), recording.tape.points + 1);
    CHECK(strncmp(text, "ts_ns,account,equity,cash,peak\n", 31) == 0);
    free(text);
}

/* A state directory; a beginning in the middle, of which it says what is missing; an end before the end. */
static void test_parts(void)
{
    char state[PATH_MAX], time[32], last[32];
    snprintf(state, sizeof state, "%s-state", recording.dir);
    char events[PATH_MAX + 8];
    snprintf(events, sizeof events, "%s/events", state);
    CHECK(mkdir(state, 0700) == 0 && symlink(recording.dir, events) == 0);
    snprintf(time, sizeof time, "%jd", (intmax_t)recording.driver.now_ns);
    CHECK_INT(BACKTEST("--events", state, "--from", time, "--ledger", csv_path, "--json"), 0);
    json_t *object = json_loads(out, 0, NULL);
    CHECK_INT(number(object, "last_seq"), recording.driver.seq);
    intmax_t before = number(object, "ledger_rows_before"), after = number(object, "ledger_rows");
    CHECK(before > 0 && before + after >= (intmax_t)recording.tape.rows);
    json_decref(object);
    char note[160];
    snprintf(note, sizeof note,
             ": begins with row %jd: the %jd before are from before the state that it begins with\n",
             before + 1, before);
    CHECK(strstr(err, note));
    unlink(events);
    rmdir(state);

    snprintf(last, sizeof last, "%jd", (intmax_t)DRIVER_START_NS + 20 * INT64_C(1000000000));
    CHECK_INT(BACKTEST("--events", recording.dir, "--to", last, "--json"), 0);
    object = json_loads(out, 0, NULL);
    CHECK(number(object, "last_seq") < (intmax_t)recording.driver.seq && number(object, "events") > 100);
    CHECK(number(object, "last_ns") <= (intmax_t)DRIVER_START_NS + 20 * INT64_C(1000000000));
    json_decref(object);
    /* An account that has not traded yet: its equity is flat. */
    snprintf(last, sizeof last, "%jd", (intmax_t)DRIVER_START_NS + 4 * INT64_C(1000000000));
    CHECK_INT(BACKTEST("--events", recording.dir, "--to", last), 0);
    CHECK(!strstr(out, "nan") && strstr(out, "n/a"));
}

static void test_refused(void)
{
    char path[PATH_MAX];
    CHECK_INT(BACKTEST("--json"), 2);
    CHECK_STR(err, "papertape: backtest: --strategy S and --bars F are needed, or --events LOG: a state "
                   "directory, a log's directory or a segment\n");
    CHECK_INT(BACKTEST("--policy", "x.safetensors"), 2);
    CHECK(strstr(err, " is needed: what the policy trades on"));
    CHECK_INT(BACKTEST("--policy", "x.safetensors", "--actions", "a.csv", "--bars", "x.csv"), 2);
    CHECK(strstr(err, "--actions: a trained policy and an ensemble have none"));
    CHECK_INT(BACKTEST("--policy", "/nonexistent/x.safetensors", "--bars", "x.csv"), 1);
    CHECK(strstr(err, "/nonexistent/x.safetensors"));
    CHECK_INT(BACKTEST("--policy", "p.json", "--bars", "x.csv"), 2);
    CHECK(strstr(err, "--policy: --actions ACTIONS.csv is needed"));
    CHECK_INT(BACKTEST("--actions", "a.csv", "--bars", "x.csv"), 2);
    CHECK(strstr(err, "--actions: it goes with --policy PARAMS.json"));
    CHECK_INT(BACKTEST("--policy", "p.json", "--actions", "a.csv"), 2);
    CHECK(strstr(err, " is needed: what the policy trades on"));
    CHECK_INT(BACKTEST("--policy", "p.json", "--actions", "a.csv", "--events", recording.dir), 2);
    CHECK(strstr(err, "--policy: not an option with --events"));
    CHECK_INT(BACKTEST("--policy", "/nonexistent/p.json", "--actions", "a.csv", "--bars", "x.csv"), 1);
    CHECK_STR(err, "papertape: backtest: /nonexistent/p.json: No such file or directory\n");
    CHECK_INT(BACKTEST("--events", recording.dir, "--strategy", "sma-cross"), 2);
    CHECK(strstr(err, "--strategy: not an option with --events"));
    CHECK_INT(BACKTEST("--events", recording.dir, "--bars", "x.csv"), 2);
    CHECK_INT(lines_of(err), 1);
    CHECK_INT(BACKTEST("--events", recording.dir, "--cash", "500"), 2);
    CHECK(strstr(err, "--cash: not an option with --events"));
    CHECK_INT(BACKTEST("--bars", "x.csv", "--account", "main", "--cash", "500"), 2);
    CHECK(strstr(err, "--account: --cash is given too: one of the two is right"));
    CHECK_INT(BACKTEST("--list-strategies", "--bars", "x.csv"), 2);
    CHECK(strstr(err, "--bars: not an option with --list-strategies"));
    CHECK_INT(BACKTEST("--strategy", "sma-cross", "--bars", "x.csv", "--fee-maker", "0", "--fees", "vip1"),
              2);
    CHECK(strstr(err, "--fees: --fee-maker is given too: one of the two is right"));
    CHECK_INT(BACKTEST("--events", recording.dir, "--from", "noon"), 2);
    CHECK(strstr(err, "--from: \"noon\": a time as 2024-08-08"));
    CHECK_INT(BACKTEST("--events", recording.dir, "more"), 2);
    CHECK_INT(BACKTEST("--evnts", recording.dir), 2);
    CHECK_INT(BACKTEST("--events", "/nonexistent/log"), 1);
    CHECK_STR(err, "papertape: backtest: /nonexistent/log: No such file or directory\n");
    CHECK_INT(BACKTEST("--events", "/dev"), 3);
    CHECK_INT(lines_of(err), 1);
    CHECK_INT(BACKTEST("--events", recording.dir, "--ledger", "/nonexistent/f.csv"), 1);
    CHECK_STR(err, "papertape: backtest: /nonexistent/f.csv: No such file or directory\n");
    CHECK_INT(BACKTEST("--events", recording.dir, "--ledger", "/dev/full"), 1);
    CHECK_STR(err, "papertape: backtest: /dev/full: No space left on device\n");
    CHECK_INT(BACKTEST("--events", recording.dir, "--from", "2001-01-01"), 1);
    CHECK_INT(BACKTEST("--events", recording.dir, "--from", "2101-01-01"), 1);
    CHECK_INT(BACKTEST("--events", recording.dir, "--to", "2001-01-01"), 1);
    CHECK_INT(BACKTEST("--events", recording.dir, "--from", "2101-01-02", "--to", "2101-01-01"), 2);
    CHECK(strstr(err, "--to: it must be later than --from"));
    CHECK_INT(lines_of(err), 1);
    CHECK_INT(BACKTEST("--help"), 0);
    CHECK(strncmp(out, "Usage: papertape backtest [OPTION]...\n", 38) == 0);

    DIR *dir = opendir(recording.dir);
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        size_t len = strlen(entry->d_name);
        if (len < 8 || strcmp(entry->d_name + len - 8, ".journal") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", recording.dir, entry->d_name);
        int fd = open(path, O_RDWR);
        uint8_t byte;
        CHECK(pread(fd, &byte, 1, 300) == 1);
        byte ^= 4;
        CHECK(pwrite(fd, &byte, 1, 300) == 1);
        close(fd);
        CHECK_INT(BACKTEST("--events", path), 1);
        CHECK(strstr(err, entry->d_name) && lines_of(err) == 1);
        CHECK_STR(out, "");
    }
    if (dir)
        closedir(dir);
}

/* Bars of two symbols that rise by a step a minute. */
static const char *rising(const char *name, int from, int step)
{
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof text, "timestamp,open,high,low,close,volume\n");
    for (int i = 0; i < 12; i++) {
        int open = from + i * step, close = open + step;
        len += (size_t)snprintf(text + len, sizeof text - len, "2024-01-01T00:%02d:00Z,%d,%d,%d,%d,100\n", i,
                                open, close, open, close);
    }
    return scratch_write(name, text);
}

/* Money with all its digits, where a double has no more than 15 of them. */
static void test_amounts(void)
{
    const char *bars = rising("BTCUSDT_1m.csv", 100, 1);
    CHECK_INT(BACKTEST("--strategy", "buy-and-hold", "--bars", bars, "--no-cache", "--cash",
                       "9999999999.12345678", "--lot", "0.00001", "--json"),
              0);
    CHECK(strstr(out, "\"deposits\":9999999999.12345678,") && strstr(out, "\"lot\":0.00001,"));
    CHECK_INT(BACKTEST("--strategy", "buy-and-hold", "--bars", bars, "--no-cache", "--equity", "-"), 0);
    CHECK(strstr(out, "ts_ns,account,equity,cash,peak\n"));
}

/* A recorded policy: its capital and fees unless others are given, the symbols in either spelling. */
static void test_policy(void)
{
    static const char json[] =
        "{\"symbols\":[\"BTC\",\"ETHUSDT\"],\"interval\":\"1m\",\"first_bar\":\"2024-01-01T00:01:00Z\","
        "\"bars\":9,"
        "\"min_order_qty\":[0,0],\"params\":{\"lookback\":2,\"norm_action\":4,\"initial_capital\":800,"
        "\"buy_cost_pct\":0.001,\"sell_cost_pct\":0.001}}";
    const char *btc = rising("BTCUSDT_1m.csv", 100, 1), *eth = rising("ETHUSDT_1m.csv", 10, 2);
    const char *params = scratch_write("p.json", json);
    const char *actions =
        scratch_write("a.csv", "t,action_BTC,action_ETH\n2,1,0\n3,0,1\n4,0,0\n5,-2,0\n6,0,0\n");
    char bars[PATH_MAX], policy[PATH_MAX];
    snprintf(bars, sizeof bars, "%s,%s", btc, eth);
    CHECK_INT(BACKTEST("--policy", params, "--actions", actions, "--bars", bars, "--json", "--trades",
                       csv_path, "--no-cache"),
              0);
    json_t *object = json_loads(out, 0, NULL);
    const json_t *account = json_array_get(json_object_get(object, "accounts"), 0);
    CHECK_STR(json_string_value(json_object_get(account, "strategy")), "policy");
    CHECK_STR(json_string_value(json_object_get(account, "way")), "engine");
    CHECK(json_number_value(json_object_get(account, "deposits")) == 800);
    CHECK_INT(json_integer_value(json_object_get(account, "fills")), 3);
    json_decref(object);
    /* 200 of each at the close of 00:01, 102 and 14, decided at 00:03:00 and 00:04:00 */
    char *trades = text_of(csv_path);
    CHECK(strstr(trades,
                 "1704067380000000000,policy,BTCUSDT,BUY,103.00000000,1.96078000,201.96034000,0.20196034"));
    CHECK(strstr(trades, "1704067440000000000,policy,ETHUSDT,BUY,18.00000000,14.28570000,"));
    CHECK(strstr(trades, "1704067560000000000,policy,BTCUSDT,SELL,106.00000000,1.96078000,"));
    free(trades);
    CHECK_INT(BACKTEST("--policy", params, "--actions", actions, "--bars", bars, "--cash", "1600",
                       "--fee-taker", "0", "--fee-maker", "0", "--no-cache", "--trades", csv_path),
              0);
    trades = text_of(csv_path);
    CHECK(strstr(trades, "BTCUSDT,BUY,103.00000000,3.92156000,403.92068000,0.00000000"));
    free(trades);
    CHECK_INT(BACKTEST("--policy", params, "--actions", actions, "--bars", btc, "--no-cache"), 1);
    CHECK_STR(err,
              "papertape: backtest: the policy of account policy: ETHUSDT, which it trades, is not among the "
              "symbols\n");
    CHECK_INT(
        BACKTEST("--policy", params, "--actions", actions, "--bars", bars, "--no-cache", "--way", "columns"),
        1);
    CHECK(strstr(err, "a policy decides on the bars of all its symbols at once"));
    snprintf(policy, sizeof policy, "%s", json);
    memcpy(strstr(policy, "00:01:00"), "00:20:00", 8);
    params = scratch_write("p.json", policy);
    CHECK_INT(BACKTEST("--policy", params, "--actions", actions, "--bars", bars, "--no-cache"), 1);
    CHECK(strstr(err, "begins at the bar of 2024-01-01T00:20:00") &&
          strstr(err, "the bars go from 2024-01-01T00:00:00"));
    memcpy(strstr(policy, "00:20:00"), "00:01:00", 8);
    params = scratch_write("p.json", policy);
    char *whole = text_of(strchr(bars, ',') + 1), *line = strstr(whole, "2024-01-01T00:01:00Z"),
         *next = strchr(line, '\n') + 1;
    memmove(line, next, strlen(next) + 1);
    scratch_write("ETHUSDT_1m.csv", whole);
    free(whole);
    CHECK_INT(BACKTEST("--policy", params, "--actions", actions, "--bars", bars, "--no-cache"), 1);
    CHECK(strstr(err, "it begins at the bar of 2024-01-01T00:01:00") && strstr(err, "ETHUSDT has none then"));
    memcpy(strstr(policy, "00:01:00"), "00:00:00", 8);
    memcpy(strstr(policy, "\"1m\""), "\"5m\"", 4);
    params = scratch_write("p.json", policy);
    CHECK_INT(BACKTEST("--policy", params, "--actions", actions, "--bars", bars, "--no-cache"), 1);
    CHECK(strstr(err, "it decides on bars of 5m, and these are of 1m"));
    actions = scratch_write("a.csv", "t,action_BTC,action_ETH\n2,1,0\n3,0,inf\n4,0,0\n5,-2,0\n6,0,0\n");
    CHECK_INT(BACKTEST("--policy", params, "--actions", actions, "--bars", bars, "--no-cache"), 1);
    CHECK(strstr(err, "a.csv: line 3: action_ETHUSDT is \"inf\": a finite number is needed") &&
          lines_of(err) == 1);
}

int main(void)
{
    struct random random = random_seeded("tui/backtest", 20261121);
    recording_make(&recording, random.state, 5000, 60000);
    snprintf(out_path, sizeof out_path, "%s-out", recording.dir);
    snprintf(err_path, sizeof err_path, "%s-err", recording.dir);
    snprintf(csv_path, sizeof csv_path, "%s-csv", recording.dir);
    test_result();
    test_files();
    test_parts();
    test_refused();
    test_amounts();
    test_policy();
    recording_remove(&recording);
    free(out);
    free(err);
    return check_done("cli/backtest");
}
