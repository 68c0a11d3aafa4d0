import Journaling
import Logging
import Partitions
import Synchronization
import WidgetModel

/// A data directory whose sizes a test sets: 1,064 MiB may be taken, 64 of them by reports alone.
final class FakeDisk: Sendable {
    static let mebibyte = 1_048_576

    private let state = Mutex<(sizes: StorageSizes, fault: JournalError?)>((StorageSizes(), nil))
    let time = FakeTime()

    init(usedMebibytes: Int = 0) {
        self.state.withLock { state in
            state.sizes.fileSystem = 1 << 50
            state.sizes.free = 1 << 50
        }
        self.use(mebibytes: usedMebibytes)
    }

    /// Lets the log take so much.
    func use(mebibytes: Int) { self.state.withLock { $0.sizes.log = mebibytes * Self.mebibyte } }

    func change(_ body: (inout StorageSizes) -> Void) { self.state.withLock { body(&$0.sizes) } }

    func failMeasuring(with fault: JournalError?) { self.state.withLock { $0.fault = fault } }

    /// Looks at it; measured once already.
    func watch(
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        isMeasured: Bool = true
    ) -> StorageWatch {
        let watch = StorageWatch(
            StorageBudget.Settings(bytesMax: 1064 * Self.mebibyte),
            logger: logger,
            now: { self.time.wall }
        ) { () throws(JournalError) in
            let (sizes, fault) = self.state.withLock { $0 }
            if let fault { throw fault }
            return sizes
        }
        if isMeasured { watch.measure() }
        return watch
    }
}
