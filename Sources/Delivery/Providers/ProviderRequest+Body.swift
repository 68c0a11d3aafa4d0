import APNSWire
package import Engine
package import WidgetModel

/// How a timeline provider is asked.
extension ProviderRequest {
    /// The request that asks for the timelines of instances.
    package static func timelines(_ subjects: [FetchSubject], now: Instant) -> JSONValue {
        guard let first = subjects.first else { return .object([]) }
        return Self.timeline.body(
            app: first.app,
            kind: first.kind,
            now: now,
            requests: subjects.map { subject in
                JSONValue.object(of: [
                    ("id", .string(subject.reload.description)),
                    ("instance", .string("\(subject.address.host.id):\(subject.address.instance)")),
                    ("context", Self.json(TimelineProviderContext(family: subject.family, host: subject.context))),
                    ("configuration", .configuration(subject.configuration)),
                    ("causes", .strings(subject.causes.list.map(\.name))),
                    ("push", subject.push.map { .string($0.description) }),
                    ("digest", subject.digest.map { .string(String(decoding: $0, as: UTF8.self)) }),
                ])
            }
        )
    }

    /// The request that asks anything else, about one configuration or none.
    package func body(
        app: BundleID,
        kind: WidgetKind,
        context: TimelineProviderContext,
        configuration: Configuration,
        now: Instant
    ) -> JSONValue {
        let request = JSONValue.object(of: [
            ("id", .string(Self.onlyID)),
            ("context", Self.json(context)),
            ("configuration", .configuration(configuration)),
        ])
        return self.body(app: app, kind: kind, now: now, requests: [request])
    }

    /// The id of a request that is alone.
    static let onlyID = "1"

    private func body(app: BundleID, kind: WidgetKind, now: Instant, requests: [JSONValue]) -> JSONValue {
        JSONValue.object(of: [
            ("question", .string(self.rawValue)),
            ("app", .string(app.rawValue)),
            ("kind", .string(kind.rawValue)),
            ("now", .instant(now)),
            ("requests", .array(requests)),
        ])
    }

    private static func json(_ context: TimelineProviderContext) -> JSONValue {
        JSONValue.object(of: [
            ("family", .string(context.family.name)),
            ("isPreview", .bool(context.isPreview)),
            (
                "displaySize",
                context.displaySize.map { size in
                    JSONValue.object(of: [("width", .double(size.width)), ("height", .double(size.height))])
                }
            ),
            (
                "environmentVariants",
                JSONValue.object(of: context.environmentVariants.map { ($0.name, .strings($0.values)) })
            ),
            ("locale", context.locale.map { .string($0) }),
            ("timeZone", context.timeZone.map { .string($0) }),
        ])
    }
}
