#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trainer/command/plan.h"
#include "trainer/command/plan_study_show.h"

static void print_extent(const char *what, struct study_extent extent)
{
    printf("%s%zu", what, extent.least);
    if (extent.most != extent.least)
        printf(" to %zu", extent.most);
}

static void print_rows(const struct study_prediction *p)
{
    const struct study_demand *demand = &p->demand;
    const struct study_fit *fit = &p->fit;
    printf(
        "  %zu rows: %zu to search on, %zu held out, %zu between them; warm-up %zu, lookback %zu at each end\n",
        demand->rows, plan_study_length(fit->search), plan_study_length(fit->holdout), fit->gap,
        demand->first, demand->lookback);
    if (p->settings->rules.strategy) {
        print_extent("  nothing is trained; tested on blocks of ", fit->test);
        printf(" rows, each a backtest of %.60s\n", study_rules_title(&p->settings->rules));
        return;
    }
    print_extent("  trained on ", fit->train);
    print_extent(" rows a split, in blocks of ", fit->block);
    print_extent("; tested on blocks of ", fit->test);
    printf("\n  an episode needs %zu rows in a row: the split with the shortest has %zu\n", fit->needed,
           fit->longest);
}

static void print_times(const struct study_prediction *p)
{
    const struct study_cost_parts *parts = &p->parts;
    const struct plan *training = &p->cost.training;
    printf("  a training of the median of what is searched: %lld steps at %.0f steps/s, ",
           (long long)p->median->ppo.total_steps, training->steps_s);
    trainer_plan_print_time(training->seconds);
    printf(", %s\n  %s", training->backend, training->device_memory > 0 ? "on this CPU " : "");
    trainer_plan_print_time(p->seconds);
    printf(" in all, without pruning: %lld trainings, %d worker%s\n  ", (long long)p->trainings,
           plan_study_workers_here(p), plan_study_workers_here(p) == 1 ? "" : "s");
    trainer_plan_print_time(p->cpu_s);
    printf(
        " of processor time: training %.0f %%, tests %.0f %%, markets and features %.0f %%, the proposal %.0f %%\n",
        100 * parts->training_s / p->cpu_s, 100 * (parts->testing_s + parts->returns_s) / p->cpu_s,
        100 * (parts->opening_s + parts->fitting_s + parts->markets_s) / p->cpu_s,
        100 * (parts->judging_s + parts->proposal_s) / p->cpu_s);
}

static void print_note(const char *of, const char *note)
{
    if (note[0])
        printf("  %s%s\n", of, note);
}

static void print_share(const struct study_prediction *p)
{
    const int devices = plan_study_devices(p);
    printf("  %d worker%s on ", plan_study_workers_a_device(p),
           plan_study_workers_a_device(p) == 1 ? "" : "s");
    if (devices > 1)
        printf("each of %d devices", devices);
    else
        printf("a device");
    if (plan_study_share_bytes(p) > 0) {
        printf(" of ");
        trainer_plan_print_size(p->cost.training.device_total);
        printf(", each with ");
        trainer_plan_print_size(plan_study_share_bytes(p));
    }
    printf(" (%g of it)\n  of the median trial ", ppo_learner_share(&p->median->ppo));
    trainer_plan_print_fit(&p->cost.training, p->median->ppo.copies);
    printf("\n  of the largest ");
    trainer_plan_print_fit(&p->cost.largest, p->largest->ppo.copies);
    putchar('\n');
    if (strcmp(p->cost.training.note, p->cost.largest.note) != 0)
        print_note("the largest trial: ", p->cost.largest.note);
    trainer_plan_print_device_time(&p->device_time);
}

static void print_memory(const struct study_prediction *p)
{
    printf("  memory: ");
    trainer_plan_print_size(p->host_bytes);
    if (p->most_host_bytes > p->host_bytes) {
        printf(" with median trials, at most ");
        trainer_plan_print_size(p->most_host_bytes);
        printf(" with the largest");
    }
    if (p->device_bytes > 0) {
        printf("; on the device%s of all workers together at most ", plan_study_devices(p) > 1 ? "s" : "");
        trainer_plan_print_size(p->device_bytes);
        printf(", %d times %s", p->workers,
               p->cost.largest.fit == PLAN_FITS ? "the largest trial's" : "a worker's share");
    }
    putchar('\n');
    print_note("the largest trial, on this CPU: ", p->cost.largest.host_note);
}

void trainer_plan_study_print(const struct study_prediction *p)
{
    const struct study_split *split = &p->settings->split;
    char text[STUDY_SPLIT_TEXT_MAX];
    printf("%s: a study of %d trials, %s: %d splits, %d path%s\n", p->config->name, p->settings->trials,
           study_split_text(split, text), split->combinations, split->paths, split->paths == 1 ? "" : "s");
    print_rows(p);
    if (p->settings->rules.strategy && !isnan(p->seconds)) {
        printf("  ");
        trainer_plan_print_time(p->seconds);
        printf(" in all, without pruning, the sampler and the storage: %d worker%s\n", p->workers,
               p->workers == 1 ? "" : "s");
    }
    if (!p->median)
        return;
    if (!isnan(p->seconds))
        print_times(p);
    if (p->args->device_memory > 0 || p->config->ppo.device != PPO_CPU)
        print_note("", p->cost.training.note);
    if (p->cost.training.fit != PLAN_NO_DEVICE)
        print_share(p);
    print_memory(p);
}
