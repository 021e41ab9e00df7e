/* What an evaluation's page shows that its figures lack: every action, fill and closed trade of one episode.
 * It grows with the episode: 4 bytes an action, 32 a fill. */
#ifndef TRAINER_REPORT_TRACE_H
#define TRAINER_REPORT_TRACE_H

#include "trainer/training/episode.h"

struct trainer_fill {
    int64_t row;
    int asset;
    bool at_open;
    double qty, price;
};

struct trainer_trace {
    int n_actions;  /* of a step */
    size_t n_steps; /* actions: [n_steps][n_actions] */
    size_t n_fills, n_trades;
    float *actions;
    struct trainer_fill *fills;
    struct training_trade *trades;
    size_t caps[3];
    bool failed; /* without memory: it is not whole */
};

/* Callbacks that note an episode in a zeroed trace, which trainer_trace_finish() frees. */
struct training_calls trainer_trace_calls(struct trainer_trace *trace);
void trainer_trace_finish(struct trainer_trace *trace); /* fine on a zeroed one */

#endif
