/* What becomes of trainings: their order, budgets, ends. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/serve/inside.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HAVE_SANITIZERS
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HAVE_SANITIZERS
#endif

/* UNTOUCHED_MIB: of stacks and BLAS' buffers, of a processor, that are there but never in memory. */
enum { LOOK_MS = 500, MIB = 1 << 20, UNTOUCHED_MIB = 256, UNTOUCHED_PER_CPU_MIB = 64 };

int queue_save(struct training *training)
{
    char err[RECORD_ERROR_MAX];
    int r = training_save(training, err);
    if (r < 0)
        training->serve->options->tell(err);
    return r;
}

static bool has_worker(const struct training *training)
{
    return training->worker || training->left;
}

static int64_t wanted_mib(const struct training *training)
{
    int64_t own = training->wants.memory_mib;
    return own > 0 ? own : training->serve->options->worker_memory_mib;
}

int64_t queue_memory_mib(const struct training *training)
{
    return has_worker(training) ? training->limit_mib : wanted_mib(training);
}

int64_t queue_promised_mib(const struct serve *serve)
{
    int64_t sum = 0;
    for (const struct training *t = serve->trainings; t; t = t->next)
        sum += has_worker(t) ? queue_memory_mib(t) : 0;
    return sum;
}

/* ---- The list. ---- */

struct training *queue_find(struct serve *serve, const char *name)
{
    for (struct training *t = serve->trainings; t; t = t->next)
        if (strcmp(t->record.name, name) == 0)
            return t;
    return NULL;
}

void queue_add(struct serve *serve, struct training *training)
{
    struct training **at = &serve->trainings;
    while (*at && (*at)->record.created_ns <= training->record.created_ns)
        at = &(*at)->next;
    training->serve = serve;
    training->next = *at;
    *at = training;
}

void queue_take_out(struct serve *serve, struct training *training)
{
    for (struct training **at = &serve->trainings; *at; at = &(*at)->next)
        if (*at == training) {
            *at = training->next;
            return;
        }
}

bool queue_has_workers(const struct serve *serve)
{
    for (const struct training *t = serve->trainings; t; t = t->next)
        if (t->worker)
            return true;
    return false;
}

bool queue_is_busy(const struct serve *serve)
{
    for (const struct training *t = serve->trainings; t; t = t->next)
        if (has_worker(t) || !training_state_ended(t->record.state))
            return true;
    return false;
}

bool queue_open_events(struct training *training)
{
    char path[PATH_MAX + 16];
    const struct record *record = &training->record;
    if (training->events.open)
        return true;
    snprintf(path, sizeof path, "%s/events.jsonl", training->folder);
    if (events_open(&training->events, path, record->created_ns, record->seq) < 0)
        return false;
    /* The machine went down: the newest lines may be lost, and their numbers are known elsewhere. */
    if (record->boot[0] && strcmp(record->boot, training->serve->boot) != 0)
        training->events.last += EVENTS_NEWEST;
    return true;
}

/* ---- Ends. ---- */

void queue_again(struct training *training)
{
    training->record.restarts = 0;
    training->retry_at_ms = 0;
    training->record.ended_ns = 0;
    training_enter(training, TRAINING_QUEUED, "", serve_now_ns(), "%s", "");
}

/* By itself it is begun again after a while, or has failed. */
static void fail_or_retry(struct training *training, const char *cause, const char *reason)
{
    static const char *const final[] = {"config", "checkpoint", "nan", "memory"};
    struct record *record = &training->record;
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        if (strcmp(cause, final[i]) == 0) {
            training_enter(training, TRAINING_FAILED, cause, serve_now_ns(), "%s", reason);
            return;
        }
    if (record->restarts >= training->wants.restarts) {
        training_enter(training, TRAINING_FAILED, cause, serve_now_ns(),
                       "%.400s; after %d restarts in a row it is not begun again", reason, record->restarts);
        return;
    }
    record->restarts++;
    int64_t wait_ms = schedule_retry_ms(record->restarts, training->serve->options->retry_ms);
    training->retry_at_ms = serve_now_ms(training->serve) + wait_ms;
    training_enter(training, TRAINING_QUEUED, cause, serve_now_ns(), "%.400s; restart %d of %d", reason,
                   record->restarts, training->wants.restarts);
}

