#include "trainer/serve/record.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"
#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "record/json.h"

#define SCHEMA "papertape.record/1"

static const char *const states[TRAINING_STATES] = {
    "queued",    "loading",       "features", "rollout", "update", "evaluating", "proposing",
    "searching", "checkpointing", "paused",   "done",    "failed", "stopped"};
static const char *const endings[TRAINING_ENDINGS] = {"",         "stop",       "pause",         "restart",
                                                      "shutdown", "cpu_budget", "memory_budget", "hung"};

static const struct record_words words_state = {.n = TRAINING_STATES, .names = states},
                                 words_ending = {.n = TRAINING_ENDINGS, .names = endings};

/* In the file's order; after them the configuration and keys. SINCE_2: records of older versions lack it. */
#define RECORD(FIRST, NEXT) \
    FIRST(name, "", "name", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(state, "", "state", WORD, CHANGES, REQUIRED, &words_state) \
    NEXT(ending, "", "ending", WORD, CHANGES, REQUIRED, &words_ending) \
    NEXT(reason, "", "reason", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(cause, "", "cause", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(created_ns, "", "created_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(started_ns, "", "started_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(ended_ns, "", "ended_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(priority, "", "priority", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(attempts, "", "attempts", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(restarts, "", "restarts", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(overwrite, "", "overwrite", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(changed, "", "changed", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(pid, "", "pid", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(pid_started, "", "pid_started", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(boot, "", "boot", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(cpu_s, "", "cpu_s", REAL, CHANGES, REQUIRED, NULL) \
    NEXT(steps, "", "steps", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(total_steps, "", "total_steps", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(iteration, "", "iteration", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(episode_return, "", "return", REAL, CHANGES, OPTIONAL, NULL) \
    NEXT(backend, "", "backend", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(device, "", "device", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(checkpoint, "", "checkpoint", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(policy, "", "policy", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(checkpoint_steps, "", "checkpoint_steps", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(seq, "", "seq", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(run, "", "run", TEXT, CHANGES, SINCE_2, NULL) \
    NEXT(run_over, "", "run_over", BOOL, CHANGES, SINCE_2, NULL) \
    NEXT(begun_ns, "", "begun_ns", TIME, CHANGES, SINCE_2, NULL) \
    NEXT(due_ns, "", "due_ns", TIME, CHANGES, SINCE_2, NULL) \
    NEXT(verdict, "", "verdict", TEXT, CHANGES, SINCE_2, NULL) \
    NEXT(verdict_text, "", "verdict_text", TEXT, CHANGES, SINCE_2, NULL)

#define ROW struct training_record
static const struct record_field fields[] = {RECORD_FIELDS(RECORD)};
static const struct record layout = RECORD_OF("", fields);
#undef ROW

const char *serve_training_state_name(enum training_state state)
{
    return states[state];
}

bool serve_training_state_parse(const char *name, enum training_state *ret)
{
    int state = record_words_parse(&words_state, name);
    if (state >= 0)
        *ret = (enum training_state)state;
    return state >= 0;
}

bool serve_training_state_runs(enum training_state state)
{
    return state >= TRAINING_LOADING && state <= TRAINING_CHECKPOINTING;
}

bool serve_training_state_ended(enum training_state state)
{
    return state >= TRAINING_DONE;
}

bool serve_training_word_runs(const char *word)
{
    enum training_state state;
    return serve_training_state_parse(word, &state) && serve_training_state_runs(state);
}

bool serve_training_word_ended(const char *word)
{
    enum training_state state;
    return serve_training_state_parse(word, &state) && serve_training_state_ended(state);
}

bool serve_training_steps_endless(int64_t total_steps)
{
    const int64_t endless = 1000000000000; /* twelve days at a million a second */
    return total_steps <= 0 || total_steps >= endless;
}

double serve_training_steps_share(int64_t steps, int64_t total_steps)
{
    if (serve_training_steps_endless(total_steps) || steps < 0)
        return NAN;
    return fmin(1, (double)steps / (double)total_steps);
}

bool serve_training_record_name_is_good(const char *name)
{
    return db_training_name_good(name) && strcmp(name, "serve.lock") != 0;
}

void serve_training_record_text(char *ret, size_t size, const char *text)
{
    snprintf(ret, size, "%s", text);
    record_json_clean(ret, strlen(ret));
}

/* ---- Keys. ---- */

const struct training_record_key *serve_training_record_key_find(const struct training_record *record,
                                                                 const char *key)
{
    for (int i = 0; i < record->n_keys; i++)
        if (strcmp(record->keys[i].key, key) == 0)
            return &record->keys[i];
    return NULL;
}

void serve_training_record_key_add(struct training_record *record, const char *key, const char *cmd)
{
    if (record->n_keys == TRAINING_RECORD_KEYS_MAX)
        memmove(record->keys, record->keys + 1, (size_t)--record->n_keys * sizeof *record->keys);
    struct training_record_key *at = &record->keys[record->n_keys++];
    *at = (struct training_record_key){0};
    snprintf(at->key, sizeof at->key, "%s", key);
    snprintf(at->cmd, sizeof at->cmd, "%s", cmd);
}

/* ---- Writing. ---- */

static json_t *keys_to_json(const struct training_record *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->n_keys; i++)
        json_array_append_new(array, json_pack("{s:s, s:s}", "key", r->keys[i].key, "cmd", r->keys[i].cmd));
    return array;
}

static json_t *to_json(const struct training_record *r)
{
    json_t *json = record_json_object(&layout, NULL, 0, r, &(struct record_context){0});
    if (json && json_object_set_new(json, "schema", json_string(SCHEMA)) == 0 &&
        json_object_set_new(json, "config", json_string(r->config ? r->config : "")) == 0 &&
        json_object_set_new(json, "keys", keys_to_json(r)) == 0)
        return json;
    json_decref(json);
    return NULL;
}

int serve_training_record_write(const struct training_record *training, const char *path,
                                char err[static TRAINING_RECORD_ERROR_MAX])
{
    struct whole_file file;
    json_t *json = to_json(training);
    char *text = json ? json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    int r = text ? whole_file_open(path, TRAINING_TEMPORARY, 0640, &file) : -ENOMEM;
    if (r == 0) {
        r = whole_file_put(&file, text, strlen(text));
        r = whole_file_close(&file, r);
    }
    free(text);
    if (r < 0)
        snprintf(err, TRAINING_RECORD_ERROR_MAX,
                 "%.300s: cannot be written: %s: room and a folder of ours are needed", path, strerror(-r));
    return r;
}

/* ---- Reading. ---- */

static bool read_text(const json_t *json, const char *key, char *ret, size_t size)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text && (size_t)snprintf(ret, size, "%s", text) < size;
}

/* A record of an older version has none. */
static bool read_keys(const json_t *json, struct training_record *r)
{
    const json_t *array = json_object_get(json, "keys"), *at;
    size_t i;
    if (array && (!json_is_array(array) || json_array_size(array) > TRAINING_RECORD_KEYS_MAX))
        return false;
    json_array_foreach(array, i, at)
    {
        struct training_record_key *key = &r->keys[r->n_keys++];
        if (!read_text(at, "key", key->key, sizeof key->key) ||
            !read_text(at, "cmd", key->cmd, sizeof key->cmd))
            return false;
    }
    return true;
}

static bool from_json(const json_t *json, struct training_record *r)
{
    const char *schema = json_string_value(json_object_get(json, "schema"));
    const char *config = json_string_value(json_object_get(json, "config"));
    if (!schema || strcmp(schema, SCHEMA) != 0 || !config || !record_json_read(&layout, json, r) ||
        !serve_training_record_name_is_good(r->name) || !read_keys(json, r))
        return false;
    r->config = strdup(config);
    return r->config != NULL;
}

int serve_training_record_read(const char *path, struct training_record *ret,
                               char err[static TRAINING_RECORD_ERROR_MAX])
{
    struct training_record training = {0};
    json_error_t error;
    FILE *file = fopen(path, "re");
    if (!file) {
        int r = -errno;
        snprintf(err, TRAINING_RECORD_ERROR_MAX, "%.300s: cannot be read: %s", path, strerror(-r));
        return r;
    }
    json_t *json = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    bool good = json && from_json(json, &training);
    json_decref(json);
    if (!good) {
        serve_training_record_finish(&training);
        return fail_with(
            -EBADMSG, err, TRAINING_RECORD_ERROR_MAX,
            "%.300s: is no record of a training, or of another version: the file as it was written, or "
            "none, would be right",
            path);
    }
    *ret = training;
    return 0;
}

void serve_training_record_finish(struct training_record *record)
{
    free(record->config);
    *record = (struct training_record){0};
}
