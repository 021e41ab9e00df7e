/* Between the files of ensembles only. */
#ifndef STRATEGY_POLICY_ENSEMBLE_INTERNAL_H
#define STRATEGY_POLICY_ENSEMBLE_INTERNAL_H

#include <stddef.h>

#include "strategy/policy/ensemble.h"

#define ENSEMBLE_SCHEMA "papertape.ensemble/1"
#define ENSEMBLE_ENDING ".ensemble.json"

struct ensemble_text {
    int n;
    char *members[ENSEMBLE_MEMBERS_MAX]; /* as they are named there; owned */
    enum ensemble_combine combine;
    int window_bars;
    bool has_limits; /* else the members' */
    struct policy_limits limits;
};

/* ensemble_text.c. 0, for ensemble_text_finish(); -EINVAL with "NAME: what: where: what would be right";
 * -ENOMEM. */
int ensemble_text_parse(const char *name, const char *bytes, size_t n, struct ensemble_text *ret,
                        char err[static POLICY_ERROR_MAX]);
void ensemble_text_finish(struct ensemble_text *text);

/* ---- copies: strategy/policy/cache.c ---- */

/* The text as it was read, and the file name of member i in a folder of copies, which is read with
 * ensemble_load_kept(). */
enum { ENSEMBLE_MEMBER_NAME_MAX = 32 };
const char *ensemble_bytes(const struct ensemble_policy *ensemble, size_t *ret_n);
void ensemble_member_name(int i, char ret[static ENSEMBLE_MEMBER_NAME_MAX]);
int ensemble_load_kept(const char *path, struct ensemble_policy **ret, char err[static POLICY_ERROR_MAX]);

/* ---- what members share: ensemble_check.c ---- */

/* 0, or -EINVAL with a sentence that names the first two that differ and their values. */
int ensemble_check(const struct ensemble_policy *ensemble, char why[static POLICY_ERROR_MAX]);

/* ---- one action of many: ensemble_vote.c ---- */

/* Computes the weights of votes [n], which have actions, and with ENSEMBLE_SHARPE sharpe. `unit`: units of
 * the asset in an action of 1, `least` the asset's, for ENSEMBLE_MAJORITY. Returns the action, not finite
 * where the actions are not. */
float ensemble_vote(enum ensemble_combine combine, int n, struct policy_vote *votes, double unit,
                    double least);

/* ---- a member's shadow account: ensemble_shadow.c ---- */

struct shadow;
int policy_shadow_create(const struct policy *policy, int window_bars,
                         struct shadow **ret);     /* 0 or -ENOMEM */
void policy_shadow_destroy(struct shadow *shadow); /* NULL is fine */
/* A row has closed at `closes` [n_assets]: values the account at them. */
void policy_shadow_mark(struct shadow *shadow, const double *closes);
/* The member's observation of it: cash, and quantities [n_assets] in units. */
double policy_shadow_holds(const struct shadow *shadow, const double **ret_qty);
/* Trades an asset whose bar of the row is there by this action; `unit` > 0: units in an action of 1. */
void policy_shadow_trade(struct shadow *shadow, int asset, float action, double unit, double close);
/* NaN: too few returns yet, or they do not vary. */
double policy_shadow_sharpe(const struct shadow *shadow);
void policy_shadow_visit(struct shadow *shadow, const struct indicator_stream_fields *fields);

/* ---- its runtimes: ensemble_runtime.c ---- */

extern const struct policy_runtime_ops ensemble_runtime_ops;

/* A member's file: relative to the ensemble's, unless its name is absolute; for free(), NULL without memory.
 */
char *ensemble_beside(const char *path, const char *name);

#endif
