/// Times of something done over and over, in microseconds.
struct Stopwatch {
    private let clock = ContinuousClock()
    private(set) var microseconds: [Double] = []

    /// Runs `body` until a span has passed, in groups where one run is too short to time.
    mutating func measure(_ span: Duration, _ body: () -> Void) {
        let end = self.clock.now + span
        repeat {
            let group = self.microseconds.isEmpty ? 1 : max(1, min(64, Int(20 / self.microseconds[0])))
            let took = self.clock.measure { for _ in 0..<group { body() } }
            self.microseconds.append(Self.microseconds(took) / Double(group))
        } while self.clock.now < end && self.microseconds.count < 100_000
    }

    mutating func add(_ body: () -> Void) {
        self.microseconds.append(Self.microseconds(self.clock.measure(body)))
    }

    /// Seconds that `body` takes.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        Self.microseconds(try ContinuousClock().measure(body)) / 1e6
    }

    func quantile(_ share: Double) -> Double {
        let sorted = self.microseconds.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    private static func microseconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) * 1e6 + Double(duration.components.attoseconds) * 1e-12
    }
}