static void ended_by_signal(struct training *training, int number)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
    char reason[RECORD_REASON_MAX];
    const char *cause = "killed";
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (number == crashes[i])
            cause = "crash";
    snprintf(reason, sizeof reason, "its worker was ended by signal %d (%s)%s", number, strsignal(number),
             number == SIGKILL ? ", by another process or by the system for want of memory" : "");
    fail_or_retry(training, cause, reason);
}

static void ended_by_itself(struct training *training, int64_t status)
{
    char reason[RECORD_REASON_MAX];
    const char *said = training->said, *cause = training->said_cause;
    if (status == 0 && strcmp(training->said_result, "done") == 0) {
        training_enter(training, TRAINING_DONE, "", serve_now_ns(), "%s", "");
        return;
    }
    if (status == 0 && strcmp(training->said_result, "stopped") == 0) {
        training_enter(training, TRAINING_STOPPED, "", serve_now_ns(),
                       "its worker was asked to end by another process");
        return;
    }
    if (status == 2 && !*cause) /* a command line that it does not know: of another version */
        cause = "config";
    snprintf(reason, sizeof reason, "its worker ended with status %d, and did not say why", (int)status);
    fail_or_retry(training, *cause ? cause : "crash", *said ? said : reason);
}

/* What was wanted of it when it was asked to end, or is known of it where nobody saw how it did. */
static void end_as_asked(struct training *training)
{
    struct record *record = &training->record;
    int64_t now_ns = serve_now_ns();
    switch (record->ending) {
    case ENDING_STOP:
        training_enter(training, TRAINING_STOPPED, "", now_ns, "%s",
                       training->killed ? "its worker did not end in time and was killed: the last "
                                          "checkpoint stands"
                                        : training->said);
        break;
    case ENDING_PAUSE:
        training_enter(training, TRAINING_PAUSED, "", now_ns, "in favour of one of higher priority");
        break;
    case ENDING_CPU:
        training_enter(training, TRAINING_FAILED, "cpu_budget", now_ns,
                       "it used its processor time: %.3g hours, [serve] cpu_hours",
                       training->wants.cpu_hours);
        break;
    case ENDING_MEMORY:
        training_enter(training, TRAINING_FAILED, "memory_budget", now_ns,
                       "its worker was over its memory of %lld MiB and was killed: [serve] memory_mib, or "
                       "fewer copies, steps or bars",
                       (long long)queue_memory_mib(training));
        break;
    case ENDING_SHUTDOWN: /* its record says that it runs: the next one goes on */
        break;
    default:
        queue_again(training);
    }
}

static void worker_ended(void *ctx, int64_t status, int number)
{
    struct training *training = ctx;
    struct record *record = &training->record;
    bool done = status == 0 && number == 0 && strcmp(training->said_result, "done") == 0;
    training->worker = NULL;
    training->place = SCHEDULE_CPU;
    record->pid = 0;
    record->cpu_s += training->worker_cpu_s;
    training->worker_cpu_s = 0;
    if (record->ending != ENDING_NONE && record->ending != ENDING_RESTART && done)
        record->ending = ENDING_NONE;
    if (record->ending != ENDING_NONE)
        end_as_asked(training);
    else if (number != 0)
        ended_by_signal(training, number);
    else
        ended_by_itself(training, status);
    if (record->ending != ENDING_SHUTDOWN)
        record->ending = ENDING_NONE;
    training->asked_ms = 0;
    training->killed = false;
    queue_save(training);
    queue_schedule(training->serve);
}

static void look(struct training *training);

