/* One anchor: the head of the books, signed, stamped, and delivered. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon/anchors.h"
#include "daemon/config_values.h"
#include "daemon/log_journal.h"
#include "daemon/notify/send_curl.h"
#include "db/books/sign.h"
#include "db/books/stamp.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/net/journald.h"

enum {
    STAMP_MS = 5000,
    LAST_COMMAND_MS = 5000,
    REPLY_MAX = 64 << 10,
    JOURNAL_MS = 2000,
    LOOK_MS = 100,
    FIELDS_MAX = 512
};

/* ---- the stamp ---- */

struct reply {
    uint8_t bytes[REPLY_MAX];
    size_t n;
};

static size_t on_reply(char *data, size_t size, size_t n, void *ctx)
{
    struct reply *reply = ctx;
    if (size * n > sizeof reply->bytes - reply->n)
        return 0;
    memcpy(reply->bytes + reply->n, data, size * n);
    reply->n += size * n;
    return size * n;
}

static struct curl_slist *headers(void)
{
    struct curl_slist *list = NULL;
    return daemon_notify_curl_add(&list, "Content-Type: application/timestamp-query") &&
                   daemon_notify_curl_add(&list, "Accept: application/timestamp-reply") &&
                   daemon_notify_curl_add(&list, "Expect:")
               ? list
               : NULL;
}

static int post(const char *url, const uint8_t *request, size_t n, const atomic_bool *stop, struct reply *ret,
                char *err, size_t err_size)
{
    const struct notify_attempt attempt = {.ca_file = "", .stop = stop};
    char error[CURL_ERROR_SIZE] = "";
    CURL *easy = daemon_notify_curl(&attempt, STAMP_MS, error);
    struct curl_slist *list = headers();
    bool set = easy && list && curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)n) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (const char *)request) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_USERAGENT, "papertape/" PAPERTAPE_VERSION) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_WRITEDATA, ret) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_reply) == CURLE_OK;
    CURLcode code = set ? curl_easy_perform(easy) : CURLE_OUT_OF_MEMORY;
    long status = 0;
    int r = 0;
    if (code == CURLE_OK && curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
        status != 200)
        r = fail_with(-EBADMSG, err, err_size, "HTTP %ld", status);
    else if (code != CURLE_OK)
        r = fail_with(-EIO, err, err_size, "%.200s", error[0] ? error : curl_easy_strerror(code));
    curl_easy_cleanup(easy);
    curl_slist_free_all(list);
    return r;
}

/* The line with its stamp in its place, where there is one. */
static int stamp(const char *url, char **line, const atomic_bool *stop, char *err, size_t err_size)
{
    uint64_t nonce;
    size_t n = 0;
    struct reply *reply = calloc(1, sizeof *reply);
    bool random = getrandom(&nonce, sizeof nonce, 0) == sizeof nonce;
    uint8_t *request = random ? db_stamp_request(*line, nonce, &n) : NULL;
    int r = request && reply ? 0 : fail_with(-ENOMEM, err, err_size, "out of memory");
    if (r == 0)
        r = post(url, request, n, stop, reply, err, err_size);
    if (r == 0)
        r = db_stamp_reply(*line, nonce, reply->bytes, reply->n, err, err_size);
    char *stamped = r == 0 ? db_stamp_put(*line, reply->bytes, reply->n) : NULL;
    if (stamped) {
        free(*line);
        *line = stamped;
    }
    free(request);
    free(reply);
    return r;
}

/* ---- delivery ---- */

/* A line that a full disk cut is ended first, so that the next is whole. */
static bool ends_line(int fd)
{
    char last;
    off_t size = lseek(fd, 0, SEEK_END);
    return size <= 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n';
}

static int write_file(const char *path, const char *line, char *err, size_t err_size)
{
    char *text = NULL;
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
    int r = fd < 0 ? -errno : 0, n = fd < 0 ? 0 : asprintf(&text, "%s%s\n", ends_line(fd) ? "" : "\n", line);
    if (r == 0 && n < 0)
        r = -ENOMEM;
    ssize_t written = r == 0 ? write(fd, text, (size_t)n) : 0;
    if (r == 0 && written < n)
        r = written < 0 ? -errno : -ENOSPC;
    if (r == 0 && fsync(fd) < 0 && errno != EINVAL)
        r = -errno;
    if (fd >= 0 && close(fd) < 0 && r == 0)
        r = -errno;
    if (n >= 0)
        free(text);
    return r < 0 ? fail_with(r, err, err_size, "%.300s: %s", path, strerror(-r)) : 0;
}

