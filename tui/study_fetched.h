/* Files of studies whose trials ran on other machines, out of the studies' artifact stores
 * (trainer/study/artifacts.h): proposals and trials' returns, each fetched once into a temporary folder of
 * this process and compared with the digest that the storage has. */
#ifndef TUI_STUDY_FETCHED_H
#define TUI_STUDY_FETCHED_H

#include <limits.h>

#include "db/studies/study.h"

enum { FETCHED_PROPOSAL = -1, FETCHED_WORDS_MAX = 256 };

enum fetched_state {
    FETCHED_NONE, /* the study names no such file in a store */
    FETCHED_SOON, /* it is being fetched, or waits for that */
    FETCHED_HERE,
    FETCHED_FAILED, /* a minute later it is tried again */
};

struct tui_study_fetched;

/* `thread`: a thread fetches, from the first file on; else each call waits for what it asks for. NULL without
 * memory. destroy() interrupts the thread and removes the folder; NULL is fine. */
struct tui_study_fetched *tui_study_fetched_create(bool thread);
void tui_study_fetched_destroy(struct tui_study_fetched *fetched);

/* A trial's returns.csv, `trial` being its index in study->trials, or FETCHED_PROPOSAL, the study's
 * proposal.json. HERE: it is FOLDER/N/returns.csv of trial number N, or FOLDER/proposal.json. FAILED: `words`
 * say why. */
enum fetched_state tui_study_fetched_get(struct tui_study_fetched *fetched, const struct study *study,
                                         int trial, char ret_folder[static PATH_MAX],
                                         char words[static FETCHED_WORDS_MAX]);

/* Where the study's proposal.json is read: in `folder`, where it is there or in no store (NONE), else as
 * above; `ret_folder` is set in any case. `fetched` NULL: nothing is fetched. */
enum fetched_state tui_study_fetched_proposal(struct tui_study_fetched *fetched, const struct study *study,
                                              const char *folder, char ret_folder[static PATH_MAX],
                                              char words[static FETCHED_WORDS_MAX]);

#endif
