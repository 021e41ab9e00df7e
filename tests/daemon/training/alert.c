/* What of a training becomes an alert: each cause its code, once for each of its processes. */
#include "daemon/training/alert.h"

#include "tests/check.h"

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
                {"disk", "TRAINING_FAILED"},
                {"killed", "TRAINING_FAILED"},
                {"crash", "TRAINING_FAILED"},
                {"", "TRAINING_FAILED"},
                {"of tomorrow", "TRAINING_FAILED"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct training training = in_state("failed", rows[i].cause, 1);
        struct training_alert alert;
        CHECK(training_alert(NULL, &training, &alert));
        CHECK_STR(alert.code, rows[i].code);
        CHECK_INT(alert.severity, DB_ERROR);
        CHECK(strncmp(alert.text, "ppo: ", 5) == 0 && strlen(alert.text) > 10);
        snprintf(training.reason, sizeof training.reason, "because of that");
        CHECK(training_alert(NULL, &training, &alert));
        CHECK_STR(alert.text, "ppo: because of that");
    }
}

static void when(void)
{
    struct training_alert alert;
    struct training_told told;
    static const char *const quiet[] = {"queued",     "loading", "features", "rollout", "update",
                                        "evaluating", "paused",  "done",     "stopped", "checkpointing"};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        struct training training = in_state(quiet[i], "", 1);
        CHECK(!training_alert(NULL, &training, &alert));
    }
    /* It waits for its restart. */
    struct training training = in_state("queued", "device", 1);
    CHECK(training_alert(NULL, &training, &alert));
    CHECK_STR(alert.code, "TRAINING_DEVICE");
    CHECK_INT(alert.severity, DB_WARNING);
    CHECK(strstr(alert.text, "begun again") != NULL);
    training_told_of(&training, &told);
    CHECK(!training_alert(&told, &training, &alert));
    training.attempts = 2; /* the next process died of the same */
    CHECK(training_alert(&told, &training, &alert));
    training_told_of(&training, &told);
    training = in_state("failed", "device", 2); /* and then it was given up */
    CHECK(training_alert(&told, &training, &alert));
    CHECK_INT(alert.severity, DB_ERROR);
    training_told_of(&training, &told);
    CHECK(!training_alert(&told, &training, &alert));
    training.created_ns = 8; /* another training of that name */
    CHECK(training_alert(&told, &training, &alert));
    training = in_state("stopped", "cpu_budget", 1);
    CHECK(training_alert(NULL, &training, &alert));
    CHECK_INT(alert.severity, DB_WARNING);
}

static void stalled(void)
{
    struct training training = in_state("rollout", "", 1);
    struct training_alert alert;
    training_alert_stalled(&training, &alert);
    CHECK_STR(alert.code, "TRAINING_STALLED");
    CHECK(strstr(alert.text, "rollout") && strstr(alert.text, "42") && strstr(alert.text, "restart ppo"));
    CHECK(strstr(alert.text, "says nothing"));
    training.state_s = 75;
    training.state_limit_s = 60;
    training_alert_stalled(&training, &alert);
    CHECK(strstr(alert.text, "in rollout for 75 s") && strstr(alert.text, "60 s") &&
          strstr(alert.text, "restart ppo"));
}

int main(void)
{
    causes();
    when();
    stalled();
    return check_done("daemon/training/alert");
}
