/* Keeps the reported state of each training, and stores its rows. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/alert_rules.h"
#include "daemon/command/command.h"
#include "daemon/log.h"
#include "daemon/training/internal.h"
#include "exchange/clock.h"

enum { REPORTED_MS = 5000 }; /* newer: the co-process answers */

struct known *daemon_training_keep_find(const struct trainings *trainings, const char *name)
{
    for (size_t i = 0; i < trainings->n_known; i++)
        if (strcmp(trainings->known[i]->training.name, name) == 0)
            return trainings->known[i];
    return NULL;
}

static void free_known(struct known *known)
{
    free(known->config);
    free(known);
}

/* The oldest that has ended makes room, as in the database. */
static bool make_room(struct trainings *trainings)
{
    size_t i = 0;
    if (trainings->n_known < TRAININGS_MAX)
        return true;
    while (i < trainings->n_known && !daemon_training_state_ended(trainings->known[i]->training.state))
        i++;
    if (i == trainings->n_known)
        return false;
    free_known(trainings->known[i]);
    memmove(&trainings->known[i], &trainings->known[i + 1],
            (--trainings->n_known - i) * sizeof *trainings->known);
    return true;
}

static struct known *add(struct trainings *trainings, const struct training *training)
{
    struct known *known = make_room(trainings) ? calloc(1, sizeof *known) : NULL;
    if (!known)
        return NULL;
    known->training = *training;
    known->daemon_config_attempts = -1;
    known->known_ns = clock_wall_ns();
    daemon_training_progress_begin(&known->progress, 0);
    size_t at = trainings->n_known++;
    while (at > 0 && trainings->known[at - 1]->training.created_ns > training->created_ns) {
        trainings->known[at] = trainings->known[at - 1];
        at--;
    }
    trainings->known[at] = known;
    return known;
}

/* ---- from the co-process ---- */

/* Its records started over: what is stored belongs to another training of that name. */
static void start_over(struct known *known)
{
    known->outdated = known->stored;
    daemon_training_progress_begin(&known->progress, 0);
    known->daemon_config_attempts = -1;
    known->dirty = true;
    known->trial_ns = 0;
    known->reported = (struct training_reported){0};
}

struct known *daemon_training_keep_take(struct trainings *trainings, const json_t *object)
{
    struct training training;
    if (daemon_training_parse(object, &training) < 0)
        return NULL;
    struct known *known = daemon_training_keep_find(trainings, training.name);
    bool fresh = !known;
    if (fresh)
        known = add(trainings, &training);
    if (!known)
        return NULL;
    const struct training *before = &known->training;
    if (!fresh && (training.created_ns != before->created_ns || training.seq < known->progress.seq))
        start_over(known);
    known->dirty |= fresh || daemon_training_changed(before, &training);
    known->training = training;
    known->reported_ms = trainings_now(trainings);
    known->reported_age_ms = 0;
    known->listed = trainings->lists;
    known->met = true;
    return known;
}

void daemon_training_keep_missing(struct trainings *trainings, uint64_t list)
{
    for (size_t i = 0; i < trainings->n_known; i++) {
        struct known *known = trainings->known[i];
        struct training *training = &known->training;
        if (known->listed >= list || daemon_training_state_ended(training->state))
            continue;
        snprintf(training->state, sizeof training->state, "failed");
        snprintf(training->reason, sizeof training->reason, "the co-process knows nothing of it any more");
        training->cause[0] = '\0';
        training->stopping = false;
        training->pid = -1;
        training->ended_ns = clock_wall_ns();
        training->seq = known->progress.seq;
        known->dirty = true;
    }
}

bool daemon_training_keep_unlisted(const struct trainings *trainings)
{
    char path[PATH_MAX + 16];
    bool found = false;
    snprintf(path, sizeof path, "%s/trainings", trainings->state_dir);
    DIR *folder = opendir(path);
    if (!folder)
        return false;
    for (const struct dirent *entry; !found && (entry = readdir(folder));)
        found = entry->d_type == DT_DIR && db_training_name_good(entry->d_name) &&
                !daemon_training_keep_find(trainings, entry->d_name);
    closedir(folder);
    return found;
}

