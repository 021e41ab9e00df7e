#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/config_key.h"
#include "record/option.h"
#include "record/option_text.h"

enum { WIDTH = 100, TERM_MAX = 24, SHOWN_MAX = 8 }; /* options of an action in its usage line */

/* Columns of UTF-8 text without wide characters. */
static size_t columns(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* Wraps lines, starting at column `at`; further ones begin at `indent`. A newline ends a paragraph. */
static void fill(FILE *out, const char *text, size_t at, size_t indent)
{
    bool begins = true;

    while (*text) {
        size_t len = strcspn(text, " \n"), wide = columns(text, len);
        if (!begins && at + 1 + wide > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!begins) {
            fputc(' ', out);
            at++;
        }
        for (size_t i = 0; i < len; i++) /* a tab is a non-breaking blank */
            fputc(text[i] == '\t' ? ' ' : text[i], out);
        at += wide;
        begins = *(text + len) == '\n';
        text += len;
        if (*text == '\n') {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        text += *text != '\0';
    }
    fputc('\n', out);
}

static void entry(FILE *out, const char *term, const char *words, size_t width)
{
    size_t len = strlen(term);

    fprintf(out, "  %s", term);
    if (len > width) {
        fputc('\n', out);
        len = 0;
        fputs("  ", out);
    }
    fprintf(out, "%*s", (int)(width - len + 2), "");
    fill(out, words ? words : "", width + 4, width + 4);
}

const char *option_term(const struct option_row *row, char ret[static OPTION_TERM_MAX])
{
    char letter[8] = "";

    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(ret, OPTION_TERM_MAX, "%s--%s%s%s", letter, row->name, row->argument ? " " : "",
             row->argument ? row->argument : "");
    for (char *c = ret; *c && *c != ' '; c++)
        *c = *c == '_' ? '-' : *c;
    return ret;
}

const char *option_words(const struct option_row *row, char ret[static OPTION_WORDS_MAX])
{
    char right[128];
    const char *between = row->with ? "; with --" : "", *with = row->with ? row->with : "";

    if (row->words || !row->key) {
        if (!row->with)
            return row->words;
        snprintf(ret, OPTION_WORDS_MAX, "%s%s%s", row->words, between, with);
        return ret;
    }
    config_key_right(row->key, right, sizeof right);
    size_t len = strlen(right);
    const char *comma = len == 0 ? "" : right[len - 1] == ',' ? " " : ", ";
    snprintf(ret, OPTION_WORDS_MAX, "%s; %s%s%s by default%s%s", row->key->about, right, comma,
             row->key->fallback, between, with);
    return ret;
}

bool option_is_needed(const struct option_action *action, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = action->needed; at && *at; at += strcspn(at, "|, "), at += *at != '\0')
        if (strcspn(at, "|, ") == len && strncmp(at, name, len) == 0)
            return true;
    return false;
}

void option_group(const struct option_call *call, const char *group, const char *between,
                  char ret[static OPTION_WORDS_MAX])
{
    const char *end = group + strcspn(group, " "), *arguments = call->action->arguments;
    char term[OPTION_TERM_MAX];
    size_t n = 0, at;

    for (const char *name = group; name < end; name += strcspn(name, "|, ") + 1) {
        const struct option_row *row = option_find_long(call, name, strcspn(name, "|, "), &at);
        const char *dash = name == group ? "" : between;
        if (n < OPTION_WORDS_MAX && row)
            n += (size_t)snprintf(
                ret + n, OPTION_WORDS_MAX - n, "%s%s", dash,
                option_term(&(struct option_row){.name = row->name, .argument = row->argument}, term));
        else
            for (n += (size_t)snprintf(ret + n, OPTION_WORDS_MAX - n, "%s", dash); *arguments; arguments++)
                if (!strchr("[]", *arguments)) /* "[ORDER|CLIENT_ID]" */
                    n += (size_t)snprintf(ret + n, OPTION_WORDS_MAX - n, "%c", *arguments);
    }
}

/* Replaces its blanks by tabs, at which lines do not break. */
static void put_unbroken(FILE *out, const char *open, const char *text, const char *close)
{
    fprintf(out, " %s", open);
    for (; *text; text++)
        fputc(*text == ' ' ? '\t' : *text, out);
    fputs(close, out);
}

char *option_synopsis(const struct option_program *program, const struct option_verb *verb,
                      const struct option_action *action)
{
    const struct option_call call = {.program = program, .verb = verb, .action = (void *)(uintptr_t)action};
    char *text = NULL, words[OPTION_WORDS_MAX];
    size_t size, n = 0;
    FILE *out = open_memstream(&text, &size);
    const struct option_row *row;

    if (!out)
        return NULL;
    fputs(program->name, out);
    if (verb->name)
        fprintf(out, " %s", verb->name);
    if (action->name)
        fprintf(out, " %s", action->name);
    if (action->arguments && !option_is_needed(action, "*"))
        fprintf(out, " %s", action->arguments);
    for (const char *group = action->needed; group && *group;
         group += strcspn(group, " "), group += strspn(group, " ")) {
        bool several = strcspn(group, "|,") < strcspn(group, " ");
        option_group(&call, group, "|", words);
        put_unbroken(out, several ? "{" : "", words, several ? "}" : "");
    }
    for (int print = 0; print < 2; print++)
        for (size_t i = 0; (!print || n <= SHOWN_MAX) && i < verb->n_options + verb->n_shared; i++) {
            row = option_row(program, verb, i);
            if (!row->name || !option_row_is_of(row, action) || option_is_needed(action, row->name))
                continue;
            n += !print;
            if (print)
                put_unbroken(
                    out, "[",
                    option_term(&(struct option_row){.name = row->name, .argument = row->argument}, words),
                    "]");
        }
    if (n > SHOWN_MAX)
        fputs(" [OPTION]...", out);
    if (action->csv)
        fputs(" [--csv|--json]", out);
    fclose(out);
    return text;
}

static size_t width_of(const struct option_program *program, const struct option_verb *verb)
{
    char term[OPTION_TERM_MAX];
    size_t width = 0;
    const struct option_row *row;

    for (size_t i = 0; (row = option_row(program, verb, i)); i++) {
        size_t len = row->name ? strlen(option_term(row, term)) : 0;
        if (len > width && len <= TERM_MAX)
            width = len;
    }
    return width;
}

char *option_does(const struct option_action *action)
{
    static const char *const needs[] = {
        [OPTION_NEEDS_NOTHING] = "",
        [OPTION_NEEDS_STATE] = "needs no daemon",
        [OPTION_NEEDS_DAEMON] = "needs a daemon that runs",
        [OPTION_NEEDS_NOW] = "needs a daemon that runs, or --at",
        [OPTION_NEEDS_EITHER] = "shows what the database last had where no daemon runs, with exit status 3",
    };
    const char *words = action->words ? action->words : "", *need = needs[action->need];
    char *text;

    if (asprintf(&text, *words && *need ? "%s (%s)" : "%s%s", words, need) < 0)
        return NULL;
    return text;
}

static bool has_state(const struct option_verb *verb)
{
    for (size_t i = 0; verb && i < verb->n_actions; i++)
        if (verb->actions[i].need != OPTION_NEEDS_NOTHING)
            return true;
    return false;
}

const char *option_exits(const struct option_program *program, bool of_verb)
{
    bool state = has_state(program->bare);

    for (size_t i = 0; i < program->n_verbs; i++)
        state |= has_state(program->verbs[i]);
    if (!state)
        return "0 ok, 1 error, 2 usage";
    return of_verb ? "0 ok, 1 error, 2 usage, 3 no daemon or no state"
                   : "0 ok, 1 error, 2 usage, 3 no daemon or no state, 4 stale";
}

static void print_options(const struct option_program *program, const struct option_verb *verb, FILE *out)
{
    char term[OPTION_TERM_MAX], words[OPTION_WORDS_MAX];
    size_t width = width_of(program, verb);
    bool lists = false;
    const struct option_row *row;

    for (size_t i = 0; i < verb->n_actions; i++)
        lists |= verb->actions[i].csv;
    for (size_t i = 0; (row = option_row(program, verb, i)); i++) {
        if (i == verb->n_options + verb->n_shared && i > 0)
            fputc('\n', out);
        if (!row->name)
            fprintf(out, "%s:\n", row->words);
        else if (row != option_csv_row(program) || lists)
            entry(out, option_term(row, term), option_words(row, words), width);
    }
}

static void print_actions(const struct option_verb *verb, FILE *out)
{
    size_t width = 0;

    for (size_t i = 0; i < verb->n_actions; i++)
        if (verb->actions[i].name && strlen(verb->actions[i].name) > width)
            width = strlen(verb->actions[i].name);
    for (size_t i = 0; i < verb->n_actions; i++)
        if (verb->actions[i].name) {
            char *does = option_does(&verb->actions[i]);
            entry(out, verb->actions[i].name, does, width);
            free(does);
        }
    if (width > 0)
        fputc('\n', out);
}

static void print_verbs(const struct option_program *program, FILE *out)
{
    if (program->n_verbs == 0)
        return;
    fputs("Verbs:\n", out);
    for (size_t i = 0; i < program->n_verbs; i++)
        entry(out, program->verbs[i]->name, program->verbs[i]->words, 12);
    fprintf(out,
            "\n%s VERB --help and %s help VERB say more;\n"
            "%s completion bash|zsh|fish prints what completes command lines.\n\n",
            program->name, program->name, program->name);
}

void option_help(const struct option_program *program, const struct option_verb *verb, FILE *out)
{
    if (!verb)
        verb = program->bare;
    for (size_t i = 0; verb && i < verb->n_actions; i++) {
        char *synopsis = option_synopsis(program, verb, &verb->actions[i]);
        fputs(i == 0 ? "Usage: " : "       ", out);
        fill(out, synopsis ? synopsis : "", 7, 7 + strlen(program->name) + 1);
        free(synopsis);
    }
    if (program->n_verbs > 0 && (!verb || !verb->name))
        fprintf(out, "%s%s VERB [ARGUMENT]...\n",
                verb && verb->n_actions > 0 ? "       " : "Usage: ", program->name);
    fputc('\n', out);
    fill(out, verb && verb->about ? verb->about : program->about, 0, 0);
    fputc('\n', out);
    if (verb) {
        print_actions(verb, out);
        print_options(program, verb, out);
        fputc('\n', out);
    }
    if (!verb || !verb->name)
        print_verbs(program, out);
    if (verb && verb->n_actions == 1 && !verb->actions->name && verb->actions->need != OPTION_NEEDS_NOTHING) {
        char *does = option_does(verb->actions);
        fprintf(out, "It %s.\n", does ? does : "");
        free(does);
    }
    fprintf(out, "Exit status: %s.\n", option_exits(program, verb && verb != program->bare));
    if (verb && verb->exits)
        fill(out, verb->exits, 0, 0);
}
