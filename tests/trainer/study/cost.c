/* What a study costs, by arithmetic: the parts of a whole study from those of a trial, and the range of times
 * on a device that is only planned for. */
#include "trainer/study/cost.h"

#include <stdio.h>

#include "tests/check.h"

static void test_parts(void)
{
    const struct study_settings settings = {
        .trials = 20, .ensemble = 3, .split = {.combinations = 10, .paths = 4}};
    struct study_cost cost = {.fit_s = 0.5,
                              .market_s = 0.25,
                              .test_s = 0.125,
                              .returns_s = 2,
                              .judging_s = 1,
                              .holdout_s = 4,
                              .kept = 11,
                              .training = {.cpu_s = 8}};
    struct study_cost_parts parts = study_cost_parts(&cost, &settings, 1);
    CHECK(parts.opening_s == 1 + 11 * 0.5 && parts.fitting_s == 0);
    CHECK(parts.markets_s == 200 * 0.25 && parts.training_s == 200 * 8.0 && parts.testing_s == 200 * 0.125);
    CHECK(parts.returns_s == 20 * 2.0 && parts.judging_s == 20 && parts.proposal_s == 3 * (8 + 0.25 + 4));
    CHECK(study_cost_total(&parts) == 6.5 + 50 + 1600 + 25 + 40 + 20 + 36.75);
    /* Of seven splits no process keeps the features: each trial fits them again, and so does a proposal. */
    cost.kept = 3;
    cost.refitted = 7;
    parts = study_cost_parts(&cost, &settings, 1);
    CHECK(parts.opening_s == 1 + 3 * 0.5 && parts.fitting_s == 20 * 7 * 0.5);
    CHECK(parts.proposal_s == 3 * (8 + 0.25 + 4 + 0.5));
}

/* Launches bind small networks, whatever the products are; products bind large ones. */
static void test_device_time(void)
{
    const struct device_iteration small = {
        .launches = 40960, .minibatches = 512, .flops_rollout = 1e9, .flops_update = 4e9};
    const struct device_time of_small = training_device_time(&small, 10, PPO_FLOAT32);
    CHECK_NEAR(of_small.least_s, 10 * (40960 * 5.1e-6 + 512 * 0.13e-3 + 5e9 / 50e12), 1e-9);
    CHECK_NEAR(of_small.most_s, 10 * (40960 * 20e-6 + 512 * 0.5e-3 + 5e9 / 5e12), 1e-9);
    CHECK(training_device_time(&small, 10, PPO_BF16).least_s > 0.99 * of_small.least_s);
    const struct device_iteration large = {
        .launches = 320, .minibatches = 64, .flops_rollout = 1e13, .flops_update = 6e13};
    const struct device_time in_bf16 = training_device_time(&large, 1, PPO_BF16),
                             in_f32 = training_device_time(&large, 1, PPO_FLOAT32);
    CHECK(in_f32.least_s > 10 * in_bf16.least_s && in_bf16.most_s > 15 * in_bf16.least_s);
}

/* What is said of the rates is what the times are computed with. */
static void test_device_words(void)
{
    const struct device_iteration launch = {.launches = 1}, minibatch = {.minibatches = 1},
                                  product = {.flops_update = 1e12};
    const enum ppo_precision precisions[] = {PPO_BF16, PPO_TF32, PPO_FLOAT32};
    double us[2], ms[2], tflops[3][2];
    int end = 0;
    CHECK_INT(sscanf(DEVICE_TIME_WORDS,
                     "predicted, not measured: %lf to %lf us a launch of a step, %lf to %lf ms a minibatch, "
                     "products at %lf to %lf TFLOP/s in bf16, %lf to %lf in tf32, %lf to %lf in float32%n",
                     &us[0], &us[1], &ms[0], &ms[1], &tflops[0][0], &tflops[0][1], &tflops[1][0],
                     &tflops[1][1], &tflops[2][0], &tflops[2][1], &end),
              10);
    CHECK_INT(end, sizeof DEVICE_TIME_WORDS - 1);
    struct device_time time = training_device_time(&launch, 1, PPO_BF16);
    CHECK_NEAR(time.least_s * 1e6, us[0], 1e-9);
    CHECK_NEAR(time.most_s * 1e6, us[1], 1e-9);
    time = training_device_time(&minibatch, 1, PPO_BF16);
    CHECK_NEAR(time.least_s * 1e3, ms[0], 1e-9);
    CHECK_NEAR(time.most_s * 1e3, ms[1], 1e-9);
    for (int i = 0; i < 3; i++) {
        time = training_device_time(&product, 1, precisions[i]);
        CHECK_NEAR(1 / time.least_s, tflops[i][0], 1e-9);
        CHECK_NEAR(1 / time.most_s, tflops[i][1], 1e-9);
    }
}

int main(void)
{
    test_parts();
    test_device_words();
    test_device_time();
    return check_done("trainer/study/cost");
}
