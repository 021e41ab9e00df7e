/* A trade as the environment reports it, to compare the environment with the engine. */
#ifndef TRAINER_ENV_TRADE_H
#define TRAINER_ENV_TRADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env_trade {
    int64_t row; /* the bar that it happened in, or (ENV_REFERENCE) at the close of */
    int32_t asset;
    double qty;        /* units of the asset; negative: sold */
    double price, fee; /* currency */
    bool at_open;      /* of ENV_MARKET; else it was a stop inside the bar */
};
typedef void env_trade_fn(void *ctx, size_t copy, const struct env_trade *trade);

#endif
