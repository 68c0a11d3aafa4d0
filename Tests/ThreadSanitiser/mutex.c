// Tells the thread sanitiser of Swift's Mutex. Where a thread has to wait, Mutex calls libswiftSynchronization, which is not
// instrumented: the kernel hands the lock over, and the sanitiser takes what both threads do under it for a race. These two
// stand before the library's own (LD_PRELOAD), call them, and say what the hand-over means. The sanitiser sees the way
// without waiting by itself, since the compiler puts its atomics into the caller.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define HANDLE __attribute__((swift_context)) void *handle
// _MutexHandle._lockSlow(_: UInt32) and _MutexHandle._unlockSlow(), of Swift 6.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

typedef SWIFT void lock_function(uint32_t thread, HANDLE);
typedef SWIFT void unlock_function(HANDLE);

SWIFT void lock_slow(uint32_t thread, HANDLE) __asm__(LOCK);
SWIFT void unlock_slow(HANDLE) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, HANDLE) {
    ((lock_function *)dlsym(RTLD_NEXT, LOCK))(thread, handle);
    __tsan_acquire(handle);
}

SWIFT void unlock_slow(HANDLE) {
    __tsan_release(handle);
    ((unlock_function *)dlsym(RTLD_NEXT, UNLOCK))(handle);
}
