#include <math.h>
#include <stdio.h>

#include "cli/answer.h"
#include "cli/format.h"
#include "cli/freshness.h"
#include "cli/verbs.h"
#include "db/records.h"
#include "trainer/serve/record.h"

static const struct stored_column columns[] = {
    {"name", -16},
    {"state", -13},
    {"done_pct", 8, STORED_REAL, 1},
    {"steps", 8, STORED_COUNT},
    {"total_steps", 0, STORED_INTEGER},
    {"steps_s", 8, STORED_COUNT},
    {"return", 10, STORED_REAL, 4},
    {"verdict", -16},
    {"age_ms", 8, STORED_AGE},
    {"device", -6},
    {"backend", 0},
    {"attempts", 8, STORED_INTEGER},
    {"priority", 8, STORED_INTEGER},
    {"memory_mib", 10, STORED_REAL, 0},
    {"cpu_s", 0, STORED_REAL, 1},
    {"started_ns", -24, STORED_TIME},
    {"ended_ns", 0, STORED_TIME},
    {"policy", 0},
    {"cause", -13},
    {"verdict_text", 0},
    {"reason", -1},
};

/* As the daemon answers (docs/control.md); null where it knows more than the database. */
static const struct record_key keys[] = {
    {"name"},
    {"state"},
    {"reason"},
    {"cause"},
    {"priority"},
    {"device"},
    {"backend"},
    {"steps"},
    {"total_steps"},
    {"iteration"},
    {"steps_s", "steps_per_second"},
    {"return"},
    {"attempts"},
    {"restarts"},
    {"retry_in_ms"},
    {"created_ns"},
    {"started_ns"},
    {"ended_ns"},
    {"age_ms"},
    {"expected_ms"},
    {"stale"},
    {"stopping"},
    {"pid"},
    {"memory_mib"},
    {"memory_limit_mib"},
    {"device_mib"},
    {"cpu_s"},
    {"cpu_limit_s"},
    {"utilisation"},
    {"cpu_utilisation"},
    {"checkpoint"},
    {"checkpoint_steps"},
    {"policy"},
    {"verdict"},
    {"verdict_text"},
    {"config", ""},
    {"memory_bytes", ""},
    {"heard_ns", ""},
    {"seq", ""},
};

static void take(void *ctx, const struct db_training *row)
{
    static const char *const none[] = {"cause",     "device",     "backend",    "steps",      "total_steps",
                                       "iteration", "attempts",   "created_ns", "started_ns", "ended_ns",
                                       "age_ms",    "checkpoint", "policy",     "verdict",    "verdict_text"};
    struct answer_reading *reading = ctx;
    bool works = serve_training_word_runs(row->state);
    int64_t since_ns = serve_training_word_ended(row->state) ? row->ended_ns : row->heard_ns;
    int64_t age_ms =
        since_ns > 0 && since_ns <= reading->now_ns ? (reading->now_ns - since_ns) / 1000000 : -1;
    json_t *object = record_json_object(&db_record_trainings, keys, sizeof keys / sizeof *keys, row,
                                        &(struct record_context){0});

    json_object_set_new(object, "age_ms", json_integer(age_ms));
    if (works)
        json_object_set_new(object, "expected_ms", json_integer(FRESHNESS_TRAINING_MS));
    json_object_set_new(object, "stale",
                        json_boolean(works && freshness_of(age_ms, FRESHNESS_TRAINING_MS) != FRESH));
    json_object_set_new(object, "stopping", json_false());
    if (row->memory_bytes >= 0)
        json_object_set_new(object, "memory_mib", json_real((double)row->memory_bytes / (1 << 20)));
    cli_answer_clear_none(object, none, sizeof none / sizeof *none);
    cli_answer_take(reading, object);
}

static int read_trainings(struct db_reader *reader, struct answer_reading *reading)
{
    return db_reader_trainings(reader, NULL, take, reading);
}

/* Has a worker that should report been silent for so long that its figures are no longer valid? */
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

/* done_pct: of the steps that it is to make; none for one that runs until it is stopped. */
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
    prepare,      "created_ns"};

int cli_train_list(struct option_call *call)
{
    return cli_answer_list("train", call->state, &cli_answer_trainings,
                           &((const struct ask_selected *)call->into)->selection, cli_stored_form(call));
}
