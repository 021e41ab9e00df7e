/* Which of many trainings come first: by hand, and that what runs is never left out for what has ended. */
#include "db/training_order.h"

#include "tests/check.h"
#include "tests/random.h"

enum { WORKS, WAITS, ENDED };

static void test_groups(void)
{
    CHECK_INT(db_training_group("loading"), WORKS);
    CHECK_INT(db_training_group("checkpointing"), WORKS);
    CHECK_INT(db_training_group("queued"), WAITS);
    CHECK_INT(db_training_group("paused"), WAITS);
    CHECK_INT(db_training_group("anything"), WAITS);
    CHECK_INT(db_training_group("stopped"), ENDED);
}

static void test_order(void)
{
    struct training_rank ranks[] = {{ENDED, 0, 50, 0}, {WAITS, 0, 0, 0}, {WORKS, 0, 0, 0}, {ENDED, 9, 70, 0},
                                    {WAITS, 5, 0, 0},  {WAITS, 5, 0, 0}, {WORKS, 0, 0, 0}, {ENDED, 0, 70, 0}};
    static const size_t expected[] = {6, 2, 4, 5, 1, 7, 3, 0};

    db_training_order(ranks, 8);
    for (size_t i = 0; i < 8; i++)
        CHECK_INT(ranks[i].at, expected[i]);
    db_training_order(ranks, 0);
}

static void test_random(void)
{
    enum { N = 300, MAX = 64 };
    struct random random = random_seeded("db/training_order", 20261122);
    struct training_rank ranks[N];
    int groups[N];

    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < N; i++) {
            groups[i] = random_chance(&random, 10) ? WORKS : random_chance(&random, 10) ? WAITS : ENDED;
            ranks[i] = (struct training_rank){.group = groups[i],
                                              .priority = (int64_t)random_between(&random, 0, 4) - 2,
                                              .ended_ns = (int64_t)random_between(&random, 0, 50)};
        }
        db_training_order(ranks, N);
        int n[3] = {0}, in[3] = {0};
        for (int i = 0; i < N; i++) {
            n[groups[i]]++;
            in[groups[ranks[i].at]] += i < MAX;
        }
        int works = n[WORKS] < MAX ? n[WORKS] : MAX, waits = n[WAITS] < MAX - works ? n[WAITS] : MAX - works;
        CHECK_INT(in[WORKS], works);
        CHECK_INT(in[WAITS], waits);
        CHECK_INT(in[ENDED], MAX - works - waits);
    }
}

int main(void)
{
    test_groups();
    test_order();
    test_random();
    return check_done("db/training_order");
}
