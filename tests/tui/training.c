/* Trainings and policies as the model takes them: from the status, with holes and hostile; from the database,
 * where a curve is thinned, read on, and forgotten again; how old is too old. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/history_reader.h"
#include "tui/model.h"
#include "tui/panel/frame.h"
#include "tui/panel/training_words.h"
#include "tui/print.h"

enum { MANY = 200, POLICIES = 300 };

static const struct moment now = {1723161255342000000, 1000000};

static void take(struct model *model, const char *more)
{
    CHECK_INT(fixture_take(model, more, now), 0);
}

static void check_status(void)
{
    struct model *model = tui_model_create(1000);
    const struct status *s = &model->status;

    CHECK_INT(s->n_trainings, 0);
    CHECK_INT(s->trainer.age_ms, -1);
    take(model, fixture_trainings);
    CHECK_STR(s->trainer.state, "ok");
    CHECK_INT(s->trainer.pid, 4243);
    CHECK_INT(s->n_trainings, 7);
    const struct status_training *t = &s->trainings[1];
    CHECK_STR(t->training, "ppo-world-wide-5m_2");
    CHECK_STR(t->state, "update");
    CHECK_STR(t->cause, "");
    CHECK_STR(t->backend, "cpu-avx512");
    CHECK_INT(t->priority, 5);
    CHECK_INT(t->steps, 3064000);
    CHECK_INT(t->checkpoint_steps, 3000000);
    CHECK_INT(t->retry_in_ms, -1);
    CHECK_INT(t->ended_ns, -1);
    CHECK_NEAR(t->steps_s, 845000, 0);
    CHECK_NEAR(t->cpu_utilisation, 1.97, 0);
    CHECK(isnan(t->utilisation) && isnan(t->device_mib) && !t->stale && !t->stopping);
    CHECK_STR(t->verdict, "within_luck");
    CHECK(strncmp(t->verdict_text, "Within luck: +2.10", 18) == 0);
    CHECK_STR(s->trainings[4].verdict, "");
    CHECK_STR(s->policies[0].verdict, "better");
    CHECK_STR(s->policies[1].verdict, "");
    CHECK_INT(s->trainings[4].retry_in_ms, 3400);
    CHECK(isnan(s->trainings[4].memory_mib));
    CHECK_STR(s->trainings[5].training, "bad ?[31m?name");
    CHECK(s->trainings[6].stopping);
    CHECK_INT(s->n_policies, 5);
    CHECK_STR(s->champion.account, "champion");
    CHECK_STR(s->champion.policy, "ppo-world-wide-5m_2");
    CHECK_INT(s->policies[0].n_actions, 2);
    CHECK_STR(s->policies[0].actions[1].symbol, "ETHUSDT");
    CHECK_NEAR(s->policies[0].actions[1].action, -0.3, 0);
    CHECK_INT(s->policies[2].decided_ns, -1);
    CHECK(isnan(s->policies[2].sharpe));
    CHECK_STR(s->policies[2].evidence.against, "cash");
    CHECK_INT(s->policies[2].evidence.days, 12);
    CHECK_NEAR(s->policies[2].evidence.value, 3.14159, 0);
    CHECK_INT(s->policies[2].expires_ns, 1723334055342000000);
    CHECK_STR(s->policies[1].evidence.against, "");
    CHECK_INT(s->policies[1].expires_ns, -1);

    take(model,
         "{\"trainer\":[1],\"champion\":7,\"trainings\":[7,null,{},{\"training\":9},{\"training\":\"a\","
         "\"steps\":-4,\"total_steps\":1e300,\"priority\":\"x\",\"return\":\"1\",\"stale\":1}],"
         "\"policies\":{\"policy\":\"a\"}}");
    CHECK_INT(s->n_trainings, 1);
    CHECK_INT(s->trainings[0].steps, -1);
    CHECK_INT(s->trainings[0].total_steps, -1);
    CHECK_INT(s->trainings[0].priority, 0);
    CHECK(isnan(s->trainings[0].episode_return) && !s->trainings[0].stale);
    CHECK_INT(s->n_policies, 0);
    CHECK_STR(s->trainer.state, "");
    tui_model_destroy(model);
}

/* All that are listed are there, the newest first; of more there are, how many. */
static void check_many(void)
{
    struct model *model = tui_model_create(1000);
    json_t *all = json_array(), *object = json_loads(fixture_status, 0, NULL);

    for (int i = 0; i < MANY; i++)
        json_array_append_new(all, json_pack("{s:o}", "training", json_sprintf("t_%d", i)));
    json_object_set_new(object, "trainings", all);
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    CHECK_INT(model->status.n_trainings, MANY);
    CHECK_STR(tui_model_training(model, 0)->training, "t_199");
    CHECK_STR(tui_model_training(model, MANY - 1)->training, "t_0");
    CHECK_INT(model->status.trainings_total, MANY);
    json_object_set_new(object, "trainings_total", json_integer(MANY + 7));
    json_object_set_new(object, "policies_total", json_integer(90));
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    CHECK_INT(model->status.trainings_total, MANY + 7);
    CHECK_INT(model->status.policies_total, 90);
    char *printed = NULL;
    size_t size;
    FILE *out = open_memstream(&printed, &size);
    tui_print_trainings(out, model, now);
    fclose(out);
    CHECK(strstr(printed, "trainings 200 of 207\n"));
    free(printed);
    json_decref(object);
    tui_model_destroy(model);
}

