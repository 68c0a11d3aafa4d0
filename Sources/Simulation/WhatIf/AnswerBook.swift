import Engine
import Timelines
import WidgetModel

/// The hosts' answers to reloads. They give estimates for reloads that never were: the nearest earlier answer of the
/// widget, else of its kind.
struct AnswerBook {
    /// One answer as it came.
    struct Answer {
        /// Nil for a mere acknowledgement.
        let timeline: Timeline?
        let receivedAt: Instant
        /// How long after the reload went out it came.
        let latency: Interval
    }

    private struct KindName: Hashable {
        let app: BundleID
        let kind: WidgetKind
    }

    private var byInstance: [InstanceAddress: Answer] = [:]
    private var byKind: [KindName: Answer] = [:]

    /// An estimate later than this after the reload is none: the host was away.
    private static let latencyMax = Interval.minutes(15)

    mutating func noteAnswer(_ answer: Answer, to reload: ReloadEffect) {
        self.byInstance[reload.address] = answer
        self.byKind[KindName(app: reload.app, kind: reload.kind)] = answer
    }

    /// How a host would have answered a reload; nil if none of its kind ever answered.
    func estimate(for reload: ReloadEffect) -> Answer? {
        let known =
            self.byInstance[reload.address] ?? self.byKind[KindName(app: reload.app, kind: reload.kind)]
        guard let known else { return nil }
        let latency = min(known.latency, Self.latencyMax)
        let at = reload.issuedAt + latency
        return Answer(timeline: known.timeline?.moved(by: at - known.receivedAt), receivedAt: at, latency: latency)
    }
}

extension Timeline {
    /// The timeline as it would have been made so much later: every date goes along.
    fileprivate func moved(by interval: Interval) -> Timeline {
        let policy: ReloadPolicy =
            switch self.policy {
            case .after(let date): .after(date + interval)
            case .atEnd: .atEnd
            case .never: .never
            }
        return Timeline(
            entries: self.entries.map { TimelineEntry(date: $0.date + interval, relevance: $0.relevance) },
            policy: policy,
            digest: self.digest
        )
    }
}
