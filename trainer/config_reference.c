/* Generates from the keys of a training's and a study's configuration: the example, and the manual page. Run
 * by the build: papertape-trainer-reference ini|man > FILE. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/option_text.h"
#include "trainer/study/settings.h"

static const char ini_head[] = "# papertape-trainer train --config F: every key, with its default. A key "
                               "that is left out keeps that default, or\n"
                               "# what `preset` of its section says, so a file with [data] and bars alone is "
                               "whole. A key of [training], [network]\n"
                               "# or [ppo] may stand in any of the three. docs/training.md explains them. "
                               "Comments start with # or, after a value\n"
                               "# and a space, with ;\n";

static const char study_head[] = "\n# A study: papertape-trainer study NAME --config F, or papertape train "
                                 "start NAME --config F, makes trials of what\n"
                                 "# is above, each with other values of what is searched, and judges them on "
                                 "bars that they were not trained on\n"
                                 "# (docs/studies.md). It is one where a file has a section [study] or "
                                 "[search]: take the # away before those, and\n"
                                 "# before the keys that are wanted.\n\n#[study]\n";

static const char *const search_words[] = {"What is searched, and over what: A..B [log] [step S] [hourly], "
                                           "or choices A | B, of any key of [training],",
                                           "[network], [ppo] or [environment], and net_dimension. These are "
                                           "the default search space, which is searched",
                                           "where a file has [study] and no [search], or space = default."};
enum { SEARCH_LINES = sizeof search_words / sizeof *search_words };

static const char man_head[] =
    ".TH papertape\\-trainer.ini 5\n.SH NAME\npapertape\\-trainer.ini \\- what papertape\\-trainer trains "
    "and searches\n"
    ".SH DESCRIPTION\nAn INI file: sections in brackets, a key and its value a line, comments after # at the "
    "start of a\n"
    "line or after a space and ;. A key that is left out keeps its default, or what preset of its section "
    "says. A key\n"
    "of [training], [network] or [ppo] may stand in any of the three. Lines of a section that appears again "
    "are\nadded to it. A section or key that is not known, a key that is set twice, or a value outside its "
    "range is an error that names the file, the line, the key, and what "
    "would be\n"
    "right. docs/training.md and docs/studies.md explain them. Each key stands here with its default.\n";

/* The required keys, with example values. */
static const char *const data[][2] = {
    {"bars", "bars/BTCUSDT_1h.csv.gz, bars/ETHUSDT_1h.csv.gz"},
    {"interval", "1h"},
    {"features", "market14"},
    {"train_from", "2023-01-01"},
    {"train_to", "2024-06-01"},
    {"test_from", "2024-07-01"},
};

static const char *const account_words[] = {
    "Terms of the backtests of a study of a strategy, [study] strategy, whose parameters [search] has then; and",
    "strategy.NAME, a parameter that is not searched, risk.LIMIT, as in [risk] of papertaped.ini, and shorts."};
enum { ACCOUNT_LINES = sizeof account_words / sizeof *account_words };

static void print_account(const struct study_settings *settings)
{
    struct config_key terms[BACKTEST_CLASS_FEES];
    study_rules_account_keys(terms);
    for (int i = 0; i < ACCOUNT_LINES; i++)
        printf("%s# %s\n", i ? "" : "\n", account_words[i]);
    puts("##[account]");
    for (int i = 0; i < BACKTEST_CLASS_FEES; i++)
        config_key_print_example(&terms[i], &settings->rules.terms, "##", stdout);
}

static void man_account(const struct study_settings *settings)
{
    struct config_key terms[BACKTEST_CLASS_FEES];
    study_rules_account_keys(terms);
    puts(".SH [account]");
    for (int i = 0; i < ACCOUNT_LINES; i++)
        option_man_text(stdout, account_words[i]);
    config_key_man(terms, BACKTEST_CLASS_FEES, "account", &settings->rules.terms, stdout);
}

static void print_ini(struct train_config *config, const struct study_settings *settings)
{
    size_t n;
    char err[CONFIG_ERROR_MAX];
    const struct config_key *keys = train_config_keys(&n);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        (void)train_config_set(config, "data", data[i][0], data[i][1], err); /* a test reads the example */
    fputs(ini_head, stdout);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0)
            printf("\n[%s]\n", keys[i].section);
        config_key_print_example(&keys[i], config, "", stdout);
    }
    fputs(study_head, stdout);
    keys = study_settings_keys(&n);
    for (size_t i = 0; i < n; i++)
        config_key_print_example(&keys[i], settings, "#", stdout);
    const struct study_default *space = study_settings_default_space(&n);
    for (int i = 0; i < SEARCH_LINES; i++)
        printf("%s# %s\n", i ? "" : "\n", search_words[i]);
    puts("#[search]");
    for (size_t i = 0; i < n; i++)
        printf("# %c%s\n#%s = %s\n", toupper((unsigned char)space[i].summary[0]), space[i].summary + 1,
               space[i].key, space[i].range);
    print_account(settings);
}

static void print_man(const struct train_config *config, const struct study_settings *settings)
{
    size_t n;
    const struct config_key *keys = train_config_keys(&n);
    fputs(man_head, stdout);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0) {
            printf(".SH [%s]\n", keys[i].section);
            config_key_man(keys, n, keys[i].section, config, stdout);
        }
    puts(".SH [study]");
    keys = study_settings_keys(&n);
    config_key_man(keys, n, "study", settings, stdout);
    const struct study_default *space = study_settings_default_space(&n);
    puts(".SH [search]");
    for (int i = 0; i < SEARCH_LINES; i++)
        option_man_text(stdout, search_words[i]);
    for (size_t i = 0; i < n; i++) {
        char term[128];
        snprintf(term, sizeof term, "%s = %s", space[i].key, space[i].range);
        option_man_entry(stdout, term, space[i].summary);
    }
    man_account(settings);
    puts(".SH SEE ALSO\n.BR papertape\\-trainer (1)");
}

int main(int argc, char **argv)
{
    static struct train_config config;
    struct study_settings settings = study_settings_defaults();
    train_config_defaults(&config);
    if (argc == 2 && strcmp(argv[1], "ini") == 0)
        print_ini(&config, &settings);
    else if (argc == 2 && strcmp(argv[1], "man") == 0)
        print_man(&config, &settings);
    else
        return EXIT_FAILURE;
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
