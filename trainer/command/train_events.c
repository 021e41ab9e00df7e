#include "trainer/command/train_events.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "record/json.h"
#include "strategy/metrics/verdict_json.h"
#include "trainer/telemetry/report.h"

enum { KEYS_MAX = 256 };

const char *trainer_phase_name(enum phase phase)
{
    static const char *const names[PHASES] = {"loading",    "features", "rollout",
                                              "advantages", "update",   "evaluation"};
    return names[phase];
}

static json_t *bytes_json(size_t bytes)
{
    return bytes > 0 ? json_integer((json_int_t)bytes) : json_null();
}

json_t *trainer_phase_json(enum phase phase, const struct phase_use *use, size_t held_bytes)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "phase", trainer_phase_name(phase), "seconds",
                     record_json_real(use->seconds), "peak_rss_bytes", bytes_json(telemetry_usage_peak_rss()),
                     "learner_bytes", bytes_json(held_bytes), "cpu_utilisation",
                     record_json_real(use->seconds > 0 ? use->cpu_s / use->seconds : NAN),
                     "device_utilisation", record_json_real(use->device));
}

json_t *train_config_json(const struct train_config *config)
{
    size_t n;
    const struct config_key *keys = train_config_keys(&n);
    json_t *json = json_object();
    char *value = malloc(CONFIG_LIST_MAX);
    bool whole = json && value, trades = train_config_trades(config);
    for (size_t i = 0; i < n && whole; i++) {
        const struct config_key *key = &keys[i];
        if (!trades && (strcmp(key->section, "environment") == 0 || strcmp(key->section, "data") == 0))
            continue;
        json_t *section = json_object_get(json, key->section);
        if (!section && json_object_set_new(json, key->section, section = json_object()) < 0)
            section = NULL;
        whole = section && train_config_get(config, key->section, key->name, value, CONFIG_LIST_MAX) == 0 &&
                json_object_set_new(section, key->name, json_string(value)) == 0;
    }
    free(value);
    if (whole)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *time_json(int64_t ns)
{
    char text[CLOCK_TEXT_MAX];
    return json_string(clock_utc_text(ns, text));
}

static json_t *world_json(const struct evaluation *e)
{
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "episodes", (json_int_t)e->episodes,
                     "evaluated_steps", (json_int_t)e->steps, "reward", record_json_real(e->reward),
                     "reward_std", record_json_real(e->reward_std), "reward_min",
                     record_json_real(e->reward_min), "reward_max", record_json_real(e->reward_max),
                     "episode_steps", record_json_real(e->length));
}

static json_t *market_json(const struct evaluation *e)
{
    return json_pack(
        "{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "episodes",
        (json_int_t)e->episodes, "evaluated_steps", (json_int_t)e->steps, "from", time_json(e->from_ns), "to",
        time_json(e->to_ns), "reward", record_json_real(e->reward), "initial_equity",
        record_json_real(e->initial), "equity", record_json_real(e->equity), "return",
        record_json_real(training_return(e)), "benchmark_equity", record_json_real(e->benchmark),
        "benchmark_return", record_json_real(training_benchmark_return(e)), "fees", record_json_real(e->fees),
        "drawdown", record_json_real(e->drawdown), "exposure", record_json_real(e->exposure), "invested",
        record_json_real(e->invested), "buys", (json_int_t)e->buys, "sells", (json_int_t)e->sells);
}

json_t *trainer_evaluation_json(const struct training_source *source, const struct evaluation *e)
{
    json_t *json = source->market ? market_json(e) : world_json(e);
    if (json && metrics_verdict_json(&e->verdict, json))
        return json;
    json_decref(json);
    return NULL;
}

/* ---- An update's figures. ---- */

#define OF(member) offsetof(struct update_figures, member)

