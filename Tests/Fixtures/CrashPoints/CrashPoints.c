#define _GNU_SOURCE
#include "CrashPoints.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static struct {
    int parsed;
    char call[16];
    long number;
    char what[16];
    char path[128];
} fault;

static atomic_long calls;

int crash_points_are_linked(void) { return 1; }

__attribute__((constructor)) static void parse(void) {
    const char *text = getenv("FRESHET_FAULT");
    if (text == NULL) return;
    fault.parsed = sscanf(text, "%15[^:]:%ld:%15[^:]:%127s", fault.call, &fault.number, fault.what, fault.path) >= 3;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/// Whether this is the call.
static int isIt(const char *call, const char *path) {
    if (!fault.parsed || strcmp(call, fault.call) != 0) return 0;
    if (path == NULL || strstr(path, fault.path) == NULL) return 0;
    if (atomic_fetch_add(&calls, 1) + 1 != fault.number) return 0;
    // The process that waits for it learns that it was reached.
    static const char line[] = "fault\n";
    return write(STDOUT_FILENO, line, sizeof line - 1) >= 0;
}

static int isItOf(const char *call, int descriptor) {
    if (!fault.parsed || strcmp(call, fault.call) != 0) return 0;
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return isIt(call, path);
}

static int says(const char *what) { return strcmp(fault.what, what) == 0; }

static int fails(void) {
    int error = atoi(fault.what);
    if (error > 0) errno = error;
    return error > 0;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    ssize_t (*call)(int, const void *, size_t, off64_t) =
        (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    if (!isItOf("pwrite", descriptor)) return call(descriptor, bytes, count, offset);
    if (fails()) return -1;
    if (says("before")) die();
    ssize_t written = call(descriptor, bytes, says("after") ? count : (count + 1) / 2, offset);
    if (!says("short")) die();
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite64(descriptor, bytes, count, offset);
}

static int sync_with(const char *name, int descriptor) {
    int (*call)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    int hit = isItOf(name, descriptor);
    if (hit && fails()) return -1;
    if (hit && says("before")) die();
    int result = call(descriptor);
    if (hit) die();
    return result;
}

int fsync(int descriptor) { return sync_with("fsync", descriptor); }
int fdatasync(int descriptor) { return sync_with("fdatasync", descriptor); }

int rename(const char *old, const char *new) {
    int (*call)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    int hit = isIt("rename", old);
    if (hit && fails()) return -1;
    if (hit && says("before")) die();
    int result = call(old, new);
    if (hit) die();
    return result;
}

int unlink(const char *path) {
    int (*call)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
    int hit = isIt("unlink", path);
    if (hit && fails()) return -1;
    if (hit && says("before")) die();
    int result = call(path);
    if (hit) die();
    return result;
}
