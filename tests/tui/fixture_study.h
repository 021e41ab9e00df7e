/* Studies built by hand, for the model and the screens: as a storage would have read them at fixture_now_ns.
 * They live until the next fixture_studies_begin(). */
#ifndef TESTS_TUI_FIXTURE_STUDY_H
#define TESTS_TUI_FIXTURE_STUDY_H

#include "db/studies/study.h"

/* Forgets those that there are. */
void fixture_studies_begin(void);

/* An empty one. */
struct study *fixture_study(const char *name, int64_t id, int objectives,
                            const enum study_direction *directions);
void fixture_study_user(struct study *study, const char *key, const char *json);

/* Another trial, begun and ended so many seconds before fixture_now_ns (< 0: it has no such time). */
struct study_trial *fixture_trial(struct study *study, enum trial_state state, double began_s,
                                  double ended_s);
void fixture_value(struct study_trial *trial, const double *values, int n);
void fixture_report(struct study_trial *trial, int64_t step, double value);
void fixture_trial_user(struct study_trial *trial, const char *key, const char *json);
void fixture_trial_system(struct study_trial *trial, const char *key, const char *json);
void fixture_number(struct study *study, struct study_trial *trial, const char *name,
                    enum distribution_kind kind, double low, double high, bool log, double value);
void fixture_choice(struct study *study, struct study_trial *trial, const char *name, const char *choices,
                    int value);

/* A search of trainings: `wanted` trials, of which so many have run, with six parameters; a few pruned,
 * failed and, unless it has ended, running: one of those is silent. Deterministic. */
struct study *fixture_search(const char *name, int64_t id, int trials, int wanted, bool ended);

/* As Optuna leaves one: no attributes of ours, a parameter that is not everywhere, a category whose choices
 * changed, infinities, an infeasible trial, one that waits. */
struct study *fixture_foreign(const char *name, int64_t id);

/* Two objectives. */
struct study *fixture_two(const char *name, int64_t id);

#endif
