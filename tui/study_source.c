#include "tui/study_source.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/studies/study_build.h"
#include "trainer/study/runs.h"
#include "tui/study_fetched.h"

enum {
    SLICE_MS = 200,       /* of one reading, for trials' returns: the list does not wait longer for them */
    REFRESH_US = 5000000, /* figures that depend on the clock (trials/h) are computed again so often */
    SECOND_NS = 1000000000,
};

/* A study that has been read, and its trials' states when it was. */
struct held {
    struct study *study;
    int counts[TRIAL_STATES];
    bool listed;
    char *unread;      /* why it could not be read, owned; NULL */
    bool empty;        /* it was never read: only the list's entry is known */
    int64_t judged_ns; /* the time of the proposal whose verdict this is; 0: not read yet */
    char verdict[STATUS_WORD_MAX], verdict_text[STUDY_VERDICT_MAX];
};

/* The inputs of a validation that was read; no padding that differs. */
struct validated {
    int64_t study, proposed_ns, returns;
    struct tui_study_complete complete;
};

struct tui_study_source {
    char *url, *folder;
    char *file; /* that the URL names; NULL: none */
    int busy_ms;
    const atomic_bool *stop;   /* NULL: no reading is interrupted */
    struct study_store *store; /* NULL: not open */
    dev_t device;              /* of the file that is open; a file that replaces it is opened instead */
    ino_t inode;
    struct held *held;
    size_t n_held, cap;
    size_t next; /* of those that have not changed, the one that is read anyway */
    struct tui_study_kept kept;
    struct tui_study_want shown; /* what the last reading was of */
    int64_t shown_us;            /* when it was made; STUDY_NO_TIME: never */
    uint64_t shown_version;
    struct tui_study_validation validation; /* the validation that was read, and its inputs */
    struct validated validated;
    bool have_validation;
    struct returns_kept *returns; /* of the study that is shown; NULL: of none */
    char returns_key[STUDY_LABEL_MAX];
    struct tui_study_fetched *fetched; /* NULL without memory */
    bool soon;                         /* something of the reading is being fetched */
};

void tui_study_reading_finish(struct tui_study_reading *reading)
{
    tui_studies_destroy(reading->studies);
    tui_study_page_destroy(reading->page);
    *reading = (struct tui_study_reading){0};
}

struct tui_study_source *tui_study_source_create(const char *url, const char *folder, int busy_ms)
{
    struct tui_study_source *source = calloc(1, sizeof(*source));

    if (!source)
        return NULL;
    *source = (struct tui_study_source){.url = strdup(url),
                                        .folder = strdup(folder),
                                        .file = study_store_file(url),
                                        .busy_ms = busy_ms,
                                        .shown_us = STUDY_NO_TIME};
    if (source->url && source->folder)
        return source;
    tui_study_source_destroy(source);
    return NULL;
}

void tui_study_source_stop(struct tui_study_source *source, const atomic_bool *stop)
{
    source->stop = stop;
}

static int stopped(const struct tui_study_source *source)
{
    return source->stop && atomic_load(source->stop) ? -EINTR : 0;
}

static void release(struct held *held)
{
    study_destroy(held->study);
    free(held->unread);
}

static void forget_returns(struct tui_study_source *source)
{
    returns_kept_destroy(source->returns);
    source->returns = NULL;
}

static void drop(struct tui_study_source *source)
{
    study_store_close(source->store);
    source->store = NULL;
    for (size_t i = 0; i < source->n_held; i++)
        release(&source->held[i]);
    source->n_held = 0;
    source->shown_us = STUDY_NO_TIME;
    source->kept.key[0] = '\0';
    source->have_validation = false;
    forget_returns(source);
}

void tui_study_source_destroy(struct tui_study_source *source)
{
    if (!source)
        return;
    drop(source);
    tui_study_fetched_destroy(source->fetched);
    free(source->held);
    free(source->url);
    free(source->file);
    free(source->folder);
    free(source);
}

