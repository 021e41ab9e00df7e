#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/exit_status.h"
#include "exchange/nearest.h"
#include "record/config_key.h"
#include "record/option.h"
#include "record/option_text.h"

const struct option_row *option_row(const struct option_program *program, const struct option_verb *verb,
                                    size_t i)
{
    if (i < verb->n_options)
        return &verb->options[i];
    i -= verb->n_options;
    if (i < verb->n_shared)
        return &verb->shared[i];
    i -= verb->n_shared;
    return i < program->n_global ? &program->global[i] : NULL;
}

static bool is_global(const struct option_call *call, const struct option_row *row)
{
    return row >= call->program->global && row < call->program->global + call->program->n_global;
}

bool option_is_one_of(const char *words, char between, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = words; at; at = strchr(at, between)) {
        at += *at == between;
        if (strncmp(at, word, len) == 0 && (at[len] == between || at[len] == '\0') && len > 0)
            return true;
        if (!strchr(at, between))
            break;
    }
    return false;
}

const struct option_verb *option_find_verb(const struct option_program *program, const char *name)
{
    for (size_t i = 0; i < program->n_verbs; i++)
        if (strcmp(program->verbs[i]->name, name) == 0)
            return program->verbs[i];
    return NULL;
}

const struct option_action *option_find_action(const struct option_verb *verb, const char *word)
{
    for (size_t i = 0; i < verb->n_actions; i++)
        if (verb->actions[i].name && option_is_one_of(verb->actions[i].name, '|', word))
            return &verb->actions[i];
    return NULL;
}

bool option_row_is_of(const struct option_row *row, const struct option_action *action)
{
    char name[64];

    if (!row->of || !action->name)
        return true;
    snprintf(name, sizeof name, "%s", action->name);
    for (char *next = name, *word; (word = strsep(&next, "|"));)
        if (option_is_one_of(row->of, ' ', word))
            return true;
    return false;
}

/* ---- refusals ---- */

static const char *verb_name(const struct option_call *call)
{
    return call->verb->name ? call->verb->name : "";
}

/* "VERB: …: see PROGRAM VERB --help". EXIT_USAGE. */
__attribute__((format(printf, 3, 4))) static int refuse(const struct option_call *call, char *err,
                                                        const char *format, ...)
{
    char words[OPTION_ERROR_MAX - 128];
    const char *verb = verb_name(call), *blank = *verb ? " " : "";
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    size_t len = strlen(words);
    snprintf(err, OPTION_ERROR_MAX, "%s%s%s%s see %s%s%s --help", verb, *verb ? ": " : "", words,
             words[len - 1] == '?' ? "" : ":", call->program->name, blank, verb);
    return EXIT_USAGE;
}

static bool begins(const char *name, const char *with, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] == '\0' || (name[i] == '_' ? '-' : name[i]) != (with[i] == '_' ? '-' : with[i]))
            return false;
    return true;
}

static int unknown_option(const struct option_call *call, const char *shown, char *err)
{
    const struct option_row *row;
    struct nearest nearest = {0};
    char name[64], term[OPTION_TERM_MAX];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(shown + strspn(shown, "-"), "="),
             shown + strspn(shown, "-"));
    for (size_t i = 0; i < call->verb->n_refused; i++)
        if (strcmp(call->verb->refused[i].name, name) == 0)
            return refuse(call, err, "--%s: %s", name, call->verb->refused[i].why);

    for (size_t i = 0; (row = option_row(call->program, call->verb, i)); i++)
        if (row->name)
            nearest_offer(&nearest, name, row->name);
    const char *meant = nearest_meant(&nearest, name);
    if (meant)
        meant = option_term(&(struct option_row){.name = meant}, term);
    return refuse(call, err, "%.63s: unknown option%s", shown, NEAREST_SUGGEST(meant));
}

