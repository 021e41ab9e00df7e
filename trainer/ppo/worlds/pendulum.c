#include <math.h>

#include "trainer/env/philox.h"
#include "trainer/ppo/worlds/game.h"

static const double gravity = 10, mass = 1, length = 1, dt_s = 0.05, speed_limit = 8, torque_limit = 2;
enum { ANGLE, TURN };

static void begin(const uint32_t words[static GAME_STATE_MAX], double *state)
{
    state[ANGLE] = philox_between(words[ANGLE], -M_PI, M_PI);
    state[TURN] = philox_between(words[TURN], -1, 1);
    state[2] = state[3] = 0;
}

static double clipped(double value, double limit)
{
    return fmin(fmax(value, -limit), limit);
}

/* In [-pi, pi). */
static double upright(double angle)
{
    double turned = fmod(angle + M_PI, 2 * M_PI);
    return (turned < 0 ? turned + 2 * M_PI : turned) - M_PI;
}

static double step(double *state, double action, bool *ret_terminated)
{
    double torque = clipped(action, torque_limit), angle = upright(state[ANGLE]);
    double cost = angle * angle + 0.1 * (state[TURN] * state[TURN]) + 0.001 * (torque * torque);
    double turn =
        state[TURN] +
        (3 * gravity / (2 * length) * sin(state[ANGLE]) + 3.0 / (mass * (length * length)) * torque) * dt_s;
    state[TURN] = clipped(turn, speed_limit);
    state[ANGLE] += state[TURN] * dt_s;
    *ret_terminated = false;
    return -cost;
}

static void observe(const double *state, float *ret)
{
    ret[0] = (float)cos(state[ANGLE]);
    ret[1] = (float)sin(state[ANGLE]);
    ret[2] = (float)state[TURN];
}

const struct game ppo_game_pendulum = {"pendulum", 3, 0, 200, begin, step, observe};
