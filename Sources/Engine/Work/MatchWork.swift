import WidgetModel

/// A push to an app on its way through the instances that it matches.
///
/// First come the instances whose hosts have an event stream, each by itself, in the order of their numbers. Then come
/// those whose hosts are reached through tokens, host by host: a push to a token for one of them is for all of them.
struct MatchWork: Sendable {
    let push: IncomingPush
    let isCounted: Bool
    /// By number.
    let matches: [InstanceNumber]
    /// How many of the matches were looked at.
    fileprivate var next = 0
    /// The hosts that are reached through tokens and still to be decided.
    fileprivate var hosts = NumberSet<NumberTag.Host>()

    init(_ push: IncomingPush, _ matches: [InstanceNumber], isCounted: Bool) {
        self.push = push
        self.matches = matches
        self.isCounted = isCounted
    }

    var isDone: Bool { self.next == self.matches.count && self.hosts.isEmpty }

    /// Whether an instance is among the matches. O(log matches).
    fileprivate func isMatched(_ instance: InstanceNumber) -> Bool {
        var (low, high) = (0, self.matches.count)
        while low < high {
            let middle = low + (high - low) / 2
            if self.matches[middle] < instance { low = middle + 1 } else { high = middle }
        }
        return low < self.matches.count && self.matches[low] == instance
    }
}

extension Engine {
    /// Decides a push for some of its matches. A unit is a match, or a reload that comes of one.
    mutating func decide(_ work: inout MatchWork, _ units: inout Int) {
        while units > 0, work.next < work.matches.count {
            let count = min(units, Self.prefetchedMatches, work.matches.count - work.next)
            let range = work.next..<work.next + count
            let before = self.output.effects.count
            self.prefetch(work.matches.span, range, ofDigest: work.push.digest != nil)
            for place in range {
                let instance = work.matches[place]
                if self.registry[instance].isHostDriven {
                    work.hosts.insert(self.registry[instance].host)
                } else {
                    self.decidePush(work.push, for: instance)
                }
            }
            work.next = range.upperBound
            units -= count + self.output.effects.count - before
        }
        while units > 0, let host = work.hosts.popFirst() {
            let matched = self.registry.instances(of: host).filter { work.isMatched($0) }
            for together in self.byToken(matched) { self.decidePush(work.push, throughToken: together) }
            units -= 2 * matched.count
        }
    }

    /// Ends the matching of a push.
    mutating func close(_ work: MatchWork) -> RecordAnswer.Result {
        self.close(work.push, isCounted: work.isCounted)
    }
}

/// A set of row numbers from which the least is taken: a bit for each number.
struct NumberSet<Tag>: Sendable {
    private var words: [UInt64] = []
    /// All words before are empty.
    private var first = 0
    private var count = 0

    var isEmpty: Bool { self.count == 0 }

    mutating func insert(_ number: Number<Tag>) {
        let (word, bit) = (number.index / 64, UInt64(1) << UInt64(number.index % 64))
        if word >= self.words.count { self.words += repeatElement(0, count: word + 1 - self.words.count) }
        guard self.words[word] & bit == 0 else { return }
        self.words[word] |= bit
        self.count += 1
        self.first = min(self.first, word)
    }

    /// Takes the least number out. O(1) amortised, as long as no smaller ones are inserted.
    mutating func popFirst() -> Number<Tag>? {
        guard self.count > 0 else { return nil }
        while self.words[self.first] == 0 { self.first += 1 }
        let bit = self.words[self.first].trailingZeroBitCount
        self.words[self.first] &= self.words[self.first] - 1
        self.count -= 1
        return Number(self.first * 64 + bit)
    }
}
