/* A study's overfitting check, read from its folders: a proposal of one of its workers, and the returns of
 * the trials of all. */
#ifndef TUI_STUDY_VALIDATION_H
#define TUI_STUDY_VALIDATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trainer/study/members.h"
#include "tui/status.h"
#include "tui/studies.h"
#include "tui/study_fetched.h"

enum {
    STUDY_LAMBDA_BINS = 40,
    STUDY_EQUITY_POINTS = 240,
    STUDY_GATES_MAX = 8,
};

/* proposal.json of one study's folder, and the returns of that study's trials and of those of the others of
 * its group (trainer/study/members.h), from which PBO is computed again. */
struct tui_study_validation {
    char words[STATUS_TEXT_MAX]; /* why there is no proposal; "" */
    char verdict[512];           /* its outcome in words */
    bool have, admitted;
    char study[STUDY_NAME_MAX + 1]; /* whose proposal it is, or would be */
    int64_t made_ns;                /* when the file was written; 0: it was fetched */
    int trial;                      /* -1 */
    double value, pbo, loss, slope, intercept, deflated, expected, skill; /* the proposal's, else by now */
    struct {
        double sharpe, holding, equal_weight, return_pct, drawdown_pct;
        int64_t trades;
    } holdout;
    struct {
        char gate[STATUS_WORD_MAX];
        double figure, limit;
        bool passed;
    } gates[STUDY_GATES_MAX];
    int n_gates;
    char returns_words[STATUS_TEXT_MAX]; /* why there are no returns to show; "" */
    bool soon;                           /* files are being fetched: this is without them */
    int missing;                         /* trials whose returns are in a store, and could not be fetched */
    int unread;            /* trials whose returns are still to be read: nothing below is known */
    int columns, left_out; /* trials whose returns count; whose rows are others, or that cannot be read */
    int64_t rows;
    double pbo_now;                          /* of these; NaN */
    int lambda[STUDY_LAMBDA_BINS], n_lambda; /* half splits a bin; in all, 0: none */
    /* Of the trial that is proposed, or else of the study's best, holding, equal weight; 1 at the start. */
    double equity[3][STUDY_EQUITY_POINTS];
    int n_equity, equity_trial;
    char equity_study[STUDY_NAME_MAX + 1];
};

/* The trial that FOLDER/proposal.json proposes; -1: there is none, or not known. */
int tui_study_proposal_trial(const char *folder);

/* The verdict of FOLDER/proposal.json on its holdout: the word and the sentence. False: there is none. */
bool tui_study_proposal_verdict(const char *folder, char ret_word[static STATUS_WORD_MAX],
                                char ret_text[static STUDY_VERDICT_MAX]);

/* Reads the proposal of members->of[0] into *ret, and with `returns` (NULL: not) those of all the members'
 * trials, as `papertape-trainer validate --study` does; what is missing is reported in its words. What is not
 * in the members' folders is taken from `fetched` (NULL: nothing is). Files
 * that are not in `returns` yet are read for no longer than slice_ms, and until *stop (NULL: never), but one
 * at least: then unread is how many are left for the next call. Without a proposal the member with the best
 * trial becomes the first one.
 */
void tui_study_validation_read(struct study_members *members, struct tui_study_fetched *fetched,
                               struct returns_kept *returns, int slice_ms, const atomic_bool *stop,
                               struct tui_study_validation *ret);

/* Does PBO by now differ from the proposal's, since more trials have ended? */
bool tui_study_validation_moved(const struct tui_study_validation *validation);

#endif