static enum freshness freshness_in(struct model *model, const char *state, const char *trainer,
                                   int64_t age_ms, int64_t later_ms)
{
    struct status_training t = {.age_ms = age_ms, .expected_ms = 2000};

    snprintf(t.state, sizeof(t.state), "%s", state);
    snprintf(model->status.trainer.state, sizeof(model->status.trainer.state), "%s", trainer);
    model->status.trainer.age_ms = 100;
    return tui_model_training_freshness(model, &t, (struct moment){now.wall_ns, now.mono_ms + later_ms});
}

static void check_freshness(void)
{
    struct model *model = tui_model_create(1000);

    take(model, fixture_trainings);
    CHECK_INT(freshness_in(model, "update", "ok", 6000, 0), FRESH);
    CHECK_INT(freshness_in(model, "update", "ok", 6001, 0), STALE);
    CHECK_INT(freshness_in(model, "update", "ok", 20000, 0), STALE);
    CHECK_INT(freshness_in(model, "update", "ok", 20001, 0), GONE);
    CHECK_INT(freshness_in(model, "update", "ok", -1, 0), GONE);
    CHECK_INT(freshness_in(model, "rollout", "ok", 100, 3100), STALE);    /* the daemon is as old */
    CHECK_INT(freshness_in(model, "done", "absent", 999999, 0), FRESH);   /* it has nothing more to say */
    CHECK_INT(freshness_in(model, "stopped", "ok", 999999, 11000), GONE); /* nor has the daemon */
    CHECK_INT(freshness_in(model, "queued", "ok", -1, 0), FRESH);
    CHECK_INT(freshness_in(model, "paused", "silent", 100, 0), STALE);
    CHECK_INT(freshness_in(model, "queued", "version", 100, 0), STALE);
    CHECK_INT(freshness_in(model, "what", "", 100, 0), STALE);
    model->source = MODEL_DATABASE; /* without a daemon */
    CHECK_INT(freshness_in(model, "update", "", 6001, 0), STALE);
    CHECK_INT(freshness_in(model, "update", "", -1, 0), GONE);
    CHECK_INT(freshness_in(model, "queued", "", -1, 0), FRESH);
    CHECK_INT(freshness_in(model, "paused", "", 999999, 0), FRESH);
    model->source = MODEL_DAEMON;
    static const struct {
        const char *state;
        bool running, ended;
    } missed[] = {{"ok", false, false},    {"starting", false, false}, {"silent", true, true},
                  {"version", true, true}, {"absent", true, false},    {"off", true, false},
                  {"", false, false}};
    for (size_t i = 0; i < sizeof(missed) / sizeof(missed[0]); i++) {
        snprintf(model->status.trainer.state, sizeof(model->status.trainer.state), "%s", missed[i].state);
        CHECK_INT(tui_model_trainer_missed(model), missed[i].running);
        int n = model->status.n_trainings;
        model->status.n_trainings = 1; /* the oldest has failed */
        CHECK_INT(tui_model_trainer_missed(model), missed[i].ended);
        model->status.n_trainings = n;
    }
    model->status.trainer.age_ms = -1;
    CHECK_INT(tui_model_trainer_freshness(model, now), GONE);

    const struct status_policy *p = model->status.policies;
    CHECK_INT(tui_model_policy_freshness(model, &p[0], now), FRESH); /* 255 s of 5 min */
    CHECK_INT(tui_model_policy_freshness(model, &p[1], now), STALE); /* 1255 s */
    CHECK_INT(tui_model_policy_freshness(model, &p[2], now), GONE);
    tui_model_destroy(model);
}

