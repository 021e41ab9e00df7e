/* A record is read back as it was written, and everything else is refused. */
#include "trainer/serve/record.h"

#include <errno.h>
#include <fcntl.h>

#include "tests/check.h"
#include "tests/scratch.h"

static struct training_record example(void)
{
    struct training_record r = {.name = "ppo-btc",
                                .state = TRAINING_UPDATE,
                                .ending = ENDING_RESTART,
                                .reason = "“quoted”, and more",
                                .cause = "killed",
                                .created_ns = INT64_MAX,
                                .started_ns = 2,
                                .ended_ns = 3,
                                .priority = -100,
                                .attempts = 7,
                                .restarts = 4,
                                .overwrite = true,
                                .changed = true,
                                .pid = 4242,
                                .pid_started = 99,
                                .boot = "659678c5-457f-408d-97ec-857958daa19b",
                                .cpu_s = 0.1,
                                .steps = 1200000,
                                .total_steps = 9007199254740992,
                                .iteration = 1171,
                                .episode_return = 1.31,
                                .backend = "cpu-avx512",
                                .device = "GPU-1",
                                .checkpoint = "/state/a.ckpt",
                                .policy = "/state/a.safetensors",
                                .checkpoint_steps = 1048576,
                                .seq = 4711,
                                .verdict = "within_luck",
                                .verdict_text = "Within luck: …",
                                .config = strdup("[training]\nname = a\n"),
                                .keys = {{"k/1", "start"}, {"~5.7", "stop"}},
                                .n_keys = 2};
    return r;
}

static void test_back(void)
{
    const char *path = scratch_path("record.json");
    char err[TRAINING_RECORD_ERROR_MAX];
    struct training_record a = example(), b = {0};
    CHECK_INT(serve_training_record_write(&a, path, err), 0);
    CHECK_INT(serve_training_record_read(path, &b, err), 0);
    CHECK_STR(b.config, a.config);
    free(b.config);
    b.config = a.config;
    CHECK_STR(b.name, a.name);
    CHECK_STR(b.reason, a.reason);
    CHECK_STR(b.cause, a.cause);
    CHECK_STR(b.boot, a.boot);
    CHECK_STR(b.backend, a.backend);
    CHECK_STR(b.device, a.device);
    CHECK_STR(b.checkpoint, a.checkpoint);
    CHECK_STR(b.policy, a.policy);
    CHECK_STR(b.verdict, a.verdict);
    CHECK_STR(b.verdict_text, a.verdict_text);
    CHECK(b.state == a.state && b.ending == a.ending && b.created_ns == a.created_ns &&
          b.started_ns == a.started_ns && b.ended_ns == a.ended_ns && b.priority == a.priority &&
          b.attempts == a.attempts && b.restarts == a.restarts && b.overwrite && b.changed &&
          b.pid == a.pid && b.pid_started == a.pid_started && b.cpu_s == a.cpu_s && b.steps == a.steps &&
          b.total_steps == a.total_steps && b.iteration == a.iteration &&
          b.episode_return == a.episode_return && b.checkpoint_steps == a.checkpoint_steps &&
          b.seq == a.seq && b.n_keys == 2);
    CHECK(memcmp(a.keys, b.keys, sizeof a.keys) == 0);

    a.episode_return = NAN;
    CHECK_INT(serve_training_record_write(&a, path, err), 0);
    b = (struct training_record){0};
    CHECK_INT(serve_training_record_read(path, &b, err), 0);
    CHECK(isnan(b.episode_return));
    serve_training_record_finish(&b);

    /* Where it cannot be written what was there stays. */
    CHECK_INT(serve_training_record_write(&a, scratch_path("none/record.json"), err), -ENOENT);
    CHECK(strstr(err, "record.json") != NULL);
    serve_training_record_finish(&a);
}

