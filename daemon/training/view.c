/* The trainings and the co-process as the status reports them. */
#include <stdlib.h>

#include "daemon/list.h"
#include "daemon/training/internal.h"
#include "db/training_order.h"
#include "exchange/clock.h"
#include "record/json.h"
#include "record/status.h"

enum { SHOWN_MAX = 64 };

static bool is_live(const struct trainings *trainings)
{
    struct link_view view;
    daemon_training_link_view(trainings->link, &view);
    return view.state == LINK_OK;
}

static int64_t since(int64_t then_ns)
{
    int64_t ns = clock_wall_ns() - then_ns;
    return ns > 0 ? ns / 1000000 : 0;
}

/* The age of one that has ended counts from its end. */
static json_t *object_of(const struct trainings *trainings, const struct known *known)
{
    const struct training *training = &known->training;
    json_t *object = daemon_training_object(training, daemon_training_keep_reported_age(trainings, known),
                                            is_live(trainings) && known->met);
    if (object && daemon_training_state_ended(training->state) && training->ended_ns > 0)
        json_object_set_new(object, "age_ms", json_integer((json_int_t)since(training->ended_ns)));
    return object;
}

/* The first of all that fit, in the order of db/training_order.h, listed oldest first. */
static json_t *list(const struct trainings *trainings, size_t max)
{
    size_t n = trainings ? trainings->n_known : 0, bytes = 0;
    json_t *array = json_array();
    struct training_rank *ranks = calloc(n + 1, sizeof *ranks);
    json_t **objects = calloc(n + 1, sizeof *objects);
    for (size_t i = 0; ranks && objects && i < n; i++) {
        const struct training *training = &trainings->known[i]->training;
        ranks[i] = (struct training_rank){.group = db_training_group(training->state),
                                          .priority = training->priority,
                                          .ended_ns = training->ended_ns};
    }
    if (ranks && objects)
        db_training_order(ranks, n);
    for (size_t i = 0; ranks && objects && i < n && i < max; i++) {
        json_t *object = object_of(trainings, trainings->known[ranks[i].at]);
        if (!list_fits(object, &bytes)) {
            json_decref(object);
            break;
        }
        objects[ranks[i].at] = object;
    }
    for (size_t i = 0; objects && i < n; i++)
        if (objects[i])
            json_array_append_new(array, objects[i]);
    free(objects);
    free(ranks);
    return array;
}

json_t *daemon_trainings_array(const struct trainings *trainings)
{
    return list(trainings, SHOWN_MAX);
}

json_t *daemon_trainings_all(const struct trainings *trainings)
{
    return list(trainings, TRAININGS_MAX);
}

size_t daemon_trainings_total(const struct trainings *trainings)
{
    return trainings ? trainings->n_known : 0;
}

json_t *daemon_trainings_object(const struct trainings *trainings, const char *name)
{
    const struct known *known = trainings ? daemon_training_keep_find(trainings, name) : NULL;
    return known ? object_of(trainings, known) : NULL;
}

RECORD_VIEW_OBJECT(trainer_object, trainer_view, RECORD_SHOWN_TRAINER);

json_t *daemon_trainings_trainer(const struct trainings *trainings)
{
    struct link_view view = {
        .state = LINK_ABSENT, .detail = "the daemon is stopping", .version = "", .age_ms = UINT64_MAX};
    if (trainings)
        daemon_training_link_view(trainings->link, &view);
    const struct trainer_view shown = {
        .state = daemon_training_link_state_name(view.state),
        .detail = view.detail,
        .version = view.version,
        .pid = view.pid,
        .age_ms = view.age_ms == UINT64_MAX ? -1 : (int64_t)view.age_ms,
    };
    return trainer_object(&shown);
}

const char *daemon_trainings_role(const struct trainings *trainings, int64_t pid)
{
    struct link_view view;
    if (!trainings || pid <= 0)
        return NULL;
    for (size_t i = 0; i < trainings->n_known; i++)
        if (trainings->known[i]->training.pid == pid)
            return trainings->known[i]->training.name;
    if (!trainings->link)
        return NULL;
    daemon_training_link_view(trainings->link, &view);
    return view.pid == pid ? "trainer" : NULL;
}