/* ---- The storage. ---- */

static int open_store(struct tui_study_source *source, char words[static STUDY_WORDS_MAX])
{
    const char *file = source->file;
    struct stat st = {0};
    bool there = file && stat(file, &st) == 0;

    if (source->store && file && (!there || st.st_dev != source->device || st.st_ino != source->inode))
        drop(source);
    if (source->store)
        return 0;
    int r = study_store_open_stopped_by(source->url, STUDY_STORE_READ, source->busy_ms, source->stop,
                                        &source->store, words);
    if (r == 0) {
        source->device = st.st_dev;
        source->inode = st.st_ino;
    }
    return r;
}

static struct held *find_held(struct tui_study_source *source, const struct study_summary *summary)
{
    int trials = 0;

    for (int i = 0; i < TRIAL_STATES; i++)
        trials += summary->trials[i];
    for (size_t i = 0; i < source->n_held; i++) {
        struct held *held = &source->held[i];
        if (held->study->id != summary->id)
            continue;
        /* Another study may have taken the number of one that was deleted. */
        if (strcmp(held->study->name, summary->name) == 0 && held->study->n_trials <= trials)
            return held;
        release(held);
        *held = source->held[--source->n_held];
        return NULL;
    }
    return NULL;
}

/* A placeholder for a study that cannot be read. NULL without memory. */
static struct study *empty_of(const struct study_summary *summary)
{
    return study_create(summary->id, summary->name, summary->directions,
                        summary->n_objectives > 0 ? summary->n_objectives : 1);
}

/* One study that this program cannot read does not hide the others: it says why. */
static int take_unread(struct tui_study_source *source, struct held *held,
                       const struct study_summary *summary, int r, const char *words)
{
    bool explained = r == -EBADMSG || r == -EINVAL;

    if (r < 0 && !explained)
        return r;
    if (explained && !held->study && !(held->study = empty_of(summary)))
        return -ENOMEM;
    if (explained != (held->unread != NULL) || (explained && strcmp(held->unread, words) != 0))
        source->shown_us = STUDY_NO_TIME;
    free(held->unread);
    held->unread = explained ? strdup(words) : NULL;
    return explained && !held->unread ? -ENOMEM : 0;
}

static int load(struct tui_study_source *source, struct held *held, const struct study_summary *summary,
                char words[static STUDY_WORDS_MAX])
{
    struct study *study = NULL;
    int r = study_store_load(source->store, summary->id, &study, words);

    held->empty = r < 0;
    if (r == 0) {
        study_destroy(held->study);
        held->study = study;
    }
    return r;
}

static int hold(struct tui_study_source *source, const struct study_summary *summary,
                char words[static STUDY_WORDS_MAX])
{
    struct held *held = find_held(source, summary);
    int r = 0;

    if (!held) {
        if (source->n_held == source->cap) {
            size_t cap = source->cap ? 2 * source->cap : 16;
            struct held *more = realloc(source->held, cap * sizeof(*more));
            if (!more)
                return -ENOMEM;
            source->held = more;
            source->cap = cap;
        }
        held = &source->held[source->n_held];
        *held = (struct held){0};
        r = take_unread(source, held, summary, load(source, held, summary, words), words);
        source->n_held += held->study != NULL;
    } else if (memcmp(held->counts, summary->trials, sizeof(held->counts)) != 0 ||
               summary->trials[TRIAL_RUNNING] > 0 ||
               (size_t)(held - source->held) == source->next % source->n_held) {
        r = held->empty ? load(source, held, summary, words)
                        : study_store_sync(source->store, held->study, words);
        r = take_unread(source, held, summary, r, words);
    }
    if (r == 0) {
        memcpy(held->counts, summary->trials, sizeof(held->counts));
        held->listed = true;
    }
    return r;
}

