/* For validate.py: makes a study of trials in these states, of which the first is the best: make-study
 * STORAGE NAME FOLDER|- STATE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/store.h"

static char err[STUDY_ERROR_MAX];

static int add_trial(struct study_store *store, int64_t study, const char *state)
{
    int64_t trial;
    int number, r = study_store_ask(store, study, false, &trial, &number, err);
    const double value = 0.5 - number;
    if (r == 0 && strcmp(state, "COMPLETE") == 0)
        r = study_store_tell(store, trial, TRIAL_COMPLETE, &value, 1, err);
    else if (r == 0 && strcmp(state, "RUNNING") != 0)
        r = study_store_tell(store, trial, strcmp(state, "PRUNED") == 0 ? TRIAL_PRUNED : TRIAL_FAIL, NULL, 0,
                             err);
    return r;
}

int main(int argc, char **argv)
{
    const enum study_direction direction = STUDY_MAXIMIZE;
    struct study_store *store = NULL;
    char folder[4096];
    int64_t study = 0;
    if (argc < 4)
        return EXIT_FAILURE;
    int r = study_store_open(argv[1], STUDY_STORE_WRITE, 0, &store, err);
    if (r == 0)
        r = study_store_create(store, argv[2], &direction, 1, &study, NULL, err);
    snprintf(folder, sizeof folder, "\"%s\"", argv[3]);
    if (r == 0 && strcmp(argv[3], "-") != 0)
        r = study_store_set_study_user(store, study, "papertape:folder", folder, err);
    for (int i = 4; i < argc && r == 0; i++)
        r = add_trial(store, study, argv[i]);
    study_store_close(store);
    if (r < 0)
        fprintf(stderr, "%s\n", err);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
