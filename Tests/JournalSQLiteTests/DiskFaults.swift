import CSQLite
import Foundation
import Glibc
import Synchronization

/// Write and sync errors of the system, as SQLite would see them, for files whose path contains a marker.
///
/// SQLite's unix layer lets its write calls be replaced; for its syncs, which it does not, see ``SyncFaults``. Ours ask
/// here first; files of other tests are not touched.
enum DiskFaults {
    private struct Fault: Sendable {
        let isSync: Bool
        let error: Int32
        /// How many writes still succeed.
        var spared: Int
        /// How many writes fail after that.
        var count: Int
    }

    private static let faults = Mutex<[String: Fault]>([:])

    /// Lets writes to files whose path contains `marker` fail.
    ///
    /// - Parameters:
    ///   - marker: A part of the path that no other test's files have.
    ///   - error: The error number.
    ///   - spared: How many writes succeed before.
    ///   - count: How many fail; then all succeed again.
    static func arm(_ marker: String, error: Int32, sparing spared: Int = 0, count: Int = .max) {
        _ = self.isInstalled
        self.faults.withLock {
            $0[marker] = Fault(isSync: false, error: error, spared: spared, count: count)
        }
    }

    /// Lets syncs of such files fail, though their writes succeed.
    static func armSync(_ marker: String, error: Int32, count: Int = .max) {
        SyncFaults.install()
        self.faults.withLock { $0[marker] = Fault(isSync: true, error: error, spared: 0, count: count) }
    }

    static func disarm(_ marker: String) {
        self.faults.withLock { _ = $0.removeValue(forKey: marker) }
    }

    /// The error for a write to a descriptor; 0 if it may go on.
    private static func error(for descriptor: Int32) -> Int32 {
        if self.faults.withLock({ $0.isEmpty }) { return 0 }
        let path = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(descriptor)"
        )
        return path.map { self.error(for: $0, isSync: false) } ?? 0
    }

    /// The error for a write to a file, or a sync of it; 0 if it may go on.
    static func error(for path: String, isSync: Bool) -> Int32 {
        self.faults.withLock { faults in
            guard let marker = faults.keys.first(where: { path.contains($0) }),
                let fault = faults[marker],
                fault.isSync == isSync
            else { return 0 }
            if fault.spared > 0 {
                faults[marker]?.spared -= 1
                return 0
            }
            guard fault.count > 0 else { return 0 }
            if fault.count != .max { faults[marker]?.count -= 1 }
            return fault.error
        }
    }

    private typealias PositionedWrite = @convention(c) (Int32, UnsafeRawPointer?, Int, Int) -> Int
    private typealias PlainWrite = @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int

    /// Replaces the calls, once for the process. Sound: the signatures are those of pwrite(2) and write(2), which
    /// SQLite casts them to.
    private static let isInstalled: Bool = {
        let positioned: PositionedWrite = { descriptor, bytes, count, offset in
            let error = DiskFaults.error(for: descriptor)
            if error == 0 { return unsafe pwrite(descriptor, bytes, count, off_t(offset)) }
            errno = error
            return -1
        }
        let plain: PlainWrite = { descriptor, bytes, count in
            let error = DiskFaults.error(for: descriptor)
            if error == 0 { return unsafe write(descriptor, bytes, count) }
            errno = error
            return -1
        }
        guard let system = unsafe sqlite3_vfs_find(nil) else { return false }
        for name in ["pwrite64", "pwrite"] {
            let call = unsafe unsafeBitCast(positioned, to: sqlite3_syscall_ptr.self)
            _ = unsafe system.pointee.xSetSystemCall(system, name, call)
        }
        let call = unsafe unsafeBitCast(plain, to: sqlite3_syscall_ptr.self)
        _ = unsafe system.pointee.xSetSystemCall(system, "write", call)
        return true
    }()
}
