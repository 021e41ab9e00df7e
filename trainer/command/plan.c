/* `papertape-trainer plan`: predicts a training's, or a study's, time and memory before it starts. */
#include "trainer/command/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/args.h"
#include "trainer/command/plan_study.h"
#include "trainer/command/train.h"
#include "trainer/command/train_args.h"
#include "trainer/config_table.h"
#include "trainer/training/plan.h"

static void print_times(const struct plan *plan)
{
    double whole = plan->rollout_s + plan->advantages_s + plan->update_s;
    if (isnan(plan->seconds))
        return;
    printf("  %s%.0f steps/s: ", plan->device_memory > 0 ? "on this CPU " : "", plan->steps_s);
    trainer_plan_print_time(plan->seconds);
    printf(" in all, ");
    trainer_plan_print_time(plan->cpu_s);
    printf(
        " of processor time\n  of an iteration, %.3g s: rollout %.0f %% (environment %.0f %%), advantages %.0f %%, "
        "update %.0f %%\n",
        whole, 100 * plan->rollout_s / whole, 100 * plan->environment_s / whole,
        100 * plan->advantages_s / whole, 100 * plan->update_s / whole);
    printf("  update: %.3g GFLOP at %.3g GFLOP/s\n", plan->flops_update * 1e-9, plan->flops_rate * 1e-9);
}

static void print_device(const struct plan *plan, const struct train_config *config)
{
    if (plan->device_memory == 0)
        return;
    printf("  of a device of ");
    trainer_plan_print_size(plan->device_memory);
    if (plan->fit == PLAN_NO_DEVICE) {
        printf(" nothing is used\n");
        return;
    }
    printf(" it may hold ");
    trainer_plan_print_size((size_t)((double)plan->device_memory * ppo_learner_share(&config->ppo)));
    printf(" (memory_cap %g): ", config->ppo.memory_cap);
    trainer_plan_print_fit(plan, config->ppo.copies);
    putchar('\n');
    trainer_plan_print_device_time(&plan->device_time);
}

static void print(const struct plan *plan, const struct train_config *config)
{
    char asked[32] = "", words[CONFIG_ERROR_MAX];
    printf("%s on %s%s%s\n", config->name, config->world, plan->backend[0] ? ", " : "", plan->backend);
    if (plan->note[0])
        printf("  %s\n", plan->note);
    if (ppo_params_get(&config->ppo, "precision", asked, sizeof asked) && strcmp(asked, plan->precision) != 0)
        printf("  products in %s: precision = %s is a device's\n", plan->precision, asked);
    if (train_config_warns(config, words))
        printf("  %s\n", words);
    if (train_config_untradable(config, words))
        printf("  %s\n", words);
    printf("  %lld steps in %lld iteration%s of %lld\n", (long long)config->ppo.total_steps,
           (long long)plan->iterations, plan->iterations == 1 ? "" : "s", (long long)plan->rows);
    print_device(plan, config);
    print_times(plan);
    printf("  memory: ");
    trainer_plan_print_size(plan->host_bytes);
    if (plan->device_bytes > 0) {
        printf(", on the device ");
        trainer_plan_print_size(plan->device_bytes);
    }
    putchar('\n');
    if (plan->host_note[0])
        printf("  on this CPU: %s\n", plan->host_note);
}

static int print_json(const struct plan *plan, const struct train_config *config)
{
    char words[CONFIG_ERROR_MAX];
    const bool warned = train_config_warns(config, words) || train_config_untradable(config, words);
    json_t *json = json_pack("{s:s, s:o}", "schema", "papertape.plan/1", "warning",
                             warned ? json_string(words) : json_null()),
           *fields = trainer_plan_json(plan, config);
    int r = json && fields && json_object_update(json, fields) == 0 &&
                    json_dumpf(json, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0 &&
                    putchar('\n') == '\n'
                ? EXIT_SUCCESS
                : trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader");
    json_decref(json);
    json_decref(fields);
    return r;
}

/* GO_ON: it is no study, or its file is wrong, which is reported as a training's. */
static int plan_study(const struct option_call *call, const struct train_args *args)
{
    const char *path = args->config;
    struct train_config *config = malloc(sizeof *config);
    struct study_settings settings = {0};
    char err[CONFIG_ERROR_MAX];
    bool is_study = false;
    int status = config ? GO_ON : trainer_args_say(EXIT_FAILURE, "out of memory: plan");
    if (config && train_config_read_text(path, NULL, 0, config, &settings, &is_study, err) == 0) {
        if (is_study)
            status = trainer_plan_study(call, args, config, &settings);
        study_settings_finish(&settings);
    }
    free(config);
    return status;
}

int trainer_plan(struct option_call *call)
{
    const struct train_args *args = call->into;
    char err[PLAN_ERROR_MAX];
    int status = train_args_check(call);
    if (status != EXIT_OK)
        return status;
    status = plan_study(call, args);
    if (status != GO_ON)
        return status;
    struct train_config *config = malloc(sizeof *config);
    struct training_source source = {0};
    const struct learner_memory memory = ppo_learner_memory(args->device_memory);
    const struct plan_options options = {.sizes_only = args->rows,
                                         .memory = args->device_memory > 0 ? &memory : NULL};
    struct plan plan;
    if (!config)
        return trainer_args_say(EXIT_FAILURE, "out of memory: plan");
    char why[CONFIG_ERROR_MAX];
    status = train_args_config(args, config, why);
    if (status != GO_ON) {
        trainer_args_say(status, "%s", why);
        train_print_other_errors(args->config);
    }
    if (status == GO_ON && (training_source_load(config, false, &source, err) < 0 ||
                            training_source_features(&source, err) < 0 ||
                            training_plan_make(&source, &config->ppo, &options, &plan, err) < 0))
        status = trainer_args_say(EXIT_FAILURE, "%s", err);
    if (status == GO_ON && call->json)
        status = print_json(&plan, config);
    else if (status == GO_ON)
        print(&plan, config);
    training_source_close(&source);
    free(config);
    return status == GO_ON ? EXIT_SUCCESS : status;
}
