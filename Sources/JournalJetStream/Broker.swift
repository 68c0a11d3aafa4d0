#if JetStream
import CNATS
import Glibc
import JournalStreams
import Journaling
import WidgetModel

/// A connection to the brokers, which the library makes again when it is lost. All methods wait for an answer: for threads
/// that may. Any thread.
@safe
final class Broker: @unchecked Sendable {
    // Sound: the library's objects may be used by any thread at once; these two are set once and destroyed with the last
    // reference.
    let connection: OpaquePointer
    private let jetStream: OpaquePointer

    /// - Throws: As ``BrokerAccess/connect()``.
    init(_ access: BrokerAccess) throws(JournalError) {
        let made = try unsafe access.connect()
        var jetStream: OpaquePointer?
        guard unsafe natsConnection_JetStream(&jetStream, made, nil) == NATS_OK, let context = unsafe jetStream else {
            unsafe natsConnection_Destroy(made)
            throw JournalError(.unavailable, "the brokers' JetStream cannot be used")
        }
        unsafe self.connection = made
        unsafe self.jetStream = context
    }

    deinit {
        unsafe jsCtx_Destroy(self.jetStream)
        unsafe natsConnection_Destroy(self.connection)
    }

    static func text(_ status: natsStatus, _ error: jsErrCode = jsErrCode(rawValue: 0)) -> String {
        guard error.rawValue != 0 else { return unsafe String(cString: natsStatus_GetText(status)) }
        // Sound: the library keeps the text until the thread's next call, and it is copied.
        let said = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) }
        return "\(said ?? "error") (JetStream error \(error.rawValue))"
    }

    /// The error of a failed call. One that is not known to be final may be over by itself, as an election is.
    private static func failure(_ status: natsStatus, _ error: jsErrCode, _ action: String) -> JournalError {
        JournalError(Self.final(error) ?? .unavailable, "\(action): \(Self.text(status, error))")
    }

    /// The code of an error that the brokers will answer again; nil for any other.
    private static func final(_ error: jsErrCode) -> JournalError.Code? { Self.final(Int(error.rawValue)) }

    static func final(_ error: Int) -> JournalError.Code? {
        switch error {
        // Memory, storage and streams of the account, storage of the brokers.
        case 10023, 10026, 10028, 10047: .full
        // A message or a request that is against the stream's settings; more replicas than brokers.
        case 10052, 10054, 10058, 10065, 10074: .invalid
        default: nil
        }
    }
}

// MARK: - Streams

extension Broker {
    /// Where a stream begins and ends, as its leader says; nil if there is no such stream.
    func ends(of stream: String) throws(JournalError) -> StreamEnds? {
        guard let info = try unsafe self.info(stream, filter: nil) else { return nil }
        // Sound: the library made it, and it is not used any more.
        defer { unsafe jsStreamInfo_Destroy(info) }
        let state = unsafe info.pointee.State
        let description = unsafe info.pointee.Config.pointee.Description.map { unsafe String(cString: $0) }
        let bytesMax = unsafe Int(info.pointee.Config.pointee.MaxBytes)
        return unsafe StreamEnds(
            first: max(1, state.FirstSeq),
            last: state.LastSeq,
            bytes: Int(clamping: state.Bytes),
            bytesMax: bytesMax > 0 ? bytesMax : nil,
            description: description ?? ""
        )
    }

    /// The subjects of a stream that a filter lets through, in no order.
    func subjects(of stream: String, like filter: String) throws(JournalError) -> [String] {
        guard let info = try unsafe self.info(stream, filter: filter) else { return [] }
        defer { unsafe jsStreamInfo_Destroy(info) }
        guard let list = unsafe info.pointee.State.Subjects else { return [] }
        var subjects: [String] = []
        for index in 0..<Int(unsafe list.pointee.Count) {
            // Sound: the list has so many, and each is a string of the library's.
            unsafe subjects.append(String(cString: list.pointee.List[index].Subject))
        }
        return subjects
    }

    private func info(_ stream: String, filter: String?) throws(JournalError) -> UnsafeMutablePointer<jsStreamInfo>? {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var error = jsErrCode(rawValue: 0)
        let status = unsafe freshet_js_info(&info, self.jetStream, stream, filter, &error)
        if status == NATS_NOT_FOUND { return nil }
        guard status == NATS_OK else { throw Self.failure(status, error, "question for the stream \(stream)") }
        return unsafe info
    }

    /// Removes messages: those before a sequence, those of a subject, or those that are both.
    func purge(_ stream: String, subject: String? = nil, before sequence: UInt64 = 0) throws(JournalError) {
        var error = jsErrCode(rawValue: 0)
        let status = unsafe freshet_js_purge(self.jetStream, stream, subject, sequence, &error)
        guard status == NATS_OK else { throw Self.failure(status, error, "removal from the stream \(stream)") }
    }
}

