#include "trainer/serve/record.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"
#include "exchange/whole_file.h"

#define SCHEMA "papertape.record/1"

static const char *const states[TRAINING_STATES] = {
    "queued",    "loading",       "features", "rollout", "update", "evaluating", "proposing",
    "searching", "checkpointing", "paused",   "done",    "failed", "stopped"};
static const char *const endings[TRAINING_ENDINGS] = {"",         "stop",       "pause",         "restart",
                                                      "shutdown", "cpu_budget", "memory_budget", "hung"};

const char *serve_training_state_name(enum training_state state)
{
    return states[state];
}

static bool find(const char *const *words, int n, const char *word, int *ret)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

bool serve_training_state_parse(const char *name, enum training_state *ret)
{
    int state;
    if (!find(states, TRAINING_STATES, name, &state))
        return false;
    *ret = (enum training_state)state;
    return true;
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
    json_t *json = json_string(ret);
    for (char *p = ret; !json && *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    json_decref(json);
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
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:i, s:i, s:i, s:b, s:b, s:I, s:I, s:s, "
                     "s:f, s:I, s:I, s:I, s:o, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:b, s:I, s:I, s:s, s:o}",
                     "schema", SCHEMA, "name", r->name, "state", states[r->state], "ending",
                     endings[r->ending], "reason", r->reason, "cause", r->cause, "created_ns",
                     (json_int_t)r->created_ns, "started_ns", (json_int_t)r->started_ns, "ended_ns",
                     (json_int_t)r->ended_ns, "priority", r->priority, "attempts", r->attempts, "restarts",
                     r->restarts, "overwrite", r->overwrite, "changed", r->changed, "pid", (json_int_t)r->pid,
                     "pid_started", (json_int_t)r->pid_started, "boot", r->boot, "cpu_s", r->cpu_s, "steps",
                     (json_int_t)r->steps, "total_steps", (json_int_t)r->total_steps, "iteration",
                     (json_int_t)r->iteration, "return",
                     isfinite(r->episode_return) ? json_real(r->episode_return) : json_null(), "backend",
                     r->backend, "device", r->device, "checkpoint", r->checkpoint, "policy", r->policy,
                     "checkpoint_steps", (json_int_t)r->checkpoint_steps, "seq", (json_int_t)r->seq, "run",
                     r->run, "run_over", r->run_over, "begun_ns", (json_int_t)r->begun_ns, "due_ns",
                     (json_int_t)r->due_ns, "config", r->config ? r->config : "", "keys", keys_to_json(r));
}

int serve_training_record_write(const struct training_record *record, const char *path,
                                char err[static TRAINING_RECORD_ERROR_MAX])
{
    struct whole_file file;
    json_t *json = to_json(record);
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

static bool read_whole(const json_t *json, const char *key, int64_t *ret)
{
    const json_t *value = json_object_get(json, key);
    *ret = json_integer_value(value);
    return json_is_integer(value);
}

static bool read_int(const json_t *json, const char *key, int *ret)
{
    int64_t value;
    if (!read_whole(json, key, &value) || value < INT_MIN || value > INT_MAX)
        return false;
    *ret = (int)value;
    return true;
}

static bool read_bool(const json_t *json, const char *key, bool *ret)
{
    const json_t *value = json_object_get(json, key);
    *ret = json_is_true(value);
    return json_is_boolean(value);
}

/* None in a record of an older version. */
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

/* Neither. */
static bool read_run(const json_t *json, struct training_record *r)
{
    return !json_object_get(json, "run") ||
           (read_text(json, "run", r->run, sizeof r->run) && read_bool(json, "run_over", &r->run_over) &&
            read_whole(json, "begun_ns", &r->begun_ns) && read_whole(json, "due_ns", &r->due_ns));
}

static bool from_json(const json_t *json, struct training_record *r)
{
    char word[TRAINING_RECORD_WORD_MAX];
    int ending = 0, pid = 0;
    const json_t *cpu = json_object_get(json, "cpu_s"), *gain = json_object_get(json, "return");
    const char *config = json_string_value(json_object_get(json, "config"));
    bool good =
        read_text(json, "schema", word, sizeof word) && strcmp(word, SCHEMA) == 0 &&
        read_text(json, "name", r->name, sizeof r->name) && serve_training_record_name_is_good(r->name) &&
        read_text(json, "state", word, sizeof word) && serve_training_state_parse(word, &r->state) &&
        read_text(json, "ending", word, sizeof word) && find(endings, TRAINING_ENDINGS, word, &ending) &&
        read_text(json, "reason", r->reason, sizeof r->reason) &&
        read_text(json, "cause", r->cause, sizeof r->cause) &&
        read_whole(json, "created_ns", &r->created_ns) && read_whole(json, "started_ns", &r->started_ns) &&
        read_whole(json, "ended_ns", &r->ended_ns) && read_int(json, "priority", &r->priority) &&
        read_int(json, "attempts", &r->attempts) && read_int(json, "restarts", &r->restarts) &&
        read_bool(json, "overwrite", &r->overwrite) && read_bool(json, "changed", &r->changed) &&
        read_int(json, "pid", &pid) && read_whole(json, "pid_started", &r->pid_started) &&
        read_text(json, "boot", r->boot, sizeof r->boot) && json_is_number(cpu) &&
        read_whole(json, "steps", &r->steps) && read_whole(json, "total_steps", &r->total_steps) &&
        read_whole(json, "iteration", &r->iteration) && (json_is_number(gain) || json_is_null(gain)) &&
        read_text(json, "backend", r->backend, sizeof r->backend) &&
        read_text(json, "device", r->device, sizeof r->device) &&
        read_text(json, "checkpoint", r->checkpoint, sizeof r->checkpoint) &&
        read_text(json, "policy", r->policy, sizeof r->policy) &&
        read_whole(json, "checkpoint_steps", &r->checkpoint_steps) && read_whole(json, "seq", &r->seq) &&
        read_run(json, r) && read_keys(json, r) && config;
    if (!good)
        return false;
    r->ending = (enum training_ending)ending;
    r->pid = pid;
    r->cpu_s = json_number_value(cpu);
    r->episode_return = json_is_number(gain) ? json_number_value(gain) : NAN;
    r->config = strdup(config);
    return r->config != NULL;
}

int serve_training_record_read(const char *path, struct training_record *ret,
                               char err[static TRAINING_RECORD_ERROR_MAX])
{
    struct training_record record = {0};
    json_error_t error;
    FILE *file = fopen(path, "re");
    if (!file) {
        int r = -errno;
        snprintf(err, TRAINING_RECORD_ERROR_MAX, "%.300s: cannot be read: %s", path, strerror(-r));
        return r;
    }
    json_t *json = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    bool good = json && from_json(json, &record);
    json_decref(json);
    if (!good) {
        serve_training_record_finish(&record);
        snprintf(err, TRAINING_RECORD_ERROR_MAX,
                 "%.300s: is no record of a training, or of another version: the file as it was written, or "
                 "none, would be right",
                 path);
        return -EBADMSG;
    }
    *ret = record;
    return 0;
}

void serve_training_record_finish(struct training_record *record)
{
    free(record->config);
    *record = (struct training_record){0};
}
