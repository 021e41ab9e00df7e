#include "db/books/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_anchor_fails(struct db_anchor *anchor, const char *format, ...)
{
    if (anchor->failure[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(anchor->failure, sizeof anchor->failure, format, args);
    va_end(args);
}

/* ---- a table ----
 * All anchors share one digest up to the first row that an anchor had open: from there on it has its own,
 * without such rows. */

struct follower {
    struct db_anchor *anchor;
    const struct db_head_table *attests;
    struct db_chain own; /* from its first open row on */
    size_t at_open;      /* of its open rows, those that were met */
    bool forked, done;
};

struct following {
    const struct db_table *table;
    struct follower *all, **active; /* active: forked, and not done */
    size_t n, n_active;
    struct db_chain shared;
    uint64_t pruned, last; /* last: met so far */
    uint64_t next;         /* before a row from this on an anchor ends or forks */
    uint64_t held;         /* up to this row an anchor holds */
};

static uint64_t fork_at(const struct follower *f)
{
    return !f->forked && f->attests->n_open > 0 ? f->attests->open[0].id : UINT64_MAX;
}

static void judge(struct following *to, struct follower *f)
{
    const struct db_chain *found = f->forked ? &f->own : &to->shared;
    const struct db_head_table *t = f->attests;
    const char *name = to->table->name;
    f->done = true;
    if (f->at_open < t->n_open)
        db_anchor_fails(f->anchor, "%s: row %" PRIu64 ", which had not ended, is missing", name,
                        t->open[f->at_open].id);
    else if (found->rows != t->chain.rows && to->last < t->last)
        db_anchor_fails(f->anchor,
                        "%s: ends at row %" PRIu64 " with %" PRIu64 " rows: it attests %" PRIu64
                        ", up to row %" PRIu64,
                        name, to->last, found->rows, t->chain.rows, t->last);
    else if (found->rows != t->chain.rows)
        db_anchor_fails(f->anchor, "%s: has %" PRIu64 " rows up to row %" PRIu64 ": it attests %" PRIu64,
                        name, found->rows, t->last, t->chain.rows);
    else if (memcmp(found->digest, t->chain.digest, DB_CHAIN_SIZE) != 0)
        db_anchor_fails(f->anchor, "%s: rows %" PRIu64 " to %" PRIu64 " are not those that it attests", name,
                        to->held + 1, t->last);
    else if (t->n_open == 0 && t->last > to->held)
        to->held = t->last;
}

/* Housekeeping deleted what it attests: later anchors attest what is left. */
static bool is_pruned(const struct following *to, const struct db_head_table *t)
{
    return to->pruned > 0 && (t->last <= to->pruned || (t->n_open > 0 && t->open[0].id <= to->pruned));
}

/* Before the row `id`: anchors whose rows were all met end, others fork. */
static void wake(struct following *to, uint64_t id)
{
    to->next = UINT64_MAX;
    to->n_active = 0;
    for (size_t i = 0; i < to->n; i++) {
        struct follower *f = &to->all[i];
        if (!f->done && id > f->attests->last)
            judge(to, f);
        if (!f->done && id >= fork_at(f)) {
            f->own = to->shared;
            f->forked = true;
        }
        uint64_t fork = fork_at(f), end = f->attests->last + 1;
        uint64_t next = f->done ? UINT64_MAX : fork < end ? fork : end;
        to->next = next < to->next ? next : to->next;
        if (f->forked && !f->done)
            to->active[to->n_active++] = f;
    }
}

static bool add_own(struct following *to, const struct db_chain_rows *row)
{
    for (size_t i = 0; i < to->n_active; i++) {
        struct follower *f = to->active[i];
        const struct db_head_table *t = f->attests;
        while (f->at_open < t->n_open && t->open[f->at_open].id < row->id) {
            db_anchor_fails(f->anchor, "%s: row %" PRIu64 ", which had not ended, is missing",
                            to->table->name, t->open[f->at_open].id);
            f->at_open++;
        }
        bool open = f->at_open < t->n_open && t->open[f->at_open].id == row->id;
        f->at_open += open;
        if (!open && row->settled && !db_chain_add(&f->own, row->id, row->seal))
            return false;
    }
    return true;
}

static int walk(sqlite3 *db, struct following *to, uint64_t *ret_first)
{
    struct db_chain_rows rows = {.stmt = NULL};
    int rc = db_chain_open(db, to->table, to->pruned, &rows);
    *ret_first = 0;
    while (rc == SQLITE_OK && (rc = db_chain_next(&rows)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        *ret_first = *ret_first ? *ret_first : rows.id;
        if (rows.id >= to->next)
            wake(to, rows.id);
        if (!add_own(to, &rows))
            rc = SQLITE_NOMEM;
        if (rows.settled && !db_chain_add(&to->shared, rows.id, rows.seal))
            rc = SQLITE_NOMEM;
        to->last = rows.id;
    }
    db_chain_close(&rows);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int db_follow(sqlite3 *db, const struct db_table *table, struct db_anchors *anchors, uint64_t *ret_first,
              uint64_t *ret_last)
{
    struct following to = {.table = table,
                           .all = calloc(anchors->n + 1, sizeof *to.all),
                           .active = calloc(anchors->n + 1, sizeof *to.active)};
    if (!to.all || !to.active) {
        free(to.all);
        free(to.active);
        return SQLITE_NOMEM;
    }
    for (size_t i = 0; i < anchors->n; i++) {
        struct db_anchor *anchor = &anchors->list[i];
        const struct db_head_table *attests = anchor->head ? db_head_table(anchor->head, table->name) : NULL;
        if (attests) /* a table that came later is none of an older anchor's */
            to.all[to.n++] = (struct follower){.anchor = anchor, .attests = attests};
    }
    int rc = db_chain_pruned(db, table, &to.shared, &to.pruned);
    to.last = to.pruned;
    for (size_t i = 0; i < to.n; i++)
        to.all[i].done = is_pruned(&to, to.all[i].attests);
    if (rc == SQLITE_OK)
        wake(&to, to.pruned + 1);
    if (rc == SQLITE_OK)
        rc = walk(db, &to, ret_first);
    if (rc == SQLITE_OK)
        for (size_t i = 0; i < to.n; i++)
            if (!to.all[i].done)
                judge(&to, &to.all[i]);
    *ret_last = to.last;
    free(to.all);
    free(to.active);
    return rc;
}

/* ---- the event log ---- */

struct log_following {
    struct db_anchors *anchors;
    bool *met; /* by anchor */
    uint32_t first;
    uint64_t last_seq;
    size_t left;
};

static bool take_block(void *ctx, const struct journal_head *block)
{
    struct log_following *to = ctx;
    to->first = block->first;
    to->last_seq = block->last_seq;
    for (size_t i = 0; i < to->anchors->n; i++) {
        struct db_anchor *anchor = &to->anchors->list[i];
        const struct db_head *head = anchor->head;
        if (to->met[i] || !head || !head->logged || head->log.segment != block->segment ||
            head->log.block != block->block)
            continue;
        to->met[i] = true;
        to->left--;
        if (memcmp(head->log.hash, block->hash, JOURNAL_HASH_SIZE) != 0)
            db_anchor_fails(anchor, "the event log: events up to %" PRIu64 " are not those that it attests",
                            head->log.last_seq);
    }
    return to->left > 0;
}

static void judge_log(struct log_following *to, int r, const char *words)
{
    for (size_t i = 0; i < to->anchors->n; i++) {
        struct db_anchor *anchor = &to->anchors->list[i];
        const struct db_head *head = anchor->head;
        if (!head || !head->logged)
            continue;
        if (to->met[i] || to->first > head->log.segment)
            continue;
        if (r == -ENOENT)
            db_anchor_fails(anchor, "the event log is gone: it attests events up to %" PRIu64,
                            head->log.last_seq);
        else if (r < 0)
            db_anchor_fails(anchor, "the event log: %.300s: it attests events up to %" PRIu64, words,
                            head->log.last_seq);
        else
            db_anchor_fails(anchor,
                            "the event log ends at event %" PRIu64 ": it attests events up to %" PRIu64,
                            to->last_seq, head->log.last_seq);
    }
}

int db_follow_log(const char *events, struct db_anchors *anchors, uint32_t *ret_first)
{
    char words[JOURNAL_ERROR_MAX] = "";
    struct log_following to = {.anchors = anchors, .met = calloc(anchors->n + 1, sizeof *to.met)};
    if (!to.met)
        return -ENOMEM;
    for (size_t i = 0; i < anchors->n; i++)
        to.left += anchors->list[i].head && anchors->list[i].head->logged;
    int r = to.left > 0 ? journal_blocks(events, take_block, &to, words, sizeof words) : 0;
    if (r == 0 && to.left > 0 && to.first == 0)
        r = -ENOENT; /* not one block */
    judge_log(&to, r, words);
    *ret_first = to.first;
    free(to.met);
    return r == -ENOMEM ? r : 0;
}