static void check_words(void)
{
    struct status_training t = {.steps = 4999999, .total_steps = 5000000, .steps_s = 1000};
    char a[FORMAT_MAX], name[STATUS_TRAINING_NAME_MAX], steps[PANEL_TRAINING_STEPS_MAX];
    struct canvas canvas;
    enum style style;
    int part;

    CHECK_STR(panel_training_percent(a, panel_training_share(&t)), "99%"); /* not done yet */
    t.steps = 5000001;
    CHECK_STR(panel_training_percent(a, panel_training_share(&t)), "100%");
    CHECK_STR(panel_training_left(a, &t), "0.0s");
    t.steps = 66000, t.total_steps = 60000; /* it ends with a rollout */
    CHECK_STR(panel_training_steps(steps, &t, " steps"), "66k steps (60k in whole rollouts)");
    t.steps = 60000;
    CHECK_STR(panel_training_steps(steps, &t, " steps"), "60k of 60k steps");
    t.total_steps = 5000000;
    t.steps = 0;
    CHECK_STR(panel_training_left(a, &t), "83m");
    t.steps_s = NAN;
    CHECK_STR(panel_training_left(a, &t), "n/a");
    CHECK(!panel_training_endless(&t));
    t.total_steps = 1000000000000;
    CHECK(panel_training_endless(&t) && isnan(panel_training_share(&t)));
    CHECK_STR(panel_training_left(a, &t), "-");
    t.total_steps = -1;
    CHECK(panel_training_endless(&t));
    CHECK_STR(panel_training_memory(a, 312.4), "312MiB");
    CHECK_STR(panel_training_memory(a, 4096), "4.0GiB");
    CHECK_STR(panel_training_memory(a, NAN), "n/a");
    CHECK_STR(panel_training_busy(a, 1.97), "197%");
    CHECK_STR(panel_training_busy(a, 0), "0%");
    CHECK_STR(panel_training_return(a, -0.00423), "-0.0042");
    CHECK_STR(panel_training_return(a, 1234.56), "+1235");
    CHECK_STR(panel_training_state(&t, FRESH, &style), "n/a");
    snprintf(t.state, sizeof(t.state), "failed");
    t.stopping = true;
    CHECK_STR(panel_training_state(&t, FRESH, &style), "failed");
    CHECK_INT(style, STYLE_BAD);
    snprintf(t.state, sizeof(t.state), "rollout");
    CHECK_STR(panel_training_state(&t, FRESH, &style), "stopping");
    CHECK_STR(panel_training_state(&t, STALE, &style), "STALE");

    CHECK_INT(tui_canvas_init(&canvas, 1, 1, GLYPHS_ASCII), 0);
    panel_frame_middle(&canvas, name, sizeof(name), "ppo-world-wide-5m_2",
                       15); /* families differ at their end */
    CHECK_STR(name, "ppo-world-~5m_2");
    panel_frame_middle(&canvas, name, sizeof(name), "ppo-world-wide-", 15);
    CHECK_STR(name, "ppo-world-wide-");
    panel_frame_middle(&canvas, name, sizeof(name), "\xc3\xa4\xc3\xb6\xc3\xbc-world-wide-5m_2", 15);
    CHECK_STR(name, "\xc3\xa4\xc3\xb6\xc3\xbc-world-wide-5m_2");
    CHECK_STR(tui_canvas_cut(&canvas, 0, &part), "ppo-world-wide-5m_2"); /* the one that was cut is kept */
    CHECK(!tui_canvas_cut(&canvas, 1, &part));
    tui_canvas_finish(&canvas);
}