// MARK: - Messages

extension Broker {
    /// Publishes a message if the stream ends as expected, and waits until it is durable.
    func publish(_ bytes: [UInt8], to subject: String, _ expectation: Expectation, waitMilliseconds: Int)
        -> PublishOutcome
    {
        var sequence: UInt64 = 0
        var error = jsErrCode(rawValue: 0)
        let (kind, expected): (Int, UInt64) =
            switch expectation {
            case .nothing: (Int(freshet_expect_nothing), 0)
            case .lastOfSubject(let last): (Int(freshet_expect_last_of_subject), last)
            case .lastOfStream(let last): (Int(freshet_expect_last_of_stream), last)
            }
        let status = unsafe bytes.withUnsafeBytes { buffer in
            unsafe freshet_js_publish(
                self.jetStream,
                subject,
                buffer.baseAddress,
                Int32(buffer.count),
                Int32(kind),
                expected,
                Int64(waitMilliseconds),
                &sequence,
                &error
            )
        }
        if status == NATS_OK { return .stored(sequence) }
        let text = Self.text(status, error)
        if error.rawValue == 10071 || error.rawValue == 10164 { return .otherEnd }
        if let code = Self.final(error) { return .refused(JournalError(code, "append to \(subject): \(text)")) }
        // One error stands for all that a store can say.
        if error.rawValue == 10077, text.contains("maximum bytes") {
            return .refused(JournalError(.full, "append to \(subject): \(text)"))
        }
        return status == NATS_NO_RESPONDERS ? .notTaken(text) : .unknown(text)
    }

    /// The newest message of a subject, as the stream's leader has it; nil if there is none.
    func newest(in stream: String, of subject: String) throws(JournalError) -> StoredMessage? {
        var message: OpaquePointer?
        var error = jsErrCode(rawValue: 0)
        let status = unsafe js_GetLastMsg(&message, self.jetStream, stream, subject, nil, &error)
        return try unsafe self.taken(message, status, error, stream)
    }

    /// The message with a sequence; nil if there is none.
    func message(_ sequence: UInt64, in stream: String) throws(JournalError) -> StoredMessage? {
        var message: OpaquePointer?
        var error = jsErrCode(rawValue: 0)
        let status = unsafe js_GetMsg(&message, self.jetStream, stream, sequence, nil, &error)
        return try unsafe self.taken(message, status, error, stream)
    }

    private func taken(_ message: OpaquePointer?, _ status: natsStatus, _ error: jsErrCode, _ stream: String)
        throws(JournalError) -> StoredMessage?
    {
        // 10037: no message found.
        if status == NATS_NOT_FOUND || error.rawValue == 10037 { return nil }
        guard status == NATS_OK, let message = unsafe message else {
            throw Self.failure(status, error, "read of the stream \(stream)")
        }
        defer { unsafe natsMsg_Destroy(message) }
        return unsafe StoredMessage(
            sequence: natsMsg_GetSequence(message),
            stamp: Instant(milliseconds: natsMsg_GetTime(message) / 1_000_000),
            bytes: Self.bytes(of: message)
        )
    }

    static func bytes(of message: OpaquePointer) -> [UInt8] {
        let count = unsafe Int(natsMsg_GetDataLength(message))
        guard count > 0, let data = unsafe natsMsg_GetData(message) else { return [] }
        // Sound: the message has so many bytes, and they are copied before it is destroyed.
        return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
    }

    /// The messages of a stream from one on, in order.
    func follow(_ stream: String, _ subject: String, from first: UInt64) throws(JournalError) -> Following {
        var subscription: OpaquePointer?
        var error = jsErrCode(rawValue: 0)
        let status = unsafe freshet_js_follow(&subscription, self.jetStream, stream, subject, max(1, first), &error)
        guard status == NATS_OK, let subscription = unsafe subscription else {
            throw Self.failure(status, error, "read of the stream \(stream)")
        }
        return unsafe Following(subscription, of: self)
    }

    /// Ends a subscription.
    ///
    /// The thread of libnats 3.4 that reads from the brokers goes on with one that is destroyed while a message for it comes in
    /// (issue 637 of nats.c). Once brokers have answered behind the end of it, none comes any more.
    func end(_ subscription: OpaquePointer) {
        unsafe natsSubscription_Unsubscribe(subscription)
        // Without an answer a message may be on its way: a subscription that stays in memory harms less than one that
        // is freed too early.
        guard unsafe natsConnection_FlushTimeout(self.connection, 5_000) == NATS_OK else { return }
        unsafe natsSubscription_Destroy(subscription)
    }

