#if JetStream
import CNATS
import Journaling

extension Broker {
    /// A message that nothing stores.
    struct Told {
        let bytes: [UInt8]
        let subject: String
        /// Where an answer is waited for.
        let reply: String?
        /// Whether it says that none listens where something was asked; the subject is the one for answers.
        let isUnheard: Bool
    }

    /// Receives the messages that are published to a subject from now on, also by this connection.
    func listen(to subject: String) throws(JournalError) -> Listening {
        let box = WorkBox<Told>(max: Listening.waitingMax)
        var subscription: OpaquePointer?
        // Sound: the box is retained for the library, which lets go of it when it calls for the last time.
        let closure = unsafe Unmanaged.passRetained(box)
        var status = unsafe natsConnection_Subscribe(
            &subscription,
            self.connection,
            subject,
            { unsafe Listening.takeMessage($2, $3) },
            closure.toOpaque()
        )
        guard status == NATS_OK, let subscription = unsafe subscription else {
            unsafe closure.release()
            throw JournalError(.unavailable, "subscription to \(subject): \(Self.text(status))")
        }
        status = unsafe natsSubscription_SetOnCompleteCB(
            subscription,
            { unsafe Listening.letGo($0) },
            closure.toOpaque()
        )
        precondition(status == NATS_OK, "a subscription that was made calls back")
        // Once the broker has answered, it has the subscription.
        _ = unsafe natsConnection_FlushTimeout(self.connection, 2_000)
        return unsafe Listening(subscription, of: self, box)
    }

    /// Messages that nothing stores, as they come. One thread at a time.
    ///
    /// The library puts them in by a thread of its own. A thread that asks it for the next message is told that none listens where
    /// something was asked, but not where.
    @safe
    final class Listening {
        /// How many messages wait to be taken; more are lost, as on their way.
        fileprivate static let waitingMax = 65_536

        // Sound: ended with this; the connection lives at least as long.
        private let subscription: OpaquePointer
        private let broker: Broker
        private let box: WorkBox<Told>

        fileprivate init(_ subscription: OpaquePointer, of broker: Broker, _ box: WorkBox<Told>) {
            unsafe self.subscription = subscription
            self.broker = broker
            self.box = box
        }

        deinit { unsafe self.broker.end(self.subscription) }

        /// The messages that have come; waits a while if there are none.
        func next(waitMilliseconds: Int) -> [Told] { self.box.next(waitMilliseconds: waitMilliseconds) }

        fileprivate static func letGo(_ closure: UnsafeMutableRawPointer?) {
            guard let closure = unsafe closure else { return }
            // Sound: the library calls this once, and nothing behind it.
            unsafe Unmanaged<WorkBox<Told>>.fromOpaque(closure).release()
        }

        fileprivate static func takeMessage(_ message: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
            guard let message = unsafe message, let closure = unsafe closure else { return }
            // Sound: the library made it, its strings live as long as it, and they are copied.
            defer { unsafe natsMsg_Destroy(message) }
            let told = unsafe Told(
                bytes: Broker.bytes(of: message),
                subject: natsMsg_GetSubject(message).map { unsafe String(cString: $0) } ?? "",
                reply: natsMsg_GetReply(message).map { unsafe String(cString: $0) },
                isUnheard: natsMsg_IsNoResponders(message)
            )
            // Sound: the library does not call any more when it has let go of the box.
            _ = unsafe Unmanaged<WorkBox<Told>>.fromOpaque(closure).takeUnretainedValue().add(told)
        }
    }
}
#endif
