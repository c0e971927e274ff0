#include "base/quote.h"

#include <stdbool.h>

/* The bytes of one UTF-8 character, or 0 where there is none. */
static size_t character_bytes(const unsigned char *at) {
    size_t more = *at < 0x80 ? 0 : *at >= 0xc2 && *at < 0xe0 ? 1 : *at >= 0xe0 && *at < 0xf0 ? 2 : 3;
    if (more == 3 && (*at < 0xf0 || *at > 0xf4)) {
        return 0;
    }
    for (size_t k = 1; k <= more; k++) {
        if ((at[k] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool strange = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90) ||
                   (*at == 0xf4 && at[1] > 0x8f);
    return strange ? 0 : more + 1;
}

/* The controls of ASCII, and those of Latin-1, which UTF-8 writes as two bytes. */
static bool is_control(const unsigned char *at) { return *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0); }

void print_visible(const char *text, FILE *stream) {
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t bytes = character_bytes(at);
        bool visible = bytes > 0 && !is_control(at);
        bytes = bytes > 0 ? bytes : 1;
        for (size_t k = 0; k < bytes; k++) {
            visible ? fputc(at[k], stream) : fprintf(stream, "\\x%02x", at[k]);
        }
        at += bytes;
    }
}

void print_json_string(const char *text, FILE *stream) {
    fputc('"', stream);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        size_t bytes = character_bytes(at);
        if (bytes == 0) {
            fputs("\\ufffd", stream);
        } else if (*at < ' ' || *at == 0x7f) {
            fprintf(stream, "\\u%04x", *at);
        } else {
            if (*at == '"' || *at == '\\') {
                fputc('\\', stream);
            }
            fwrite(at, 1, bytes, stream);
        }
        at += bytes > 0 ? bytes : 1;
    }
    fputc('"', stream);
}
