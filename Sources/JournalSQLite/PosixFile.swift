import Glibc
import Journaling
import WorkerThreads

/// One open file descriptor, for the few small files that are not SQLite's.
final class PosixFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// - Parameters:
    ///   - path: The file.
    ///   - flags: As for open(2); close-on-exec is added.
    ///   - mode: The permissions of a file that is created.
    init(path: String, flags: Int32, mode: mode_t = 0o600) throws(JournalError) {
        // Sound: the path is only read during the call.
        let descriptor = unsafe open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw systemFailure("cannot open \(path)") }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    /// Takes the exclusive lock, which lasts as long as the descriptor. False if another process has it.
    func tryLock() throws(JournalError) -> Bool {
        while flock(self.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw systemFailure("cannot lock \(self.path)") }
        }
        return true
    }

    /// Gives the lock back before the descriptor goes.
    func unlock() { _ = flock(self.descriptor, LOCK_UN) }

    /// The whole file, at most `bytesMax` bytes of it.
    func readAll(bytesMax: Int = 65_536) throws(JournalError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var count = 0
        while count < bytesMax {
            let room = bytesMax - count
            // Sound: the buffer has `room` bytes from `count` on.
            let read = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    self.descriptor,
                    buffer.baseAddress.map { unsafe $0 + count },
                    room,
                    off_t(count)
                )
            }
            if read == 0 { break }
            if read < 0 {
                if errno == EINTR { continue }
                throw systemFailure("cannot read \(self.path)")
            }
            count += read
        }
        return Array(bytes.prefix(count))
    }

    /// So many bytes from an offset on, fewer only at the end of the file.
    func read(_ count: Int, at offset: Int) throws(JournalError) -> [UInt8] {
        var failure: JournalError?
        // Sound: the bytes that were read are initialised, and the count says no more than these.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let start = unsafe buffer.baseAddress.map { unsafe $0 + done }
                let read = unsafe pread(self.descriptor, start, count - done, off_t(offset + done))
                if read == 0 { return }
                if read < 0 {
                    if errno == EINTR { continue }
                    failure = systemFailure("cannot read \(self.path)")
                    return
                }
                done += read
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Makes `bytes` the whole, durable content.
    func replaceContent(_ bytes: [UInt8]) throws(JournalError) {
        guard ftruncate(self.descriptor, 0) == 0 else {
            throw systemFailure("cannot truncate \(self.path)")
        }
        try self.write(bytes, at: 0)
        try self.sync()
    }

    /// Writes all the bytes from an offset on.
    func write(_ bytes: [UInt8], at offset: Int) throws(JournalError) {
        var count = 0
        while count < bytes.count {
            // Sound: only bytes of the array are read.
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    self.descriptor,
                    buffer.baseAddress.map { unsafe $0 + count },
                    bytes.count - count,
                    off_t(offset + count)
                )
            }
            if written < 0 {
                if errno == EINTR { continue }
                throw systemFailure("cannot write \(self.path)")
            }
            count += written
        }
    }

    func sync() throws(JournalError) {
        guard fsync(self.descriptor) == 0 else { throw systemFailure("cannot flush \(self.path)") }
    }
}

/// The error of the last system call.
func systemFailure(_ action: String) -> JournalError {
    let code = errno
    return JournalError(journalCode(ofSystemError: code), "\(action): \(systemErrorText(code))")
}
