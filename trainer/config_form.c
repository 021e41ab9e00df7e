#include "trainer/config_form.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config.h"

/* The values are the defaults': only the choice of keys is made here. */
static const struct {
    const char *section, *keys[8];
} shown[] = {
    {"training", {"world", "total_steps", "checkpoint_every", "keep", "patience", "device"}},
    {"network", {"policy_layers", "value_layers"}},
    {"ppo", {"copies", "steps", "minibatch", "learning_rate"}},
    {"environment", {"lookback", "random_start", "episode_bars"}},
    {"data", {"features", "test_share", "validation_share"}},
};

int train_config_print_main(const char *section, FILE *to)
{
    char value[CONFIG_WORD_MAX];
    struct train_config *defaults = malloc(sizeof *defaults);
    if (!defaults)
        return -ENOMEM;
    train_config_defaults(defaults);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        for (int k = 0; strcmp(shown[i].section, section) == 0 && shown[i].keys[k]; k++)
            if (train_config_get(defaults, section, shown[i].keys[k], value, sizeof value) == 0)
                fprintf(to, "%s = %s\n", shown[i].keys[k], value);
    free(defaults);
    return 0;
}
