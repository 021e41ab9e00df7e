#include "daemon/arena/row.h"

#include <errno.h>
#include <string.h>

json_t *arena_row_object(const struct arena_row *row)
{
    char id[POLICY_ID_TEXT];
    policy_id_text(row->id, id);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:I}", "name", row->name, "role",
                     db_policy_role_name(row->role), "account", row->account, "id", id, "training",
                     row->training, "path", row->path, "reason", row->reason, "since_ns",
                     (json_int_t)row->since_ns, "proposal", row->proposal, "judged_ns",
                     (json_int_t)row->judged_ns, "expires_ns", (json_int_t)row->expires_ns);
}

static bool copy(const char *text, char *to, size_t size)
{
    size_t len = text ? strlen(text) : size;
    if (len >= size)
        return false;
    memcpy(to, text, len + 1);
    return true;
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* One that events of before have not: left as it is where it is not there. */
static bool moment(const json_t *object, const char *name, int64_t *ret)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_integer(value))
        *ret = json_integer_value(value);
    return !value || json_is_integer(value);
}

int arena_row_parse(const json_t *object, struct arena_row *ret)
{
    struct db_policy stored = {.name = text_of(object, "name"),
                               .account = text_of(object, "account"),
                               .training = text_of(object, "training"),
                               .path = text_of(object, "path"),
                               .reason = text_of(object, "reason"),
                               .proposal =
                                   json_object_get(object, "proposal") ? text_of(object, "proposal") : ""};
    const char *role = text_of(object, "role");
    const json_t *since = json_object_get(object, "since_ns");
    int is = role ? db_policy_role_parse(role) : -EINVAL;
    const char *id = text_of(object, "id");
    if (is < 0 || !json_is_integer(since) || !id || policy_id_parse(id, stored.id) < 0)
        return -EINVAL;
    stored.role = (enum db_policy_role)is;
    stored.since_ns = stored.judged_ns = json_integer_value(since);
    if (!moment(object, "judged_ns", &stored.judged_ns) || !moment(object, "expires_ns", &stored.expires_ns))
        return -EINVAL;
    return arena_row_of(&stored, ret);
}

int arena_row_of(const struct db_policy *stored, struct arena_row *ret)
{
    struct arena_row row = {.role = stored->role,
                            .since_ns = stored->since_ns,
                            .judged_ns = stored->judged_ns,
                            .expires_ns = stored->expires_ns};
    memcpy(row.id, stored->id, sizeof row.id);
    if (!copy(stored->name, row.name, sizeof row.name) ||
        !copy(stored->account, row.account, sizeof row.account) ||
        !copy(stored->training, row.training, sizeof row.training) ||
        !copy(stored->path, row.path, sizeof row.path) ||
        !copy(stored->reason, row.reason, sizeof row.reason) ||
        !copy(stored->proposal, row.proposal, sizeof row.proposal))
        return -EINVAL;
    *ret = row;
    return 0;
}

void arena_row_stored(const struct arena_row *row, struct db_policy *ret)
{
    *ret = (struct db_policy){.name = row->name,
                              .account = row->account,
                              .training = row->training,
                              .path = row->path,
                              .reason = row->reason,
                              .proposal = row->proposal,
                              .role = row->role,
                              .since_ns = row->since_ns,
                              .judged_ns = row->judged_ns,
                              .expires_ns = row->expires_ns};
    memcpy(ret->id, row->id, sizeof ret->id);
}
