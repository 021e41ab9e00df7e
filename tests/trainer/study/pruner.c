/* Pruners: names, defaults and limits; what becomes of a study that fits none of them. Decisions are
 * pruner_oracle.py's. */
#include <errno.h>
#include <string.h>

#include "tests/check.h"
#include "trainer/study/pruner.h"

static void refused(struct pruner_options options, const char *wrong)
{
    const char *key = "", *words = "";
    CHECK_INT(pruner_check(&options, &key, &words), -EINVAL);
    CHECK_STR(key, wrong);
    CHECK(strstr(words, "right"));
}
#define REFUSED(kind, member, value) \
    do { \
        struct pruner_options options = pruner_defaults(kind); \
        options.member = (value); \
        refused(options, "pruner_" #member); \
    } while (0)

static void test_options(void)
{
    const char *key, *words;
    for (int k = 0; k < PRUNERS; k++) {
        enum pruner_kind kind;
        struct pruner_options usual = pruner_defaults((enum pruner_kind)k);
        CHECK(pruner_parse(pruner_name((enum pruner_kind)k), &kind) && (int)kind == k);
        CHECK_INT(pruner_check(&usual, &key, &words), 0);
    }
    enum pruner_kind none = PRUNER_ASHA;
    CHECK(!pruner_parse("", &none) && !pruner_parse("Median", &none) && none == PRUNER_ASHA);
    REFUSED(PRUNER_MEDIAN, n_startup_trials, -1);
    REFUSED(PRUNER_MEDIAN, n_warmup_steps, -1);
    REFUSED(PRUNER_MEDIAN, interval_steps, 0);
    REFUSED(PRUNER_MEDIAN, n_min_trials, 0);
    REFUSED(PRUNER_ASHA, min_resource, -1);
    REFUSED(PRUNER_ASHA, reduction_factor, 1);
    REFUSED(PRUNER_ASHA, min_early_stopping_rate, -1);
    REFUSED(PRUNER_ASHA, bootstrap_count, -1);
    REFUSED(PRUNER_ASHA, bootstrap_count, 1);
    REFUSED(PRUNER_HYPERBAND, min_resource, 0);
    REFUSED(PRUNER_HYPERBAND, max_resource, -1);
    REFUSED(PRUNER_HYPERBAND, reduction_factor, 1);
    REFUSED(PRUNER_HYPERBAND, bootstrap_count, 1);
    struct pruner_options band = pruner_defaults(PRUNER_HYPERBAND);
    band.min_resource = band.bootstrap_count = 3;
    band.max_resource = 2;
    refused(band, "pruner_max_resource");
    band.max_resource = 3;
    CHECK_INT(pruner_check(&band, &key, &words), 0);
}

/* 243 with factor 3 are five brackets, not six: log(243) / log(3) is below 5. */
static void test_brackets(void)
{
    char name[] = "näher";
    struct study study = {.n_objectives = 1, .name = name};
    struct pruner_options options = pruner_defaults(PRUNER_HYPERBAND);
    bool seen[16] = {false};
    CHECK_INT(pruner_bracket(&options, &study, 0), -1); /* automatic, and nothing has ended */
    options.max_resource = 243;
    for (int number = 0; number < 5000; number++) {
        int bracket = pruner_bracket(&options, &study, number);
        CHECK(bracket >= 0 && bracket < 5);
        seen[bracket & 15] = true;
    }
    for (int bracket = 0; bracket < 5; bracket++)
        CHECK(seen[bracket]);
    options.max_resource = INT64_MAX;
    options.reduction_factor = 2;
    CHECK(pruner_bracket(&options, &study, 1) >= 0);
    options.min_resource = 5;
    options.max_resource = 1;
    CHECK_INT(pruner_bracket(&options, &study, 1), -1);
}

static void test_refused(void)
{
    struct study_trial trial = {0}, *trials[] = {&trial};
    char name[] = "s";
    struct study study = {.n_objectives = 1, .name = name, .trials = trials, .n_trials = 1};
    struct pruner_verdict verdict = {.n_marks = 7};
    for (int k = 0; k < PRUNERS; k++) {
        struct pruner_options options = pruner_defaults((enum pruner_kind)k);
        CHECK_INT(pruner_judge(&options, &study, 1, &verdict), -EINVAL);
        CHECK_INT(pruner_judge(&options, &study, -1, &verdict), -EINVAL);
        study.n_objectives = 2;
        CHECK_INT(pruner_judge(&options, &study, 0, &verdict), -EINVAL);
        CHECK_INT(verdict.n_marks, 7); /* untouched */
        study.n_objectives = 1;
        struct pruner_verdict empty = {.prune = true};
        CHECK_INT(pruner_judge(&options, &study, 0, &empty), 0); /* nothing was reported */
        CHECK(!empty.prune && empty.n_marks == 0);
    }
}

int main(void)
{
    test_options();
    test_brackets();
    test_refused();
    return check_done("trainer/pruner");
}