/* Updates the studies that are held: the newest, at most as many as are listed. */
static int read_studies(struct tui_study_source *source, char words[static STUDY_WORDS_MAX])
{
    struct study_summary *summaries = NULL;
    size_t n = 0;
    int r = study_store_list(source->store, &summaries, &n, words);

    for (size_t i = 0; i < source->n_held; i++)
        source->held[i].listed = false;
    source->next++;
    for (size_t i = n > STUDIES_MAX ? n - STUDIES_MAX : 0; r == 0 && i < n; i++) {
        r = hold(source, &summaries[i], words);
        if (r == -ENOENT) /* deleted since it was listed */
            r = 0;
        r = r == 0 ? stopped(source) : r;
    }
    for (size_t i = 0; r == 0 && i < source->n_held;) {
        if (source->held[i].listed) {
            i++;
            continue;
        }
        release(&source->held[i]);
        source->held[i] = source->held[--source->n_held];
        source->shown_us = STUDY_NO_TIME;
    }
    study_summaries_finish(summaries, n);
    free(summaries);
    return r;
}

/* ---- the result ---- */

/* For free(); NULL without memory. */
static char *folder_of(const struct tui_study_source *source, const struct study *study)
{
    return study_folder(study, source->folder);
}

/* That of its proposal.json, fetched or not; for free(), NULL without memory. */
static char *proposal_folder_of(struct tui_study_source *source, const struct study *study)
{
    char *folder = folder_of(source, study), whole[PATH_MAX], unused[FETCHED_WORDS_MAX];

    if (!folder)
        return NULL;
    if (tui_study_fetched_proposal(source->fetched, study, folder, whole, unused) == FETCHED_SOON)
        source->soon = true;
    free(folder);
    return strdup(whole);
}

/* Whose proposal is shown: of those that exist the one of the best trial; else the newest study's. */
static const struct study *proposing(struct tui_study_source *source, struct study *const *members, size_t n)
{
    const struct study *chosen = NULL, *newest = members[0];
    double best = NAN;

    for (size_t i = 0; i < n; i++) {
        const struct study *study = members[i];
        newest = study->id > newest->id ? study : newest;
        char *folder = n > 1 ? proposal_folder_of(source, study) : NULL;
        int trial = folder ? tui_study_proposal_trial(folder) : -1;
        free(folder);
        if (trial < 0)
            continue;
        const double *values = trial < study->n_trials ? study->trials[trial]->values : NULL;
        double value = values ? values[0] : NAN;
        if (!chosen ||
            (!isnan(value) && (isnan(best) || tui_study_better(study->directions[0], value, best)))) {
            chosen = study;
            best = value;
        }
    }
    return chosen ? chosen : newest;
}

static bool same_directions(const struct study *a, const struct study *b)
{
    return a->n_objectives == b->n_objectives &&
           memcmp(a->directions, b->directions, (size_t)a->n_objectives * sizeof(a->directions[0])) == 0;
}

static bool of_one_base(const struct study *a, const struct study *b)
{
    char base[STUDY_NAME_MAX + 1], other[STUDY_NAME_MAX + 1];

    study_base_name(a->name, base);
    study_base_name(b->name, other);
    return strcmp(base, other) == 0 && same_directions(a, b);
}

/* Another run of it, on the bars of one of the `n` members. */
static bool of_other_run(const struct study *run, const struct study *own, const struct study_members *with,
                         int n)
{
    if (!study_runs_named(own->name, run->name) || !same_directions(run, own))
        return false;
    for (int i = 0; i < n; i++)
        if (study_runs_same_bars(run, with->of[i].study))
            return true;
    return false;
}

static void add_member(const struct tui_study_source *source, struct study *study, bool run,
                       struct study_members *to)
{
    to->of[to->n++] = (struct study_member){study, folder_of(source, study), run};
}

/* The studies whose trials a proposal of this study counts: it is the first. For free_members(); n 0
 * without memory. */
