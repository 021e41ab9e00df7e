#include "daemon/log_journal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log_ring.h"
#include "exchange/clock.h"
#include "exchange/net/journald.h"

enum {
    LOOK_MS = 50,    /* between two looks at whether to end, while the journal takes nothing */
    RETRY_MS = 1000, /* between two tries to reach a journal that is gone */
};

static const char priorities[] = {
    [LOG_LEVEL_ERROR] = '3', [LOG_LEVEL_WARNING] = '4', [LOG_LEVEL_INFO] = '6', [LOG_LEVEL_DEBUG] = '7'};

static struct log_ring ring;
static sem_t arrived;
static pthread_t thread;
static atomic_bool running, ending;
static atomic_int journal = -1; /* its descriptor, -1 while it is gone */
static atomic_uint_fast64_t lost;
static _Atomic int64_t end_ms; /* when what is queued is given up; once `ending` */
static uint64_t reported;      /* of `lost`; the thread's own */

/* Its place is another in tests. */
const char *daemon_log_journal_path(void)
{
    const char *other = getenv("PAPERTAPE_JOURNAL_SOCKET");
    return other && *other ? other : NET_JOURNALD_SOCKET;
}

/* ---- an entry ---- */

static void add_time(struct net_journald_entry *entry)
{
    struct timespec now;
    struct tm utc;
    char text[40];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + n, sizeof text - n, ".%06ldZ", now.tv_nsec / 1000);
    net_journald_field(entry, "PAPERTAPE_TIME", text);
}

/* The message first: the others have room in any case (LOG_ENTRY_MAX). */
static size_t write_entry(char bytes[static LOG_ENTRY_MAX], enum log_level level, enum log_kind kind,
                          const struct log_fields *fields, const char *message)
{
    struct net_journald_entry entry = {.bytes = bytes, .size = LOG_ENTRY_MAX};
    net_journald_field(&entry, "MESSAGE", message);
    net_journald_fieldf(&entry, "PRIORITY", "%c", priorities[level]);
    net_journald_field(&entry, "SYSLOG_IDENTIFIER", "papertaped");
    add_time(&entry);
    if (kind != LOG_PLAIN) {
        net_journald_field(&entry, "MESSAGE_ID", daemon_log_kinds[kind].id);
        net_journald_field(&entry, "PAPERTAPE_EVENT", daemon_log_kinds[kind].event);
    }
    if (!fields)
        return entry.len;
#define ADD(member, name, about) net_journald_field(&entry, name, fields->member);
    LOG_FIELDS(ADD)
#undef ADD
    if (fields->order)
        net_journald_fieldf(&entry, "ORDER", "%llu", (unsigned long long)fields->order);
    return entry.len;
}

void daemon_log_journal_put(enum log_level level, enum log_kind kind, const struct log_fields *fields,
                            const char *message)
{
    struct log_slot *slot = daemon_log_ring_claim(&ring);
    if (!slot) {
        atomic_fetch_add(&lost, 1);
        return;
    }
    daemon_log_ring_publish(slot, write_entry(slot->bytes, level, kind, fields, message));
    sem_post(&arrived);
}

/* ---- the thread ---- */

static bool given_up(void)
{
    return atomic_load(&ending) && clock_now_ms() >= atomic_load(&end_ms);
}

/* Waits for the journal to take more, or to be there again, for a moment. */
static void wait_for_journal(void)
{
    int fd = atomic_load(&journal);
    if (fd >= 0) {
        struct pollfd pfd = {.fd = fd, .events = POLLOUT};
        poll(&pfd, 1, LOOK_MS);
        return;
    }
    fd = net_journald_connect(daemon_log_journal_path());
    if (fd >= 0)
        atomic_store(&journal, fd);
    else
        poll(NULL, 0, atomic_load(&ending) ? LOOK_MS : RETRY_MS);
}

static void leave_journal(void)
{
    int fd = atomic_exchange(&journal, -1);
    if (fd >= 0)
        close(fd);
}

