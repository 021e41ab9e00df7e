/* `papertape ledger`: what was asked for; and anchors, as it makes and checks them: db/books/. */
#ifndef CLI_LEDGER_ANCHORS_H
#define CLI_LEDGER_ANCHORS_H

#include <jansson.h>

#include "cli/selected.h"
#include "db/books/attest.h"
#include "record/option.h"

/* What was given for it; to be finished. */
struct ledger_given {
    struct db_selection selection; /* the first: cli/selected.h */
    bool hledger, beancount;
    const char *output, *sign, *key, *tsa;
    const char **files; /* n_files of them */
    size_t n_files;
};
int cli_ledger_take_anchor(struct option_call *call, const struct option_row *row, const char *value);
void cli_ledger_given_finish(void *into);

/* What anchors say of the books; to be finished. */
struct ledger_attested {
    struct db_anchors anchors;
    struct db_attested found;
    bool signatures, stamps; /* are they checked? */
};
/* An exit status, after reporting what could not be read. */
int cli_ledger_attest(const struct option_call *call, struct db_reader *reader, struct ledger_attested *ret);
void cli_ledger_attested_finish(struct ledger_attested *attested);

/* Lines on stdout: how many hold, and which rows none attests. */
void cli_ledger_print_attested(const struct ledger_attested *attested);
/* The first that does not hold, as "FILE:LINE of TIME: WHY"; NULL: they all do. */
const char *cli_ledger_failed(const struct ledger_attested *attested, char *words, size_t size);
/* "anchors" and "unattested" of papertape.ledger/1 into that object. */
void cli_ledger_json_attested(const struct ledger_attested *attested, json_t *to);

int cli_ledger_verify(struct option_call *call);
int cli_ledger_head(struct option_call *call);

#endif
