#include <math.h>

#include "record/json.h"
#include "trainer/command/plan.h"
#include "trainer/command/plan_study_show.h"

static json_t *extent_json(struct study_extent extent)
{
    return json_pack("{s:I, s:I}", "least", (json_int_t)extent.least, "most", (json_int_t)extent.most);
}

static json_t *rows_json(const struct study_prediction *p)
{
    const struct study_demand *demand = &p->demand;
    const struct study_fit *fit = &p->fit;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "rows",
                     (json_int_t)demand->rows, "warm_up", (json_int_t)demand->first, "lookback",
                     (json_int_t)demand->lookback, "search", (json_int_t)plan_study_length(fit->search),
                     "holdout", (json_int_t)plan_study_length(fit->holdout), "between", (json_int_t)fit->gap,
                     "purge", (json_int_t)demand->purge, "embargo", (json_int_t)demand->embargo,
                     "episode_needs", (json_int_t)fit->needed, "episode_has", (json_int_t)fit->longest,
                     "train", extent_json(fit->train), "train_block", extent_json(fit->block), "test_block",
                     extent_json(fit->test));
}

/* null where no sizes were found. */
static json_t *bytes_json(const struct study_prediction *p, size_t bytes)
{
    return p->median ? json_integer((json_int_t)bytes) : json_null();
}

static json_t *parts_json(const struct study_prediction *p)
{
    const struct study_cost_parts *of = &p->parts;
    if (isnan(p->cpu_s) || !p->median)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "opening_seconds", of->opening_s,
                     "fitting_seconds", of->fitting_s, "markets_seconds", of->markets_s, "training_seconds",
                     of->training_s, "testing_seconds", of->testing_s, "returns_seconds", of->returns_s,
                     "judging_seconds", of->judging_s, "proposal_seconds", of->proposal_s);
}

/* The largest trial's sizes. */
static json_t *largest_json(const struct study_prediction *p)
{
    const struct plan *plan = &p->cost.largest;
    return json_pack("{s:i, s:i, s:o, s:o, s:I, s:o}", "wanted_copies", p->largest->ppo.copies, "copies",
                     plan->copies, "fits", trainer_plan_fits_json(plan->fit), "note",
                     trainer_plan_text_json(plan->note), "device_bytes", (json_int_t)plan->device_bytes,
                     "device_parts", trainer_plan_bytes_json(&plan->of));
}

/* null where no device is wanted, here or planned for. */
static json_t *devices_json(const struct study_prediction *p)
{
    const struct plan *plan = &p->cost.training;
    if (!p->median || plan->fit == PLAN_NO_DEVICE)
        return json_null();
    return json_pack(
        "{s:i, s:i, s:f, s:o, s:o, s:i, s:i, s:o, s:I, s:o, s:o}", "devices", plan_study_devices(p),
        "workers_per_device", plan_study_workers_a_device(p), "share", ppo_learner_share(&p->median->ppo),
        "share_bytes", trainer_plan_size_json(plan_study_share_bytes(p)), "fits",
        trainer_plan_fits_json(plan->fit), "wanted_copies", p->median->ppo.copies, "copies", plan->copies,
        "note", trainer_plan_text_json(plan->note), "worker_bytes", (json_int_t)plan->device_bytes, "largest",
        largest_json(p), "time", trainer_plan_device_time_json(&p->device_time));
}

json_t *trainer_plan_study_json(const struct study_prediction *p)
{
    const struct study_split *split = &p->settings->split;
    const struct plan *plan = &p->cost.training;
    char text[STUDY_SPLIT_TEXT_MAX];
    json_t *training = p->median ? trainer_plan_json(plan, p->median) : json_null();
    return json_pack(
        "{s:s, s:s, s:i, s:i, s:s, s:i, s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "schema", "papertape.study-plan/1", "name", p->config->name, "trials", p->settings->trials,
        "searched", p->settings->space.n, "validation", study_split_text(split, text), "splits",
        split->combinations, "paths", split->paths, "workers", p->workers, "trainings",
        (json_int_t)p->trainings, "seconds", record_json_real(p->seconds), "hours",
        record_json_real(p->seconds / 3600), "cpu_seconds", record_json_real(p->cpu_s), "cpu_parts",
        parts_json(p), "host_bytes", bytes_json(p, p->host_bytes), "most_host_bytes",
        bytes_json(p, p->most_host_bytes), "host_note", trainer_plan_text_json(p->cost.largest.host_note),
        "device_bytes", bytes_json(p, p->device_bytes), "device_memory_bytes",
        trainer_plan_size_json((size_t)p->args->device_memory), "device", devices_json(p), "rows",
        rows_json(p), "training", training);
}