/* Every prefix of a record, and every byte of it altered, is either refused or a record. */
static void test_torn(void)
{
    char err[TRAINING_RECORD_ERROR_MAX], text[4096];
    struct training_record a = example(), b;
    CHECK_INT(serve_training_record_write(&a, scratch_path("whole.json"), err), 0);
    FILE *file = fopen(scratch_path("whole.json"), "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    CHECK(n > 500 && n < sizeof text - 1);
    text[n] = '\0';
    char *torn = strdup(text);
    for (size_t i = 0; i < n && torn; i++) {
        torn[i] = '\0';
        int r = serve_training_record_read(scratch_write("torn.json", torn), &b, err);
        CHECK_INT(r, -EBADMSG);
        torn[i] = text[i];
    }
    for (size_t i = 0; i < n && torn; i++) {
        torn[i] ^= 1;
        int r = serve_training_record_read(scratch_write("altered.json", torn), &b, err);
        CHECK(r == 0 || r == -EBADMSG);
        if (r == 0) {
            CHECK(serve_training_record_name_is_good(b.name) && b.config != NULL);
            serve_training_record_finish(&b);
        }
        torn[i] = text[i];
    }
    free(torn);
    CHECK_INT(serve_training_record_read(scratch_path("missing.json"), &b, err), -ENOENT);
    serve_training_record_finish(&a);
}

static void test_keys(void)
{
    struct training_record r = {0}, b;
    char key[TRAINING_RECORD_KEY_MAX], err[TRAINING_RECORD_ERROR_MAX];
    for (int i = 0; i < TRAINING_RECORD_KEYS_MAX + 3; i++) {
        snprintf(key, sizeof key, "key %d", i);
        CHECK(!serve_training_record_key_find(&r, key));
        serve_training_record_key_add(&r, key, i % 2 ? "stop" : "resume");
    }
    CHECK(!serve_training_record_key_find(&r, "key 2"));
    CHECK_STR(serve_training_record_key_find(&r, "key 3")->cmd, "stop");
    CHECK_STR(serve_training_record_key_find(&r, key)->cmd, "resume");
    struct training_record a = example();
    memcpy(a.keys, r.keys, sizeof a.keys);
    a.n_keys = r.n_keys;
    const char *path = scratch_path("keys.json");
    CHECK_INT(serve_training_record_write(&a, path, err), 0);
    CHECK_INT(serve_training_record_read(path, &b, err), 0);
    CHECK_INT(b.n_keys, TRAINING_RECORD_KEYS_MAX);
    CHECK(memcmp(b.keys, a.keys, sizeof b.keys) == 0);
    serve_training_record_finish(&a);
    serve_training_record_finish(&b);
}

static void test_words(void)
{
    enum training_state state;
    char text[8];
    for (int i = 0; i < TRAINING_STATES; i++)
        CHECK(serve_training_state_parse(serve_training_state_name((enum training_state)i), &state) &&
              (int)state == i);
    CHECK(!serve_training_state_parse("stalled", &state) && !serve_training_state_parse("", &state));
    CHECK(!serve_training_state_runs(TRAINING_QUEUED) && serve_training_state_runs(TRAINING_LOADING) &&
          serve_training_state_runs(TRAINING_CHECKPOINTING) && !serve_training_state_runs(TRAINING_PAUSED));
    CHECK(!serve_training_state_ended(TRAINING_PAUSED) && serve_training_state_ended(TRAINING_DONE) &&
          serve_training_state_ended(TRAINING_STOPPED));
    CHECK(serve_training_record_name_is_good("ppo-btc_1.5") &&
          serve_training_record_name_is_good("1234567890123456789012345678901"));
    CHECK(!serve_training_record_name_is_good("") && !serve_training_record_name_is_good(".a") &&
          !serve_training_record_name_is_good("a/b") && !serve_training_record_name_is_good("ä") &&
          !serve_training_record_name_is_good("12345678901234567890123456789012"));
    serve_training_record_text(text, sizeof text, "abcdefghij");
    CHECK_STR(text, "abcdefg");
    serve_training_record_text(text, sizeof text, "abcdefä"); /* cut within a letter */
    CHECK_STR(text, "abcdef?");
    serve_training_record_text(text, sizeof text,
                               "a\xff"
                               "b");
    CHECK_STR(text, "a?b");
    serve_training_record_text(text, sizeof text, "öäü");
    CHECK_STR(text, "öäü");
}

int main(void)
{
    scratch_in_memory();
    test_back();
    test_torn();
    test_keys();
    test_words();
    return check_done("trainer/serve/record");
}
