#include "daemon/training/training.h"

#include <stdio.h>
#include <stdlib.h>

#include "exchange/bar.h"
#include "exchange/clock.h"

/* So many that it runs until it is stopped: two hundred days at 50 million steps a second. */
#define TOTAL_STEPS "1000000000000000"

static void print_symbols(const struct daemon_config *config, FILE *to)
{
    for (int s = 0; s < config->n_symbols && config->symbol_venues[s] == 0; s++)
        fprintf(to, "%s%s", s ? ", " : "", config->symbols[s]);
}

/* A run that continues needs the market that it started with. */
static void print_end(int64_t before_ns, FILE *to)
{
    char text[CLOCK_TEXT_MAX];
    fprintf(to, "train_to = %s\n", clock_utc_text(before_ns, text));
}

char *daemon_training_defaults(const struct daemon_config *config, const char *state_dir, int64_t before_ns)
{
    const struct account_config *account = &config->accounts[0];
    struct account_rules rules = daemon_config_rules(config, account);
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    fputs(
        "# A training without a configuration of its own: 64x64 on the daemon's bars, until it is stopped.\n"
        "[training]\n"
        "world = market\n"
        "total_steps = " TOTAL_STEPS "\n"
        "checkpoint_every = 50\n"
        "checkpoint_keep = 3\n"
        "device = auto\n"
        "\n"
        "[network]\n"
        "policy_layers = 64,64\n"
        "value_layers = 64,64\n"
        "\n"
        "[ppo]\n"
        "copies = 16\n"
        "steps = 256\n"
        "minibatch = 1024\n"
        "learning_rate = 3e-4\n"
        "\n"
        "[environment]\n"
        "execution = market\n",
        to);
    fprintf(to, "initial_capital = %s\n", account->cash[0] ? account->cash : "10000");
    fprintf(to, "buy_cost_pct = %.6f\nsell_cost_pct = %.6f\n", rules.fees.taker_e6 / 1e6,
            rules.fees.taker_e6 / 1e6);
    fprintf(to, "slippage_pct = %.6f\n", config->slippage_e6 / 1e6);
    fputs("lookback = 1\n"
          "random_start = true\n"
          "episode_bars = 100\n"
          "\n"
          "[data]\n",
          to);
    fprintf(to, "state = %s\nsymbols = ", state_dir);
    print_symbols(config, to);
    fprintf(to, "\ninterval = %s\nfeatures = market14\n", bar_interval_name(config->interval_ns));
    if (before_ns > 0)
        print_end(before_ns, to);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
