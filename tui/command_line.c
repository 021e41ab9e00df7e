#include "tui/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "record/option_text.h"
#include "tui/press.h"
#include "tui/verbs.h"
#include "tui/view.h"

#define VIEW       "view"
#define VIEW_WORDS "what a screen shows, saved under a name"

/* The functions of a program have no context: this is the running call's. */
static struct {
    const struct model *model;
    char *said;
    size_t size;
} context;

static void say(const char *line)
{
    cli_text_clean(context.said, context.size, line);
}

/* From the model, since a database is not read while keys are answered. */
static void names(const char *kind, const struct option_call *call, void *ctx,
                  void (*offer)(void *ctx, const char *name))
{
    const struct model *model = context.model;
    const struct status *status = &model->status;
    char number[COMMAND_WORD_MAX + 24]; /* with what it is, behind a tab, as option_complete() prints it */

    if (cli_names_known(kind, call, ctx, offer))
        return;
    for (int i = 0; strcmp(kind, "SYMBOL") == 0 && i < status->n_symbols; i++)
        offer(ctx, status->symbols[i].symbol);
    for (int i = 0; strcmp(kind, "ACCOUNT") == 0 && i < status->n_accounts; i++)
        offer(ctx, status->accounts[i].account);
    for (int i = 0; strcmp(kind, "TRAINING") == 0 && i < status->n_trainings; i++)
        offer(ctx, tui_model_training(model, i)->training);
    for (int i = 0; strcmp(kind, "POLICY") == 0 && i < status->n_policies; i++)
        offer(ctx, status->policies[i].policy);
    for (int i = 0; strcmp(kind, "ORDER") == 0 && i < status->n_orders; i++) {
        const struct status_order *order = &status->orders[i];
        snprintf(number, sizeof number, "%lld\t%s %s %.8g %s", (long long)order->id, order->side, order->type,
                 order->qty, order->symbol);
        offer(ctx, number);
    }
    for (int i = 0; strcmp(kind, "NUMBER") == 0 && i < status->n_price_alerts; i++) {
        snprintf(number, sizeof number, "%lld", (long long)status->price_alerts[i].id);
        offer(ctx, number);
    }
    for (int i = 0; strcmp(kind, "ID") == 0 && i < model->history.n_alerts; i++)
        if (model->history.alerts[i].open) {
            int at = snprintf(number, sizeof number, "%lld\t", (long long)model->history.alerts[i].id);
            cli_text_one_line(number + at, sizeof number - (size_t)at, model->history.alerts[i].text);
            offer(ctx, number);
        }
}

/* Options that are the same for all verbs have no use here: its state is known, its form too. */
static struct option_program program(void)
{
    struct option_program own = tui_papertape;

    own.bare = NULL;
    own.global = NULL;
    own.n_global = 0;
    own.lines = true;
    own.say = say;
    own.names = names;
    return own;
}

struct command_line *tui_command_line_create(void)
{
    struct command_line *line = calloc(1, sizeof *line);

    if (line)
        tui_command_line_open(line, "");
    return line;
}

void tui_command_line_destroy(struct command_line *line)
{
    for (int i = 0; line && i < line->n_lines; i++)
        free(line->lines[i]);
    free(line);
}

static void show(struct command_line *line, const char *text)
{
    tui_line_edit_begin(&line->edit, text, COMMAND_LINE_MAX);
}

void tui_command_line_open(struct command_line *line, const char *text)
{
    show(line, text);
    line->at = line->n_lines;
    line->n_offers = 0;
}

bool tui_command_line_keep(struct command_line *line, const char *text)
{
    char clean[COMMAND_LINE_MAX];

    cli_text_clean(clean, sizeof clean, text);
    if (clean[strspn(clean, " \t")] == '\0' ||
        (line->n_lines > 0 && strcmp(line->lines[line->n_lines - 1], clean) == 0))
        return false;
    char *copy = strdup(clean);
    if (!copy)
        return false;
    if (line->n_lines == COMMAND_LINES_MAX) {
        free(line->lines[0]);
        memmove(line->lines, line->lines + 1, (COMMAND_LINES_MAX - 1) * sizeof *line->lines);
        line->n_lines--;
    }
    line->lines[line->n_lines++] = copy;
    line->at = line->n_lines;
    return true;
}

bool tui_command_line_orders(const char *text)
{
    char copy[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1];
    int n = option_line_words(text, copy, words, NULL);

    return n > 1 && strcmp(words[0], "order") == 0 &&
           (strcmp(words[1], "buy") == 0 || strcmp(words[1], "sell") == 0 || strcmp(words[1], "oco") == 0);
}

