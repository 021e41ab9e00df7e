/* Texts of distributions and their indices: a hash table, so that 12,000 rows of a study of 500 trials and 24
 * parameters are 24 parsed texts. */
#ifndef DB_STUDIES_STUDY_TEXTS_H
#define DB_STUDIES_STUDY_TEXTS_H

struct study_texts;

struct study_texts *study_texts_create(void); /* NULL without memory */
void study_texts_destroy(struct study_texts *texts);
int study_texts_find(const struct study_texts *texts, const char *text);     /* -1 */
int study_texts_add(struct study_texts *texts, const char *text, int index); /* 0 or -ENOMEM; copies */

#endif
