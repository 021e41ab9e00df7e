/* Reading a configuration: its lines by record/config_file, presets first; then its consistency. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/nearest.h"
#include "record/config_file.h"
#include "trainer/config_table.h"
#include "trainer/study/settings_table.h"

struct reading {
    struct train_config *config;
    struct study_settings settings;
    struct config_file file;
    bool is_study;
};

static int read_heading(const char *section, char why[static CONFIG_WHY_MAX])
{
    static const char *const sections[] = {"training", "network", "ppo",    "environment", "data",
                                           "serve",    "study",   "search", "account"};
    struct nearest nearest = {0};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (strcmp(section, sections[i]) == 0)
            return 0;
        nearest_offer(&nearest, section, sections[i]);
    }
    return config_key_refuse(why, CONFIG_WHY_MAX, "unknown section%s", NEAREST_HINT(&nearest, section));
}

/* Keys that also set others come first; [search], whose ranges may depend on [data], last. */
static int turn_of(const struct config_line *line)
{
    static const char *const first[][2] = {
        {"", "preset"}, {"", "world"}, {"study", "sampler"}, {"study", "pruner"}, {"study", "strategy"}};
    for (size_t i = 0; line->key && i < sizeof first / sizeof *first; i++)
        if (strcmp(line->key, first[i][1]) == 0 &&
            (!first[i][0][0] || strcmp(line->section, first[i][0]) == 0))
            return 0;
    return strcmp(line->section, "search") == 0 ? 2 : 1;
}

static bool share_keys(const char *a, const char *b)
{
    return train_config_is_ppo_section(a) && train_config_is_ppo_section(b);
}

/* `words` without "[section] key: ", which are shown separately. */
static const char *bare(const char *words, const char *section, const char *key)
{
    char prefix[2 * CONFIG_WORD_MAX + 8];
    size_t n = (size_t)snprintf(prefix, sizeof prefix, "[%s] ", section);
    if (strncmp(words, prefix, n) == 0)
        words += n;
    n = (size_t)snprintf(prefix, sizeof prefix, "%s: ", key);
    return strncmp(words, prefix, n) == 0 ? words + n : words;
}

/* What follows from a strategy that could not be opened is not read: it is no error of its own. */
static bool is_unknowable(const struct config_file *file, const char *section)
{
    return (strcmp(section, "search") == 0 || strcmp(section, "account") == 0) &&
           config_file_faulty(file, "study", "strategy");
}

static int set_line(void *ctx, const struct config_line *line, char why[static CONFIG_WHY_MAX])
{
    struct reading *reading = ctx;
    char err[CONFIG_ERROR_MAX];
    bool study = train_config_is_study_section(line->section);
    reading->is_study |= study;
    int r = !line->key || is_unknowable(&reading->file, line->section) ? 0
            : study ? study_settings_set(&reading->settings, reading->config, line->section, line->key,
                                         line->value, err)
                    : train_config_set(reading->config, line->section, line->key, line->value, err);
    if (r < 0)
        config_key_refuse(why, CONFIG_WHY_MAX, "%s", bare(err, line->section, line->key));
    return r;
}

static const struct config_form form = {
    .example = "training",
    .line_max = CONFIG_LINE_MAX,
    .heading = read_heading,
    .turns = 3,
    .turn = turn_of,
    .same = share_keys,
    .set = set_line,
};

/* ---- Consistency. ---- */

/* Reports it at the key that the sentence begins with, else at the first of them. */
static void take_misfit(void *ctx, const char *section, const char *keys, const char *words)
{
    char key[CONFIG_WORD_MAX], all[4 * CONFIG_WORD_MAX], head[CONFIG_WORD_MAX + 4];
    const char *named = keys;
    snprintf(head, sizeof head, "[%.*s] ", CONFIG_WORD_MAX - 1, section);
    if (strncmp(words, head, strlen(head)) == 0)
        named = words + strlen(head);
    snprintf(key, sizeof key, "%.*s", (int)strcspn(named, " :"), named);
    snprintf(all, sizeof all, "%s %s", key, keys);
    config_file_misfit(ctx, &form, section, all, bare(words, section, key));
}

static void refuse_market(struct config_file *file, const struct train_config *config)
{
    char why[CONFIG_WHY_MAX];
    const char *section = "";
    snprintf(why, sizeof why, "the world %.60s is no market: leave the section out", config->world);
    for (size_t i = 0; i < file->n; i++) {
        const struct config_line *line = &file->lines[i];
        if (!line->key || !train_config_is_market_section(line->section) ||
            strcmp(line->section, section) == 0)
            continue;
        section = line->section;
        config_file_error(file, line->line, section, line->key, why);
    }
}

/* Checks the settings; if all else is right, with the space that they search. */
static int fit_settings(struct reading *reading, const char **ret_key, char *why)
{
    int r = study_settings_check(&reading->settings, ret_key, why);
    if (r < 0 || reading->file.n_errors > 0)
        return r;
    *ret_key = NULL;
    r = study_settings_complete(&reading->settings, reading->config, why);
    return r < 0 ? r : study_settings_check_grid(&reading->settings, ret_key, why);
}

