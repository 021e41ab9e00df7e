/* Judges the whole study: each member that ends judges the members' proposals over all trials that there are
 * by then, so that the last one counts all. Proposals of other runs on the same bars stay as they were
 * judged. */
#include <stdio.h>
#include <string.h>

#include "trainer/command/study_run.h"
#include "trainer/study/proposal.h"

/* A new reference; NULL: there is no proposal, or it could not be judged, which is reported. */
static json_t *judge_one(struct study_run *run, struct study_store *store, int64_t id, const char *folder,
                         const char *folders)
{
    char err[TRIAL_ERROR_MAX], words[TRIAL_ERROR_MAX + 64];
    json_t *proposal = NULL;
    if (study_proposal_judge(store, id, folder, folders, NULL, &proposal, err) < 0) {
        snprintf(words, sizeof words, "a proposal is not judged again: %s", err);
        telemetry_report_warning(&run->report, words);
    }
    return proposal;
}

static void judge_own(struct study_run *run, struct study_store *store, const char *folders)
{
    json_t *now = run->proposal ? judge_one(run, store, run->study->id, run->folder, folders) : NULL;
    if (now) {
        json_decref(run->proposal);
        run->proposal = now;
    }
    if (run->proposal)
        trainer_study_proposed(run);
}

int trainer_study_judge(struct study_run *run, char err[static STUDY_ERROR_MAX])
{
    char folders[PATH_MAX], base[STUDY_NAME_MAX + 1];
    struct study_members others = {0};
    struct study_store *store;
    int r = study_store_open_waiting(run->url, STUDY_STORE_READ_AGAIN, 0, &run->waits, &store, err);
    if (r < 0)
        return r;
    snprintf(folders, sizeof folders, "%s", run->folder);
    *strrchr(folders, '/') = '\0';
    study_base_name(run->study->name, base);
    judge_own(run, store, folders);
    r = study_members_load(store, base, run->study, folders, NULL, NULL, &others, err);
    for (int i = 0; i < others.n && !others.of[i].run && !trainer_study_is_stopped(run);
         i++) { /* other runs come last */
        json_t *proposal = judge_one(run, store, others.of[i].study->id, others.of[i].folder, folders);
        if (proposal)
            trainer_study_report_judged(run, proposal);
        json_decref(proposal);
    }
    study_members_finish(&others);
    study_store_close(store);
    return r;
}
