/* A damaged study storage: a good one with bytes changed, as the input says (three of place, one of value):
 * every study of it is read, or refused with one line; so is a trial that is to be added. */
#include <string.h>

#include "db/studies/store.h"
#include "tests/fuzz/fuzz.h"

static uint8_t *good;
static size_t good_size;
static char folder[] = "/tmp/papertape-studies-XXXXXX", path[64];

static void remove_files(void)
{
    static const char *const ends[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    rmdir(folder);
}

static void fill(struct study_store *store, char *err)
{
    static const enum study_direction directions[] = {STUDY_MAXIMIZE};
    int64_t study, trial;
    int number;
    bool existed;
    fail_unless(study_store_create(store, "first", directions, 1, &study, &existed, err) == 0);
    for (int i = 0; i < 4; i++) {
        struct distribution range;
        const double value = i;
        fail_unless(study_store_ask(store, study, true, &trial, &number, err) == 0);
        fail_unless(distribution_number(DISTRIBUTION_FLOAT, 0, 10, 0, false, &range, err) == 0);
        fail_unless(study_store_set_params(store, trial, &(struct study_store_param){"rate", &range, value},
                                           1, err) == 0);
        distribution_finish(&range);
        fail_unless(study_store_report(store, trial, 1, value, err) == 0);
        fail_unless(i == 3 || study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err) == 0);
    }
    fail_unless(study_store_set_study_user(store, study, "note", "\"text\"", err) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char err[STUDY_ERROR_MAX];
    struct study_store *store;
    (void)argc;
    (void)argv;
    fail_unless(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/studies.db", folder);
    atexit(remove_files);
    fail_unless(study_store_open(path, STUDY_STORE_WRITE, 1, &store, err) == 0);
    fill(store, err);
    study_store_close(store);
    FILE *file = fopen(path, "rb");
    fail_unless(file && fseek(file, 0, SEEK_END) == 0);
    good_size = (size_t)ftell(file);
    good = malloc(good_size);
    rewind(file);
    fail_unless(good && fread(good, 1, good_size, file) == good_size && fclose(file) == 0);
    return 0;
}

static void is_line(const char *err)
{
    fail_unless(err[0] && !strchr(err, '\n'));
}

static void read_all(struct study_store *store)
{
    char err[STUDY_ERROR_MAX] = "";
    struct study_summary *list = NULL;
    size_t n = 0;
    if (study_store_list(store, &list, &n, err) < 0) {
        is_line(err);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct study *study = NULL;
        if (study_store_load(store, list[i].id, &study, err) < 0)
            is_line(err);
        else
            study_best(study);
        study_destroy(study);
    }
    study_summaries_finish(list, n);
    free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char err[STUDY_ERROR_MAX] = "";
    struct study_store *store;
    FILE *file = fopen(path, "wb");
    fail_unless(file && fwrite(good, 1, good_size, file) == good_size);
    for (size_t i = 0; i + 4 <= size; i += 4) {
        size_t at = ((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) % good_size;
        fail_unless(fseek(file, (long)at, SEEK_SET) == 0 && fputc(data[i + 3], file) != EOF);
    }
    fail_unless(fclose(file) == 0);
    if (study_store_open(path, STUDY_STORE_READ, 1, &store, err) < 0) {
        is_line(err);
    } else {
        read_all(store);
        study_store_close(store);
    }
    if (study_store_open(path, STUDY_STORE_WRITE, 1, &store, err) < 0) {
        is_line(err);
    } else {
        int64_t trial;
        int number;
        if (study_store_ask(store, 1, true, &trial, &number, err) < 0)
            is_line(err);
        study_store_close(store);
    }
    return 0;
}
