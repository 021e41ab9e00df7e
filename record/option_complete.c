#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "record/option.h"
#include "record/option_text.h"

enum { WHAT_MAX = 60 };

struct completion {
    const struct option_program *program;
    const char
        *word; /* what the shell replaces: for bash, which divides words at '=' and ':', the last part */
    const char *typed; /* the part that a candidate must continue: after "--tif=" and the commas of a list */
    const char *tail;  /* suffix of each candidate: "=" of a key */
    FILE *out;
};

/* With the beginning of its description: shells show it on a line. */
static void offer_with(const struct completion *c, const char *word, const char *what)
{
    if (strncmp(word, c->typed, strlen(c->typed)) != 0)
        return;
    if (c->word < c->typed)
        fwrite(c->word, 1, (size_t)(c->typed - c->word), c->out);
    fprintf(c->out, "%s%s", c->word < c->typed ? word : word + (c->word - c->typed), c->tail);
    if (what)
        fprintf(c->out, "\t%.*s", (int)(strcspn(what, ";\n") < WHAT_MAX ? strcspn(what, ";\n") : WHAT_MAX),
                what);
    fputc('\n', c->out);
}

static void offer(void *ctx, const char *name)
{
    offer_with(ctx, name, NULL);
}

static void offer_kind(struct completion *c, const struct option_call *call, const char *kind)
{
    for (size_t i = 0; strcmp(kind, "INTERVAL") == 0 && i < BAR_INTERVALS; i++)
        offer(c, bar_intervals[i].name);
    if (c->program->names)
        c->program->names(kind, call, c, offer);
}

/* Offers values of an argument, which ends at a blank: of "buy|sell" the words, of "SYMBOL[,SYMBOL...]" those
 * of the state, of "KEY=VALUE" the keys. */
static void offer_values(struct completion *c, const struct option_call *call, const char *argument,
                         const char *what)
{
    const char *comma = memchr(argument, ',', strcspn(argument, " ")) ? strrchr(c->typed, ',') : NULL;
    size_t len = 1;

    c->typed = comma ? comma + 1 : c->typed;
    for (const char *at = argument + (*argument == '['); len > 0; at += len + (at[len] == '|')) {
        len = strcspn(at, "|[],.= ");
        char *word = strndup(at, len);
        c->tail = at[len] == '=' ? "=" : "";
        if (word && islower((unsigned char)*word))
            offer_with(c, word, what);
        else if (word && len > 0)
            offer_kind(c, call, word);
        free(word);
        if (at[len] != '|')
            break;
    }
    c->tail = "";
}

/* Does the action, or before one is chosen any of the verb's, take --csv? */
static bool takes_csv(const struct option_call *call)
{
    bool any = call->action && call->action->csv;

    for (size_t i = 0; !call->action && i < call->verb->n_actions; i++)
        any |= call->verb->actions[i].csv;
    return any;
}

static void offer_options(const struct completion *c, const struct option_call *call)
{
    const struct option_row *row;

    for (size_t i = 0; (row = option_row(c->program, call->verb, i)); i++) {
        char name[OPTION_TERM_MAX], words[OPTION_WORDS_MAX];
        if (!row->name || (call->action && !option_row_is_of(row, call->action)) ||
            (row == option_csv_row(c->program) && !takes_csv(call)))
            continue;
        snprintf(name, sizeof name, "--%s", row->name);
        for (char *at = name; *at; at++)
            *at = *at == '_' ? '-' : *at;
        offer_with(c, name, option_words(row, words));
    }
}

/* The argument at that place of an action's: the last one is repeated, if it may be. */
static void offer_argument(struct completion *c, const struct option_call *call, int at)
{
    for (const char *next = call->action->arguments; next && *next; next += strspn(next, " ")) {
        size_t len = strcspn(next, " ");
        if (at-- == 0 || memmem(next, len, "...", 3)) {
            offer_values(c, call, next, NULL);
            return;
        }
        next += len;
    }
}

/* Reads the n words before the last one. Returns the option whose value the last one is; NULL: it is no
 * option's. */
static const struct option_row *read_words(struct option_call *call, int n, char **words, int *ret_plain)
{
    const struct option_row *row = NULL;

    for (int i = 0; i < n; i++) {
        const char *value;
        size_t ignored;
        row = option_of_word(call, words[i], &value, &ignored);
        if (row && row->argument) {
            bool many = option_takes_many(row);
            while (!value || (many && i + 1 < n && !option_is_dashed(words[i + 1]))) {
                if (++i == n)
                    return row;
                value = words[i];
            }
            if (row >= call->program->global && row < call->program->global + call->program->n_global)
                memcpy((char *)call + row->at, &value, sizeof value);
            if (many && i + 1 == n)
                return row;
        } else if (!row && !option_is_dashed(words[i]) &&
                   (call->action || *ret_plain > 0 ||
                    !(call->action = option_find_action(call->verb, words[i])))) {
            ++*ret_plain;
        }
    }
    return NULL;
}

