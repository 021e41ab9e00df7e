/* What a runtime remembers, taken down by its visit() and given to another of the same policy. */
#ifndef TESTS_STRATEGY_RUNTIME_TAPE_H
#define TESTS_STRATEGY_RUNTIME_TAPE_H

#include <string.h>

#include "indicators_gpu/indicators.h"
#include "strategy/policy/policy.h"
#include "tests/check.h"

struct runtime_tape {
    double numbers[400000];
    size_t n, at;
    bool reading;
};

static inline void runtime_tape_number(void *ctx, double *value)
{
    struct runtime_tape *tape = ctx;
    if (tape->reading)
        *value = tape->numbers[tape->at++];
    else
        tape->numbers[tape->n++] = *value;
}

static inline void runtime_tape_count(void *ctx, uint64_t *value, uint64_t most)
{
    double number;
    memcpy(&number, value, sizeof number);
    runtime_tape_number(ctx, &number);
    memcpy(value, &number, sizeof number);
    CHECK(*value <= most);
}

/* Records the fields, or reads what was recorded. */
static inline struct indicator_stream_fields runtime_tape_fields(struct runtime_tape *tape, bool reading)
{
    tape->reading = reading;
    if (!reading)
        tape->n = 0;
    tape->at = 0;
    return (struct indicator_stream_fields){tape, runtime_tape_number, runtime_tape_count};
}

/* Into another runtime that was just made; the first is gone. */
static inline struct policy_runtime *runtime_moved(const struct policy *policy,
                                                   struct policy_runtime *runtime)
{
    static struct runtime_tape tape;
    struct indicator_stream_fields fields = runtime_tape_fields(&tape, false);
    struct policy_runtime *other;
    policy->runtime->visit(runtime, &fields);
    policy->runtime->destroy(runtime);
    CHECK_INT(policy->runtime->create(policy, &other), 0);
    fields = runtime_tape_fields(&tape, true);
    policy->runtime->visit(other, &fields);
    CHECK_INT(tape.at, tape.n);
    return other;
}

#endif