static void worker_heard(void *ctx, json_t *event)
{
    struct training *training = ctx;
    bool ended = training->said_end;
    if (training_hear(training, event, serve_now_ns(), serve_now_ms(training->serve)))
        queue_save(training);
    if (training->said_end && !ended)
        look(training); /* for the last time */
}

/* ---- Beginnings. ---- */

/* Before the worker is there its record says so; without room for that nothing is begun. */
static int write_down(struct training *training, int place)
{
    struct record *record = &training->record;
    const struct serve_options *options = training->serve->options;
    int r = queue_open_events(training) ? training_write_config(training) : -EIO;
    if (r < 0)
        return r;
    training_forget(training);
    training->place = place;
    training->limit_mib = wanted_mib(training);
    training->retry_at_ms = 0;
    training->heard_ns = record->started_ns = serve_now_ns();
    training->heard_ms = training->begun_ms = serve_now_ms(training->serve);
    snprintf(record->device, sizeof record->device, "%.31s",
             place == SCHEDULE_CPU ? "cpu" : options->devices[place]);
    snprintf(record->boot, sizeof record->boot, "%s", training->serve->boot);
    record->ending = ENDING_NONE;
    record->ended_ns = 0;
    record->pid = 0;
    record->attempts++;
    training_enter(training, TRAINING_LOADING, "", record->started_ns, "%s", "");
    return queue_save(training);
}

static int64_t data_limit(const struct training *training, int place)
{
#ifdef HAVE_SANITIZERS
    (void)training, (void)place; /* its shadow is memory, too */
    return 0;
#else
    /* A device's driver reserves address space as it likes. */
    int64_t untouched_mib = UNTOUCHED_MIB + UNTOUCHED_PER_CPU_MIB * sysconf(_SC_NPROCESSORS_ONLN);
    return place == SCHEDULE_CPU ? (training->limit_mib + untouched_mib) * MIB : 0;
#endif
}

static void begin(struct training *training, int place)
{
    static const struct worker_calls calls = {worker_heard, worker_ended};
    char err[WORKER_ERROR_MAX];
    struct process process;
    struct record *record = &training->record;
    struct serve *serve = training->serve;
    enum worker_begin how = training_begin(training);
    if (how >= WORKER_RESUME)
        record->overwrite = false;
    if (write_down(training, place) < 0) {
        record->attempts--;
        training->place = SCHEDULE_CPU;
        fail_or_retry(training, "disk", "its files cannot be written");
        return;
    }
    const struct worker_order order = {
        .program = serve->options->program,
        .folder = training->folder,
        .directory = serve->options->state,
        .device = place == SCHEDULE_CPU ? "" : serve->options->devices[place],
        .begin = how,
        .data_bytes = data_limit(training, place),
    };
    int r = worker_start(&serve->loop, &order, &calls, training, &training->worker, err);
    if (r == -EBUSY) {
        training->left = true;
    } else if (r < 0) {
        training->place = SCHEDULE_CPU;
        fail_or_retry(training, "crash", err);
    } else {
        record->pid = worker_pid(training->worker);
        record->pid_started = process_look(record->pid, &process) ? process.started : 0;
    }
    queue_save(training);
}

static struct schedule_item schedule_of(const struct training *t, int64_t now_ms)
{
    bool waits = t->record.state == TRAINING_QUEUED || t->record.state == TRAINING_PAUSED;
    return (struct schedule_item){
        .priority = t->record.priority,
        .created_ns = t->record.created_ns,
        .waits = waits && !has_worker(t) && t->retry_at_ms <= now_ms,
        .runs = has_worker(t),
        .stopping = has_worker(t) && t->asked_ms > 0,
        .on_device = t->wants.on_device,
        .device = t->place,
        .memory_mib = queue_memory_mib(t),
    };
}

static struct training *at(struct serve *serve, size_t i)
{
    struct training *t = serve->trainings;
    while (i-- > 0)
        t = t->next;
    return t;
}

