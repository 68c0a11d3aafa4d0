#if JetStream
import BrokerSupport
import Clustering
import Journaling
import Testing

@testable import JournalJetStream

/// Brokers that would lose accepted submissions are refused, and the message names the change to make.
@Suite struct BrokerCheckTests {
    private static func answer(_ version: String, _ data: String) -> [UInt8] {
        Array(#"{"server":{"name":"n1","ver":"\#(version)"},"data":\#(data)}"#.utf8)
    }

    private static let good = #"{"config":{"sync_always":true}}"#

    @Test(arguments: ["2.12.0", "2.15.1", "3.0.0"])
    func `these versions are taken`(version: String) throws {
        try BrokerCheck.check(Self.answer(version, Self.good))
    }

    @Test(arguments: ["2.11.9", "2.9.10", "1.4.1", "", "x"])
    func `older ones are not`(version: String) {
        let error = #expect(throws: JournalError.self) { try BrokerCheck.check(Self.answer(version, Self.good)) }
        #expect(error?.code == .formatMismatch && error?.message.contains("2.12 or newer") == true)
    }

    @Test(arguments: [#"{"config":{}}"#, #"{"config":{"sync_always":false}}"#])
    func `a broker that answers before it has written is refused`(data: String) {
        let error = #expect(throws: JournalError.self) { try BrokerCheck.check(Self.answer("2.15.1", data)) }
        #expect(error?.message.contains("set `sync_interval: always`") == true)
    }

    @Test(arguments: [#"{"disabled":true}"#, "{}"])
    func `a broker without JetStream is refused`(data: String) {
        let error = #expect(throws: JournalError.self) { try BrokerCheck.check(Self.answer("2.15.1", data)) }
        #expect(error?.message.contains("has no JetStream") == true)
    }

    @Test func `later answers are judged as at the start`() {
        func fault(_ version: String, _ data: String) -> String? {
            BrokerCheck.broker(Self.answer(version, data))?.fault
        }
        #expect(BrokerCheck.broker(Self.answer("2.15.1", Self.good))?.version == "2.15.1")
        #expect(fault("2.15.1", Self.good) == nil)
        #expect(fault("2.11.9", Self.good)?.contains("2.12 or newer") == true)
        #expect(fault("2.15.1", #"{"config":{}}"#)?.contains("set `sync_interval: always`") == true)
        #expect(fault("2.15.1", #"{"disabled":true}"#)?.contains("has no JetStream") == true)
        #expect(BrokerCheck.broker(Array("{}".utf8)) == nil)
    }

    @Test(.enabled(if: Brokers.isThere, "make setup installs nats-server"))
    func `real ones are read back`() throws {
        func error(_ brokers: Brokers, cluster: String = "check", system: BrokerAccess.Credentials? = nil) throws
            -> JournalError?
        {
            var configuration = try Harness.configuration(brokers, cluster: cluster, partitions: 1)
            if let system { configuration.systemCredentials = system }
            do {
                try Harness.open(configuration).close()
                return nil
            } catch let error as JournalError {
                return error
            }
        }
        let lax = try Brokers(sync: "")
        #expect(try error(lax)?.message.contains("broker n0 answers before it has written") == true)
        let system = try Broker(Harness.configuration(lax, cluster: "check", partitions: 1).systemAccess)
        let seen = BrokerCheck.brokers(system, waitMilliseconds: 2000)
        #expect(seen.map(\.name) == ["n0"] && seen[0].fault?.contains("answers before it has written") == true)
        let bare = try Brokers(jetStream: false)
        #expect(try error(bare)?.message.contains("broker n0 has no JetStream") == true)
        let good = try Brokers()
        #expect(try error(good) == nil)
        #expect(try error(good, system: BrokerAccess.Credentials.none)?.code == .invalid)
        #expect(try error(good, cluster: "a b")?.code == .invalid)
        #expect(try error(good, cluster: "")?.code == .invalid)
    }
}
#endif
