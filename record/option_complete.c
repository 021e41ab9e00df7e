#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "exchange/exit_status.h"
#include "record/option.h"
#include "record/option_text.h"

enum { WHAT_MAX = 60 };

struct completion {
    const struct option_program *program;
    const char *typed; /* of the word; what does not begin so is left out */
    FILE *out;
};

/* With the beginning of what it is: shells show it on a line. */
static void offer_with(const struct completion *c, const char *word, const char *what)
{
    if (strncmp(word, c->typed, strlen(c->typed)) != 0)
        return;
    fputs(word, c->out);
    if (what)
        fprintf(c->out, "\t%.*s", (int)(strcspn(what, ";\n") < WHAT_MAX ? strcspn(what, ";\n") : WHAT_MAX),
                what);
    fputc('\n', c->out);
}

static void offer(void *ctx, const char *name)
{
    offer_with(ctx, name, NULL);
}

/* What an argument of that name can be: "buy|sell" the words, "SYMBOL" those of the state. */
static void offer_values(const struct completion *c, const struct option_call *call, const char *argument)
{
    char kind[64];
    size_t n = 0;

    for (const char *at = argument; *at && *at != '.' && n + 1 < sizeof kind; at++)
        if (!strchr("[]", *at))
            kind[n++] = *at;
    kind[n] = '\0';
    for (char *next = kind, *word; (word = strsep(&next, "|"));)
        if (islower((unsigned char)*word))
            offer_with(c, word, NULL);
        else if (c->program->names)
            c->program->names(word, call, (void *)(uintptr_t)c, offer);
}

/* Does the action, or where none is chosen yet one of the verb's, take --csv? */
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

/* The argument at that place of an action's: the last one repeated, where it may be. */
static void offer_argument(const struct completion *c, const struct option_call *call, int at)
{
    char name[64];

    for (const char *next = call->action->arguments; next && *next; next += strspn(next, " ")) {
        size_t len = strcspn(next, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, next);
        if (at-- == 0 || strstr(name, "...")) {
            offer_values(c, call, name);
            return;
        }
        next += len;
    }
}

/* The words of a verb: its actions first, then arguments. */
static void offer_words(const struct completion *c, struct option_call *call, int n, char **words)
{
    const struct option_verb *verb = call->verb;
    const struct option_row *row = NULL;
    int plain = 0;

    if (!call->action && verb->n_actions == 1 && !verb->actions->name)
        call->action = verb->actions;
    for (int i = 0; i < n; i++) {
        row = NULL;
        if (words[i][0] == '-' && words[i][1]) {
            for (size_t k = 0; (row = option_row(c->program, verb, k)); k++)
                if (row->name && ((words[i][1] == '-' && strcmp(row->name, words[i] + 2) == 0) ||
                                  (words[i][1] == row->letter && words[i][2] == '\0')))
                    break;
            if (!row || !row->argument)
                row = NULL;
            else if (i + 1 < n && strcmp(row->name, "state") == 0)
                call->state = words[++i];
            else if (i + 1 < n)
                i++;
            else
                break;
            row = NULL;
        } else if (!call->action && plain == 0 && (call->action = option_find_action(verb, words[i]))) {
            plain = 0;
        } else {
            plain++;
        }
    }
    if (row)
        offer_values(c, call, row->argument);
    else if (c->typed[0] == '-')
        offer_options(c, call);
    else if (call->action)
        offer_argument(c, call, plain);
    else
        for (size_t i = 0; i < verb->n_actions; i++)
            for (const char *at = verb->actions[i].name; at; at = strchr(at, '|')) {
                char name[32];
                at += *at == '|';
                snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|"), at);
                offer_with(c, name, verb->actions[i].words);
            }
}

void option_complete(const struct option_program *program, int n, char **words, FILE *out)
{
    static const struct option_verb none;
    struct completion c = {program, n > 0 ? words[n - 1] : "", out};
    int at = option_first_word(program, n > 0 ? n - 1 : 0, words);
    struct option_call call = {.program = program};
    bool has_verb = program->n_verbs > 0 && at < n - 1;

    call.verb = has_verb ? option_find_verb(program, words[at]) : program->bare ? program->bare : &none;
    if (has_verb && strcmp(words[at], "help") == 0) {
        call.verb = NULL;
        has_verb = false;
    }
    if (!has_verb && c.typed[0] != '-' && program->n_verbs > 0 &&
        !(call.verb && n > 1 && words[n - 2][0] == '-')) {
        for (size_t i = 0; i < program->n_verbs; i++)
            offer_with(&c, program->verbs[i]->name, program->verbs[i]->words);
        return;
    }
    if (!call.verb)
        return;
    if (has_verb) /* it goes, so that its action and arguments remain */
        memmove(words + 1, words, (size_t)at * sizeof *words), words++, n--;
    offer_words(&c, &call, n - 1, words);
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
                "}\n"
                "complete -o default -F %s %s\n",
                function, function, name);
    else if (strcmp(shell, "zsh") == 0)
        fprintf(out,
                "#compdef %s\n"
                "local -a found\n"
                "found=(${${(f)\"$($words[1] help --complete -- \"${(@)words[2,CURRENT]}\" "
                "2>/dev/null)\"}//$'\\t'/:})\n"
                "if (( $#found )); then _describe '%s' found; else _files; fi\n",
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
