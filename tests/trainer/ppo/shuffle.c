/* Is the order of minibatches even? Over many epochs with fixed seeds, which rows stand at each place, and
 * how far the next place's row lies from a place's, for every n of 2 to 70 and, in classes, for 1024;
 * chi-squared within what chance gives. PAPERTAPE_LONG: more epochs, which show lesser faults. */
#include <string.h>

#include "tests/check.h"
#include "trainer/ppo/shuffle.h"

enum { SMALL = 70 };

/* Wilson and Hilferty 1931: as many deviations from a chi-squared number's mean. */
static double deviations(double chi, double freedom)
{
    const double variance = 2 / (9 * freedom);
    return (cbrt(chi / freedom) - (1 - variance)) / sqrt(variance);
}

struct figures {
    double worst, sum;
    int n;
};

static void take(struct figures *figures, double deviation)
{
    figures->worst = figures->n == 0 || deviation > figures->worst ? deviation : figures->worst;
    figures->sum += deviation;
    figures->n++;
}

/* `independent` of what was taken are. */
static void report(const char *what, const struct figures *figures, int independent)
{
    const double mean = figures->sum / figures->n;
    printf("shuffle: n of 2 to %d: %s: %d tables, the worst %.2f deviations from even, their mean %.3f\n",
           SMALL, what, figures->n, figures->worst, mean);
    CHECK(figures->worst <= 5);
    CHECK_NEAR(mean, 0, 5 / sqrt(independent));
}

static unsigned places[SMALL][SMALL], gaps[SMALL][SMALL];

static void count_small(uint32_t n, uint64_t epochs)
{
    uint32_t order[SMALL];
    memset(places, 0, sizeof places);
    memset(gaps, 0, sizeof gaps);
    for (uint64_t epoch = 0; epoch < epochs; epoch++) {
        const struct ppo_shuffle shuffle = ppo_shuffle_make(n, epoch, n);
        for (uint32_t i = 0; i < n; i++) {
            order[i] = ppo_shuffle_at(&shuffle, i);
            places[i][order[i]]++;
        }
        for (uint32_t i = 0; i < n; i++)
            gaps[i][(order[(i + 1) % n] + n - order[i]) % n]++;
    }
}

/* A random order's table of places has (n - 1)^2 degrees of freedom, each n / (n - 1) as wide as it would be
 * if places were drawn apart; a place's distances, 1 to n - 1 and evenly likely, have n - 2. */
static void test_small(uint64_t epochs)
{
    struct figures of_places = {0}, of_gaps = {0};
    for (uint32_t n = 2; n <= SMALL; n++) {
        double sum = 0;
        const double each = (double)epochs / n, gap = (double)epochs / (n - 1);
        count_small(n, epochs);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t row = 0; row < n; row++)
                sum += (places[i][row] - each) * (places[i][row] - each) / each;
        take(&of_places, deviations(sum * (n - 1) / n, (n - 1.0) * (n - 1.0)));
        for (uint32_t i = 0; i < n && n > 2; i++) {
            double chi = 0;
            for (uint32_t d = 1; d < n; d++)
                chi += (gaps[i][d] - gap) * (gaps[i][d] - gap) / gap;
            CHECK(gaps[i][0] == 0);
            take(&of_gaps, deviations(chi, n - 2.0));
        }
    }
    report("places", &of_places, SMALL - 1);
    report("distances", &of_gaps, SMALL - 1);
}

static void within(const char *what, double chi, double freedom)
{
    printf("shuffle: 1024 rows: chi-squared of %s %.0f (%.0f expected)\n", what, chi, freedom);
    CHECK_NEAR(chi, freedom, 6 * sqrt(2 * freedom));
}

/* In 64 even classes each. */
static void test_large(void)
{
    enum { N = 1024, CLASSES = 64, EPOCHS = 1024 };
    static int at[CLASSES][CLASSES], apart[CLASSES];
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        const struct ppo_shuffle shuffle = ppo_shuffle_make(3, epoch, N);
        uint32_t before = ppo_shuffle_at(&shuffle, N - 1);
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t row = ppo_shuffle_at(&shuffle, i);
            at[row * CLASSES / N][i * CLASSES / N]++;
            apart[(row - before) % N * CLASSES / N]++;
            before = row;
        }
    }
    double chi = 0, gap = 0;
    const double expected = (double)EPOCHS * N / CLASSES / CLASSES, each = (double)EPOCHS * N / (N - 1);
    for (int row = 0; row < CLASSES; row++)
        for (int i = 0; i < CLASSES; i++)
            chi += (at[row][i] - expected) * (at[row][i] - expected) / expected;
    for (int i = 0; i < CLASSES; i++) { /* no distance is 0 */
        const double wanted = each * (N / CLASSES - (i == 0));
        gap += (apart[i] - wanted) * (apart[i] - wanted) / wanted;
    }
    within("places", chi, (CLASSES - 1) * (CLASSES - 1));
    within("distances", gap, CLASSES - 1);
}

static void test_one(void)
{
    const struct ppo_shuffle shuffle = ppo_shuffle_make(1, 2, 1);
    CHECK(ppo_shuffle_at(&shuffle, 0) == 0);
}

int main(void)
{
    test_one();
    test_small(getenv("PAPERTAPE_LONG") ? 100000 : 2000);
    test_large();
    return check_done("trainer/ppo/shuffle");
}
