import TestSupport
import Testing

@testable import IntentMatching

@Suite struct CandidateListsTests {
    /// The contents of a key's list: expressions, and the rest of each.
    typealias Model = [UInt32: [UInt32: [UInt32]]]

    static func contents(_ lists: borrowing CandidateLists, _ key: UInt32) -> [UInt32: [UInt32]] {
        var contents: [UInt32: [UInt32]] = [:]
        lists.forEachSpan(of: key) { words in
            var index = 0
            while index < words.count {
                let end = index + 2 + ConditionProgram.restLength(words[index + 1])
                let rest = (index + 1..<end).map { words[$0] }
                #expect(contents.updateValue(rest, forKey: words[index]) == nil, "\(words[index]) is there twice")
                index = end
            }
        }
        return contents
    }

    static func rest(_ length: Int, _ dice: inout Dice) -> [UInt32] {
        [ConditionProgram.all(length)] + (0..<length).map { _ in UInt32(dice.below(1000)) }
    }

    @Test(arguments: UInt64(1)..<5)
    func `lists hold what was added and not removed, from one entry to many chunks and back`(seed: UInt64) {
        var dice = Dice(random: SplitMix64(seed: seed))
        var lists = CandidateLists()
        var model: Model = [:]
        var chunksMax = 0
        for step in 0..<6000 {
            // Grows for a while, then shrinks to nothing.
            let grows = dice.below(10) < (step < 3000 ? 8 : 2)
            let key = UInt32(dice.below(4) < 3 ? 0 : 1 + dice.below(40))
            if grows {
                // Every third is on several lists.
                let number = UInt32(step)
                let entry = step.isMultiple(of: 3) ? number | CandidateLists.sharedFlag : number
                let isLarge = dice.below(8) == 0
                let rest = Self.rest(dice.below(isLarge ? ConditionProgram.restMax + 1 : 5), &dice)
                let keys = step.isMultiple(of: 3) ? [key, key + 1] : [key]
                for key in keys {
                    lists.insert(entry, rest.span, key)
                    model[key, default: [:]][entry] = rest
                }
            } else if let entry = model[key]?.keys.sorted().randomElement(using: &dice.random) {
                lists.remove(entry, key)
                model[key]?[entry] = nil
            }
            guard step.isMultiple(of: 100) else { continue }
            var chunks = 0
            lists.forEachSpan(of: 0) { _ in chunks += 1 }
            chunksMax = max(chunksMax, chunks)
            #expect(lists.checkInvariants() == [], "seed \(seed), step \(step)")
            for key in 0..<42 as Range<UInt32> {
                #expect(Self.contents(lists, key) == model[key] ?? [:], "seed \(seed), step \(step), key \(key)")
            }
        }
        #expect(chunksMax > 4, "seed \(seed)")
        for (key, entries) in model {
            for entry in entries.keys { lists.remove(entry, key) }
            #expect(Self.contents(lists, key).isEmpty, "seed \(seed)")
        }
        #expect(lists.checkInvariants() == [], "seed \(seed)")
    }

    @Test func `a list is long from one word more than a chunk has, and tells how long it is`() {
        var lists = CandidateLists()
        #expect(lists.wordCount(of: 7) == 0)
        // Entries of eight words, and the chunk's own one.
        let rest: [UInt32] = [ConditionProgram.all(6), 1, 2, 3, 4, 5, 6]
        let full = (CandidateLists.chunkMax - 1) / 8
        for entry in 0..<UInt32(full) { lists.insert(entry, rest.span, 7) }
        #expect(lists.wordCount(of: 7) == full * 8)
        func chunks() -> Int {
            var chunks = 0
            lists.forEachSpan(of: 7) { _ in chunks += 1 }
            return chunks
        }
        #expect(chunks() == 1)
        // Seven words are left; with two, five and then three.
        lists.insert(1000, [ConditionProgram.all(5), 1, 2, 3, 4, 5].span, 7)
        #expect(chunks() == 1)
        #expect(lists.wordCount(of: 7) == CandidateLists.chunkMax - 1)
        lists.insert(1001, [ConditionProgram.all(0)].span, 7)
        #expect(chunks() == 2)
        #expect(lists.wordCount(of: 7) == CandidateLists.chunkMax)
        lists.remove(1000, 7)
        #expect(chunks() == 1, "what fits one chunk is one")
        #expect(lists.checkInvariants() == [])
    }
}
