#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/selected.h"
#include "cli/text.h"
#include "db/state.h"
#include "db/studies/store.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"
#include "record/json.h"
#include "tui/collect.h"
#include "tui/print.h"

enum {
    BUSY_MS = 5000,    /* how long to wait for a lock */
    TRIALS_SHOWN = 20, /* of one study, as text */
    WANTED_MAX = 1000000000 - 1,
};

/* Reads what is wanted into the model; `key` "": the list alone. An exit status, its line on stderr. */
static int read_studies(struct collector *collector, const char *key)
{
    struct tui_study_want want = {.trial = -1, .validation = true};

    snprintf(want.key, sizeof(want.key), "%s", key);
    tui_collector_studies_once(collector, &want, BUSY_MS);
    if (collector->model->studies_error == 0)
        return EXIT_OK;
    if (collector->model->studies_error == -ENOENT && !collector->model->studies_named)
        return cli_stored_fail(EXIT_NO_DAEMON, "study", "", DB_NOT_YET("study", "papertape-trainer study"));
    return cli_stored_fail(EXIT_ERROR, "study", "", collector->model->studies_words);
}

static int print_object(json_t *object)
{
    return cli_stored_print("study", object, 17);
}

static int list(const struct option_call *call, struct collector *collector)
{
    const struct model *model = collector->model;
    int status = read_studies(collector, "");

    if (status != EXIT_OK)
        return status;
    if (call->json)
        return print_object(json_pack("{s:s, s:o}", "schema", "papertape.study/1", "studies",
                                      tui_print_studies_json(model, tui_model_now())));
    (call->csv ? tui_print_studies_csv : tui_print_studies_table)(stdout, model, tui_model_now());
    return EXIT_OK;
}

static int unknown(const struct model *model, const char *name)
{
    struct nearest nearest = {0};
    char words[NEAREST_HINT_MAX + 80], clean[NEAREST_HINT_MAX];

    for (int i = 0; i < model->studies->n; i++)
        nearest_offer(&nearest, name, model->studies->study[i].job);
    cli_text_clean(clean, sizeof(clean), NEAREST_HINT(&nearest, name));
    snprintf(words, sizeof(words), "no such study%s", model->studies->n > 0 ? clean : ": there is none");
    cli_text_clean(clean, sizeof(clean), name);
    return cli_stored_fail(EXIT_ERROR, "study", clean, words);
}

/* "two studies: dirs_2 (max), dirs_1 (min)". */
static int ambiguous(const struct model *model, const char *name, const struct tui_study *study)
{
    char *words = NULL, clean[STUDY_LABEL_MAX], direction[STATUS_WORD_MAX];
    size_t size;
    FILE *out = open_memstream(&words, &size);

    if (!out)
        return cli_stored_fail(EXIT_ERROR, "study", "show", "out of memory");
    fputs("names several studies: ", out);
    for (const struct tui_study *each = study; each;
         each = tui_studies_find_other(model->studies, name, each)) {
        fputs(each == study ? "" : ", ", out);
        cli_text_print(out, each->label);
        fprintf(out, " (%s)", tui_study_direction(each, direction));
    }
    fputs(": one of these would be right", out);
    int r = fclose(out);
    cli_text_clean(clean, sizeof(clean), name);
    int status = cli_stored_fail(EXIT_ERROR, "study", clean, r == 0 ? words : "out of memory");
    free(words);
    return status;
}

/* The one study of that name; NULL: *ret_status, with a line on stderr. */
static const struct tui_study *find(struct collector *collector, const char *name, int *ret_status)
{
    const struct model *model = collector->model;

    *ret_status = read_studies(collector, "");
    if (*ret_status != EXIT_OK)
        return NULL;
    const struct tui_study *study = tui_studies_find(model->studies, name);
    if (!study)
        *ret_status = unknown(model, name);
    else if (tui_studies_find_other(model->studies, name, study))
        *ret_status = ambiguous(model, name, study);
    return *ret_status == EXIT_OK ? study : NULL;
}

static int show(const struct option_call *call, struct collector *collector)
{
    const char *name = call->arguments[0];
    const struct model *model = collector->model;
    int status;
    const struct tui_study *study = find(collector, name, &status);

    if (!study)
        return status;
    char key[STUDY_LABEL_MAX];
    memcpy(key, study->key, sizeof(key));
    status = read_studies(collector, key);
    if (status != EXIT_OK)
        return status;
    if (!model->study_page) /* deleted meanwhile */
        return unknown(model, name);
    if (!call->json) {
        tui_print_study(stdout, model->study_page, tui_model_now(), TRIALS_SHOWN);
        return EXIT_OK;
    }
    json_t *object = tui_print_study_json(model->study_page, tui_model_now());
    json_t *whole = object ? json_pack("{s:s}", "schema", "papertape.study/1") : NULL;
    if (whole && json_object_update(whole, object) < 0) {
        json_decref(whole);
        whole = NULL;
    }
    json_decref(object);
    return print_object(whole);
}

/* ---- How many trials are wanted. ---- */

