/* Makes what tests/golden/outputs.py shows of stored records, the same bytes each time:
 *
 *   golden-state DIR
 *
 * DIR/logs.txt    50 random event logs: what came out, the hashes of state, ledger and log
 * DIR/day/        the state directory of such a log, of several venues, and the database built from it
 * DIR/run/        the same of one venue, with which a daemon may continue
 * DIR/desk/       one whose rows were put by hand: sample.h (word-ok)
 * DIR/status.json a daemon's status: fixtures/dashboard.h
 */
#include <dirent.h>
#include <jansson.h>
#include <openssl/evp.h>

#include "daemon/rebuild.h"
#include "fixtures/dashboard.h"
#include "tests/engine/logged.h"
#include "tests/golden/sample.h"

enum {
    LOGS = 50,
    LOG_EVENTS = 1000,
    DAY_EVENTS = 6000,
    DAY_SEED = 54,
    RUN_SEED = 46,
    SEGMENTS = 16,
    HEX = 2 * LEDGER_HASH_SIZE + 1
};

static const int64_t now_ns = INT64_C(1723247400000000000); /* 2024-08-09 23:50:00 UTC */

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "golden-state: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static const char *within(const char *folder, const char *name)
{
    static char paths[4][1024];
    static unsigned next;
    char *path = paths[next++ % 4];
    if (snprintf(path, sizeof paths[0], "%s/%s", folder, name) >= (int)sizeof paths[0])
        fail(folder, "the path is too long");
    return path;
}

static FILE *made(const char *path)
{
    FILE *file = fopen(path, "we");
    if (!file)
        fail(path, strerror(errno));
    return file;
}

static void hex(const uint8_t hash[static LEDGER_HASH_SIZE], char ret[static HEX])
{
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        snprintf(ret + 2 * i, 3, "%02x", hash[i]);
}

/* The log's segments by name; there are few. */
static int segments(const char *dir, char names[static SEGMENTS][256])
{
    int n = 0;
    DIR *listing = opendir(dir);
    for (const struct dirent *entry; listing && n < SEGMENTS && (entry = readdir(listing));)
        if (strstr(entry->d_name, ".journal"))
            snprintf(names[n++], 256, "%s", entry->d_name);
    if (listing)
        closedir(listing);
    qsort(names, (size_t)n, 256, (int (*)(const void *, const void *))strcmp);
    return n;
}

static uint8_t *whole(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        fail(path, strerror(errno));
    fseek(file, 0, SEEK_END);
    *ret_size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*ret_size + 1);
    if (!bytes || fread(bytes, 1, *ret_size, file) != *ret_size)
        fail(path, "it cannot be read");
    fclose(file);
    return bytes;
}

/* SHA-256 of the log's records: of what is in its blocks, not of how these are packed. */
static void log_hash(const char *dir, char ret[static HEX])
{
    char err[JOURNAL_ERROR_MAX] = "";
    struct journal_reader *reader;
    struct journal_record record;
    uint8_t hash[LEDGER_HASH_SIZE];
    unsigned size = sizeof hash;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context || !EVP_DigestInit_ex(context, EVP_sha256(), NULL) ||
        journal_reader_open(dir, &reader, err, sizeof err) < 0)
        fail(dir, err);
    while (journal_reader_next(reader, &record) == 1) {
        const int64_t head[] = {record.kind, (int64_t)record.seq, record.recv_ns, (int64_t)record.len};
        EVP_DigestUpdate(context, head, sizeof head);
        EVP_DigestUpdate(context, record.bytes, record.len);
    }
    journal_reader_close(reader);
    EVP_DigestFinal_ex(context, hash, &size);
    EVP_MD_CTX_free(context);
    hex(hash, ret);
}

/* One random log: the final state of the engine that wrote it. */
static void log_line(FILE *file, uint64_t seed)
{
    static struct logged logged;
    uint8_t state[LEDGER_HASH_SIZE] = {0}, ledger[LEDGER_HASH_SIZE] = {0};
    char words[3][HEX];
    logged_open_as(&logged, seed, seed % 2 == 0);
    logged.driver.calendars = false; /* as the logs before them */
    logged_play(&logged, LOG_EVENTS, false);
    logged_state(&logged, STATE_STOP);
    if (engine_digest(logged.engine, state) < 0)
        fail("engine", "no memory");
    if (logged.n_ledger)
        memcpy(ledger, logged.ledger[logged.n_ledger - 1].hash, sizeof ledger);
    hex(state, words[0]);
    hex(ledger, words[1]);
    log_hash(logged.dir, words[2]);
    fprintf(file, "%" PRIu64 " orders %zu fills %zu ledger %zu state %s ledger %s log %s\n", seed,
            logged.n_orders, logged.n_fills, logged.n_ledger, words[0], words[1], words[2]);
    logged_close(&logged);
}

static void logs(const char *folder)
{
    FILE *file = made(within(folder, "logs.txt"));
    for (uint64_t seed = 1; seed <= LOGS; seed++)
        log_line(file, seed);
    fclose(file);
}

static void copy(const char *from, const char *to)
{
    size_t size;
    uint8_t *bytes = whole(from, &size);
    FILE *file = made(to);
    fwrite(bytes, 1, size, file);
    fclose(file);
    free(bytes);
}

/* A log of most of a day, and its database. */
static void day(const char *home, bool venues)
{
    static struct logged logged;
    struct state_dir state;
    struct rebuild_result result;
    char err[REBUILD_ERROR_MAX] = "", names[SEGMENTS][256];
    logged_open_as(&logged, venues ? DAY_SEED : RUN_SEED, venues);
    logged.driver.calendars = false;
    logged_play(&logged, DAY_EVENTS / 2, false);
    logged_state(&logged, STATE_ROTATION);
    logged_play(&logged, DAY_EVENTS / 2, false);
    logged_state(&logged, STATE_STOP);
    if (mkdir(home, 0700) < 0 || db_state_dir_find(home, &state, err, sizeof err) < 0)
        fail(home, err[0] ? err : strerror(errno));
    mkdir(state.events, 0700);
    int n = segments(logged.dir, names);
    for (int i = 0; i < n; i++)
        copy(within(logged.dir, names[i]), within(state.events, names[i]));
    logged_close(&logged);
    const struct rebuild_options options = {
        .state = &state, .why = "a golden output", .venue = venues ? "three" : "binance", .now_ns = now_ns};
    if (daemon_rebuild_database(&options, &result, err, sizeof err) < 0)
        fail(home, err);
}

static void status(const char *path)
{
    json_t *object = json_loads(fixture_status, 0, NULL);
    const char *const more[] = {fixture_venues, fixture_several, fixture_trainings};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        json_t *part = json_loads(more[i], 0, NULL);
        if (json_object_update(object, part) < 0)
            fail("status", "it cannot be merged");
        json_decref(part);
    }
    if (json_dump_file(object, path, JSON_INDENT(1)) < 0)
        fail(path, "it cannot be written");
    json_decref(object);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        fail("usage", "golden-state DIR");
    scratch_in_memory();
    logs(argv[1]);
    day(within(argv[1], "day"), true);
    day(within(argv[1], "run"), false);
    status(within(argv[1], "status.json"));
    int r = sample_make(within(argv[1], "desk")); /* word-ok */
    return r == 0 && check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
