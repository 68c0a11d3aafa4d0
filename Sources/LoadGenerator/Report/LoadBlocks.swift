import WidgetModel

/// A run's intervals as a comparison draws from them again: each is a block, whose operations stay together, since a cause that slows
/// one operation slows its neighbours, too.
struct LoadBlocks {
    /// Latencies of one stage of one load: the buckets that any interval has, rising.
    struct Latencies {
        let bounds: [Double]
        /// For each interval its buckets' places in ``bounds``, with counts; ``unreached`` counts at the place behind the last.
        let blocks: [[(place: Int, count: Double)]]

        /// Operations in all blocks, those that never came so far included.
        var count: Double { self.blocks.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } } }

        /// Percentiles of some blocks together; infinite where fewer operations came so far.
        func percentiles(_ percentiles: [Double], of picks: [Int]) -> [Double] {
            var counts = [Double](repeating: 0, count: self.bounds.count + 1)
            for pick in picks { for entry in self.blocks[pick] { counts[entry.place] += entry.count } }
            let total = counts.reduce(0, +)
            var seen = 0.0
            var place = 0
            return percentiles.map { percentile in
                let rank = max(1, (percentile / 100 * total).rounded(.up))
                while place < self.bounds.count, seen + counts[place] < rank {
                    seen += counts[place]
                    place += 1
                }
                guard place < self.bounds.count else { return .infinity }
                let lower = LatencyBuckets.lowerEnd(upTo: self.bounds[place])
                return lower + (self.bounds[place] - lower) * (rank - seen) / max(1, counts[place])
            }
        }

        /// The share of operations that never came so far.
        func unreachedShare(of picks: [Int]) -> Double {
            var (unreached, total) = (0.0, 0.0)
            for pick in picks {
                for entry in self.blocks[pick] {
                    total += entry.count
                    if entry.place == self.bounds.count { unreached += entry.count }
                }
            }
            return total == 0 ? 0 : unreached / total
        }
    }

    /// Reports of others may hold anything: beyond this no interval is told.
    private static let bucketsMax = 4096

    /// The intervals of a stage, as its JSON has them; nil if it has none that can be used.
    static func latencies(_ stage: JSONValue?) -> Latencies? {
        guard case .array(let intervals)? = stage?["intervals"], intervals.count <= LoadTally.intervalsMax else {
            return nil
        }
        var blocks: [(buckets: [(upTo: Double, count: Double)], unreached: Double)] = []
        for interval in intervals where interval != .null {
            guard case .array(let list)? = interval["buckets"], list.count <= self.bucketsMax,
                let unreached = LoadComparison.number(interval["unreached"])
            else { return nil }
            var buckets: [(upTo: Double, count: Double)] = []
            for pair in list {
                guard case .array(let numbers) = pair, numbers.count == 2,
                    let upTo = LoadComparison.number(numbers[0]), let count = LoadComparison.number(numbers[1]),
                    upTo.isFinite, count.isFinite
                else { return nil }
                buckets.append((upTo, count))
            }
            guard unreached.isFinite else { return nil }
            blocks.append((buckets, unreached))
        }
        let bounds = Set(blocks.flatMap { $0.buckets.map(\.upTo) }).sorted()
        guard bounds.count <= self.bucketsMax else { return nil }
        let places = Dictionary(uniqueKeysWithValues: bounds.enumerated().map { ($0.element, $0.offset) })
        return Latencies(
            bounds: bounds,
            blocks: blocks.map { block in
                block.buckets.compactMap { bucket in places[bucket.upTo].map { ($0, bucket.count) } }
                    + (block.unreached > 0 ? [(bounds.count, block.unreached)] : [])
            }
        )
    }

    /// Operations that were answered a second, by the interval in which they were meant to be sent; nil if the report does not say.
    static func rates(_ report: JSONValue) -> [Double]? {
        guard case .array(let loads)? = report["loads"],
            let every = LoadComparison.number(report["intervalSeconds"]),
            let length = LoadComparison.number(report["scenario"]?["lengthSeconds"]), every > 0, length.isFinite
        else { return nil }
        let count = (length / every).rounded()
        guard count >= 1, count <= Double(LoadTally.intervalsMax) else { return nil }
        var sums = [Double](repeating: 0, count: Int(count))
        for load in loads {
            guard case .array(let intervals)? = load["latencyMicroseconds"]?["accepted"]?["intervals"] else { continue }
            for (index, interval) in intervals.prefix(sums.count).enumerated() {
                guard case .array(let buckets)? = interval["buckets"] else { continue }
                for case .array(let pair) in buckets where pair.count == 2 {
                    guard let number = LoadComparison.number(pair[1]), number.isFinite else { return nil }
                    sums[index] += number
                }
            }
        }
        return sums.map { $0 / every }
    }
}
