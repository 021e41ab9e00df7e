/* Runs of one study on the same bars: which studies they are, which bars are the same, and that the deflated
 * Sharpe ratio counts the trials of all. */
#include "trainer/study/runs.h"

#include <sqlite3.h>

#include "strategy/metrics/overfit.h"
#include "tests/check.h"
#include "tests/trainer/study/place.h"
#include "trainer/study/members.h"

enum { ROWS = 400, PAST = 100, NONE = 1 << 20 };

static void test_names(void)
{
    static const struct {
        const char *name, *other;
        bool runs;
    } rows[] = {
        {"a", "a@T", true},     {"a@T", "a@U", true},  {"a_1", "a@T", true},     {"a_1@T", "a", true},
        {"a_1@T", "a_2", true}, {"a@T+", "a@T", true}, {"a_1@T", "a_2@U", true}, {"a", "a", false},
        {"a", "a_1", false},    {"a_1", "a_2", false}, {"a@T", "a@T", false},    {"a", "b@T", false},
        {"ab@T", "a", false},   {"a", "ab", false},    {"a@b@T", "a", false},    {"", "@T", true},
        {"a_01@T", "a", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(study_runs_named(rows[i].name, rows[i].other) == rows[i].runs);
        CHECK(study_runs_named(rows[i].other, rows[i].name) == rows[i].runs);
    }
}

/* ---- Bars. ---- */

struct made {
    size_t rows, changed; /* of bars; one whose close is another (NONE: none) */
    const char *to;       /* [data] train_to */
    const char *more;     /* further lines */
    double holdout;
};

static json_t *hash_of(const struct made *made, const char *name)
{
    struct place_bars bars;
    struct study_settings settings;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    char more[256];
    place_settings(&settings, "kfold:2");
    settings.holdout = made->holdout;
    place_draw(&bars, made->rows, false, 5);
    if (made->changed < made->rows)
        bars.close[made->changed] *= 1.01;
    snprintf(more, sizeof more, "train_to = %s\n%s", made->to, made->more);
    place_config(config, place_write(&bars, name, NULL), "", more);
    const struct study_market_options none = {.no_trials = true};
    struct study_market *market = NULL;
    char err[TRIAL_ERROR_MAX] = "";
    CHECK_INT(study_market_open(config, &settings, &none, &market, err), 0);
    CHECK_STR(err, "");
    json_t *hash = market ? study_runs_bars(market) : NULL;
    CHECK(json_is_string(hash) && json_string_length(hash) == 16);
    study_market_close(market);
    place_free(&bars);
    free(config);
    return hash;
}

static void test_bars(void)
{
    const char *const end = "2024-01-17T16:00:00Z", *const later = "2024-01-17T17:00:00Z"; /* row 400, 401 */
    const struct {
        struct made made;
        const char *name;
        bool same;
    } rows[] = {
        {{ROWS + PAST, NONE, end, "", 0.2}, "AAA", true}, /* bars have come to the file after its end */
        {{ROWS + PAST, ROWS, end, "", 0.2}, "AAA", true},
        {{ROWS, NONE, end, "", 0.3}, "AAA", true},
        {{ROWS, NONE, end, "[environment]\ncooldown_bars = 3\n", 0.2}, "AAA", true},
        {{ROWS, NONE, end, "[environment]\nexecution = reference\n", 0.2}, "AAA", true},
        {{ROWS, ROWS - 1, end, "", 0.2}, "AAA", false},
        {{ROWS, 1, end, "", 0.2}, "AAA", false},
        {{ROWS + PAST, NONE, later, "", 0.2}, "AAA", false},
        {{ROWS, NONE, end, "", 0.2}, "AAB", false},
        {{ROWS, NONE, end, "train_from = 2024-01-01T01:00:00Z\n", 0.2}, "AAA", false},
    };
    const struct made first = {ROWS, NONE, end, "", 0.2};
    json_t *of = hash_of(&first, "AAA");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *hash = hash_of(&rows[i].made, rows[i].name);
        CHECK(json_equal(of, hash) == rows[i].same);
        if (json_equal(of, hash) != rows[i].same)
            fprintf(stderr, "bars %zu\n", i);
        json_decref(hash);
    }
    json_decref(of);
}

/* ---- Which count. ---- */

