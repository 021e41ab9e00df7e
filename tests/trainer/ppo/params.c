/* Every key is set and read back as it is written; bad values and unknown keys change nothing and say what
 * would be right; schedules; and docs/training.md's table (argument 1) is the one in code. */
#include <errno.h>

#include "tests/check.h"
#include "trainer/ppo/params.h"

static char err[PPO_ERROR_MAX];

static struct ppo_params preset(const char *name)
{
    struct ppo_params params;
    CHECK_INT(ppo_params_preset(name, &params, err), 0);
    return params;
}

static void refused(const char *key, const char *text, int rc, const char *says)
{
    struct ppo_params params = preset("default"), before = params;
    err[0] = '\0';
    CHECK_INT(ppo_params_set(&params, key, text, err), rc);
    CHECK(memcmp(&params, &before, sizeof params) == 0);
    CHECK(strstr(err, says) != NULL);
    CHECK(strchr(err, '\n') == NULL);
    if (!strstr(err, says))
        fprintf(stderr, "%s = %s: \"%s\"\n", key, text, err);
}

static void set(struct ppo_params *params, const char *key, const char *text, const char *reads)
{
    char buf[128] = "";
    CHECK_INT(ppo_params_set(params, key, text, err), 0);
    CHECK(ppo_params_get(params, key, buf, sizeof buf));
    CHECK_STR(buf, reads);
    struct ppo_params again = *params;
    CHECK_INT(ppo_params_set(&again, key, buf, err), 0);
    CHECK(memcmp(&again, params, sizeof again) == 0);
}

