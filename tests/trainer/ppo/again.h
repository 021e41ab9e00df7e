/* PPO again, in float64 by plain loops and libm: what iterations of a small learner are compared with. Of the
 * learner's own code it shares the layout of parameters, Philox and the order of minibatches. Networks: tanh
 * layers, no layer normalisation, not shared, not recurrent. */
#ifndef TESTS_TRAINER_PPO_AGAIN_H
#define TESTS_TRAINER_PPO_AGAIN_H

#include "tests/trainer/ppo/script.h"
#include "trainer/ppo/learner.h"

enum { AGAIN_ROWS = 64, AGAIN_ROLLOUTS = 8, AGAIN_PARAMS = 1024, AGAIN_WIDTH = 16, AGAIN_OUT = 16 };

struct again {
    const struct ppo_params *params;
    const struct net_layout *layout;
    const struct script *script;
    double theta[AGAIN_PARAMS], m[AGAIN_PARAMS], v[AGAIN_PARAMS];
    int64_t adam_steps, epochs, steps;
    size_t rows, read; /* of a rollout; log entries that were used */
    /* All observations and running returns so far. */
    double seen[AGAIN_ROLLOUTS * AGAIN_ROWS][SCRIPT_OBS], returned[AGAIN_ROLLOUTS * AGAIN_ROWS];
    size_t n_seen, n_returned;
    double running[SCRIPT_COPIES_MAX], sum[SCRIPT_COPIES_MAX], length[SCRIPT_COPIES_MAX];
    double mean[SCRIPT_OBS], deviation[SCRIPT_OBS];
    /* The last rollout. */
    double obs[AGAIN_ROWS][SCRIPT_OBS], actions[AGAIN_ROWS][4], logp[AGAIN_ROWS], values[AGAIN_ROWS];
    double advantages[AGAIN_ROWS], returns[AGAIN_ROWS];
    double action_error; /* the largest so far of what the learner drew */
    struct ppo_update figures;
};

struct again_pass {
    int n; /* layers */
    const struct net_tensor *weight[NET_LAYERS_MAX + 1], *bias[NET_LAYERS_MAX + 1];
    double x[NET_LAYERS_MAX + 2][AGAIN_WIDTH];
};

static void again_forward(const struct again *a, const char *part, const double *obs, struct again_pass *pass)
{
    memcpy(pass->x[0], obs, SCRIPT_OBS * sizeof *obs);
    for (pass->n = 0;; pass->n++) {
        const int n = pass->n;
        char name[NET_NAME_MAX];
        snprintf(name, sizeof name, "%s.%d.weight", part, n);
        const int weight = policy_net_layout_find(a->layout, name);
        if (weight < 0)
            return;
        snprintf(name, sizeof name, "%s.%d.bias", part, n);
        const struct net_tensor *w = &a->layout->tensors[weight];
        const struct net_tensor *b = &a->layout->tensors[policy_net_layout_find(a->layout, name)];
        for (int i = 0; n > 0 && i < w->rows; i++)
            pass->x[n][i] = tanh(pass->x[n][i]);
        for (int j = 0; j < w->cols; j++) {
            double y = a->theta[b->offset + (size_t)j];
            for (int i = 0; i < w->rows; i++)
                y += pass->x[n][i] * a->theta[w->offset + (size_t)i * (size_t)w->stride + (size_t)j];
            pass->x[n + 1][j] = y;
        }
        pass->weight[n] = w;
        pass->bias[n] = b;
    }
}

/* pull: d loss / d the outputs; adds to grads. */
static void again_backward(const struct again *a, const struct again_pass *pass, const double *pull,
                           double *grads)
{
    double dy[AGAIN_WIDTH], dx[AGAIN_WIDTH];
    memcpy(dy, pull, (size_t)pass->weight[pass->n - 1]->cols * sizeof *dy);
    for (int n = pass->n - 1; n >= 0; n--) {
        const struct net_tensor *w = pass->weight[n], *b = pass->bias[n];
        for (int j = 0; j < w->cols; j++)
            grads[b->offset + (size_t)j] += dy[j];
        for (int i = 0; i < w->rows; i++) {
            dx[i] = 0;
            for (int j = 0; j < w->cols; j++) {
                const size_t at = w->offset + (size_t)i * (size_t)w->stride + (size_t)j;
                grads[at] += pass->x[n][i] * dy[j];
                dx[i] += a->theta[at] * dy[j];
            }
            dx[i] *= 1 - pass->x[n][i] * pass->x[n][i]; /* not used of the observation */
        }
        memcpy(dy, dx, sizeof dy);
    }
}

