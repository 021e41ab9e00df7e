/* What studies propose, and what the arena decides by itself: commands without a client. A proposal's row
 * is stored, pending, with the event that reported it; it is judged once that is on the disk, and its row
 * is settled with all that follows: so it is judged exactly once, whenever the daemon is killed.
 * docs/policies.md, "Proposals". */
#include <errno.h>
#include <math.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/arena/arena.h"
#include "daemon/arena/file.h"
#include "daemon/command/internal.h"
#include "daemon/log.h"
#include "trainer/study/gate.h"

enum { PROPOSAL_BYTES_MAX = 32768, WHY_MAX = 512, AGAIN_MS = 5000 };

/* The daemon's own commands. */
static struct control_peer own_peer(void)
{
    return (struct control_peer){.uid = geteuid(), .pid = 0};
}

/* ---- what is on its way ---- */

void daemon_command_proposed_free(struct proposed *proposed)
{
    if (!proposed)
        return;
    json_decref(proposed->args);
    free(proposed);
}

void daemon_command_proposed_finish(struct commands *commands)
{
    while (commands->proposed) {
        struct proposed *proposed = commands->proposed;
        commands->proposed = proposed->next;
        daemon_command_proposed_free(proposed);
    }
    commands->newest_proposed = &commands->proposed;
}

void daemon_command_proposed_again(struct commands *commands, struct proposed *proposed)
{
    proposed->next = NULL;
    proposed->put_off = true;
    proposed->from_ms = uv_now(commands->daemon->loop) + AGAIN_MS;
    *commands->newest_proposed = proposed;
    commands->newest_proposed = &proposed->next;
}

static bool is_on_its_way(const struct commands *commands, const char *key)
{
    for (const struct proposed *at = commands->proposed; at; at = at->next)
        if (strcmp(at->key, key) == 0)
            return true;
    return daemon_command_policy_proposes(commands, key);
}

static bool was_judged(const struct commands *commands, const json_t *args)
{
    char name[2 * ORDER_CLIENT_ID_MAX + ACCOUNT_NAME_MAX];
    return daemon_command_key_name(COMMAND_PROPOSE, args, NULL, name) &&
           daemon_command_key_find(commands, name);
}

/* The same trial of the same run: the training's name alone may later be another run's. */
static void make_key(const char *training, int64_t created_ns, const json_t *proposal,
                     char ret[static COMMAND_KEY_MAX])
{
    const char *study = json_string_value(json_object_get(proposal, "study"));
    unsigned char hash[SHA256_DIGEST_LENGTH];
    char text[1024];
    int len = snprintf(text, sizeof text, "%s|%lld|%.600s|%lld", training, (long long)created_ns,
                       study ? study : "", (long long)json_integer_value(json_object_get(proposal, "trial")));
    SHA256((const unsigned char *)text, (size_t)len, hash);
    int at = snprintf(ret, COMMAND_KEY_MAX, "proposal:");
    for (int i = 0; i < 12; i++)
        at += snprintf(ret + at, COMMAND_KEY_MAX - (size_t)at, "%02x", hash[i]);
}

static json_t *make_args(const char *training, const char *key, const json_t *proposal)
{
    char *text = json_dumps(proposal, JSON_COMPACT);
    json_t *kept = text && strlen(text) <= PROPOSAL_BYTES_MAX
                       ? json_deep_copy(proposal)
                       : json_pack("{s:O?, s:O?}", "study", json_object_get(proposal, "study"), "trial",
                                   json_object_get(proposal, "trial"));
    free(text);
    return json_pack("{s:s, s:s, s:o}", "key", key, "name", training, "proposal", kept);
}

