/* Loaded before libc into a gateway whose clock is to be wrong by CHAOS_CLOCK_SECONDS. The times that it reads are moved, and the
   instants that it waits for are moved back, since the kernel knows the right time. Clocks that only count from the machine's start
   stay as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset_seconds(void) {
    static int is_read;
    static long seconds;
    if (!is_read) {
        const char *text = getenv("CHAOS_CLOCK_SECONDS");
        seconds = text ? strtol(text, NULL, 10) : 0;
        is_read = 1;
    }
    return seconds;
}

/* An instant to wait for; small ones are of a clock that counts from the machine's start. */
static struct timespec moved_back(const struct timespec *until) {
    struct timespec moved = *until;
    if (moved.tv_sec > 1000000000) moved.tv_sec -= offset_seconds();
    return moved;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = next ? next(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset_seconds();
    return result;
}

int gettimeofday(struct timeval *time, void *zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    /* x86-64 has an older one by the same name. */
    if (!next) *(void **)&next = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    struct timespec moved = moved_back(until);
    return next(condition, mutex, &moved);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    static int (*next)(sem_t *, const struct timespec *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec moved = moved_back(until);
    return next(semaphore, &moved);
}