/* The action that a line's words choose; NULL: none yet. */
static const struct option_action *action_of(const struct option_verb *verb, char *const *words, int n)
{
    const struct option_action *action = NULL;

    if (verb->n_actions == 1 && !verb->actions->name)
        return verb->actions;
    for (int i = 1; i < n && !action; i++)
        action = option_is_dashed(words[i]) ? NULL : option_find_action(verb, words[i]);
    return action;
}

bool tui_command_line_acts(const char *text)
{
    char copy[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1];
    const struct option_program own = program();
    int n = option_line_words(text, copy, words, NULL);
    const struct option_verb *verb = n > 0 ? option_find_verb(&own, words[0]) : NULL;
    const struct option_action *action = verb ? action_of(verb, words, n) : NULL;

    return action && action->acts;
}

/* ---- completion ---- */

/* "WORD\tDESCRIPTION\n" each. Those for which there is no room count for what all have in common. */
static void take_offers(struct command_line *line, char *text)
{
    const char *first = NULL;

    line->n_offers = 0;
    line->common = 0;
    for (char *next = text, *row; (row = strsep(&next, "\n"));) {
        struct command_offer *offer = &line->offers[line->n_offers];
        char *tab = strchr(row, '\t');
        if (tab)
            *tab = '\0';
        if (!*row || strlen(row) >= sizeof offer->word)
            continue;
        if (!first) {
            first = row;
            line->common = strlen(row);
        }
        while (strncmp(first, row, line->common) != 0)
            line->common--;
        if (line->n_offers == COMMAND_OFFERS_MAX)
            continue;
        cli_text_clean(offer->word, sizeof offer->word, row);
        cli_text_clean(offer->words, sizeof offer->words, tab ? tab + 1 : "");
        line->n_offers++;
    }
}

/* The words after "view". */
static void offer_views(const struct command_line *line, int n, char **words, FILE *out)
{
    static const char *const verbs[] = {"save\tkeeps what is shown under a name", "remove\tremoves one"};
    const bool named = n == 3 && (strcmp(words[1], "save") == 0 || strcmp(words[1], "remove") == 0);
    const char *start = words[n - 1];

    for (int i = 0; (n == 2 || named) && line->saved && i < line->saved->n; i++)
        if (strncmp(line->saved->names[i], start, strlen(start)) == 0)
            fprintf(out, "%s\n", line->saved->names[i]);
    for (int i = 0; n == 2 && i < 2; i++)
        if (strncmp(verbs[i], start, strlen(start)) == 0)
            fprintf(out, "%s\n", verbs[i]);
}

/* The words up to the cursor, and what the last of them can be. False: a quote is open. */
static bool find_offers(struct command_line *line, const struct model *model)
{
    char before[COMMAND_LINE_MAX], text[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1], *offers = NULL;
    const struct option_program own = program();
    size_t size;

    snprintf(before, sizeof before, "%.*s", (int)line->edit.at, line->edit.text);
    int n = option_line_words(before, text, words, &line->from);
    FILE *out = n < 0 || n == OPTION_LINE_WORDS ? NULL : open_memstream(&offers, &size);
    if (!out)
        return false;
    if (line->from == strlen(before)) { /* after a blank another one begins */
        words[n++] = text + sizeof text - 1;
        text[sizeof text - 1] = '\0';
    }
    context.model = model;
    if (n == 1 && strncmp(VIEW, words[0], strlen(words[0])) == 0)
        fprintf(out, VIEW "\t" VIEW_WORDS "\n");
    if (n > 1 && strcmp(words[0], VIEW) == 0)
        offer_views(line, n, words, out);
    else
        option_complete(&own, n, words, out);
    bool good = fclose(out) == 0;
    if (good)
        take_offers(line, offers);
    free(offers);
    return good;
}

/* Replaces the word by `len` bytes of it, and a blank once it is whole. */
static void put(struct command_line *line, const char *word, size_t len, bool whole)
{
    char text[COMMAND_LINE_MAX];
    const char *after = line->edit.text + line->edit.at;
    const char *blank = whole && len > 0 && word[len - 1] != '=' && *after != ' ' ? " " : "";
    int at =
        snprintf(text, sizeof text, "%.*s%.*s%s", (int)line->from, line->edit.text, (int)len, word, blank);

    if (at < 0 || (size_t)at + strlen(after) >= sizeof text)
        return;
    memcpy(text + at, after, strlen(after) + 1);
    show(line, text);
    line->edit.at = (size_t)at;
}

/* The first Tab types what all have in common; further ones each of them in turn. */
static void complete(struct command_line *line, const struct model *model)
{
    if (line->n_offers > 1) {
        line->offered = (line->offered + 1) % line->n_offers;
        const char *word = line->offers[line->offered].word;
        put(line, word, strlen(word), false);
        return;
    }
    if (!find_offers(line, model) || line->n_offers == 0)
        return;
    line->offered = -1;
    if (line->n_offers == 1 || line->from + line->common > line->edit.at)
        put(line, line->offers[0].word, line->common, line->n_offers == 1);
    if (line->n_offers == 1)
        line->n_offers = 0;
}

