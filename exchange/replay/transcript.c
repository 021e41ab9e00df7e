#include "exchange/replay/transcript.h"

#include <errno.h>
#include <inttypes.h>

int replay_transcript_open(struct transcript *transcript, const char *path)
{
    *transcript = (struct transcript){.file = fopen(path, "we")};
    if (!transcript->file)
        return -errno;
    setvbuf(transcript->file, NULL, _IOLBF, 0);
    return 0;
}

bool replay_transcript_close(struct transcript *transcript)
{
    FILE *file = transcript->file;
    transcript->file = NULL;
    if (!file)
        return true;
    bool ok = !ferror(file);
    return fclose(file) == 0 && ok;
}

static void write_target(FILE *file, const struct replay_request *request)
{
    fputs(request->path, file);
    for (int i = 0; i < request->n_args; i++)
        fprintf(file, "%c%s", i == 0 ? '?' : '&', request->args[i]);
}

uint64_t replay_transcript_enter(struct transcript *transcript, const struct replay_request *request)
{
    uint64_t client = ++transcript->clients;
    if (transcript->file) {
        fprintf(transcript->file, "%" PRIu64 " open ", client);
        write_target(transcript->file, request);
        fputc('\n', transcript->file);
    }
    return client;
}

void replay_transcript_message(struct transcript *transcript, uint64_t client, bool binary,
                               const unsigned char *data, size_t len)
{
    FILE *file = transcript->file;
    if (!file)
        return;
    fprintf(file, "%" PRIu64 " %s ", client, binary ? "binary" : "text");
    for (size_t i = 0; binary && i < len; i++)
        fprintf(file, "%02x", data[i]);
    if (!binary)
        fwrite(data, 1, len, file);
    fputc('\n', file);
}

void replay_transcript_leave(struct transcript *transcript, uint64_t client)
{
    if (transcript->file)
        fprintf(transcript->file, "%" PRIu64 " end\n", client);
}

void replay_transcript_rest(struct transcript *transcript, const struct replay_request *request,
                            const struct response *response)
{
    FILE *file = transcript->file;
    if (!file)
        return;
    fprintf(file, "0 rest %s ", request->method);
    write_target(file, request);
    fprintf(file, " %d ", response->status);
    fwrite(response->body.data, 1, response->body.len, file);
    fputc('\n', file);
}