void queue_schedule(struct serve *serve)
{
    const struct schedule_room room = {serve->options->n_devices, serve->options->cpu_slots,
                                       serve->options->memory_mib};
    size_t n = 0;
    for (const struct training *t = serve->trainings; t; t = t->next)
        n++;
    struct schedule_item *items = n > 0 ? calloc(n, sizeof *items) : NULL;
    while (items && !serve->ending) {
        size_t i = 0;
        for (const struct training *t = serve->trainings; t; t = t->next)
            items[i++] = schedule_of(t, serve_now_ms(serve));
        struct schedule_step step = schedule_next(items, n, &room);
        if (step.act == SCHEDULE_NOTHING)
            break;
        if (step.act == SCHEDULE_START)
            begin(at(serve, step.item), step.device);
        else
            queue_ask(at(serve, step.item), ENDING_PAUSE);
    }
    free(items);
}

/* ---- Asking, killing. ---- */

/* The worker that a former co-process left; 0: it is not known. */
static pid_t left_pid(const struct training *training)
{
    char path[PATH_MAX + 16];
    struct process process;
    const struct record *record = &training->record;
    if (record->pid > 0 && strcmp(record->boot, training->serve->boot) == 0 &&
        process_look(record->pid, &process) && process.started == record->pid_started)
        return record->pid;
    snprintf(path, sizeof path, "%s/worker.lock", training->folder);
    return process_holder(path);
}

static void send_signal(struct training *training, int number)
{
    pid_t pid = training->worker ? 0 : left_pid(training);
    if (training->worker)
        worker_signal(training->worker, number);
    else if (pid > 0)
        (void)kill(pid, number); /* it may be gone already */
}

static int64_t grace_ms(const struct training *training)
{
    enum training_state state = training->record.state;
    bool begins = state == TRAINING_LOADING || state == TRAINING_FEATURES;
    return schedule_grace_ms(begins ? -1 : training->iteration_s, training->checkpoint_s,
                             training->serve->options->grace_ms);
}

void queue_ask(struct training *training, enum training_ending ending)
{
    training->record.ending = ending;
    queue_save(training);
    if (training->asked_ms > 0)
        return;
    training->asked_ms = serve_now_ms(training->serve);
    training->grace_ms = grace_ms(training);
    send_signal(training, SIGTERM); /* a second one would end it without a checkpoint */
}

void queue_kill(struct training *training)
{
    if (training->asked_ms == 0)
        training->asked_ms = serve_now_ms(training->serve);
    training->killed = true;
    send_signal(training, SIGKILL);
}

/* ---- Time. ---- */

static void look(struct training *training)
{
    struct process process;
    const struct training_wants *wants = &training->wants;
    if (!training->worker || !process_look(training->record.pid, &process))
        return;
    training->resident_bytes = process.resident_bytes;
    training->worker_cpu_s = process.cpu_s;
    if (training->killed)
        return;
    if (process.resident_bytes > queue_memory_mib(training) * MIB) {
        training->record.ending = ENDING_MEMORY;
        queue_save(training);
        queue_kill(training);
    } else if (wants->cpu_hours > 0 && training->asked_ms == 0 &&
               training->record.cpu_s + process.cpu_s > wants->cpu_hours * 3600) {
        queue_ask(training, ENDING_CPU);
    }
}

/* One whose end nobody waits for: it ends by itself, since nobody reads what it says. */
static void look_after_left(struct training *training)
{
    if (worker_lives(training->folder)) {
        if (training->asked_ms == 0 && training->record.ending == ENDING_NONE)
            queue_ask(training, ENDING_NONE);
        else if (training->asked_ms == 0) /* it was asked by the one before */
            training->asked_ms = serve_now_ms(training->serve);
        if (training->grace_ms == 0)
            training->grace_ms = training->serve->options->grace_ms;
        return;
    }
    training->left = false;
    training->place = SCHEDULE_CPU;
    training->record.pid = 0;
    if (training->record.ending == ENDING_SHUTDOWN)
        training->record.ending = ENDING_NONE;
    end_as_asked(training);
    training->record.ending = ENDING_NONE;
    training->asked_ms = 0;
    training->killed = false;
    queue_save(training);
}

