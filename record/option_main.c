#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/exit_status.h"
#include "exchange/nearest.h"
#include "exchange/text_password.h"
#include "record/option.h"
#include "record/option_text.h"

static int say(const struct option_program *program, int status, const char *words)
{
    char line[OPTION_ERROR_MAX + 64];

    snprintf(line, sizeof line, "%s: %s", program->name, words);
    text_hide_passwords(line); /* a URL whose option was forgotten */
    if (program->say)
        program->say(line);
    else
        fprintf(stderr, "%s\n", line);
    return status;
}

int option_fail(const struct option_call *call, int status, const char *format, ...)
{
    char words[OPTION_ERROR_MAX];
    size_t n = 0;
    va_list args;

    if (call->verb->name)
        n = (size_t)snprintf(words, sizeof words, "%s: ", call->verb->name);
    va_start(args, format);
    vsnprintf(words + n, sizeof words - n, format, args);
    va_end(args);
    return say(call->program, status, words);
}

const struct option_row *option_csv_row(const struct option_program *program)
{
    for (size_t i = 0; i < program->n_global; i++)
        if (program->global[i].at == offsetof(struct option_call, csv))
            return &program->global[i];
    return NULL;
}

/* Of a line: one that acts, and by the daemon that is there. */
static int run_line(struct option_call *call)
{
    if (!call->action->acts)
        return option_fail(call, EXIT_USAGE,
                           "only what changes something is done here: in a shell, %s %s%s%s",
                           call->program->name, call->verb->name, *call->word ? " " : "", call->word);
    return call->action->run(call);
}

static int run(struct option_call *call, int n, char **argv)
{
    char err[OPTION_ERROR_MAX];
    int status = option_parse(call, n, argv, err);

    if (*err)
        return say(call->program, status, err);
    if (status != EXIT_OK)
        return status;
    if (call->asking)
        return run_line(call);
    if (call->help) {
        option_help(call->program, call->verb, stdout);
        return EXIT_OK;
    }
    if (call->version) {
        printf("%s %s\n", call->program->name, call->program->version);
        return EXIT_OK;
    }
    return call->action->run(call);
}

static int run_verb(struct option_call *call, int argc, char **argv)
{
    const struct option_verb *verb = call->verb;

    if (verb->size && !(call->into = calloc(1, verb->size)))
        return say(call->program, EXIT_ERROR, "out of memory");
    if (verb->init)
        verb->init(call->into);
    int status = run(call, argc - 1, argv + 1);
    if (verb->finish)
        verb->finish(call->into);
    free(call->into);
    return status;
}

int option_run(const struct option_program *program, const struct option_verb *verb, int argc, char **argv)
{
    return run_verb(&(struct option_call){.program = program, .verb = verb, .out = stdout}, argc, argv);
}

static int unknown_verb(const struct option_program *program, const char *name)
{
    struct nearest nearest = {0};
    char words[OPTION_ERROR_MAX];

    for (size_t i = 0; i < program->n_verbs; i++)
        nearest_offer(&nearest, name, program->verbs[i]->name);
    const char *meant = NEAREST_SUGGEST(nearest_meant(&nearest, name));
    snprintf(words, sizeof words, "%.63s: not a verb%s %s lists them", name, *meant ? meant : ":",
             program->lines ? "Tab" : "--help");
    return say(program, EXIT_USAGE, words);
}

static int completion(struct option_call *call)
{
    if (!option_completion_script(call->program, call->arguments[0], stdout))
        return option_fail(call, EXIT_USAGE, "\"%.63s\": bash, zsh or fish is needed", call->arguments[0]);
    return EXIT_OK;
}

/* Common to all programs, as help is. */
static const struct option_action completion_action[] = {
    {.arguments = "SHELL", .example = "bash", .run = completion}};
static const struct option_verb completion_verb = {
    .name = "completion",
    .about =
        "Prints what a shell needs to complete this program's command lines: SHELL is bash, zsh or fish.",
    OPTION_ACTIONS(completion_action),
};

static const struct option_verb *find_verb(const struct option_program *program, const char *name)
{
    return strcmp(name, completion_verb.name) == 0 ? &completion_verb : option_find_verb(program, name);
}

