package import Journaling

/// How far a reader is in one partition's effects. It is the same on every node.
package struct EffectPlace: Hashable, Comparable, Sendable {
    /// The output that the next effect is in, or comes behind.
    package let output: OutputPosition
    /// How many effects of that output are behind it.
    package let effects: UInt32

    package init(_ output: OutputPosition, effects: UInt32 = 0) {
        (self.output, self.effects) = (output, effects)
    }

    /// Before everything.
    package static let start = EffectPlace(OutputPosition(0))

    /// Behind an effect of an output.
    ///
    /// - Parameters:
    ///   - index: Which effect.
    ///   - count: How many the output has. The place behind the last one is the one before the next output.
    package init(behind index: Int, of count: Int, in output: OutputPosition) {
        self = index + 1 < count ? EffectPlace(output, effects: UInt32(index) + 1) : EffectPlace(output.next)
    }

    package static func < (left: EffectPlace, right: EffectPlace) -> Bool {
        (left.output, left.effects) < (right.output, right.effects)
    }
}