/* The words of a verb: its actions first, then arguments. */
static void offer_words(struct completion *c, struct option_call *call, int n, char **words)
{
    const struct option_verb *verb = call->verb;
    const char *value;
    size_t ignored;
    int plain = 0;

    if (!call->action && verb->n_actions == 1 && !verb->actions->name)
        call->action = verb->actions;
    call->arguments = words;
    call->n = n;
    const struct option_row *row = read_words(call, n, words, &plain);
    if (!row && strchr(c->typed, '=') && (row = option_of_word(call, c->typed, &value, &ignored)) && value)
        c->typed = value;
    if (row)
        offer_values(c, call, row->argument ? row->argument : "", NULL);
    else if (c->typed[0] == '-')
        offer_options(c, call);
    else if (call->action)
        offer_argument(c, call, plain);
    else
        for (size_t i = 0; i < verb->n_actions; i++)
            if (verb->actions[i].acts || !c->program->lines)
                offer_values(c, call, verb->actions[i].name, verb->actions[i].words);
}

/* Bash divides words at '=' and ':': joins them again, in `text`, which has room for all. Returns their
 * number; *ret_part: the part of the last one that bash considers a word. */
static int join(int n, char **words, char *text, const char **ret_part)
{
    char *joined = NULL;
    bool divided = false;
    int to = 0;

    *ret_part = n > 0 ? words[n - 1] : "";
    for (int i = 0; i < n; i++) {
        bool divides = to > 0 && *words[i] && strspn(words[i], "=:") == strlen(words[i]);
        if (!divides && !divided) {
            words[to++] = words[i];
            continue;
        }
        if (words[to - 1] != joined)
            words[to - 1] = joined = strcpy(text, words[to - 1]);
        char *end = words[to - 1] + strlen(words[to - 1]);
        text = stpcpy(end, words[i]) + 1;
        if (i == n - 1)
            *ret_part = divides ? text - 1 : end;
        divided = divides;
    }
    return to;
}

/* Has it something to do in a program's own lines? */
static bool is_offered(const struct option_program *program, const struct option_verb *verb)
{
    bool acts = !program->lines;

    for (size_t i = 0; i < verb->n_actions; i++)
        acts |= verb->actions[i].acts;
    return acts;
}

static void complete(struct completion *c, int n, char **words)
{
    static const struct option_verb none;
    const struct option_program *program = c->program;
    int at = option_first_word(program, n > 0 ? n - 1 : 0, words, NULL);
    struct option_call call = {.program = program};
    bool has_verb = program->n_verbs > 0 && at < n - 1;

    call.verb = has_verb ? option_find_verb(program, words[at]) : program->bare ? program->bare : &none;
    if (has_verb && strcmp(words[at], "help") == 0) {
        call.verb = NULL;
        has_verb = false;
    }
    if (!has_verb && c->typed[0] != '-' && program->n_verbs > 0 &&
        !(call.verb && n > 1 && words[n - 2][0] == '-')) {
        for (size_t i = 0; i < program->n_verbs; i++)
            if (is_offered(program, program->verbs[i]))
                offer_with(c, program->verbs[i]->name, program->verbs[i]->words);
        return;
    }
    if (!call.verb)
        return;
    if (has_verb) /* removed, so that its action and arguments remain */
        memmove(words + 1, words, (size_t)at * sizeof *words), words++, n--;
    offer_words(c, &call, n - 1, words);
}

void option_complete(const struct option_program *program, int n, char **words, FILE *out)
{
    struct completion c = {program, "", "", "", out};
    size_t size = 1;

    for (int i = 0; i < n; i++)
        size += strlen(words[i]) + 1;
    char *text = malloc(size);
    if (!text)
        return;
    n = join(n, words, text, &c.word);
    c.typed = n > 0 ? words[n - 1] : "";
    complete(&c, n, words);
    free(text);
}

bool option_completion_script(const struct option_program *program, const char *shell, FILE *out)
{
    const char *name = program->name;
    char function[64];

    snprintf(function, sizeof function, "_%s", name);
    for (char *at = function; *at; at++)
        *at = *at == '-' ? '_' : *at;
    if (strcmp(shell, "bash") == 0)
        fprintf(out,
                "%s() {\n"
                "    local IFS=$'\\n'\n"
                "    COMPREPLY=($(\"${COMP_WORDS[0]}\" help --complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
                "2>/dev/null | cut -f1))\n"
                "    [[ $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null\n"
                "}\n"
                "complete -o default -F %s %s\n",
                function, function, name);
    else if (strcmp(shell, "zsh") == 0)
        fprintf(out,
                "#compdef %s\n"
                "local -a found tail\n"
                "found=(${${(f)\"$($words[1] help --complete -- \"${(@)words[2,CURRENT]}\" "
                "2>/dev/null)\"}//$'\\t'/:})\n"
                "[[ ${found[1]%%%%:*} == *= ]] && tail=(-S '')\n"
                "if (( $#found )); then _describe '%s' found $tail; else _files; fi\n",
                name, name);
    else if (strcmp(shell, "fish") == 0)
        fprintf(out,
                "function _%s\n"
                "    %s help --complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null\n"
                "end\n"
                "complete -c %s -n 'test -n \"$(_%s)\"' -f -a '(_%s)'\n",
                function, name, name, function, function);
    else
        return false;
    return true;
}