/* `help [VERB]`, and the requests of builds and shells: `help --man PAGE`, `help --complete -- WORD…`. */
static int help(const struct option_program *program, int n, char **words)
{
    if (n >= 2 && strcmp(words[0], "--complete") == 0) {
        option_complete(program, n - 2, words + 2, stdout);
        return EXIT_OK;
    }
    if (n == 2 && strcmp(words[0], "--man") == 0)
        return option_man(program, words[1], stdout) ? EXIT_OK : unknown_verb(program, words[1]);
    const struct option_verb *verb = n > 0 ? find_verb(program, words[0]) : NULL;
    char err[OPTION_ERROR_MAX];
    if (n > 0 && !verb)
        return unknown_verb(program, words[0]);
    if (n > 1) {
        snprintf(err, sizeof err, "help: %.63s: one argument too many: [VERB] is right", words[1]);
        return say(program, EXIT_USAGE, err);
    }
    option_help(program, verb, stdout);
    return EXIT_OK;
}

static int dispatch(const struct option_program *program, int argc, char **argv)
{
    bool known;
    int at = 1 + option_first_word(program, argc - 1, argv + 1, &known);
    const char *word = at < argc ? argv[at] : NULL;

    if (word && strcmp(word, "help") == 0)
        return help(program, argc - at - 1, argv + at + 1);
    const struct option_verb *verb = word ? find_verb(program, word) : NULL;
    if (verb || (program->n_verbs > 0 && (word || !program->bare))) {
        if (!verb && (word ? !known : argc > 1)) /* names the unknown option; also --help, --version */
            return option_run(program,
                              program->bare ? program->bare : &(struct option_verb){.about = program->about},
                              argc, argv);
        if (!verb)
            return word ? unknown_verb(program, word)
                        : say(program, EXIT_USAGE, "a verb is needed: --help lists them");
        memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv); /* global options follow it */
        argv[1] = (char *)(uintptr_t)verb->name;
        return option_run(program, verb, argc - 1, argv + 1);
    }
    return option_run(program, program->bare, argc, argv);
}

int option_line(const struct option_program *program, int n, char **words, FILE *out, void *asking)
{
    struct option_call call = {.program = program, .out = out, .asking = asking};

    if (n == 0)
        return say(program, EXIT_USAGE, "a verb is needed");
    call.verb = option_find_verb(program, words[0]);
    return call.verb ? run_verb(&call, n, words) : unknown_verb(program, words[0]);
}

int option_line_words(const char *line, char text[static OPTION_LINE_MAX],
                      char *ret[static OPTION_LINE_WORDS + 1], size_t *ret_from)
{
    size_t at = 0, len = strlen(line), to = 0;
    int n = 0;

    if (len >= OPTION_LINE_MAX)
        return -1;
    for (;;) {
        at += strspn(line + at, " \t");
        if (ret_from)
            *ret_from = at;
        if (at == len)
            break;
        if (n == OPTION_LINE_WORDS)
            return -1;
        ret[n++] = text + to;
        for (char quote = '\0'; quote || !strchr(" \t", line[at]); at++) {
            if (at == len)
                return -1;
            if (quote ? line[at] == quote : line[at] == '"' || line[at] == '\'')
                quote = quote ? '\0' : line[at];
            else
                text[to++] = line[at];
        }
        text[to++] = '\0';
        if (at == len)
            break;
    }
    ret[n] = NULL;
    return n;
}

/* Else the first files that are opened are stdin, stdout and stderr. A closed stdout still takes nothing. */
static void open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/* 0, or -errno where not all of it could be written: by the last lines, or by earlier ones, which stdio has
 * dropped. */
static int finish_stdout(void)
{
    bool failed = ferror(stdout) != 0;

    if (failed) { /* the reason is long lost: it fails again, and reports it */
        clearerr(stdout);
        fputc('\n', stdout);
    }
    if (fflush(stdout) != 0)
        return -errno;
    return failed ? -EIO : 0;
}

int option_main(const struct option_program *program, int argc, char **argv)
{
    open_standard();
    int status = dispatch(program, argc, argv), r = finish_stdout();
    char words[OPTION_ERROR_MAX];

    if (r == 0)
        return status;
    snprintf(words, sizeof words, "stdout: %s", r == -EIO ? "not all of it was written" : strerror(-r));
    return say(program, EXIT_ERROR, words);
}
