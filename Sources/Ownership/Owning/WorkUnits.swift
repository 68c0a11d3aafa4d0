package import Engine
package import IntentMatching
import WidgetModel

/// The measure of work on a partition's thread; one unit is about the decision of one match.
///
/// The engine's work is counted by its answers and effects, never by time. The work of a record is estimated before it
/// is logged; both use the same measure.
package enum WorkUnits {
    /// A record, whatever else comes of it.
    package static let record = 4
    /// A widget instance that is registered.
    package static let instance = 8
    /// Up to how many instances a push with a pattern is charged with all of them: to ask the index for fewer would take
    /// longer than they do.
    package static let unaskedMax = 1000
    /// A pattern that has to be judged on values costs one unit for so many of its steps on each instance that it may
    /// look at: see ``MatchPattern/cost``.
    private static let patternSteps = 256
    /// A pattern of fewer steps only looks values up.
    private static let lookUpStepsMax = 16

    /// The work of finding the instances of a pattern among a number of them.
    package static func finding(_ pattern: MatchPattern?, among instances: Int) -> Int {
        guard let cost = pattern?.cost, cost > Self.lookUpStepsMax else { return 0 }
        return instances.multipliedSaturating(by: cost) / Self.patternSteps
    }

    /// The work of applied records by their answers: matches decided, instances registered. A replay counts the same.
    package static func done(_ answers: ArraySlice<RecordAnswer>) -> Int {
        answers.reduce(0) { $0 + Self.done($1.result) }
    }

    /// The same by their effects: reloads and invalidations issued.
    package static func done(_ effects: [Effect]) -> Int {
        effects.reduce(0) { units, effect in
            switch effect {
            case .reload, .invalidation: units + 1
            case .push(let push): units + push.members.count
            }
        }
    }

    private static func done(_ result: RecordAnswer.Result) -> Int {
        switch result {
        case .push(let matched, let isRepeat): Self.record + (isRepeat ? 0 : matched)
        case .appReload(let matched), .order(let matched), .invalidated(let matched): Self.record + matched
        case .registered(let counts): Self.record + Self.instance * (counts.added + counts.changed + counts.removed)
        default: Self.record
        }
    }
}

extension RecordAnswer.Result {
    /// Whether other instances may take pushes now.
    package var changesAudience: Bool {
        switch self {
        case .registered, .unregistered, .settings, .signalled, .ticked: true
        default: false
        }
    }
}
