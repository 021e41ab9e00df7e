/* What a strategy's process answers at a bar (docs/plugins-protocol.md). A member that is not known, a number
 * that is none, a kind of intent that is not known: each is an error, since what it means would be lost. */
#ifndef STRATEGY_PROCESS_ANSWER_H
#define STRATEGY_PROCESS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/json.h"
#include "strategy/external.h"

enum answer_kind {
    ANSWER_INTENTS,
    ANSWER_ERROR, /* `text` says what failed; whether it names a bar, `names` */
    ANSWER_OTHER, /* of the start: a strategy, ready */
};

/* A line, with its parts in it. */
struct strategy_answer {
    enum answer_kind kind;
    bool names; /* it names the bar and the symbol that it answers */
    int64_t time_ns;
    struct json_text symbol;  /* as it is in the line, escapes included */
    struct json_text intents; /* an array */
    struct json_text state;   /* any value; data NULL: there is none */
    struct json_text text;
};

/* 0; -EINVAL with one clause of `fault`: it is no JSON object, or no answer. */
int strategy_answer_read(const char *line, size_t len, struct strategy_answer *ret,
                         char fault[static STRATEGY_FAULT_MAX]);

/* The intents, into n, intents and whys. `round`: of a strategy with `together`, each names one of its peers;
 * else NULL, and none does. A `why` of more than STRATEGY_WHY_MAX - 1 bytes is cut. 0; -EINVAL
 * with the decision's fault, and no intents. */
int strategy_answer_intents(struct json_text intents, const struct strategy_input *round,
                            struct strategy_decision *ret);

/* A string of JSON without its escapes, in one line of UTF-8; what does not fit is cut. */
void strategy_answer_text(struct json_text text, char *ret, size_t size);

#endif
