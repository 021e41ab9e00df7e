/* What of a training becomes an alert: each cause its code, once for each of its processes. */
#include "daemon/training/alert.h"

#include "tests/check.h"

static const struct training_reported none;

static struct training in_state(const char *state, const char *cause, int64_t attempts)
{
    struct training training = {.attempts = attempts, .created_ns = 7, .pid = 42};
    snprintf(training.name, sizeof training.name, "ppo");
    snprintf(training.state, sizeof training.state, "%s", state);
    snprintf(training.cause, sizeof training.cause, "%s", cause);
    return training;
}

static void causes(void)
{
    static const struct {
        const char *cause, *code;
    } rows[] = {{"nan", "TRAINING_NAN"},
                {"memory", "TRAINING_MEMORY"},
                {"memory_budget", "TRAINING_MEMORY"},
                {"device", "TRAINING_DEVICE"},
                {"config", "TRAINING_FAILED"},
                {"checkpoint", "TRAINING_FAILED"},
                {"disk", "TRAINING_DISK"},
                {"killed", "TRAINING_FAILED"},
                {"crash", "TRAINING_FAILED"},
                {"", "TRAINING_FAILED"},
                {"of tomorrow", "TRAINING_FAILED"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct training training = in_state("failed", rows[i].cause, 1);
        struct training_alert alert;
        CHECK(daemon_training_alert_state(&none, false, &training, &alert));
        CHECK_STR(alert.code, rows[i].code);
        CHECK_INT(alert.severity, DB_ERROR);
        CHECK(strncmp(alert.text, "ppo: ", 5) == 0 && strlen(alert.text) > 10);
        snprintf(training.reason, sizeof training.reason, "because of that");
        CHECK(daemon_training_alert_state(&none, false, &training, &alert));
        CHECK_STR(alert.text, "ppo: because of that");
    }
}

static void when(void)
{
    struct training_alert alert;
    struct training_reported reported = {0};
    static const char *const quiet[] = {"queued",     "loading", "features", "rollout", "update",
                                        "evaluating", "paused",  "done",     "stopped", "checkpointing"};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        struct training training = in_state(quiet[i], "", 1);
        CHECK(!daemon_training_alert_state(&none, false, &training, &alert));
    }
    /* It waits for its restart. */
    struct training training = in_state("queued", "device", 1);
    CHECK(daemon_training_alert_state(&none, false, &training, &alert));
    CHECK_STR(alert.code, "TRAINING_DEVICE");
    CHECK_INT(alert.severity, DB_WARNING);
    CHECK(strstr(alert.text, "started again") != NULL);
    daemon_training_reported_of(&training, &reported);
    CHECK(!daemon_training_alert_state(&reported, true, &training, &alert));
    training.attempts = 2; /* the next process died of the same */
    CHECK(daemon_training_alert_state(&reported, true, &training, &alert));
    daemon_training_reported_of(&training, &reported);
    training = in_state("failed", "device", 2); /* and then it was given up */
    CHECK(daemon_training_alert_state(&reported, true, &training, &alert));
    CHECK_INT(alert.severity, DB_ERROR);
    daemon_training_reported_of(&training, &reported);
    CHECK(!daemon_training_alert_state(&reported, true, &training, &alert));
    training.created_ns = 8; /* another training of that name */
    CHECK(daemon_training_alert_state(&reported, true, &training, &alert));
    training = in_state("stopped", "cpu_budget", 1);
    CHECK(daemon_training_alert_state(&none, false, &training, &alert));
    CHECK_INT(alert.severity, DB_WARNING);
}

static json_t *state_event(const char *state, const char *cause)
{
    return json_pack("{s:s, s:s, s:s, s:s?}", "event", "state", "state", state, "reason", "r", "cause",
                     cause);
}

static bool show(struct training_reported *reported, json_t *event, struct training_alert *ret)
{
    bool reported_any = daemon_training_alert_event(reported, "ppo", event, ret);
    json_decref(event);
    return reported_any;
}

