#include "cli/train_list.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "cli/answer.h"
#include "cli/format.h"
#include "cli/freshness.h"
#include "exchange/exit_status.h"
#include "trainer/serve/record.h"

static const struct told_column columns[] = {
    {"name", -16},
    {"state", -13},
    {"done_pct", 8, TOLD_REAL, 1},
    {"steps", 8, TOLD_COUNT},
    {"total_steps", 0, TOLD_INTEGER},
    {"steps_s", 8, TOLD_COUNT},
    {"return", 10, TOLD_REAL, 4},
    {"age_ms", 8, TOLD_AGE},
    {"device", -6},
    {"backend", 0},
    {"attempts", 8, TOLD_INTEGER},
    {"priority", 8, TOLD_INTEGER},
    {"memory_mib", 10, TOLD_REAL, 0},
    {"cpu_s", 0, TOLD_REAL, 1},
    {"started_ns", -24, TOLD_TIME},
    {"ended_ns", 0, TOLD_TIME},
    {"policy", 0},
    {"cause", -13},
    {"reason", -1},
};

/* As the daemon tells of it (docs/control.md); null where it knows more than the database. */
static json_t *row_object(const struct db_training *row, int64_t now_ns)
{
    double memory_mib = row->memory_bytes < 0 ? NAN : (double)row->memory_bytes / (1 << 20);
    bool works = serve_training_word_runs(row->state);
    int64_t since_ns = serve_training_word_ended(row->state) ? row->ended_ns : row->heard_ns;
    int64_t age_ms = since_ns > 0 && since_ns <= now_ns ? (now_ns - since_ns) / 1000000 : -1;
    const struct {
        const char *name;
        json_t *value;
    } members[] = {
        {"name", json_string(row->name)},
        {"state", json_string(row->state)},
        {"reason", json_string(row->reason)},
        {"cause", cli_answer_text_or_null(row->cause)},
        {"priority", json_integer(row->priority)},
        {"device", cli_answer_text_or_null(row->device)},
        {"backend", cli_answer_text_or_null(row->backend)},
        {"steps", cli_answer_count_or_null(row->steps)},
        {"total_steps", cli_answer_count_or_null(row->total_steps)},
        {"iteration", cli_answer_count_or_null(row->iteration)},
        {"steps_per_second", cli_answer_number_or_null(row->steps_s)},
        {"return", cli_answer_number_or_null(row->episode_return)},
        {"attempts", cli_answer_count_or_null(row->attempts)},
        {"restarts", json_null()},
        {"retry_in_ms", json_null()},
        {"created_ns", cli_answer_ns_or_null(row->created_ns)},
        {"started_ns", cli_answer_ns_or_null(row->started_ns)},
        {"ended_ns", cli_answer_ns_or_null(row->ended_ns)},
        {"age_ms", cli_answer_count_or_null(age_ms)},
        {"expected_ms", works ? json_integer(FRESHNESS_TRAINING_MS) : json_null()},
        {"stale", json_boolean(works && freshness_of(age_ms, FRESHNESS_TRAINING_MS) != FRESH)},
        {"stopping", json_false()},
        {"pid", json_null()},
        {"memory_mib", cli_answer_number_or_null(memory_mib)},
        {"memory_limit_mib", json_null()},
        {"device_mib", json_null()},
        {"cpu_s", cli_answer_number_or_null(row->cpu_s)},
        {"cpu_limit_s", json_null()},
        {"utilisation", json_null()},
        {"cpu_utilisation", json_null()},
        {"checkpoint", cli_answer_text_or_null(row->checkpoint)},
        {"checkpoint_steps", json_null()},
        {"policy", cli_answer_text_or_null(row->policy)},
    };
    json_t *object = json_object();
    bool whole = object != NULL;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        whole &= json_object_set_new(object, members[i].name, members[i].value) == 0;
    if (whole)
        return object;
    json_decref(object);
    return NULL;
}

struct reading {
    json_t *rows;
    int64_t now_ns;
    int r;
};

static void take(void *ctx, const struct db_training *row)
{
    struct reading *reading = ctx;

    if (json_array_append_new(reading->rows, row_object(row, reading->now_ns)) < 0)
        reading->r = -ENOMEM;
}

static int read_trainings(struct db_reader *reader, int64_t now_ns, json_t *rows)
{
    struct reading reading = {.rows = rows, .now_ns = now_ns};
    int r = db_reader_trainings(reader, NULL, take, &reading);

    return r < 0 ? r : reading.r;
}

/* Does a worker that should be heard of say nothing for so long that its figures say nothing either? */
static bool is_gone(const json_t *row)
{
    int64_t expected_ms = cli_answer_integer_or(row, "expected_ms", FRESHNESS_TRAINING_MS);

    return json_is_true(json_object_get(row, "stale")) &&
           freshness_of(cli_answer_integer_or(row, "age_ms", -1), expected_ms) == GONE;
}

static void show_age(json_t *row)
{
    char text[FORMAT_MAX + 8], age[FORMAT_MAX] = "";
    int64_t age_ms = cli_answer_integer_or(row, "age_ms", -1);

    if (age_ms >= 0)
        cli_format_age(age, age_ms);
    snprintf(text, sizeof(text), "%s STALE", age);
    json_object_set_new(row, "age_ms", json_string(text));
}

/* done_pct: of the steps that it is to make; none for one that goes on until it is stopped. */
static void prepare(enum stored_form form, json_t *row)
{
    static const char *const live[] = {"done_pct", "steps", "steps_s", "return", "memory_mib"};
    double share = serve_training_steps_share(cli_answer_integer_or(row, "steps", -1),
                                              cli_answer_integer_or(row, "total_steps", -1));
    bool gone = form == STORED_TABLE && is_gone(row);

    if (!isnan(share))
        json_object_set_new(row, "done_pct", json_real(100 * share));
    json_object_set(row, "steps_s", json_object_get(row, "steps_per_second"));
    if (form == STORED_TABLE && json_is_true(json_object_get(row, "stale")))
        show_age(row);
    for (size_t i = 0; gone && i < sizeof live / sizeof *live; i++)
        json_object_set_new(row, live[i], json_string("-"));
}

const struct answer_source cli_answer_trainings = {
    "train_list", "trainings", "training", read_trainings, columns, (int)(sizeof columns / sizeof *columns),
    prepare};

int cli_train_list(const char *state, enum stored_form form)
{
    return cli_answer_list("train", state, &cli_answer_trainings, form);
}
