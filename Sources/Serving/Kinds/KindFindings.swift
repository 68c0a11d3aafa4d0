package import Timelines
package import WidgetModel

/// The findings about the timelines of one kind: counted, and told to their provider.
package struct KindFindings: Hashable, Sendable {
    package struct Recent: Hashable, Sendable {
        package let at: Instant
        package let instance: InstanceAddress
        package let finding: TimelineFinding
    }

    /// A request that took a provider longer than ``Gallery/previewMax``. The raw value is the code.
    package enum Slowness: String, Hashable, Sendable, CaseIterable {
        /// A placeholder, which is to be there at once.
        case placeholder = "slowPlaceholder"
        /// A snapshot for a gallery, for which sample data would do.
        case preview = "slowPreview"
    }

    /// How many of the last findings are kept whole.
    package static let recentMax = 32

    /// By code, in the order in which the codes were first seen.
    package private(set) var counts: [(code: String, count: Int)] = []
    private var untold: [(code: String, count: Int)] = []
    package private(set) var recent: [Recent] = []

    package init() {}

    package mutating func noteFindings(_ findings: [TimelineFinding], of instance: InstanceAddress, at now: Instant) {
        for finding in findings {
            Self.count(finding.code, 1, in: &self.counts)
            Self.count(finding.code, 1, in: &self.untold)
            if self.recent.count == Self.recentMax { self.recent.removeFirst() }
            self.recent.append(Recent(at: now, instance: instance, finding: finding))
        }
    }

    package mutating func noteSlowness(_ slowness: Slowness) {
        Self.count(slowness.rawValue, 1, in: &self.counts)
        Self.count(slowness.rawValue, 1, in: &self.untold)
    }

    /// The findings that the provider has not been told, as the value of a header: `tooClose=3, empty=1`; nil if there
    /// are none.
    package mutating func takeHeader() -> String? {
        guard !self.untold.isEmpty else { return nil }
        defer { self.untold = [] }
        return self.untold.map { "\($0.code)=\($0.count)" }.joined(separator: ", ")
    }

    private static func count(_ code: String, _ count: Int, in counts: inout [(code: String, count: Int)]) {
        if let index = counts.firstIndex(where: { $0.code == code }) {
            counts[index].count += count
        } else {
            counts.append((code, count))
        }
    }

    package static func == (left: KindFindings, right: KindFindings) -> Bool {
        left.counts.elementsEqual(right.counts, by: ==) && left.untold.elementsEqual(right.untold, by: ==)
            && left.recent == right.recent
    }

    package func hash(into hasher: inout Hasher) {
        for entry in self.counts { hasher.combine(entry.code) }
        hasher.combine(self.recent)
    }
}
