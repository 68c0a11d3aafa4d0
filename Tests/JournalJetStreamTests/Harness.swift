#if JetStream
import BrokerSupport
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
    convenience init(
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
        var configuration = try Self.configuration(brokers, cluster: "test-\(number)", partitions: partitions)
        configuration.replicas = replicas
        configuration.limits = limits
        configuration.streamBytesMax = streamBytesMax
        configuration.cacheBytesMax = 8_000 * partitions
        configuration.patienceMilliseconds = patienceMilliseconds
        try self.init(brokers, configuration)
    }

    init(_ brokers: Brokers, _ configuration: JetStreamJournal.Configuration) throws {
        self.brokers = brokers
        self.configuration = configuration
        self.own = try Self.open(configuration)
    }

    /// A log on one broker, by the users that brokers of tests have.
    static func configuration(_ brokers: Brokers, cluster: String, partitions: Int) throws
        -> JetStreamJournal.Configuration
    {
        let files = try brokers.passwordFiles()
        return JetStreamJournal.Configuration(
            access: BrokerAccess(
                servers: brokers.servers,
                credentials: .password(user: Brokers.user.name, file: files.user)
            ),
            systemCredentials: .password(user: Brokers.systemUser.name, file: files.systemUser),
            cluster: cluster,
            partitions: partitions,
            replicas: 1,
            streamBytesMax: 40_000_000
        )
    }

    deinit { self.own.close() }

    /// Opens a log; brokers that have just begun are waited for.
    static func open(_ configuration: JetStreamJournal.Configuration) throws -> JetStreamJournal {
        let end = ContinuousClock.now + .seconds(600)
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
#endif
