/* One moment of a paper account, as a status object and as a database: for the model and the screens. */
#ifndef TESTS_TUI_FIXTURE_H
#define TESTS_TUI_FIXTURE_H

#include <stdint.h>

#include "db/writer.h"
#include "tui/model.h"

static const int64_t fixture_now_ns = 1723161255342000000; /* 2024-08-08 23:54:15.342 UTC */

/* A status of that moment, one account, two symbols. */
extern const char fixture_status[];

/* To be merged into it: three venues, one closed for the night, one banned, and a share that is halted. */
extern const char fixture_venues[];

/* What becomes of it with two accounts, a short, an OCO and a bracket: to be merged into it. */
extern const char fixture_several[];

/* With trainings in every state that looks different, and policies: to be merged into it. */
extern const char fixture_trainings[];

/* The model takes the status with another object merged into it: as model_take_status(), or -EINVAL. */
int fixture_take(struct model *model, const char *more, struct moment now);

/* Of the database: a training of that name; a point of its curve, written so much later than usual; and all
 * that the database of the moment has of trainings: one that failed and one that goes on, with 2992 points
 * and an hour of phases, and its policy. */
struct db_training fixture_training_row(const char *name, const char *state, int64_t steps);
void fixture_put_point(struct db_writer *writer, const char *training, int64_t iteration, int64_t later_ns);
void fixture_put_trainings(struct db_writer *writer);

/* Writes the database of that moment at `path`, with the daemon's own writer: 0 or -errno, said on stderr. */
int fixture_database(const char *path);

/* Removes the folder that nothing but that database was in: 0, or -1 with errno. */
int fixture_remove(const char *folder);

#endif
