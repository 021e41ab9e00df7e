#include "trainer/command/env_replay_args.h"

#include <string.h>

#include "trainer/command/args.h"

#define AT(member) offsetof(struct env_replay_args, member)

static int take_backend(struct option_call *call, const struct option_row *row, const char *name)
{
    struct env_replay_args *args = call->into;
    (void)row;
    args->backend_name = name;
    args->where = strcmp(name, "gpu") == 0 ? ON_GPU : ON_CPU;
    args->backend = ENV_BEST;
    for (int backend = ENV_SCALAR; backend <= ENV_AVX512; backend++)
        if (strcmp(name, env_backend_name((enum env_backend)backend)) == 0)
            args->backend = (enum env_backend)backend;
    return EXIT_OK;
}

static const struct option_row options[] = {
    {"bars", "DIR", "where the bars files are", AT(bars)},
    {"backend", "cpu|gpu|scalar|baseline|avx2|avx512",
     "who steps: cpu, the default, is the widest instruction set that the processor has, those behind gpu "
     "name one; gpu is the device, or the CPU where there is none, with the reason on stderr; all give the "
     "same digits",
     .take = take_backend},
    {"preset", "PRESET",
     "reference, market, cappuccino or day-trade: the values of parameters that params does not name; by default as the "
     "key preset, or else task and execution, say",
     AT(preset)},
    {"execution", "EXECUTION",
     "reference: trades at the close that is reached, or market: the paper exchange's bar model; wins over "
     "the key execution",
     AT(execution)},
    {"exchange-info", "FILE",
     "the venue's exchangeInfo with the symbols' lots, ticks and least notionals, for execution market; by "
     "default what the digits of the bars show",
     AT(exchange_info)},
    TRAINER_SEED(struct env_replay_args, "for parameters that are ranges; 0 by default"),
    {"observations", "FILE", "write the observations before the first step and after the last to FILE",
     AT(observations)},
    {"trades", "FILE",
     "write every trade to FILE: ts_ns,symbol,side,price,qty,notional,fee,kind, as papertape backtest "
     "--trades does; the scalar backend steps",
     AT(trades)},
    {"list-params", NULL,
     "every parameter: its value in each preset, its range and what it is, as a table in Markdown",
     AT(list_params)},
};

int trainer_env_replay_args_check(const struct option_call *call)
{
    struct env_replay_args *args = call->into;
    if (call->n != 2)
        return option_fail(call, EXIT_USAGE, "%d files: PARAMS.json and ACTIONS.csv are needed", call->n);
    if (args->trades && args->backend_name && args->backend != ENV_SCALAR)
        return option_fail(call, EXIT_USAGE,
                           "--trades: --backend %s: scalar is needed, which alone reports trades",
                           args->backend_name);
    if (args->trades)
        args->backend = ENV_SCALAR;
    if (args->backend == ENV_BEST) /* by its name, for --json */
        for (args->backend = ENV_AVX512; !env_backend_works(args->backend);)
            args->backend--;
    args->params_path = call->arguments[0];
    args->actions_path = call->arguments[1];
    return EXIT_OK;
}

static const struct option_action actions[] = {{.arguments = "[PARAMS.json] [ACTIONS.csv]",
                                                .needed = "*|list-params bars,list-params",
                                                .run = trainer_env_replay}};
TRAINER_VERB(env_replay) = {
    .name = "env-replay",
    .words = "the environment's account through a file of actions",
    .about = "Runs one copy of the training environment through the action_* columns of ACTIONS.csv and "
             "prints the account after every step as CSV. PARAMS.json has symbols, first_bar, bars, "
             "min_order_qty and params; the bars are DIR/{SYMBOL}USDT_5m.csv.gz.",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct env_replay_args),
};