static void check_parameters(void)
{
    static struct history_training past;

    tui_history_parameters(
        &past,
        "# x = 1\n; y = 2\nname = a b \r\n[ppo]\n  gamma=0.99\nlr =\n[broken\n= 3\n[net]\nw\t=\t64,64");
    CHECK_INT(past.n_parameters, 5);
    CHECK_STR(past.parameters[0].section, "");
    CHECK_STR(past.parameters[0].value, "a b");
    CHECK_STR(past.parameters[1].section, "ppo");
    CHECK_STR(past.parameters[1].key, "gamma");
    CHECK_STR(past.parameters[1].value, "0.99");
    CHECK_STR(past.parameters[2].value, "");
    CHECK_STR(past.parameters[3].key, "");
    CHECK_STR(past.parameters[4].section, "net");
    CHECK_STR(past.parameters[4].key, "w");
    CHECK_STR(past.parameters[4].value, "64,64");
    char *text = calloc(1, 1 << 16);
    for (int i = 0; i < 1 << 13; i++)
        memcpy(text + (size_t)i * 4, "a=1\n", 4);
    tui_history_parameters(&past, text);
    CHECK_INT(past.n_parameters, HISTORY_PARAMETERS_MAX);
    memset(text, 'x', (1 << 16) - 1);
    text[40] = '=';
    tui_history_parameters(&past, text);
    CHECK_INT(past.n_parameters, 1);
    free(text);
    tui_history_parameters(&past, "");
    CHECK_INT(past.n_parameters, 0);
}

static int64_t later_ns; /* that points come */

static struct db_writer *begin(const char *path)
{
    static const struct db_writer_config writer_config;
    struct db_writer *writer = NULL;
    char words[DB_ERROR_MAX];

    CHECK_INT(db_writer_open(path, &writer_config, &writer, words, sizeof(words)), 0);
    return writer;
}

static void end(struct db_writer *writer)
{
    char words[DB_ERROR_MAX];

    CHECK_INT(db_writer_close(writer, 20000, words, sizeof(words)), 0);
}

static void put(const char *path, const char *name, int64_t attempts, int64_t rewind, int64_t from,
                int64_t to)
{
    struct db_writer *writer = begin(path);
    struct db_training row = fixture_training_row(name, "update", to * 1024);

    row.attempts = attempts;
    db_writer_put_training(writer, &row);
    if (rewind >= 0)
        db_writer_rewind_training(writer, name, rewind);
    for (int64_t i = from; i < to; i++)
        fixture_put_point(writer, name, i, later_ns);
    end(writer);
}