bool daemon_training_keep_any_live(const struct trainings *trainings)
{
    for (size_t i = 0; i < trainings->n_known; i++)
        if (!daemon_training_state_ended(trainings->known[i]->training.state))
            return true;
    return false;
}

int64_t daemon_training_keep_reported_age(const struct trainings *trainings, const struct known *known)
{
    return known->reported_age_ms + (int64_t)(trainings_now(trainings) - known->reported_ms);
}

bool daemon_training_keep_current(const struct trainings *trainings, const struct known *known)
{
    return known->met && daemon_trainings_reachable(trainings) &&
           trainings_now(trainings) - known->reported_ms <= REPORTED_MS;
}

/* ---- from the database ---- */

static void take_row(void *ctx, const struct db_training *row)
{
    struct trainings *trainings = ctx;
    struct training training;
    daemon_training_of_row(row, &training);
    struct known *known = add(trainings, &training);
    if (!known)
        return;
    int64_t last_ns = training.heard_ns > training.created_ns ? training.heard_ns : training.created_ns;
    int64_t age_ns = clock_wall_ns() - last_ns;
    known->reported_ms = trainings_now(trainings);
    known->reported_age_ms = age_ns > 0 ? age_ns / 1000000 : 0;
    known->config = strdup(row->config);
    if (row->config[0])
        known->daemon_config_attempts = row->attempts;
    known->stored = true;
    daemon_training_progress_begin(&known->progress, row->seq);
    daemon_training_reported_of(&training, &known->reported);
}

static void take_state(void *ctx, const struct db_training_state *row)
{
    struct training_progress *progress = ctx;
    snprintf(progress->state, sizeof progress->state, "%s", row->state);
    progress->state_ns = row->ts_ns;
    progress->utilisation = row->utilisation;
}

void daemon_training_keep_remember(struct trainings *trainings, struct db_reader *reader)
{
    int r = db_reader_trainings(reader, NULL, take_row, trainings);
    for (size_t i = 0; i < trainings->n_known && r == 0; i++) {
        struct known *known = trainings->known[i];
        r = db_reader_training_states(reader, known->training.name, 1, take_state, &known->progress);
    }
    if (r < 0)
        daemon_log_error("trainings: %s: what a former run stored is not known", db_reader_error(reader));
}

/* ---- storing ---- */

struct target {
    struct db_writer *writer;
    const char *name;
};

static void put_rewind(void *ctx, int64_t steps)
{
    const struct target *target = ctx;
    db_writer_rewind_training(target->writer, target->name, steps);
}

static void put_point(void *ctx, const struct db_training_point *point)
{
    const struct target *target = ctx;
    db_writer_put_training_point(target->writer, point);
}

static void put_evaluation(void *ctx, const struct db_training_evaluation *evaluation)
{
    const struct target *target = ctx;
    db_writer_put_training_evaluation(target->writer, evaluation);
}

static void put_state(void *ctx, const struct db_training_state *state)
{
    const struct target *target = ctx;
    db_writer_put_training_state(target->writer, state);
}

/* Puts a state without a worker, or the end, once all events before it are stored. */
static void put_rest(struct known *known, const struct progress_sink *sink)
{
    const struct training *training = &known->training;
    bool drained = known->progress.seq >= training->seq || known->stuck;
    if (!drained || daemon_training_state_works(training->state))
        return;
    daemon_training_progress_go(&known->progress, training->name, training->state,
                                training->ended_ns > 0 ? training->ended_ns : clock_wall_ns(), sink);
}

/* A study's trial that finished: when, and whether it is the best. */
static void take_trial(struct trainings *trainings, struct known *known, const json_t *event)
{
    const struct daemon *daemon = trainings->daemon;
    char words[TRAINING_ALERT_TEXT_MAX];
    struct alert_decision best;
    int64_t ns = daemon_training_trial_ns(event);
    if (ns > known->trial_ns)
        known->trial_ns = ns;
    if (!daemon_training_best_words(event, words) ||
        !daemon_alert_rules_event(&daemon->config.alerts, ALERT_NEW_BEST, known->training.name, words, &best))
        return;
    daemon_log_event(LOG_NEW_BEST, LOG_OF(.training = known->training.name, .alert = best.code), "%s",
                     best.text);
    daemon_session_alert(daemon->session, best.severity, best.code, best.text);
}

