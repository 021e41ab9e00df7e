#include "tui/study_fetched.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/folder.h"
#include "trainer/study/artifacts.h"
#include "tui/reader_thread.h"

enum { AGAIN_MS = 60000, WAIT_MS = 5000 /* without the thread */, FOLDER_MODE = 0700 };
#define BYTES_MAX (INT64_C(256) << 20) /* of one file: its place may be a memory's */

struct file {
    int64_t study;
    int number; /* of the trial; FETCHED_PROPOSAL */
    struct study_artifact artifact;
    char *url; /* of its store */
    enum fetched_state state;
    int64_t failed_ms;
    bool down; /* it failed because its store does not answer */
    char words[FETCHED_WORDS_MAX];
};

struct tui_study_fetched {
    char root[PATH_MAX]; /* "": nothing was fetched yet */
    bool wants_thread, threaded;
    struct reader_thread thread;
    int64_t until_ms;   /* without it: when a call stops to wait */
    struct file *files; /* under the thread's mutex, once it runs */
    size_t n, cap;
    struct artifact_store *store; /* of what fetches: files that follow each other take one connection */
    const char *store_url;
};

static void lock(struct tui_study_fetched *fetched)
{
    if (fetched->threaded)
        pthread_mutex_lock(&fetched->thread.mutex);
}

static void unlock(struct tui_study_fetched *fetched)
{
    if (fetched->threaded)
        pthread_mutex_unlock(&fetched->thread.mutex);
}

static bool ends(void *ctx)
{
    struct tui_study_fetched *fetched = ctx;
    if (!fetched->threaded)
        return clock_now_ms() >= fetched->until_ms;
    lock(fetched);
    bool ends = fetched->thread.ends;
    unlock(fetched);
    return ends;
}

/* ---- Fetching. ---- */

