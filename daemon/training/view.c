/* The trainings and the co-process as the status tells of them. */
#include "daemon/training/internal.h"

enum { SHOWN_MAX = 64 };

static bool is_live(const struct trainings *trainings)
{
    struct link_view view;
    link_view(trainings->link, &view);
    return view.state == LINK_OK;
}

static json_t *object_of(const struct trainings *trainings, const struct known *known)
{
    return training_object(&known->training, keep_told_age(trainings, known),
                           is_live(trainings) && known->met);
}

/* The newest; those that have ended make room for those that have not. */
json_t *trainings_array(const struct trainings *trainings)
{
    json_t *array = json_array();
    size_t n = trainings ? trainings->n_known : 0, live = 0;
    for (size_t i = 0; i < n; i++)
        live += !training_state_ended(trainings->known[i]->training.state);
    size_t skip_live = live > SHOWN_MAX ? live - SHOWN_MAX : 0;
    size_t room = SHOWN_MAX - (live - skip_live), ended = n - live;
    size_t skip_ended = ended > room ? ended - room : 0;
    for (size_t i = 0; i < n; i++) {
        const struct known *known = trainings->known[i];
        size_t *skip = training_state_ended(known->training.state) ? &skip_ended : &skip_live;
        if (*skip > 0)
            --*skip;
        else
            json_array_append_new(array, object_of(trainings, known));
    }
    return array;
}

json_t *trainings_object(const struct trainings *trainings, const char *name)
{
    const struct known *known = trainings ? keep_find(trainings, name) : NULL;
    return known ? object_of(trainings, known) : NULL;
}

json_t *trainings_trainer(const struct trainings *trainings)
{
    struct link_view view = {
        .state = LINK_ABSENT, .detail = "the daemon is stopping", .version = "", .age_ms = UINT64_MAX};
    if (trainings)
        link_view(trainings->link, &view);
    return json_pack("{s:s, s:s, s:s?, s:o, s:o}", "state", link_state_name(view.state), "detail",
                     view.detail, "version", view.version[0] ? view.version : NULL, "pid",
                     view.pid ? json_integer(view.pid) : json_null(), "age_ms",
                     view.age_ms == UINT64_MAX ? json_null() : json_integer((json_int_t)view.age_ms));
}
