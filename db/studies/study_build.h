/* Makes a struct study from rows of any database. Strings are copied. Pointers into a study stay valid except
 * study->trials, ->params and ->distributions themselves, which grow. All allocate; NULL and -1 mean no
 * memory unless said otherwise. */
#ifndef DB_STUDIES_STUDY_BUILD_H
#define DB_STUDIES_STUDY_BUILD_H

#include "db/studies/study.h"

struct study *study_create(int64_t id, const char *name, const enum study_direction *directions, int n);

/* A trial on its own, without content yet. */
struct study_trial *study_trial_create(int64_t id, enum trial_state state);
void study_trial_destroy(struct study_trial *trial); /* NULL is fine */

/* The index of a name, of a distribution as Optuna's text: -EINVAL with the reason, or -ENOMEM. */
int study_param(struct study *study, const char *name);
int study_distribution(struct study *study, const char *text, char err[static DISTRIBUTION_ERROR_MAX]);

/* Sets a trial's value, kept in order; replaces an existing one under that key. 0 or -ENOMEM. */
int study_trial_put_param(struct study_trial *trial, int param, int distribution, double value);
int study_trial_put_report(struct study_trial *trial, int64_t step, double value);
int study_trial_put_value(struct study_trial *trial, int n_objectives, int objective, double value);
int study_attribute_put(struct study_attribute **attributes, int *n, const char *key, const char *json);
void study_attributes_finish(struct study_attribute **attributes, int *n);

bool study_attributes_equal(const struct study_attribute *a, int n_a, const struct study_attribute *b,
                            int n_b);
/* The study's trials [first, last) become `fresh` [n], which is by id and taken: a trial with the same id
 * keeps its address, others are destroyed. 0 or -ENOMEM, which changes and takes nothing. */
int study_splice(struct study *study, int first, int last, struct study_trial **fresh, int n,
                 bool *ret_changed);

/* Texts of distributions and their indices: a hash table, so that 12,000 rows of a study of 500 trials and 24
 * parameters are 24 parsed texts. */
struct study_texts;

struct study_texts *study_texts_create(void); /* NULL without memory */
void study_texts_destroy(struct study_texts *texts);
int study_texts_find(const struct study_texts *texts, const char *text);     /* -1 */
int study_texts_add(struct study_texts *texts, const char *text, int index); /* 0 or -ENOMEM; copies */

#endif
