import Synchronization
package import WidgetModel

/// The kinds of an app that pushes were accepted for since they were taken last. Lock-free; one for all event loops.
package final class PushedKinds: Sendable {
    /// Some kinds of one app.
    ///
    /// A bit for each hash of a kind's name: kinds that share one are in it together, which costs a question that need not have
    /// been asked. None that was put in is ever missed.
    package struct Kinds: Hashable, Sendable {
        fileprivate var bits: UInt64

        fileprivate init(bits: UInt64) {
            self.bits = bits
        }

        /// - Parameter kind: Nil for all kinds.
        package init(_ kind: WidgetKind?) {
            self.bits = kind.map { Self.bit(of: $0) } ?? .max
        }

        package var isEmpty: Bool { self.bits == 0 }

        package func contains(_ kind: WidgetKind) -> Bool { self.bits & Self.bit(of: kind) != 0 }

        package mutating func formUnion(_ other: Kinds) { self.bits |= other.bits }

        private static func bit(of kind: WidgetKind) -> UInt64 { 1 << (StableHash.of(kind.rawValue) & 63) }
    }

    private let bits = Atomic<UInt64>(0)

    package init() {}

    package func note(_ kinds: Kinds) {
        // Nearly always they are set already: a mere read leaves the cache line to the other processors, too.
        guard self.bits.load(ordering: .relaxed) & kinds.bits != kinds.bits else { return }
        self.bits.bitwiseOr(kinds.bits, ordering: .relaxed)
    }

    /// - Parameter kind: Nil for all kinds.
    package func note(_ kind: WidgetKind?) { self.note(Kinds(kind)) }

    /// The kinds that were noted since the last call.
    package func take() -> Kinds { Kinds(bits: self.bits.exchange(0, ordering: .relaxed)) }
}
