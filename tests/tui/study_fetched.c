/* A study of another machine, whose files are in its artifact store: the dashboard's page and list have the
 * proposal and the returns from there, the same as of a folder with these files; an object that is another, a
 * store that is gone; nothing is left behind. */
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tests/scratch.h"
#include "trainer/study/artifacts.h"
#include "tui/study_source.h"

enum { TRIALS = 4, ROWS = 280 };
static const int64_t now_us = 1723161255342000;
static char store_folder[SCRATCH_PATH_MAX], here[SCRATCH_PATH_MAX], url[SCRATCH_PATH_MAX];

static void path_at(char ret[static SCRATCH_PATH_MAX], const char *name)
{
    snprintf(ret, SCRATCH_PATH_MAX, "%s", scratch_path(name));
}

static void make_folder(const char *path)
{
    CHECK_INT(mkdir(path, 0700), 0);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* In the store and, for the comparison, at FOLDER/`path`. */
static json_t *put(const char *path, const char *key, const char *text)
{
    struct study_artifact artifact;
    char at[2 * SCRATCH_PATH_MAX], err[ARTIFACT_ERROR_MAX];
    snprintf(at, sizeof at, "%s/%s", here, path);
    write_text(at, text);
    snprintf(at, sizeof at, "%s/%s", store_folder, key);
    write_text(at, text);
    snprintf(artifact.key, sizeof artifact.key, "%s", key);
    CHECK_INT(artifact_digest_file(at, &artifact.digest, err), 0);
    return study_artifact_json(&artifact);
}

static char *returns_of(int number)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "timestamp_ns,path_1,holding\n");
    for (int row = 0; row < ROWS; row++)
        fprintf(out, "%lld,%.17g,0.0005\n", 1700000000000000000LL + row * 300000000000LL,
                0.01 * sin(row * (1.3 + 0.17 * number) + row * row * 0.01 * (number + 1)) + 1e-4);
    fclose(out);
    return text;
}

static void set(struct study_store *store, int64_t study, int64_t trial, const char *key, json_t *value)
{
    char err[STUDY_ERROR_MAX];
    CHECK_INT(study_artifacts_set(store, study, trial, key, value, err), 0);
    json_decref(value);
}

static void write_trial(struct study_store *store, int64_t study)
{
    char err[STUDY_ERROR_MAX], path[SCRATCH_PATH_MAX], key[64];
    int64_t trial;
    int number;
    CHECK_INT(study_store_ask(store, study, false, &trial, &number, err), 0);
    snprintf(path, sizeof path, "%.200s/%d", here, number);
    make_folder(path);
    snprintf(path, sizeof path, "%d/returns.csv", number);
    snprintf(key, sizeof key, "%d-returns.csv", number);
    char *text = returns_of(number);
    set(store, study, trial, STUDY_ARTIFACTS, json_pack("{s:o}", "returns.csv", put(path, key, text)));
    free(text);
    const double value = number;
    CHECK_INT(study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err), 0);
}

static void write_study(const char *database)
{
    static const enum study_direction maximize[] = {STUDY_MAXIMIZE};
    static const char proposal[] =
        "{\"schema\":\"papertape.proposal/1\",\"trial\":2,\"pbo\":0.25,\"verdict\":\"better\","
        "\"verdict_text\":\"Better: of another machine.\"}";
    char err[STUDY_ERROR_MAX], store_url[SCRATCH_PATH_MAX + 16];
    struct study_store *store;
    int64_t study;
    CHECK_INT(study_store_open(database, STUDY_STORE_WRITE, 0, &store, err), 0);
    CHECK_INT(study_store_create(store, "away", maximize, 1, &study, NULL, err), 0);
    for (int i = 0; i < TRIALS; i++)
        write_trial(store, study);
    snprintf(store_url, sizeof store_url, "file://%s", store_folder);
    set(store, study, 0, STUDY_ARTIFACTS, json_string(store_url));
    set(store, study, 0, "papertape:folder", json_string("/nowhere/studies/away"));
    set(store, study, 0, STUDY_ARTIFACTS_PROPOSAL,
        json_pack("{s:o}", "proposal.json", put("proposal.json", "proposal", proposal)));
    study_store_close(store);
}

/* A verb's reading, which waits for what it fetches; the list's verdict in `ret_verdict`. */
static struct tui_study_validation read_page(const char *folders, char ret_verdict[static STUDY_VERDICT_MAX])
{
    const struct tui_study_want want = {.key = "away", .trial = -1, .validation = true, .returns = true};
    struct tui_study_source *source = tui_study_source_create(url, folders, 1000);
    struct tui_study_validation ret = {0};
    struct tui_study_reading reading;
    bool more = true;
    while (more) {
        tui_study_source_read(source, &want, now_us, 0, &reading);
        CHECK_INT(reading.error, 0);
        CHECK(reading.page && reading.page->have_validation && !reading.soon);
        ret = reading.page->validation;
        snprintf(ret_verdict, STUDY_VERDICT_MAX, "%s", reading.studies->study[0].verdict_text);
        more = reading.more;
        tui_study_reading_finish(&reading);
    }
    tui_study_source_destroy(source);
    return ret;
}

