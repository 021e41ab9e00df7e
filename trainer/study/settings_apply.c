/* A trial's values in a configuration. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config_table.h"
#include "trainer/study/settings_table.h"

enum { VALUE_MAX = SETTINGS_VALUE_MAX };

int study_settings_value_text(const struct distribution *distribution, double value,
                              char buf[static SETTINGS_VALUE_MAX])
{
    json_t *json = distribution_external(distribution, value);
    int n = -1;
    if (json_is_boolean(json))
        n = snprintf(buf, VALUE_MAX, "%s", json_is_true(json) ? "true" : "false");
    else if (json_is_integer(json))
        n = snprintf(buf, VALUE_MAX, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
    else if (json_is_real(json))
        n = snprintf(buf, VALUE_MAX, "%.17g", json_real_value(json));
    else if (json_is_string(json))
        n = snprintf(buf, VALUE_MAX, "%s", json_string_value(json));
    json_decref(json);
    return n >= 0 && n < VALUE_MAX ? 0 : -EINVAL;
}

static void set_widths(struct net_shape *net, int width)
{
    for (int i = 0; i < net->n_pi; i++)
        net->pi[i] = width;
    for (int i = 0; i < net->n_vf; i++)
        net->vf[i] = width;
}

static int set_one(struct train_config *config, const char *name, const char *text, char *err)
{
    char why[PPO_ERROR_MAX];
    if (strcmp(name, "net_dimension") == 0) {
        set_widths(&config->ppo.net, (int)strtol(text, NULL, 10));
        return 0;
    }
    int of_ppo = ppo_params_set(&config->ppo, name, text, why);
    if (of_ppo < 0 && of_ppo != -ENOENT)
        return train_config_say(err, -EINVAL, "[search] %.600s", why);
    int of_env = env_params_set(&config->env, name, text, why);
    if (of_env < 0 && (of_env != -ENOENT || of_ppo == -ENOENT))
        return train_config_say(err, -EINVAL, "[search] %.600s", why);
    return 0;
}

/* Adjusts combinations that are no error of the user's: samplers draw each key independently. */
static void fit(struct ppo_params *ppo)
{
    const int sequence = ppo->net.recurrent > 0 && ppo->sequence > 1 ? ppo->sequence : 1;
    if (ppo->steps > sequence)
        ppo->steps -= ppo->steps % sequence;
    const int64_t rollout = (int64_t)ppo->copies * ppo->steps;
    if (ppo->minibatch > rollout)
        ppo->minibatch = (int)rollout;
    if (ppo->minibatch > sequence)
        ppo->minibatch -= ppo->minibatch % sequence;
}

int study_settings_apply(const struct train_config *base, const struct space *space, const double *values,
                         struct train_config *ret, char err[static CONFIG_ERROR_MAX])
{
    char text[VALUE_MAX], why[CONFIG_ERROR_MAX];
    struct train_config *config = malloc(sizeof *config);
    int r = config ? 0 : train_config_say(err, -ENOMEM, "out of memory");
    if (config)
        *config = *base;
    for (int i = 0; i < space->n && r == 0; i++) {
        const struct space_param *param = &space->params[i];
        if (study_settings_value_text(&param->distribution, values[i], text) < 0)
            r = train_config_say(err, -EINVAL, "[search] %s: %.17g: a value of its range is right",
                                 param->name, values[i]);
        else
            r = set_one(config, param->name, text, err);
    }
    if (r == 0) {
        fit(&config->ppo);
        if ((r = train_config_check(config, why)) < 0)
            train_config_say(err, r, "[search] these values do not fit together: %.700s", why);
    }
    if (r == 0)
        *ret = *config;
    free(config);
    return r;
}
