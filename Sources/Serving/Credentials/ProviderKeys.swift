import Synchronization
package import TLS
package import WidgetModel

/// The provider keys that are in force, for all event loops; replaced whole while the gateway runs.
package final class ProviderKeys: Sendable {
    /// A provider key of a team.
    package struct Key: Sendable {
        package let sender: Sender
        package let publicKey: ES256PublicKey

        package init(sender: Sender, publicKey: ES256PublicKey) {
            self.sender = sender
            self.publicKey = publicKey
        }
    }

    private struct State {
        var keys: [KeyID: Key]
        /// Why the files as they are now were not taken; nil if they were.
        var refusal: String?
    }

    private let state: Mutex<State>
    private let number = Atomic<UInt64>(1)

    package init(_ keys: [Key]) {
        self.state = Mutex(State(keys: Self.table(keys)))
    }

    /// Grows with every change: a token that was verified under a lower one has to be verified again. Never 0.
    package var generation: UInt64 { self.number.load(ordering: .acquiring) }

    /// How many there are.
    package var count: Int { self.state.withLock { $0.keys.count } }

    /// Why the files as they are now were not taken; nil if they were.
    package var refusal: String? { self.state.withLock { $0.refusal } }

    package func key(_ id: KeyID) -> Key? { self.state.withLock { $0.keys[id] } }

    /// Puts other keys in force.
    ///
    /// - Throws: Why `read` gave none; those before stay.
    package func replace(_ read: () throws(TLSError) -> [Key]) throws(TLSError) {
        do {
            let keys = Self.table(try read())
            self.state.withLock { $0 = State(keys: keys) }
            self.number.add(1, ordering: .acquiringAndReleasing)
        } catch {
            self.state.withLock { $0.refusal = "\(error)" }
            throw error
        }
    }

    private static func table(_ keys: [Key]) -> [KeyID: Key] {
        var table: [KeyID: Key] = [:]
        for key in keys { if let id = key.sender.keyID { table[id] = key } }
        return table
    }
}