static void check_same(const struct tui_study_validation *a, const struct tui_study_validation *b)
{
    CHECK(a->have && b->have);
    CHECK_INT(a->trial, 2);
    CHECK_INT(a->missing, 0);
    CHECK_STR(a->returns_words, "");
    CHECK_INT(a->columns, TRIALS);
    CHECK_INT(b->columns, TRIALS);
    CHECK_INT(a->n_lambda, b->n_lambda);
    CHECK(a->n_lambda > 0 && memcmp(a->lambda, b->lambda, sizeof a->lambda) == 0);
    CHECK(memcmp(&a->pbo_now, &b->pbo_now, sizeof a->pbo_now) == 0);
    CHECK(a->n_equity > 0 && memcmp(a->equity[0], b->equity[0], (size_t)a->n_equity * sizeof(double)) == 0);
}

/* The dashboard's, which waits for nothing: what is fetched comes with a later reading. */
static void check_thread(const struct tui_study_validation *wanted)
{
    const struct tui_study_want want = {.key = "away", .trial = -1, .validation = true, .returns = true};
    struct tui_study_reader *reader = tui_study_reader_create(url, "/nowhere");
    struct pollfd ready = {tui_study_reader_fd(reader), POLLIN, 0};
    struct tui_study_validation found = {0};
    bool first = true;
    while (!found.have || found.columns == 0) {
        struct tui_study_reading reading;
        tui_study_reader_want(reader, &want);
        CHECK_INT(poll(&ready, 1, -1), 1);
        if (!tui_study_reader_take(reader, &reading))
            continue;
        CHECK_INT(reading.error, 0);
        if (reading.page && reading.page->have_validation)
            found = reading.page->validation;
        CHECK(found.have || reading.soon || !reading.page);
        CHECK(!first || (reading.soon && found.columns == 0)); /* it waits for nothing */
        first = false;
        tui_study_reading_finish(&reading);
    }
    check_same(&found, wanted);
    tui_study_reader_destroy(reader);
}

/* The study names another store, now that its own is not there. */
static void check_moved(const char *folder)
{
    char err[STUDY_ERROR_MAX], words[FETCHED_WORDS_MAX], into[PATH_MAX], store_url[SCRATCH_PATH_MAX + 16];
    struct tui_study_fetched *fetched = tui_study_fetched_create(false);
    struct study_store *store;
    struct study *study;
    int64_t id;
    CHECK_INT(study_store_open(url, STUDY_STORE_WRITE, 0, &store, err), 0);
    CHECK_INT(study_store_find(store, "away", &id, err), 0);
    CHECK_INT(study_store_load(store, id, &study, err), 0);
    CHECK_INT(tui_study_fetched_get(fetched, study, 0, into, words), FETCHED_FAILED);
    snprintf(store_url, sizeof store_url, "file://%s", folder);
    set(store, id, 0, STUDY_ARTIFACTS, json_string(store_url));
    CHECK_INT(study_store_sync(store, study, err), 0);
    CHECK_INT(tui_study_fetched_get(fetched, study, 0, into, words), FETCHED_HERE);
    study_destroy(study);
    study_store_close(store);
    tui_study_fetched_destroy(fetched);
}

static void check_damaged(void)
{
    char path[SCRATCH_PATH_MAX + 32], verdict[STUDY_VERDICT_MAX], gone[SCRATCH_PATH_MAX];
    snprintf(path, sizeof path, "%s/1-returns.csv", store_folder);
    write_text(path, "of another study\n");
    struct tui_study_validation v = read_page("/nowhere", verdict);
    CHECK(v.have);
    CHECK_INT(v.missing, 1);
    CHECK_INT(v.columns, TRIALS - 1);
    CHECK_INT(v.left_out, 1);
    path_at(gone, "gone");
    CHECK_INT(rename(store_folder, gone), 0);
    v = read_page("/nowhere", verdict);
    CHECK_STR(verdict, "");
    CHECK(!v.have && strstr(v.words, store_folder));
    CHECK_INT(v.missing, TRIALS);
    CHECK(strstr(v.returns_words, store_folder));
    check_moved(gone);
}

int main(void)
{
    char studies[SCRATCH_PATH_MAX], temporary[SCRATCH_PATH_MAX], verdict[STUDY_VERDICT_MAX];
    setlocale(LC_CTYPE, "C.UTF-8");
    path_at(url, "away.db");
    path_at(store_folder, "store");
    path_at(studies, "studies");
    path_at(temporary, "temporary");
    snprintf(here, sizeof here, "%.200s/away", studies);
    make_folder(store_folder);
    make_folder(studies);
    make_folder(here);
    make_folder(temporary);
    CHECK_INT(setenv("TMPDIR", temporary, 1), 0);
    write_study(url);
    const struct tui_study_validation local = read_page(studies, verdict);
    CHECK_STR(verdict, "Better: of another machine.");
    CHECK_INT(rmdir(temporary), 0); /* what is here is not fetched */
    make_folder(temporary);
    const struct tui_study_validation fetched = read_page("/nowhere", verdict);
    CHECK(local.made_ns != 0 && fetched.made_ns == 0); /* its copy's time is none of the proposal's */
    CHECK_STR(verdict, "Better: of another machine.");
    check_same(&fetched, &local);
    check_thread(&local);
    check_damaged();
    CHECK_INT(rmdir(temporary), 0); /* it is empty */
    return check_done("tui/study_fetched");
}
