import Engine
import Journaling
import WidgetModel

/// The effects of some entries on their way to the output log, cut so that no commit is large.
///
/// A push to a million widgets makes a hundred megabytes of effects. As one output they would be one commit, and whatever
/// is pushed meanwhile would wait for it. A chunk holds at most so many bytes, or one effect; the last one alone says that
/// the entries are done. A replay makes the same effects again in the same order, so the number of those that are in chunks
/// already (``OutputRecord/ahead``) is all that has to be known to go on.
struct OutputChunks {
    /// Effects that are in no chunk yet.
    private var effects: EffectQueue
    /// How many effects are in chunks.
    private var next = 0
    /// Effects of these entries that the output log held before the first of `effects`.
    private let ahead: Int
    private let before: OwnerCheckpoint
    private let end: OwnerCheckpoint
    private let bytesMax: Int
    private let rules: Int

    /// - Parameters:
    ///   - effects: The effects that are not in the output log yet.
    ///   - ahead: The number of effects of the same entries that are, from before a restart.
    ///   - before: The last complete output.
    ///   - end: The position and state after the effects.
    ///   - bytesMax: The most bytes of a chunk with more than one effect.
    ///   - rules: The version of the rules that decided.
    init(
        _ effects: EffectQueue,
        ahead: Int,
        from before: OwnerCheckpoint,
        to end: OwnerCheckpoint,
        bytesMax: Int,
        rules: Int
    ) {
        self.effects = effects
        self.ahead = ahead
        self.before = before
        self.end = end
        self.bytesMax = bytesMax
        self.rules = rules
    }

    /// How many effects are in no chunk yet.
    var remaining: Int { self.effects.count }

    /// Cuts the next chunk off; the last one has the rest. O(its bytes).
    mutating func cutNext() -> OutputChunk {
        var taken: [Effect] = []
        var writer = ByteWriter(reserving: min(128 * self.remaining, self.bytesMax))
        while let effect = self.effects.first {
            let size = writer.bytes.count
            effect.encode(into: &writer)
            if writer.bytes.count > self.bytesMax, !taken.isEmpty {
                writer.bytes.removeLast(writer.bytes.count - size)
                break
            }
            taken.append(self.effects.removeFirst())
        }
        self.next += taken.count
        let isLast = self.remaining == 0
        let reached = isLast ? self.end : self.before
        return OutputChunk(
            record: OutputRecord(
                through: reached.through,
                ahead: isLast ? 0 : UInt64(self.ahead + self.next),
                engineVersion: UInt32(self.rules),
                runningHash: reached.runningHash,
                effects: Self.counted(taken.count, writer.bytes)
            ),
            effects: taken
        )
    }

    /// How many of the effects of a replay the chunks of an unfinished output hold already: a replay gives the same effects in the same
    /// order. Nil if they hold others.
    static func ahead(in newest: OutputRecord, of effects: EffectQueue) -> Int? {
        guard newest.ahead > 0 else { return 0 }
        let effects = effects.all
        var reader = ByteReader(newest.effects)
        guard let ahead = Int(exactly: newest.ahead), let count = try? reader.readCount(), count <= ahead,
            ahead < effects.count, Self.pack(effects[(ahead - count)..<ahead]) == newest.effects
        else { return nil }
        return ahead
    }

    /// Effects as an output record holds them: a count, then each.
    static func pack(_ effects: ArraySlice<Effect>) -> [UInt8] {
        var writer = ByteWriter(reserving: 128 * effects.count)
        for effect in effects { effect.encode(into: &writer) }
        return Self.counted(effects.count, writer.bytes)
    }

    private static func counted(_ count: Int, _ encoded: [UInt8]) -> [UInt8] {
        // A count of so many takes no more than nine bytes.
        var writer = ByteWriter(reserving: encoded.count + 9)
        writer.write(count: count)
        writer.bytes.append(contentsOf: encoded)
        return writer.bytes
    }
}
