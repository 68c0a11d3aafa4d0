/// One of a scenario's loads: which operations are sent, and when.
package struct Load: Hashable, Sendable {
    /// The kind of one operation.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A push to one host's token.
        case pushes
        /// A push to everything that matches.
        case targeted
        /// A registration of a host anew, with another configuration.
        case registrations
        /// A signal of a host: a widget becomes visible, or hidden.
        case signals
        /// A host's event stream is dropped, and connects again.
        case reconnects
    }

    /// The widgets that a targeted push reaches.
    package enum Reach: String, Hashable, Sendable, CaseIterable {
        /// The widgets with one value of the parameter, each time the next one.
        case value
        /// Every widget.
        case everyone
    }

    package enum Order: String, Hashable, Sendable, CaseIterable {
        /// Any host, at random.
        case random
        /// One host after the other.
        case sequence
    }

    package var name: String
    package var kind: Kind
    /// Nanoseconds after the beginning of the run.
    package var start: Int64 = 0
    /// Nil sends as fast as answers come: as many requests at once as there are streams.
    package var process: ArrivalProcess?
    package var reach = Reach.value
    package var order = Order.random
    package var priority: Int?

    package init(name: String, kind: Kind, process: ArrivalProcess?) {
        self.name = name
        self.kind = kind
        self.process = process
    }

    /// A load of few operations (one push for all widgets) keeps them, however much smaller the scene gets.
    func scaled(by factor: Double) -> Load {
        var copy = self
        switch self.process {
        case .uniform(let curve):
            copy.process = .uniform(RateCurve(from: curve.from * factor, to: curve.to * factor, length: curve.length))
        case .poisson(let curve):
            copy.process = .poisson(RateCurve(from: curve.from * factor, to: curve.to * factor, length: curve.length))
        case .burst(let count, let within) where count > 1:
            copy.process = .burst(count: max(1, count.stretched(by: factor)), within: within)
        case .burst, .trace, nil:
            break
        }
        return copy
    }

    func stretched(by factor: Double) -> Load {
        func stretched(_ length: Int64) -> Int64 { max(1, length.stretched(by: factor)) }
        var copy = self
        copy.start = self.start.stretched(by: factor)
        switch self.process {
        case .uniform(let curve):
            copy.process = .uniform(RateCurve(from: curve.from, to: curve.to, length: stretched(curve.length)))
        case .poisson(let curve):
            copy.process = .poisson(RateCurve(from: curve.from, to: curve.to, length: stretched(curve.length)))
        case .burst(let count, let within):
            copy.process = .burst(count: max(1, count.stretched(by: factor)), within: stretched(within))
        case .trace, nil:
            break
        }
        return copy
    }
}
