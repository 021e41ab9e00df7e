#include "daemon/arena/row.h"

#include <errno.h>

#include "db/records.h"
#include "record/json.h"

/* An event's members, in its order; older events lack the last three. */
#define ROW struct arena_row
#define ARENA_FIELDS(FIRST, NEXT) \
    FIRST(name, "", "name", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(role, "", "role", WORD, CHANGES, REQUIRED, &db_words_policy_role) \
    NEXT(account, "", "account", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(id, "", "id", HASH, CHANGES, REQUIRED, NULL) \
    NEXT(training, "", "training", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(path, "", "path", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(reason, "", "reason", TEXT, CHANGES, REQUIRED, NULL) \
    NEXT(since_ns, "", "since_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(proposal, "", "proposal", TEXT, CHANGES, SINCE_2, NULL) \
    NEXT(judged_ns, "", "judged_ns", TIME, CHANGES, SINCE_2, NULL) \
    NEXT(expires_ns, "", "expires_ns", TIME, CHANGES, SINCE_2, NULL)
static const struct record_field fields[] = {RECORD_FIELDS(ARENA_FIELDS)};
static const struct record record = RECORD_OF("policies", fields);

json_t *arena_row_object(const struct arena_row *row)
{
    return record_json_object(&record, NULL, 0, row, NULL);
}

int arena_row_parse(const json_t *object, struct arena_row *ret)
{
    struct arena_row row = {.judged_ns = json_integer_value(json_object_get(object, "since_ns"))};
    if (!record_json_read(&record, object, &row))
        return -EINVAL;
    *ret = row;
    return 0;
}

int arena_row_of(const struct db_policy *stored, struct arena_row *ret)
{
    struct arena_row row = {0};
    if (!record_copy(&db_record_policies, stored, &record, &row))
        return -EINVAL;
    *ret = row;
    return 0;
}

void arena_row_stored(const struct arena_row *row, struct db_policy *ret)
{
    *ret = (struct db_policy){0};
    record_copy(&record, row, &db_record_policies, ret);
}
