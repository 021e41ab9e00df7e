#include "trainer/ppo/params.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/nearest.h"
#include "trainer/env/refusal.h"
#include "trainer/ppo/params_table.h"

enum { ROWS_MAX = 1 << 30 };
_Static_assert((int)PPO_ERROR_MAX == (int)ENV_ERROR_MAX, "env_refuse() writes both");

static const struct ppo_params plain = {
    .net = {.n_pi = 2, .pi = {64, 64}, .n_vf = 2, .vf = {64, 64}, .activation = NET_TANH},
    .log_std_init = 0,
    .log_std_min = -4,
    .log_std_max = 2,
    .policy_gain = 0.01,
    .copies = 8,
    .steps = 1024,
    .gamma = 0.99,
    .gae_lambda = 0.95,
    .normalise_observations = true,
    .normalise_rewards = true,
    .clip_observations = 10,
    .clip_rewards = 10,
    .minibatch = 1024,
    .epochs = 4,
    .sequence = 16,
    .learning_rate = 3e-4,
    .lr_final = 0.1,
    .lr_schedule = PPO_CONSTANT,
    .adam_beta1 = 0.9,
    .adam_beta2 = 0.999,
    .adam_epsilon = 1e-5,
    .clip_range = 0.2,
    .clip_range_final = 0.2,
    .vf_coef = 0.5,
    .entropy_bound = 1,
    .value_bound = 10,
    .normalise_advantages = true,
    .max_grad_norm = 0.5,
    .bad_updates = 10,
    .seed = 1,
    .total_steps = 1000000,
    .device = PPO_AUTO,
    .precision = PPO_BF16,
    .memory_cap = 0.8,
};

static const char *const presets[] = {"default", "reference-4080"};

int ppo_params_preset(const char *name, struct ppo_params *ret, char err[static PPO_ERROR_MAX])
{
    struct ppo_params params = plain;
    if (strcmp(name, "reference-4080") == 0) {
        params.net = (struct net_shape){
            .n_pi = 3, .pi = {2048, 1024, 512}, .n_vf = 3, .vf = {2048, 1024, 512}, .activation = NET_TANH};
        params.copies = 32;
        params.steps = 4096;
        params.total_steps = 10000000;
        params.bounded = true;
        params.ent_coef = 0.05;
        params.ent_coef_final = 0.005;
    } else if (strcmp(name, "default") != 0) {
        struct nearest nearest = {0};
        for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
            nearest_offer(&nearest, name, presets[i]);
        return env_refuse(-ENOENT, err, "preset: %.60s: there is none of that name; the nearest is %s", name,
                          nearest.best);
    }
    *ret = params;
    return 0;
}

const struct ppo_key *ppo_params_list(size_t *ret_n)
{
    *ret_n = ppo_params_table_n;
    return ppo_params_table;
}

static int compare(const void *name, const void *row)
{
    return strcmp(name, ((const struct ppo_key *)row)->name);
}

static const struct ppo_key *find(const char *name)
{
    return bsearch(name, ppo_params_table, ppo_params_table_n, sizeof *ppo_params_table, compare);
}

enum kind { CHOICE, LIST, SWITCHED, INTEGER, LARGE, NUMBER };

static enum kind kind_of(const struct ppo_key *key)
{
    if (key->words)
        return strcmp(key->words, "widths") == 0 ? LIST : CHOICE;
    if (!key->whole)
        return NUMBER;
    return key->size == sizeof(bool) ? SWITCHED : key->size == sizeof(int) ? INTEGER : LARGE;
}

/* The word's place in a list divided by spaces; -1: not in it. */
static int word_place(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (int place = 0;; place++) {
        size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0)
            return place;
        if (!words[n])
            return -1;
        words += n + 1;
    }
}

static int last_place(const char *words)
{
    int places = 0;
    for (; *words; words++)
        places += *words == ' ';
    return places;
}

static int set_choice(char *field, const struct ppo_key *key, const char *text,
                      char err[static PPO_ERROR_MAX])
{
    bool is_mixed = key->offset == offsetof(struct ppo_params, precision) && strcmp(text, "mixed") == 0;
    int place = word_place(key->words, is_mixed ? "bf16" : text);
    if (place < 0)
        return env_refuse(-EINVAL, err, "%s: %.60s: one of these is right: %s", key->name, text, key->words);
    memcpy(field, &place, sizeof place);
    return 0;
}