void daemon_commands_propose(struct commands *commands, const char *training, int64_t created_ns,
                             const json_t *proposal)
{
    struct session *session = commands->daemon->session;
    const struct control_peer peer = own_peer();
    struct proposed *proposed = calloc(1, sizeof *proposed);
    if (!proposed)
        goto no_memory;
    make_key(training, created_ns, proposal, proposed->key);
    proposed->args = make_args(training, proposed->key, proposal);
    if (!proposed->args)
        goto no_memory;
    if (is_on_its_way(commands, proposed->key) || was_judged(commands, proposed->args)) {
        daemon_command_proposed_free(proposed);
        return;
    }
    const struct request request = {.commands = commands, .cmd = COMMAND_PROPOSE, .peer = &peer};
    struct work work = {.request = &request, .args = json_dumps(proposed->args, JSON_COMPACT)};
    if (!work.args)
        goto no_memory;
    work.id = proposed->id = daemon_session_command_id(session);
    work.ts_ns = proposed->ts_ns = daemon_session_now(session);
    memcpy(work.key, proposed->key, sizeof work.key);
    daemon_command_put_row(&work, DB_COMMAND_PENDING, "");
    free(work.args);
    proposed->ticket = db_writer_last(daemon_session_writer(session));
    *commands->newest_proposed = proposed;
    commands->newest_proposed = &proposed->next;
    return;
no_memory:
    daemon_log_error("training %s: its proposal is lost: out of memory", training);
    daemon_command_proposed_free(proposed);
}

void daemon_command_proposed_left(struct commands *commands, const struct db_command *row)
{
    struct proposed *proposed = calloc(1, sizeof *proposed);
    json_t *args = json_loads(row->args, 0, NULL);
    if (!proposed || !args || !row->key) { /* it stays pending */
        daemon_log_error("command %llu: a proposal that cannot be read", (unsigned long long)row->id);
        json_decref(args);
        free(proposed);
        return;
    }
    *proposed =
        (struct proposed){.next = commands->proposed, .id = row->id, .ts_ns = row->ts_ns, .args = args};
    snprintf(proposed->key, sizeof proposed->key, "%s", row->key);
    if (!commands->proposed)
        commands->newest_proposed = &proposed->next;
    commands->proposed = proposed; /* the newest came first */
}

/* ---- judging ---- */

/* False: it does not, and why; true: words for its reason. */
static bool passes_gates(const struct gate_limits *limits, const json_t *proposal, char *words, size_t size)
{
    struct gate_verdict verdicts[GATES_MAX];
    struct gate_figures figures;
    char err[GATE_ERROR_MAX];
    bool all;
    if (gate_figures_parse(proposal, &figures, err) < 0) {
        snprintf(words, size, "%s", err);
        return false;
    }
    int n = gate_judge(limits, &figures, verdicts, &all);
    int written = all ? snprintf(words, size, "admitted: ") : 0;
    gate_words(verdicts, n, all, words + written, size - (size_t)written);
    return all;
}

static void say_what(const json_t *proposal, char *buf, size_t size)
{
    const char *study = json_string_value(json_object_get(proposal, "study"));
    snprintf(buf, size, "%.100s/%lld", study ? study : "",
             (long long)json_integer_value(json_object_get(proposal, "trial")));
}

/* A fraction of a second counts; an invalid or missing duration is the configuration's. */
static int64_t expires_at(const struct daemon *daemon, const json_t *proposal)
{
    static const double MOST_S = 3e9;
    const json_t *given = json_object_get(proposal, "expires_s");
    double seconds = json_is_number(given) ? json_number_value(given) : 0;
    int64_t after_ns =
        seconds > 0 && seconds < MOST_S ? (int64_t)(seconds * 1e9) : daemon->config.arena_expires_ns;
    return after_ns > 0 ? daemon_session_now(daemon->session) + after_ns : 0;
}

void daemon_command_proposal_refuse(struct work *work, const struct proposed *proposed, const char *why)
{
    char what[ARENA_PROPOSAL_MAX], text[ARENA_PROPOSAL_MAX + ARENA_ERROR_MAX];
    const json_t *proposal = json_object_get(proposed->args, "proposal");
    const bool hoped = json_is_true(json_object_get(proposal, "admitted")); /* the study shows it as that */
    say_what(proposal, what, sizeof what);
    snprintf(text, sizeof text, "%s: refused: %s", what, why);
    daemon_log_event_at(LOG_LEVEL_INFO, LOG_POLICY_REFUSED,
                        LOG_OF(.training = json_string_value(json_object_get(proposal, "study")),
                               .alert = "PROPOSAL_REFUSED"),
                        "proposal %s", text);
    daemon_session_alert(work->request->commands->daemon->session, hoped ? DB_WARNING : DB_INFO,
                         "PROPOSAL_REFUSED", text);
    daemon_command_refuse(work, "PROPOSAL_REFUSED", text);
}

