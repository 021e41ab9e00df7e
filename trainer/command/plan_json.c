#include "record/json.h"
#include "trainer/command/plan.h"

json_t *trainer_plan_size_json(size_t bytes)
{
    return bytes > 0 ? json_integer((json_int_t)bytes) : json_null();
}

json_t *trainer_plan_bytes_json(const struct learner_bytes *of)
{
    return of->learner > 0 ? json_pack("{s:I, s:I, s:I, s:I}", "learner_bytes", (json_int_t)of->learner,
                                       "environment_bytes", (json_int_t)of->environment, "market_bytes",
                                       (json_int_t)of->market, "driver_bytes", (json_int_t)of->driver)
                           : json_null();
}

json_t *trainer_plan_fits_json(enum plan_fit fit)
{
    return fit == PLAN_NO_DEVICE ? json_null() : json_boolean(fit == PLAN_FITS);
}

json_t *trainer_plan_device_time_json(const struct device_time *time)
{
    return time->most_s > 0 ? json_pack("{s:f, s:f, s:s}", "least_seconds", time->least_s, "most_seconds",
                                        time->most_s, "assumes", DEVICE_TIME_WORDS)
                            : json_null();
}

/* Environment steps a second on that device. */
static json_t *device_rate_json(const struct plan *plan)
{
    const double steps = (double)plan->iterations * (double)plan->rows;
    const struct device_time *time = &plan->device_time;
    return time->most_s > 0
               ? json_pack("{s:f, s:f}", "least", steps / time->most_s, "most", steps / time->least_s)
               : json_null();
}

json_t *trainer_plan_text_json(const char *text)
{
    return text[0] ? json_string(text) : json_null();
}

json_t *trainer_plan_json(const struct plan *plan, const struct train_config *config)
{
    json_t *json = json_pack(
        "{s:o, s:s, s:o, s:o, s:i, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "backend",
        trainer_plan_text_json(plan->backend), "precision", plan->precision, "note",
        trainer_plan_text_json(plan->note), "host_note", trainer_plan_text_json(plan->host_note), "copies",
        plan->copies, "total_steps", (json_int_t)config->ppo.total_steps, "iterations",
        (json_int_t)plan->iterations, "rollout_rows", (json_int_t)plan->rows, "fits",
        trainer_plan_fits_json(plan->fit), "device_bytes", trainer_plan_size_json(plan->device_bytes),
        "device_parts", trainer_plan_bytes_json(&plan->of), "device_memory_bytes",
        trainer_plan_size_json(plan->device_memory), "host_bytes", trainer_plan_size_json(plan->host_bytes));
    const struct {
        const char *key;
        double value;
    } reals[] = {
        {"steps_per_second", plan->steps_s},
        {"seconds", plan->seconds},
        {"cpu_seconds", plan->cpu_s},
        {"rollout_seconds", plan->rollout_s},
        {"environment_seconds", plan->environment_s},
        {"advantages_seconds", plan->advantages_s},
        {"update_seconds", plan->update_s},
        {"rollout_flop", plan->flops_rollout},
        {"update_flop", plan->flops_update},
        {"update_flop_per_second", plan->flops_rate},
        {"measuring_seconds", plan->measured_s},
    };
    int r = json ? json_object_set_new(json, "device_time", trainer_plan_device_time_json(&plan->device_time))
                 : -1;
    if (r == 0)
        r = json_object_set_new(json, "device_steps_per_second", device_rate_json(plan));
    for (size_t i = 0; i < sizeof reals / sizeof *reals && r == 0; i++)
        r = json_object_set_new(json, reals[i].key, record_json_real(reals[i].value));
    if (r == 0)
        return json;
    json_decref(json);
    return NULL;
}
