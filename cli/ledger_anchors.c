#include "cli/ledger_anchors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "cli/text.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"

#define HEAD   "ledger head"
#define VERIFY "ledger verify"

/* ---- options ---- */

int cli_ledger_take_anchor(struct option_call *call, const struct option_row *row, const char *value)
{
    struct ledger_given *given = call->into;
    (void)row;
    const char **more = realloc(given->files, (given->n_files + 1) * sizeof *more);
    if (!more)
        return option_fail(call, EXIT_ERROR, "out of memory");
    given->files = more;
    given->files[given->n_files++] = value;
    return EXIT_OK;
}

void cli_ledger_given_finish(void *into)
{
    free(((struct ledger_given *)into)->files);
}

/* ---- head ---- */

/* The reader's line and no more, so that it can be appended to a file of anchors. */
static int print_head(struct db_reader *reader, const struct state_dir *state, const struct db_sign_key *key)
{
    char err[DB_ERROR_MAX];
    struct db_head *head;
    int r = db_head_take(reader, state->events, DB_HEAD_ASKED, clock_wall_ns(), &head, err, sizeof err);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, HEAD, "", err);
    char *line = db_head_text(head);
    char *signed_ = line && key ? db_sign_line(key, line) : NULL;
    db_head_destroy(head);
    if (!line || (key && !signed_))
        r = cli_stored_fail(EXIT_ERROR, HEAD, "", "out of memory");
    else
        puts(key ? signed_ : line);
    free(line);
    free(signed_);
    return r;
}

int cli_ledger_head(struct option_call *call)
{
    const struct ledger_given *given = call->into;
    struct db_sign_key *key = NULL;
    struct db_reader *reader;
    struct state_dir state;
    char err[DB_ERROR_MAX];
    if (given->sign && db_sign_key_read("--sign", given->sign, false, &key, err, sizeof err) < 0)
        return cli_stored_fail(EXIT_ERROR, HEAD, "", err);
    int status = cli_stored_open(HEAD, call->state, &reader);
    if (status == EXIT_OK) {
        status = db_state_dir_resolve(call->state, &state, err, sizeof err) < 0
                     ? cli_stored_fail(EXIT_ERROR, HEAD, "", err)
                     : print_head(reader, &state, key);
        int closed = cli_stored_close(HEAD, reader, 0);
        status = status == EXIT_OK ? closed : status;
    }
    db_sign_key_free(key);
    return status;
}

/* ---- verify ---- */

static int attest(const struct option_call *call, struct db_reader *reader, const struct db_sign_key *key,
                  const struct db_stamp_authority *tsa, struct ledger_attested *ret)
{
    struct state_dir state;
    char err[DB_ERROR_MAX];
    int r = db_state_dir_resolve(call->state, &state, err, sizeof err);
    if (r == 0)
        r = db_attest(reader, state.events, &ret->anchors, key, tsa, &ret->found, err, sizeof err);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, VERIFY, "", err) : EXIT_OK;
}

int cli_ledger_attest(const struct option_call *call, struct db_reader *reader, struct ledger_attested *ret)
{
    const struct ledger_given *given = call->into;
    struct db_sign_key *key = NULL;
    struct db_stamp_authority *tsa = NULL;
    char err[DB_ERROR_MAX];
    int r = 0;
    *ret = (struct ledger_attested){.signatures = given->key != NULL, .stamps = given->tsa != NULL};
    for (size_t i = 0; r == 0 && i < given->n_files; i++)
        r = db_anchors_read(&ret->anchors, given->files[i], err, sizeof err);
    if (r == 0 && given->key)
        r = db_sign_key_read("--key", given->key, true, &key, err, sizeof err);
    if (r == 0 && given->tsa)
        r = db_stamp_authority_read(given->tsa, &tsa, err, sizeof err);
    int status = r < 0 ? cli_stored_fail(EXIT_ERROR, VERIFY, "", err) : attest(call, reader, key, tsa, ret);
    db_sign_key_free(key);
    db_stamp_authority_free(tsa);
    return status;
}

void cli_ledger_attested_finish(struct ledger_attested *attested)
{
    db_anchors_finish(&attested->anchors);
    db_attested_finish(&attested->found);
}