static int unknown_action(const struct option_call *call, const char *word, char *err)
{
    struct nearest nearest = {0};
    char all[256] = "";
    size_t n = 0;

    for (size_t i = 0; i < call->verb->n_actions; i++) {
        const struct option_action *action = &call->verb->actions[i];
        for (const char *at = action->name; *at && n + 1 < sizeof all; at++) /* "stop|resume" is two */
            n += (size_t)snprintf(all + n, sizeof all - n, at == action->name && i > 0 ? ", %c" : "%c",
                                  *at == '|' ? '/' : *at);
        nearest_offer(&nearest, word, action->name);
    }
    if (nearest_meant(&nearest, word))
        return refuse(call, err, "%.63s: unknown%s", word, NEAREST_SUGGEST(nearest_meant(&nearest, word)));
    return refuse(call, err, "%.63s%s%s is expected", word, *word ? ": unknown: one of " : "one of ", all);
}

/* ---- options ---- */

const struct option_row *option_find_long(const struct option_call *call, const char *name, size_t len,
                                          size_t *ret_at)
{
    const struct option_row *row;

    for (size_t i = 0; (row = option_row(call->program, call->verb, i)); i++)
        if (row->name && begins(row->name, name, len) && row->name[len] == '\0') {
            *ret_at = i;
            return row;
        }
    return NULL;
}

static const struct option_row *find_letter(const struct option_call *call, char letter, size_t *ret_at)
{
    const struct option_row *row;

    for (size_t i = 0; (row = option_row(call->program, call->verb, i)); i++)
        if (row->name && row->letter == letter) {
            *ret_at = i;
            return row;
        }
    return NULL;
}

static bool is_whole(const struct option_row *row)
{
    return row->low < 0 || row->high > (unsigned long long)row->low;
}

static int put_whole(struct option_call *call, const struct option_row *row, const char *value, char *err)
{
    bool below = *value == '-';
    const char *digits = value + (below || *value == '+');
    uint64_t least = !below && row->low > 0 ? (uint64_t)row->low : 0, most = !below ? row->high
                                                                             : row->low < 0
                                                                                 ? -(uint64_t)row->low
                                                                                 : 0;
    char *end;

    errno = 0;
    uint64_t number = strtoull(digits, &end, 10);
    if (errno || !isdigit((unsigned char)*digits) || *end || number < least || number > most)
        return refuse(call, err, "--%s: \"%.63s\": a whole number from %lld to %llu is needed", row->name,
                      value, row->low, row->high);
    number = below ? -number : number;
    memcpy((char *)call->into + row->at, &number, sizeof number);
    return EXIT_OK;
}

static int put(struct option_call *call, const struct option_row *row, const char *value, char *err)
{
    char *into = is_global(call, row) ? (char *)call : call->into;

    if (is_whole(row)) {
        int status = put_whole(call, row, value, err);
        return status == EXIT_OK && row->take ? row->take(call, row, value) : status;
    }
    if (row->take)
        return row->take(call, row, value);
    char why[CONFIG_WHY_MAX];
    if (row->key)
        return config_key_read(row->key, value, into, why) == 0
                   ? EXIT_OK
                   : refuse(call, err, "--%s: %s", row->name, why);
    if (row->argument)
        memcpy(into + row->at, &value, sizeof value);
    else
        memcpy(into + row->at, &(bool){true}, sizeof(bool));
    return EXIT_OK;
}

