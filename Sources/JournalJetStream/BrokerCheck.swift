#if JetStream
import Clustering
import FoundationEssentials
import Journaling

/// Whether brokers keep the messages that they say are stored.
enum BrokerCheck {
    /// The oldest version whose brokers can write to the disk before they answer, and check the stream's end that a message expects.
    static let oldest = (major: 2, minor: 12)
    private static let waitMilliseconds = 500

    private struct Answer: Decodable {
        struct Server: Decodable {
            let name: String
            let ver: String
        }
        struct Values: Decodable {
            struct Config: Decodable {
                let sync_always: Bool?
            }
            let config: Config?
            let disabled: Bool?
        }
        let server: Server
        let data: Values?
    }

    /// Asks every broker that answers how it is configured.
    ///
    /// - Parameter access: With a user of the system account: brokers tell no other user.
    /// - Throws: `.formatMismatch` with the broker and what to change, `.unavailable` if none answers; else as
    ///   ``BrokerAccess/connect()``.
    static func check(_ access: BrokerAccess) throws(JournalError) {
        let broker = try Broker(access)
        let answers = try broker.askAll("$SYS.REQ.SERVER.PING.JSZ", waitMilliseconds: Self.waitMilliseconds)
        guard !answers.isEmpty else {
            throw JournalError(
                .unavailable,
                "no broker shows its configuration; check that the user belongs to the system account"
            )
        }
        for answer in answers { try Self.check(answer) }
    }

    /// The brokers that answer, by name.
    static func brokers(_ broker: Broker, waitMilliseconds: Int) -> [BrokersView.Broker] {
        let answers = try? broker.askAll("$SYS.REQ.SERVER.PING.JSZ", waitMilliseconds: waitMilliseconds)
        return (answers ?? []).compactMap { Self.broker($0) }.sorted { $0.name < $1.name }
    }

    /// The broker of an answer, judged as at a start; nil if the answer is not one.
    static func broker(_ answer: [UInt8]) -> BrokersView.Broker? {
        guard let server = try? JSONDecoder().decode(Answer.self, from: Data(answer)).server else { return nil }
        var fault: String?
        do throws(JournalError) { try Self.check(answer) } catch { fault = error.message }
        return BrokersView.Broker(name: server.name, version: server.ver, fault: fault)
    }

    /// Judges one broker's answer.
    static func check(_ answer: [UInt8]) throws(JournalError) {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(answer)) else {
            throw JournalError(.formatMismatch, "a broker does not show its configuration")
        }
        let name = answer.server.name
        let parts = answer.server.ver.split(separator: ".").prefix(2).map { Int($0) ?? 0 }
        let version = (major: parts.first ?? 0, minor: parts.count > 1 ? parts[1] : 0)
        guard version >= Self.oldest else {
            throw JournalError(
                .formatMismatch,
                "broker \(name) is nats-server \(answer.server.ver): it must be 2.12 or newer"
            )
        }
        guard answer.data?.disabled != true, let config = answer.data?.config else {
            throw JournalError(.formatMismatch, "broker \(name) has no JetStream: give it a `jetstream` block")
        }
        guard config.sync_always == true else {
            throw JournalError(
                .formatMismatch,
                "broker \(name) answers before it has written to the disk, and could lose accepted pushes: set "
                    + "`sync_interval: always` in its `jetstream` block"
            )
        }
    }
}
#endif
