/* Compares a lake's files with its manifest. */
#include <stdio.h>

#include "cli/answer.h"
#include "cli/export.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"

static void print_wrong(const char *folder, const json_t *wrong)
{
    for (size_t i = 0; i < json_array_size(wrong); i++) {
        const json_t *row = json_array_get(wrong, i);
        fprintf(stderr, "papertape: export: %s/%s: %s\n", folder, cli_answer_text(row, "file"),
                cli_answer_text(row, "why"));
    }
}

static int print(const char *folder, const json_t *answer, bool json)
{
    const json_t *wrong = json_object_get(answer, "wrong"), *unlisted = json_object_get(answer, "unlisted");
    const size_t n = json_array_size(wrong), more = json_array_size(unlisted);
    print_wrong(folder, wrong);
    if (json) {
        int status = cli_stored_print(
            "export",
            json_pack("{s:s, s:s, s:O, s:O, s:O}", "schema", "papertape.export_verify/1", "folder", folder,
                      "files", json_object_get(answer, "files"), "wrong", wrong, "unlisted", unlisted),
            15);
        return status == EXIT_OK && n > 0 ? EXIT_ERROR : status;
    }
    printf("%lld files of the manifest, %zu wrong\n",
           (long long)json_integer_value(json_object_get(answer, "files")), n);
    if (more > 0)
        printf("%zu files that it does not list, %s/%s the first of them\n", more, folder,
               json_string_value(json_array_get(unlisted, 0)));
    return n > 0 ? EXIT_ERROR : EXIT_OK;
}

int cli_export_verify(const char *folder, const char *python_name, bool json)
{
    const char *arguments[] = {"verify", folder, NULL};
    struct lake_python *python = NULL;
    json_t *answer = NULL;
    int status = cli_lake_start("export", python_name, arguments, &python);
    if (status == EXIT_OK)
        status = cli_lake_ask(python, NULL, &answer);
    if (status == EXIT_OK)
        status = print(folder, answer, json);
    json_decref(answer);
    cli_lake_finish(python);
    return status;
}
