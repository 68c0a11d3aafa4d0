import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// Tokens in rows, and the lists of those of a host.
@Suite struct TokenTableTests {
    /// A token of so many bytes that begins with a number.
    private static func token(_ number: Int, bytes count: Int) -> DeviceToken {
        DeviceToken(bytes: (0..<count).map { $0 < 4 ? UInt8(truncatingIfNeeded: number >> (8 * $0)) : UInt8($0) })
    }

    private static func erase(_ erased: [DeviceToken], from tokens: inout TokenTable) {
        var erasure = tokens.erase(erased)
        var (isDone, units) = (false, 1)
        while !isDone {
            isDone = tokens.finish(&erasure, &units)
            units = 1
        }
    }

    /// Lengths around those of words and of the text that a row holds.
    private static let counts = [4, 7, 8, 9, 16, 31, 32, 33, 64, 100]

    @Test func `tokens of all lengths are found and read back`() {
        var tokens = TokenTable(seed: 1)
        let all = Self.counts.flatMap { count in (0..<20).map { Self.token($0, bytes: count) } }
        for (number, token) in all.enumerated() {
            tokens.bind(token, to: TokenTable.Binding(host: HostNumber(number), instance: .none))
        }
        #expect(tokens.boundCount == all.count)
        for (number, token) in all.enumerated() {
            #expect(tokens.binding(of: token) == TokenTable.Binding(host: HostNumber(number), instance: .none))
        }
        #expect(tokens.binding(of: Self.token(20, bytes: 32)) == nil)
        // Zeroes at the end are part of a token.
        #expect(tokens.binding(of: DeviceToken(bytes: Self.token(0, bytes: 7).bytes + [0])) == nil)
        #expect(tokens.binding(of: DeviceToken(bytes: [])) == nil)
    }

    @Test(arguments: counts) func `a host's tokens are in the order in which they were bound`(count: Int) {
        var tokens = TokenTable(seed: 2)
        var first = TokenNumber.none
        let all = (0..<4).map { Self.token($0, bytes: count) }
        for (number, token) in all.enumerated() {
            let slot = tokens.bind(token, to: TokenTable.Binding(host: 3, instance: .none))
            let environment = number.isMultiple(of: 2) ? PushEnvironment.production : .development
            tokens.append(slot, boundAt: Instant(seconds: Int64(number)), environment, to: &first)
        }
        #expect(tokens.tokens(from: first).map(\.token) == all)
        #expect(tokens.tokens(from: first).map(\.boundAt.seconds) == [0, 1, 2, 3])
        #expect(tokens.newest(from: first, in: .production).map { tokens.token($0) } == all[2])
        #expect(tokens.newest(from: first, in: .development).map { tokens.token($0) } == all[3])
        #expect(tokens.find(all[1], from: first).map { tokens.boundAt($0) } == Instant(seconds: 1))
        // In the middle, at the end, at the beginning, and one that is not there.
        for (index, left) in [(1, [0, 2, 3]), (3, [0, 2]), (3, [0, 2]), (0, [2])] {
            tokens.unlink(all[index], from: &first)
            #expect(tokens.tokens(from: first).map(\.token) == left.map { all[$0] })
            #expect(tokens.count(from: first) == left.count)
            #expect(tokens.find(all[index], from: first) == nil)
        }
        tokens.unlink(all[2], from: &first)
        #expect(first.isNone)
        #expect(tokens.newest(from: first, in: .production) == nil)
    }

    @Test func `the date of a token is exact until the year 10889, and held at the ends`() {
        let last = ShortInstant.last
        let early: [Int64] = [0, 1, 65_535, 65_536, 1 << 32 - 1, 1 << 32, 1_793_638_800_123]
        for instant in early.map(Instant.init(milliseconds:)) + [last - .milliseconds(1), last] {
            #expect(ShortInstant(instant).instant == instant)
        }
        #expect(ShortInstant(last + .milliseconds(1)).instant == last)
        #expect(ShortInstant(.distantFuture).instant == last)
        #expect(ShortInstant(Instant(milliseconds: -1)).instant == .epoch)
    }

    @Test func `a token of a control is bound to it, and to a host again when that registers it`() {
        var tokens = TokenTable(seed: 5)
        let token = Self.token(1, bytes: 32)
        tokens.bind(token, to: TokenTable.Binding(host: 3, instance: 7))
        #expect(tokens.binding(of: token) == TokenTable.Binding(host: 3, instance: 7))
        tokens.bind(token, to: TokenTable.Binding(host: 4, instance: .none))
        #expect(tokens.binding(of: token) == TokenTable.Binding(host: 4, instance: .none))
        tokens.bind(token, to: TokenTable.Binding(host: 3, instance: 8))
        tokens.markRemoved(token, ofApp: 0, .leaseEnded, at: Instant(seconds: 1))
        Self.erase([token], from: &tokens)
        // The number is used again.
        let other = tokens.bind(Self.token(2, bytes: 32), to: TokenTable.Binding(host: 5, instance: .none))
        #expect(tokens.token(other) == Self.token(2, bytes: 32))
        #expect(tokens.binding(of: Self.token(2, bytes: 32))?.instance.isNone == true)
        #expect(tokens.tokens(from: other).count == 1)
    }

