#include "bench/gpu_train.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/cases.h"
#include "bench/line.h"
#include "bench/measure.h"
#include "trainer/ppo/cuda/queue.h"

static const char *const bench = "gpu_train";
static const double GOAL_OF_PLAN = 0.05;

/* FLOP/s in bf16 of the best plain product of 2048x1024x512's largest shape on an H100, by public figures
 * (docs/gpu-results.md, "Training"): what updates are compared with, whatever this device is. */
static const double PLAIN_RATE = 798e12;

double gpu_train_middle_of(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), bench_by_value);
    return values[n / 2];
}

void gpu_train_suffixed(const char *name, const char *suffix, char ret[static BENCH_CASE_MAX])
{
    snprintf(ret, BENCH_CASE_MAX, "%s-%s", name, suffix);
}

void gpu_train_print_figure(const char *name, const char *suffix, double value, const char *unit, double goal)
{
    char whole[BENCH_CASE_MAX];
    gpu_train_suffixed(name, suffix, whole);
    bench_line_value(bench, whole, value, unit);
    if (goal > 0)
        bench_line_number("goal", goal);
    bench_line_end();
}

void gpu_train_print_rate(const struct bench_case *c, const struct place *p, struct trained *t, double matrix)
{
    const struct ppo_work work = ppo_work_of(&p->learner->layout);
    const double flop = work.rollout + p->params.epochs * work.update;
    const double rate =
        (double)p->params.copies * p->params.steps / gpu_train_middle_of(t->seconds, c->iterations);
    bench_line_value(bench, c->name, rate, "steps/s");
    bench_line_number("limit", matrix / flop);
    bench_line_number("of_limit", rate * flop / matrix);
    bench_line_number("flop", flop);
    bench_line_number("rollout_s", t->rollout);
    bench_line_number("advantage_s", t->advantage);
    bench_line_number("update_s", t->update);
    bench_line_bytes("bytes", (double)p->learner->ops->bytes(p->learner));
    if (c->goal_steps > 0)
        bench_line_number("goal", c->goal_steps);
    if (c->goal_of_limit > 0)
        bench_line_number("goal_of_limit", c->goal_of_limit);
    bench_line_end();
}

/* Updates alone, by the device's clock. */
void gpu_train_print_update(const struct bench_case *c, const struct place *p, const struct trained *t,
                            double matrix)
{
    char name[BENCH_CASE_MAX];
    const double flop = p->params.epochs * ppo_work_of(&p->learner->layout).update,
                 rate = (double)p->params.copies * p->params.steps / t->update;
    gpu_train_suffixed(c->name, "update", name);
    bench_line_value(bench, name, rate, "steps/s");
    bench_line_number("tflop_s", 1e-12 * rate * flop);
    bench_line_number("limit", PLAIN_RATE / flop);
    bench_line_number("of_limit", rate * flop / PLAIN_RATE);
    bench_line_number("of_matrix", rate * flop / matrix);
    if (c->goal_of_plain > 0)
        bench_line_number("goal_of_limit", c->goal_of_plain);
    bench_line_end();
}

/* What the process holds by NVML over what `plan --device-memory` predicts, the driver's part included; and
 * that part: what was taken since the module was loaded, beside the learner's one allocation, the
 * environment's and the market's. */
void gpu_train_print_memory(const struct bench_case *c, const struct place *p)
{
    char name[BENCH_CASE_MAX];
    const struct use *use = &p->use;
    const double allocated = (double)ppo_learner_bytes_device(&p->params, &p->learner->layout, p->env),
                 planned = allocated + (double)ppo_learner_memory((size_t)use->total).driver;
    gpu_train_suffixed(c->name, "memory", name);
    bench_line_value(bench, name, use->held / planned, "of the plan"); /* null: no NVML here */
    bench_line_number("goal_least", 1 - GOAL_OF_PLAN);
    bench_line_number("goal_most", 1 + GOAL_OF_PLAN);
    bench_line_bytes("held", use->held);
    bench_line_bytes("planned", planned);
    bench_line_bytes("allocated", allocated);
    bench_line_bytes("driver", use->second - use->module - allocated);
    bench_line_bytes("before_module", use->before);
    bench_line_bytes("module", use->module);
    bench_line_bytes("environment", use->environment);
    bench_line_bytes("learner", use->learner);
    bench_line_bytes("first_iteration", use->first);
    bench_line_bytes("second_iteration", use->second);
    bench_line_bytes("device", use->total);
    bench_line_end();
}

void gpu_train_print_product(const char *name, const struct queue_record *r, double seconds)
{
    struct queue_record alone = *r;
    alone.seconds = seconds;
    static const char *const kinds[] = {
        [QUEUE_FORWARD] = "forward", [QUEUE_INPUT] = "input gradient", [QUEUE_WEIGHT] = "weight gradient"};
    const char *operands = r->operands == QUEUE_BF16 ? "bf16" : r->tf32 ? "tf32" : "f32";
    bench_line_value(bench, name, 1e-12 * queue_record_rate(&alone), "TFLOP/s");
    bench_line_text("kind", kinds[r->kind]);
    bench_line_text("operands", operands);
    bench_line_bytes("m", (double)r->m);
    bench_line_bytes("n", (double)r->n);
    bench_line_bytes("k", (double)r->k);
    bench_line_text("asked", queue_epilogue_name(r->asked));
    bench_line_text("got", queue_epilogue_name(r->got));
    bench_line_bytes("algorithm", r->algorithm);
    bench_line_bytes("split_k", r->split_k);
    bench_line_bytes("workspace", (double)r->workspace);
    bench_line_number("us", seconds * 1e6);
    bench_line_bytes("tried", r->tried);
    bench_line_number("planned_us", r->seconds * 1e6); /* with the kernels for what was not got */
    bench_line_end();
}
