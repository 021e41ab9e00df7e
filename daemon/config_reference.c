/* Writes what is made from the configuration's keys: the example, papertaped.ini, and its man page; and the
 * table of metrics, which a test compares with docs/prometheus.md. Run by the build: papertaped-reference
 * ini|man|metrics > FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_keys.h"
#include "daemon/http/metrics.h"
#include "exchange/venues.h"
#include "record/option_text.h"
#include "strategy/strategy.h"

static const char ini_head[] =
    "# papertaped's configuration: every key, with its default. A key that is left out keeps that default, "
    "so a\n"
    "# file with two lines, [market] and symbols = BTCUSDT, is whole. papertaped.ini(5) explains each key.\n"
    "# Comments start with # or, after a value and a space, with ;\n\n";

static const char man_head[] =
    ".TH papertaped.ini 5\n.SH NAME\npapertaped.ini \\- the configuration of papertaped\n.SH DESCRIPTION\n"
    "An INI file: sections in brackets, a key and its value a line, comments after # at the start of a line "
    "or\n"
    "after a space and ;. A key that is left out keeps its default, so these two lines are a whole file:\n"
    ".PP\n.nf\n[market]\nsymbols = BTCUSDT\n.fi\n.PP\n"
    "Lines of a section that appears again are added to it. A section or key that is not known, a key that "
    "is\n"
    "set twice, or a value outside its range is an error that\nnames the file, the line, the key, and the "
    "nearest key or the range; the daemon then does not start.\n"
    "Values of keys that end in _s or _for may have fractions, as 1.5, or 1.5s and 0.5m. Each key stands here "
    "with its default, and papertaped \\-\\-print\\-config\n"
    "prints all of them as they would be used.\n";

static const struct {
    const char *section, *words;
} sections[] = {
    {"arena",
     "Which policies that studies propose trade as challengers, and when one of them becomes champion or "
     "retires: docs/policies.md, The arena. A proposal that does not pass all gates, or does not know a "
     "figure, is refused: an alert PROPOSAL_REFUSED says why, and nothing changes."},
    {"risk", "A limit of 0 is off. Orders that only reduce a position pass all of them; orders on their way "
             "count. docs/risk.md has the formulas and the order in which they are checked."},
    {"events", "events/ in the state directory: every input of the engine, and at the start of each segment "
               "the engine's whole state. It is always written."},
    {"indicators",
     "What is kept for every symbol and timeframe, one closed bar at a time, for the dashboard's chart, for "
     "status and for scripts. A strategy's own indicators are no part of it: they are computed in the "
     "engine, on the CPU, and decisions rest on nothing else."},
    {"trainer",
     "Trainings run in a co-process, papertape-trainer serve, and in processes of its own: neither the "
     "daemon's end nor its upgrade touches them, and a new daemon finds it again by its socket. A co-process "
     "that runs already keeps what it was started with."},
    {"alerts",
     "The rules on devices, trainings, accounts and the machine, and where alerts are delivered: docs/alerts.md. "
     "A limit of 0, or off, switches its rule off. A figure that a device or its "
     "driver does not say raises no alert and ends none. What is open at a restart stays open, and ends by the "
     "same rule. papertape alerts lists them; docs/control.md has all codes."},
    {"metrics",
     "Prometheus' text, and the verbs' JSON, by HTTP, read-only, from a thread of its own; off by default. "
     "docs/prometheus.md has the metrics, rules of alerts and a dashboard."},
    {"venue",
     "A further venue, with symbols of its own, or, for the first one, what [market] has no key for: not its "
     "symbols, streams and hosts. A symbol's name is unique among all venues. Each has its own connections, "
     "limits, clock and calendar; one that is away or refuses leaves the others alone."},
    {"account",
     "One section an account; the name has letters, digits, - _ and dots. Any such section replaces the "
     "default account, main. Accounts made while the daemon runs (papertape account create) come back with "
     "what they were made with; a section of the same name wins over that."},
};

static void print_ini(const struct daemon_config *defaults)
{
    size_t n, size;
    const struct venue *const *venues = venues_known(&n);
    fputs(ini_head, stdout);
    daemon_config_print(defaults, stdout);
    for (size_t i = 0; i < n; i++) {
        struct daemon_config config = *defaults;
        char *text = NULL;
        FILE *to = venues[i] == venue_default() ? NULL : open_memstream(&text, &size);
        if (!to)
            continue;
        daemon_config_venue_defaults(&config.venues[config.n_venues], venues[i]);
        daemon_config_venue_print(&config, config.n_venues, to);
        fclose(to);
        for (char *line = text, *next; *line; line = next) {
            next = line + strcspn(line, "\n") + 1;
            printf("%s%.*s", *line == '#' || *line == '\n' ? "" : "#", (int)(next - line), line);
        }
        free(text);
    }
}

static void begin_section(const char *section, const char *name)
{
    printf(".SH [%s%s]\n", section, name);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].section, section) == 0)
            option_man_text(stdout, sections[i].words);
}

static void print_venues(void)
{
    size_t n;
    const struct venue *const *venues = venues_known(&n);
    const struct config_key *keys = daemon_config_venue_keys(&n);
    begin_section("venue", " NAME");
    config_key_man(keys, n, "venue", NULL, stdout);
    (void)venues_known(&n);
    for (size_t v = 0; v < n; v++)
        for (size_t i = 0; i < venues[v]->n_options; i++) {
            const struct venue_option *option = &venues[v]->options[i];
            char term[128], words[400];
            snprintf(term, sizeof term, "%s = %s", option->name, option->fallback);
            snprintf(words, sizeof words, "Of %s: %s%s%s%s.", venues[v]->format->name, option->summary,
                     option->values ? " (" : "", option->values ? option->values : "",
                     option->values ? ")" : "");
            option_man_entry(stdout, term, words);
        }
}

static void print_parameter(const struct strategy_param *param)
{
    char term[128], words[400], word[STRATEGY_WORD_MAX], all[STRATEGY_WORDS_MAX];
    if (strategy_param_word(param, param->fallback, word)) {
        snprintf(term, sizeof term, "strategy.%s = %s", param->name, word);
        snprintf(words, sizeof words, "%s (%s).", param->summary, strategy_param_words(param, all));
    } else {
        snprintf(term, sizeof term, "strategy.%s = %.10g", param->name, param->fallback);
        snprintf(words, sizeof words, "%s (a %snumber from %.10g to %.10g).", param->summary,
                 param->integer ? "whole " : "", param->min, param->max);
    }
    option_man_entry(stdout, term, words);
}

static void print_strategies(void)
{
    size_t n;
    const struct strategy *const *all = strategy_list(&n);
    puts(".SH STRATEGIES\nWhat strategy may be, and its parameters, strategy.NAME, wherever strategy itself "
         "stands in the section. docs/strategies.md has their rules.");
    for (size_t i = 0; i < n; i++) {
        printf(".SS %s\n", all[i]->name);
        option_man_text(stdout, all[i]->summary);
        for (size_t k = 0; k < all[i]->n_params; k++)
            print_parameter(&all[i]->params[k]);
    }
}

static void print_man(const struct daemon_config *defaults)
{
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    fputs(man_head, stdout);
    for (size_t i = 0; i < n; i++) {
        const char *section = keys[i].section;
        bool account = strcmp(section, "account") == 0;
        if (i > 0 && strcmp(section, keys[i - 1].section) == 0)
            continue;
        if (account)
            print_venues();
        begin_section(section, account ? " NAME" : "");
        config_key_man(keys, n, section, account ? (const void *)&defaults->accounts[0] : defaults, stdout);
    }
    print_strategies();
    puts(".SH SEE ALSO\n.BR papertaped (1)");
}

int main(int argc, char **argv)
{
    static struct daemon_config defaults;
    daemon_config_defaults(&defaults);
    if (argc == 2 && strcmp(argv[1], "ini") == 0)
        print_ini(&defaults);
    else if (argc == 2 && strcmp(argv[1], "man") == 0)
        print_man(&defaults);
    else if (argc == 2 && strcmp(argv[1], "metrics") == 0)
        daemon_metrics_page(stdout);
    else
        return EXIT_FAILURE;
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
