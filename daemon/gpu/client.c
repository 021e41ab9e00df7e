#include "daemon/gpu/client.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What follows `prefix` in a key; NULL: it has another. */
static const char *behind(const char *key, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(key, prefix, n) == 0 && key[n] ? key + n : NULL;
}

/* "123 ns", "64 KiB", "7": the number in ns, bytes or as it is; NaN: it is none. */
static double amount(const char *text)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1}, {"ns", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    char *end;
    if (*text < '0' || *text > '9')
        return NAN;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    end += strspn(end, " \t");
    for (size_t i = 0; errno == 0 && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0)
            return (double)value * units[i].factor;
    return NAN;
}

/* NULL: there are too many, or its name is too long. */
static struct gpu_engine *engine_of(struct gpu_client *client, const char *name)
{
    for (int i = 0; i < client->n_engines; i++)
        if (strcmp(client->engines[i].name, name) == 0)
            return &client->engines[i];
    if (client->n_engines == GPU_ENGINES_MAX || strlen(name) >= GPU_ENGINE_NAME_MAX)
        return NULL;
    struct gpu_engine *engine = &client->engines[client->n_engines++];
    *engine = (struct gpu_engine){0};
    strcpy(engine->name, name); /* its length was checked */
    return engine;
}

static void take_engine(struct gpu_client *client, const char *key, double value)
{
    const char *name;
    struct gpu_engine *engine;
    if ((name = behind(key, "drm-engine-capacity-")) || (name = behind(key, "drm-total-cycles-"))) {
        engine = engine_of(client, name);
        if (engine && key[4] == 'e')
            engine->capacity = value;
        else if (engine)
            engine->total = value;
    } else if ((name = behind(key, "drm-engine-")) || (name = behind(key, "drm-cycles-"))) {
        engine = engine_of(client, name);
        if (engine) {
            engine->worked = value;
            engine->known = true;
        }
    }
}

/* The device's own memory: amdgpu's vram, i915's local0, xe's vram0. */
static void take_memory(struct gpu_client *client, const char *key, double value)
{
    static const char *const words[] = {[GPU_MEMORY_TOTAL] = "drm-total-",
                                        [GPU_MEMORY_OLD] = "drm-memory-",
                                        [GPU_MEMORY_RESIDENT] = "drm-resident-"};
    for (int word = 0; word < GPU_MEMORY_WORDS; word++) {
        const char *region = behind(key, words[word]);
        if (region && (strncmp(region, "vram", 4) == 0 || strncmp(region, "local", 5) == 0))
            client->memory[word] = isnan(client->memory[word]) ? value : client->memory[word] + value;
    }
}

static void take_line(struct gpu_client *client, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon)
        return;
    *colon = '\0';
    char *text = colon + 1 + strspn(colon + 1, " \t");
    text[strcspn(text, "\r\n")] = '\0';
    double value = amount(text);
    if (strcmp(line, "drm-pdev") == 0) {
        snprintf(client->slot, sizeof client->slot, "%.*s", GPU_CLIENT_SLOT_MAX - 1, text);
    } else if (strcmp(line, "drm-client-id") == 0) {
        client->has_id = !isnan(value);
        client->id = strtoull(text, NULL, 10);
    } else if (!isnan(value)) {
        take_engine(client, line, value);
        take_memory(client, line, value);
    }
}

bool daemon_gpu_client_parse(const char *text, struct gpu_client *ret)
{
    char line[256];
    *ret = (struct gpu_client){.memory = {NAN, NAN, NAN}};
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n < sizeof line) {
            memcpy(line, text, n);
            line[n] = '\0';
            take_line(ret, line);
        }
        text += n + (text[n] == '\n');
    }
    return ret->slot[0] && ret->has_id;
}

double daemon_gpu_client_memory(const struct gpu_client *client)
{
    double found = NAN;
    for (int word = 0; word < GPU_MEMORY_WORDS; word++)
        if (!isnan(client->memory[word]))
            found = client->memory[word];
    return found;
}
