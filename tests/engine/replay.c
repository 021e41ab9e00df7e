/* A journal played again gives the recorded outputs, from every state of it; and what is cut, altered, newer
 * or missing is reported. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/counts.h"
#include "tests/engine/recording.h"

enum { RECORDINGS_LONG = 5, RECORDINGS = COUNTS_PART ? 1 : 2, DAMAGED = COUNTS_PART ? 12 : 20 };

static struct recording recording;
static int n_damaged;

struct played {
    int r;
    uint64_t seq, runs, holes, events;
    struct tape tape;
    char err[JOURNAL_ERROR_MAX];
    uint8_t digest[LEDGER_HASH_SIZE];
};

/* Plays it; the tape continues from `tape`. */
static struct played play(struct replay_options options, struct tape tape)
{
    struct played played = {.tape = tape};
    struct replay *replay = NULL;
    if (!options.path)
        options.path = recording.dir;
    options.sink = tape_sink(&played.tape);
    played.r = engine_replay_open(&options, &replay, played.err, sizeof played.err);
    CHECK((played.r == 0) == (replay != NULL) && (played.r == 0) == (played.err[0] == '\0'));
    if (!replay)
        return played;
    CHECK(engine_replay_event(replay) == NULL);
    while ((played.r = engine_replay_step(replay)) > 0) {
        played.events++;
        CHECK_INT(engine_replay_event(replay)->seq, engine_replay_seq(replay));
    }
    CHECK(played.r == 0 || engine_replay_error(replay)[0]);
    snprintf(played.err, sizeof played.err, "%s", engine_replay_error(replay));
    played.seq = engine_replay_seq(replay);
    played.runs = engine_replay_runs(replay);
    played.holes = engine_replay_holes(replay);
    CHECK_INT(engine_digest(engine_replay_engine(replay), played.digest), 0);
    engine_replay_close(replay);
    return played;
}

static void check_whole(const struct played *played)
{
    uint8_t digest[LEDGER_HASH_SIZE];
    CHECK_STR(played->err, "");
    CHECK_INT(played->r, 0);
    CHECK_INT(played->seq, recording.driver.seq);
    CHECK(played->tape.hash == recording.tape.hash);
    CHECK_INT(engine_digest(recording.engine, digest), 0);
    CHECK(memcmp(digest, played->digest, sizeof digest) == 0);
}

static void test_whole(uint64_t seed, int events)
{
    const struct tape none = {0};
    recording_make(&recording, seed, events, 30000);
    struct played played = play((struct replay_options){.check_states = true}, none);
    check_whole(&played);
    uint64_t replaced = 0;
    for (int i = 0; i < recording.n_states; i++)
        replaced += recording.states[i].why == STATE_NEW_RUN || recording.states[i].why == STATE_AFTER_HOLE;
    CHECK_INT(played.runs, replaced);
    CHECK_INT(played.holes, recording.lost);
    CHECK_INT(played.events + played.holes, recording.driver.seq);
    CHECK_INT(played.tape.fills, recording.tape.fills);
    for (int i = 0; i < recording.n_states; i++) {
        uint64_t seq = recording.states[i].seq;
        struct replay_options from = {.check_states = true, .from_seq = seq};
        played = play(from, recording.tapes[seq]);
        check_whole(&played);
    }
    played = play((struct replay_options){.newest = true, .check_states = true},
                  recording.tapes[recording.states[recording.n_states - 1].seq]);
    check_whole(&played);
    printf("engine/replay: %ju events (%ju lost), %d states, %ju runs, %ju fills, %ju rows\n",
           (uintmax_t)recording.driver.seq, (uintmax_t)recording.lost, recording.n_states,
           (uintmax_t)recording.run, (uintmax_t)recording.tape.fills, (uintmax_t)recording.tape.rows);
}

static char newest[PATH_MAX], oldest[PATH_MAX];

static int find_segments(void)
{
    DIR *dir = opendir(recording.dir);
    int n = 0;
    newest[0] = oldest[0] = '\0';
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char path[PATH_MAX];
        size_t len = strlen(entry->d_name);
        if (len < 8 || strcmp(entry->d_name + len - 8, ".journal") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", recording.dir, entry->d_name);
        if (!*newest || strcmp(path, newest) > 0)
            strcpy(newest, path);
        if (!*oldest || strcmp(path, oldest) < 0)
            strcpy(oldest, path);
        n++;
    }
    if (dir)
        closedir(dir);
    return n;
}

