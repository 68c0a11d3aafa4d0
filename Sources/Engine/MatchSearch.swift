import IntentMatching
import WidgetModel

/// A search for the instances that a push would match, in parts of bounded time. It changes nothing.
///
/// Between two parts nothing may be applied to the engine.
package struct MatchSearch: ~Copyable, Sendable {
    /// Nil if it cannot be read, and matches nothing.
    let asked: AskedPush?
    /// Some of the matches, those that a dry run decides.
    private(set) var sample: HashSample
    /// How many of them are decided; 0 if the matches are only counted.
    let decidedMax: Int
    /// Nil of a push to one host, and of one that reaches no host: then all is found.
    private var cursor: MatchCursor?

    /// Begins a search.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - decidedMax: How many matches are to be decided, as a sample of all; nil if they are only counted.
    ///   - engine: The engine.
    package init(_ push: PushRecord, sampling decidedMax: Int? = nil, in engine: borrowing Engine) {
        self.asked = engine.ask(about: push)
        self.decidedMax = decidedMax ?? 0
        self.sample = HashSample(size: self.decidedMax)
        guard let asked = self.asked else { return }
        let audience = asked.audience
        switch audience.reach {
        case .nobody: break
        case .host(let host):
            let matched = engine.matching(host: host, asked.head, audience, asked.bytes)
            self.sample.add(matched.span)
        case .app(let app):
            // No order is asked for, so that none is made.
            self.cursor = engine.cursor(
                app,
                audience.kind,
                audience.pattern,
                audience.attributes,
                order: .asFound,
                isExplained: decidedMax != nil
            )
        }
    }

    /// Searches further.
    ///
    /// - Parameters:
    ///   - engine: The engine with which the search began, in the same state.
    ///   - units: The most work, as for a push's matches; returns the unused rest.
    /// - Returns: Whether the search is complete.
    package mutating func advance(in engine: borrowing Engine, _ units: inout Int) -> Bool {
        guard var cursor = self.cursor.take() else { return true }
        var isFound = false
        while units > 0, !isFound {
            isFound = !engine.registry.findNext(&cursor)
            if !isFound { self.sample.add(cursor.batch) }
            units -= Engine.lookUnits(self.asked?.audience.pattern)
        }
        self.cursor = consume cursor
        return isFound
    }

    /// Finds all.
    mutating func finish(in engine: borrowing Engine) {
        var units = Int.max
        while !self.advance(in: engine, &units) { units = .max }
    }

    /// How many were found, without a decision for any.
    func count(in engine: borrowing Engine) -> DryRunView {
        DryRunView(matched: self.sample.count, isRepeat: self.asked?.isRepeat ?? false, asOf: engine.time)
    }

    /// How the index found them, in this very run; a push to a host looks at each of its instances.
    func plans(in engine: borrowing Engine) -> [QueryPlan] {
        switch self.cursor {
        case .some(let cursor): engine.registry.plans(of: cursor)
        case .none: []
        }
    }
}