    @Test func `tokens are erased together, and others stay removed`() {
        var tokens = TokenTable(seed: 5)
        let all = (0..<6).map { Self.token($0, bytes: 32) }
        for (number, token) in all.enumerated() where number != 5 {
            tokens.bind(token, to: TokenTable.Binding(host: 3, instance: .none))
            if number != 4 { tokens.markRemoved(token, ofApp: 0, .unregistered, at: Instant(seconds: 1)) }
        }
        // One that is bound, one that was never known, and one that is named twice.
        Self.erase([all[0], all[2], all[4], all[5], all[2]], from: &tokens)
        #expect(tokens.removedCount == 2)
        #expect(tokens.binding(of: all[4]) != nil)
        var removals = Int.max
        let forgotten = tokens.forget(at: Instant(seconds: 12), after: .seconds(10), atMost: &removals)
        #expect(forgotten == [all[1], all[3]])
    }

    @Test(arguments: counts) func `a number that is used again has nothing of the token before`(count: Int) {
        var tokens = TokenTable(seed: 3)
        var first = TokenNumber.none
        let old = Self.token(1, bytes: count)
        let slot = tokens.bind(old, to: TokenTable.Binding(host: 1, instance: .none))
        tokens.append(slot, boundAt: Instant(seconds: 1), .development, to: &first)
        tokens.markRemoved(old, ofApp: 0, .unregistered, at: Instant(seconds: 2))
        tokens.unlinkAll(from: &first)
        #expect(first.isNone)
        #expect(tokens.binding(of: old) == nil)
        #expect(tokens.removedCount == 1)
        var removals = Int.max
        let forgotten = tokens.forget(at: Instant(seconds: 13), after: .seconds(10), atMost: &removals)
        #expect(forgotten == [old])
        #expect(tokens.removedCount == 0)
        for other in [Self.token(2, bytes: 20), Self.token(3, bytes: 40)] {
            let slot = tokens.bind(other, to: TokenTable.Binding(host: 1, instance: .none))
            tokens.append(slot, boundAt: Instant(seconds: 20), .production, to: &first)
        }
        #expect(tokens.tokens(from: first).map(\.token) == [Self.token(2, bytes: 20), Self.token(3, bytes: 40)])
        #expect(tokens.tokens(from: first).allSatisfy { $0.environment == .production })
    }

    @Test(arguments: counts) func `tokens that are read back are known when all have come`(count: Int) {
        for repeated in [nil, 0, 39] as [Int?] {
            var tokens = TokenTable(seed: 4)
            var firsts = Array(repeating: TokenNumber.none, count: 20)
            let numbers = Array(0..<40) + (repeated.map { [$0] } ?? [])
            for number in numbers {
                let token = TokenTable.BoundToken(
                    token: Self.token(number, bytes: count),
                    boundAt: Instant(seconds: Int64(number)),
                    environment: .development
                )
                tokens.restore(token, of: HostNumber(number / 2), to: &firsts[number / 2])
            }
            tokens.finishRestoring()
            #expect(tokens.hasDuplicates == (repeated != nil))
            guard repeated == nil else { continue }
            #expect(tokens.boundCount == 40)
            for number in 0..<40 {
                let binding = tokens.binding(of: Self.token(number, bytes: count))
                #expect(binding == TokenTable.Binding(host: HostNumber(number / 2), instance: .none))
                let bound = tokens.tokens(from: firsts[number / 2])[number % 2]
                #expect(bound.token == Self.token(number, bytes: count))
                #expect(bound.boundAt == Instant(seconds: Int64(number)))
                #expect(bound.environment == .development)
            }
        }
    }

    @Test(arguments: Seeds.from(41, count: 4))
    func `lists of many hosts are what arrays would be`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tokens = TokenTable(seed: seed)
        var firsts = Array(repeating: TokenNumber.none, count: 5)
        var model = Array(repeating: [DeviceToken](), count: 5)
        for step in 0..<600 {
            let token = Self.token(Int(random.next() % 24), bytes: Self.counts[Int(random.next() % 10)])
            let host = Int(random.next() % 5)
            if let binding = tokens.binding(of: token) {
                let old = binding.host.index
                if random.next().isMultiple(of: 2) {
                    tokens.markRemoved(token, ofApp: 0, .unregistered, at: Instant(seconds: Int64(step)))
                    tokens.unlink(token, from: &firsts[old])
                    model[old].removeAll { $0 == token }
                    continue
                }
                tokens.unlink(token, from: &firsts[old])
                model[old].removeAll { $0 == token }
            }
            let slot = tokens.bind(token, to: TokenTable.Binding(host: HostNumber(host), instance: .none))
            tokens.append(slot, boundAt: Instant(seconds: Int64(step)), .production, to: &firsts[host])
            model[host].append(token)
            var removals = Int.max
            _ = tokens.forget(at: Instant(seconds: Int64(step)), after: .seconds(40), atMost: &removals)
            #expect(firsts.map { tokens.tokens(from: $0).map(\.token) } == model, "seed \(seed), step \(step)")
            #expect(tokens.boundCount == model.reduce(0) { $0 + $1.count }, "seed \(seed), step \(step)")
        }
    }
}