static int send_journal(const char *line, const atomic_bool *stop, char *err, size_t err_size)
{
    size_t size = strlen(line) + FIELDS_MAX;
    struct net_journald_entry entry = {.bytes = malloc(size), .size = size};
    int fd = net_journald_connect(daemon_log_journal_path()), r = fd < 0 ? fd : 0;
    if (r == 0 && !entry.bytes)
        r = -ENOMEM;
    if (r == 0) {
        net_journald_field(&entry, "MESSAGE", line);
        net_journald_field(&entry, "PRIORITY", "6");
        net_journald_field(&entry, "SYSLOG_IDENTIFIER", "papertaped");
        net_journald_field(&entry, "MESSAGE_ID", daemon_log_kinds[LOG_ANCHOR].id);
        net_journald_field(&entry, "PAPERTAPE_EVENT", daemon_log_kinds[LOG_ANCHOR].event);
        int64_t end_ms = clock_now_ms() + JOURNAL_MS;
        while ((r = net_journald_send(fd, entry.bytes, entry.len)) == -EAGAIN && clock_now_ms() < end_ms &&
               !atomic_load(stop)) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};
            (void)poll(&room, 1, LOOK_MS);
        }
    }
    if (fd >= 0)
        close(fd);
    free(entry.bytes);
    return r < 0 ? fail_with(r, err, err_size, "the journal: %s", strerror(-r)) : 0;
}

static int run_command(const char *target, const char *line, bool last, const atomic_bool *stop, char *err,
                       size_t err_size)
{
    struct notify_outcome outcome = {.accepted = false};
    char *text = NULL;
    if (asprintf(&text, "%s\n", line) < 0)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    daemon_notify_run(target + strlen(ANCHOR_COMMAND), text, last ? LAST_COMMAND_MS : NOTIFY_COMMAND_MS, stop,
                      &outcome);
    free(text);
    return outcome.accepted ? 0 : fail_with(-EIO, err, err_size, "%.100s: %s", target, outcome.detail);
}

/* `last`: the unit's stop waits for it. */
static int deliver(const struct anchor_config *config, const char *line, bool last, const atomic_bool *stop,
                   char *err, size_t err_size)
{
    if (config->target[0] == '/')
        return write_file(config->target, line, err, err_size);
    if (strcmp(config->target, ANCHOR_JOURNAL) == 0)
        return send_journal(line, stop, err, err_size);
    return run_command(config->target, line, last, stop, err, err_size);
}

/* ---- the line ---- */

static int take_line(const struct state_dir *state, enum db_head_occasion occasion, char **ret, char *err,
                     size_t err_size)
{
    struct db_reader *reader;
    struct db_head *head = NULL;
    int r = db_reader_open(state->database, &reader, err, err_size);
    if (r < 0)
        return r;
    r = db_head_take(reader, state->events, occasion, clock_wall_ns(), &head, err, err_size);
    db_reader_close(reader);
    if (r < 0)
        return r;
    *ret = db_head_text(head);
    db_head_destroy(head);
    return *ret ? 0 : fail_with(-ENOMEM, err, err_size, "out of memory");
}

static int sign(const char *name, char **line, char *err, size_t err_size)
{
    struct db_sign_key *key = NULL;
    int r = daemon_config_ledger_key(name, &key, err, err_size);
    if (r < 0)
        return r;
    char *signed_ = db_sign_line(key, *line);
    db_sign_key_free(key);
    if (!signed_)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    free(*line);
    *line = signed_;
    return 0;
}

int daemon_anchor_write(const struct anchor_config *config, const struct state_dir *state,
                        enum db_head_occasion occasion, const atomic_bool *stop,
                        char words[static ANCHOR_WORDS_MAX])
{
    char *line = NULL, why[ANCHOR_WORDS_MAX - 32] = "";
    words[0] = '\0';
    int r = take_line(state, occasion, &line, words, ANCHOR_WORDS_MAX);
    if (r == 0 && config->key[0])
        r = sign(config->key, &line, words, ANCHOR_WORDS_MAX);
    bool stamped =
        r < 0 || !config->timestamp_url[0] || stamp(config->timestamp_url, &line, stop, why, sizeof why) == 0;
    if (r == 0)
        r = deliver(config, line, occasion == DB_HEAD_STOP, stop, words, ANCHOR_WORDS_MAX);
    if (r == 0 && !stamped)
        snprintf(words, ANCHOR_WORDS_MAX, "timestamp_url: %s", why);
    free(line);
    return r;
}