/* A study of so many COMPLETE trials, and one each PRUNED, FAIL and WAITING; `bars` NULL: it does not say. */
static void make(struct study_store *store, const char *name, enum study_direction direction, int complete,
                 const char *bars)
{
    char err[STUDY_ERROR_MAX];
    int64_t id, trial;
    int number;
    const double value = 1;
    json_t *fixed = json_object();
    CHECK_INT(study_store_begin(store, err), 0);
    CHECK_INT(study_store_create(store, name, &direction, 1, &id, NULL, err), 0);
    for (int i = 0; i < complete + 2; i++) {
        CHECK_INT(study_store_ask(store, id, false, &trial, &number, err), 0);
        const enum trial_state state = i < complete    ? TRIAL_COMPLETE
                                       : i == complete ? TRIAL_PRUNED
                                                       : TRIAL_FAIL;
        CHECK_INT(study_store_tell(store, trial, state, state == TRIAL_COMPLETE ? &value : NULL,
                                   state == TRIAL_COMPLETE, err),
                  0);
    }
    CHECK_INT(study_store_enqueue(store, id, fixed, NULL, &trial, err), 0);
    if (bars)
        CHECK_INT(study_store_set_study_user(store, id, RUNS_BARS, bars, err), 0);
    CHECK_INT(study_store_commit(store, err), 0);
    json_decref(fixed);
}

/* The studies found of `name`, without the study `but` (NULL: all), as "a_1 a@T! …", runs marked; and how
 * many trials were tried. */
static void found(struct study_store *store, const char *name, const char *but, const char *right, int tried)
{
    char err[STUDY_ERROR_MAX] = "", text[256] = "";
    struct study_members members = {0};
    struct study *own = NULL;
    int64_t id;
    if (but) {
        CHECK_INT(study_store_find(store, but, &id, err), 0);
        CHECK_INT(study_store_load(store, id, &own, err), 0);
    }
    CHECK_INT(study_members_load(store, name, own, "/none", NULL, NULL, &members, err), 0);
    for (int i = 0; i < members.n; i++) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s%s", i ? " " : "", members.of[i].study->name,
                 members.of[i].run ? "!" : "");
    }
    CHECK_STR(text, right);
    if (own) {
        CHECK_INT(study_members_tried(own, &members), tried);
    } else if (members.n > 0) {
        const struct study_members others = {members.of + 1, members.n - 1};
        CHECK_INT(study_members_tried(members.of[0].study, &others), tried);
        CHECK(study_members_best(&members) && !members.of[0].run);
    }
    study_members_finish(&members);
    study_destroy(own);
}

static void test_found(void)
{
    struct study_store *store;
    char err[STUDY_ERROR_MAX];
    CHECK_INT(study_store_open(scratch_path("runs.db"), STUDY_STORE_WRITE, 0, &store, err), 0);
    make(store, "a@T", STUDY_MAXIMIZE, 1, "\"1\""); /* older by id than what it is a run of */
    make(store, "a", STUDY_MAXIMIZE, 10, "\"1\"");
    make(store, "a_2", STUDY_MAXIMIZE, 20, "\"2\"");
    found(store, "a", "a", "a_2 a@T!", 11 + 21 + 2);
    make(store, "a@U", STUDY_MAXIMIZE, 40, "\"1\"");
    make(store, "a@V", STUDY_MAXIMIZE, 80, "\"3\"");   /* other bars */
    make(store, "a@W", STUDY_MAXIMIZE, 160, NULL);     /* it does not say */
    make(store, "a@X", STUDY_MINIMIZE, 320, "\"1\"");  /* another direction */
    make(store, "ab@T", STUDY_MAXIMIZE, 640, "\"1\""); /* another name */
    make(store, "a_2@T", STUDY_MAXIMIZE, 5, "\"2\"");
    found(store, "a", "a", "a_2 a@T! a@U! a_2@T!", 11 + 21 + 2 + 41 + 6);
    found(store, "a", NULL, "a a_2 a@T! a@U! a_2@T!", 11 + 21 + 2 + 41 + 6);
    found(store, "a@U", "a@U", "a! a@T!", 41 + 11 + 2);
    found(store, "a@U", NULL, "a@U a! a@T!", 41 + 11 + 2);
    found(store, "a@V", "a@V", "", 81);
    found(store, "a@W", "a@W", "", 161);
    found(store, "b", NULL, "", 0);
    study_store_close(store);
}

