/// How a number of instances that is allowed over all partitions is divided among them, none of which knows the others.
package enum MatchQuota {
    /// Divides a number by how many instances each partition has.
    ///
    /// - Parameters:
    ///   - max: What is divided, at least 0.
    ///   - counts: How many instances there are by partition, each from 0 to 2^32; one partition at least.
    /// - Returns: Shares that add up to `max`. If that is enough, each partition has its count and an equal part of the rest;
    ///   otherwise in proportion to the counts.
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