    /// Asks all brokers a question, and returns their answers within a while.
    func askAll(_ subject: String, waitMilliseconds: Int) throws(JournalError) -> [[UInt8]] {
        var subscription: OpaquePointer?
        let inbox = "_INBOX.freshet.\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
        var status = unsafe natsConnection_SubscribeSync(&subscription, self.connection, inbox)
        if status == NATS_OK {
            status = unsafe natsConnection_PublishRequest(self.connection, subject, inbox, nil, 0)
        }
        guard status == NATS_OK, let subscription = unsafe subscription else {
            throw JournalError(.unavailable, "question \(subject): \(Self.text(status))")
        }
        defer { unsafe self.end(subscription) }
        var answers: [[UInt8]] = []
        var message: OpaquePointer?
        while unsafe natsSubscription_NextMsg(&message, subscription, Int64(waitMilliseconds)) == NATS_OK,
            let answer = unsafe message
        {
            unsafe answers.append(Self.bytes(of: answer))
            unsafe natsMsg_Destroy(answer)
            unsafe message = nil
        }
        return answers
    }

    /// The first answer to a question; nil if none came in time.
    func ask(_ subject: String, _ body: [UInt8], waitMilliseconds: Int) -> [UInt8]? {
        var message: OpaquePointer?
        let status = unsafe body.withUnsafeBytes { buffer in
            unsafe natsConnection_Request(
                &message,
                self.connection,
                subject,
                buffer.baseAddress,
                Int32(buffer.count),
                Int64(waitMilliseconds)
            )
        }
        guard status == NATS_OK, let message = unsafe message else { return nil }
        defer { unsafe natsMsg_Destroy(message) }
        return unsafe Self.bytes(of: message)
    }

    /// The address of the broker that this is connected to; empty for none.
    var connectedURL: String {
        var buffer = [CChar](repeating: 0, count: 512)
        guard unsafe natsConnection_GetConnectedUrl(self.connection, &buffer, buffer.count) == NATS_OK else {
            return ""
        }
        return Self.address(String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The addresses of the brokers that are known.
    var servers: [String] {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        var count: Int32 = 0
        guard unsafe natsConnection_GetServers(self.connection, &list, &count) == NATS_OK, let list = unsafe list else {
            return []
        }
        // Sound: the library made the list and so many texts in it, and leaves freeing them to the caller.
        defer { unsafe free(list) }
        return (0..<Int(count)).compactMap { index in
            guard let text = unsafe list[index] else { return nil }
            defer { unsafe free(text) }
            return Self.address(unsafe String(cString: text))
        }
    }

    /// An address without the secret that it may have.
    private static func address(_ url: String) -> String {
        guard let at = url.lastIndex(of: "@"), let slashes = url.firstRange(of: "://") else { return url }
        return String(url[..<slashes.upperBound] + url[url.index(after: at)...])
    }

    /// Publishes a message that nothing stores: a listener gets it, or not. Does not wait.
    func tell(_ bytes: [UInt8], to subject: String) {
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe natsConnection_Publish(self.connection, subject, buffer.baseAddress, Int32(buffer.count))
        }
    }

    /// Publishes a message that nothing stores, with the subject for answers to it. Does not wait.
    ///
    /// - Returns: Whether it may get there.
    func ask(_ bytes: [UInt8], of subject: String, answerTo answer: String) -> Bool {
        let status = unsafe bytes.withUnsafeBytes { buffer in
            unsafe natsConnection_PublishRequest(
                self.connection,
                subject,
                answer,
                buffer.baseAddress,
                Int32(buffer.count)
            )
        }
        return status == NATS_OK
    }

    /// Messages of a stream, as they come. One thread at a time.
    @safe
    final class Following {
        enum Next {
            case message(StoredMessage)
            /// None came in time.
            case nothing
            /// The consumer is gone.
            case lost(String)
        }

        // Sound: ended with this; the connection lives at least as long.
        private let subscription: OpaquePointer
        private let broker: Broker

        fileprivate init(_ subscription: OpaquePointer, of broker: Broker) {
            unsafe self.subscription = subscription
            self.broker = broker
        }

        deinit { unsafe self.broker.end(self.subscription) }

        func next(waitMilliseconds: Int) -> Next {
            var message: OpaquePointer?
            let status = unsafe natsSubscription_NextMsg(&message, self.subscription, Int64(waitMilliseconds))
            if status == NATS_TIMEOUT { return .nothing }
            guard status == NATS_OK, let message = unsafe message else { return .lost(Broker.text(status)) }
            defer { unsafe natsMsg_Destroy(message) }
            var sequence: UInt64 = 0
            var time: Int64 = 0
            guard unsafe freshet_msg_place(message, &sequence, &time) == NATS_OK else { return .lost("no message") }
            return .message(
                StoredMessage(
                    sequence: sequence,
                    stamp: Instant(milliseconds: time / 1_000_000),
                    bytes: unsafe Broker.bytes(of: message)
                )
            )
        }
    }
}
#endif
