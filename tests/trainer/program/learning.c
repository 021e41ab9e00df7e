/* Learning curves: bounded, exact where they are kept; of several seeds the median and the band. */
#include <stdio.h>

#include "tests/check.h"
#include "trainer/report/learning.h"

enum { STEPS = 64, LEGEND = 18 /* pixels */ };

static struct trainer_learning *make(int64_t updates, double level)
{
    struct trainer_learning *learning = trainer_learning_create();
    for (int64_t i = 0; i < updates; i++) {
        const struct ppo_update update = {.steps = STEPS * (i + 1),
                                          .reward = level + (double)i,
                                          .episode_return = i % 2 ? NAN : level,
                                          .value_loss = 1 + (double)i,
                                          .std = NAN};
        trainer_learning_add(learning, &update);
    }
    return learning;
}

static void test_bounded(void)
{
    static const int64_t counts[] = {0, 1, LEARNING_POINTS, LEARNING_POINTS + 1, 12345};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct trainer_learning *learning = make(counts[k], 0.5);
        const struct trainer_learning_points *points = &learning->updates;
        CHECK(points->growth.n <= LEARNING_POINTS &&
              (int64_t)points->growth.n * 4 >= counts[k] % LEARNING_POINTS);
        CHECK_INT(points->growth.every, counts[k] <= LEARNING_POINTS ? 1 : counts[k] == 12345 ? 8 : 2);
        for (size_t i = 0; i < points->growth.n; i++) {
            int64_t update = (int64_t)(i * points->growth.every);
            CHECK_INT(points->steps[i], STEPS * (update + 1));
            CHECK_NEAR(points->values[1][i], 0.5 + (double)update, 0); /* reward */
        }
        free(learning);
    }
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)) != NULL; text++)
        n++;
    return n;
}

static char *page_of(const struct trainer_learning *const *seeds, int n)
{
    struct text text = {0};
    CHECK_INT(trainer_report_learning(&text, seeds, n, "validation"), 0);
    return text_take(&text);
}

static void test_one(void)
{
    struct trainer_learning *learning = make(50, 1);
    char *page = page_of((const struct trainer_learning *const[]){learning}, 1);
    CHECK_INT(count(page, "<figure>"), LEARNING_FIGURES - 1); /* std has no number at all */
    CHECK(!strstr(page, "Evaluations") && !strstr(page, "Deviation") && !strstr(page, "polygon"));
    free(page);
    trainer_learning_judge(learning, 640, 0.25, 0.125);
    trainer_learning_judge(learning, 1280, -0.5, 0.125);
    page = page_of((const struct trainer_learning *const[]){learning}, 1);
    CHECK_INT(count(page, "<figure>"), LEARNING_FIGURES);
    CHECK(strstr(page, "Return over the rows of validation") && strstr(page, ">holding</text>") &&
          strstr(page, ">-25</text>"));
    free(page);
    free(learning);
    learning = trainer_learning_create();
    trainer_learning_judge(learning, 640, 12, NAN); /* of a built-in world */
    page = page_of((const struct trainer_learning *const[]){learning}, 1);
    CHECK_INT(count(page, "<figure>"), 1);
    CHECK(strstr(page, "mean reward of episodes") && !strstr(page, "holding"));
    free(page);
    free(learning);
}

/* The y of a class' last point. */
static double last_y(const char *page, const char *class)
{
    const char *at = strstr(page, class), *end = at ? strstr(at, "\"/>") : NULL;
    while (end && end > at && end[-1] != ',')
        end--;
    return end ? strtod(end, NULL) : NAN;
}

/* Of seeds of other lengths the steps that all keep; those that ended earlier are left out. */
static void test_seeds(void)
{
    struct trainer_learning *seeds[] = {make(3000, 1), make(3000, 3), make(900, 2), make(3000, 7)};
    char *page = page_of((const struct trainer_learning *const *)seeds, 4);
    CHECK(strstr(page, ">median</text>") && strstr(page, ">4 seeds</text>"));
    CHECK_INT(count(page, "<polygon class=\"a0\""), LEARNING_FIGURES - 1);
    const char *reward = strstr(page, "<title>Reward</title>");
    CHECK(reward != NULL);
    char *same = page_of((const struct trainer_learning *const[]){seeds[1]}, 1);
    /* The median of 1, 3 and 7 is 3; the axes differ by 2 and 4 of 3000, the frames by a legend. */
    if (reward)
        CHECK_NEAR(last_y(reward, "<polyline class=\"c0\"") - LEGEND,
                   last_y(strstr(same, "<title>Reward</title>"), "<polyline class=\"c0\""), 0.5);
    free(same);
    free(page);
    for (int i = 0; i < 4; i++)
        free(seeds[i]);
}

int main(void)
{
    test_bounded();
    test_one();
    test_seeds();
    return check_done("trainer/program/learning");
}
