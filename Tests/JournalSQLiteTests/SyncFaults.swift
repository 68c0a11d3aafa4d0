import CSQLite
import Glibc
import Synchronization

/// A layer over SQLite's unix layer that asks ``DiskFaults`` before each sync of a write-ahead log.
///
/// It is a copy of that layer with another `xOpen`, which gives such files a copy of their methods with another `xSync`.
enum SyncFaults {
    /// The original layer and its copies: never freed, since SQLite keeps pointers to them.
    @safe
    private struct Layer: @unchecked Sendable {
        let unix: UnsafeMutablePointer<sqlite3_vfs>
        let copy: UnsafeMutablePointer<sqlite3_vfs>
        let unixMethods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    }

    /// The paths of open files, by the address of SQLite's file object.
    private static let paths = Mutex<[UInt: String]>([:])
    private static let areMethodsCopied = Mutex(false)

    /// Makes the layer the default for files opened from now on. To be called before the journal is opened.
    static func install() { precondition(self.isInstalled) }

    private static let isInstalled =
        unsafe sqlite3_vfs_register(SyncFaults.layer.copy, 1) == SQLITE_OK

    /// Sound: file objects are SQLite's and as large as the unix layer asks for; all files have the same methods, which
    /// are copied before the first file leaves `xOpen`.
    private static let layer: Layer = {
        guard let unix = unsafe sqlite3_vfs_find("unix") else { fatalError("SQLite has no unix layer") }
        let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        unsafe copy.initialize(to: unix.pointee)
        unsafe copy.pointee.pNext = nil
        unsafe copy.pointee.zName = UnsafePointer(strdup("freshet-faults"))
        unsafe copy.pointee.xOpen = { _, name, file, flags, outFlags in
            let layer = SyncFaults.layer
            guard let file = unsafe file else { return SQLITE_CANTOPEN }
            let code = unsafe layer.unix.pointee.xOpen(layer.unix, name, file, flags, outFlags)
            guard code == SQLITE_OK, flags & SQLITE_OPEN_WAL != 0, let methods = unsafe file.pointee.pMethods
            else { return code }
            unsafe SyncFaults.copyMethods(methods)
            let path = unsafe name.map { unsafe String(cString: $0) } ?? ""
            let address = UInt(bitPattern: file)
            SyncFaults.paths.withLock { $0[address] = path }
            unsafe file.pointee.pMethods = UnsafePointer(layer.methods)
            return code
        }
        return unsafe Layer(unix: unix, copy: copy)
    }()

    private static func copyMethods(_ original: UnsafePointer<sqlite3_io_methods>) {
        self.areMethodsCopied.withLock { areCopied in
            guard !areCopied else { return }
            areCopied = true
            unsafe self.layer.unixMethods.initialize(to: original.pointee)
            unsafe self.layer.methods.initialize(to: original.pointee)
            unsafe self.layer.methods.pointee.xSync = { file, flags in
                let address = UInt(bitPattern: file)
                let path = SyncFaults.paths.withLock { $0[address] } ?? ""
                let error = DiskFaults.error(for: path, isSync: true)
                if error == 0 { return unsafe SyncFaults.layer.unixMethods.pointee.xSync(file, flags) }
                errno = error
                // SQLITE_IOERR_FSYNC
                return SQLITE_IOERR | 4 << 8
            }
        }
    }
}
