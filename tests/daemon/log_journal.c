/* The log's way to the journal, with a socket of this test in the journal's place: entries and their fields,
 * a journal that takes nothing, one that goes and comes back, the end, and a crash. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/log_ring.h"
#include "tests/check.h"

enum { THREADS = 4, LINES = 300, FLOOD = 3000, WAIT_MS = 20000 };

static char folder[] = "/tmp/papertape-journal-XXXXXX", path[64], stderr_path[64];
static int journal = -1;
static char entry[LOG_ENTRY_MAX + 1];

static void listen_there(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (journal < 0 || bind(journal, (struct sockaddr *)&address, sizeof address) < 0)
        abort();
}

static void leave(void)
{
    close(journal);
    unlink(path);
}

/* The next entry; false when none comes for so long. */
static bool take(int wait_ms)
{
    struct pollfd pfd = {.fd = journal, .events = POLLIN};
    if (poll(&pfd, 1, wait_ms) != 1)
        return false;
    ssize_t n = recv(journal, entry, LOG_ENTRY_MAX, 0);
    entry[n < 0 ? 0 : n] = '\0';
    return n > 0;
}

/* A field of the last entry; "" without it. */
static const char *field(const char *name)
{
    static char value[LOG_ENTRY_MAX];
    size_t n = strlen(name);
    value[0] = '\0';
    for (const char *line = entry; *line; line += strcspn(line, "\n") + 1)
        if (strncmp(line, name, n) == 0 && line[n] == '=')
            snprintf(value, sizeof value, "%.*s", (int)strcspn(line + n + 1, "\n"), line + n + 1);
    return value;
}

static void test_entries(void)
{
    listen_there();
    daemon_log_init(LOG_LEVEL_INFO);
    CHECK(daemon_log_is_native());
    errno = EDOM;
    daemon_log_warning("feed: %s\n\x1b", "µ refused");
    daemon_log_debug("dropped");
    daemon_log_event(LOG_FILL, LOG_OF(.symbol = "BTCUSDT", .account = "main", .order = 42), "fill %d", 7);
    CHECK_INT(errno, EDOM);
    daemon_log_event_at(LOG_LEVEL_ERROR, LOG_ALERT, LOG_OF(.alert = "GPU_LOST"), "lost");
    daemon_log_event(LOG_FEED_LOST, LOG_OF(.venue = "a\nb"), "lost");
    CHECK(take(WAIT_MS));
    CHECK_STR(field("MESSAGE"), "feed: µ refused\\n\\x1b");
    CHECK_STR(field("PRIORITY"), "4");
    CHECK_STR(field("SYSLOG_IDENTIFIER"), "papertaped");
    CHECK_STR(field("MESSAGE_ID"), "");
    CHECK(strlen(field("PAPERTAPE_TIME")) == strlen("2026-11-25T14:10:00.123456Z"));
    CHECK(take(WAIT_MS));
    CHECK_STR(field("MESSAGE"), "fill 7");
    CHECK_STR(field("PRIORITY"), "6");
    CHECK_STR(field("MESSAGE_ID"), daemon_log_kinds[LOG_FILL].id);
    CHECK_STR(field("PAPERTAPE_EVENT"), "fill");
    CHECK_STR(field("SYMBOL"), "BTCUSDT");
    CHECK_STR(field("ACCOUNT"), "main");
    CHECK_STR(field("ORDER"), "42");
    CHECK_STR(field("VENUE"), "");
    CHECK(take(WAIT_MS));
    CHECK_STR(field("PRIORITY"), "3");
    CHECK_STR(field("PAPERTAPE_ALERT"), "GPU_LOST");
    CHECK(take(WAIT_MS));
    static const char lines[] = "\nVENUE\n\3\0\0\0\0\0\0\0a\nb\n";
    CHECK(memmem(entry, LOG_ENTRY_MAX, lines, sizeof lines - 1) != NULL);
    daemon_log_finish();
    CHECK(!daemon_log_is_native());
    leave();
}

static void *writer(void *arg)
{
    for (int i = 0; i < LINES; i++)
        daemon_log_info("thread %d line %d", *(int *)arg, i);
    return NULL;
}

/* What the journal has, and what is reported as lost, are all of the lines, each thread's in order. */
static void test_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS] = {0}, got = 0, t, i;
    unsigned long long lost = 0;
    listen_there();
    daemon_log_init(LOG_LEVEL_INFO);
    for (t = 0; t < THREADS; t++) {
        numbers[t] = t;
        pthread_create(&threads[t], NULL, writer, &numbers[t]);
    }
    while (got + (int)lost < THREADS * LINES && take(WAIT_MS)) {
        if (sscanf(field("MESSAGE"), "thread %d line %d", &t, &i) == 2 && t >= 0 && t < THREADS) {
            CHECK(i >= next[t]);
            next[t] = i + 1;
            got++;
        }
        lost += strtoull(field("PAPERTAPE_LOST"), NULL, 10);
    }
    CHECK_INT(got + (int)lost, THREADS * LINES);
    for (t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    daemon_log_finish();
    leave();
}

