#include <math.h>

#include "trainer/env/philox.h"
#include "trainer/ppo/worlds/game.h"

static const double gravity = 9.8, mass_cart = 1.0, mass_pole = 0.1, half_length = 0.5, force_of = 10.0;
static const double tau_s = 0.02, position_limit = 2.4, angle_limit = 12 * 2 * M_PI / 360;
enum { POSITION, SPEED, ANGLE, TURN };

static void begin(const uint32_t words[static GAME_STATE_MAX], double *state)
{
    for (int i = 0; i < GAME_STATE_MAX; i++)
        state[i] = philox_between(words[i], -0.05, 0.05);
}

/* Euler's method. */
static double step(double *state, double action, bool *ret_terminated)
{
    const double total = mass_pole + mass_cart, mass_length = mass_pole * half_length;
    double cosine = cos(state[ANGLE]), sine = sin(state[ANGLE]), force = action == 1 ? force_of : -force_of;
    double push = (force + mass_length * (state[TURN] * state[TURN]) * sine) / total;
    double turn = (gravity * sine - cosine * push) /
                  (half_length * (4.0 / 3.0 - mass_pole * (cosine * cosine) / total));
    double speed = push - mass_length * turn * cosine / total;
    state[POSITION] += tau_s * state[SPEED];
    state[SPEED] += tau_s * speed;
    state[ANGLE] += tau_s * state[TURN];
    state[TURN] += tau_s * turn;
    *ret_terminated = fabs(state[POSITION]) > position_limit || fabs(state[ANGLE]) > angle_limit;
    return 1;
}

static void observe(const double *state, float *ret)
{
    for (int i = 0; i < GAME_STATE_MAX; i++)
        ret[i] = (float)state[i];
}

const struct game ppo_game_cartpole = {"cartpole", 4, 2, 500, begin, step, observe};