/* False: it was given up, as the process ends. */
static bool send_entry(const char *bytes, size_t len)
{
    for (;;) {
        int fd = atomic_load(&journal);
        int r = fd >= 0 ? net_journald_send(fd, bytes, len) : -ENOTCONN;
        if (r == -EMSGSIZE) /* this one it never takes */
            atomic_fetch_add(&lost, 1);
        if (r == 0 || r == -EMSGSIZE)
            return true;
        if (given_up())
            return false;
        if (r != -EAGAIN && fd >= 0) {
            leave_journal();
            poll(NULL, 0, LOOK_MS); /* one that is there and takes nothing is not asked without end */
        } else {
            wait_for_journal();
        }
    }
}

static bool report_lost(void)
{
    uint64_t now = atomic_load(&lost);
    char message[128], bytes[LOG_ENTRY_MAX];
    if (now == reported || daemon_log_ring_used(&ring) > LOG_RING_SLOTS / 2)
        return true;
    snprintf(message, sizeof message, "%llu lines of the log are lost: the journal took none for too long",
             (unsigned long long)(now - reported));
    struct net_journald_entry entry = {
        bytes, write_entry(bytes, LOG_LEVEL_WARNING, LOG_LOG_LOST, NULL, message), sizeof bytes};
    net_journald_fieldf(&entry, "PAPERTAPE_LOST", "%llu", (unsigned long long)(now - reported));
    reported = now;
    return send_entry(entry.bytes, entry.len);
}

static void *run(void *arg)
{
    (void)arg;
    bool whole = true;
    while (whole) {
        struct log_slot *slot = daemon_log_ring_oldest(&ring);
        if (slot) {
            whole = send_entry(slot->bytes, slot->len);
            if (whole)
                daemon_log_ring_drop(&ring);
        }
        whole = whole && report_lost();
        if (whole && !slot && atomic_load(&ending) && daemon_log_ring_used(&ring) == 0)
            break;
        if (whole && !slot)
            while (sem_wait(&arrived) < 0 && errno == EINTR)
                ;
    }
    return NULL;
}

int daemon_log_journal_start(void)
{
    sigset_t all, before;
    int fd = net_journald_connect(daemon_log_journal_path());
    if (fd < 0)
        return fd;
    daemon_log_ring_init(&ring);
    sem_init(&arrived, 0, 0);
    atomic_store(&lost, 0);
    atomic_store(&ending, false);
    atomic_store(&journal, fd);
    reported = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r != 0) {
        leave_journal();
        return -r;
    }
    atomic_store(&running, true);
    return 0;
}

bool daemon_log_journal_runs(void)
{
    return atomic_load(&running);
}

void daemon_log_journal_stop(int timeout_ms)
{
    if (!atomic_exchange(&running, false))
        return;
    atomic_store(&end_ms, clock_now_ms() + timeout_ms);
    atomic_store(&ending, true);
    sem_post(&arrived);
    pthread_join(thread, NULL);
    leave_journal();
}

void daemon_log_journal_look(uint64_t *ret_queued, uint64_t *ret_lost)
{
    *ret_queued = atomic_load(&running) ? daemon_log_ring_used(&ring) : 0;
    *ret_lost = atomic_load(&lost);
}

/* ---- a crash ---- */

static void send_now(const char *bytes, size_t len)
{
    int fd = atomic_load(&journal);
    if (fd >= 0)
        (void)net_journald_send(fd, bytes, len);
}

void daemon_log_journal_crashed(int number)
{
    /* No snprintf() in a signal handler: two digits, by hand. */
    const char digits[] = {(char)('0' + number / 10 % 10), (char)('0' + number % 10), '\0'};
    const char *const parts[] = {"MESSAGE=crashed: signal ",
                                 digits,
                                 "\nPRIORITY=3\nSYSLOG_IDENTIFIER=papertaped\n",
                                 "MESSAGE_ID=",
                                 daemon_log_kinds[LOG_CRASHED].id,
                                 "\nPAPERTAPE_EVENT=",
                                 daemon_log_kinds[LOG_CRASHED].event,
                                 "\n"};
    char entry[256];
    size_t n = 0;
    if (!atomic_load(&running))
        return;
    daemon_log_ring_each(&ring, send_now);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *from = parts[i]; *from; from++)
            entry[n++] = *from;
    send_now(entry, n);
}
