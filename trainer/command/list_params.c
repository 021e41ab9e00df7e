#include <stdio.h>
#include <stdlib.h>

#include "trainer/command/env_replay_args.h"
#include "trainer/env/params.h"

static const char *const presets[] = {"reference", "market", "cappuccino", "day-trade"};
enum { N_PRESETS = sizeof(presets) / sizeof(presets[0]) };

int trainer_replay_list_params(void)
{
    size_t n;
    const struct config_key *list = env_params_list(&n);
    struct env_params params[N_PRESETS];
    char err[ENV_ERROR_MAX], value[64];

    for (int k = 0; k < N_PRESETS; k++)
        if (env_params_preset(presets[k], &params[k], err) < 0) {
            fprintf(stderr, "papertape-trainer: %s\n", err);
            return EXIT_FAILURE;
        }
    puts("| key | reference | market | cappuccino | day-trade | range | is |");
    puts("|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < n; i++) {
        printf("| `%s` |", list[i].name);
        for (int k = 0; k < N_PRESETS; k++)
            printf(" %s |", env_params_get(&params[k], list[i].name, value, sizeof value) ? value : "?");
        config_key_range(&list[i], value, sizeof value);
        printf(" %s | %s |\n", value, list[i].about);
    }
    return EXIT_SUCCESS;
}
