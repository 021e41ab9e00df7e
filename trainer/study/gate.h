/* The gates through which a study's proposal becomes a challenger: pure rules over its figures. What lets a
 * policy of noise pass, and why these limits, is in docs/studies.md. */
#ifndef TRAINER_STUDY_GATE_H
#define TRAINER_STUDY_GATE_H

#include <jansson.h>
#include <stdbool.h>

enum { GATES_MAX = 8, GATE_ERROR_MAX = 256 };

struct gate_limits {     /* keys of [arena] of papertaped.ini, and of [study] of a training's */
    double min_excess;   /* out-of-sample Sharpe less that of holding, annualised; 0.1 */
    double max_pbo;      /* 0.4 */
    double min_deflated; /* probability; 0.9 */
    double max_drawdown; /* out of sample, a share > 0; 0.3 */
    int min_trades;      /* buys and sells out of sample; 20 */
};
struct gate_limits gate_defaults(void);

struct gate_figures {              /* NaN, -1: unknown, which passes no gate */
    double sharpe, sharpe_holding; /* of the holdout, annualised */
    double pbo, deflated;          /* shares of 1, of the study's trials; skill, else deflated_sharpe */
    double drawdown;               /* of the holdout, a share >= 0 */
    long long trades;              /* buys and sells in the holdout */
};

struct gate_verdict {
    const char *gate;     /* "excess", "pbo", "deflated", "drawdown", "trades" */
    double figure, limit; /* figure NaN: not known */
    bool most, passed;    /* most: figure <= limit passes; else figure >= limit */
};
/* How many gates there are. `ret_all`: were all passed? */
int gate_judge(const struct gate_limits *limits, const struct gate_figures *figures,
               struct gate_verdict ret[static GATES_MAX], bool *ret_all);
/* For a sentence: "excess 0.82 (at least 0.1 is right), …" of all gates, or only of those that failed: "pbo
 * 0.41 (at most 0.4 is right), trades is not known (at least 20 is right)". */
void gate_words(const struct gate_verdict *verdicts, int n, bool all, char *buf, size_t cap);

/* Reads a proposal's figures (docs/studies.md, papertape.proposal/1). 0 or -EINVAL with what is missing. */
int gate_figures_parse(const json_t *proposal, struct gate_figures *ret, char err[static GATE_ERROR_MAX]);

#endif
