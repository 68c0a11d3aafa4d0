@testable import APNSWire
import TestSupport
import Testing

extension ProviderTokenCache {
    /// The kept value of a key.
    fileprivate subscript(key: [UInt8]) -> Value? {
        var guess = -1
        return self.value(for: key.span, guess: &guess)
    }
}

@Suite struct ProviderTokenCacheTests {
    @Test func `a value is found by all bytes of its key`() {
        var cache = ProviderTokenCache<String>(capacity: 4, seed: 1)
        let key = Array("bearer abc.def.ghi".utf8)
        cache.insert("one", for: key.span)
        #expect(cache[key] == "one")
        for index in key.indices {
            var other = key
            other[index] ^= 1
            #expect(cache[other] == nil)
        }
        #expect(cache[key + [0]] == nil)
        #expect(cache[Array(key.dropLast())] == nil)
        cache.insert("two", for: key.span)
        #expect(cache[key] == "two")
        #expect(cache.count == 1)
        cache.removeAll()
        #expect(cache[key] == nil)
        #expect(cache.count == 0)
    }

    @Test func `keys whose hashes are equal are told apart`() {
        let hash = ByteHash(seed: 5)
        // An attacker who knows the seed can make one factor zero; then the other half of the block does not count.
        let block = (0..<8).map { UInt8(truncatingIfNeeded: hash.second >> UInt64(8 * $0)) }
        let first = block + Array("12345678".utf8)
        let second = block + Array("abcdefgh".utf8)
        #expect([first, second].map { hash.hash($0.span) }.allSatisfy { $0 == hash.hash(first.span) })
        var cache = ProviderTokenCache<Int>(capacity: 4, seed: 5)
        cache.insert(1, for: first.span)
        #expect(cache[second] == nil)
        cache.insert(2, for: second.span)
        #expect(cache[first] == 1)
        #expect(cache[second] == 2)
    }

    @Test(arguments: [-1, 0, 1, 2, 7])
    func `a guess changes what is looked at first, never what is found`(guess: Int) {
        var cache = ProviderTokenCache<String>(capacity: 2, seed: 3)
        let (first, other, third) = (Array("first".utf8), Array("other".utf8), Array("third".utf8))
        cache.insert("first", for: first.span)
        cache.insert("other", for: other.span)
        cache.insert("third", for: third.span)
        var guesses = [guess, guess, guess]
        let found = cache.value(for: first.span, guess: &guesses[0])
        #expect(found == nil)
        let foundOther = cache.value(for: other.span, guess: &guesses[1])
        #expect(foundOther == "other")
        let foundThird = cache.value(for: third.span, guess: &guesses[2])
        #expect(foundThird == "third")
        #expect(guesses == [guess, 1, 0])
    }

    @Test func `the oldest entry makes room`() {
        var cache = ProviderTokenCache<Int>(capacity: 3, seed: 2)
        for number in 0..<10 {
            cache.insert(number, for: [UInt8(number)].span)
            for earlier in 0...number {
                let value = cache[[UInt8(earlier)]]
                #expect(value == (earlier > number - 3 ? earlier : nil))
            }
        }
        #expect(cache.count == 3)
    }

    @Test(arguments: UInt64(0)..<16)
    func `it answers as a list of the newest keys does`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let capacity = Int(random.next() % 40) + 1
        var cache = ProviderTokenCache<UInt64>(capacity: capacity, seed: random.next())
        var model: [(key: [UInt8], value: UInt64)] = []
        for step in 0..<3000 {
            // Few keys of odd lengths, the empty one among them, so that hits and repeats are common.
            let number = random.next() % 80
            let key = Array(repeating: UInt8(number), count: Int(number) / 2)
            let found = model.first { $0.key == key }
            #expect(cache[key] == found?.value, "seed \(seed), step \(step)")
            if random.chance(1, in: 200) {
                cache.removeAll()
                model = []
            } else if random.chance(1, in: 2) {
                let value = random.next()
                cache.insert(value, for: key.span)
                if let index = model.firstIndex(where: { $0.key == key }) {
                    model[index].value = value
                } else {
                    if model.count == capacity { model.removeFirst() }
                    model.append((key, value))
                }
            }
            #expect(cache.count == model.count, "seed \(seed), step \(step)")
        }
    }
}
