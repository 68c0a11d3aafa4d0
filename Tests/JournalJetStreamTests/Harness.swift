import Foundation
import JournalContract
import JournalJetStream
import Journaling
import Synchronization
import WidgetModel

/// A log of its own on brokers that others use, too, and the journal that has it open.
final class Harness: JournalBench {
    let brokers: Brokers
    let configuration: JetStreamJournal.Configuration
    private(set) var own: JetStreamJournal

    var journal: any Journal { self.own }
    var snapshots: (any SnapshotStore)? { self.own }

    private static let number = Mutex(0)

    /// - Parameter patienceMilliseconds: By default so long that no busy machine uses it up.
    init(
        _ brokers: Brokers,
        partitions: Int = 1,
        replicas: Int = 1,
        limits: JournalLimits = JournalLimits(),
        streamBytesMax: Int = 40_000_000,
        patienceMilliseconds: Int = 600_000
    ) throws {
        let number = Self.number.withLock { number in
            number += 1
            return number
        }
        self.brokers = brokers
        self.configuration = JetStreamJournal.Configuration(
            servers: brokers.servers,
            systemServers: brokers.systemServers,
            cluster: "test-\(number)",
            partitions: partitions,
            replicas: replicas,
            limits: limits,
            streamBytesMax: streamBytesMax,
            cacheBytesMax: 8_000 * partitions,
            patienceMilliseconds: patienceMilliseconds
        )
        self.own = try Self.open(self.configuration)
    }

    deinit { self.own.close() }

    /// Opens a log; brokers that have just begun are waited for.
    static func open(_ configuration: JetStreamJournal.Configuration) throws -> JetStreamJournal {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do throws(JournalError) {
                return try JetStreamJournal(configuration: configuration, clock: Self.now)
            } catch {
                guard error.code == .unavailable, ContinuousClock.now < end else { throw error }
            }
        }
    }

    static let now: @Sendable () -> Instant = { Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    func reopen() throws {
        self.own.close()
        self.own = try Self.open(self.configuration)
    }
}
