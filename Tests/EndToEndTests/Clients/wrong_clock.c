// A wall clock that is wrong by as many seconds as the file that WRONG_CLOCK names says, 8 bytes, whenever it is asked; preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static int (*right)(clockid_t, struct timespec *);
static int (*condition_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*semaphore_wait)(sem_t *, const struct timespec *);
static volatile int64_t *wrong_by;

__attribute__((constructor)) static void begin(void) {
    right = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    // Without the version it is the one of programs from before 2003, whose conditions are others.
    condition_wait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlvsym(
        RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    semaphore_wait = (int (*)(sem_t *, const struct timespec *))dlsym(RTLD_NEXT, "sem_timedwait");
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

// The kernel has the right clock: a wait until so many seconds after the wrong time would take as much longer as that is wrong.
static struct timespec right_end(const struct timespec *end) {
    if (!right) begin();
    struct timespec now, until = *end;
    right(CLOCK_REALTIME, &now);
    int64_t wrong = wrong_by ? *wrong_by : 0, left = end->tv_sec - now.tv_sec;
    // By the wrong time if that is the nearer one.
    if (llabs(left - wrong) < llabs(left)) until.tv_sec -= wrong;
    return until;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end) {
    struct timespec until = right_end(end);
    return condition_wait(condition, mutex, &until);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *end) {
    struct timespec until = right_end(end);
    return semaphore_wait(semaphore, &until);
}