/* Of several workers the first has the number, and the others 0: they are added. `json` NULL: none. */
static int write_wanted(struct study_store *store, const struct tui_study *study, const char *json,
                        char err[static STUDY_ERROR_MAX])
{
    char base[STUDY_NAME_MAX + 1], name[STUDY_NAME_MAX + 16];
    int64_t id;
    int r = study_store_begin(store, err);

    study_base_name(study->name, base);
    for (int i = 0; i < study->members && r == 0; i++) {
        if (study->members == 1)
            snprintf(name, sizeof(name), "%s", study->name);
        else
            snprintf(name, sizeof(name), "%s_%d", base, study->ks[i]);
        r = study_store_find(store, name, &id, err);
        if (r == 0)
            r = study_store_set_study_user(store, id, "papertape:trials", json && i > 0 ? "0" : json, err);
    }
    if (r < 0)
        study_store_rollback(store);
    return r < 0 ? r : study_store_commit(store, err);
}

static bool read_count(const char *text, int *ret)
{
    char *end;
    long n = strtol(text, &end, 10);

    *ret = (int)n;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n <= WANTED_MAX;
}

/* The one thing that the program writes to a storage, and only on this demand. */
static int want(const struct option_call *call, struct collector *collector)
{
    const char *name = call->arguments[0];
    char err[STUDY_ERROR_MAX], json[24];
    struct study_store *store;
    int n;

    if (!read_count(call->arguments[1], &n))
        return option_fail(call, EXIT_USAGE, "TRIALS: \"%.60s\": a whole number up to %d is needed; 0: none",
                           call->arguments[1], WANTED_MAX);
    int status;
    const struct tui_study *study = find(collector, name, &status);
    if (!study)
        return status;
    if (study->config)
        return cli_stored_fail(
            EXIT_ERROR, "study", study->label,
            "its configuration has the number: papertape-trainer study --trials, or trials in "
            "[study] and a restart, would be right");
    snprintf(json, sizeof(json), "%d", n);
    int r = study_store_open(collector->studies_url, STUDY_STORE_WRITE, BUSY_MS, &store, err);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "study", "", err);
    do
        r = write_wanted(store, study, n > 0 ? json : NULL, err);
    while (r < 0 && study_store_again(store, &r, err));
    study_store_close(store);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "study", study->label, err);
    if (call->json)
        return print_object(json_pack("{s:s, s:o, s:o}", "schema", "papertape.study-want/1", "study",
                                      record_json_text(study->label), "trials_wanted",
                                      n > 0 ? json_integer(n) : json_null()));
    cli_text_print(stdout, study->label);
    printf(n > 0 ? ": %d trials are wanted\n" : ": no number of trials is wanted\n", n);
    return EXIT_OK;
}

static int run(struct option_call *call)
{
    bool lists = call->n == 0;
    struct state_dir state;
    struct collector collector;
    char why[512];
    int r = db_state_dir_resolve(call->state, &state, why, sizeof(why));

    if (r < 0)
        return option_fail(call, r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", why);
    const char *url = *(const char *const *)call->into;
    char *name = NULL;
    if (url && (r = study_store_name(url, &name, why)) < 0)
        return option_fail(call, exit_status_of_start(r), "--studies: %s", why);
    free(name);
    int status = tui_collector_init(&collector, &state, url, 1000) < 0
                     ? option_fail(call, EXIT_ERROR, "out of memory")
                 : lists                           ? list(call, &collector)
                 : strcmp(call->word, "want") == 0 ? want(call, &collector)
                                                   : show(call, &collector);
    tui_collector_finish(&collector);
    return status;
}

static const struct option_action actions[] = {
    {"list", NULL, "all of them, newest first; NAME_1, NAME_2 ... together", .need = OPTION_NEEDS_STATE,
     OPTION_LISTS, .run = run},
    {"show", "STUDY",
     "one: its trials, best first (completed, pruned, infeasible, others), what its parameters matter "
     "(fANOVA), its proposal. Workers of two directions are two studies, and are to be named themselves",
     .example = "ppo", .need = OPTION_NEEDS_STATE, .run = run},
    {"want", "STUDY TRIALS",
     "how many trials are wanted of a study that Optuna made, which stores no number: done, bar and time left "
     "count towards it, in the dashboard too. The study keeps it as its attribute papertape:trials; 0 removes "
     "it. Without this nothing is ever written to such a study",
     .example = "other 200", .need = OPTION_NEEDS_STATE, .run = run},
};

static const struct option_row options[] = {
    {"studies", "URL",
     "the storage: sqlite:///F, a file, or postgresql://USER@HOST/DATABASE; by default studies.db of the "
     "state directory",
     0},
};

static const struct option_refusal refused[] = {
    SELECTED_REFUSED_ALL("studies are kept beside the record, and listed as they are now")};

CLI_VERB(tui_study) = {
    .name = "study",
    .words = "hyper-parameter studies: list, show, want",
    .about = "Studies of hyper-parameters, ours and Optuna's. They are read from the storage; no "
             "daemon is asked. papertape train starts, stops and restarts them, papertape-trainer study runs "
             "one alone. With --json papertape.study/1.",
    .page = "learning",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(const char *),
};
