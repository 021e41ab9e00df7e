/* Adam and the gradients' norm of every instruction set against the definition in float64, over many steps.
 */
#include "trainer/nn/adam.h"

#include "tests/check.h"
#include "tests/random.h"
#include "trainer/nn/kernels.h"

enum { N = 3001, GRADS = 3, STEPS = 40, GUARD = 32 };

static double even(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-52 - 1;
}

struct exact {
    double p[N], m[N], v[N];
};

static void exact_step(struct exact *s, const struct nn_adam *adam, const double *g, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) {
        const double scaled = g[i] * adam->scale;
        s->m[i] = adam->beta1 * s->m[i] + (1 - adam->beta1) * scaled;
        s->v[i] = adam->beta2 * s->v[i] + (1 - adam->beta2) * scaled * scaled;
        const double m = s->m[i] / adam->correction1, v = s->v[i] / adam->correction2;
        s->p[i] -= adam->lr * m / (sqrt(v) + adam->epsilon);
    }
}

static void check_set(const struct nn_kernels_f32 *kernels, int n_grads, size_t first, size_t n,
                      uint64_t seed)
{
    static float p[N + GUARD], m[N + GUARD], v[N + GUARD], grads[GRADS][N];
    static struct exact exact;
    struct random random = {seed};
    const float *list[GRADS] = {grads[0], grads[1], grads[2]};
    for (size_t i = 0; i < N; i++) {
        p[i] = (float)even(&random);
        exact.p[i] = (double)p[i];
        exact.m[i] = exact.v[i] = m[i] = v[i] = 0;
    }
    struct nn_adam adam = {.lr = 3e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-5, .scale = 0.7};
    double power1 = 1, power2 = 1, worst = 0;
    for (int step = 0; step < STEPS; step++) {
        static double sum[N];
        double squares = 0, parts = 0; /* parts: of the arrays', which may cancel */
        for (size_t i = 0; i < N; i++) {
            sum[i] = 0;
            for (int k = 0; k < n_grads; k++) {
                grads[k][i] = i % 7 == 0 ? 0.0f : (float)(even(&random) * pow(10, (double)(i % 5) - 3));
                sum[i] += (double)grads[k][i];
                parts += (double)grads[k][i] * (double)grads[k][i];
            }
            squares += i >= first && i < first + n ? sum[i] * sum[i] : 0;
        }
        CHECK_NEAR(kernels->squares(list, n_grads, first, n), squares, 1e-6 * parts);
        adam.correction1 = 1 - (power1 *= adam.beta1);
        adam.correction2 = 1 - (power2 *= adam.beta2);
        kernels->adam(&adam, p, m, v, list, n_grads, first, n);
        exact_step(&exact, &adam, sum, first, n);
    }
    for (size_t i = 0; i < N; i++) {
        worst = fmax(worst, fabs((double)p[i] - exact.p[i]));
        CHECK_NEAR((double)p[i], exact.p[i], 3e-6);
        CHECK_NEAR((double)m[i], exact.m[i], 3e-6); /* gradients are up to 30 */
        CHECK_NEAR((double)v[i], exact.v[i], 2e-6 * exact.v[i] + 1e-12);
    }
    for (size_t i = N; i < N + GUARD; i++)
        CHECK(p[i] == 0 && m[i] == 0 && v[i] == 0);
    if (n == N)
        printf("%-8s of %d gradients: %d steps differ by at most %.2e\n", kernels->name, n_grads, STEPS,
               worst);
}

int main(void)
{
    struct random random = random_seeded("adam", 15);
    static const char *const sets[] = {"plain", "baseline", "avx2", "avx512"};
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        const struct nn_kernels_f32 *kernels = nn_kernels_find_f32(sets[k]);
        for (int n_grads = 1; kernels && n_grads <= GRADS; n_grads++) {
            check_set(kernels, n_grads, 0, N, random_next(&random));
            check_set(kernels, n_grads, 16, 1, random_next(&random));
            check_set(kernels, n_grads, 1008, 1041, random_next(&random));
            check_set(kernels, n_grads, 32, 0, random_next(&random));
        }
    }
    CHECK(nn_kernels_find_f32("altivec") == NULL);
    return check_done("trainer/nn/adam");
}
