package import Engine
package import Ownership
import Timelines
package import WidgetModel

/// A step of a ``FetchMachine``. Its driver carries it out, and reports the result where one is named.
package enum FetchAction: Hashable, Sendable {
    /// Asks a partition's engine for the subjects of reloads. Result: ``FetchMachine/takeSubjects(_:of:in:now:hasPlaceholder:)``.
    case findSubjects(PartitionID, [ReloadID])
    /// Looks in a partition for work, so many rows at most. Result: ``FetchMachine/takeFinds(_:in:next:now:)``.
    case search(FetchSearch, limit: Int)
    /// Asks the provider for a placeholder. Result: ``FetchMachine/takePlaceholder(of:isThere:now:)``.
    case askForPlaceholder(TimelineProviderContext)
    /// Shows a new instance its placeholder, if one is kept.
    case showPlaceholder(FetchSubject)
    /// Asks the engines of the present partitions which of these reloads are still wanted. Result:
    /// ``FetchMachine/takeWanted(_:of:now:)``.
    case findWanted(FetchExchange, [ReloadID])
    /// Sends the request of that number. Result: ``FetchMachine/takeAnswer(_:to:now:)``.
    case send(Int, [FetchSubject])
    /// Stores the contents of timelines, then logs their reports, then shows them. Result:
    /// ``FetchMachine/takeStored(_:of:now:)``.
    case store(FetchExchange, [FetchedTimeline])
    /// The call-back of that number is done, with so many timelines taken.
    case answerCallBack(Int, taken: Int)
    /// Some reloads are over.
    case forget([ReloadID])
    case tellHealth(TargetHealth.Change, heldUntil: Instant?)
    /// Something was wrong with an answer.
    case tellFault(String)
}

/// What brings timelines.
package enum FetchExchange: Hashable, Sendable {
    /// The request of that number, and its answer.
    case request(Int)
    /// The call-back of that number.
    case callBack(Int)
}

/// A search through a partition, or the rest of one.
package enum FetchSearch: Hashable, Sendable {
    /// For outstanding reloads: from an instance on, and only those that were outstanding when it began.
    case reloads(PartitionID, from: InstanceNumber = InstanceNumber(raw: 0), through: LogPosition? = nil)
    /// For accepted timelines whose content is not here: from a row on.
    case content(PartitionID, from: UInt64? = nil)

    var partition: PartitionID {
        switch self {
        case .reloads(let partition, _, _), .content(let partition, _): partition
        }
    }

    var isForReloads: Bool {
        if case .reloads = self { true } else { false }
    }
}

/// The finds of a ``FetchSearch``: those of the kind.
package enum FetchFinds: Sendable {
    case reloads([ReloadID])
    case content([ShownTimeline])
    /// The partition did not answer.
    case silence
}

/// Those of some reloads that the engines still want. The others are over, or are other nodes'.
package struct FetchWanted: Sendable {
    /// Outstanding reloads.
    package var subjects: [FetchSubject]
    /// Accepted timelines whose content is not here.
    package var shown: [ShownTimeline]
    /// Reloads whose partition did not answer.
    package var unknown: Set<ReloadID>

    package init(subjects: [FetchSubject] = [], shown: [ShownTimeline] = [], unknown: Set<ReloadID> = []) {
        (self.subjects, self.shown, self.unknown) = (subjects, shown, unknown)
    }

    /// The subjects of both, with the timeline that is accepted.
    var all: [(subject: FetchSubject, accepted: Timeline?)] {
        self.subjects.map { ($0, nil) } + self.shown.map { ($0.subject, $0.timeline) }
    }
}

/// A provider's answer to a request.
package enum FetchAnswer: Sendable {
    /// It is none, or says that it cannot tell.
    case failure(TargetHealth.Answer, retryAfter: Interval?)
    /// - Parameter isPromise: Whether it calls back about the instances that are not in it.
    case parts([ReloadID: FetchPart], status: Int, isPromise: Bool)
}

/// A provider's answer about one instance.
package enum FetchPart: Sendable {
    case timeline(ProvidedTimeline)
    /// It cannot tell: why.
    case fault(String)
    /// It told no timeline, or one that is not taken: why.
    case refused(String)
}

/// A timeline to store.
package struct FetchedTimeline: Hashable, Sendable {
    package let subject: FetchSubject
    package let timeline: ProvidedTimeline
    /// Its record for the log; nil if the engine has accepted it already, and only its content is new here.
    package let report: TimelineReport?

    init(_ timeline: ProvidedTimeline, of subject: FetchSubject, accepted: Timeline?) {
        self.subject = subject
        self.timeline = timeline
        self.report = timeline.isSame(as: accepted) ? nil : timeline.report(subject)
    }
}

/// The result of storing timelines.
package enum FetchStored: Sendable {
    /// By reload; without those that are to be asked about again.
    case stored([ReloadID: Outcome])
    /// Nothing is stored: why.
    case failed(String)

    package enum Outcome: Hashable, Sendable {
        /// It is in the log, or was there already.
        case taken
        /// The instance was configured anew or removed meanwhile: another reload is out, or none is wanted.
        case unwanted
        /// The engine does not hold such a timeline: why.
        case refused(String)
    }
}
