#include "children.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int in_child(int (*body)(void)) {
    int status;
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(300);
        _exit(body());
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child, "no child");
    EXPECT(WIFEXITED(status), "the child was ended by signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return WEXITSTATUS(status);
}

void set(const char *variable, const char *value) {
    if (value != NULL)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

char folder[64];

int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/tally-test-XXXXXX");
    return mkdtemp(folder) == NULL;
}

int remove_folder(void **state) {
    char command[200];
    (void)state;
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", folder, folder);
    return system(command);
}

int count_names(const char *path, char *one) {
    DIR *names = opendir(path);
    struct dirent *found;
    int count = 0;
    if (names == NULL) return -1;
    while ((found = readdir(names)) != NULL) {
        if (found->d_name[0] == '.') continue;
        count++;
        if (one != NULL) snprintf(one, MOST_PATH, "%s/%s", path, found->d_name);
    }
    closedir(names);
    return count;
}

void write_file(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    EXPECT(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "%s is not written", path);
}

const char *make_pipe(void) {
    static char path[MOST_PATH];
    snprintf(path, sizeof path, "%s/.pipe", folder);
    unlink(path);
    EXPECT(mkfifo(path, 0600) == 0, "no pipe");
    return path;
}