static void folder_of(const struct tui_study_fetched *fetched, int64_t study, char ret[static PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%.*s/%lld", PATH_MAX - 64, fetched->root, (long long)study);
}

/* Makes its folder. */
static int path_of(const struct tui_study_fetched *fetched, const struct file *file,
                   char ret[static PATH_MAX])
{
    char folder[PATH_MAX], failed[PATH_MAX];
    folder_of(fetched, file->study, folder);
    if (file->number != FETCHED_PROPOSAL)
        snprintf(folder + strlen(folder), sizeof folder - strlen(folder), "/%d", file->number);
    snprintf(ret, PATH_MAX, "%.*s/%s", PATH_MAX - 16, folder,
             file->number == FETCHED_PROPOSAL ? "proposal.json" : "returns.csv");
    return folder_make(folder, FOLDER_MODE, failed);
}

static void close_store(struct tui_study_fetched *fetched)
{
    artifact_store_close(fetched->store);
    fetched->store = NULL;
}

static int open_store(struct tui_study_fetched *fetched, const char *url,
                      char words[static ARTIFACT_ERROR_MAX])
{
    const struct artifact_stop stop = {ends, fetched};
    if (fetched->store && strcmp(fetched->store_url, url) == 0)
        return 0;
    close_store(fetched);
    fetched->store_url = url;
    return artifact_store_open(url, &stop, &fetched->store, words);
}

static int fetch(struct tui_study_fetched *fetched, const struct file *file,
                 char words[static ARTIFACT_ERROR_MAX])
{
    char path[PATH_MAX];
    int r = path_of(fetched, file, path);
    if (r < 0) {
        snprintf(words, ARTIFACT_ERROR_MAX, "%.300s: %s", path, strerror(-r));
        return r;
    }
    if (file->artifact.digest.size > BYTES_MAX) {
        snprintf(words, ARTIFACT_ERROR_MAX,
                 "%.300s: has more than 256 MiB: papertape-trainer validate fetches it", file->artifact.key);
        return -EFBIG;
    }
    r = open_store(fetched, file->url, words);
    if (r == 0)
        r = artifact_store_get(fetched->store, file->artifact.key, path, &file->artifact.digest, words);
    if (r < 0)
        close_store(fetched); /* the next attempt reads its keys again */
    if (r == -ECANCELED)
        snprintf(words, ARTIFACT_ERROR_MAX, "%.300s: it does not answer within %d s", file->url,
                 WAIT_MS / 1000);
    return r;
}

static bool is_down(int r)
{
    return r == -EHOSTDOWN || r == -EACCES || r == -ECANCELED;
}

static void take(struct file *file, int r, const char *words)
{
    file->state = r == 0 ? FETCHED_HERE : FETCHED_FAILED;
    file->failed_ms = clock_now_ms();
    file->down = is_down(r);
    snprintf(file->words, sizeof file->words, "%.*s", FETCHED_WORDS_MAX - 1, r == 0 ? "" : words);
}

/* Others of a store that does not answer are not tried now: each would wait for it. */
static void give_up(struct tui_study_fetched *fetched, const char *url, int r, const char *words)
{
    for (size_t i = 0; i < fetched->n; i++)
        if (fetched->files[i].state == FETCHED_SOON && strcmp(fetched->files[i].url, url) == 0)
            take(&fetched->files[i], r, words);
}

/* The thread's: one after the other. */
static void fetch_all(void *ctx)
{
    struct tui_study_fetched *fetched = ctx;
    char words[ARTIFACT_ERROR_MAX];
    lock(fetched);
    for (size_t i = 0; i < fetched->n && !fetched->thread.ends; i++) {
        if (fetched->files[i].state != FETCHED_SOON)
            continue;
        struct file file = fetched->files[i]; /* whose url stays */
        unlock(fetched);
        int r = fetch(fetched, &file, words);
        lock(fetched);
        if (fetched->files[i].state == FETCHED_SOON &&
            artifact_digest_equal(&fetched->files[i].artifact.digest, &file.artifact.digest))
            take(&fetched->files[i], r, words);
        if (is_down(r))
            give_up(fetched, file.url, r, words);
    }
    unlock(fetched);
    close_store(fetched);
}

/* ---- What is asked for. ---- */

/* Of that store: a study may get another one. */
static struct file *find_file(struct tui_study_fetched *fetched, int64_t study, int number, const char *url)
{
    for (size_t i = 0; i < fetched->n; i++)
        if (fetched->files[i].study == study && fetched->files[i].number == number &&
            strcmp(fetched->files[i].url, url) == 0)
            return &fetched->files[i];
    return NULL;
}

static struct file *add_file(struct tui_study_fetched *fetched, int64_t study, int number, const char *url)
{
    if (fetched->n == fetched->cap) {
        size_t cap = fetched->cap ? 2 * fetched->cap : 64;
        struct file *more = realloc(fetched->files, cap * sizeof *more);
        if (!more)
            return NULL;
        fetched->files = more;
        fetched->cap = cap;
    }
    char *own = strdup(url);
    if (!own)
        return NULL;
    fetched->files[fetched->n] = (struct file){.study = study, .number = number, .url = own};
    return &fetched->files[fetched->n++];
}

static bool is_wanted(const struct file *file, const struct study_artifact *artifact)
{
    return file->state == FETCHED_NONE || !artifact_digest_equal(&file->artifact.digest, &artifact->digest) ||
           (file->state == FETCHED_FAILED && clock_now_ms() - file->failed_ms >= AGAIN_MS);
}

/* The folder and the thread, with the first file. 0 or -errno. */
static int start(struct tui_study_fetched *fetched)
{
    int r = fetched->root[0] ? 0 : folder_temporary("studies", fetched->root);
    if (r < 0)
        fetched->root[0] = '\0';
    if (r == 0 && fetched->wants_thread && !fetched->threaded)
        fetched->threaded = tui_reader_thread_start(&fetched->thread, fetch_all, fetched);
    return r < 0 ? r : fetched->wants_thread && !fetched->threaded ? -EAGAIN : 0;
}

/* Another file of a store that did not answer just now; NULL: there is none. */
static const struct file *find_down(const struct tui_study_fetched *fetched, const struct file *file)
{
    for (size_t i = 0; i < fetched->n; i++)
        if (fetched->files[i].down && strcmp(fetched->files[i].url, file->url) == 0 &&
            clock_now_ms() - fetched->files[i].failed_ms < AGAIN_MS)
            return &fetched->files[i];
    return NULL;
}

/* Waits for it, without the thread. */
static void want(struct tui_study_fetched *fetched, struct file *file, const struct study_artifact *artifact)
{
    const struct file *down = find_down(fetched, file);
    char words[ARTIFACT_ERROR_MAX];
    file->artifact = *artifact;
    if (down) {
        if (down != file)
            memcpy(file->words, down->words, sizeof file->words);
        file->failed_ms = down->failed_ms;
        file->state = FETCHED_FAILED;
        return;
    }
    file->state = FETCHED_SOON;
    if (fetched->threaded) {
        fetched->thread.wants = true;
        pthread_cond_signal(&fetched->thread.wanted);
        return;
    }
    fetched->until_ms = clock_now_ms() + WAIT_MS;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* a store may close its connection */
    int r = fetch(fetched, file, words);
    signal(SIGPIPE, before);
    take(file, r, words);
}

enum fetched_state tui_study_fetched_get(struct tui_study_fetched *fetched, const struct study *study,
                                         int trial, char ret_folder[static PATH_MAX],
                                         char words[static FETCHED_WORDS_MAX])
{
    struct study_artifact artifact;
    const int number = trial == FETCHED_PROPOSAL ? FETCHED_PROPOSAL : study->trials[trial]->number;
    const bool named = trial == FETCHED_PROPOSAL ? study_artifact_proposal(study, &artifact)
                                                 : study_artifact_returns(study->trials[trial], &artifact);
    char *url = named ? study_artifacts_url(study) : NULL;
    enum fetched_state state = FETCHED_NONE;
    words[0] = '\0';
    int r = url ? start(fetched) : 0;
    if (r < 0) {
        snprintf(words, FETCHED_WORDS_MAX, "a temporary folder or thread: %s", strerror(-r));
        state = FETCHED_FAILED;
    }
    if (!url || r < 0) {
        free(url);
        return state;
    }
    lock(fetched);
    struct file *file = find_file(fetched, study->id, number, url);
    if (!file)
        file = add_file(fetched, study->id, number, url);
    if (file && is_wanted(file, &artifact))
        want(fetched, file, &artifact);
    if (file) {
        state = file->state;
        memcpy(words, file->words, sizeof file->words);
        folder_of(fetched, study->id, ret_folder);
    }
    unlock(fetched);
    free(url);
    return state;
}

enum fetched_state tui_study_fetched_proposal(struct tui_study_fetched *fetched, const struct study *study,
                                              const char *folder, char ret_folder[static PATH_MAX],
                                              char words[static FETCHED_WORDS_MAX])
{
    char path[PATH_MAX], own[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/proposal.json", PATH_MAX - 16, folder);
    words[0] = '\0';
    enum fetched_state state = fetched && access(path, F_OK) < 0
                                   ? tui_study_fetched_get(fetched, study, FETCHED_PROPOSAL, own, words)
                                   : FETCHED_NONE;
    snprintf(ret_folder, PATH_MAX, "%s", state == FETCHED_HERE ? own : folder);
    return state;
}

/* ---- Its life. ---- */

struct tui_study_fetched *tui_study_fetched_create(bool thread)
{
    struct tui_study_fetched *fetched = calloc(1, sizeof *fetched);
    if (fetched)
        fetched->wants_thread = thread;
    return fetched;
}

void tui_study_fetched_destroy(struct tui_study_fetched *fetched)
{
    if (!fetched)
        return;
    if (fetched->threaded)
        tui_reader_thread_stop(&fetched->thread);
    close_store(fetched);
    if (fetched->root[0])
        folder_remove(fetched->root);
    for (size_t i = 0; i < fetched->n; i++)
        free(fetched->files[i].url);
    free(fetched->files);
    free(fetched);
}
