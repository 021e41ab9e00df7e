#include "daemon/training/training.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/clock.h"
#include "trainer/config_form.h"

static void print_symbols(const struct daemon_config *config, FILE *to)
{
    for (int s = 0; s < config->n_symbols && config->symbol_venues[s] == 0; s++)
        fprintf(to, "%s%s", s ? ", " : "", config->symbols[s]);
}

/* A run that continues needs the market that it started with. */
static void print_end(int64_t before_ns, FILE *to)
{
    char text[CLOCK_TEXT_MAX];
    fprintf(to, "to = %s\n", clock_utc_text(before_ns, text));
}

static void print_account(const struct daemon_config *config, FILE *to)
{
    const struct account_config *account = &config->accounts[0];
    struct account_rules rules = daemon_config_rules(config, account);
    fprintf(to, "initial_capital = %s\n", account->cash[0] ? account->cash : "10000");
    fprintf(to, "buy_cost_pct = %.6f\nsell_cost_pct = %.6f\n", rules.fees.taker_e6 / 1e6,
            rules.fees.taker_e6 / 1e6);
    fprintf(to, "slippage_pct = %.6f\n", config->slippage_e6 / 1e6);
}

static void print_data(const struct daemon_config *config, const char *state_dir, int64_t before_ns, FILE *to)
{
    fprintf(to, "state = %s\nsymbols = ", state_dir);
    print_symbols(config, to);
    fprintf(to, "\ninterval = %s\n", bar_interval_name(config->interval_ns));
    if (before_ns > 0)
        print_end(before_ns, to);
}

char *daemon_training_defaults(const struct daemon_config *config, const char *state_dir, int64_t before_ns)
{
    static const char *const sections[] = {"training", "network", "ppo", "environment", "data"};
    char *text = NULL;
    size_t size;
    int r = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    fputs(
        "# A training without a configuration of its own: the trainer's defaults, on the daemon's bars, with an "
        "account's cash and costs.\n",
        to);
    for (size_t i = 0; i < sizeof sections / sizeof *sections && r == 0; i++) {
        fprintf(to, "%s[%s]\n", i ? "\n" : "", sections[i]);
        r = train_config_print_main(sections[i], to);
        if (strcmp(sections[i], "environment") == 0)
            print_account(config, to);
    }
    print_data(config, state_dir, before_ns, to);
    if (fclose(to) != 0 || r < 0) {
        free(text);
        return NULL;
    }
    return text;
}
