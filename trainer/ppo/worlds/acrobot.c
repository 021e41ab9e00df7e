#include <math.h>

#include "trainer/env/philox.h"
#include "trainer/ppo/worlds/game.h"

/* Both links: 1 m, 1 kg, the centre of mass in the middle, moment of inertia 1. */
static const double length = 1, mass = 1, centre = 0.5, inertia = 1, gravity = 9.8, dt_s = 0.2;
static const double turn_limit_1 = 4 * M_PI, turn_limit_2 = 9 * M_PI;
enum { ANGLE_1, ANGLE_2, TURN_1, TURN_2 };

/* Gymnasium starts from float32 numbers. */
static void begin(const uint32_t words[static GAME_STATE_MAX], double *state)
{
    for (int i = 0; i < GAME_STATE_MAX; i++)
        state[i] = (double)(float)philox_between(words[i], -0.1, 0.1);
}

static void derivative(const double *state, double torque, double *ret)
{
    double sine = sin(state[ANGLE_2]), cosine = cos(state[ANGLE_2]);
    double t1 = state[TURN_1], t2 = state[TURN_2], arm = mass * length * centre;
    double d1 = mass * (centre * centre) +
                mass * (length * length + centre * centre + 2 * length * centre * cosine) + inertia + inertia;
    double d2 = mass * (centre * centre + length * centre * cosine) + inertia;
    double phi2 = mass * centre * gravity * cos(state[ANGLE_1] + state[ANGLE_2] - M_PI / 2);
    double phi1 = -arm * (t2 * t2) * sine - 2 * arm * t2 * t1 * sine +
                  (mass * centre + mass * length) * gravity * cos(state[ANGLE_1] - M_PI / 2) + phi2;
    ret[TURN_2] = (torque + d2 / d1 * phi1 - arm * (t1 * t1) * sine - phi2) /
                  (mass * (centre * centre) + inertia - d2 * d2 / d1);
    ret[TURN_1] = -(d2 * ret[TURN_2] + phi1) / d1;
    ret[ANGLE_1] = t1;
    ret[ANGLE_2] = t2;
}

static void moved(const double *from, double dt, const double *slope, double *ret)
{
    for (int i = 0; i < GAME_STATE_MAX; i++)
        ret[i] = from[i] + dt * slope[i];
}

static double wrapped(double angle)
{
    while (angle > M_PI)
        angle -= 2 * M_PI;
    while (angle < -M_PI)
        angle += 2 * M_PI;
    return angle;
}

/* The classical fourth-order Runge-Kutta method. */
static double step(double *state, double action, bool *ret_terminated)
{
    double k1[GAME_STATE_MAX], k2[GAME_STATE_MAX], k3[GAME_STATE_MAX], k4[GAME_STATE_MAX];
    double at[GAME_STATE_MAX], torque = action - 1;
    derivative(state, torque, k1);
    moved(state, dt_s / 2, k1, at);
    derivative(at, torque, k2);
    moved(state, dt_s / 2, k2, at);
    derivative(at, torque, k3);
    moved(state, dt_s, k3, at);
    derivative(at, torque, k4);
    for (int i = 0; i < GAME_STATE_MAX; i++)
        state[i] += dt_s / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    state[ANGLE_1] = wrapped(state[ANGLE_1]);
    state[ANGLE_2] = wrapped(state[ANGLE_2]);
    state[TURN_1] = fmin(fmax(state[TURN_1], -turn_limit_1), turn_limit_1);
    state[TURN_2] = fmin(fmax(state[TURN_2], -turn_limit_2), turn_limit_2);
    *ret_terminated = -cos(state[ANGLE_1]) - cos(state[ANGLE_2] + state[ANGLE_1]) > 1;
    return *ret_terminated ? 0 : -1;
}

static void observe(const double *state, float *ret)
{
    ret[0] = (float)cos(state[ANGLE_1]);
    ret[1] = (float)sin(state[ANGLE_1]);
    ret[2] = (float)cos(state[ANGLE_2]);
    ret[3] = (float)sin(state[ANGLE_2]);
    ret[4] = (float)state[TURN_1];
    ret[5] = (float)state[TURN_2];
}

const struct game ppo_game_acrobot = {"acrobot", 6, 3, 500, begin, step, observe};