static void raise_alert(struct trainings *trainings, const struct training_alert *alert)
{
    daemon_log_event(LOG_TRAINING, LOG_OF(.training = alert->about, .alert = alert->code), "training %s",
                     alert->text);
    if (alert->lasts)
        daemon_session_alert_lasting(trainings->daemon->session, alert->severity, alert->code, alert->about,
                                     alert->text);
    else
        daemon_session_alert(trainings->daemon->session, alert->severity, alert->code, alert->text);
}

static void end_alert(struct trainings *trainings, const struct known *known, const char *code)
{
    daemon_session_alert_over(trainings->daemon->session, code, known->training.name);
}

/* It works without a cause, or has ended: closes the warnings that it raised while it worked. */
static void end_trouble(struct trainings *trainings, const struct known *known)
{
    static const char *const codes[] = {"TRAINING_NAN", "TRAINING_MEMORY", "TRAINING_DEVICE", "TRAINING_DISK",
                                        "TRAINING_FAILED"};
    const struct training *training = &known->training;
    if (training->cause[0] && daemon_training_state_works(training->state))
        return;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        end_alert(trainings, known, codes[i]);
}

/* Raises alerts for the events that are taken: up to the number `reach`. */
static void alert_events(struct trainings *trainings, struct known *known, const json_t *events,
                         int64_t reach)
{
    struct training_alert alert;
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        if (json_integer_value(json_object_get(event, "seq")) > reach)
            continue;
        if (daemon_training_alert_event(&known->reported, known->training.name, event, &alert))
            raise_alert(trainings, &alert);
        take_trial(trainings, known, event);
    }
}

/* A study's best policy: judged once these events are stored (docs/policies.md). */
static void propose_events(struct trainings *trainings, const struct known *known, const json_t *events,
                           int64_t reach)
{
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        const char *kind = json_string_value(json_object_get(event, "event"));
        const json_t *proposal = json_object_get(event, "proposal");
        if (json_integer_value(json_object_get(event, "seq")) <= reach && kind &&
            strcmp(kind, "proposal") == 0 && json_is_object(proposal))
            daemon_commands_propose(trainings->daemon->commands, known->training.name,
                                    known->training.created_ns, proposal);
    }
}

/* The list is older than these events, or reports states of later events, which will follow. */
static bool is_known_whole(const struct known *known)
{
    return known->progress.seq == known->training.seq;
}

void daemon_training_keep_store(struct trainings *trainings, struct known *known, const json_t *events)
{
    struct db_writer *writer = daemon_session_writer(trainings->daemon->session);
    struct target target = {writer, known->training.name};
    const struct progress_sink sink = {&target, put_rewind, put_point, put_evaluation, put_state};
    struct training_alert alert;
    struct db_training row;
    if (!writer) /* the program stops: the next run asks for its events again */
        return;
    int64_t seq = daemon_training_progress_reach(&known->progress, events);
    daemon_training_row(&known->training, known->config ? known->config : "", seq, &row);
    db_writer_group_begin(writer);
    if (db_writer_put_training(writer, &row) ==
        0) { /* the disk refuses for long: its events are asked for again */
        db_writer_group_end(writer);
        known->stuck = known->dirty = true;
        return;
    }
    if (known->outdated)
        db_writer_rewind_training(writer, target.name, -1);
    daemon_training_progress_take(&known->progress, target.name, events, &sink);
    put_rest(known, &sink);
    alert_events(trainings, known, events, seq);
    propose_events(trainings, known, events, seq);
    if (is_known_whole(known)) {
        if (daemon_training_alert_state(&known->reported, known->stored, &known->training, &alert))
            raise_alert(trainings, &alert);
        end_trouble(trainings, known);
        daemon_training_reported_of(&known->training, &known->reported);
    }
    db_writer_group_end(writer);
    known->stored = true;
    known->outdated = known->dirty = false;
}

void daemon_training_keep_finish(struct trainings *trainings)
{
    for (size_t i = 0; i < trainings->n_known; i++)
        free_known(trainings->known[i]);
    free(trainings->known);
}
