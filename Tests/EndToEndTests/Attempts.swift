/// How long a test asks again for what has to come.
///
/// It ends what never comes, and decides nothing else. Minutes alone are few attempts on a busy machine, and attempts alone are soon made
/// on an idle one, where a gateway still has things that it does once a minute: so it is over after both.
struct Attempts {
    private let end = ContinuousClock.now + .seconds(600)
    private var left: Int

    /// - Parameter number: So many there are, at least.
    init(_ number: Int = 50) { self.left = number }

    /// Whether there is another one, which is counted.
    mutating func isAnother() -> Bool {
        self.left -= 1
        return self.left >= 0 || ContinuousClock.now < self.end
    }
}
