/* What stays of old runs of a scheduled study. */
#include "trainer/study/runs.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/scratch.h"
#include "trainer/study/stale_files.h"

static char folder[SCRATCH_MAX];

static const char *in_folder(const char *path)
{
    static char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    return whole;
}

static void make(const char *run, bool proposed)
{
    static const char *const files[] = {"0/returns.csv", "0/returns.csv.new.0123abcd", "1/returns.csv",
                                        "1/holdout.csv", "1/policy.safetensors",       "proposal.json",
                                        "study.ini"};
    char path[256];
    CHECK_INT(mkdir(in_folder(run), 0777), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%d", run, i);
        CHECK_INT(mkdir(in_folder(path), 0777), 0);
    }
    for (int i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "%s/%s", run, files[i]);
        FILE *file = i != 4 || proposed ? fopen(in_folder(path), "w") : NULL;
        CHECK(file || !(i != 4 || proposed));
        if (file)
            fclose(file);
    }
}

static bool is_there(const char *run, const char *path)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", run, path);
    return access(in_folder(whole), F_OK) == 0;
}

/* What a killed writer left: of a name that is another program's nothing is removed. */
static void test_rests(void)
{
    static const char *const rests[] = {"s/study.ini.new.00ffab12", "s/report.html.new.00000000",
                                        "s/0/returns.csv.new.12345678"},
                             *const others[] = {"s/study.ini.new.00ffab1", "s/.new.00ffab12",
                                                "s/study.ini.new.00FFAB12", "s/x/a.new.00ffab12"};
    enum { RESTS = 3, OTHERS = 4, OLD_S = 3600 };
    const struct timespec now = {.tv_nsec = UTIME_NOW};
    static const char *const folders[] = {"s", "s/0", "s/x"};
    for (int i = 0; i < 3; i++)
        CHECK_INT(mkdir(in_folder(folders[i]), 0777), 0);
    for (int i = 0; i < RESTS + OTHERS; i++) {
        FILE *file = fopen(in_folder(i < RESTS ? rests[i] : others[i - RESTS]), "w");
        CHECK(file && fclose(file) == 0);
    }
    const struct timespec old[2] = {now, {.tv_sec = time(NULL) - OLD_S - 1}};
    CHECK_INT(utimensat(AT_FDCWD, in_folder(rests[0]), old, 0), 0);
    CHECK_INT(utimensat(AT_FDCWD, in_folder(rests[2]), old, 0), 0);
    study_stale_files_remove_all(in_folder("none"), 0);
    study_stale_files_remove_all(in_folder("s"), OLD_S); /* the other one may be at it */
    for (int i = 0; i < RESTS; i++)
        CHECK((access(in_folder(rests[i]), F_OK) == 0) == (i == 1));
    study_stale_files_remove_all(in_folder("s"), 0);
    CHECK(access(in_folder(rests[1]), F_OK) < 0);
    for (int i = 0; i < OTHERS; i++)
        CHECK(access(in_folder(others[i]), F_OK) == 0);
}

int main(void)
{
    static const char *const runs[] = {"a@2026-11-19T14:00:00Z", "a@2026-11-20T14:00:00Z",
                                       "a@2026-11-21T14:00:00Z"},
                             *const others[] = {"a", "ab@2026-11-18T14:00:00Z", "b@2026-11-18T14:00:00Z"};
    scratch_make(folder);
    for (int i = 0; i < 3; i++) {
        make(runs[i], i == 1);
        make(others[i], false);
    }
    study_runs_retain(folder, "a", 0); /* no run of a schedule */
    CHECK(is_there(runs[0], "0/returns.csv"));
    study_runs_retain(in_folder("none"), runs[2], 0);
    study_runs_retain(folder, runs[2], 1);
    for (int i = 0; i < 3; i++) {
        CHECK(is_there(runs[i], "0/returns.csv") == (i == 2) && is_there(runs[i], "0") == (i == 2));
        CHECK(is_there(runs[i], "1/holdout.csv") == (i == 2));
        CHECK(is_there(runs[i], "1/policy.safetensors") == (i == 1) && is_there(runs[i], "1") == (i >= 1));
        CHECK(is_there(runs[i], "proposal.json") && is_there(runs[i], "study.ini"));
        CHECK(is_there(others[i], "0/returns.csv") && is_there(others[i], "1/holdout.csv"));
    }
    test_rests();
    return check_done("trainer/study/run_retention");
}