static int set_widths(char *field, const struct ppo_key *key, const char *text,
                      char err[static PPO_ERROR_MAX])
{
    int widths[1 + NET_LAYERS_MAX] = {0};
    bool more = strcmp(text, "none") != 0;
    for (const char *p = text; more;) {
        char *end;
        bool digit = *p >= '0' && *p <= '9';
        long width = digit ? strtol(p, &end, 10) : 0;
        if (!digit || (*end != ',' && *end != '\0'))
            return env_refuse(-EINVAL, err, "%s: %.60s: widths with commas, as 64,64, or none, is right",
                              key->name, text);
        if (width < 1 || width > NET_WIDTH_MAX || widths[0] == NET_LAYERS_MAX)
            return env_refuse(-ERANGE, err, "%s: %.60s: at most %d widths, each from 1 to %d, is right",
                              key->name, text, NET_LAYERS_MAX, NET_WIDTH_MAX);
        widths[++widths[0]] = (int)width;
        more = *end == ',';
        p = end + more;
    }
    memcpy(field, widths, sizeof widths);
    return 0;
}

static bool read_number(const char *text, double *ret)
{
    size_t n = strlen(text);
    if (n == 0 || n > 63 || strspn(text, "+-.0123456789eE") < n)
        return false;
    char *end;
    *ret = strtod(text, &end);
    return *end == '\0' && isfinite(*ret);
}

static int set_number(char *field, const struct ppo_key *key, const char *text,
                      char err[static PPO_ERROR_MAX])
{
    enum kind kind = kind_of(key);
    double value;
    bool is_word = kind == SWITCHED && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
    if (is_word)
        value = text[0] == 't';
    bool is_number = is_word || read_number(text, &value);
    int rc = !is_number                                  ? -EINVAL
             : !(value >= key->min && value <= key->max) ? -ERANGE
             : kind != NUMBER && value != floor(value)   ? -ERANGE
                                                         : 0;
    if (rc != 0 && kind == SWITCHED)
        return env_refuse(rc, err, "%s: %.60s: true or false is right", key->name, text);
    if (rc != 0)
        return env_refuse(rc, err, "%s: %.60s: %s from %.16g to %.16g is right", key->name, text,
                          kind == NUMBER ? "a number" : "a whole number", key->min, key->max);
    bool on = value != 0;
    int integer = kind == INTEGER ? (int)value : 0;
    int64_t large = kind == LARGE ? (int64_t)value : 0;
    memcpy(field,
           kind == SWITCHED  ? (const void *)&on
           : kind == INTEGER ? (const void *)&integer
           : kind == LARGE   ? (const void *)&large
                             : (const void *)&value,
           key->size);
    return 0;
}

int ppo_params_set(struct ppo_params *params, const char *name, const char *text,
                   char err[static PPO_ERROR_MAX])
{
    const struct ppo_key *key = find(name);
    if (!key) {
        struct nearest nearest = {0};
        for (size_t i = 0; i < ppo_params_table_n; i++)
            nearest_offer(&nearest, name, ppo_params_table[i].name);
        return env_refuse(-ENOENT, err, "%.60s: there is no such key; the nearest is %s", name, nearest.best);
    }
    char *field = (char *)params + key->offset;
    switch (kind_of(key)) {
    case CHOICE:
        return set_choice(field, key, text, err);
    case LIST:
        return set_widths(field, key, text, err);
    default:
        return set_number(field, key, text, err);
    }
}

/* A number's field, or a choice's. */
static double number_of(const struct ppo_key *key, const char *field)
{
    bool on;
    int integer;
    int64_t large;
    double number;
    switch (kind_of(key)) {
    case SWITCHED:
        memcpy(&on, field, sizeof on);
        return on;
    case CHOICE:
    case INTEGER:
        memcpy(&integer, field, sizeof integer);
        return integer;
    case LARGE:
        memcpy(&large, field, sizeof large);
        return (double)large;
    default:
        memcpy(&number, field, sizeof number);
        return number;
    }
}

static int print_widths(const char *field, char *buf, size_t cap)
{
    int widths[1 + NET_LAYERS_MAX], n = 0;
    memcpy(widths, field, sizeof widths);
    if (widths[0] == 0)
        return snprintf(buf, cap, "none");
    for (int i = 1; i <= widths[0] && (size_t)n < cap; i++)
        n += snprintf(buf + n, cap - (size_t)n, i == 1 ? "%d" : ",%d", widths[i]);
    return n;
}

/* The fewest digits that read back as the same number. */
static int print_number(char *buf, size_t cap, double value)
{
    int n = 0;
    for (int digits = 6; digits <= 17; digits++) {
        n = snprintf(buf, cap, "%.*g", digits, value);
        if (n < 0 || (size_t)n >= cap || strtod(buf, NULL) == value)
            break;
    }
    return n;
}

