import Engine
import WidgetModel

/// The answers to the last records whose callers may wait, so that a node can ask for an answer after the record was applied. Local to the
/// process: a replay gives the same.
struct RecentAnswers {
    /// A few megabytes where all of them are used.
    static let countMax = 32_768

    private var answers: [RecordPlace: RecordAnswer.Result] = [:]
    /// In the order in which they came; once there are ``countMax``, the oldest is at ``oldest``.
    private var places: [RecordPlace] = []
    private var oldest = 0

    subscript(place: RecordPlace) -> RecordAnswer.Result? { self.answers[place] }

    mutating func keep(_ answer: RecordAnswer.Result, at place: RecordPlace) {
        guard self.answers.updateValue(answer, forKey: place) == nil else { return }
        guard self.places.count == Self.countMax else { return self.places.append(place) }
        self.answers[self.places[self.oldest]] = nil
        self.places[self.oldest] = place
        self.oldest = (self.oldest + 1) % Self.countMax
    }
}

extension RecordAnswer.Result {
    /// Whether a client may wait for it: of pushes, and of the time that passes, none does.
    var isAwaited: Bool {
        switch self {
        case .push, .traced, .ticked: false
        default: true
        }
    }
}
