package import Engine
package import Timelines
import WidgetModel

/// A timeline as a provider wrote it.
package struct ProvidedTimeline: Hashable, Sendable {
    package let timeline: Timeline
    /// The content of each entry of ``timeline``, as compact JSON.
    package let contents: [[UInt8]]

    package init(timeline: Timeline, contents: [[UInt8]]) {
        (self.timeline, self.contents) = (timeline, contents)
    }

    /// Whether the engine has accepted it already.
    func isSame(as accepted: Timeline?) -> Bool {
        accepted?.entries == self.timeline.entries && accepted?.digest == self.timeline.digest
    }

    /// As it is logged for an instance.
    func report(_ subject: FetchSubject) -> TimelineReport {
        TimelineReport(
            host: subject.address.host,
            instance: subject.address.instance,
            reload: subject.reload,
            timeline: self.timeline,
            contentBytes: self.contents.reduce(0) { $0 + $1.count }
        )
    }

    /// As it is kept for an instance.
    package func stored(_ subject: FetchSubject) -> StoredTimeline {
        StoredTimeline(
            reload: subject.reload,
            address: subject.address,
            kind: subject.kind,
            family: subject.family,
            digest: self.timeline.digest ?? [],
            entries: self.timeline.entries.indices.map { index in
                let entry = self.timeline.entries[index]
                return .init(date: entry.date, relevance: entry.relevance, content: self.contents[index])
            }
        )
    }
}
