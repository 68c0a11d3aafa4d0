import Synchronization
package import WidgetModel

/// The kinds of an app that pushes were accepted for since they were taken last. Lock-free; one for all event loops.
package final class PushedKinds: Sendable {
    /// Some kinds of one app.
    ///
    /// A bit for each hash of a kind's name: kinds that share one are in it together, which costs a question that need not have
    /// been asked. None that was put in is ever missed.
    package struct Kinds: Hashable, Sendable, ByteCoded {
        fileprivate var bits: UInt64

        fileprivate init(bits: UInt64) {
            self.bits = bits
        }

        /// - Parameter kind: Nil for all kinds.
        package init(_ kind: WidgetKind?) {
            self.bits = kind.map { Self.bit(of: $0) } ?? .max
        }

        package init(from reader: inout ByteReader) throws(ByteError) { self.bits = try reader.readFixed64() }

        package func encode(into writer: inout ByteWriter) { writer.write(fixed64: self.bits) }

        package var isEmpty: Bool { self.bits == 0 }

        package func contains(_ kind: WidgetKind) -> Bool { self.bits & Self.bit(of: kind) != 0 }

        package mutating func formUnion(_ other: Kinds) { self.bits |= other.bits }

        private static func bit(of kind: WidgetKind) -> UInt64 { 1 << (StableHash.of(kind.rawValue) & 63) }
    }

    private let bits = Atomic<UInt64>(0)
    /// Those that other nodes have not been told of.
    private let untold = Atomic<UInt64>(0)

    package init() {}

    package func noteKinds(_ kinds: Kinds) {
        Self.add(kinds, to: self.bits)
        Self.add(kinds, to: self.untold)
    }

    /// Notes kinds that another node accepted pushes for.
    package func noteElsewhere(_ kinds: Kinds) { Self.add(kinds, to: self.bits) }

    private static func add(_ kinds: Kinds, to bits: borrowing Atomic<UInt64>) {
        // Nearly always they are set already: a mere read leaves the cache line to the other processors, too.
        guard bits.load(ordering: .relaxed) & kinds.bits != kinds.bits else { return }
        bits.bitwiseOr(kinds.bits, ordering: .relaxed)
    }

    /// - Parameter kind: Nil for all kinds.
    package func noteKind(_ kind: WidgetKind?) { self.noteKinds(Kinds(kind)) }

    /// The kinds that were noted since the last call.
    package func takeNoted() -> Kinds { Kinds(bits: self.bits.exchange(0, ordering: .relaxed)) }

    /// The kinds that this node has noted since the last call, for the others.
    package func takeUntold() -> Kinds { Kinds(bits: self.untold.exchange(0, ordering: .relaxed)) }
}