bool option_is_dashed(const char *word)
{
    return word[0] == '-' && word[1] && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

bool option_takes_many(const struct option_row *row)
{
    size_t len = row->argument ? strlen(row->argument) : 0;

    return len > 3 && strcmp(row->argument + len - 3, "...") == 0;
}

const struct option_row *option_of_word(const struct option_call *call, const char *word,
                                        const char **ret_value, size_t *ret_at)
{
    bool is_long = word[0] == '-' && word[1] == '-';
    const char *name = word + 1 + is_long, *equals = is_long ? strchr(name, '=') : NULL;

    *ret_value = NULL;
    if (!option_is_dashed(word))
        return NULL;
    *ret_value = equals ? equals + 1 : !is_long && name[1] ? name + 1 : NULL;
    return is_long ? option_find_long(call, name, equals ? (size_t)(equals - name) : strlen(name), ret_at)
                   : find_letter(call, *name, ret_at);
}

/* Parses an option, argv[*at]; moves *at to its last word. */
static int take(struct option_call *call, int n, char **argv, int *at, bool given[static OPTION_ROWS_MAX],
                char *err)
{
    const char *word = argv[*at], *value;
    size_t row_at = 0;
    const struct option_row *row = option_of_word(call, word, &value, &row_at);

    if (!row)
        return unknown_option(call, word, err);
    if (!row->argument && value)
        return refuse(call, err, "%.63s: takes no value", word);
    if (row->argument && !value) {
        if (*at + 1 == n)
            return refuse(call, err, "%.63s: needs a value", word);
        value = argv[++*at];
    }
    if (value && !*value)
        return refuse(call, err, "--%s: needs a value", row->name);
    if (row->argument && strchr(row->argument, '|') && islower((unsigned char)*row->argument) &&
        !option_is_one_of(row->argument, '|', value))
        return refuse(call, err, "--%s: \"%.63s\": one of %s is needed", row->name, value, row->argument);
    given[row_at] = true;
    int status = put(call, row, value, err);
    while (status == EXIT_OK && option_takes_many(row) && *at + 1 < n && !option_is_dashed(argv[*at + 1]))
        status = put(call, row, argv[++*at], err);
    return status;
}

/* "add SYMBOL is needed, as: symbol add SOLUSDT". */
static int lacks(const struct option_call *call, const char *what, const char *is, char *err)
{
    const char *example = call->action->example, *blank = *call->word ? " " : "";

    if (example)
        return refuse(call, err, "%s%s%s %s needed, as: %s %s%s%s", call->word, blank, what, is,
                      verb_name(call), call->word, blank, example);
    return refuse(call, err, "%s%s%s %s needed", call->word, blank, what, is);
}

static int check_arguments(struct option_call *call, char *err)
{
    const char *arguments = call->action->arguments ? call->action->arguments : "";
    int least = 0, most = 0;

    for (const char *at = arguments; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        least += *at != '[';
        most = len > 3 && (strncmp(at + len - 3, "...", 3) == 0 || strncmp(at + len - 4, "...]", 4) == 0)
                   ? 1 << 30
                   : most + 1;
        at += len;
    }
    if (call->n >= least && call->n <= most)
        return EXIT_OK;
    if (most == 0)
        return refuse(call, err, "%.63s: no argument is expected", call->arguments[0]);
    if (call->n > most)
        return refuse(call, err, "%.63s: one argument too many: %s is right", call->arguments[most],
                      arguments);
    return lacks(call, arguments, least == 1 && most == 1 ? "is" : "are", err);
}

/* Checks `needed`, and rows that require another. */
static int check_needed(struct option_call *call, const bool given[static OPTION_ROWS_MAX], char *err)
{
    const struct option_row *row;
    char text[OPTION_WORDS_MAX];
    size_t at;

    for (const char *next = call->action->needed; next && *next; next += strspn(next, " ")) {
        size_t all = strcspn(next, " ");
        int n = 0;
        for (const char *name = next; name <= next + all; name += strcspn(name, "|, ") + 1)
            n += *name == '*' ? call->n > 0
                              : option_find_long(call, name, strcspn(name, "|, "), &at) != NULL && given[at];
        option_group(call, next, n ? ", " : " or ", text);
        if (n == 0)
            return lacks(call, text, "is", err);
        if (n > 1 && memchr(next, '|', all))
            return refuse(call, err, "one of %s is right", text);
        next += all;
    }
    for (size_t i = 0; (row = option_row(call->program, call->verb, i)); i++)
        if (given[i] && row->with && option_find_long(call, row->with, strlen(row->with), &at) && !given[at])
            return refuse(call, err, "--%s: it goes with --%s", row->name, row->with);
    return EXIT_OK;
}

/* The first word chooses the action; without a word it is the one that lists. */
static int choose(struct option_call *call, char *err)
{
    const struct option_verb *verb = call->verb;
    const struct option_action *only = verb->n_actions == 1 && !verb->actions->name ? verb->actions : NULL;
    const char *word = call->n > 0 ? call->arguments[0] : "";

    call->word = "";
    call->action = only ? only : call->n > 0 ? option_find_action(verb, word) : NULL;
    if (!call->action && call->n == 0 && verb->n_actions > 0 && verb->actions->bare) {
        call->action = verb->actions;
        return EXIT_OK;
    }
    if (!call->action)
        return unknown_action(call, word, err);
    if (!only || (only->bare && strcmp(word, "list") == 0)) {
        call->word = only ? "" : word;
        call->arguments++;
        call->n--;
    }
    return EXIT_OK;
}

static int64_t time_of(const struct option_call *call, const struct option_row *row)
{
    int64_t ns;
    memcpy(&ns, (const char *)call->into + row->at, sizeof ns);
    return ns;
}

static int check_pair(const struct option_call *call, const struct option_row *row,
                      const struct option_row *other, char *err)
{
    char name[OPTION_TERM_MAX], given[OPTION_TERM_MAX];

    option_term(&(struct option_row){.name = row->name}, name);
    option_term(&(struct option_row){.name = other->name}, given);
    if (row->without && option_is_one_of(row->without, ' ', other->name))
        return refuse(call, err, "%s: %s " CONFIG_ONE_OF_TWO, name, given);
    if (row->only && !is_global(call, other) && !option_is_one_of(row->only, ' ', other->name))
        return refuse(call, err, "%s: not an option with %s", given, name);
    if (row->after && strcmp(row->after, other->name) == 0 && time_of(call, row) < time_of(call, other))
        return refuse(call, err, "%s: it must be later than %s", name, given);
    return EXIT_OK;
}

static int check_options(const struct option_call *call, const bool given[static OPTION_ROWS_MAX], char *err)
{
    const struct option_row *row, *other;
    int status = EXIT_OK;

    for (size_t i = 0; (row = option_row(call->program, call->verb, i)); i++)
        for (size_t k = 0;
             given[i] && status == EXIT_OK && (other = option_row(call->program, call->verb, k)); k++)
            if (k != i && given[k])
                status = check_pair(call, row, other, err);
    return status;
}

int option_parse(struct option_call *call, int n, char **argv, char err[static OPTION_ERROR_MAX])
{
    bool given[OPTION_ROWS_MAX] = {false};
    const struct option_row *row;
    int words = 0, status = EXIT_OK;
    bool ended = false;

    *err = '\0';
    for (int i = 0; i < n && status == EXIT_OK && !call->help && !call->version; i++) {
        if (!ended && strcmp(argv[i], "--") == 0)
            ended = true;
        else if (!ended && option_is_dashed(argv[i]))
            status = take(call, n, argv, &i, given, err);
        else
            argv[words++] = argv[i];
    }
    if (status != EXIT_OK || call->help || call->version)
        return status;
    argv[words] = NULL;
    call->arguments = argv;
    call->n = words;
    status = choose(call, err);
    for (size_t i = 0; status == EXIT_OK && (row = option_row(call->program, call->verb, i)); i++)
        if (given[i] &&
            (!option_row_is_of(row, call->action) ||
             (row->at == offsetof(struct option_call, csv) && is_global(call, row) && !call->action->csv)))
            status = refuse(call, err, "--%s: not an option %s%s%s%s", row->name,
                            call->verb->name ? "of " : "without a verb", verb_name(call),
                            *call->word ? " " : "", call->word);
    if (status == EXIT_OK)
        status = check_options(call, given, err);
    if (status == EXIT_OK)
        status = check_arguments(call, err);
    return status == EXIT_OK ? check_needed(call, given, err) : status;
}

int option_first_word(const struct option_program *program, int n, char **argv, bool *ret_known)
{
    static const struct option_verb none;
    struct option_call call = {.program = program, .verb = program->bare ? program->bare : &none};
    bool known = true;
    size_t ignored;
    int i = 0;

    for (; i < n && option_is_dashed(argv[i]); i++) {
        const char *value;
        const struct option_row *row = option_of_word(&call, argv[i], &value, &ignored);
        known &= row != NULL;
        i += row && row->argument && !value;
        while (row && option_takes_many(row) && i + 1 < n && !option_is_dashed(argv[i + 1]))
            i++;
    }
    if (ret_known)
        *ret_known = known;
    return i < n ? i : n;
}