void queue_tick(struct serve *serve)
{
    int64_t now_ms = serve_now_ms(serve);
    bool is_due = now_ms - serve->looked_ms >= LOOK_MS;
    if (is_due)
        serve->looked_ms = now_ms;
    for (struct training *t = serve->trainings; t; t = t->next) {
        if (is_due)
            look(t);
        if (t->left)
            look_after_left(t);
        if (has_worker(t) && t->asked_ms > 0 && !t->killed && now_ms - t->asked_ms > t->grace_ms)
            queue_kill(t);
    }
    queue_schedule(serve);
}

/* ---- What a former co-process left. ---- */

static int place_of(const struct serve *serve, const char *device)
{
    for (int i = 0; i < serve->options->n_devices; i++)
        if (strcmp(serve->options->devices[i], device) == 0)
            return i;
    return SCHEDULE_CPU;
}

static void take_over(struct training *training)
{
    struct record *record = &training->record;
    char err[CONFIG_ERROR_MAX];
    bool readable = training_wants_read(record->config, &training->wants, err) == 0;
    if (!training_state_ended(record->state) && !queue_open_events(training))
        training->serve->options->tell("events cannot be kept: the disk has no room, or is read only");
    if (training_state_runs(record->state)) {
        training->left = true;
        training->limit_mib = wanted_mib(training);
        training->place = place_of(training->serve, record->device);
    } else if (!readable && !training_state_ended(record->state)) {
        training_enter(training, TRAINING_FAILED, "config", serve_now_ns(), "%.500s", err);
        queue_save(training);
    }
}

/* A folder whose record cannot be read is shown as failed, and left as it is. */
static void show_broken(struct training *training, const char *why)
{
    struct stat st;
    struct record *record = &training->record;
    record->created_ns = stat(training->folder, &st) == 0 ? (int64_t)st.st_mtim.tv_sec * 1000000000 : 1;
    record->ended_ns = record->created_ns;
    record->state = TRAINING_FAILED;
    record->config = strdup("");
    char reason[RECORD_REASON_MAX];
    snprintf(reason, sizeof reason, "%.400s; start it anew with overwrite", why);
    record_text(record->reason, sizeof record->reason, reason);
    training->serve->options->tell(why);
}

static int load_one(struct serve *serve, const char *name, char err[static SERVE_ERROR_MAX])
{
    char path[2 * PATH_MAX], why[RECORD_ERROR_MAX];
    struct record record;
    snprintf(path, sizeof path, "%s/%s/record.json", serve->folder, name);
    int r = record_read(path, &record, why);
    if (r == -ENOENT || r == -ENOTDIR) /* none that was ever acknowledged */
        return 0;
    struct training *training = training_create(serve->folder, name, why);
    if (!training) {
        if (r == 0)
            record_finish(&record);
        snprintf(err, SERVE_ERROR_MAX, "%s", why);
        return -ENOMEM;
    }
    training->serve = serve;
    if (r == 0 && strcmp(record.name, name) == 0) {
        training->record = record;
        take_over(training);
    } else {
        if (r == 0)
            record_finish(&record);
        show_broken(training, r < 0 ? why : "record.json is of a training of another name");
    }
    queue_add(serve, training);
    return 0;
}

int queue_load(struct serve *serve, char err[static SERVE_ERROR_MAX])
{
    DIR *folder = opendir(serve->folder);
    int r = 0;
    if (!folder) {
        r = -errno;
        snprintf(err, SERVE_ERROR_MAX, "%.300s: cannot be read: %s", serve->folder, strerror(-r));
        return r;
    }
    for (struct dirent *entry; r == 0 && (entry = readdir(folder));)
        if (record_name_is_good(entry->d_name))
            r = load_one(serve, entry->d_name, err);
    closedir(folder);
    return r;
}
