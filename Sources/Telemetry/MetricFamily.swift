/// The metrics under one name, as a scrape sees them.
package struct MetricFamily: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case counter, gauge, histogram, summary
    }

    /// One combination of labels.
    package struct Series: Hashable, Sendable {
        package let labels: [Label]
        /// Of a counter or a gauge.
        package var value = 0.0
        /// How many values a histogram or a summary has had, and their sum.
        package var count = 0
        package var sum = 0.0
        /// How many of them were at most as large as each of ``MetricFamily/bounds``.
        package var buckets: [Int] = []
    }

    package struct Label: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let name: String
    package let kind: Kind
    package var series: [Series]

    /// The bounds of every histogram, in seconds.
    package static let bounds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
}
