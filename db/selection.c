#include "db/selection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/as_of.h"
#include "db/reader_query.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"

bool db_selection_has(const struct db_selection *selection, int64_t ts_ns)
{
    return ts_ns >= selection->from_ns && (ts_ns < selection->to_ns || selection->to_ns == INT64_MAX);
}

/* The number of an account by its name. */
static int find_account(struct db_reader *reader, const char *name, int *ret)
{
    struct nearest nearest = {0};
    int r = db_reader_load_accounts(reader);
    for (size_t i = 0; i < reader->n_accounts && r == 0; i++) {
        const struct db_account *one = &reader->accounts[i].account;
        if (strcmp(one->name, name) == 0) {
            *ret = one->number;
            return 0;
        }
        nearest_offer(&nearest, name, one->name);
    }
    return r < 0 ? r
                 : fail_with(-ENOENT, reader->error, sizeof reader->error, "\"%.64s\": " FAIL_NO_ACCOUNT "%s",
                             name, NEAREST_SUGGEST(nearest_meant(&nearest, name)));
}

static void put_period(sqlite3_str *sql, const struct db_selection *selection, const char *time)
{
    if (selection->from_ns != INT64_MIN)
        sqlite3_str_appendf(sql, " AND r.%s >= %lld", time, (long long)selection->from_ns);
    if (selection->to_ns != INT64_MAX)
        sqlite3_str_appendf(sql, " AND r.%s < %lld", time, (long long)selection->to_ns);
}

/* The table again, as a view of the selected rows. */
static int narrow(struct db_reader *reader, const struct db_selection *selection,
                  const struct db_selected *of, int account)
{
    sqlite3_str *sql = sqlite3_str_new(reader->db);
    sqlite3_str_appendall(sql, "1");
    if (account >= 0)
        sqlite3_str_appendf(sql, " AND r.%s = %d", of->account, account);
    if (of->time)
        put_period(sql, selection, of->time);
    char *where = sqlite3_str_finish(sql);
    int r = where ? db_as_of_narrow(reader, of->table, where) : -ENOMEM;
    sqlite3_free(where);
    return r;
}

int db_reader_select(struct db_reader *reader, const struct db_selection *selection,
                     const struct db_selected *of)
{
    bool period = selection->from_ns != INT64_MIN || selection->to_ns != INT64_MAX;
    int account = -1;
    int r = selection->at_ns > 0 ? db_reader_as_of(reader, selection->at_ns) : 0;
    if (r == 0 && selection->account)
        r = find_account(reader, selection->account, &account);
    if (r < 0 || !of->table || (!(account >= 0 && of->account) && !(period && of->time)))
        return r;
    return narrow(reader, selection, of, of->account ? account : -1);
}