static void test_number(const struct config_key *key)
{
    struct ppo_params params = preset("default");
    char text[64], buf[128];
    double inside = key->kind == CONFIG_WHOLE ? key->min + 1 : (key->min + key->max) / 2;
    snprintf(text, sizeof text, "%.17g", inside);
    CHECK_INT(ppo_params_set(&params, key->name, text, err), 0);
    CHECK(ppo_params_get(&params, key->name, buf, sizeof buf));
    CHECK(strtod(buf, NULL) == inside);
    snprintf(text, sizeof text, "%.17g", key->min - 1);
    refused(key->name, text, -EINVAL, "needed");
    snprintf(text, sizeof text, "%.17g", key->max * 2 + 1);
    refused(key->name, text, -EINVAL, "needed");
    static const char *const none[] = {"nan", "inf", "1x", "", " 1", "0x10", "1..2", "1,2", "true"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        refused(key->name, none[i], -EINVAL, key->name);
    if (key->kind == CONFIG_WHOLE)
        refused(key->name, "3.5", -EINVAL, "whole");
}

static void test_every_key(void)
{
    size_t n;
    const struct config_key *list = ppo_params_list(&n);
    CHECK(n > 40);
    for (size_t i = 0; i < n; i++) {
        const struct config_key *key = &list[i];
        struct ppo_params params = preset("default");
        char buf[128];
        if (i > 0)
            CHECK(strcmp(list[i - 1].name, key->name) < 0);
        CHECK(key->about && key->about[0]);
        CHECK(ppo_params_get(&params, key->name, buf, sizeof buf));
        set(&params, key->name, buf, buf);
        CHECK(!ppo_params_get(&params, key->name, buf, 1));
        if (key->kind == CONFIG_WORD) {
            char words[128];
            snprintf(words, sizeof words, "%s", key->words);
            for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
                set(&params, key->name, word, word);
            refused(key->name, "sideways", -EINVAL, "\"sideways\": one of ");
            refused(key->name, "", -EINVAL, key->name);
        } else if (key->kind == CONFIG_OWN) {
            set(&params, key->name, "2048,1024,512", "2048,1024,512");
            set(&params, key->name, "1", "1");
            set(&params, key->name, "none", "none");
            set(&params, key->name, "8,8,8,8,8,8,8,8", "8,8,8,8,8,8,8,8");
            refused(key->name, "8,8,8,8,8,8,8,8,8", -EINVAL, "at most 8");
            refused(key->name, "0", -EINVAL, "from 1 to 8192");
            refused(key->name, "64,8193", -EINVAL, "from 1 to 8192");
            refused(key->name, "99999999999999999999", -EINVAL, "from 1 to 8192");
            static const char *const none[] = {"", ",", "64,", ",64", "64 64", "-1", "64,x", "+64", "6.4"};
            for (size_t k = 0; k < sizeof none / sizeof *none; k++)
                refused(key->name, none[k], -EINVAL, "64,64");
        } else if (key->kind == CONFIG_SWITCH) {
            set(&params, key->name, "true", "true");
            set(&params, key->name, "0", "false");
            refused(key->name, "yes", -EINVAL, "one of false, true is needed");
            refused(key->name, "2", -EINVAL, "one of false, true is needed");
        } else {
            test_number(key);
        }
    }
}

static void test_names(void)
{
    refused("learning_rat", "1", -ENOENT, "learning_rate");
    refused("Gama", "1", -ENOENT, "gamma");
    refused("gae_lamda", "1", -ENOENT, "gae_lambda");
    struct ppo_params params = preset("default");
    char buf[8];
    CHECK(!ppo_params_get(&params, "gama", buf, sizeof buf));
    CHECK_INT(ppo_params_preset("reference", &params, err), -ENOENT);
    CHECK(strstr(err, "reference-4080") != NULL);
    set(&params, "seed", "9007199254740992", "9007199254740992");
    CHECK_INT(ppo_params_set(&params, "precision", "float32", err), 0);
    CHECK_INT(ppo_params_set(&params, "precision", "mixed", err), 0);
    CHECK(params.precision == PPO_BF16);
}

static void test_presets(void)
{
    struct ppo_params p = preset("default");
    CHECK(p.copies == 8 && p.net.n_pi == 2 && p.net.pi[0] == 64 && p.net.pi[1] == 64 && !p.bounded);
    CHECK(p.entropy_bound == 1 && p.value_bound == 10);
    CHECK_INT(ppo_params_check(&p, err), 0);
    p = preset("reference-4080");
    CHECK(p.copies == 32 && p.steps == 4096 && p.copies * p.steps == 131072 && p.minibatch == 1024);
    CHECK(p.net.n_pi == 3 && p.net.pi[0] == 2048 && p.net.pi[1] == 1024 && p.net.pi[2] == 512);
    CHECK(p.net.n_vf == 3 && p.net.vf[0] == 2048 && p.net.vf[1] == 1024 && p.net.vf[2] == 512);
    CHECK(p.precision == PPO_BF16 && p.memory_cap == 0.8 && p.bounded);
    CHECK_NEAR(ppo_ent_coef(&p, 0), 0.05, 1e-15);
    CHECK_NEAR(ppo_ent_coef(&p, 1), 0.005, 1e-15);
    CHECK(ppo_clip_range(&p, 0) == 0.2 && ppo_clip_range(&p, 1) == 0.2);
    CHECK(p.entropy_bound == 1 && p.value_bound == 10);
    CHECK_INT(ppo_params_check(&p, err), 0);
}

static void contradicts(const struct ppo_params *params, const char *says)
{
    err[0] = '\0';
    CHECK_INT(ppo_params_check(params, err), -EINVAL);
    CHECK(strstr(err, says) != NULL);
    if (!strstr(err, says))
        fprintf(stderr, "\"%s\" does not say %s\n", err, says);
}

static void test_contradictions(void)
{
    struct ppo_params p = preset("default");
    p.minibatch = 8 * 1024 + 1;
    contradicts(&p, "at most 8192");
    p.minibatch = 1;
    contradicts(&p, "normalise_advantages");
    p.normalise_advantages = false;
    CHECK_INT(ppo_params_check(&p, err), 0);
    p = preset("default");
    p.copies = p.steps = 1 << 20;
    contradicts(&p, "rows");
    p = preset("default");
    p.net.recurrent = 24;
    contradicts(&p, "multiple of 16");
    p.net.recurrent = 32;
    CHECK_INT(ppo_params_check(&p, err), 0);
    p.sequence = 24;
    contradicts(&p, "divisor of steps");
    p.sequence = 32;
    p.minibatch = 1000;
    contradicts(&p, "multiple of sequence");
    p = preset("default");
    p.log_std_init = -5;
    contradicts(&p, "log_std_min");
    p = preset("default");
    p.lr_schedule = PPO_EXPONENTIAL;
    p.lr_final = 0;
    contradicts(&p, "lr_final");
    /* What a program puts there itself, past ppo_params_set(). */
    p = preset("default");
    p.gamma = NAN;
    contradicts(&p, "gamma");
    p = preset("default");
    p.copies = 0;
    contradicts(&p, "copies");
    p = preset("default");
    p.net.n_vf = 9;
    contradicts(&p, "value_layers");
    p = preset("default");
    p.net.pi[1] = 0;
    contradicts(&p, "policy_layers");
    p = preset("default");
    p.lr_schedule = (enum ppo_schedule)3;
    contradicts(&p, "lr_schedule");
}

static void test_schedules(void)
{
    struct ppo_params p = preset("default");
    p.learning_rate = 0.01;
    p.lr_final = 0.25;
    CHECK(ppo_learning_rate(&p, 0.5) == 0.01);
    p.lr_schedule = PPO_LINEAR;
    CHECK(ppo_learning_rate(&p, 0) == 0.01);
    CHECK_NEAR(ppo_learning_rate(&p, 0.5), 0.00625, 1e-15);
    CHECK_NEAR(ppo_learning_rate(&p, 1), 0.0025, 1e-15);
    CHECK_NEAR(ppo_learning_rate(&p, 1.5), 0.0025, 1e-15);
    p.lr_schedule = PPO_EXPONENTIAL;
    CHECK(ppo_learning_rate(&p, 0) == 0.01);
    CHECK_NEAR(ppo_learning_rate(&p, 0.5), 0.005, 1e-15);
    CHECK_NEAR(ppo_learning_rate(&p, 2), 0.0025, 1e-15);
    p.ent_coef = 0.05;
    p.ent_coef_final = 0.005;
    CHECK_NEAR(ppo_ent_coef(&p, 0), 0.05, 0);
    CHECK_NEAR(ppo_ent_coef(&p, 0.5), 0.0275, 1e-15);
    CHECK_NEAR(ppo_ent_coef(&p, 1), 0.005, 1e-15);
    p.clip_range_final = 0.1;
    CHECK_NEAR(ppo_clip_range(&p, 0.5), 0.15, 1e-15);
}

/* Of what a file gives of bounded, ent_coef, ent_coef_final, clip_range, clip_range_final ("": left out). */
static void test_unset(void)
{
    static const struct {
        const char *preset, *given[5];
        double ent_coef[2], clip_range[2];
    } cases[] = {
        {"default", {"", "", "", "", ""}, {0, 0}, {0.2, 0.2}},
        {"default", {"", "0.01", "", "0.05", ""}, {0.01, 0.01}, {0.05, 0.05}},
        {"default", {"", "0.01", "0", "0.05", "0.2"}, {0.01, 0}, {0.05, 0.2}},
        {"default", {"", "", "0.01", "", "0.1"}, {0, 0.01}, {0.2, 0.1}},
        {"default", {"true", "", "", "", ""}, {0.05, 0.005}, {0.2, 0.2}},
        {"default", {"true", "0.01", "", "", ""}, {0.01, 0.01}, {0.2, 0.2}},
        {"default", {"true", "0", "", "", ""}, {0, 0}, {0.2, 0.2}},
        {"default", {"true", "", "0.02", "", ""}, {0.05, 0.02}, {0.2, 0.2}},
        {"reference-4080", {"", "", "", "", ""}, {0.05, 0.005}, {0.2, 0.2}},
        {"reference-4080", {"", "0.01", "", "0.05", ""}, {0.01, 0.01}, {0.05, 0.05}},
        {"reference-4080", {"false", "", "", "", ""}, {0, 0}, {0.2, 0.2}},
        {"reference-4080", {"", "auto", "auto", "", "auto"}, {0.05, 0.005}, {0.2, 0.2}},
    };
    static const char *const keys[5] = {"bounded", "ent_coef", "ent_coef_final", "clip_range",
                                        "clip_range_final"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ppo_params p = preset(cases[i].preset);
        for (int k = 0; k < 5; k++)
            if (*cases[i].given[k])
                set(&p, keys[k], cases[i].given[k], cases[i].given[k]);
        CHECK_INT(ppo_params_check(&p, err), 0);
        for (int end = 0; end < 2; end++) {
            CHECK_NEAR(ppo_ent_coef(&p, end), cases[i].ent_coef[end], 1e-15);
            CHECK_NEAR(ppo_clip_range(&p, end), cases[i].clip_range[end], 1e-15);
        }
    }
    refused("clip_range", "auto", -EINVAL, "needed");
    refused("ent_coef", "Auto", -EINVAL, "or auto");
    refused("ent_coef_final", "11", -EINVAL, "or auto");
}

/* Beyond 2^53 not every whole number is a double. */
static void test_exact(void)
{
    static const char *const keys[] = {"seed", "total_steps"};
    struct ppo_params params = preset("default");
    for (int k = 0; k < 2; k++) {
        set(&params, keys[k], "9007199254740991", "9007199254740991");
        set(&params, keys[k], "9007199254740992", "9007199254740992");
        set(&params, keys[k], "+1e3", "1000");
        refused(keys[k], "9007199254740993", -EINVAL, "to 9007199254740992 is needed");
        refused(keys[k], "9007199254740993.0", -EINVAL, "to 9007199254740992 is needed");
        refused(keys[k], "9.007199254740993e15", -EINVAL, "to 9007199254740992 is needed");
        refused(keys[k], "18446744073709551615", -EINVAL, "to 9007199254740992 is needed");
        refused(keys[k], "99999999999999999999", -EINVAL, "to 9007199254740992 is needed");
    }
}

/* A key's row of the table in docs/training.md. */
static void row_of(const struct config_key *key, char *buf, size_t cap)
{
    struct ppo_params a = preset("default"), b = preset("reference-4080");
    char first[128], second[128], range[128];
    CHECK(ppo_params_get(&a, key->name, first, sizeof first));
    CHECK(ppo_params_get(&b, key->name, second, sizeof second));
    if (key->kind == CONFIG_OWN) {
        snprintf(range, sizeof range, "widths with commas, or none");
    } else if (key->kind == CONFIG_WORD) {
        int n = 0;
        for (const char *p = key->words; *p && (size_t)n + 3 < sizeof range; p++)
            n += *p == ' ' ? snprintf(range + n, sizeof range - (size_t)n, ", ")
                           : snprintf(range + n, sizeof range - (size_t)n, "%c", *p);
    } else if (key->kind == CONFIG_SWITCH) {
        snprintf(range, sizeof range, "true, false");
    } else {
        snprintf(range, sizeof range, "%.16g to %.16g%s", key->min, key->max,
                 key->kind == CONFIG_WHOLE ? ", whole" : "");
    }
    snprintf(buf, cap, "| `%s` | %s | %s | %s | %s |\n", key->name, first, second, range, key->about);
}

/* The page holds the rows one after the other; without the argument they are printed. */
static void test_page(const char *path)
{
    size_t n, n_keys, at = 0;
    const struct config_key *list = ppo_params_list(&n_keys);
    static char table[1 << 16], page[1 << 20];
    for (size_t i = 0; i < n_keys; i++) {
        row_of(&list[i], table + at, sizeof table - at);
        at += strlen(table + at);
    }
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    if (!file)
        return;
    n = fread(page, 1, sizeof page - 1, file);
    page[n] = '\0';
    fclose(file);
    CHECK(strstr(page, table) != NULL);
    if (!strstr(page, table))
        fprintf(stderr, "docs/training.md: its table of keys is not this one:\n%s", table);
}

int main(int argc, char **argv)
{
    test_every_key();
    test_names();
    test_presets();
    test_contradictions();
    test_schedules();
    test_unset();
    test_exact();
    if (argc > 1)
        test_page(argv[1]);
    return check_done("trainer/ppo/params");
}
