/* What is known of a search's luck, read from its folder: its proposal, and the returns of its trials. */
#ifndef TUI_SEARCH_VALIDATION_H
#define TUI_SEARCH_VALIDATION_H

#include <stdbool.h>
#include <stdint.h>

#include "db/studies/study.h"
#include "tui/status.h"

enum {
    SEARCH_LAMBDA_BINS = 40,
    SEARCH_EQUITY_POINTS = 240,
    SEARCH_GATES_MAX = 8,
};

/* proposal.json of the search's folder, and what the trials' returns say. */
struct search_validation {
    char words[STATUS_TEXT_MAX]; /* why there is no proposal; "" */
    char verdict[512];           /* its words */
    bool have, admitted;
    char study[STUDY_NAME_MAX + 1]; /* whose all of this is: one of the search's, by its maker; "" */
    int64_t made_ns;                /* when the file was written */
    int trial;                      /* -1 */
    double value, pbo, loss, slope, intercept, deflated, expected, skill;
    struct {
        double sharpe, holding, equal_weight, return_pct, drawdown_pct;
        int64_t trades;
    } holdout;
    struct {
        char gate[STATUS_WORD_MAX];
        double figure, limit;
        bool passed;
    } gates[SEARCH_GATES_MAX];
    int n_gates;
    char returns_words[STATUS_TEXT_MAX]; /* why there are no returns to show; "" */
    int columns;                         /* trials whose returns were read */
    int64_t rows;
    int lambda[SEARCH_LAMBDA_BINS], n_lambda; /* half splits a bin; in all, 0: none */
    double equity[3][SEARCH_EQUITY_POINTS]; /* of the proposed trial, holding, equal weight; 1 at the start */
    int n_equity, equity_trial;
};

/* The trial that FOLDER/proposal.json proposes; -1: there is none, or not known. */
int search_proposal_trial(const char *folder);

/* Reads FOLDER/proposal.json and the trials' returns into *ret; what is missing is said in its words. */
void search_validation_read(const char *folder, const int *complete, int n, struct search_validation *ret);

#endif
