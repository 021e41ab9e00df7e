#include <stdio.h>

#include "trainer/command/plan.h"

#define MIB 1048576.0

void trainer_plan_print_time(double seconds)
{
    if (seconds < 120)
        printf("%.1f s", seconds);
    else if (seconds < 7200)
        printf("%.1f min", seconds / 60);
    else
        printf("%.1f h", seconds / 3600);
}

void trainer_plan_print_size(size_t bytes)
{
    if ((double)bytes < MIB)
        printf("%.1f KiB", (double)bytes / 1024);
    else
        printf((double)bytes < 1000 * MIB ? "%.1f MiB" : "%.0f MiB", (double)bytes / MIB);
}

void trainer_plan_print_fit(const struct plan *plan, int wanted)
{
    const struct {
        const char *name;
        size_t bytes;
    } parts[] = {{"learner", plan->of.learner},
                 {"environment", plan->of.environment},
                 {"market", plan->of.market},
                 {"driver", plan->of.driver}};
    if (plan->device_bytes == 0) {
        printf("%d copies do not fit, nor fewer: it would train on the CPU", wanted);
        return;
    }
    if (plan->copies < wanted)
        printf("%d copies do not fit, ", wanted);
    printf("%d cop%s in ", plan->copies, plan->copies == 1 ? "y fits" : "ies fit");
    trainer_plan_print_size(plan->device_bytes);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        printf("%s%s ", i == 0 ? ":\n    " : ", ", parts[i].name);
        trainer_plan_print_size(parts[i].bytes);
    }
}

void trainer_plan_print_device_time(const struct device_time *time)
{
    if (!(time->most_s > 0))
        return;
    printf("  on such a device ");
    trainer_plan_print_time(time->least_s);
    printf(" to ");
    trainer_plan_print_time(time->most_s);
    printf(", predicted, not measured:\n    " DEVICE_TIME_LAUNCHES ",\n    " DEVICE_TIME_PRODUCTS "\n");
}