static double again_value(const struct again *a, const double *obs)
{
    struct again_pass pass;
    again_forward(a, "vf", obs, &pass);
    return pass.x[pass.n][0];
}

static double again_log_std(const struct again *a, int i)
{
    return a->theta[a->layout->tensors[a->layout->log_std].offset + (size_t)i];
}

/* Of an action; d_heads [outputs] and d_log_std [actions] are its derivatives, de_heads the entropy's (its
 * derivative by log_std is 1). */
static double again_logp(const struct again *a, const double *heads, const double *action,
                         double *ret_entropy, double *d_heads, double *d_log_std, double *de_heads)
{
    const int n = a->layout->shape.actions, levels = a->layout->shape.levels;
    double logp = 0, entropy = 0;
    for (int i = 0; i < n; i++) {
        if (levels == 0) {
            const double log_std = again_log_std(a, i), std = exp(log_std), z = (action[i] - heads[i]) / std;
            logp += -z * z / 2 - log_std - log(2 * M_PI) / 2;
            entropy += 0.5 + log(2 * M_PI) / 2 + log_std;
            d_heads[i] = z / std;
            d_log_std[i] = z * z - 1;
            de_heads[i] = 0;
            continue;
        }
        const double *logits = heads + i * levels;
        double sum = 0, mine = 0;
        for (int k = 0; k < levels; k++)
            sum += exp(logits[k]);
        for (int k = 0; k < levels; k++)
            mine -= exp(logits[k]) / sum * (logits[k] - log(sum));
        for (int k = 0; k < levels; k++) {
            const double p = exp(logits[k]) / sum;
            d_heads[i * levels + k] = (k == (int)action[i]) - p;
            de_heads[i * levels + k] = -p * (log(p) + mine);
        }
        logp += logits[(int)action[i]] - log(sum);
        entropy += mine;
    }
    *ret_entropy = entropy;
    return logp;
}

static void again_start(struct again *a, const struct ppo_params *params, const struct net_layout *layout,
                        const struct script *script, const float *theta)
{
    memset(a, 0, sizeof *a);
    a->params = params;
    a->layout = layout;
    a->script = script;
    a->rows = (size_t)params->copies * (size_t)params->steps;
    for (size_t i = 0; i < layout->n_params; i++)
        a->theta[i] = theta[i];
}

static double again_clip(double x, double bound)
{
    return fmin(fmax(x, -bound), bound);
}

static void again_see(struct again *a, const struct script_step *log)
{
    for (size_t row = 0; row < a->rows; row++)
        for (int i = 0; i < SCRIPT_OBS; i++)
            a->seen[a->n_seen + row][i] = log[row].obs[i];
    a->n_seen += a->rows;
    for (int i = 0; i < SCRIPT_OBS; i++) {
        double mean = 0, squares = 0;
        for (size_t k = 0; k < a->n_seen; k++)
            mean += a->seen[k][i] / (double)a->n_seen;
        for (size_t k = 0; k < a->n_seen; k++)
            squares += (a->seen[k][i] - mean) * (a->seen[k][i] - mean);
        a->mean[i] = mean;
        a->deviation[i] = sqrt(squares / (double)a->n_seen + 1e-8);
    }
}

static void again_normal(const struct again *a, const float *raw, double *ret)
{
    for (int i = 0; i < SCRIPT_OBS; i++)
        ret[i] = a->params->normalise_observations
                     ? again_clip((raw[i] - a->mean[i]) / a->deviation[i], a->params->clip_observations)
                     : raw[i];
}

