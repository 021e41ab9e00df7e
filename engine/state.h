/* An engine's whole state as bytes: books, bars, indicators, strategies, orders on their way, resting, held
 * and trailing, reserves, loans, limits, accounts, lots. A state that was saved and loaded continues
 * exactly as the engine it came from would have: the same events give the same outputs, and the same bytes
 * again. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "engine/engine.h"
#include "record/codec.h"
#include "record/order.h"

enum {
    /* Of the layout; older ones are read, newer ones refused. */
    ENGINE_STATE_VERSION = RECORD_ORDER_LAYOUT > 13 ? RECORD_ORDER_LAYOUT : 13,
    ENGINE_ERROR_MAX = 512,
};

/* Appends the engine's state. 0 or -ENOMEM. */
int engine_save(const struct engine *engine, struct codec *codec);
/* The same in an older layout, 1 .. ENGINE_STATE_VERSION, without what that one did not have: to compare with
 * what a former program recorded. */
int engine_save_as(const struct engine *engine, uint32_t layout, struct codec *codec);
/* The layout of a state; 0: these bytes are not one, or of a newer program. */
uint32_t engine_state_layout(const void *bytes, size_t len);

/* The numbers that a state has given, and nothing else of it: no policy and no strategy is needed. 0;
 * -EBADMSG, -ENOTSUP, -ENOMEM. */
int engine_state_ids(const void *bytes, size_t len, struct engine_ids *ret);

/* Makes an engine from a state; its policies are those that `policies` finds, NULL for none. 0; -ENOTSUP
 * for a newer layout; -EBADMSG for bytes that are not a state, -ENOPKG for a strategy that this program
 * does not have or a policy that is not found, -ENOMEM; err: one sentence. */
int engine_load(const void *bytes, size_t len, const struct engine_sink *sink,
                const struct policies *policies, struct engine **ret, char err[static ENGINE_ERROR_MAX]);

/* The policies that an engine trades by, for another that is made of its state. */
struct policies engine_policies(const struct engine *engine);

/* SHA-256 of the state's bytes. 0 or -ENOMEM. */
int engine_digest(const struct engine *engine, uint8_t ret[static LEDGER_HASH_SIZE]);

/* Gives a loaded engine the configuration of a new run. Symbols and accounts are known by their names: what
 * is in both continues, with the new limits, fees and filters; a strategy that is the same with the same
 * parameters keeps its memory, another starts without; what is only in `config` is added; accounts that are
 * only in the engine stay unchanged, and symbols that are only in the engine are removed, unless something
 * is held or ordered of them. Bars of another interval start again, and with them every strategy's memory;
 * a strategy without memory sees the recent bars as history, and another policy is handed what is
 * remembered of the symbols that both trade (driver_swap.c). 0; -ENOENT for such a symbol; -EINVAL where
 * units differ or something is twice in `config`; -ENOMEM; err: one sentence; on failure the engine is
 * unchanged. Symbol indices are those of `config` afterwards; accounts keep theirs, new ones follow.
 * Ledgers of new accounts start with engine_start(). */
int engine_configure(struct engine *engine, const struct engine_config *config,
                     char err[static ENGINE_ERROR_MAX]);

#endif
