// A wall clock that is wrong by as many seconds as the file that WRONG_CLOCK names says, 8 bytes, whenever it is asked; preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static int (*right)(clockid_t, struct timespec *);
static volatile int64_t *wrong_by;

__attribute__((constructor)) static void begin(void) {
    right = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("WRONG_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(0, sizeof *wrong_by, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) wrong_by = memory;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!right) begin();
    int result = right(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME && wrong_by) time->tv_sec += *wrong_by;
    return result;
}
