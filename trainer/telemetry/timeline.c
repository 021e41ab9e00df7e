#include "trainer/telemetry/report.h"

#include <stddef.h>
#include <string.h>

static const char *const turns[TIMELINE_TURNS] = {"rollout", "update"};

static int turn_of(const char *state)
{
    for (int i = 0; i < TIMELINE_TURNS; i++)
        if (strcmp(state, turns[i]) == 0)
            return i;
    return -1;
}

void telemetry_timeline_begin(struct timeline *timeline, double every_s)
{
    *timeline = (struct timeline){.every_s = every_s, .state = "", .told = ""};
}

/* Before a turn is told as another, both are turns: all else is told at once. */
static void settle(struct timeline *timeline, double now_s)
{
    int is = turn_of(timeline->state), told = turn_of(timeline->told);
    if (is >= 0 && told >= 0) {
        timeline->owed[is] += now_s - timeline->since_s;
        timeline->owed[told] -= now_s - timeline->since_s;
    }
    timeline->since_s = now_s;
}

static const char *tell(struct timeline *timeline, double now_s)
{
    const char *choice = timeline->state;
    int is = turn_of(choice);
    if (is >= 0 && timeline->owed[1 - is] > timeline->every_s / 2)
        choice = turns[1 - is];
    if (strcmp(choice, timeline->told) == 0)
        return NULL;
    if (is >= 0 && turn_of(timeline->told) >= 0 && now_s - timeline->told_s < timeline->every_s)
        return NULL;
    timeline->told = choice;
    timeline->told_s = now_s;
    return choice;
}

const char *telemetry_timeline_enter(struct timeline *timeline, const char *state, double now_s)
{
    settle(timeline, now_s);
    timeline->state = state;
    return tell(timeline, now_s);
}

const char *telemetry_timeline_tick(struct timeline *timeline, double now_s)
{
    settle(timeline, now_s);
    return tell(timeline, now_s);
}