/* Each failure counts, also those that were over when the list was asked for. */
static void events(void)
{
    struct training_reported reported = {0};
    struct training_alert alert;
    for (int i = 0; i < 7; i++) {
        CHECK(show(&reported, state_event("failed", "memory"), &alert));
        CHECK_STR(alert.code, "TRAINING_MEMORY");
        CHECK_STR(alert.text, "ppo: r");
        CHECK(!show(&reported, state_event("queued", NULL), &alert));
        CHECK(!show(&reported, json_pack("{s:s}", "event", "start"), &alert));
    }
    CHECK(show(&reported, state_event("queued", "disk"), &alert));
    CHECK_STR(alert.code, "TRAINING_DISK");
    CHECK(!show(&reported, state_event("queued", "disk"), &alert)); /* nothing between: the same one */
    struct training training = in_state("queued", "disk", 1);
    CHECK(!daemon_training_alert_state(&reported, true, &training, &alert));
    daemon_training_reported_of(&training, &reported);
    /* While it works: by a warning, or, where the disk lost that, by the state; reported once. */
    training = in_state("rollout", "disk", 1);
    CHECK(daemon_training_alert_state(&reported, true, &training, &alert));
    CHECK(show(&reported, json_pack("{s:s, s:s, s:s}", "event", "warning", "message", "m", "cause", "disk"),
               &alert));
    CHECK_STR(alert.code, "TRAINING_DISK");
    CHECK_INT(alert.severity, DB_WARNING);
    CHECK(!daemon_training_alert_state(&reported, true, &training, &alert));
    daemon_training_reported_of(&training, &reported);
    training = in_state("update", "disk", 1);
    CHECK(!daemon_training_alert_state(&reported, true, &training, &alert));
    CHECK(!show(&reported, json_pack("{s:s, s:s}", "event", "warning", "message", "m"), &alert));
    CHECK(!show(&reported, json_pack("{s:i}", "event", 7), &alert));
}

static void stalled(void)
{
    struct training training = in_state("rollout", "", 1);
    char words[TRAINING_ALERT_TEXT_MAX];
    daemon_training_stalled_words(&training, words);
    CHECK(strstr(words, "rollout") && strstr(words, "42") && strstr(words, "restart ppo"));
    CHECK(strstr(words, "says nothing"));
    training.state_s = 75;
    training.state_limit_s = 60;
    daemon_training_stalled_words(&training, words);
    CHECK(strstr(words, "in rollout for 75 s") && strstr(words, "60 s") && strstr(words, "restart ppo"));
}

/* "" where the trial is no new best. */
static const char *best(const char *text)
{
    static char words[TRAINING_ALERT_TEXT_MAX];
    json_t *event = json_loads(text, 0, NULL);
    CHECK(event != NULL);
    if (!daemon_training_best_words(event, words))
        words[0] = '\0';
    json_decref(event);
    return words;
}

static void trials(void)
{
    CHECK_STR(best("{\"event\":\"trial\",\"ts_ns\":5,\"number\":29,\"best_number\":29,\"value\":1.25,"
                   "\"complete\":12,\"done\":30,\"trials\":100}"),
              "trial 29 with 1.25, after 30 of 100");
    CHECK_STR(best("{\"event\":\"trial\",\"ts_ns\":5,\"number\":29,\"best_number\":7,\"value\":1.25,"
                   "\"complete\":12,\"done\":30,\"trials\":100}"),
              "");
    CHECK_STR(best("{\"event\":\"trial\",\"ts_ns\":5,\"number\":0,\"best_number\":0,\"value\":1.25,"
                   "\"complete\":1,\"done\":1,\"trials\":100}"),
              ""); /* the first one is no news */
    CHECK_STR(best("{\"event\":\"trial\",\"ts_ns\":5,\"number\":3,\"best_number\":3,\"value\":null,"
                   "\"complete\":2,\"done\":4,\"trials\":100}"),
              "");
    CHECK_STR(best("{\"event\":\"trial\",\"ts_ns\":5,\"best_number\":null,\"value\":1,\"complete\":2}"), "");
    CHECK_STR(best("{\"event\":\"state\",\"ts_ns\":5,\"number\":3,\"best_number\":3,\"value\":1,"
                   "\"complete\":2}"),
              "");
    CHECK_STR(best("{\"event\":\"trial\",\"ts_ns\":\"5\",\"number\":[],\"best_number\":{},\"value\":1}"), "");
}

int main(void)
{
    causes();
    when();
    events();
    stalled();
    trials();
    return check_done("daemon/training/alert");
}
