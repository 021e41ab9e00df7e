/* The draws of actions: their numbers against libm's, many at once against one at a time, their moments; and
 * the order of minibatches: each row once. */
#include "trainer/ppo/cpu/draw.h"
#include "tests/check.h"
#include "trainer/ppo/draw.h"
#include "trainer/ppo/shuffle.h"

/* All 2^24 words, or with PAPERTAPE_LONG unset every 13th. */
static void test_numbers(void)
{
    const uint32_t stride = getenv("PAPERTAPE_LONG") ? 1 : 13;
    double radius = 0, turn = 0;
    for (uint32_t i = 0; i < 1u << 24; i += stride) {
        const double r = sqrt(-2 * log((i + 1) * 0x1p-24)), angle = 2 * M_PI * (i * 0x1p-24);
        float c, s;
        ppo_turn(i << 8, &c, &s);
        radius = fmax(radius, fabs(ppo_radius(i << 8) - r) / fmax(r, 1e-3));
        turn = fmax(turn, fmax(fabs(c - cos(angle)), fabs(s - sin(angle))));
    }
    printf("radius within %.3g of itself, cosine and sine within %.3g (every %u of 2^24)\n", radius, turn,
           stride);
    CHECK_NEAR(radius, 0, 2e-7);
    CHECK_NEAR(turn, 0, 1e-7);
    CHECK(ppo_radius(UINT32_MAX) == 0); /* u = 1 */
    CHECK(ppo_radius(0) < 5.78f);
    CHECK(ppo_uniform(0) == 0 && ppo_uniform(UINT32_MAX) == 1 - 0x1p-24f);
}

static void test_rows(void)
{
    static const size_t widths[] = {1, 2, 3, 4, 5, 8, 11};
    const uint64_t seed = 0x123456789abcdef, run_step = 0xfffffffe; /* its low word runs over */
    const size_t copies = 5, rows = 35;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        const size_t n = widths[w];
        for (int uniform = 0; uniform < 2; uniform++) {
            float all[35 * 11 + 1], parts[35 * 11 + 1];
            memset(all, 0x7f, sizeof all);
            memset(parts, 0x7f, sizeof parts);
            ppo_draw_rows(seed, run_step, copies, n, uniform, 0, rows, all);
            ppo_draw_rows(seed, run_step, copies, n, uniform, 0, 17, parts);
            ppo_draw_rows(seed, run_step, copies, n, uniform, 17, rows, parts);
            CHECK(memcmp(all, parts, sizeof all) == 0);
            for (size_t row = 0; row < rows; row++)
                for (size_t i = 0; i < n; i++) {
                    const uint64_t step = run_step + row / copies;
                    const struct philox words =
                        philox(seed, (uint32_t)(row % copies), (uint32_t)step, (uint32_t)(step >> 32),
                               (uint32_t)PPO_DRAW_ACTION << 24 | (uint32_t)(i / 4));
                    float pair[2];
                    const size_t word = i % 4 / 2 * 2;
                    ppo_normals(words.word[word], words.word[word + 1], &pair[0], &pair[1]);
                    const float one = uniform ? ppo_uniform(words.word[i % 4]) : pair[i % 2];
                    CHECK(memcmp(&one, &all[row * n + i], sizeof one) == 0);
                }
        }
    }
}

static void test_moments(void)
{
    enum { N = 400000 };
    static float x[N];
    ppo_draw_rows(1, 0, 8, 5, false, 0, N / 5, x);
    double sum = 0, squares = 0, fourth = 0, next = 0;
    for (int i = 0; i < N; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        fourth += x[i] * x[i] * x[i] * x[i];
        next += i ? x[i] * x[i - 1] : 0;
    }
    /* five deviations of each figure */
    CHECK_NEAR(sum / N, 0, 5 / sqrt(N));
    CHECK_NEAR(squares / N, 1, 5 * sqrt(2.0 / N));
    CHECK_NEAR(fourth / N, 3, 5 * sqrt(96.0 / N));
    CHECK_NEAR(next / N, 0, 5 / sqrt(N));
}

static void test_bijection(void)
{
    static const uint32_t sizes[] = {1,  2,  3,   4,    5,    15,   16,   17,   31,
                                     32, 33, 100, 1023, 1024, 1025, 8192, 65537};
    static uint8_t seen[65537];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (uint64_t epoch = 0; epoch < 20; epoch++) {
            const struct ppo_shuffle shuffle = ppo_shuffle_make(9, epoch << 30, sizes[k]);
            memset(seen, 0, sizeof seen);
            static uint32_t order[65537];
            ppo_draw_order(&shuffle, 0, sizes[k] / 3, order);
            ppo_draw_order(&shuffle, sizes[k] / 3, sizes[k], order);
            bool once = true, same = true;
            for (uint32_t i = 0; i < sizes[k]; i++) {
                const uint32_t at = ppo_shuffle_at(&shuffle, i);
                same = same && order[i] == at;
                if (at >= sizes[k] || seen[at]++) {
                    once = false;
                    break;
                }
            }
            CHECK(once && same);
        }
}

int main(void)
{
    test_numbers();
    test_rows();
    test_moments();
    test_bijection();
    return check_done("trainer/ppo/draw");
}