const char *cli_ledger_failed(const struct ledger_attested *attested, char *words, size_t size)
{
    const struct db_anchor *failed = attested->found.failed;
    char time[DB_HEAD_TIME_MAX];
    if (!failed)
        return NULL;
    snprintf(words, size, "anchor %.200s:%d%s%s: %.256s", failed->file, failed->line,
             failed->head ? " of " : "", failed->head ? db_head_time(failed->head->ts_ns, time) : "",
             failed->failure);
    return words;
}

/* ---- in words ---- */

static void print_holding(const struct ledger_attested *attested)
{
    char time[DB_HEAD_TIME_MAX];
    printf("anchors: %zu hold, the newest of %s; signatures %s", attested->anchors.n,
           db_head_time(attested->found.newest->head->ts_ns, time),
           attested->signatures ? "are of this key" : "were not checked (--key)");
    if (attested->stamps)
        printf("; %zu stamped", attested->found.stamped);
    putchar('\n');
}

/* "unattested: fills 3 to 5, ledger 9 to 12: WHY", of tables whose rows settle, or of the others. */
static int print_unattested(const struct db_attested *found, bool settling, const char *why)
{
    int n = 0;
    for (size_t i = 0; i < found->n; i++) {
        const struct db_unattested *u = &found->unattested[i];
        if ((u->last > 0) != settling)
            continue;
        printf("%s%s", n++ ? ", " : "unattested: ", u->table);
        if (settling)
            printf(" %" PRIu64 " to %" PRIu64, u->first, u->last);
    }
    if (n > 0)
        printf(": %s\n", why);
    return n;
}

void cli_ledger_print_attested(const struct ledger_attested *attested)
{
    if (attested->anchors.n == 0) {
        puts("unattested: every row: no anchor was given (--anchor FILE)");
        return;
    }
    print_holding(attested);
    int n = print_unattested(&attested->found, true, "later than the newest anchor");
    n += print_unattested(&attested->found, false, "changed since the newest anchor");
    if (n == 0)
        puts("unattested: no row");
    if (attested->found.log_to > 0)
        printf("event log: segments %" PRIu32 " to %" PRIu32 " were deleted since the newest anchor\n",
               attested->found.log_from, attested->found.log_to);
}

/* ---- in JSON ---- */

static json_t *failure_json(const struct db_anchor *failed)
{
    char time[DB_HEAD_TIME_MAX], file[DB_ERROR_MAX], words[DB_ERROR_MAX];
    if (!failed)
        return json_null();
    cli_text_clean(file, sizeof file, failed->file);
    cli_text_clean(words, sizeof words, failed->failure);
    return json_pack("{s:s, s:i, s:s?, s:s}", "file", file, "line", failed->line, "time",
                     failed->head ? db_head_time(failed->head->ts_ns, time) : NULL, "text", words);
}

static json_t *deleted_json(const struct db_attested *found)
{
    if (found->log_to == 0)
        return json_null();
    return json_pack("{s:I, s:I}", "first_segment", (json_int_t)found->log_from, "last_segment",
                     (json_int_t)found->log_to);
}

static json_t *anchors_json(const struct ledger_attested *attested)
{
    const struct db_anchor *newest = attested->found.newest;
    char time[DB_HEAD_TIME_MAX];
    if (attested->anchors.n == 0)
        return json_null();
    return json_pack(
        "{s:I, s:b, s:s?, s:b, s:o, s:o, s:o}", "anchors", (json_int_t)attested->anchors.n, "ok",
        !attested->found.failed, "newest", newest ? db_head_time(newest->head->ts_ns, time) : NULL,
        "signatures_checked", attested->signatures, "stamped",
        attested->stamps ? json_integer((json_int_t)attested->found.stamped) : json_null(), "log_deleted",
        deleted_json(&attested->found), "failure", failure_json(attested->found.failed));
}

void cli_ledger_json_attested(const struct ledger_attested *attested, json_t *to)
{
    const struct db_attested *found = &attested->found;
    json_t *rows = json_array();
    for (size_t i = 0; i < found->n; i++) {
        const struct db_unattested *u = &found->unattested[i];
        json_array_append_new(rows,
                              json_pack("{s:s, s:o, s:o}", "table", u->table, "first",
                                        u->last ? json_integer((json_int_t)u->first) : json_null(), "last",
                                        u->last ? json_integer((json_int_t)u->last) : json_null()));
    }
    json_object_set_new(to, "anchors", anchors_json(attested));
    json_object_set_new(to, "unattested", rows);
}
