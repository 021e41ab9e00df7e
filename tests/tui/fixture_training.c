/* Trainings and policies of the fixture's moment: as the status tells of them, and in the database. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/tui/fixture.h"

const char fixture_trainings[] =
    "{\"trainer\":{\"state\":\"ok\",\"detail\":\"\",\"version\":\"0.1.0\",\"pid\":4243,\"age_ms\":210},"
    "\"trainings\":["
    "{\"training\":\"ppo-world-wide-5m_1\",\"state\":\"failed\",\"reason\":\"resident 4.1 GiB of 4.0: over "
    "its "
    "memory; give it more by [serve] memory_mib\",\"cause\":\"memory_budget\",\"priority\":0,\"device\":\"\","
    "\"backend\":\"cpu-avx512\",\"steps\":400000,\"total_steps\":5000000,\"iteration\":390,"
    "\"steps_per_second\":null,\"return\":-0.25,\"attempts\":1,\"restarts\":0,\"retry_in_ms\":null,"
    "\"started_ns\":1723150000000000000,\"ended_ns\":1723157655342000000,\"age_ms\":3600000,\"expected_ms\":"
    "1000,\"stale\":false,\"stopping\":false,\"memory_mib\":null,\"memory_limit_mib\":4096,\"device_mib\":"
    "null,"
    "\"cpu_s\":7100.5,\"utilisation\":null,\"cpu_utilisation\":null,\"checkpoint_steps\":393216,\"policy\":"
    "\"\"},"
    "{\"training\":\"ppo-world-wide-5m_2\",\"state\":\"update\",\"reason\":\"\",\"cause\":null,\"priority\":"
    "5,"
    "\"device\":\"cpu\",\"backend\":\"cpu-avx512\",\"steps\":3064000,\"total_steps\":5000000,\"iteration\":"
    "2992,"
    "\"steps_per_second\":845000.0,\"return\":1.31,\"attempts\":2,\"restarts\":1,\"retry_in_ms\":null,"
    "\"started_ns\":1723157655342000000,\"ended_ns\":null,\"age_ms\":120,\"expected_ms\":1000,\"stale\":"
    "false,"
    "\"stopping\":false,\"memory_mib\":312.5,\"memory_limit_mib\":4096,\"device_mib\":null,\"cpu_s\":812.5,"
    "\"utilisation\":null,\"cpu_utilisation\":1.97,\"checkpoint_steps\":3000000,\"policy\":"
    "\"/var/lib/papertape/policies/ppo.safetensors\"},"
    "{\"training\":\"ppo-world-wide-5m_3\",\"state\":\"rollout\",\"reason\":\"\",\"cause\":null,\"priority\":"
    "0,"
    "\"device\":\"0\",\"backend\":\"cuda\",\"steps\":1100000,\"total_steps\":5000000,\"iteration\":1074,"
    "\"steps_per_second\":1900000.0,\"return\":0.4,\"attempts\":1,\"restarts\":0,\"retry_in_ms\":null,"
    "\"started_ns\":1723160655342000000,\"ended_ns\":null,\"age_ms\":8000,\"expected_ms\":1000,\"stale\":"
    "true,"
    "\"stopping\":false,\"memory_mib\":900,\"memory_limit_mib\":4096,\"device_mib\":62700,\"cpu_s\":12.5,"
    "\"utilisation\":0.97,\"cpu_utilisation\":1.1,\"checkpoint_steps\":1048576,\"policy\":\"\"},"
    "{\"training\":\"lost\",\"state\":\"update\",\"reason\":\"\",\"cause\":null,\"priority\":0,\"device\":"
    "\"1\","
    "\"backend\":\"cuda\",\"steps\":900000,\"total_steps\":5000000,\"iteration\":900,\"steps_per_second\":"
    "1800000.0,\"return\":0.9,\"attempts\":1,\"restarts\":0,\"retry_in_ms\":null,\"started_ns\":"
    "1723160655342000000,\"ended_ns\":null,\"age_ms\":94000,\"expected_ms\":1000,\"stale\":true,\"stopping\":"
    "false,\"memory_mib\":900,\"memory_limit_mib\":4096,\"device_mib\":800,\"cpu_s\":9.5,\"utilisation\":0.9,"
    "\"cpu_utilisation\":1.0,\"checkpoint_steps\":null,\"policy\":\"\"},"
    "{\"training\":\"again\",\"state\":\"queued\",\"reason\":\"killed by signal 9\",\"cause\":\"killed\","
    "\"priority\":0,\"device\":\"\",\"backend\":\"\",\"steps\":65536,\"total_steps\":5000000,\"iteration\":"
    "64,"
    "\"steps_per_second\":null,\"return\":null,\"attempts\":3,\"restarts\":2,\"retry_in_ms\":3400,"
    "\"started_ns\":1723160655342000000,\"ended_ns\":null,\"age_ms\":900,\"expected_ms\":1000,\"stale\":"
    "false,"
    "\"stopping\":false,\"checkpoint_steps\":65536},"
    "{\"training\":\"bad "
    "\\u001b[31m\\u202ename\",\"state\":\"done\",\"reason\":\"\",\"cause\":null,\"steps\":"
    "2000000,\"total_steps\":2000000,\"iteration\":1953,\"steps_per_second\":5000,\"return\":12.5,"
    "\"attempts\":1,"
    "\"restarts\":0,\"started_ns\":1723000000000000000,\"ended_ns\":1723074855342000000,\"age_ms\":86400000,"
    "\"expected_ms\":1000},"
    "{\"training\":\"default\",\"state\":\"evaluating\",\"reason\":\"\",\"cause\":null,\"device\":\"cpu\","
    "\"backend\":\"cpu-avx512\",\"steps\":123456789,\"total_steps\":1000000000000000,\"iteration\":60281,"
    "\"steps_per_second\":51200.5,\"return\":-0.0042,\"attempts\":1,\"restarts\":0,\"started_ns\":"
    "1723157655342000000,\"ended_ns\":null,\"age_ms\":500,\"expected_ms\":1000,\"stale\":false,\"stopping\":"
    "true,"
    "\"memory_mib\":96,\"memory_limit_mib\":4096,\"cpu_s\":7000,\"utilisation\":null,\"cpu_utilisation\":0."
    "99,"
    "\"checkpoint_steps\":123000000}],"
    "\"champion\":{\"account\":\"champion\",\"policy\":\"ppo-world-wide-5m_2\",\"since_ns\":"
    "1723150000000000000},"
    "\"policies\":["
    "{\"policy\":\"ppo-world-wide-5m_2\",\"role\":\"champion\",\"account\":\"ppo-world-wide-5m_2\",\"id\":"
    "\"9f3c0a1b2c3d4e5f\",\"training\":\"ppo-world-wide-5m_2\",\"path\":\"/"
    "p\",\"since_ns\":1723150000000000000,"
    "\"reason\":\"\",\"state\":\"trading\",\"detail\":\"\",\"backend\":\"cpu-avx512\",\"interval\":\"5m\","
    "\"equity\":10010.2,\"return_pct\":0.102,\"trades\":12,\"sharpe\":1.1,\"decided_ns\":1723161000000000000,"
    "\"actions\":{\"BTCUSDT\":0.12,\"ETHUSDT\":-0.3}},"
    "{\"policy\":\"slow\",\"role\":\"challenger\",\"account\":\"main\",\"id\":\"11\",\"training\":\"\","
    "\"path\":"
    "\"/"
    "p\",\"since_ns\":1723160000000000000,\"reason\":\"\",\"state\":\"trading\",\"detail\":\"\",\"backend\":"
    "\"gpu: NVIDIA "
    "H200\",\"interval\":\"5m\",\"equity\":9990.5,\"return_pct\":-0.095,\"trades\":1234,\"sharpe\":"
    "-0.4,\"decided_ns\":1723160000000000000,\"actions\":{\"BTCUSDT\":0.5}},"
    "{\"policy\":\"young\",\"role\":\"challenger\",\"account\":\"young\",\"id\":\"12\",\"training\":"
    "\"young\","
    "\"path\":\"/p\",\"since_ns\":1723161200000000000,\"reason\":\"\",\"expires_ns\":1723334055342000000,"
    "\"evidence\":{\"against\":\"cash\",\"days\":12,\"days_needed\":20,\"value\":3.14159,\"value_needed\":20}"
    ","
    "\"state\":\"warming\",\"detail\":\"31 "
    "of "
    "64 bars\",\"backend\":\"cpu-avx512\",\"interval\":\"5m\",\"equity\":10000,\"return_pct\":0,\"trades\":0,"
    "\"sharpe\":null,\"decided_ns\":0,\"actions\":{}},"
    "{\"policy\":\"other\",\"role\":\"challenger\",\"account\":\"other\",\"id\":\"13\",\"training\":\"\","
    "\"path\":\"/p\",\"since_ns\":1723161200000000000,\"reason\":\"\",\"state\":\"refused\",\"detail\":"
    "\"interval: trained on 1h, the daemon streams 5m\",\"backend\":\"\",\"interval\":\"1h\",\"equity\":null,"
    "\"return_pct\":null,\"trades\":0,\"sharpe\":null,\"decided_ns\":null,\"actions\":{}},"
    "{\"policy\":\"old\",\"role\":\"retired\",\"account\":\"old\",\"id\":\"14\",\"training\":\"\",\"path\":"
    "\"/p\",\"since_ns\":1723000000000000000,\"reason\":\"by the "
    "user\",\"state\":\"retired\",\"detail\":\"\","
    "\"backend\":\"\",\"interval\":\"5m\",\"equity\":9800,\"return_pct\":-2,\"trades\":40,\"sharpe\":-1.5,"
    "\"decided_ns\":1723000000000000000,\"actions\":{\"BTCUSDT\":0}}]}";

static const int64_t second_ns = 1000000000;

static const char config[] = "# the wide one\n[ppo]\nn_envs = 64\nn_steps = 128\nlearning_rate = 0.0003\n"
                             "gamma = 0.99\nclip_range = 0.2\nent_coef = 0.001\n\n[net]\nwidths = 64,64\n"
                             "activation = tanh\n[data]\nsymbols = BTCUSDT,ETHUSDT\ninterval = 5m\n";

void fixture_put_point(struct db_writer *writer, const char *training, int64_t iteration, int64_t later_ns)
{
    double at = (double)iteration;
    struct db_training_point point = {
        .training = training,
        .steps = (iteration + 1) * 1024,
        .iteration = iteration,
        .ts_ns = fixture_now_ns - 3600 * second_ns + iteration * second_ns + later_ns,
        .steps_s = 845000 + 1000 * sin(at / 7),
        .episode_return = iteration < 5 ? NAN : 1.4 - 2 * exp(-at / 800) + 0.05 * sin(at / 11),
        .reward = 0.001,
        .policy_loss = -0.02 + 0.01 * cos(at / 40),
        .value_loss = 0.5 * exp(-at / 500) + 0.02,
        .entropy_loss = -1.4 - at / 10000,
        .loss = 0.1,
        .kl = 0.008 + 0.002 * sin(at / 5),
        .clip_fraction = 0.1,
        .explained_variance = 1 - exp(-at / 300),
        .grad_norm = 0.5,
        .learning_rate = 0.0003,
        .std = 0.6,
        .rollout_s = 0.6,
        .advantages_s = 0.01,
        .update_s = 0.3,
        .device_utilisation = NAN,
        .cpu_utilisation = 1.9,
        .memory_bytes = 3e8,
        .learner_bytes = NAN,
    };

    db_writer_put_training_point(writer, &point);
}

struct db_training fixture_training_row(const char *name, const char *state, int64_t steps)
{
    return (struct db_training){
        .name = name,
        .state = state,
        .reason = "",
        .cause = "",
        .device = "cpu",
        .backend = "cpu-avx512",
        .config = config,
        .checkpoint = "",
        .policy = "",
        .steps = steps,
        .total_steps = 5000000,
        .iteration = steps / 1024,
        .attempts = 1,
        .steps_s = 845000,
        .episode_return = 1.31,
        .cpu_s = 812.5,
        .memory_bytes = 312 << 20,
        .created_ns = fixture_now_ns - 4000 * second_ns,
        .started_ns = fixture_now_ns - 3600 * second_ns,
        .heard_ns = fixture_now_ns - second_ns / 10,
        .seq = steps / 1024,
    };
}

void fixture_put_trainings(struct db_writer *writer)
{
    static const char name[] = "ppo-world-wide-5m_2";
    struct db_training failed = fixture_training_row("ppo-world-wide-5m_1", "failed", 400000);
    struct db_training running = fixture_training_row(name, "update", 3064000);

    failed.reason = "resident 4.1 GiB of 4.0: over its memory";
    failed.cause = "memory_budget";
    failed.created_ns -= 9000 * second_ns;
    failed.ended_ns = fixture_now_ns - 3600 * second_ns;
    db_writer_put_training(writer, &failed);
    db_writer_put_training(writer, &running);
    for (int i = 0; i < 2992; i++)
        fixture_put_point(writer, name, i, 0);
    for (int i = 0; i < 3; i++) {
        struct db_training_evaluation evaluation = {.training = name,
                                                    .steps = 1000000 * (i + 1),
                                                    .ts_ns = fixture_now_ns - (3 - i) * 900 * second_ns,
                                                    .reward = 0.01,
                                                    .total_return = 0.01 * i - 0.005,
                                                    .benchmark_return = 0.004,
                                                    .drawdown = 0.021};
        db_writer_put_training_evaluation(writer, &evaluation);
    }
    static const struct {
        const char *state;
        int seconds;
        double busy;
    } cycle[] = {
        {"rollout", 40, 1.98}, {"update", 24, 1.8}, {"evaluating", 6, 0.95}, {"checkpointing", 2, 0.1}};
    int64_t ts_ns = fixture_now_ns - 3600 * second_ns;
    struct db_training_state state = {name, "loading", ts_ns, 0.5};
    db_writer_put_training_state(writer, &state);
    ts_ns += 60 * second_ns;
    for (int i = 0; ts_ns < fixture_now_ns - second_ns; i++) {
        state = (struct db_training_state){name, cycle[i % 4].state, ts_ns, cycle[i % 4].busy};
        db_writer_put_training_state(writer, &state);
        ts_ns += cycle[i % 4].seconds * second_ns;
    }
    struct db_policy policy = {.name = name,
                               .account = "main",
                               .training = name,
                               .path = "/p",
                               .reason = "",
                               .role = DB_POLICY_CHAMPION,
                               .id = {0x9f, 0x3c},
                               .since_ns = fixture_now_ns - 11000 * second_ns};
    db_writer_put_policy(writer, &policy);
}