/* A distribution of an unknown kind, in the first trial of the study. */
static void damage(const char *name)
{
    char sql[512];
    sqlite3 *db = NULL;
    snprintf(sql, sizeof sql,
             "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) SELECT "
             "min(trial_id), 'x', 1, '{\"name\": \"Other\", \"attributes\": {}}' FROM trials JOIN studies "
             "USING (study_id) WHERE study_name = '%s'",
             name);
    CHECK_INT(sqlite3_open(scratch_path("runs.db"), &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

static void count_reported(void *ctx, const char *words)
{
    (void)words;
    ++*(int *)ctx;
}

static int reported_of_a(int *ret_members)
{
    struct study_store *store;
    struct study_members members = {0};
    char err[STUDY_ERROR_MAX] = "";
    int reported = 0;
    CHECK_INT(study_store_open(scratch_path("runs.db"), STUDY_STORE_READ, 0, &store, err), 0);
    CHECK_INT(study_members_load(store, "a", NULL, "/none", count_reported, &reported, &members, err), 0);
    *ret_members = members.n;
    study_members_finish(&members);
    study_store_close(store);
    return reported;
}

/* Trials of a run that does not count are not even read: of a schedule there are ever more. */
static void test_unread(void)
{
    int members;
    damage("a@V");
    CHECK_INT(reported_of_a(&members), 0);
    CHECK_INT(members, 5);
    damage("a@U");
    CHECK_INT(reported_of_a(&members), 1);
    CHECK_INT(members, 4);
}

/* ---- What it is for. ---- */

/* Searches on noise, repeated on the same bars until one of them is admitted: judged alone, the gate of skill
 * lets one in nearly always; counted together hardly ever. Each proposes the best of its trials. */
static double noise(struct random *random)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += place_evenly(random);
    return sum - 6;
}

enum { TRIALS = 6, RUNS = 30, ALL = TRIALS * RUNS, LENGTH = 100 };

struct drawn {
    double *values; /* [LENGTH rows][ALL trials] */
    double sharpes[ALL];
};

/* Of the trials [from, to) of which [own, to) are the last run's: skill of its best. */
static double skill_of(const struct drawn *drawn, int from, int own, int to)
{
    char names[ALL][16], *columns[ALL], err[VALIDATION_ERROR_MAX];
    const size_t n = (size_t)(to - from);
    int best = own;
    double *values = fatal_calloc(n * LENGTH, sizeof(double));
    for (int c = own; c < to; c++)
        best = drawn->sharpes[c] > drawn->sharpes[best] ? c : best;
    for (int c = from; c < to; c++) {
        snprintf(names[c - from], sizeof *names, "%d", c);
        columns[c - from] = names[c - from];
        for (size_t row = 0; row < LENGTH; row++)
            values[row * n + (size_t)(c - from)] = drawn->values[row * ALL + (size_t)c];
    }
    const struct returns_matrix returns = {
        .rows = LENGTH, .columns = n, .values = values, .names = columns, .proposed = names[best - from]};
    json_t *validation = NULL;
    CHECK_INT(validation_json(&returns, 4, 1, &validation, err), 0);
    const double skill = json_number_value(json_object_get(json_object_get(validation, "deflated"), "skill"));
    json_decref(validation);
    free(values);
    return skill;
}

static void test_fooled(void)
{
    const int users = getenv("PAPERTAPE_LONG") ? 1000 : 40;
    struct random random = {4};
    struct drawn drawn = {.values = fatal_calloc((size_t)LENGTH * ALL, sizeof(double))};
    int apart = 0, together = 0;
    for (int user = 0; user < users; user++) {
        bool fooled[2] = {false, false};
        for (size_t i = 0; i < (size_t)LENGTH * ALL; i++)
            drawn.values[i] = noise(&random);
        for (int c = 0; c < ALL; c++)
            drawn.sharpes[c] = overfit_sharpe(drawn.values + c, LENGTH, ALL);
        for (int own = 0; own < ALL; own += TRIALS) {
            fooled[0] = fooled[0] || skill_of(&drawn, own, own, own + TRIALS) >= gate_defaults().min_deflated;
            fooled[1] = fooled[1] || skill_of(&drawn, 0, own, own + TRIALS) >= gate_defaults().min_deflated;
        }
        apart += fooled[0];
        together += fooled[1];
    }
    printf("of %d searches that ran a study on noise %d times one run was admitted with %d, counted together "
           "with %d\n",
           users, RUNS, apart, together);
    CHECK(apart > users / 2);
    CHECK(together < users * 3 / 20);
    free(drawn.values);
}

int main(void)
{
    char folder[SCRATCH_MAX];
    scratch_make(folder);
    test_names();
    test_bars();
    test_found();
    test_unread();
    test_fooled();
    return check_done("trainer/study/runs");
}
