/// Something that a run has to reach: `pushes accepted p99 <= 50ms`, `errors <= 0.1%`, `behind <= 1%`.
package struct Objective: Hashable, Sendable, CustomStringConvertible {
    package enum Figure: Hashable, Sendable {
        /// A percentile of a stage's latency in microseconds; of all loads together if none is named.
        case latency(load: String?, LatencyStage, percentile: Double)
        /// The share of the operations sent that were not answered with 2xx.
        case errors
        /// The share of the operations that the generator sent more than a millisecond late although there was room.
        case behind
        /// Operations answered with 2xx a second, of all that were due, as a share.
        case answered
    }

    package enum Comparison: String, Hashable, Sendable {
        case atMost = "<="
        case atLeast = ">="
    }

    package let figure: Figure
    package let comparison: Comparison
    /// Microseconds, or a share.
    package let bound: Double
    /// As it was written.
    package let text: String

    package var description: String { self.text }

    /// - Parameter loads: The names of the scenario's loads.
    package init?(_ text: String, loads: [String]) {
        let words = text.split(separator: " ").map(String.init)
        guard let place = words.firstIndex(where: { Comparison(rawValue: $0) != nil }), place == words.count - 2,
            let comparison = Comparison(rawValue: words[place])
        else { return nil }
        self.text = words.joined(separator: " ")
        self.comparison = comparison
        let left = words[..<place]
        switch left {
        case ["errors"], ["behind"], ["answered"]:
            guard let share = Self.share(words[place + 1]) else { return nil }
            self.figure = left == ["errors"] ? .errors : left == ["behind"] ? .behind : .answered
            self.bound = share
        default:
            guard let percentile = left.last.flatMap(Self.percentile), left.count >= 2,
                let stage = LatencyStage(rawValue: left[left.count - 2]),
                let nanoseconds = LoadValue.nanoseconds(words[place + 1])
            else { return nil }
            let name = left.dropLast(2).joined(separator: " ")
            guard name.isEmpty || loads.contains(name) else { return nil }
            self.figure = .latency(load: name.isEmpty ? nil : name, stage, percentile: percentile)
            self.bound = Double(nanoseconds) / 1000
        }
    }

    private static func share(_ text: String) -> Double? {
        let isPercent = text.last == "%"
        guard let number = Double(isPercent ? String(text.dropLast()) : text), number.isFinite, number >= 0 else {
            return nil
        }
        return isPercent ? number / 100 : number
    }

    /// `p50`, `p99`, `p99.9`, `max`.
    private static func percentile(_ text: String) -> Double? {
        if text == "max" { return 100 }
        guard text.first == "p", let number = Double(text.dropFirst()), number > 0, number <= 100 else { return nil }
        return number
    }

    package func isMet(by value: Double) -> Bool {
        switch self.comparison {
        case .atMost: value <= self.bound
        case .atLeast: value >= self.bound
        }
    }
}
