/* The list of trainings, and the schedule. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "trainer/serve/internal.h"

enum { LOOK_MS = 500 };

int serve_queue_save(struct serve_training *training)
{
    char err[TRAINING_RECORD_ERROR_MAX];
    int r = serve_training_save(training, err);
    struct serve *serve = training->serve;
    training->dirty = r < 0; /* a failed write is tried again */
    if (r < 0 && !serve->unwritable)
        serve->options->log(err);
    serve->unwritable = r < 0; /* logged once */
    return r;
}

int64_t serve_queue_wanted_mib(const struct serve_training *training)
{
    int64_t own = training->wants.memory_mib;
    return own > 0 ? own : training->serve->options->worker_memory_mib;
}

int64_t serve_queue_memory_mib(const struct serve_training *training)
{
    return has_worker(training) ? training->limit_mib : serve_queue_wanted_mib(training);
}

int64_t serve_queue_promised_mib(const struct serve *serve)
{
    int64_t sum = 0;
    for (const struct serve_training *t = serve->trainings; t; t = t->next)
        sum += has_worker(t) ? serve_queue_memory_mib(t) : 0;
    return sum;
}

/* ---- The list. ---- */

struct serve_training *serve_queue_find(struct serve *serve, const char *name)
{
    for (struct serve_training *t = serve->trainings; t; t = t->next)
        if (strcmp(t->record.name, name) == 0)
            return t;
    return NULL;
}

void serve_queue_add(struct serve *serve, struct serve_training *training)
{
    struct serve_training **at = &serve->trainings;
    while (*at && (*at)->record.created_ns <= training->record.created_ns)
        at = &(*at)->next;
    training->serve = serve;
    training->next = *at;
    *at = training;
}

void serve_queue_take_out(struct serve *serve, struct serve_training *training)
{
    for (struct serve_training **at = &serve->trainings; *at; at = &(*at)->next)
        if (*at == training) {
            *at = training->next;
            return;
        }
}

bool serve_queue_has_workers(const struct serve *serve)
{
    for (const struct serve_training *t = serve->trainings; t; t = t->next)
        if (t->worker)
            return true;
    return false;
}

bool serve_queue_is_busy(const struct serve *serve)
{
    for (const struct serve_training *t = serve->trainings; t; t = t->next)
        if (has_worker(t) || !serve_training_state_ended(t->record.state))
            return true;
    return false;
}

bool serve_queue_open_events(struct serve_training *training)
{
    char path[PATH_MAX + 16];
    const struct training_record *record = &training->record;
    if (training->events.open)
        return true;
    snprintf(path, sizeof path, "%s/events.jsonl", training->folder);
    if (serve_events_open(&training->events, path, record->created_ns, record->seq) < 0)
        return false;
    /* After a crash of the machine the newest lines may be lost, but the daemon has seen their numbers. */
    if (record->boot[0] && strcmp(record->boot, training->serve->boot) != 0)
        training->events.last += EVENTS_NEWEST;
    return true;
}

/* ---- The schedule. ---- */

static struct schedule_item schedule_of(const struct serve_training *t, int64_t now_ms)
{
    bool waits = t->record.state == TRAINING_QUEUED || t->record.state == TRAINING_PAUSED;
    return (struct schedule_item){
        .priority = t->record.priority,
        .created_ns = t->record.created_ns,
        .waits = waits && !has_worker(t) && t->retry_at_ms <= now_ms && t->record.due_ns <= clock_wall_ns(),
        .runs = has_worker(t),
        .stopping = has_worker(t) && t->asked_ms > 0,
        .on_device = t->wants.on_device,
        .device = t->place,
        .memory_mib = serve_queue_memory_mib(t),
    };
}

static struct serve_training *at(struct serve *serve, size_t i)
{
    struct serve_training *t = serve->trainings;
    while (i-- > 0)
        t = t->next;
    return t;
}

void serve_queue_schedule(struct serve *serve)
{
    const struct schedule_room room = {serve->options->n_devices, serve->options->cpu_slots,
                                       serve->options->memory_mib};
    size_t n = 0;
    for (const struct serve_training *t = serve->trainings; t; t = t->next)
        n++;
    struct schedule_item *items = n > 0 ? calloc(n, sizeof *items) : NULL;
    while (items && !serve->ending) {
        size_t i = 0;
        for (const struct serve_training *t = serve->trainings; t; t = t->next)
            items[i++] = schedule_of(t, serve_now_ms(serve));
        struct schedule_step step = serve_schedule_next(items, n, &room);
        if (step.act == SCHEDULE_NOTHING)
            break;
        if (step.act == SCHEDULE_START)
            serve_run_begin(at(serve, step.item), step.device);
        else
            serve_run_ask(at(serve, step.item), ENDING_PAUSE);
    }
    free(items);
}

void serve_queue_tick(struct serve *serve)
{
    int64_t now_ms = serve_now_ms(serve);
    int64_t passed_ms = now_ms - serve->looked_ms;
    bool is_due = passed_ms >= LOOK_MS;
    if (is_due)
        serve->looked_ms = now_ms;
    for (struct serve_training *t = serve->trainings; t; t = t->next) {
        if (is_due) {
            serve_run_look(t);
            serve_run_watch(t, passed_ms);
        }
        if (is_due && t->dirty)
            serve_queue_save(t);
        if (t->orphaned)
            serve_orphans_look(t);
        if (has_worker(t) && t->asked_ms > 0 && !t->killed && now_ms - t->asked_ms > t->grace_ms)
            serve_run_kill(t);
    }
    serve_queue_schedule(serve);
}
