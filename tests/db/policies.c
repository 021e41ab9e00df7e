/* The policies of the arena, and which of them gave an order: what is put comes back, is recovered from the
 * database alone, and there is one champion. */
#include <errno.h>

#include "db/recover.h"
#include "db/verify.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

static const struct db_writer_config config = {0};

struct seen {
    char text[512];
};

static void see_policy(void *ctx, const struct db_policy *row)
{
    struct seen *seen = ctx;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof seen->text - used, "%s %s %s %s %s %s %s %d %d %d %d;", row->name,
             db_policy_role_name(row->role), row->account, row->training, row->path, row->reason,
             row->proposal, row->id[0], (int)row->since_ns, (int)row->judged_ns, (int)row->expires_ns);
}

/* With the database alone: which policy trades for which account. */
static void recover_policies(const char *path)
{
    static const int ids[] = {0, 3, 2, 0}; /* main, champion, b, c */
    struct symbol symbols[FIXTURE_SYMBOLS] = {fixture_symbol(0), fixture_symbol(1)};
    struct db_reader *reader = fixture_reader(path);
    struct db_recovered *recovered = NULL;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_recover(reader, symbols, FIXTURE_SYMBOLS, &recovered, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK_INT(recovered->n_accounts, 4);
    for (int i = 0; i < recovered->n_accounts; i++) {
        CHECK_INT(recovered->accounts[i].has_policy, ids[i] != 0);
        CHECK_INT(recovered->accounts[i].policy[0], ids[i]);
    }
    db_recovered_destroy(recovered);
    db_reader_close(reader);
}

static void put_policy(struct db_writer *writer, const char *name, enum db_policy_role role, int id,
                       int64_t since_ns)
{
    struct db_policy policy = {.name = name,
                               .account = name,
                               .training = "ppo",
                               .path = "/p",
                               .reason = "better",
                               .proposal = "ppo/7",
                               .role = role,
                               .id = {(uint8_t)id},
                               .since_ns = since_ns,
                               .judged_ns = since_ns - 1,
                               .expires_ns = 10 * since_ns};
    CHECK(db_writer_put_policy(writer, &policy) > 0);
}

static void arena(void)
{
    const char *path = scratch_path("arena.db");
    struct db_writer *writer = fixture_writer(path, &config);
    struct fixture f;
    fixture_open(&f, writer);
    static const char *const accounts[] = {"champion", "b", "c"};
    for (int i = 0; i < 3; i++) {
        struct db_account account = {.number = i + 1, .currency = "USDT", .currency_scale = FIXTURE_SCALE};
        strcpy(account.name, accounts[i]);
        db_writer_put_account(writer, &account);
    }
    put_policy(writer, "c", DB_POLICY_RETIRED, 1, 5);
    put_policy(writer, "b", DB_POLICY_CHAMPION, 2, 5);
    put_policy(writer, "a", DB_POLICY_CHALLENGER, 1, 6);
    db_writer_group_begin(writer);
    put_policy(writer, "b", DB_POLICY_CHALLENGER, 2, 7);
    put_policy(writer, "a", DB_POLICY_CHAMPION, 3, 8);
    db_writer_group_end(writer);
    fixture_trade(&f);
    db_writer_group_begin(writer);
    struct db_order_policy origin = {.order_id = f.order_id + 1, .id = {9}, .backend = "gpu: NVIDIA H200"};
    db_writer_put_order_policy(writer, &origin); /* before its order, but in its group */
    fixture_order(&f, 0, ORDER_BUY, FIXTURE_UNIT, FIXTURE_UNIT);
    db_writer_group_end(writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);

    struct db_reader *reader = fixture_reader(path);
    struct seen seen = {0};
    CHECK_INT(db_reader_policies(reader, see_policy, &seen), 0);
    CHECK_STR(seen.text,
              "a champion a ppo /p better ppo/7 3 8 7 80;b challenger b ppo /p better ppo/7 2 7 6 70;"
              "c retired c ppo /p better ppo/7 1 5 4 50;");
    struct db_order_policy found = {0};
    CHECK_INT(db_reader_order_policy(reader, f.order_id, &found), 0);
    CHECK_INT(found.order_id, f.order_id);
    CHECK_INT(found.id[0], 9);
    CHECK_STR(found.backend, "gpu: NVIDIA H200");
    CHECK_INT(db_reader_order_policy(reader, 1, &found), -ENOENT);
    CHECK_STR(db_reader_error(reader), "order 1: no policy gave it");
    struct db_verified *verified = NULL;
    CHECK_INT(db_verify(reader, &verified), 0);
    CHECK_STR(verified->failure, "");
    CHECK(verified->ok);
    db_verified_destroy(verified);
    for (int role = DB_POLICY_CHALLENGER; role <= DB_POLICY_RETIRED; role++)
        CHECK_INT(record_words_parse(&db_words_policy_role, db_policy_role_name((enum db_policy_role)role)),
                  role);
    CHECK_INT(record_words_parse(&db_words_policy_role, "king"), -EINVAL);
    db_reader_close(reader);
    recover_policies(path);

    /* A second champion beside the first cannot be: nothing of its group is stored. */
    db_writer_group_begin(writer);
    put_policy(writer, "c", DB_POLICY_CHALLENGER, 4, 9);
    put_policy(writer, "b", DB_POLICY_CHAMPION, 2, 9);
    db_writer_group_end(writer);
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_writer_close(writer, 500, err, sizeof err), -ETIMEDOUT);
    CHECK(strstr(err, "policies.role") != NULL);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM policies WHERE since_ns = 9"), 0);
}

int main(void)
{
    arena();
    return check_done("db/policies");
}
