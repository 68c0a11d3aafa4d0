#ifndef CRASH_POINTS_H
#define CRASH_POINTS_H

/// The program that links this has calls of its own in place of some of the C library's, which do as it does until the
/// variable FRESHET_FAULT says otherwise:
///
///     FRESHET_FAULT=<call>:<n>:<what>[:<part of a path>]
///
/// The n-th time that the call (pwrite, fsync, fdatasync, rename, unlink) is made for such a path, <what> happens: `before`
/// and `after` end the process at once, as kill -9 does, before or after the call was carried out; `torn` writes a half of
/// the bytes and ends it; `short` writes a half and says so; a number fails the call with that error, once.
///
/// Whether the calls are replaced; for a program that wants to be sure.
int crash_points_are_linked(void);

#endif