static struct study_members members_of(const struct tui_study_source *source, struct study *const *studies,
                                       const struct study *own)
{
    struct study_members members = {.of = calloc(source->n_held + 1, sizeof(*members.of))};

    for (int pass = 0; members.of && pass < 2; pass++)
        for (size_t i = 0; i < source->n_held; i++)
            if (pass == 0 ? studies[i] == own : studies[i] != own && of_one_base(studies[i], own))
                add_member(source, studies[i], false, &members);
    const int n = members.n;
    for (size_t i = 0; members.of && i < source->n_held; i++)
        if (of_other_run(studies[i], own, &members, n))
            add_member(source, studies[i], true, &members);
    for (int i = 0; i < members.n; i++)
        if (!members.of[i].folder)
            members.n = 0;
    return members;
}

/* Their studies are the source's. */
static void free_members(const struct tui_study_source *source, struct study_members *members)
{
    for (size_t i = 0; members->of && i < source->n_held; i++)
        free(members->of[i].folder);
    free(members->of);
}

/* When its proposal was made: another time, another proposal. */
static int64_t proposed_ns(const char *folder)
{
    char *file = NULL;
    struct stat st;
    bool found = asprintf(&file, "%s/proposal.json", folder) >= 0 && stat(file, &st) == 0;

    free(file);
    return found ? (int64_t)st.st_mtim.tv_sec * SECOND_NS + st.st_mtim.tv_nsec : 0;
}

static int read_validation(struct tui_study_source *source, struct study *const *studies,
                           const struct study *study, bool returns, struct tui_study_page *page)
{
    struct study_members members = members_of(source, studies, study);
    struct validated of = {.returns = returns};

    if (returns && (!source->returns || strcmp(source->returns_key, page->study.key) != 0)) {
        forget_returns(source);
        source->returns = returns_kept_create();
        memcpy(source->returns_key, page->study.key, sizeof(source->returns_key));
    }
    if (members.n == 0 || (returns && !source->returns)) {
        free_members(source, &members);
        return -ENOMEM;
    }
    struct study **counted = calloc((size_t)members.n, sizeof(*counted));
    for (int i = 0; counted && i < members.n; i++)
        counted[i] = members.of[i].study;
    if (counted)
        of.complete = tui_study_complete(counted, (size_t)members.n);
    free(counted);
    of.study = study->id;
    char *folder = proposal_folder_of(source, study);
    of.proposed_ns = folder ? proposed_ns(folder) : 0;
    free(folder);
    if (!source->have_validation || memcmp(&of, &source->validated, sizeof(of)) != 0 ||
        strcmp(study->name, source->validation.study) != 0) {
        tui_study_validation_read(&members, source->fetched, returns ? source->returns : NULL, SLICE_MS,
                                  source->stop, &source->validation);
        source->validated = of;
        source->have_validation =
            source->validation.unread == 0 && !source->validation.soon && source->validation.missing == 0;
    }
    free_members(source, &members);
    source->soon = source->soon || source->validation.soon;
    page->validation = source->validation;
    page->have_validation = true;
    return 0;
}

/* Reads the verdict of its proposal where that is another one than before. */
static void read_verdict(struct tui_study_source *source, struct held *held)
{
    char *folder = proposal_folder_of(source, held->study);
    int64_t made_ns = folder ? proposed_ns(folder) : 0;

    if (made_ns != held->judged_ns) {
        held->judged_ns = made_ns;
        if (made_ns == 0 || !tui_study_proposal_verdict(folder, held->verdict, held->verdict_text))
            held->verdict[0] = '\0';
    }
    free(folder);
}

static void say_verdict(struct tui_study_source *source, struct held *held, struct tui_studies *list)
{
    read_verdict(source, held);
    if (held->verdict[0])
        tui_studies_judged(list, held->study, held->verdict, held->verdict_text);
}

static void say_unread(const struct held *held, struct tui_studies *list)
{
    if (held->unread)
        tui_studies_unread(list, held->study, held->empty ? held->counts : NULL, held->unread);
}

