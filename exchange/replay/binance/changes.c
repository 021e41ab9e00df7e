#include "exchange/replay/binance/protocol.h"

#include <string.h>

static void apply(struct tape_symbol *symbol, const struct fault_change *change)
{
    switch (change->kind) {
    case FAULT_STATUS:
        strcpy(symbol->status, change->word);
        symbol->changed = true;
        break;
    case FAULT_FILTERS:
        symbol->other_filters = true;
        break;
    case FAULT_DELIST:
        strcpy(symbol->status, "BREAK");
        symbol->delisted = true;
        break;
    }
}

void replay_changes_apply(struct tape *tape, const struct faults *faults, int64_t played_ns)
{
    while (tape->n_changed < faults->n_changes && faults->changes[tape->n_changed].at_ns <= played_ns) {
        const struct fault_change *change = &faults->changes[tape->n_changed++];
        int i = replay_tape_symbol_find(tape, change->symbol, strlen(change->symbol));
        if (i >= 0)
            apply(&tape->symbols[i], change);
    }
}

bool replay_changes_silence(const struct tape_symbol *symbol, enum stream_kind kind)
{
    bool follows = kind == STREAM_KLINE || kind == STREAM_MINI_TICKER; /* of what was traded before */
    return symbol->delisted || (!follows && strcmp(symbol->status, "TRADING") != 0);
}