/* The option that one of the last two words is, or the value of; NULL. */
static const struct option_row *option_at(const struct option_call *call, int n, char **words)
{
    const char *value;
    size_t ignored;
    const struct option_row *row = n > 0 ? option_of_word(call, words[n - 1], &value, &ignored) : NULL;

    if (row || n < 2)
        return row;
    row = option_of_word(call, words[n - 2], &value, &ignored);
    return row && row->argument && !value ? row : NULL;
}

void tui_command_line_about(const struct command_line *line, char *buf, size_t size)
{
    char before[COMMAND_LINE_MAX], text[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 2];
    char term[OPTION_TERM_MAX], described[OPTION_WORDS_MAX];
    const struct option_program own = program();
    struct option_call call = {.program = &own};
    size_t from;

    buf[0] = '\0';
    snprintf(before, sizeof before, "%.*s", (int)line->edit.at, line->edit.text);
    int n = option_line_words(before, text, words, &from);
    if (n > 0 && strcmp(words[0], VIEW) == 0)
        snprintf(buf, size, VIEW " NAME, " VIEW " save NAME, " VIEW " remove NAME: " VIEW_WORDS);
    if (n < 1 || !(call.verb = option_find_verb(&own, words[0])))
        return;
    if (from == strlen(before) && n <= OPTION_LINE_WORDS) { /* after a blank another one begins */
        text[sizeof text - 1] = '\0';
        words[n++] = text + sizeof text - 1;
    }
    call.action = action_of(call.verb, words, n);
    const struct option_row *row = option_at(&call, n - 1, words + 1);
    const struct option_action *action = call.action;
    if (row)
        snprintf(buf, size, "%s: %s", option_term(row, term), option_words(row, described));
    else if (action && action->name)
        snprintf(buf, size, "%s%s%s: %s", action->name, action->arguments ? " " : "",
                 action->arguments ? action->arguments : "", action->words ? action->words : "");
    else
        snprintf(buf, size, "%s: %s", call.verb->name, call.verb->words);
}

/* ---- earlier lines ---- */

static void fetch(struct command_line *line, int at)
{
    if (at < 0 || at > line->n_lines || at == line->at)
        return;
    if (line->at == line->n_lines)
        snprintf(line->draft, sizeof line->draft, "%s", line->edit.text);
    line->at = at;
    show(line, at == line->n_lines ? line->draft : line->lines[at]);
}

void tui_command_line_press(struct command_line *line, const struct model *model, int key)
{
    if (key == PRESS_TAB) {
        complete(line, model);
        return;
    }
    line->n_offers = 0;
    if (key == PRESS_UP)
        fetch(line, line->at - 1);
    else if (key == PRESS_DOWN)
        fetch(line, line->at + 1);
    else
        tui_line_edit_press(&line->edit, key);
}

int tui_command_line_run(const char *text, FILE *out, void *asking, char *said, size_t size,
                         char verb[static COMMAND_WORD_MAX])
{
    char copy[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1],
        whole[OPTION_ERROR_MAX + COMMAND_WORD_MAX] = "";
    const struct option_program own = program();
    int n = option_line_words(text, copy, words, NULL);

    snprintf(verb, COMMAND_WORD_MAX, "%s", n > 0 ? words[0] : "");
    snprintf(said, size, "%s", n < 0 ? "a quotation mark is open, or the line is too long" : "");
    if (n < 0)
        return EXIT_USAGE;
    context.said = whole;
    context.size = sizeof whole;
    int status = option_line(&own, n, words, out, asking);
    const char *rest = whole; /* "papertape: VERB: …" */
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? own.name : verb;
        size_t len = strlen(name);
        if (strncmp(rest, name, len) == 0 && strncmp(rest + len, ": ", 2) == 0)
            rest += len + 2;
    }
    snprintf(said, size, "%s", rest);
    return status;
}

int tui_command_line_request(const char *text, struct ask_line *ret, char *said, size_t size,
                             char verb[static COMMAND_WORD_MAX])
{
    char *printed = NULL;
    size_t length;
    FILE *out = open_memstream(&printed, &length);

    *ret = (struct ask_line){.args = NULL};
    verb[0] = '\0';
    if (!out) {
        snprintf(said, size, "out of memory");
        return EXIT_ERROR;
    }
    int status = tui_command_line_run(text, out, ret, said, size, verb);
    fclose(out);
    free(printed);
    if (status != ASK_LINE_FIRST) {
        json_decref(ret->args);
        ret->args = NULL;
    }
    return status;
}