/* What the learner did in a row against what the definition of draws says. */
static void again_draw(struct again *a, size_t row, const double *heads)
{
    const size_t copies = (size_t)a->params->copies;
    const uint64_t step = (uint64_t)a->steps / copies + row / copies;
    for (int i = 0; i < a->layout->shape.actions; i++) {
        const struct philox words =
            philox(a->params->seed, (uint32_t)(row % copies), (uint32_t)step, (uint32_t)(step >> 32),
                   (uint32_t)PPO_DRAW_ACTION << 24 | (uint32_t)i / 4);
        const int levels = a->layout->shape.levels;
        double error = 0;
        if (levels == 0) {
            const double u = ((words.word[i % 4 / 2 * 2] >> 8) + 1.0) * 0x1p-24;
            const double turn = 2 * M_PI * ((words.word[i % 4 / 2 * 2 + 1] >> 8) * 0x1p-24);
            const double normal = sqrt(-2 * log(u)) * (i % 2 ? sin(turn) : cos(turn));
            error = fabs(a->actions[row][i] - (heads[i] + exp(again_log_std(a, i)) * normal));
        } else {
            const double u = (words.word[i % 4] >> 8) * 0x1p-24;
            double sum = 0, below = 0;
            for (int k = 0; k < levels; k++)
                sum += exp(heads[i * levels + k]);
            for (int k = 0; k < (int)a->actions[row][i]; k++)
                below += exp(heads[i * levels + k]) / sum;
            const double above = below + exp(heads[i * levels + (int)a->actions[row][i]]) / sum;
            error = fmax(fmax(below - u, u - above), 0); /* by how much it is beside the level's share */
        }
        a->action_error = fmax(a->action_error, error);
    }
}

/* The rollout that the log holds next; `raw` [copies][SCRIPT_OBS]: what is seen after it. */
static void again_rollout(struct again *a, const float *raw)
{
    const struct ppo_params *params = a->params;
    const size_t copies = (size_t)params->copies;
    if (params->normalise_observations && a->n_seen == 0) { /* the rehearsal */
        again_see(a, a->script->log);
        a->read = a->rows;
    }
    const struct script_step *log = a->script->log + a->read;
    a->read += a->rows;
    double rewards[AGAIN_ROWS], bootstrap[AGAIN_ROWS], next[AGAIN_ROWS], normal[SCRIPT_OBS];
    double episodes = 0, returned = 0, squares = 0, length = 0, all = 0;
    for (size_t row = 0; row < a->rows; row++) {
        struct again_pass pass;
        double entropy, unused[3][AGAIN_OUT];
        const size_t copy = row % copies;
        again_normal(a, log[row].obs, a->obs[row]);
        for (int i = 0; i < a->layout->shape.actions; i++)
            a->actions[row][i] = log[row].actions[i];
        again_forward(a, "pi", a->obs[row], &pass);
        again_draw(a, row, pass.x[pass.n]);
        a->logp[row] =
            again_logp(a, pass.x[pass.n], a->actions[row], &entropy, unused[0], unused[1], unused[2]);
        a->values[row] = again_value(a, a->obs[row]);
        again_normal(a, log[row].final_obs, normal);
        bootstrap[row] = log[row].truncated && !log[row].terminated ? again_value(a, normal) : 0;
        all += log[row].reward;
        a->running[copy] = a->running[copy] * params->gamma + log[row].reward;
        a->returned[a->n_returned++] = a->running[copy];
        a->sum[copy] += log[row].reward;
        a->length[copy]++;
        if (!log[row].truncated && !log[row].terminated)
            continue;
        episodes++;
        returned += a->sum[copy];
        squares += a->sum[copy] * a->sum[copy];
        length += a->length[copy];
        a->running[copy] = a->sum[copy] = a->length[copy] = 0;
    }
    double mean = 0, variance = 0;
    for (size_t k = 0; k < a->n_returned; k++)
        mean += a->returned[k] / (double)a->n_returned;
    for (size_t k = 0; k < a->n_returned; k++)
        variance += (a->returned[k] - mean) * (a->returned[k] - mean) / (double)a->n_returned;
    for (size_t row = 0; row < a->rows; row++) {
        rewards[row] = log[row].reward;
        if (params->normalise_rewards)
            rewards[row] = again_clip(rewards[row] / sqrt(variance + 1e-8), params->clip_rewards);
        rewards[row] += params->gamma * bootstrap[row];
        again_normal(a, raw + row % copies * SCRIPT_OBS, normal);
        next[row] = row + copies < a->rows ? a->values[row + copies] : again_value(a, normal);
    }
    double ret_mean = 0, off_mean = 0, ret_var = 0, off_var = 0;
    for (size_t row = 0; row < a->rows; row++) {
        double factor = 1;
        a->advantages[row] = 0;
        for (size_t k = row; k < a->rows; k += copies, factor *= params->gamma * params->gae_lambda) {
            const bool ended = log[k].truncated || log[k].terminated;
            a->advantages[row] +=
                factor * (rewards[k] + (ended ? 0 : params->gamma * next[k]) - a->values[k]);
            if (ended)
                break;
        }
        a->returns[row] = a->advantages[row] + a->values[row];
        ret_mean += a->returns[row] / (double)a->rows;
        off_mean += a->advantages[row] / (double)a->rows;
    }
    for (size_t row = 0; row < a->rows; row++) {
        ret_var += pow(a->returns[row] - ret_mean, 2);
        off_var += pow(a->advantages[row] - off_mean, 2);
    }
    a->figures = (struct ppo_update){
        .explained_variance = 1 - off_var / ret_var,
        .episodes = (int64_t)episodes,
        .episode_return = returned / episodes,
        .episode_return_std = sqrt(fmax(squares / episodes - pow(returned / episodes, 2), 0)),
        .episode_length = length / episodes,
        .reward = all / (double)a->rows,
    };
    if (params->normalise_observations)
        again_see(a, log);
}