/* What one reader shows, read on and on, ends where one that reads it all begins. */
static void check_curve(const char *path)
{
    static struct history_training past, fresh;
    struct history_reader *reader = NULL, *other = NULL;
    char words[256];

    put(path, "curve", 1, -1, 0, 300);
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_INT(past.points.n, 300);
    CHECK_INT(past.points.steps[299], 300 * 1024);
    CHECK(isnan(past.points.figures[FIGURE_RETURN][4]) && isfinite(past.points.figures[FIGURE_RETURN][5]));
    CHECK_INT(past.n_parameters, 10);
    CHECK_STR(past.parameters[0].key, "n_envs");
    for (int64_t n = 300; n < 3000; n += 271) {
        put(path, "curve", 1, -1, n, n + 271);
        CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
        CHECK(past.points.n <= HISTORY_POINTS_MAX && past.points.n >= HISTORY_POINTS_MAX / 2);
        CHECK_INT(past.points.steps[0], 1024);
        CHECK_INT(past.points.steps[past.points.n - 1], (n + 271) * 1024);
        for (int i = 1; i < past.points.n; i++)
            CHECK(past.points.steps[i] > past.points.steps[i - 1]);
    }
    CHECK_INT(tui_history_open(path, &other, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read_training(other, &fresh, "curve"), 0);
    CHECK_INT(fresh.points.n, past.points.n);
    for (int i = 0; i < past.points.n && i < fresh.points.n; i++) {
        CHECK_INT(fresh.points.steps[i], past.points.steps[i]);
        CHECK(memcmp(&fresh.points.figures[FIGURE_KL][i], &past.points.figures[FIGURE_KL][i],
                     sizeof(double)) == 0);
    }
    /* It continues from a checkpoint: what lay beyond that is gone, also where it has been passed since. */
    put(path, "curve", 2, 100 * 1024, 100, 101);
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_INT(past.points.n, 101);
    CHECK_INT(past.points.steps[100], 101 * 1024);
    put(path, "curve", 3, 50 * 1024, 50, 201);
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_INT(past.points.n, 201);
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_INT(past.points.n, 201);
    /* The same attempt goes back, too: its row may be stored before that is reported; and it may come as far
     * again. */
    put(path, "curve", 3, 150 * 1024, 150, 180);
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_INT(past.points.n, 180);
    double before = past.points.figures[FIGURE_KL][179];
    later_ns = 7;
    put(path, "curve", 3, 100 * 1024, 100, 180);
    past.points.figures[FIGURE_KL][120] = -1;
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_INT(past.points.n, 180);
    CHECK_NEAR(past.points.figures[FIGURE_KL][179], before, 0);
    CHECK(past.points.figures[FIGURE_KL][120] > 0);
    past.points.figures[FIGURE_KL][120] = -1; /* and what is still there is not read again */
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_NEAR(past.points.figures[FIGURE_KL][120], -1, 0);
    put(path, "curve", 3, 0, 0, 201);
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_INT(past.points.n, 201);
    /* Another one, none, and one that there is not. */
    put(path, "young", 1, -1, 0, 3);
    CHECK_INT(tui_history_read_training(reader, &past, "young"), 0);
    CHECK_INT(past.points.n, 3);
    CHECK_STR(past.points.training, "young");
    CHECK_INT(tui_history_read_training(reader, &past, ""), 0);
    CHECK_STR(past.points.training, "");
    CHECK_INT(past.points.n, 0);
    CHECK_INT(tui_history_read_training(reader, &past, "young"), 0);
    CHECK_INT(past.points.n, 3);
    CHECK_INT(tui_history_read_training(reader, &past, "curve"), 0);
    CHECK_INT(past.points.n, 201);
    CHECK_INT(tui_history_read_training(reader, &past, "absent"), 0);
    CHECK_INT(past.points.n + past.n_phases + past.n_parameters, 0);
    CHECK_STR(past.points.training, "absent");
    tui_history_close(other);
    tui_history_close(reader);
}

/* Where the mark before it is taken away, a curve that was read stays. */
static void check_compared(const char *path)
{
    struct history *h = calloc(1, sizeof(*h));
    struct history_want want = {.training = "absent", .compared = {"young", "curve"}};
    struct history_reader *reader;
    char words[256];

    CHECK(h != NULL);
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, h, words, sizeof(words)), 0);
    CHECK(h->compared[0].n == 3 && h->compared[1].n == 201);
    h->compared[1].figures[FIGURE_KL][120] = -1;
    memset(want.compared, 0, sizeof(want.compared));
    memcpy(want.compared[0], "curve", sizeof("curve"));
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, h, words, sizeof(words)), 0);
    CHECK_STR(h->compared[0].training, "curve");
    CHECK_INT(h->compared[0].n, 201);
    CHECK_NEAR(h->compared[0].figures[FIGURE_KL][120], -1, 0);
    CHECK_INT(h->compared[1].n, 0);
    tui_history_close(reader);
    free(h);
}

