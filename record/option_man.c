#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "record/option.h"
#include "record/option_text.h"

enum { EXAMPLE_MAX = 256 };

/* Text for roff: escapes a leading dot or quote, doubles backslashes, and prints hyphens that can be
 * copied. */
void option_man_text(FILE *out, const char *text)
{
    bool begins = true;

    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '-' || *text == '\\')
            fputs(*text == '-' ? "\\-" : "\\e", out);
        else if (*text == '\t') /* a non-breaking blank */
            fputs("\\ ", out);
        else if (*text == '\n')
            fputs("\n.PP\n", out);
        else
            fputc(*text, out);
        begins = *text == '\n';
    }
    fputc('\n', out);
}

void option_man_entry(FILE *out, const char *term, const char *words)
{
    fputs(".TP\n.B ", out);
    option_man_text(out, term);
    option_man_text(out, words ? words : "");
}

/* A verb's options, or with `all` the global ones too. */
static void print_options(const struct option_program *program, const struct option_verb *verb, bool all,
                          FILE *out)
{
    char term[OPTION_TERM_MAX], words[OPTION_WORDS_MAX];
    size_t n = verb->n_options + verb->n_shared + (all ? program->n_global : 0);

    for (size_t i = 0; i < n; i++) {
        const struct option_row *row = option_row(program, verb, i);
        if (row->name) {
            option_man_entry(out, option_term(row, term), option_words(row, words));
        } else {
            fputs(".PP\n", out);
            option_man_text(out, row->words);
        }
    }
}

static void print_synopsis(const struct option_program *program, const struct option_verb *verb, FILE *out)
{
    for (size_t i = 0; i < verb->n_actions; i++) {
        char *synopsis = option_synopsis(program, verb, &verb->actions[i]);
        fputs(i ? ".br\n.B " : ".PP\n.B ", out);
        option_man_text(out, synopsis ? synopsis : "");
        free(synopsis);
    }
}

/* `section`: "SH", or "SS" within the page of a program. */
static void print_verb(const struct option_program *program, const struct option_verb *verb,
                       const char *section, FILE *out)
{
    fprintf(out, ".%s %s\n", section, verb->name);
    print_synopsis(program, verb, out);
    fputs(".PP\n", out);
    option_man_text(out, verb->about);
    for (size_t i = 0; i < verb->n_actions; i++)
        if (verb->actions[i].name) {
            char *does = option_does(&verb->actions[i]);
            option_man_entry(out, verb->actions[i].name, does);
            free(does);
        }
    print_options(program, verb, false, out);
    if (verb->exits) {
        fputs(".PP\n", out);
        option_man_text(out, verb->exits);
    }
}

/* For the program's own page: its options without a verb, and the verbs that have no other page. */
static void print_own(const struct option_program *program, FILE *out)
{
    print_options(program, program->bare ? program->bare : &(struct option_verb){0}, true, out);
    for (size_t i = 0; i < program->n_verbs; i++)
        if (!program->verbs[i]->page)
            print_verb(program, program->verbs[i], "SS", out);
    fprintf(out, ".SH EXIT STATUS\n%s.\n", option_exits(program, false));
    if (program->bare && program->bare->exits)
        option_man_text(out, program->bare->exits);
}

/* The examples of the verb's refusals, each as a line. */
static void print_examples(const struct option_program *program, const struct option_verb *verb, FILE *out)
{
    for (size_t i = 0; i < verb->n_actions; i++) {
        const struct option_action *action = &verb->actions[i];
        const char *word = action->name ? action->name : "";
        char line[EXAMPLE_MAX];
        if (!action->example)
            continue;
        snprintf(line, sizeof line, "%s %s %.*s%s%s", program->name, verb->name, (int)strcspn(word, "|"),
                 word, *word ? " " : "", action->example);
        fputs(".PP\n.EX\n", out);
        option_man_text(out, line);
        fputs(".EE\n", out);
    }
}

static bool has_page(const struct option_verb *verb, const char *page)
{
    return verb->page && strcmp(verb->page, page) == 0;
}

/* One of the sections above for each verb of a page. */
static void print_each(const struct option_program *program, const char *page, FILE *out,
                       void (*print)(const struct option_program *, const struct option_verb *, FILE *))
{
    for (size_t i = 0; i < program->n_verbs; i++)
        if (has_page(program->verbs[i], page))
            print(program, program->verbs[i], out);
}

static void print_section(const struct option_program *program, const struct option_verb *verb, FILE *out)
{
    print_verb(program, verb, "SH", out);
}

bool option_man(const struct option_program *program, const char *page, FILE *out)
{
    char term[OPTION_TERM_MAX];
    size_t n = 0;

    if (strcmp(page, program->name) == 0) {
        print_own(program, out);
        return true;
    }
    for (size_t i = 0; i < program->n_verbs; i++) {
        const struct option_verb *verb = program->verbs[i];
        if (!has_page(verb, page))
            continue;
        if (n++ == 0)
            fprintf(out, ".TH %s\\-%s 1\n.SH NAME\n%s\\-%s \\- ", program->name, page, program->name, page);
        else
            fputs("; ", out);
        fprintf(out, "%s: %s", verb->name, verb->words);
    }
    if (n == 0)
        return false;
    fputs("\n.SH SYNOPSIS\n", out);
    print_each(program, page, out, print_synopsis);
    print_each(program, page, out, print_section);
    fputs(".SH OPTIONS OF ALL VERBS\n", out);
    for (size_t i = 0; i < program->n_global; i++)
        option_man_entry(out, option_term(&program->global[i], term), program->global[i].words);
    fprintf(out, ".SH EXIT STATUS\n%s.\n.SH EXAMPLES\n", option_exits(program, true));
    print_each(program, page, out, print_examples);
    fprintf(out, ".SH SEE ALSO\n.BR %s (1)\n", program->name);
    return true;
}