static int make_page(struct tui_study_source *source, struct study *const *studies,
                     const struct tui_study_want *want, int64_t now_us, struct tui_study_page **ret)
{
    size_t n = source->n_held, *at = calloc(n + 1, sizeof(*at)), found = 0;
    struct study **members = calloc(n + 1, sizeof(*members));

    if (at && members)
        found = tui_studies_members(studies, n, want->key, at, n);
    for (size_t i = 0; i < found; i++)
        members[i] = studies[at[i]];
    if (found > 0)
        *ret = tui_study_page_make(members, found, want, &source->kept, now_us);
    int r = found > 0 && !*ret ? -ENOMEM : 0;
    if (r == 0) /* a page of no use to what is wanted by now is not completed */
        r = stopped(source);
    if (*ret && r == 0 && want->validation)
        r = read_validation(source, studies, proposing(source, members, found), want->returns, *ret);
    struct tui_studies own = {.study = *ret ? &(*ret)->study : NULL, .n = *ret != NULL};
    for (size_t i = 0; r == 0 && i < found; i++) {
        say_unread(&source->held[at[i]], &own);
        say_verdict(source, &source->held[at[i]], &own);
    }
    r = at && members ? r : -ENOMEM;
    free(at);
    free(members);
    return r;
}

bool tui_study_want_equal(const struct tui_study_want *a, const struct tui_study_want *b)
{
    return strcmp(a->key, b->key) == 0 && strcmp(a->study, b->study) == 0 && a->trial == b->trial &&
           a->validation == b->validation && a->returns == b->returns;
}

static int make_all(struct tui_study_source *source, const struct tui_study_want *want, int64_t now_us,
                    struct tui_study_reading *ret)
{
    struct study **studies = calloc(source->n_held + 1, sizeof(*studies));
    uint64_t version = source->n_held;
    int r = 0;

    if (!studies)
        return -ENOMEM;
    for (size_t i = 0; i < source->n_held; i++) {
        studies[i] = source->held[i].study;
        version += studies[i]->version + 1;
    }
    if (!want->returns)
        forget_returns(source);
    bool same = source->shown_us != STUDY_NO_TIME && version == source->shown_version &&
                tui_study_want_equal(want, &source->shown) && now_us - source->shown_us < REFRESH_US;
    if (!same) {
        source->soon = false;
        ret->studies = tui_studies_make(studies, source->n_held, now_us);
        r = ret->studies ? 0 : -ENOMEM;
        for (size_t i = 0; r == 0 && i < source->n_held; i++) {
            say_unread(&source->held[i], ret->studies);
            say_verdict(source, &source->held[i], ret->studies);
        }
        if (r == 0 && want->key[0])
            r = make_page(source, studies, want, now_us, &ret->page);
    }
    if (r == 0 && !same) {
        source->shown = *want;
        source->shown_us = now_us;
        source->shown_version = version;
        ret->more = ret->page && ret->page->have_validation && ret->page->validation.unread > 0;
        ret->soon = source->soon;
        if (ret->more || ret->soon)
            source->shown_us = STUDY_NO_TIME;
    }
    free(studies);
    return r;
}

void tui_study_source_read(struct tui_study_source *source, const struct tui_study_want *want, int64_t now_us,
                           int64_t mono_ms, struct tui_study_reading *ret)
{
    struct tui_study_reading reading = {.mono_ms = mono_ms};
    if (!source->fetched)
        source->fetched = tui_study_fetched_create(source->stop != NULL);
    int r = open_store(source, reading.words);

    if (r == 0)
        r = read_studies(source, reading.words);
    if (r == 0)
        r = stopped(source);
    if (r == 0)
        r = make_all(source, want, now_us, &reading);
    if (r == -ENOMEM)
        snprintf(reading.words, sizeof(reading.words), "out of memory");
    if (r < 0) {
        tui_studies_destroy(reading.studies);
        tui_study_page_destroy(reading.page);
        reading.studies = NULL;
        reading.page = NULL;
        if (r != -EBUSY && r != -EINTR)
            drop(source);
    }
    reading.error = r;
    *ret = reading;
}
