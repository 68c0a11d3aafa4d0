import Synchronization
package import Timelines
package import WidgetModel

/// A kind of an app.
package struct KindKey: Hashable, Sendable, CustomStringConvertible {
    package let app: BundleID
    package let kind: WidgetKind

    package init(app: BundleID, kind: WidgetKind) {
        self.app = app
        self.kind = kind
    }

    package var description: String { "\(self.app)/\(self.kind)" }
}

/// The findings about the timelines of each kind since the gateway started, from any source.
package final class KindStates: Sendable {
    private let findings = Mutex<[KindKey: KindFindings]>([:])

    package init() {}

    package func noteFindings(
        _ findings: [TimelineFinding],
        of instance: InstanceAddress,
        _ key: KindKey,
        at now: Instant
    ) {
        guard !findings.isEmpty else { return }
        self.findings.withLock { $0[key, default: KindFindings()].noteFindings(findings, of: instance, at: now) }
    }

    package func noteSlowness(_ slowness: KindFindings.Slowness, of key: KindKey) {
        self.findings.withLock { $0[key, default: KindFindings()].noteSlowness(slowness) }
    }

    package func takeHeader(of key: KindKey) -> String? { self.findings.withLock { $0[key]?.takeHeader() } }

    package subscript(key: KindKey) -> KindFindings { self.findings.withLock { $0[key] } ?? KindFindings() }

    /// How often each code was found for each kind, in the order of their names.
    package var counts: [(key: KindKey, code: String, count: Int)] {
        self.findings.withLock { $0 }
            .flatMap { key, findings in findings.counts.map { (key, $0.code, $0.count) } }
            .sorted { ("\($0.0)", $0.1) < ("\($1.0)", $1.1) }
    }
}
