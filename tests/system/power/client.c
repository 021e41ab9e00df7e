/* A client that never gives up: it asks under a key, and repeats until it is answered. */
#include <stdarg.h>

#include "tests/system/power/sim.h"

/* In place of exchange/net/control.c's: the linker leads the daemon's calls here (--wrap). */
struct call {
    struct sim *sim;
    int ask;
};

void __wrap_control_ok(struct control_call *control, json_t *result);
void __wrap_control_error(struct control_call *control, const char *code, const char *format, ...);
void __wrap_control_error_with(struct control_call *control, const char *code, const char *member,
                               json_t *value, const char *format, ...);

/* ---- answers ---- */

/* An acknowledgement is a promise: the disk has it. */
static void acknowledged(struct sim *sim, struct ask *ask, json_t *result)
{
    bool repeated = json_object_get(result, "repeated") != NULL;
    size_t n = strlen(ask->token);
    json_object_del(result, "repeated");
    sim->repeats += repeated;
    if (!faulty_disk_holds("papertape.db", ask->token, n) &&
        !faulty_disk_holds("papertape.db-wal", ask->token, n))
        sim_fail(sim, "%s %s was answered%s before its row was on the disk", ask->cmd, ask->token,
                 repeated ? ", as a repeat," : "");
    if (strcmp(ask->cmd, "order") == 0)
        json_object_del(result, "state"); /* what became of it */
    if (ask->answer && !json_equal(ask->answer, result))
        sim_fail(sim, "%s %s was answered otherwise than the first time", ask->cmd, ask->token);
    if (!ask->answer)
        ask->answer = json_incref(result);
}

static void answer(struct control_call *control, json_t *result, const char *code)
{
    struct call *call = (struct call *)(void *)control;
    struct sim *sim = call->sim;
    struct ask *ask = &sim->asks[call->ask];
    free(call);
    ask->in_flight = false;
    sim->answers++;
    sim_trace(sim, "answer", ask->token, result != NULL, code, code ? strlen(code) : 0);
    if (sim->echo)
        printf("%12s %s %s: %s\n", "", ask->cmd, ask->token, code ? code : "ok");
    if (result && !faulty_disk_lost())
        acknowledged(sim, ask, result);
    if (code && ask->answer && strcmp(code, "STORAGE") != 0 && strcmp(code, "ESHUTDOWN") != 0)
        sim_fail(sim, "%s %s was acknowledged, and then refused: %s", ask->cmd, ask->token, code);
    json_decref(result);
}

void __wrap_control_ok(struct control_call *control, json_t *result)
{
    answer(control, result ? result : json_object(), NULL);
}

void __wrap_control_error(struct control_call *control, const char *code, const char *format, ...)
{
    (void)format;
    answer(control, NULL, code);
}

void __wrap_control_error_with(struct control_call *control, const char *code, const char *member,
                               json_t *value, const char *format, ...)
{
    (void)member, (void)format;
    json_decref(value);
    answer(control, NULL, code);
}

/* ---- asking ---- */

static void ask_for(struct sim *sim, int at)
{
    const struct control_peer peer = {.uid = 1000, .pid = 4711};
    struct ask *ask = &sim->asks[at];
    struct call *call = malloc(sizeof *call);
    *call = (struct call){sim, at};
    ask->in_flight = true;
    sim_trace(sim, "ask", ask->token, 0, NULL, 0);
    daemon_commands_handle(sim->daemon.commands, (struct control_call *)(void *)call, ask->cmd, ask->args,
                           &peer);
}

static json_t *an_order(struct sim *sim, const char *token)
{
    int s = (int)random_between(&sim->random, 0, SYMBOLS - 1);
    int64_t percent = random_between(&sim->random, -2, 2);
    char price[DECIMAL_TEXT_MAX];
    int64_t at = (sim->price[s] + sim->price[s] / 100 * percent) / 1000000 * 1000000;
    json_t *args = json_pack("{s:s, s:s, s:s, s:s, s:s}", "symbol", sim->symbols[s].name, "side",
                             random_chance(&sim->random, 60) ? "buy" : "sell", "qty", "0.01", "account",
                             "hand", "client_id", token);
    decimal_format_short(at, sim->symbols[s].price_scale, price);
    if (random_chance(&sim->random, 60))
        json_object_set_new(args, random_chance(&sim->random, 70) ? "limit" : "stop", json_string(price));
    if (random_chance(&sim->random, 20))
        json_object_del(args, "account");
    return args;
}

/* An order that was acknowledged, or all of them. */
static json_t *a_cancel(struct sim *sim, const char *token)
{
    int at = (int)random_between(&sim->random, 0, sim->n_asks - 1);
    const json_t *order = json_object_get(sim->asks[at].answer, "order");
    return order ? json_pack("{s:O, s:s}", "order", order, "key", token)
                 : json_pack("{s:b, s:s}", "all", 1, "key", token);
}

static void make(struct sim *sim, struct ask *ask)
{
    int64_t kind = random_between(&sim->random, 0, 99);
    char amount[24];
    int at = (int)(ask - sim->asks);
    snprintf(ask->token, sizeof ask->token, "K-%d-%llx-", at, (unsigned long long)sim->seed);
    snprintf(amount, sizeof amount, "1.%06d", at + 1); /* its own: found again in the ledger */
    if (kind < 45) {
        ask->cmd = "order";
        ask->args = an_order(sim, ask->token);
    } else if (kind < 60) {
        ask->cmd = "account_transfer";
        ask->args = json_pack("{s:s, s:s, s:s, s:s}", "from", "hand", "to", "main", "amount", amount, "key",
                              ask->token);
    } else if (kind < 70) {
        ask->cmd = "account_deposit";
        ask->args = json_pack("{s:s, s:s, s:s}", "account", "hand", "amount", amount, "key", ask->token);
    } else if (kind < 85) {
        ask->cmd = "cancel";
        ask->args = a_cancel(sim, ask->token);
    } else if (kind < 96) {
        ask->cmd = random_chance(&sim->random, 30) ? "pause" : "resume";
        ask->args = json_pack("{s:s}", "key", ask->token);
    } else {
        ask->cmd = "flatten";
        ask->args = json_pack("{s:s, s:s}", "confirm", "FLATTEN", "key", ask->token);
    }
}

void client_act(struct sim *sim)
{
    int first = sim->n_asks > 12 ? sim->n_asks - 12 : 0;
    int at = sim->n_asks, is_new = sim->begun_ns + 3000000000 > sim->now_ns ? 10 : 40;
    if (sim->n_asks == 0 || (random_chance(&sim->random, is_new) && sim->n_asks < ASKS_MAX))
        make(sim, &sim->asks[sim->n_asks++]);
    else /* an old one again: one of the newest, whether it was answered or not */
        at = (int)random_between(&sim->random, random_chance(&sim->random, 80) ? first : 0, sim->n_asks - 1);
    if (!sim->asks[at].in_flight)
        ask_for(sim, at);
}
