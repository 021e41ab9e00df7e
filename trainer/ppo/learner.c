#include "trainer/ppo/learner.h"

int ppo_learner_iterate(struct learner *l, struct ppo_update *ret, char err[static PPO_ERROR_MAX])
{
    return l->ops->iterate(l, ret, err);
}

void ppo_learner_watch(struct learner *l, void (*entered)(void *ctx, enum ppo_phase phase), void *ctx)
{
    l->entered = entered;
    l->entered_ctx = ctx;
}

int ppo_learner_save(struct learner *l, const struct ppo_sink *sink, char err[static PPO_ERROR_MAX])
{
    return l->ops->save(l, sink, err);
}

int ppo_learner_load(struct learner *l, const struct ppo_source *source, char err[static PPO_ERROR_MAX])
{
    return l->ops->load(l, source, err);
}

int ppo_learner_snapshot(struct learner *l, const struct ppo_snapshot *ret, char err[static PPO_ERROR_MAX])
{
    return l->ops->snapshot(l, ret, err);
}

void ppo_learner_destroy(struct learner *l)
{
    if (l)
        l->ops->destroy(l);
}

struct ppo_work ppo_work_of(const struct net_layout *layout)
{
    struct ppo_work work = {0};
    for (int part = NET_PI; part <= NET_SHARED; part++) {
        const struct net_chain *chain = &layout->chains[part];
        /* A head on a shared trunk sends gradients into it; all other chains begin with the observation. */
        bool first = !(layout->shape.shared && part != NET_SHARED);
        const struct net_layer *layers[NET_LAYERS_MAX + 2];
        int n = 0;
        for (int i = 0; i < chain->n_hidden; i++)
            layers[n++] = &chain->hidden[i];
        if (chain->has_recurrent)
            layers[n++] = &chain->recurrent;
        if (chain->has_head)
            layers[n++] = &chain->head;
        for (int i = 0; i < n; i++) {
            double product = 2.0 * layers[i]->in * layers[i]->out;
            work.rollout += product;
            work.update += first && i == 0 ? 2 * product : 3 * product;
        }
    }
    return work;
}