bool ppo_params_get(const struct ppo_params *params, const char *name, char *buf, size_t cap)
{
    const struct ppo_key *key = find(name);
    if (!key || cap == 0)
        return false;
    const char *field = (const char *)params + key->offset;
    enum kind kind = kind_of(key);
    int n;
    if (kind == LIST) {
        n = print_widths(field, buf, cap);
    } else if (kind == CHOICE) {
        const char *word = key->words;
        for (int place = (int)number_of(key, field); place > 0; place--)
            word += strcspn(word, " ") + 1;
        n = snprintf(buf, cap, "%.*s", (int)strcspn(word, " "), word);
    } else if (kind == SWITCHED) {
        n = snprintf(buf, cap, "%s", number_of(key, field) != 0 ? "true" : "false");
    } else if (kind == NUMBER) {
        n = print_number(buf, cap, number_of(key, field));
    } else {
        n = snprintf(buf, cap, "%.0f", number_of(key, field));
    }
    return n >= 0 && (size_t)n < cap;
}

/* One value, which a program may have put there itself. */
static int check_value(const struct ppo_params *params, const struct ppo_key *key,
                       char err[static PPO_ERROR_MAX])
{
    const char *field = (const char *)params + key->offset;
    enum kind kind = kind_of(key);
    if (kind == LIST) {
        int widths[1 + NET_LAYERS_MAX];
        memcpy(widths, field, sizeof widths);
        if (widths[0] < 0 || widths[0] > NET_LAYERS_MAX)
            return env_refuse(-EINVAL, err, "%s: %d widths: 0 to %d is right", key->name, widths[0],
                              NET_LAYERS_MAX);
        for (int i = 1; i <= widths[0]; i++)
            if (widths[i] < 1 || widths[i] > NET_WIDTH_MAX)
                return env_refuse(-EINVAL, err, "%s: %d: widths from 1 to %d are right", key->name, widths[i],
                                  NET_WIDTH_MAX);
        return 0;
    }
    double value = number_of(key, field), max = kind == CHOICE ? last_place(key->words) : key->max;
    if (!(value >= key->min && value <= max))
        return env_refuse(-EINVAL, err, "%s: %.16g: from %.16g to %.16g is right", key->name, value, key->min,
                          max);
    return 0;
}

int ppo_params_check(const struct ppo_params *params, char err[static PPO_ERROR_MAX])
{
    for (size_t i = 0; i < ppo_params_table_n; i++) {
        int rc = check_value(params, &ppo_params_table[i], err);
        if (rc < 0)
            return rc;
    }
    int64_t rows = (int64_t)params->copies * params->steps;
    if (rows > ROWS_MAX)
        return env_refuse(-EINVAL, err,
                          "steps: %d: a rollout of %d copies has %lld rows then; at most %d is right",
                          params->steps, params->copies, (long long)rows, ROWS_MAX);
    if (params->minibatch > rows)
        return env_refuse(-EINVAL, err, "minibatch: %d: at most %lld is right, the rows of a rollout",
                          params->minibatch, (long long)rows);
    if (params->normalise_advantages && params->minibatch < 2)
        return env_refuse(-EINVAL, err, "minibatch: 1: at least 2 is right with normalise_advantages");
    if (params->net.recurrent % NET_LANES != 0)
        return env_refuse(-EINVAL, err, "recurrent: %d: a multiple of %d is right", params->net.recurrent,
                          NET_LANES);
    if (params->net.recurrent > 0 && params->steps % params->sequence != 0)
        return env_refuse(-EINVAL, err, "sequence: %d: a divisor of steps, %d, is right", params->sequence,
                          params->steps);
    if (params->net.recurrent > 0 && params->minibatch % params->sequence != 0)
        return env_refuse(-EINVAL, err, "minibatch: %d: a multiple of sequence, %d, is right",
                          params->minibatch, params->sequence);
    if (!(params->log_std_min <= params->log_std_init && params->log_std_init <= params->log_std_max))
        return env_refuse(-EINVAL, err,
                          "log_std_init: %g: from log_std_min, %g, to log_std_max, %g, is right",
                          params->log_std_init, params->log_std_min, params->log_std_max);
    if (params->lr_schedule == PPO_EXPONENTIAL && params->lr_final == 0)
        return env_refuse(-EINVAL, err, "lr_final: 0: above 0 is right with lr_schedule exponential");
    return 0;
}

static double between(double from, double to, double progress)
{
    return from + (to - from) * fmin(fmax(progress, 0), 1);
}

double ppo_learning_rate(const struct ppo_params *params, double progress)
{
    switch (params->lr_schedule) {
    case PPO_LINEAR:
        return params->learning_rate * between(1, params->lr_final, progress);
    case PPO_EXPONENTIAL:
        return params->learning_rate * pow(params->lr_final, between(0, 1, progress));
    default:
        return params->learning_rate;
    }
}

double ppo_clip_range(const struct ppo_params *params, double progress)
{
    return between(params->clip_range, params->clip_range_final, progress);
}

double ppo_ent_coef(const struct ppo_params *params, double progress)
{
    return between(params->ent_coef, params->ent_coef_final, progress);
}