/* The daemon's status names some, and how many there are: the others are added, in the order in which they
 * were made, and stay as long as it names the same. */
static void check_left_out(struct history_reader *reader, const struct status *stored)
{
    struct model *model = tui_model_create(1000);
    json_t *object = json_loads(fixture_status, 0, NULL), *trainings = json_array(), *policies = json_array();
    struct status known;
    struct moment then = now;

    for (int i = 1; i < 4; i++)
        json_array_append_new(trainings,
                              json_pack("{s:o, s:s, s:i}", "training", json_sprintf("t_%d", 60 * i), "state",
                                        "done", "steps", i));
    json_array_append_new(trainings, json_pack("{s:s, s:s}", "training", "newest", "state", "queued"));
    for (int i = 0; i < 2; i++)
        json_array_append_new(policies,
                              json_pack("{s:o, s:s, s:s, s:i}", "policy", json_sprintf("p_%03d", 9 * i),
                                        "account", "", "role", "retired", "trades", 5));
    json_object_set_new(object, "trainings", trainings);
    json_object_set_new(object, "policies", policies);
    json_object_set_new(object, "trainings_total", json_integer(stored->n_trainings + 1));
    json_object_set_new(object, "policies_total", json_integer(stored->n_policies));
    CHECK_INT(tui_model_take_status(model, object, then), 0);
    CHECK(tui_model_wants_known(model));
    CHECK_INT(tui_history_known(reader, fixture_now_ns, &known), 0);
    tui_model_take_known(model, &known, then);
    for (int round = 0; round < 2; round++) {
        const struct status *s = &model->status;
        int own = 0;
        CHECK_INT(s->n_trainings, s->trainings_total);
        CHECK_INT(s->n_policies, s->policies_total);
        CHECK(!tui_model_wants_known(model));
        for (int i = 0; i < stored->n_trainings; i++) {
            CHECK_STR(s->trainings[i].training, stored->trainings[i].training);
            own += s->trainings[i].steps > 0 && s->trainings[i].steps < 4 &&
                   strstr("t_60 t_120 t_180", s->trainings[i].training);
        }
        CHECK_INT(own, 3); /* of these the status' figures */
        CHECK_STR(s->trainings[s->n_trainings - 1].training, "newest");
        for (int i = 0; i < stored->n_policies; i++) {
            int times = 0;
            for (int k = 0; k < s->n_policies; k++)
                times += strcmp(s->policies[k].policy, stored->policies[i].policy) == 0;
            CHECK_INT(times, 1);
        }
        CHECK_INT(s->policies[1].trades, 5);
        then.mono_ms += 7000;
        CHECK_INT(tui_model_take_status(model, object, then), 0);
    }
    int64_t age_ms = stored->trainings[1].age_ms;
    CHECK(age_ms >= 0);
    CHECK_INT(model->status.trainings[1].age_ms, age_ms + 14000);
    json_object_set_new(json_array_get(trainings, 3), "state", json_string("rollout"));
    CHECK_INT(tui_model_take_status(model, object, then), 0);
    CHECK(tui_model_wants_known(model)); /* another may have ended, too */
    json_decref(object);
    tui_model_destroy(model);
}

