/* The part of a page (report/page.h) that one evaluation has: its verdict, its figures beside holding's,
 * equity, drawdown, exposure, trades and actions. `train --report` and `eval --report` have it in common. */
#ifndef TRAINER_REPORT_EVALUATION_H
#define TRAINER_REPORT_EVALUATION_H

#include "report/page.h"
#include "trainer/report/trace.h"

struct trainer_evaluated {
    const struct training_episode *episode;
    const struct trainer_trace *trace;
    const struct env_market *market;
    const struct env_params *params;
    const struct verdict *verdict; /* of the episode */
    int64_t row_ns;                /* market_row_ns() of the bars */
};

/* The sentence, and a table of the verdict's figures. */
void trainer_report_verdict(struct text *text, const struct verdict *verdict);

/* All else, under headings of its own. 0; -ENOMEM. */
int trainer_report_evaluation(struct text *text, const struct trainer_evaluated *evaluated);

/* "2024-01-31 12:00" of a time; the close of a row's bar. */
enum { REPORT_TIME_MAX = 32 };
const char *trainer_report_time(int64_t ns, char ret[static REPORT_TIME_MAX]);
int64_t trainer_report_close_ns(const struct env_market *market, size_t row);
/* Is the bar of an asset missing; those of all? Never where the execution is reference. */
bool trainer_report_is_missing(const struct env_market *market, size_t row, int asset);
bool trainer_report_all_missing(const struct env_market *market, size_t row);

/* What an evaluation's money is in, by its symbols' names; "currency". */
const char *trainer_report_currency(const struct env_market *market);

/* Parts of it, in their own files. 0 or -ENOMEM. */
int trainer_report_curves(struct text *text, const struct trainer_evaluated *evaluated);
int trainer_report_trades(struct text *text, const struct trainer_evaluated *evaluated);
void trainer_report_actions(struct text *text, const struct trainer_evaluated *evaluated);

#endif
