import Scenarios

/// The instants of one load, one after the other: nanoseconds after its beginning, never falling.
package struct Arrivals: Sendable, IteratorProtocol {
    private let process: ArrivalProcess
    private var dice: Dice
    private var count: Int64 = 0
    /// Of a Poisson process: where it is, in operations.
    private var amount = 0.0

    /// - Parameters:
    ///   - seed: Of the run; the same gives the same instants, to the nanosecond, on every machine.
    ///   - number: Which of the run's loads it is.
    package init(_ process: ArrivalProcess, seed: UInt64, number: Int) {
        self.process = process
        self.dice = Dice(seed: seed, role: 1, number: number)
    }

    package mutating func next() -> Int64? {
        let index = self.count
        self.count += 1
        switch self.process {
        case .uniform(let curve):
            return curve.time(of: Double(index))
        case .poisson(let curve):
            self.amount += self.dice.exponential()
            return curve.time(of: self.amount)
        case .burst(let count, let within):
            guard index < count else { return nil }
            let product = index.multipliedFullWidth(by: within)
            return count.dividingFullWidth(product).quotient
        case .trace(let trace):
            return index < trace.instants.count ? trace.instants[Int(index)] : nil
        }
    }
}
