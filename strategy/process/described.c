/* A process's description, its answer to {"type":"describe"}. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/symbol.h"
#include "exchange/utf8.h"
#include "strategy/process/process.h"

#define REFUSE(r, ...) fail_with(-EINVAL, (r)->err, (r)->err_size, __VA_ARGS__)

/* A description that is being read. */
struct description_reader {
    struct process_strategy *ret;
    char *texts, *end; /* of the texts that were copied */
    char *err;
    size_t err_size;
};

/* A text of the description: one line, copied. NULL is not wanted: 0 with the fallback. */
static int take_text(struct description_reader *reader, const json_t *value, const char *what, size_t most,
                     const char **ret)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) >= most || json_string_length(value) != strlen(text))
        return REFUSE(reader, "%s is no text of at most %zu bytes", what, most - 1);
    *ret = strcpy(reader->texts, text);
    utf8_clean(reader->texts);
    reader->texts += strlen(text) + 1;
    return 0;
}

static bool is_name(const char *text, char also)
{
    if (!islower((unsigned char)*text))
        return false;
    for (; *text; text++)
        if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) && *text != also)
            return false;
    return true;
}

/* Is every key of the object one of these, with blanks around? */
static int check_keys(struct description_reader *reader, json_t *object, const char *where, const char *keys)
{
    const char *key;
    json_t *value;
    char word[48];
    json_object_foreach(object, key, value)
    {
        snprintf(word, sizeof word, " %.40s ", key);
        if (!strstr(keys, word))
            return REFUSE(reader, "%s has \"%.40s\", which is not known: it has%s", where, key, keys);
    }
    return 0;
}

static int take_number(struct description_reader *reader, const json_t *object, const char *name,
                       const char *key, double *ret)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return REFUSE(reader, "parameter %s: \"%s\" is no number", name, key);
    *ret = json_number_value(value);
    return 0;
}

/* A parameter with words. */
static int take_words(struct description_reader *reader, const json_t *object, struct strategy_param *param)
{
    const json_t *words = json_object_get(object, "words");
    const char *fallback = json_string_value(json_object_get(object, "default"));
    size_t n = json_array_size(words), room = STRATEGY_WORDS_MAX;
    char *to = reader->texts;
    param->words = to;
    param->fallback = -1;
    for (size_t i = 0; i < n; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        if (!word || !*word || strlen(word) >= STRATEGY_WORD_MAX || strpbrk(word, " ,\t\n") ||
            strlen(word) + 4 > room)
            return REFUSE(reader, "parameter %s: \"words\" are at most %d bytes in all, without blanks",
                          param->name, STRATEGY_WORDS_MAX);
        room -= strlen(word) + 4; /* " or " */
        to += sprintf(to, "%s%s", i > 0 ? " " : "", word);
        if (fallback && strcmp(word, fallback) == 0)
            param->fallback = (double)i;
    }
    reader->texts = to + 1;
    if (n < 2 || param->fallback < 0)
        return REFUSE(reader, "parameter %s: \"default\" is none of its \"words\"", param->name);
    param->max = (double)(n - 1);
    param->integer = true;
    return 0;
}

static int take_range(struct description_reader *reader, const json_t *object, struct strategy_param *param)
{
    const json_t *integer = json_object_get(object, "integer");
    int r = take_number(reader, object, param->name, "default", &param->fallback);
    if (r == 0)
        r = take_number(reader, object, param->name, "min", &param->min);
    if (r == 0)
        r = take_number(reader, object, param->name, "max", &param->max);
    if (r < 0)
        return r;
    param->integer = json_is_true(integer);
    if (integer && !json_is_boolean(integer))
        return REFUSE(reader, "parameter %s: \"integer\" is not true or false", param->name);
    if (!(param->min <= param->fallback && param->fallback <= param->max))
        return REFUSE(reader, "parameter %s: \"default\" %g is not between \"min\" %g and \"max\" %g",
                      param->name, param->fallback, param->min, param->max);
    if (param->integer && param->fallback != floor(param->fallback))
        return REFUSE(reader, "parameter %s: \"default\" %g is not whole", param->name, param->fallback);
    return 0;
}

static int take_param(struct description_reader *reader, json_t *object, size_t place)
{
    struct strategy_param *param = &reader->ret->params[place];
    int r = json_is_object(object) ? 0 : REFUSE(reader, "a parameter is no object");
    if (r == 0)
        r = take_text(reader, json_object_get(object, "name"), "\"name\" of a parameter",
                      STRATEGY_PARAM_NAME_MAX, &param->name);
    if (r == 0 && !is_name(param->name, '_'))
        r = REFUSE(reader, "parameter \"%s\": a to z, then 0 to 9 and _ as well, make its name", param->name);
    for (size_t i = 0; i < place && r == 0; i++)
        if (strcmp(reader->ret->params[i].name, param->name) == 0)
            r = REFUSE(reader, "parameter %s is there twice", param->name);
    param->summary = "";
    if (r == 0 && json_object_get(object, "summary"))
        r = take_text(reader, json_object_get(object, "summary"), "\"summary\" of a parameter",
                      STRATEGY_SUMMARY_MAX, &param->summary);
    if (r < 0)
        return r;
    if (json_object_get(object, "words")) {
        r = check_keys(reader, object, "a parameter with words", " name summary default words ");
        return r == 0 ? take_words(reader, object, param) : r;
    }
    r = check_keys(reader, object, "a parameter", " name summary default min max integer ");
    return r == 0 ? take_range(reader, object, param) : r;
}