/* By time, one segment alone, and an end before the end. */
static void test_parts(void)
{
    int from = 0; /* a state that is replayed in between */
    while (from < recording.n_states && recording.states[from].seq < recording.driver.seq / 2)
        from++;
    CHECK(find_segments() > 2);
    struct played played = play((struct replay_options){.path = oldest}, (struct tape){0});
    CHECK_INT(played.r, 0);
    CHECK(played.seq < recording.driver.seq && played.events > 0);
    CHECK(played.tape.hash == recording.tapes[played.seq].hash);
    played = play((struct replay_options){.from_ns = DRIVER_START_NS - 1}, (struct tape){0});
    CHECK_INT(played.r, -ENOENT);
    CHECK(played.err[0]);

    struct replay *replay = NULL;
    struct tape tape = {0};
    char err[JOURNAL_ERROR_MAX];
    struct replay_options options = {.path = recording.dir, .sink = tape_sink(&tape)};
    CHECK_INT(engine_replay_open(&options, &replay, err, sizeof err), 0);
    for (uint64_t i = 0; i < 700; i++)
        CHECK_INT(engine_replay_step(replay), 1);
    uint64_t seq = engine_replay_seq(replay);
    int64_t ns = engine_replay_event(replay)->recv_ns;
    while (engine_replay_step(replay) == 1 && engine_replay_event(replay)->recv_ns == ns)
        seq = engine_replay_seq(replay);
    engine_replay_close(replay);
    played = play((struct replay_options){.to_ns = ns}, (struct tape){0});
    CHECK_INT(played.r, 0);
    CHECK_INT(played.seq, seq);
    CHECK(played.tape.hash == recording.tapes[seq].hash);
}

static void copy_file(const char *path, uint8_t **ret_bytes, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    struct stat info;
    if (!f || fstat(fileno(f), &info) < 0)
        exit(EXIT_FAILURE);
    *ret_len = (size_t)info.st_size;
    *ret_bytes = malloc(*ret_len + 1);
    if (!*ret_bytes || fread(*ret_bytes, 1, *ret_len, f) != *ret_len)
        exit(EXIT_FAILURE);
    fclose(f);
}

static void put_file(const char *path, const uint8_t *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, len, f) != len || fclose(f) != 0)
        exit(EXIT_FAILURE);
}

/* A cut tail ends the play early, with all outputs until then. */
static void test_cut(struct random *random)
{
    uint8_t *bytes;
    size_t len;
    find_segments();
    copy_file(newest, &bytes, &len);
    for (int i = 0; i < n_damaged; i++) {
        put_file(newest, bytes, (size_t)random_between(random, 0, (int64_t)len - 1));
        struct played played = play((struct replay_options){.check_states = true}, (struct tape){0});
        CHECK_STR(played.err, "");
        CHECK_INT(played.r, 0);
        CHECK(played.seq <= recording.driver.seq && played.tape.hash == recording.tapes[played.seq].hash);
    }
    put_file(newest, bytes, len);
    free(bytes);
}

/* An altered byte is an error that names the file, or, at the very end, a cut; what was played before is
 * right. */
static void test_altered(struct random *random)
{
    uint8_t *bytes;
    size_t len;
    find_segments();
    for (int k = 0; k < 2; k++) {
        const char *path = k ? newest : oldest;
        copy_file(path, &bytes, &len);
        for (int i = 0; i < n_damaged; i++) {
            size_t at = (size_t)random_between(random, 0, (int64_t)len - 1);
            uint8_t bit = (uint8_t)(1 << random_between(random, 0, 7));
            bytes[at] ^= bit;
            put_file(path, bytes, len);
            struct played played = play((struct replay_options){.check_states = true}, (struct tape){0});
            bool reported = played.r < 0 && strstr(played.err, strrchr(path, '/') + 1);
            CHECK(reported || (k == 1 && played.r == 0));
            CHECK(played.tape.hash == recording.tapes[played.seq].hash);
            bytes[at] ^= bit;
        }
        put_file(path, bytes, len);
        free(bytes);
    }
}

/* A recording of some events, and then what `spoil` adds. */
static struct played spoiled(void (*spoil)(struct recording *r), struct replay_options options)
{
    recording_begin(&recording, 11, 1 << 20);
    for (int i = 0; i < 300; i++)
        recording_event(&recording, true);
    recording_put(&recording);
    spoil(&recording);
    recording_close(&recording);
    struct played played = play(options, (struct tape){0});
    recording_remove(&recording);
    return played;
}

static void add(struct recording *r, enum journal_kind kind)
{
    struct journal_record record = {kind, r->driver.seq, r->driver.now_ns, r->codec.bytes, r->codec.len};
    CHECK_INT(journal_batch_add(&r->batch, &record), 0);
}

static void spoil_event_newer(struct recording *r)
{
    struct event event = {.kind = EVENT_TIMER};
    CHECK_INT(event_encode(&event, &r->codec), 0);
    r->codec.bytes[0] = EVENT_RECORD_VERSION + 1;
    r->driver.seq++;
    add(r, JOURNAL_EVENT);
}

static void spoil_event_bytes(struct recording *r)
{
    struct event event = {.kind = EVENT_TIMER};
    CHECK_INT(event_encode(&event, &r->codec), 0);
    r->codec.bytes[1] = 0x7f; /* no kind */
    r->driver.seq++;
    add(r, JOURNAL_EVENT);
}