static void check_stored(const char *path)
{
    struct history_reader *reader = NULL;
    struct status *status = calloc(1, sizeof(*status));
    struct db_writer *writer = begin(path);
    char words[256], name[32];
    int64_t age_ms;

    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_status(reader, fixture_now_ns, status, &age_ms, words, sizeof(words)), 0);
    CHECK_INT(status->n_trainings, 4);
    CHECK_STR(status->trainings[0].training, "ppo-world-wide-5m_1");
    CHECK_STR(status->trainings[0].cause, "memory_budget");
    CHECK_INT(status->trainings[0].ended_ns, fixture_now_ns - 3600000000000);
    CHECK_INT(status->trainings[1].age_ms, 100);
    CHECK_INT(status->trainings[1].expected_ms, 1000); /* its state is one that works */
    CHECK_INT(status->trainings[0].expected_ms, -1);
    CHECK_NEAR(status->trainings[1].memory_mib, 312, 0);
    CHECK_INT(status->n_policies, 1);
    CHECK_STR(status->policies[0].role, "champion");
    CHECK_STR(status->champion.policy, "ppo-world-wide-5m_2");
    CHECK(strncmp(status->policies[0].id, "9f3c0000", 8) == 0 && strlen(status->policies[0].id) == 64);
    CHECK(isfinite(status->policies[0].equity)); /* of its account */
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "t_%d", i);
        struct db_training row = fixture_training_row(name, "done", 1024);
        row.created_ns = fixture_now_ns + i;
        row.ended_ns = fixture_now_ns + i;
        db_writer_put_training(writer, &row);
    }
    end(writer);
    tui_status_finish(status);
    CHECK_INT(tui_history_status(reader, fixture_now_ns, status, &age_ms, words, sizeof(words)), 0);
    CHECK_INT(status->n_trainings, MANY + 4);
    CHECK_INT(status->trainings_total, MANY + 4);
    CHECK_STR(status->trainings[0].training, "ppo-world-wide-5m_1");
    CHECK_STR(status->trainings[MANY + 3].training, "t_199");
    CHECK_INT(status->policies_total, 1);
    writer = begin(path); /* one that is reported from the future has no age */
    struct db_training late = fixture_training_row("late", "rollout", 1024);
    late.heard_ns = fixture_now_ns + 1000000000;
    late.created_ns = fixture_now_ns + 1000000;
    db_writer_put_training(writer, &late);
    for (int i = 0; i < POLICIES; i++) {
        struct db_policy row = {.role = i == POLICIES - 1 ? DB_POLICY_CHALLENGER : DB_POLICY_RETIRED,
                                .account = "",
                                .training = "",
                                .path = "/p",
                                .reason = "",
                                .since_ns = 1};
        snprintf(name, sizeof(name), "p_%03d", i);
        row.name = name;
        db_writer_put_policy(writer, &row);
    }
    end(writer);
    tui_status_finish(status);
    CHECK_INT(tui_history_status(reader, fixture_now_ns, status, &age_ms, words, sizeof(words)), 0);
    CHECK_INT(status->n_policies, POLICIES + 1);
    CHECK_INT(status->policies_total, POLICIES + 1);
    CHECK_STR(status->policies[0].role, "champion");
    CHECK_STR(status->policies[1].role, "challenger");
    CHECK_STR(status->policies[2].role, "retired");
    CHECK_STR(status->trainings[MANY + 4].training, "late");
    CHECK_INT(status->trainings[MANY + 4].age_ms, -1);
    check_left_out(reader, status);
    tui_history_close(reader);
    tui_status_finish(status);
    free(status);
}

/* Numbers of any size fit the list's columns. */
static void check_large(void)
{
    static const double values[] = {1e300,     -1e300, 1.5e18, 99999999, -99999999.4,
                                    123456789, 9e20,   -4e5,   12345};
    char buf[FORMAT_MAX];

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        CHECK(strlen(panel_training_return(buf, values[i])) <= 9);
        CHECK(strlen(cli_format_count(buf, values[i])) <= 7);
        CHECK(strlen(panel_training_busy(buf, values[i])) <= 8);
        if (values[i] > 0 && values[i] < 1e99)
            CHECK(strlen(panel_training_memory(buf, values[i])) <= 8);
    }
    CHECK_STR(panel_training_return(buf, 1.5e300), "+1.5e+300");
    CHECK_STR(cli_format_count(buf, 9.2e18), "9.2E");
}

