/// Divides a bound on instances among all partitions, which do not know each other.
package enum MatchQuota {
    /// Divides a number by the instances of each partition.
    ///
    /// - Parameters:
    ///   - max: The number, at least 0.
    ///   - counts: The instances of each partition, each from 0 to 2^32; at least one partition.
    /// - Returns: Shares that add up to `max`. If that is enough, each partition has its count and an equal part of the
    ///   rest; otherwise the shares are in proportion to the counts.
    package static func divide(_ max: Int, by counts: [Int]) -> [Int] {
        let sum = counts.reduce(0, +)
        guard sum > max else {
            let (each, rest) = (max - sum).quotientAndRemainder(dividingBy: counts.count)
            return counts.enumerated().map { $1 + each + ($0 < rest ? 1 : 0) }
        }
        var (seen, given) = (0, 0)
        return counts.map { count in
            seen += count
            let upTo = sum.dividingFullWidth(seen.multipliedFullWidth(by: max)).quotient
            defer { given = upTo }
            return upTo - given
        }
    }
}
