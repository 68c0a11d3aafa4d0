#if JetStream
import FoundationEssentials
import Journaling

/// How a stream is made, in the words of NATS's own requests: the library has no word for where a stream begins.
struct StreamSettings: Encodable {
    let name: String
    let description: String
    let subjects: [String]
    let numReplicas: Int
    let maxBytes: Int
    /// -1 for any number.
    let maxMsgsPerSubject: Int
    let firstSeq: UInt64
    let storage = "file"
    let discard = "new"
    let maxMsgSize = 1_048_576
    /// Some reads lead to decisions, and must come from the leader.
    let allowDirect = false
}

extension Broker {
    private static let waitMilliseconds = 5000
    /// There is no such stream.
    private static let notFound = 10059
    /// What to do about an error.
    private static let hints = [
        10005: """
        . Fewer brokers answer than journal.jetstream.replicas, or they have too little room: each keeps maxStreamBytes for \
        every stream, and may use three quarters of its free disk unless its max_file_store says more. Start the others, \
        lower journal.jetstream.maxStreamBytes, or enlarge the disks
        """
    ]

    private struct Answer: Decodable {
        struct Fault: Decodable {
            let errCode: Int
            let description: String
        }
        let error: Fault?
    }

    /// Makes a stream, unless there is one that is configured like this.
    func addStream(_ settings: StreamSettings) throws(JournalError) {
        let action = "making of the stream \(settings.name)"
        do {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            let body = Array(try encoder.encode(settings))
            try self.request("CREATE.\(settings.name)", body, action)
        } catch let error as JournalError {
            throw error
        } catch {
            throw JournalError(.invalid, "\(action): \(error)")
        }
    }

    /// Removes a stream with all that it has; nothing happens where there is none.
    func removeStream(_ name: String) throws(JournalError) {
        try self.request("DELETE.\(name)", [], "removal of the stream \(name)", unless: Self.notFound)
    }

    /// - Parameter harmless: An error that is none here.
    private func request(_ subject: String, _ body: [UInt8], _ action: String, unless harmless: Int? = nil)
        throws(JournalError)
    {
        let bytes = self.ask("$JS.API.STREAM.\(subject)", body, waitMilliseconds: Self.waitMilliseconds)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let answer = bytes.flatMap({ try? decoder.decode(Answer.self, from: Data($0)) }) else {
            throw JournalError(.unavailable, "\(action): no broker answers")
        }
        guard let fault = answer.error, fault.errCode != harmless else { return }
        throw JournalError(
            Self.final(fault.errCode) ?? .unavailable,
            "\(action): \(fault.description) (JetStream error \(fault.errCode))\(Self.hints[fault.errCode] ?? "")"
        )
    }
}
#endif