/* Takes it over. */
static void judge(struct commands *commands, struct proposed *proposed)
{
    const struct daemon *daemon = commands->daemon;
    const struct control_peer peer = own_peer();
    const struct request request = {.commands = commands,
                                    .cmd = COMMAND_PROPOSE,
                                    .args = proposed->args,
                                    .peer = &peer,
                                    .engine = daemon_session_engine(daemon->session)};
    const char *training = json_string_value(json_object_get(proposed->args, "name"));
    const json_t *proposal = json_object_get(proposed->args, "proposal");
    const char *path = json_string_value(json_object_get(proposal, "policy"));
    char words[WHY_MAX], name[ACCOUNT_NAME_MAX], what[ARENA_PROPOSAL_MAX];
    say_what(proposal, what, sizeof what);
    bool good = training && passes_gates(&daemon->config.arena_gates, proposal, words, sizeof words);
    const char *kind = json_string_value(json_object_get(proposal, "kind"));
    if (good && kind && strcmp(kind, "strategy") == 0) {
        snprintf(
            words, sizeof words,
            "a strategy's parameters, no policy: the arena has policies alone: [account] in %.300s has them",
            path ? path : "its study's folder");
        good = false;
    }
    if (good && (!path || path[0] != '/' || strlen(path) >= ARENA_PATH_MAX)) {
        snprintf(words, sizeof words, "policy: an absolute path of a file is needed");
        good = false;
    }
    good = good && arena_slot(daemon->arena, training, name, words, sizeof words) == 0;
    if (!good) {
        struct work work; /* without memory the next start finds it pending */
        if (daemon_command_begin_again(&request, proposed->id, proposed->ts_ns, &work))
            daemon_command_proposal_refuse(&work, proposed,
                                           training ? words : "name: that of its training is needed");
        daemon_command_proposed_free(proposed);
        return;
    }
    daemon_command_policy_ask(&request, &(struct policy_ask){.cmd = COMMAND_PROPOSE,
                                                             .name = name,
                                                             .path = path,
                                                             .to = DB_POLICY_CHALLENGER,
                                                             .confirmed = true, /* by its gates */
                                                             .reason = words,
                                                             .proposed = proposed,
                                                             .proposal = what,
                                                             .training = training,
                                                             .expires_ns = expires_at(daemon, proposal)});
}

void daemon_commands_propose_go(struct commands *commands)
{
    uint64_t committed = db_writer_committed(daemon_session_writer(commands->daemon->session));
    uint64_t now_ms = uv_now(commands->daemon->loop);
    struct proposed **at = &commands->proposed;
    while (*at && ((*at)->ticket > committed || (*at)->from_ms > now_ms))
        at = &(*at)->next;
    struct proposed *proposed = *at;
    if (!proposed)
        return;
    *at = proposed->next;
    if (!*at)
        commands->newest_proposed = at;
    proposed->next = NULL;
    if (was_judged(commands, proposed->args)) /* the log had its outcome already */
        daemon_command_proposed_free(proposed);
    else
        judge(commands, proposed);
}

/* ---- what the arena decides ---- */

static void decide(struct commands *commands, const struct policy_ask *ask, json_t *args)
{
    const struct control_peer peer = own_peer();
    const struct request request = {.commands = commands,
                                    .args = args,
                                    .peer = &peer,
                                    .engine = daemon_session_engine(commands->daemon->session)};
    if (args)
        daemon_command_policy_ask(&request, ask);
    json_decref(args);
}

void daemon_commands_crown(struct commands *commands, const char *name, const char *reason)
{
    decide(commands,
           &(struct policy_ask){.cmd = "policy_promote",
                                .name = name,
                                .to = DB_POLICY_CHAMPION,
                                .confirmed = true,
                                .reason = reason},
           json_pack("{s:s, s:s, s:s}", "name", name, "to", "champion", "reason", reason));
}

void daemon_commands_retire(struct commands *commands, const char *name, const char *reason)
{
    decide(
        commands,
        &(struct policy_ask){
            .cmd = "policy_retire", .name = name, .retires = true, .to = DB_POLICY_RETIRED, .reason = reason},
        json_pack("{s:s, s:s}", "name", name, "reason", reason));
}
