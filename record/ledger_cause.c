#include "record/ledger_cause.h"

#include <errno.h>
#include <string.h>

#include "record/words.h"

#define ROW struct ledger_cause
const struct record record_ledger_causes = RECORD_LIST("ledger_causes", RECORD_LEDGER_CAUSE);
#undef ROW

#define ROW struct ledger_accrual
const struct record record_ledger_accruals = RECORD_LIST("ledger_accruals", RECORD_ACCRUAL);
#undef ROW

static const char *const names[CAUSE_KINDS] = {
    [CAUSE_OPENING] = "opening",   [CAUSE_DEPOSIT] = "deposit",   [CAUSE_WITHDRAWAL] = "withdrawal",
    [CAUSE_TRANSFER] = "transfer", [CAUSE_RESET] = "reset",       [CAUSE_FILL] = "fill",
    [CAUSE_FEE] = "fee",           [CAUSE_VENUE] = "venue",       [CAUSE_INTEREST] = "interest",
    [CAUSE_ARREARS] = "arrears",   [CAUSE_DIVIDEND] = "dividend", [CAUSE_SPLIT] = "split",
};

const char *ledger_cause_kind_name(enum ledger_cause_kind kind)
{
    return names[kind];
}

int ledger_cause_kind_parse(const char *name)
{
    for (int kind = 0; kind < CAUSE_KINDS; kind++)
        if (strcmp(names[kind], name) == 0)
            return kind;
    return -EINVAL;
}

struct ledger_cause ledger_cause_of(enum ledger_cause_kind kind)
{
    return (struct ledger_cause){.kind = kind, .symbol = -1, .counterparty = -1, .uid = -1};
}