/* What --once says, newest first; what is too old, as a dash. */
static void check_printed(void)
{
    static const char expected[] =
        "trainer   ok age 0.2s\n"
        "trainings 7\n"
        "training  default stopping steps 123M until stopped return -0.0042 steps/s 51k on cpu age 0.5s\n"
        "training  bad ?[31m?name done steps 2.0M of 2.0M 100% return +12.50 age 24h\n"
        "training  again queued steps 66k of 5.0M 1% return n/a again in 3.4s age 0.9s: killed by signal 9\n"
        "training  lost STALE steps - return - on 1 age 94s\n";
    struct model *model = tui_model_create(1000);
    char *text = NULL;
    size_t size;

    take(model, fixture_trainings);
    for (int i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text, &size);
        tui_print_trainings(out, model, (struct moment){now.wall_ns, now.mono_ms + i * 20000});
        fclose(out);
        if (i == 0) {
            CHECK(strncmp(text, expected, strlen(expected)) == 0);
            CHECK(strstr(
                text, "policy    ppo-world-wide-5m_2 champion account ppo-world-wide-5m_2 trading trades 12 "
                      "sharpe 1.10 return +0.10% BTCUSDT +0.12 ETHUSDT -0.30\n"));
            CHECK(strstr(text, "policy    young challenger account young warming trades 0 sharpe n/a return "
                               "0.00% evidence 3.14 on 12 of 20 days against cash expires in 48h: 31 of 64 "
                               "bars\n"));
            CHECK(strstr(text,
                         "policy    other challenger account other refused trades 0 sharpe n/a return n/a: "
                         "interval: trained on 1h, the daemon streams 5m\n"));
        } else {
            CHECK(!strstr(text, "845k") && !strstr(text, "1.31") && !strstr(text, "1.10"));
            CHECK(strstr(text, "training  ppo-world-wide-5m_2 STALE steps - return - on cpu age 20s\n"));
        }
        free(text);
        text = NULL;
    }
    tui_model_destroy(model);
}

static void check_log(void)
{
    struct model *model = tui_model_create(1000);
    json_t *lines = json_array();

    for (int i = 0; i < MODEL_LOG_LINES_MAX + 3; i++)
        json_array_append_new(lines, json_sprintf("line %d \033[2J", i));
    json_array_append_new(lines, json_integer(7));
    tui_model_take_log(model, "a", lines, "", now);
    CHECK(model->log.have);
    CHECK_INT(model->log.n, MODEL_LOG_LINES_MAX);
    CHECK_STR(model->log.lines[0], "line 4 ?[2J");
    CHECK_STR(model->log.lines[MODEL_LOG_LINES_MAX - 1], "");
    tui_model_take_log(model, "a", NULL, "ETIMEDOUT: \a", now); /* the old lines stay, and age */
    CHECK_INT(model->log.n, MODEL_LOG_LINES_MAX);
    CHECK_STR(model->log.words, "ETIMEDOUT: ?");
    tui_model_take_log(model, "b", NULL, "ENOENT", now);
    CHECK(!model->log.have && model->log.n == 0);
    json_decref(lines);
    tui_model_destroy(model);
}

int main(void)
{
    const char *path = scratch_path("papertape.db");

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    check_status();
    check_many();
    check_freshness();
    check_words();
    check_parameters();
    check_log();
    check_large();
    check_printed();
    CHECK_INT(fixture_database(path), 0);
    check_curve(path);
    check_compared(path);
    check_stored(path);
    return check_done("tui/training");
}