/* Adam on one minibatch; false: target_kl ends it. */
static bool again_minibatch(struct again *a, const struct ppo_shuffle *order, uint32_t first, double progress)
{
    const struct ppo_params *params = a->params;
    const int n = params->minibatch, outputs = a->layout->outputs;
    const double clip = ppo_clip_range(params, progress), ent_coef = ppo_ent_coef(params, progress);
    static double grads[AGAIN_PARAMS], entropy_grads[AGAIN_PARAMS];
    double mean = 0, deviation = 0, policy = 0, value = 0, entropy = 0, old_kl = 0, kl = 0, clipped = 0;
    for (int i = 0; i < n; i++)
        mean += a->advantages[ppo_shuffle_at(order, first + (uint32_t)i)] / n;
    for (int i = 0; i < n; i++)
        deviation += pow(a->advantages[ppo_shuffle_at(order, first + (uint32_t)i)] - mean, 2) / (n - 1);
    deviation = sqrt(deviation) + 1e-8;
    memset(grads, 0, sizeof grads);
    memset(entropy_grads, 0, sizeof entropy_grads);
    static double value_pulls[AGAIN_ROWS];
    for (int i = 0; i < n; i++) {
        const size_t row = ppo_shuffle_at(order, first + (uint32_t)i);
        struct again_pass pass;
        double mine, by_head[AGAIN_OUT], by_log_std[AGAIN_OUT], entropy_by_head[AGAIN_OUT], pull[AGAIN_OUT];
        again_forward(a, "pi", a->obs[row], &pass);
        const double logp =
            again_logp(a, pass.x[pass.n], a->actions[row], &mine, by_head, by_log_std, entropy_by_head);
        const double ratio = exp(logp - a->logp[row]);
        const double advantage =
            params->normalise_advantages ? (a->advantages[row] - mean) / deviation : a->advantages[row];
        const double bounded = fmin(fmax(ratio, 1 - clip), 1 + clip) * advantage;
        policy -= fmin(ratio * advantage, bounded) / n;
        entropy -= mine / n;
        old_kl += (a->logp[row] - logp) / n;
        kl += (ratio - 1 - (logp - a->logp[row])) / n;
        clipped += (fabs(ratio - 1) > clip) / (double)n;
        const double by_logp = ratio * advantage <= bounded ? -ratio * advantage / n : 0;
        for (int k = 0; k < outputs; k++)
            pull[k] = by_logp * by_head[k];
        again_backward(a, &pass, pull, grads);
        for (int k = 0; k < outputs; k++)
            pull[k] = -entropy_by_head[k] / n;
        again_backward(a, &pass, pull, entropy_grads);
        for (int k = 0; a->layout->log_std >= 0 && k < a->layout->shape.actions; k++) {
            const size_t at = a->layout->tensors[a->layout->log_std].offset + (size_t)k;
            grads[at] += by_logp * by_log_std[k];
            entropy_grads[at] += -1.0 / n;
        }
        double v = again_value(a, a->obs[row]), slope = 1;
        if (params->clip_range_vf > 0 && fabs(v - a->values[row]) > params->clip_range_vf) {
            v = a->values[row] + again_clip(v - a->values[row], params->clip_range_vf);
            slope = 0;
        }
        value += pow(a->returns[row] - v, 2) / n;
        value_pulls[i] = 2 * (v - a->returns[row]) * slope / n * params->vf_coef;
    }
    const bool held_value = params->bounded && fabs(value) > params->value_bound;
    const bool held_entropy = params->bounded && fabs(entropy) > params->entropy_bound;
    if (params->bounded) {
        value = again_clip(value, params->value_bound);
        entropy = again_clip(entropy, params->entropy_bound);
    }
    if (params->target_kl > 0 && kl > 1.5 * params->target_kl)
        return false;
    for (int i = 0; i < n && !held_value; i++) {
        struct again_pass pass;
        again_forward(a, "vf", a->obs[ppo_shuffle_at(order, first + (uint32_t)i)], &pass);
        again_backward(a, &pass, &value_pulls[i], grads);
    }
    double norm = 0;
    for (size_t k = 0; k < a->layout->n_params; k++) {
        grads[k] += held_entropy ? 0 : ent_coef * entropy_grads[k];
        norm += grads[k] * grads[k];
    }
    norm = sqrt(norm);
    const double scale = params->max_grad_norm > 0 ? fmin(1, params->max_grad_norm / (norm + 1e-6)) : 1;
    a->adam_steps++;
    for (size_t k = 0; k < a->layout->n_params; k++) {
        const double g = grads[k] * scale, b1 = params->adam_beta1, b2 = params->adam_beta2;
        a->m[k] = b1 * a->m[k] + (1 - b1) * g;
        a->v[k] = b2 * a->v[k] + (1 - b2) * g * g;
        const double m = a->m[k] / (1 - pow(b1, (double)a->adam_steps));
        const double v = a->v[k] / (1 - pow(b2, (double)a->adam_steps));
        a->theta[k] -= ppo_learning_rate(params, progress) * m / (sqrt(v) + params->adam_epsilon);
    }
    for (int k = 0; a->layout->log_std >= 0 && k < a->layout->shape.actions; k++) {
        double *log_std = &a->theta[a->layout->tensors[a->layout->log_std].offset + (size_t)k];
        *log_std = fmin(fmax(*log_std, params->log_std_min), params->log_std_max);
    }
    struct ppo_update *figures = &a->figures;
    figures->minibatches++;
    figures->policy_loss += policy;
    figures->value_loss += value;
    figures->entropy_loss += entropy;
    figures->loss += policy + ent_coef * entropy + params->vf_coef * value;
    figures->old_kl += old_kl;
    figures->kl += kl;
    figures->clip_fraction += clipped;
    figures->grad_norm += norm;
    return true;
}

static void again_update(struct again *a)
{
    const double progress = (double)a->steps / (double)a->params->total_steps;
    bool more = true;
    for (int epoch = 0; more && epoch < a->params->epochs; epoch++) {
        const struct ppo_shuffle order =
            ppo_shuffle_make(a->params->seed, (uint64_t)a->epochs++, (uint32_t)a->rows);
        a->figures.epochs++;
        for (uint32_t first = 0; more && first + (uint32_t)a->params->minibatch <= a->rows;
             first += (uint32_t)a->params->minibatch)
            more = again_minibatch(a, &order, first, progress);
    }
    a->figures.kl_stop = !more;
    a->steps += (int64_t)a->rows;
    const double n = (double)a->figures.minibatches;
    double *means[] = {&a->figures.policy_loss,   &a->figures.value_loss, &a->figures.entropy_loss,
                       &a->figures.loss,          &a->figures.old_kl,     &a->figures.kl,
                       &a->figures.clip_fraction, &a->figures.grad_norm};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        *means[i] /= n;
}

#endif