/* No process reads: every call returns, what does not fit is counted, and is reported once there is room. */
static void test_stalled(void)
{
    uint64_t queued, lost, said = 0, got = 0;
    listen_there();
    daemon_log_init(LOG_LEVEL_INFO);
    for (int i = 0; i < FLOOD; i++)
        daemon_log_event(LOG_FILL, LOG_OF(.order = (uint64_t)i + 1), "fill %d", i);
    CHECK_STR(daemon_log_look(&queued, &lost), "journal");
    CHECK(queued > 0 && queued <= LOG_RING_SLOTS);
    CHECK(lost > 0 && lost < FLOOD);
    while (got + said < FLOOD && take(WAIT_MS)) {
        bool is_loss = strcmp(field("MESSAGE_ID"), daemon_log_kinds[LOG_LOG_LOST].id) == 0;
        said += is_loss ? strtoull(field("PAPERTAPE_LOST"), NULL, 10) : 0;
        got += !is_loss;
    }
    CHECK_INT(got + said, FLOOD);
    CHECK_INT(said, lost);
    daemon_log_info("room again");
    CHECK(take(WAIT_MS));
    CHECK_STR(field("MESSAGE"), "room again");
    daemon_log_finish();
    CHECK(!take(0));
    leave();
}

/* The end waits for what is queued while it is taken, and no longer than its limit while it is not. */
static void *drain(void *arg)
{
    int *got = arg;
    while (*got < LOG_RING_SLOTS && take(WAIT_MS))
        ++*got;
    return NULL;
}

static void test_end(void)
{
    pthread_t reader;
    int got = 0;
    listen_there();
    daemon_log_init(LOG_LEVEL_INFO);
    for (int i = 0; i < LOG_RING_SLOTS; i++)
        daemon_log_info("line %d", i);
    pthread_create(&reader, NULL, drain, &got);
    daemon_log_finish();
    pthread_join(reader, NULL);
    CHECK_INT(got, LOG_RING_SLOTS);

    daemon_log_init(LOG_LEVEL_INFO);
    for (int i = 0; i < FLOOD; i++)
        daemon_log_info("line %d", i);
    daemon_log_finish(); /* it returns */
    leave();
}

static void test_back_again(void)
{
    listen_there();
    daemon_log_init(LOG_LEVEL_INFO);
    leave();
    daemon_log_info("while it is gone");
    daemon_log_info("still");
    listen_there();
    CHECK(take(WAIT_MS));
    CHECK_STR(field("MESSAGE"), "while it is gone");
    CHECK(take(WAIT_MS));
    CHECK_STR(field("MESSAGE"), "still");
    daemon_log_finish();
    leave();
}

/* Entries that wait are sent, then the crash; the signal ends the process. */
static void test_crash(void)
{
    int status, n = 0;
    listen_there();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        daemon_log_init(LOG_LEVEL_INFO);
        daemon_log_info("before");
        raise(SIGABRT);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    bool before = false, crashed = false;
    while (!crashed && n++ < 4 && take(WAIT_MS)) { /* the thread may send one that the handler sends too */
        before = before || strcmp(field("MESSAGE"), "before") == 0;
        crashed = strcmp(field("MESSAGE"), "crashed: signal 06") == 0;
    }
    CHECK(before && crashed);
    CHECK_STR(field("MESSAGE_ID"), daemon_log_kinds[LOG_CRASHED].id);
    CHECK_STR(field("PAPERTAPE_EVENT"), "crashed");
    leave();
}

int main(void)
{
    struct stat st;
    char stream[64];
    if (!mkdtemp(folder))
        return 2;
    snprintf(path, sizeof path, "%s/socket", folder);
    snprintf(stderr_path, sizeof stderr_path, "%s/stderr", folder);
    int real_stderr = dup(STDERR_FILENO), file = open(stderr_path, O_RDWR | O_CREAT | O_APPEND, 0600);
    fstat(file, &st);
    snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    setenv("PAPERTAPE_JOURNAL_SOCKET", path, 1);
    dup2(file, STDERR_FILENO);
    test_entries();
    test_threads();
    test_stalled();
    test_end();
    test_back_again();
    test_crash();
    dup2(real_stderr, STDERR_FILENO);
    char text[4096];
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n < 0 ? 0 : n] = '\0';
    CHECK_STR(text, ""); /* nothing of it to stderr, except what failed above */
    unlink(stderr_path);
    rmdir(folder);
    return check_done("daemon/log_journal");
}
