/* What the log writes, read back from the file that stderr is for the while. */
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"

enum { THREADS = 4, LINES = 500 };

static char path[] = "/tmp/papertape-log-XXXXXX";
static int file, real_stderr;

static void begin(void)
{
    if (ftruncate(file, 0) != 0)
        abort();
    dup2(file, STDERR_FILENO);
}

/* What was written since begin(); stderr is itself again. */
static char *end(void)
{
    static char text[1 << 20];
    dup2(real_stderr, STDERR_FILENO);
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n < 0 ? 0 : n] = '\0';
    return text;
}

static bool time_like(const char *text)
{
    static const char pattern[] = "dddd-dd-ddTdd:dd:dd.dddZ ";
    for (size_t i = 0; pattern[i]; i++)
        if (pattern[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != pattern[i])
            return false;
    return true;
}

static void *thread(void *arg)
{
    for (int i = 0; i < LINES; i++)
        daemon_log_info("thread %d line %d of the same length: %040d", *(int *)arg, i, i);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS] = {0}, whole = 0;
    begin();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, thread, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    char *text = end(), *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        int t, i, same;
        if (sscanf(line, "%*s info thread %d line %d of the same length: %d", &t, &i, &same) == 3 && t >= 0 &&
            t < THREADS && i == next[t] && same == i) {
            next[t]++;
            whole++;
        }
    }
    CHECK_INT(whole, THREADS * LINES);
}

int main(void)
{
    file = mkostemp(path, O_APPEND);
    real_stderr = dup(STDERR_FILENO);
    if (file < 0 || real_stderr < 0)
        return 2;
    unsetenv("JOURNAL_STREAM");
    setenv("PAPERTAPE_JOURNAL_SOCKET", "/nonexistent/socket", 1);

    daemon_log_init(LOG_LEVEL_WARNING);
    begin();
    errno = EDOM;
    daemon_log_error("feed: %s: %d", "refused", 42);
    CHECK_INT(errno, EDOM);
    daemon_log_warning("second");
    daemon_log_info("dropped");
    daemon_log_debug("dropped");
    char *text = end(), *second = strchr(text, '\n') + 1;
    CHECK(time_like(text));
    CHECK(strcmp(second + 25, "warning second\n") == 0 && time_like(second));
    CHECK(strncmp(text + 25, "error   feed: refused: 42\n", 26) == 0);

    /* The journal, without its socket: a priority and no time, only when stderr is the stream that systemd
     * made. */
    struct stat st;
    char stream[64];
    fstat(file, &st);
    snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    begin();
    daemon_log_init(LOG_LEVEL_DEBUG);
    daemon_log_error("a");
    daemon_log_warning("b");
    daemon_log_info("c");
    daemon_log_debug("d %s", "\x1b[2J\n\t\x7f\xc2\x9b\xffµ€𝄞\xed\xa0\x80");
    CHECK_STR(end(), "<3>a\n<4>b\n<6>c\n<7>d \\x1b[2J\\n\\t\\x7f\\xc2\\x9b\\xffµ€𝄞\\xed\\xa0\\x80\n");

    /* A long message is one line that fits, cut at a character. */
    char message[3 * LOG_LINE_MAX];
    for (size_t i = 0; i + 2 < sizeof message; i += 2)
        memcpy(message + i, "µ", 3);
    begin();
    daemon_log_info("%s", message);
    text = end();
    CHECK(strlen(text) <= LOG_LINE_MAX);
    CHECK(strcmp(text + strlen(text) - 6, "µ...\n") == 0);

    setenv("JOURNAL_STREAM", "1:1", 1);
    daemon_log_init(LOG_LEVEL_INFO);
    test_threads();
    unlink(path);
    return check_done("daemon/log");
}
