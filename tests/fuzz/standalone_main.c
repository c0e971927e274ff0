/* Replays files through a fuzz target where libFuzzer is absent: names files and directories, each file is one input.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 20 };

static int replay_file(const char *path) {
    static uint8_t bytes[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    return 0;
}

static int replay_directory(DIR *directory, const char *path, int *count) {
    int failed = 0;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char name[4096];
        int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && length < (int)sizeof name) {
            failed |= replay_file(name);
            ++*count;
        }
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0, count = 0;
    for (int k = 1; k < argc; k++) {
        DIR *directory = opendir(argv[k]);
        if (directory != NULL) {
            failed |= replay_directory(directory, argv[k], &count);
        } else {
            failed |= replay_file(argv[k]);
            count++;
        }
    }
    printf("%d inputs replayed\n", count);
    return failed || count == 0;
}
