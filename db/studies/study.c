#include "db/studies/study.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *study_direction_name(enum study_direction direction)
{
    static const char *const names[] = {"NOT_SET", "MINIMIZE", "MAXIMIZE"};
    return names[direction];
}

const char *study_trial_state_name(enum trial_state state)
{
    static const char *const names[] = {"RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING"};
    return names[state];
}

const struct study_attribute *study_attribute_find(const struct study_attribute *attributes, int n,
                                                   const char *key)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2, order = strcmp(attributes[middle].key, key);
        if (order == 0)
            return &attributes[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

json_t *study_attribute_json(const struct study_attribute *attributes, int n, const char *key)
{
    const struct study_attribute *found = study_attribute_find(attributes, n, key);
    return found && found->json ? json_loads(found->json, JSON_DECODE_ANY, NULL) : NULL;
}

char *study_attribute_text(const struct study_attribute *attributes, int n, const char *key)
{
    json_t *json = study_attribute_json(attributes, n, key);
    char *text = json_is_string(json) ? strdup(json_string_value(json)) : NULL;
    json_decref(json);
    return text;
}

int study_param_find(const struct study *study, const char *name)
{
    for (int i = 0; i < study->n_params; i++)
        if (strcmp(study->params[i], name) == 0)
            return i;
    return -1;
}

const struct trial_param *study_trial_param(const struct study_trial *trial, int param)
{
    /* Most trials have all parameters: the index is the place. */
    if (param >= 0 && param < trial->n_params && trial->params[param].param == param)
        return &trial->params[param];
    int low = 0, high = trial->n_params;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (trial->params[middle].param == param)
            return &trial->params[middle];
        if (trial->params[middle].param < param)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct trial_report *study_trial_report(const struct study_trial *trial, int64_t step)
{
    int low = 0, high = trial->n_reports;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (trial->reports[middle].step == step)
            return &trial->reports[middle];
        if (trial->reports[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

struct violation {
    int n;
    double sum;
    bool all_met;
};

/* Numbers as Python's JSON has them, NaN and Infinity too. */
static const char *add_number(const char *text, struct violation *violation)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text)
        return NULL;
    violation->n++;
    if (value > 0)
        violation->sum += value;
    if (!(value <= 0))
        violation->all_met = false;
    return end;
}

static struct violation violations(const struct study_trial *trial)
{
    static const char key[] = "constraints";
    struct violation violation = {.all_met = true};
    for (int i = 0; i < trial->n_system; i++) {
        const char *rest = trial->system[i].key, *json = trial->system[i].json;
        if (strncmp(rest, key, sizeof key - 1) != 0 || !json)
            continue;
        rest += sizeof key - 1;
        if (*rest == ':') {
            add_number(json, &violation);
        } else if (*rest == '\0') {
            json += strspn(json, " [");
            while (json && *json && *json != ']' && (json = add_number(json, &violation)))
                json += strspn(json, " ,");
        }
    }
    return violation;
}

double study_trial_violation(const struct study_trial *trial)
{
    struct violation violation = violations(trial);
    return violation.n > 0 ? violation.sum : NAN;
}

const struct study_trial *study_best(const struct study *study)
{
    const struct study_trial *best = NULL;
    if (study->n_objectives != 1)
        return NULL;
    bool maximize = study->directions[0] == STUDY_MAXIMIZE;
    for (int i = 0; i < study->n_trials; i++) {
        const struct study_trial *trial = study->trials[i];
        if (trial->state != TRIAL_COMPLETE || !trial->values || isnan(trial->values[0]) ||
            !violations(trial).all_met)
            continue;
        if (!best || (maximize ? trial->values[0] > best->values[0] : trial->values[0] < best->values[0]))
            best = trial;
    }
    return best;
}

int study_base_name(const char *name, char ret[static STUDY_NAME_MAX + 1])
{
    enum { DIGITS_MAX = 6 };
    size_t n = strnlen(name, STUDY_NAME_MAX), digits = 0;
    while (digits < n && isdigit((unsigned char)name[n - 1 - digits]))
        digits++;
    size_t stem = n - digits;
    bool numbered =
        digits > 0 && digits <= DIGITS_MAX && name[stem] != '0' && stem > 1 && name[stem - 1] == '_';
    int k = numbered ? atoi(name + stem) : 0;
    n = numbered ? stem - 1 : n;
    memcpy(ret, name, n);
    ret[n] = '\0';
    return k;
}