static void spoil_state_newer(struct recording *r)
{
    CHECK_INT(engine_state_record_encode(r->engine, r->run, STATE_ROTATION, NULL, 0, &r->codec), 0);
    r->codec.bytes[0] = STATE_RECORD_VERSION + 1;
    add(r, JOURNAL_STATE);
}

static void spoil_layout_newer(struct recording *r)
{
    struct state_record record;
    CHECK_INT(engine_state_record_encode(r->engine, r->run, STATE_NEW_RUN, NULL, 0, &r->codec), 0);
    CHECK_INT(engine_state_record_decode(r->codec.bytes, r->codec.len, &record), 0);
    r->codec.bytes[r->codec.len - record.len + 4] = ENGINE_STATE_VERSION + 1;
    add(r, JOURNAL_STATE);
}

/* The engine had something that no event reported: a difference that only the states show. */
static void spoil_state(struct recording *r)
{
    engine_restore_paused(r->engine, !engine_paused(r->engine));
    recording_state(r, STATE_ROTATION);
}

/* As papertaped --record begins its journals. */
static void spoil_empty(struct recording *r)
{
    struct journal_record record = {JOURNAL_STATE, r->driver.seq, r->driver.now_ns, "", 0};
    CHECK_INT(journal_batch_add(&r->batch, &record), 0);
}

static void spoil_run(struct recording *r)
{
    r->run += 2;
    recording_state(r, STATE_STOP);
}

static void spoil_ledger(struct recording *r)
{
    struct engine_ids ids;
    engine_ids(r->engine, &ids);
    engine_restore_ids(r->engine, ids.last_order, ids.last_fill, ids.last_ledger - 1, ids.hash);
    r->run++;
    recording_state(r, STATE_NEW_RUN);
}

static void spoil_hash(struct recording *r)
{
    struct engine_ids ids;
    engine_ids(r->engine, &ids);
    ids.hash[5] ^= 1;
    engine_restore_ids(r->engine, ids.last_order, ids.last_fill, ids.last_ledger, ids.hash);
    r->run++;
    recording_state(r, STATE_NEW_RUN);
}

static void test_spoiled(void)
{
    static const struct {
        void (*spoil)(struct recording *r);
        int r;
        const char *err;
    } cases[] = {
        {spoil_event_newer, -ENOTSUP, "event 301 is newer than layout "},
        {spoil_event_bytes, -EBADMSG, "event 301 cannot be read"},
        {spoil_state_newer, -ENOTSUP, "the state after event 300 is newer than layout "},
        {spoil_layout_newer, -ENOTSUP,
         "the state after event 300: layout 14 of the engine's state is newer than 13, the newest that this "
         "program knows: update papertape"},
        {spoil_state, -EILSEQ, "the state after event 300 (rotation) is not what the events make of it"},
        {spoil_run, -EILSEQ, "the state of run 3 after event 300 (stop) does not follow event 300 of run 1"},
        {spoil_ledger, -EILSEQ, NULL},
        {spoil_hash, -EILSEQ, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct played played = spoiled(cases[i].spoil, (struct replay_options){.check_states = true});
        CHECK_INT(played.r, cases[i].r);
        if (cases[i].err)
            CHECK(strncmp(played.err, cases[i].err, strlen(cases[i].err)) == 0);
        CHECK((cases[i].r == -ENOTSUP) == (strstr(played.err, ": update papertape") != NULL));
        CHECK(strstr(played.err, "event 30"));
        CHECK_INT(played.seq, 300);
    }
    struct played frames = spoiled(spoil_empty, (struct replay_options){.newest = true});
    CHECK_INT(frames.r, -ENODATA);
    CHECK_STR(frames.err,
              "it holds what a venue sent, without an engine: papertape-replay plays it, not the engine");
    CHECK_INT(spoiled(spoil_state, (struct replay_options){0}).r, 0); /* nothing was compared */
    recording.dir[0] = '\0';
    CHECK_INT(play((struct replay_options){.path = "/nonexistent"}, (struct tape){0}).r, -ENOENT);
}

int main(void)
{
    struct random random = random_seeded("engine/replay", 20261121);
    const bool thorough = getenv("PAPERTAPE_LONG") != NULL;
    const uint64_t recordings = thorough ? RECORDINGS_LONG : RECORDINGS;
    n_damaged = thorough ? 40 : DAMAGED;
    printf(
        "counts: %d recordings, %d cuts, and as many altered bytes of each segment (PAPERTAPE_LONG: %d, 40)\n",
        (int)recordings, n_damaged, RECORDINGS_LONG);
    for (uint64_t i = 0; i < recordings; i++) {
        test_whole(random.state + i, 6000);
        if (i + 1 < recordings)
            recording_remove(&recording);
    }
    test_parts();
    test_cut(&random);
    test_altered(&random);
    recording_remove(&recording);
    test_spoiled();
    return check_done("engine/replay");
}
