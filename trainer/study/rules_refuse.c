/* What has no effect in a study of a strategy, or is not there: keys and sections of a configuration,
 * directions that its account cannot trade, columns of files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record/config_file.h"
#include "strategy/column.h"
#include "strategy/direction.h"
#include "strategy/external.h"
#include "trainer/config_table.h"
#include "trainer/study/rules.h"
#include "trainer/study/settings_table.h"

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* Sections that a study of a strategy reads, and what of them: NULL: all; "!" first: all but these. */
static const struct {
    const char *section;
    const char *keys[14];
} read_of[] = {
    {"study", {"!", "space", "ensemble", "combine", "expires", NULL}},
    {"search", {NULL}},
    {"account", {NULL}},
    {"serve", {NULL}},
    {"training", {"name", "world", "output", NULL}}, /* output: the co-process sets it */
    {"data",
     {"bars", "state", "symbols", "exchange_info", "lots", "interval", "calendar", "zone", "train_from",
      "train_to", "to", NULL}},
};

static bool is_read(const char *section, const char *key)
{
    for (size_t i = 0; i < sizeof read_of / sizeof *read_of; i++) {
        const char *const *keys = read_of[i].keys;
        if (strcmp(read_of[i].section, section) != 0)
            continue;
        if (!keys[0])
            return true;
        return keys[0][0] == '!' ? !is_one_of(key, keys + 1) : is_one_of(key, keys);
    }
    return false;
}

/* One error a line is enough: an unknown key has no effect, too. */
static bool has_error(const struct config_file *file, int line)
{
    for (size_t i = 0; i < file->n_errors; i++)
        if (file->errors[i].line == line)
            return true;
    return false;
}

void study_rules_refuse(struct config_file *file)
{
    for (size_t i = 0; i < file->n; i++) {
        const struct config_line *line = &file->lines[i];
        if (line->key && !is_read(line->section, line->key) && !has_error(file, line->line))
            config_file_error(file, line->line, line->section, line->key,
                              "it has no effect: a study of a strategy trains nothing: leave it out");
    }
}

/* ---- Directions. ---- */

/* Adds what a direction that is searched does in an account that may not be short, if that is no trade that
 * it would do with another. */
static void add_direction(const struct study_rules *rules, const struct distribution *searched, int which,
                          char *words, size_t size)
{
    double params[STRATEGY_PARAMS_MAX];
    char text[SETTINGS_VALUE_MAX];
    memcpy(params, rules->params, sizeof params);
    if (study_settings_value_text(searched, which, text) < 0 ||
        strategy_set(rules->strategy, params, DIRECTION_NAME, text, NULL) < 0)
        return;
    const char *what = strategy_without_shorts(rules->strategy, params);
    size_t at = strlen(words);
    if (what)
        snprintf(words + at, size - at, "%s%.31s %s", at > 0 ? ", " : "", text, what);
}

bool study_rules_long_only(const struct study_rules *rules, const struct space *space,
                           char words[static CONFIG_ERROR_MAX])
{
    char list[STRATEGY_WORDS_MAX] = "";
    const char *where = "[search] " DIRECTION_NAME;
    if (!rules->strategy || rules->terms.rules.shorts)
        return false;
    const int at = space_find(space, DIRECTION_NAME);
    const struct distribution *searched = at >= 0 ? &space->params[at].distribution : NULL;
    const char *what = searched ? NULL : strategy_without_shorts(rules->strategy, rules->params);
    for (int i = 0; searched && i < searched->n_choices; i++)
        add_direction(rules, searched, i, list, sizeof list);
    if (what) {
        where = "[account] shorts";
        snprintf(list, sizeof list, "%.60s %s", strategy_title(rules->strategy), what);
    }
    if (!list[0])
        return false;
    snprintf(words, CONFIG_ERROR_MAX,
             "%s: %s: its account may not be short, which shorts = on of [account] allows", where, list);
    return true;
}

/* ---- Columns. ---- */

static bool reads_columns(const struct strategy *strategy, const double *params)
{
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    const size_t n = strategy_specs(strategy, params, specs);
    for (size_t i = 0; i < n && i < STRATEGY_SPECS_MAX; i++)
        if (strategy_column_is(specs[i]) || strstr(specs[i], "@" STRATEGY_COLUMN_PREFIX))
            return true;
    return false;
}

bool study_rules_reads_columns(const struct study_rules *rules, const struct space *space,
                               char words[static CONFIG_ERROR_MAX])
{
    double params[STRATEGY_PARAMS_MAX];
    bool reads = false;
    int r = rules->strategy ? 0 : -ENODATA;
    for (int i = 0; !reads && r >= 0 && (r = study_rules_ends(rules, space, i, params)) >= 0; i++)
        reads = r > 0 && reads_columns(rules->strategy, params);
    if (reads)
        (void)train_config_say(words, -EINVAL,
                               "[study] strategy: %.60s reads columns of a file, which a study has none of: "
                               "papertape sweep and papertape backtest read them, with --columns",
                               strategy_title(rules->strategy));
    return reads;
}
