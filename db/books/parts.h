/* Internal to the journal: into which parts each lot is to be posted when it begins, since something closes
 * each of them at once later. So a part's total cost is exact, whatever a format makes of it per unit. */
#ifndef DB_BOOKS_PARTS_H
#define DB_BOOKS_PARTS_H

#include "db/books/walk.h"

struct books_open_lot {
    int account, symbol;
    bool is_short;
    int64_t opened_ns;
    int64_t qty, cost;  /* not yet ended */
    size_t first, last; /* parts + 1, of parts[]; 0: none */
    size_t next;        /* part + 1 that ends next; 0: the remainder, or all of it */
    unsigned number;    /* of that part: 1, 2 … */
};

struct books_part {
    int64_t qty, cost;
    size_t next; /* part + 1 */
};

/* {0} is empty. */
struct books_parts {
    struct books_open_lot *lots; /* by the walk's number - 1 */
    size_t n_lots, cap_lots;
    struct books_part *parts;
    size_t n_parts, cap_parts;
};

enum books_parts_pass {
    BOOKS_PARTS_NOTED, /* the first walk: what ends is noted as a part */
    BOOKS_PARTS_KNOWN, /* the second */
    BOOKS_PARTS_NONE,  /* lots are posted as a whole */
};

/* What a change ends and begins: keeps account of what is open. 0 or -ENOMEM. */
int db_books_parts_follow(struct books_parts *parts, const struct db_books_change *change,
                          enum books_parts_pass pass);

/* Between the two walks: nothing has ended. */
void db_books_parts_rewind(struct books_parts *parts);

/* The open parts of a lot, oldest first: *at begins with {0}. False: there are no more. */
struct books_part_at {
    size_t part; /* + 1 */
    unsigned number;
    int64_t qty, cost, left_qty, left_cost;
    bool started, ended;
};
bool db_books_parts_next(const struct books_parts *parts, size_t lot, struct books_part_at *at);

void db_books_parts_finish(struct books_parts *parts);

#endif
