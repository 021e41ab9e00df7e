/* Shows policies. What a policy was trained for is read from its copy, on a thread of the pool. */
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/arena.h"
#include "daemon/arena/file.h"
#include "daemon/command/internal.h"
#include "exchange/bar.h"
#include "record/json.h"
#include "strategy/policy/cache.h"
#include "strategy/policy/ensemble.h"
#include "strategy/policy/session_columns.h"

struct show_job {
    uv_work_t work;
    struct control_call *call;
    char policies[STATE_PATH_MAX];
    uint8_t id[POLICY_ID_SIZE];
    json_t *object; /* what the table says */
    json_t *made;   /* what the file says; NULL: it is not there */
};

/* ---- on the thread ---- */

static json_t *environment_object(const char *text)
{
    json_t *object = json_object();
    for (const char *line = text; line && *line;) {
        size_t len = strcspn(line, "\n"), key = strcspn(line, "=");
        if (key < len) {
            char *name = strndup(line, key);
            json_object_set_new(object, name ? name : "", json_stringn(line + key + 1, len - key - 1));
            free(name);
        }
        line += len + (line[len] == '\n');
    }
    return object;
}

static json_t *sets_object(const struct trained_policy *trained)
{
    json_t *object = json_object();
    for (int i = 0; i < trained->policy.n_assets; i++)
        json_object_set_new(object, trained->policy.assets[i].name, json_string(trained->sets[i]));
    return object;
}

static json_t *members_array(const struct policy *policy)
{
    json_t *members = json_array();
    for (int i = 0; i < policy->n_members; i++) {
        char id[POLICY_ID_TEXT];
        policy_id_text(policy->members[i]->id, id);
        json_array_append_new(members, json_pack("{s:s, s:s}", "file", policy->member_names[i], "id", id));
    }
    return members;
}

static void set_ensemble(json_t *object, const struct ensemble_policy *ensemble)
{
    json_object_set_new(object, "combine", json_string(ensemble_combine_name(ensemble->combine)));
    json_object_set_new(object, "window_bars", json_integer(ensemble->window_bars));
    json_object_set_new(object, "members", members_array(&ensemble->policy));
}

static json_t *made_object(const struct policy *policy)
{
    bool is_trained = strcmp(policy->kind, "trained") == 0;
    const struct trained_policy *trained = is_trained ? (const struct trained_policy *)policy : NULL;
    json_t *symbols = json_array(), *object = json_object();
    char columns[SESSION_COLUMNS_TEXT_MAX];
    for (int i = 0; i < policy->n_assets; i++)
        json_array_append_new(symbols, json_string(policy->assets[i].name));
    json_object_set_new(object, "kind", json_string(policy->kind));
    json_object_set_new(object, "symbols", symbols);
    json_object_set_new(object, "interval", json_string(bar_interval_name(policy->interval_ns)));
    json_object_set_new(object, "lookback", json_integer(policy->lookback));
    json_object_set_new(object, "initial_capital", json_real(policy->rules.capital));
    json_object_set_new(object, "features", trained ? json_string(trained->features) : json_null());
    if (trained && trained->sets)
        json_object_set_new(object, "feature_sets", sets_object(trained));
    if (trained && trained->session_columns)
        json_object_set_new(object, "session_features",
                            json_string(policy_session_columns_text(trained->session_columns, columns)));
    json_object_set_new(object, "trained_steps",
                        trained ? json_integer(trained->trained_steps) : json_null());
    json_object_set_new(object, "environment",
                        trained ? environment_object(trained->environment) : json_null());
    json_object_set_new(object, "verdict", record_json_text(policy->verdict));
    json_object_set_new(object, "verdict_text", record_json_text(policy->verdict_text));
    if (policy->n_members > 0)
        set_ensemble(object, (const struct ensemble_policy *)policy);
    return object;
}

static void read_made(uv_work_t *work)
{
    struct show_job *job = work->data;
    struct policy_cache *cache = policy_cache_open(job->policies);
    if (!cache)
        return;
    struct policies kept = policy_cache_find(cache);
    const struct policy *policy = kept.find(kept.ctx, job->id);
    if (policy)
        job->made = made_object(policy);
    policy_cache_close(cache);
}

/* ---- on the loop ---- */

static void made_read(uv_work_t *work, int status)
{
    struct show_job *job = work->data;
    (void)status;
    if (job->made) {
        json_object_update_missing(job->object, job->made);
        /* of one that is not in memory only the file knows it */
        json_object_set(job->object, "verdict", json_object_get(job->made, "verdict"));
        json_object_set(job->object, "verdict_text", json_object_get(job->made, "verdict_text"));
    }
    control_ok(job->call, json_pack("{s:o}", "policy", job->object));
    json_decref(job->made);
    free(job);
}

void daemon_command_policy_list(const struct request *request)
{
    struct arena *arena = request->commands->daemon->arena;
    control_ok(request->call,
               json_pack("{s:o, s:I, s:o}", "policies", arena_list(arena, SIZE_MAX), "policies_total",
                         (json_int_t)arena_total(arena), "champion", arena_champion_object(arena)));
}

void daemon_command_policy_show(const struct request *request)
{
    struct daemon *daemon = request->commands->daemon;
    const char *name;
    if (!daemon_command_args_text(request->given, "name", &name))
        return;
    json_t *object = arena_object(daemon->arena, name);
    struct show_job *job = object ? calloc(1, sizeof *job) : NULL;
    if (!object) {
        control_error(request->call, "ENOENT", "args.name: no policy %.40s was promoted", name);
        return;
    }
    if (job) {
        job->work.data = job;
        job->call = request->call;
        job->object = object;
        memcpy(job->policies, daemon->state.policies, sizeof job->policies);
        policy_id_parse(json_string_value(json_object_get(object, "id")), job->id);
    }
    if (!job || uv_queue_work(daemon->loop, &job->work, read_made, made_read) < 0) {
        free(job);
        json_decref(object);
        control_error(request->call, "ENOMEM", "out of memory");
    }
}