static void fit(struct reading *reading)
{
    char why[CONFIG_ERROR_MAX];
    struct config_file *file = &reading->file;
    const struct train_config *config = reading->config;
    const char *key = NULL;
    if (config_file_faulty(file, "training", "world"))
        return;
    if (train_config_check_world(config, why) < 0) {
        take_misfit(file, "training", "world", why);
        return;
    }
    if (!train_config_trades(config))
        refuse_market(file, config);
    else if (reading->settings.rules.strategy)
        study_rules_refuse(file);
    if (!config_file_faulty(file, "training", "preset"))
        train_config_misfits(config, take_misfit, file);
    if (file->n_errors == 0)
        study_settings_misfits(&reading->settings, config, take_misfit, file);
    if (file->n_errors == 0 &&
        study_rules_reads_columns(&reading->settings.rules, &reading->settings.space, why))
        take_misfit(file, "study", "strategy", why);
    int r = fit_settings(reading, &key, why);
    file->no_memory |= r == -ENOMEM;
    if (r < 0)
        take_misfit(file, key ? "study" : "search", key ? key : "", why);
}

/* ---- All of it. ---- */

static const char *value_of(const struct config_file *file, const char *section, const char *key)
{
    for (size_t i = 0; i < file->n; i++)
        if (file->lines[i].key && strcmp(file->lines[i].section, section) == 0 &&
            strcmp(file->lines[i].key, key) == 0)
            return file->lines[i].value;
    return NULL;
}

/* Does the file name the reference's execution, and no preset? Then the reference's numbers come with it. */
static bool starts_from_reference(const struct config_file *file)
{
    const char *execution = value_of(file, "environment", "execution");
    return execution && strcmp(execution, "reference") == 0 && !value_of(file, "environment", "preset");
}

/* Of a study of a strategy: closes are all that is read of the bars beside them, and no device is. */
static void leave_learning(struct train_config *config)
{
    config->data.features[0] = '\0';
    config->data.test_share = config->data.validation_share = 0;
    config->ppo.device = PPO_CPU;
}

/* Returns the number of errors, or -errno; reading's parts must be freed. `text` NULL: the file `name`. */
static int read_all(const char *name, const char *text, int64_t now_ns, struct reading *reading)
{
    char err[CONFIG_ERROR_MAX];
    *reading =
        (struct reading){.config = malloc(sizeof *reading->config), .settings = study_settings_defaults()};
    int r = !reading->config ? -ENOMEM
            : text           ? config_file_parse(&reading->file, name, text, strlen(text), &form)
                             : config_file_read(&reading->file, name, &form);
    if (r < 0)
        return r;
    train_config_defaults(reading->config);
    reading->config->now_ns = now_ns ? now_ns : train_config_clock_ns(); /* one for all of its times */
    if (starts_from_reference(&reading->file))
        (void)train_config_set(reading->config, "environment", "preset", "cappuccino", err);
    config_file_apply(&reading->file, &form, reading);
    if (reading->settings.rules.strategy)
        leave_learning(reading->config);
    fit(reading);
    config_file_sort(&reading->file);
    return reading->file.no_memory ? -ENOMEM : (int)reading->file.n_errors;
}

static void finish(struct reading *reading)
{
    config_file_finish(&reading->file);
    study_settings_finish(&reading->settings);
    free(reading->config);
}

int train_config_read_text(const char *name, const char *text, int64_t now_ns, struct train_config *ret,
                           struct study_settings *ret_settings, bool *ret_is_study,
                           char err[static CONFIG_ERROR_MAX])
{
    struct reading reading;
    int r = read_all(name, text, now_ns, &reading);
    if (r == -ENOMEM)
        train_config_say(err, r, "out of memory: %.300s", name);
    else if (r != 0) {
        config_file_words(&reading.file, err, CONFIG_ERROR_MAX);
        err[strcspn(err, "\n")] = '\0';
    }
    if (r == 0)
        *ret = *reading.config;
    if (r == 0 && ret_settings) {
        *ret_settings = reading.settings;
        *ret_is_study = reading.is_study;
        reading.settings = (struct study_settings){0};
    }
    finish(&reading);
    return r > 0 ? -EINVAL : r;
}

int train_config_errors(const char *name, const char *text, struct train_config *ret,
                        void (*error)(void *ctx, int line, const char *section, const char *key,
                                      const char *message),
                        void *ctx)
{
    struct reading reading;
    int n = read_all(name, text, 0, &reading);
    for (int i = 0; i < n; i++) {
        const struct config_error *found = &reading.file.errors[i];
        error(ctx, found->line, found->section, found->key ? found->key : "", found->words);
    }
    if (n == 0 && ret)
        *ret = *reading.config;
    finish(&reading);
    return n;
}

int train_config_read(const char *path, struct train_config *ret, char err[static CONFIG_ERROR_MAX])
{
    return train_config_read_text(path, NULL, 0, ret, NULL, NULL, err);
}

int train_config_parse(const char *name, const char *text, struct train_config *ret,
                       char err[static CONFIG_ERROR_MAX])
{
    return train_config_read_text(name, text, 0, ret, NULL, NULL, err);
}
