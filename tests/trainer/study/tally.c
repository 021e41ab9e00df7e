/* How far a study is: what counts as done, and how many workers there are. */
#include "trainer/study/tally.h"

#include "tests/check.h"
#include "trainer/study/pool.h"

static struct study_trial trials[16], *pointers[16];
static struct study study = {.trials = pointers};

static void set_states(const char *letters) /* C P F R W */
{
    static const char of[] = "RCPFW";
    study.n_trials = (int)strlen(letters);
    for (int i = 0; letters[i]; i++) {
        trials[i] = (struct study_trial){
            .number = i, .heartbeat_us = 1, .state = (enum trial_state)(strchr(of, letters[i]) - of)};
        pointers[i] = &trials[i];
    }
}

static void test_tally(void)
{
    char key[] = "retry_history", first[] = "[2]", second[] = "[2, 5]", bad[] = "{\"a\": [99, -1, \"2\"]}";
    struct study_attribute one = {key, first}, two = {key, second}, none = {key, bad};
    set_states("");
    struct study_tally tally = study_tally_of(&study);
    CHECK(tally.done == 0 && study_tally_room(&tally, 1) == 1 && study_tally_room(&tally, 0) == 0);
    set_states("CPFRW");
    tally = study_tally_of(&study);
    CHECK(tally.done == 3 && tally.retried == 0 && tally.states[TRIAL_RUNNING] == 1);
    CHECK(study_tally_room(&tally, 5) == 1 &&
          study_tally_room(&tally, 4) == 0); /* a running trial will be done */
    trials[3].heartbeat_us = STUDY_NO_TIME;  /* except one that may be dead */
    tally = study_tally_of(&study);
    CHECK(tally.mute == 1 && study_tally_room(&tally, 4) == 1 && study_tally_room(&tally, 2) == -1);
    /* 2 failed and was tried again as 5, which failed and was tried again as 6: done once that is. */
    set_states("CPFRCFW");
    trials[5].system = &one, trials[5].n_system = 1;
    trials[6].system = &two, trials[6].n_system = 1;
    trials[0].system = &none, trials[0].n_system = 1;
    tally = study_tally_of(&study);
    CHECK(tally.retried == 2 && tally.failed == 0 && tally.done == 3);
    trials[6].state = TRIAL_COMPLETE;
    tally = study_tally_of(&study);
    CHECK(tally.retried == 2 && tally.done == 4);
    CHECK(study_tally_rate(30, 1800) == 60 && isnan(study_tally_rate(0, 10)) &&
          isnan(study_tally_rate(3, 0)));
    CHECK(study_tally_left_s(30, 60) == 1800 && study_tally_left_s(0, NAN) == 0 &&
          isnan(study_tally_left_s(1, NAN)));
}

static void test_workers(void)
{
    struct study_workers_room room = {.cores = 8, .left = 100, .memory_bytes = 1000, .each_bytes = 50};
    CHECK_INT(study_workers_fit(&room), 8);
    room.shared_bytes = 600; /* 200 of 800 are left */
    CHECK_INT(study_workers_fit(&room), 4);
    room.shared_bytes = 790;
    CHECK_INT(study_workers_fit(&room), 1);
    room.memory_bytes = -1;
    CHECK_INT(study_workers_fit(&room), 8);
    room.left = 3;
    CHECK_INT(study_workers_fit(&room), 3);
    room.left = 0;
    CHECK_INT(study_workers_fit(&room), 1);
    room = (struct study_workers_room){
        .cores = 2, .n_devices = 3, .a_device = 4, .left = 100, .memory_bytes = -1, .each_bytes = 50};
    CHECK_INT(study_workers_fit(&room), 12);
    room.cores = 4096, room.n_devices = 0, room.left = 100000;
    CHECK_INT(study_workers_fit(&room), 1024);
}

int main(void)
{
    test_tally();
    test_workers();
    return check_done("trainer/study/tally");
}
