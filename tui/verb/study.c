#include "tui/verb/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"
#include "tui/collect.h"
#include "tui/print_search.h"

enum {
    BUSY_MS = 5000,    /* that a lock is waited for */
    TRIALS_SHOWN = 20, /* of one study, as text */
};

static const char help[] =
    "Usage: papertape study list [--json]\n"
    "       papertape study show NAME [--json]\n"
    "\n"
    "Studies: searches for hyper-parameters, ours and Optuna's. They are read from the storage; no daemon "
    "is\n"
    "asked. papertape train starts, stops and restarts them, papertape-trainer study runs one alone.\n"
    "\n"
    "  list   all of them, newest first; NAME_1, NAME_2 ... together\n"
    "  show   one: its trials, best first (completed, pruned, infeasible, others),\n"
    "         what its parameters matter (fANOVA), its proposal\n"
    "\n"
    "  --json         papertape.study/1; what is not known is null\n"
    "  --studies URL  the storage: sqlite:///F, or a file; by default studies.db of the state directory\n"
    "  --state DIR    the daemon's state directory\n";

struct wish {
    const char *state, *studies;
    bool json;
};

/* Reads what is wanted into the model; `key` "": the list alone. An exit status, its line on stderr. */
static int read_studies(struct collector *collector, const char *key)
{
    struct search_want want = {.trial = -1, .validation = true};

    snprintf(want.key, sizeof(want.key), "%s", key);
    collector_searches_once(collector, &want, BUSY_MS);
    if (collector->model->searches_error == 0)
        return EXIT_OK;
    fprintf(stderr, "papertape: study: %s\n", collector->model->searches_words);
    return EXIT_ERROR;
}

static int print_object(json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;

    json_decref(object);
    if (!text)
        return stored_fail(EXIT_ERROR, "study", "printing", "out of memory");
    puts(text);
    free(text);
    return EXIT_OK;
}

static int list(const struct wish *wish, struct collector *collector)
{
    const struct model *model = collector->model;
    int status = read_studies(collector, "");

    if (status != EXIT_OK)
        return status;
    if (wish->json)
        return print_object(json_pack("{s:s, s:o}", "schema", "papertape.study/1", "studies",
                                      print_searches_json(model, moment_now())));
    print_searches(stdout, model, moment_now());
    if (model->searches->n == 0)
        puts("studies   none");
    return EXIT_OK;
}

static int unknown(const struct model *model, const char *name)
{
    struct nearest nearest = {0};
    char words[SEARCH_LABEL_MAX + 80], clean[SEARCH_LABEL_MAX];

    for (int i = 0; i < model->searches->n; i++)
        nearest_offer(&nearest, name, model->searches->search[i].job);
    text_clean(clean, sizeof(clean), nearest.best ? nearest.best : "");
    snprintf(words, sizeof(words), "no such study: %s%s", nearest.best ? clean : "there is none",
             nearest.best ? " is the nearest" : "");
    text_clean(clean, sizeof(clean), name);
    return stored_fail(EXIT_ERROR, "study", clean, words);
}

/* "two searches: dirs_2 (max), dirs_1 (min)". */
static int ambiguous(const struct model *model, const char *name, const struct search *search)
{
    char *words = NULL, clean[SEARCH_LABEL_MAX], direction[STATUS_WORD_MAX];
    size_t size;
    FILE *out = open_memstream(&words, &size);

    if (!out)
        return stored_fail(EXIT_ERROR, "study", "show", "out of memory");
    fputs("names several searches: ", out);
    for (const struct search *each = search; each; each = searches_find_other(model->searches, name, each)) {
        fputs(each == search ? "" : ", ", out);
        text_print(out, each->label);
        fprintf(out, " (%s)", search_direction(each, direction));
    }
    fputs(": one of these would be right", out);
    int r = fclose(out);
    text_clean(clean, sizeof(clean), name);
    int status = stored_fail(EXIT_ERROR, "study", clean, r == 0 ? words : "out of memory");
    free(words);
    return status;
}

static int show(const struct wish *wish, const char *name, struct collector *collector)
{
    const struct model *model = collector->model;
    int status = read_studies(collector, "");

    if (status != EXIT_OK)
        return status;
    const struct search *search = searches_find(model->searches, name);
    if (!search)
        return unknown(model, name);
    if (searches_find_other(model->searches, name, search))
        return ambiguous(model, name, search);
    char key[SEARCH_LABEL_MAX];
    memcpy(key, search->key, sizeof(key));
    status = read_studies(collector, key);
    if (status != EXIT_OK)
        return status;
    if (!model->search_page) /* deleted meanwhile */
        return unknown(model, name);
    if (!wish->json) {
        print_search(stdout, model->search_page, moment_now(), TRIALS_SHOWN);
        return EXIT_OK;
    }
    json_t *object = print_search_json(model->search_page, moment_now());
    json_t *whole = object ? json_pack("{s:s}", "schema", "papertape.study/1") : NULL;
    if (whole && json_object_update(whole, object) < 0) {
        json_decref(whole);
        whole = NULL;
    }
    json_decref(object);
    return print_object(whole);
}

static int act(char **words, int n, const struct wish *wish)
{
    static const char *const actions[] = {"list", "show"};
    const char *word = n > 0 ? words[0] : "";
    bool lists = strcmp(word, "list") == 0;
    struct state_dir state;
    struct collector collector;
    char why[512];
    int r;

    if (!lists && strcmp(word, "show") != 0)
        return ask_unknown_action("study", word, actions, 2, "studies", "list or show");
    if (n != (lists ? 1 : 2))
        return ask_usage("study", lists ? "list takes no argument" : "show takes NAME");
    r = state_dir_look(wish->state, &state, why, sizeof(why));
    if (r < 0) {
        fprintf(stderr, "papertape: study: %s\n", why);
        return r == -EINVAL ? EXIT_USAGE : EXIT_ERROR;
    }
    int status = collector_init(&collector, &state, wish->studies, 1000) < 0
                     ? stored_fail(EXIT_ERROR, "study", word, "out of memory")
                 : lists ? list(wish, &collector)
                         : show(wish, words[1], &collector);
    collector_finish(&collector);
    return status;
}

static int run_line(int argc, char **argv)
{
    struct wish wish = {0};
    const struct ask_option options[] = {
        {"state", &wish.state, NULL}, {"studies", &wish.studies, NULL}, {"json", NULL, &wish.json}};
    char **words;
    int r = ask_parse(argc, argv, options, sizeof options / sizeof *options, help, &words);

    return r != EXIT_OK || !words ? r : act(words, argc - (int)(words - argv), &wish);
}

const struct option_verb tui_study = {
    .name = "study", .words = "studies: list, show: trials, importance, proposal", .run = run_line};
