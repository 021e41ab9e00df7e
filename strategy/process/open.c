/* Opens "exec:COMMAND": starts it, lets it describe itself, and keeps it to check parameters. */
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/text_words.h"
#include "exchange/utf8.h"
#include "exchange/whole_file.h"
#include "strategy/process/process.h"

enum { SHOWN = 60, SOURCE_FILE_MAX = 16 << 20, HOW_MAX = 320, WHY_MAX = 400 };

static const char question[] = "{\"type\":\"describe\"}\n";

static int no_description(struct strategy_child *child, enum child_said said, char *err, size_t err_size)
{
    char how[HOW_MAX];
    strategy_child_end(child, said != CHILD_ENDED, said == CHILD_ENDED ? how : NULL, sizeof how);
    if (said == CHILD_ENDED)
        return fail_with(-EPIPE, err, err_size, "it does not describe itself: %s", how);
    if (said == CHILD_LONG)
        return fail_with(-EINVAL, err, err_size, "its first line is longer than %d bytes", CHILD_LINE_MAX);
    return fail_with(-ETIMEDOUT, err, err_size, "it does not describe itself within %d s",
                     PROCESS_START_MS / 1000);
}

/* SHA-256 of the description, and of the files that the command names, so that a changed program is seen:
 * of their hashes in a row. */
static int hash(const char *source, const char *line, size_t len, uint8_t ret[static STRATEGY_HASH_SIZE])
{
    char buf[CHILD_COMMAND_MAX], *words[CHILD_WORDS_MAX], *text;
    uint8_t parts[CHILD_WORDS_MAX + 1][STRATEGY_HASH_SIZE] = {0};
    size_t n;
    int n_words = text_words(source, buf, sizeof buf, words, CHILD_WORDS_MAX);
    bool good = EVP_Digest(line, len, parts[0], NULL, EVP_sha256(), NULL);
    for (int i = 0; i < n_words; i++) {
        if (whole_file_read(words[i], SOURCE_FILE_MAX, &text, &n) < 0)
            continue;
        good &= EVP_Digest(text, n, parts[i + 1], NULL, EVP_sha256(), NULL);
        free(text);
    }
    good = good && EVP_Digest(parts, sizeof parts, ret, NULL, EVP_sha256(), NULL);
    return good ? 0 : -ENOMEM;
}

static int describe(const char *source, struct process_strategy **ret, char *err, size_t err_size)
{
    struct strategy_child *child;
    const char *line;
    size_t len;
    int r = strategy_child_start(source, NULL, &child, err, err_size);
    if (r < 0)
        return r;
    r = strategy_child_send(child, question, sizeof question - 1);
    enum child_said said = CHILD_NOTHING;
    if (r == 0)
        said = strategy_child_read(child, clock_now_ns() + PROCESS_START_MS * INT64_C(1000000), &line, &len);
    if (said != CHILD_LINE)
        return no_description(child, said, err, err_size);
    struct process_strategy *process = NULL;
    r = strategy_process_described(line, len, source, &process, err, err_size);
    if (r == 0 && (r = hash(source, line, len, process->external.hash)) < 0)
        snprintf(err, err_size, "not enough memory");
    if (r < 0) {
        strategy_process_free(process);
        strategy_child_end(child, true, NULL, 0);
        return r;
    }
    process->checker = child;
    *ret = process;
    return 0;
}

/* The same as one that was opened before takes its place, with the process that just described it. */
static const struct strategy *merge(struct process_strategy *process)
{
    const struct strategy *known = strategy_find_opened(process->strategy.name);
    struct process_strategy *to = known ? strategy_process_of(known) : NULL;
    if (!to || !strategy_same(known, &process->strategy))
        return strategy_opened(&process->strategy) == 0 ? &process->strategy : NULL;
    pthread_mutex_lock(&to->lock);
    struct strategy_child *before = to->checker;
    to->checker = process->checker;
    process->checker = before;
    pthread_mutex_unlock(&to->lock);
    strategy_process_free(process);
    return known;
}

static int open_process(const char *source, const struct strategy **ret, char *err, size_t err_size)
{
    char why[WHY_MAX];
    struct process_strategy *process;
    int r = describe(source, &process, why, sizeof why);
    const struct strategy *found = r == 0 ? merge(process) : NULL;
    if (found) {
        *ret = found;
        return 0;
    }
    if (r == 0) {
        strategy_process_free(process);
        r = fail_with(-ENOMEM, why, sizeof why, "not enough memory");
    }
    utf8_clean(why);
    return fail_with(r, err, err_size, "\"exec:%.*s\": %s", SHOWN, source, why);
}

const struct strategy_form_row strategy_process_form = {
    .open = open_process,
    .host_open = strategy_process_host_open,
    .host_decide = strategy_process_host_decide,
    .host_close = strategy_process_host_close,
};