static int take_params(struct description_reader *reader, const json_t *params)
{
    const size_t n = json_array_size(params);
    if (params && !json_is_array(params))
        return REFUSE(reader, "\"params\" is no array");
    if (n > STRATEGY_PARAMS_MAX)
        return REFUSE(reader, "it has %zu parameters: at most %d can be", n, STRATEGY_PARAMS_MAX);
    for (size_t i = 0; i < n; i++) {
        int r = take_param(reader, json_array_get(params, i), i);
        if (r < 0)
            return r;
    }
    reader->ret->strategy.n_params = n;
    return 0;
}

static int take_history(struct description_reader *reader, const json_t *history)
{
    const json_int_t n = history ? json_integer_value(history) : PROCESS_HISTORY;
    if (n < 0 || n > PROCESS_HISTORY_MAX || (history && !json_is_integer(history)))
        return REFUSE(reader, "\"history\" is no number of bars from 0 to %d", PROCESS_HISTORY_MAX);
    reader->ret->history = (uint32_t)n;
    return 0;
}

/* true or false; left out, false. */
static int take_flag(struct description_reader *reader, const json_t *object, const char *key, bool *ret)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_boolean(value))
        return REFUSE(reader, "\"%s\" is not true or false", key);
    *ret = json_is_true(value);
    return 0;
}

static int take_symbols(struct description_reader *reader, const json_t *object)
{
    const json_t *least = json_object_get(object, "symbols_min");
    const json_int_t n = json_integer_value(least);
    if (least && (!json_is_integer(least) || n < 0 || n > SYMBOLS_MAX))
        return REFUSE(reader, "\"symbols_min\" is no number of symbols from 0 to %d", SYMBOLS_MAX);
    reader->ret->strategy.symbols_min = (int)n;
    return 0;
}

static int take_flags(struct description_reader *reader, const json_t *object)
{
    struct strategy *strategy = &reader->ret->strategy;
    int r = take_flag(reader, object, "shorts", &strategy->shorts);
    if (r == 0)
        r = take_flag(reader, object, "needs_shorts", &strategy->needs_shorts);
    if (r == 0)
        r = take_flag(reader, object, "peers", &strategy->peers);
    return r == 0 ? take_flag(reader, object, "together", &strategy->together) : r;
}

static int take_all(struct description_reader *reader, json_t *object)
{
    struct process_strategy *ret = reader->ret;
    const char *type = json_string_value(json_object_get(object, "type"));
    const json_t *protocol = json_object_get(object, "protocol");
    if (type && strcmp(type, "error") == 0)
        return REFUSE(reader, "it failed: %.120s",
                      json_string_value(json_object_get(object, "text")) ?: "without a \"text\"");
    if (!type || strcmp(type, "strategy") != 0)
        return REFUSE(reader, "the first line is no description: {\"type\":\"strategy\", ...} is needed");
    if (!json_is_integer(protocol) || json_integer_value(protocol) != PROCESS_PROTOCOL)
        return REFUSE(reader, "\"protocol\" is not %d, the only one that this program speaks",
                      PROCESS_PROTOCOL);
    int r = check_keys(
        reader, object, "the description",
        " type protocol name summary params history shorts needs_shorts peers together symbols_min ");
    if (r == 0)
        r = take_text(reader, json_object_get(object, "name"), "\"name\"", STRATEGY_TITLE_MAX,
                      &ret->external.title);
    if (r == 0 && !is_name(ret->external.title, '-'))
        r = REFUSE(reader, "\"name\" %s: a to z, then 0 to 9 and - as well, make a name",
                   ret->external.title);
    ret->strategy.summary = "";
    if (r == 0 && json_object_get(object, "summary"))
        r = take_text(reader, json_object_get(object, "summary"), "\"summary\"", STRATEGY_SUMMARY_MAX,
                      &ret->strategy.summary);
    if (r == 0)
        r = take_flags(reader, object);
    if (r == 0)
        r = take_symbols(reader, object);
    if (r == 0)
        r = take_history(reader, json_object_get(object, "history"));
    return r == 0 ? take_params(reader, json_object_get(object, "params")) : r;
}

int strategy_process_described(const char *line, size_t len, const char *source,
                               struct process_strategy **ret, char *err, size_t err_size)
{
    json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
    struct process_strategy *process = calloc(1, sizeof *process);
    if (!process || !(process->texts = malloc(2 * len + 2 * strlen(source) + sizeof "exec:" + 1))) {
        json_decref(object);
        free(process);
        return fail_with(-ENOMEM, err, err_size, "not enough memory");
    }
    pthread_mutex_init(&process->lock, NULL);
    struct description_reader reader = {
        .ret = process, .texts = process->texts, .err = err, .err_size = err_size};
    process->strategy.name = reader.texts;
    process->external.source = reader.texts + strlen("exec:");
    reader.texts += sprintf(reader.texts, "exec:%s", source) + 1;
    int r = json_is_object(object) ? take_all(&reader, object)
                                   : REFUSE(&reader, "the first line is no JSON object");
    json_decref(object);
    if (r < 0) {
        strategy_process_free(process);
        return r;
    }
    process->strategy.params = process->params;
    process->strategy.external = &process->external;
    process->external.form = STRATEGY_PROCESS;
    process->external.ctx = process;
    process->external.check = strategy_process_check;
    process->external.specs = strategy_process_specs;
    *ret = process;
    return 0;
}