/* By their key in an event and their tag in TensorBoard; NULL: there is none. */
static const struct {
    const char *key, *tag;
    size_t at;
} figures_of[] = {
    {"policy_loss", "loss/policy", OF(update.policy_loss)},
    {"value_loss", "loss/value", OF(update.value_loss)},
    {"entropy_loss", "loss/entropy", OF(update.entropy_loss)},
    {"loss", "loss/total", OF(update.loss)},
    {"old_kl", "update/old_kl", OF(update.old_kl)},
    {"kl", "update/kl", OF(update.kl)},
    {"clip_fraction", "update/clip_fraction", OF(update.clip_fraction)},
    {"explained_variance", "update/explained_variance", OF(update.explained_variance)},
    {"grad_norm", "update/grad_norm", OF(update.grad_norm)},
    {"learning_rate", "update/learning_rate", OF(update.learning_rate)},
    {"clip_range", "update/clip_range", OF(update.clip_range)},
    {"ent_coef", "update/ent_coef", OF(update.ent_coef)},
    {"std", "update/std", OF(update.std)},
    {"rollout_seconds", "time/rollout_seconds", OF(update.seconds_rollout)},
    {"advantages_seconds", NULL, OF(update.seconds_advantage)},
    {"update_seconds", "time/update_seconds", OF(update.seconds_update)},
    {"episode_return", "rollout/episode_return", OF(update.episode_return)},
    {"episode_return_std", NULL, OF(update.episode_return_std)},
    {"episode_steps", "rollout/episode_steps", OF(update.episode_length)},
    {"reward", "rollout/reward", OF(update.reward)},
    {"steps_per_second", "time/steps_per_second", OF(steps_s)},
    {"device_utilisation", NULL, OF(device)},
};
enum { FIGURES = sizeof figures_of / sizeof *figures_of };
_Static_assert(FIGURES + 1 <= UPDATE_SCALARS, "room");

static double figure(const struct update_figures *f, size_t i)
{
    double value;
    memcpy(&value, (const char *)f + figures_of[i].at, sizeof value);
    return value;
}

json_t *trainer_update_json(const struct update_figures *f)
{
    const struct ppo_update *u = &f->update;
    json_t *json = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:i, s:b, s:I, s:o, s:o, s:o}", "iteration", (json_int_t)u->iteration,
        "steps", (json_int_t)u->steps, "minibatches", (json_int_t)u->minibatches, "skipped",
        (json_int_t)u->skipped, "skipped_total", (json_int_t)u->skipped_total, "epochs", u->epochs, "kl_stop",
        u->kl_stop, "episodes", (json_int_t)u->episodes, "peak_rss_bytes",
        bytes_json(telemetry_usage_peak_rss()), "learner_bytes", bytes_json(f->held_bytes), "cpu_utilisation",
        record_json_real(f->usage.cpu_s / f->usage.wall_s));
    for (size_t i = 0; json && i < FIGURES; i++)
        if (json_object_set_new(json, figures_of[i].key, record_json_real(figure(f, i))) < 0) {
            json_decref(json);
            return NULL;
        }
    return json;
}

size_t trainer_update_scalars(const struct update_figures *f,
                              struct tensorboard_scalar ret[static UPDATE_SCALARS])
{
    size_t n = 0;
    for (size_t i = 0; i < FIGURES; i++)
        if (figures_of[i].tag)
            ret[n++] = (struct tensorboard_scalar){figures_of[i].tag, figure(f, i)};
    ret[n++] = (struct tensorboard_scalar){"update/skipped_total", (double)f->update.skipped_total};
    return n;
}

size_t trainer_evaluation_scalars(const struct training_source *source, const struct evaluation *e,
                                  struct tensorboard_scalar ret[static UPDATE_SCALARS])
{
    size_t n = 0;
    ret[n++] = (struct tensorboard_scalar){"evaluation/reward", e->reward};
    if (!source->market) {
        ret[n++] = (struct tensorboard_scalar){"evaluation/episode_steps", e->length};
        return n;
    }
    ret[n++] = (struct tensorboard_scalar){"evaluation/return", training_return(e)};
    ret[n++] = (struct tensorboard_scalar){"evaluation/benchmark_return", training_benchmark_return(e)};
    ret[n++] = (struct tensorboard_scalar){"evaluation/drawdown", e->drawdown};
    ret[n++] = (struct tensorboard_scalar){"evaluation/exposure", e->exposure};
    return n;
}
