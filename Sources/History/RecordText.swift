package import Engine
import IntentMatching
package import Journaling
import Timelines
package import WidgetModel

/// A record of the log as a line of JSON, as `freshet log export` writes it.
///
/// Members are named as on the wire. Tokens are shortened. With the record's own bytes the line has all of it; without
/// them it is for people and statistics.
package struct RecordText: Sendable {
    package let partition: PartitionID
    package let position: LogPosition
    package let logTime: Instant
    /// The record's place in its entry.
    package let index: Int
    package let bytes: [UInt8]

    /// - Parameter hasBytes: Whether the record's bytes are a member, with everything that is in them.
    package func json(hasBytes: Bool = false) throws(ByteError) -> JSONValue {
        var reader = ByteReader(self.bytes)
        let record = try Record(from: &reader)
        let head: [(String, JSONValue?)] = [
            ("partition", .count(Int(self.partition.rawValue))), ("position", .unsigned(self.position.rawValue)),
            ("index", .count(self.index)), ("time", .instant(self.logTime)), ("record", .string(record.name)),
        ]
        let by: [(String, JSONValue?)] = if case .order(let order) = record { order.source?.members ?? [] } else { [] }
        let bytes: (String, JSONValue?) = ("bytes", hasBytes ? .string(Base16.text(of: self.bytes)) : nil)
        return .object(of: head + record.members + by + [bytes])
    }
}

extension LogEntry {
    /// The entry's records, to be written as lines.
    package func texts(of partition: PartitionID) -> [RecordText] {
        let bytes = self.bytes
        return self.records.enumerated().map { index, range in
            RecordText(
                partition: partition,
                position: self.position,
                logTime: self.logTime,
                index: index,
                bytes: Array(bytes[range])
            )
        }
    }
}

extension Record {
    /// The word for its kind.
    package var name: String {
        switch self {
        case .settings: "settings"
        case .push: "push"
        case .register: "register"
        case .unregister: "unregister"
        case .signal: "signal"
        case .timeline: "timeline"
        case .delivery: "delivery"
        case .appReload: "appReload"
        case .invalidate: "invalidate"
        case .order: "order"
        case .audit: "audit"
        case .configure: "configure"
        case .channel: "channel"
        case .trace: "trace"
        case .tick: "tick"
        }
    }

    var members: [(String, JSONValue?)] {
        switch self {
        case .settings(let settings): settings.members
        case .configure(let change):
            [("base", .count(change.base))] + (change.settings?.members ?? [])
                + [("amendment", change.amendment.map { .object(of: $0.members) })]
        case .push(let push): push.members
        case .register(let registration): registration.members
        case .unregister(let removal):
            removal.host.members + [
                ("token", removal.token.map { .string($0.description) }),
                ("notRegisteredSince", removal.notRegisteredSince.map { .instant($0) }),
                ("erased", removal.purpose == .erasure ? .bool(true) : nil),
                ("moves", removal.purpose == .move ? .bool(true) : nil),
            ]
        case .signal(let signal): signal.members
        case .timeline(let report): report.members
        case .delivery(let report):
            report.host.members + [("reload", .string(report.reload.description))] + report.result.members
        case .appReload(let request):
            [
                ("app", .string(request.app.rawValue)), ("kind", request.kind.map { .string($0.rawValue) }),
                ("match", request.pattern?.json), ("host", request.host.map { .string($0.rawValue) }),
                ("digest", request.digest.map { .text($0) }),
                ("controls", request.isForControls ? .bool(true) : nil),
            ]
        case .invalidate(let request):
            [
                ("app", .string(request.app.rawValue)), ("subject", .string(String(describing: request.subject))),
                ("kind", request.kind.map { .string($0.rawValue) }),
                ("host", request.host.map { .string($0.rawValue) }),
            ]
        case .order(let order): order.members
        case .audit(let note): note.members
        case .channel(let command): command.members
        case .trace(let trace):
            [
                ("push", .string(trace.push.description)), ("traceparent", .string(trace.context.traceparent)),
            ]
        case .tick: []
        }
    }
}

extension EngineSettings {
    fileprivate var members: [(String, JSONValue?)] {
        [("engine", .count(self.engineVersion)), ("apps", .array(self.apps.map { $0.json }))]
    }
}

extension HostKey {
    var members: [(String, JSONValue?)] {
        [("app", .string(self.app.rawValue)), ("host", .string(self.id.rawValue))]
    }
}

extension DeliveryReport.Result {
    fileprivate var members: [(String, JSONValue?)] {
        switch self {
        case .acknowledged: [("result", .string("acknowledged"))]
        case .refused(let reason): [("result", .string("refused")), ("reason", .string(reason))]
        }
    }
}

extension AppSettings {
    fileprivate var json: JSONValue {
        .object(of: [
            ("app", .string(self.app.rawValue)), ("team", .string(self.team.rawValue)),
            ("developerMode", self.developerMode ? .bool(true) : nil),
            (
                "kinds",
                .array(
                    self.kinds.map { kind in
                        .object(of: [
                            ("kind", .string(kind.schema.kind.rawValue)), ("budget", .string(kind.budget.name)),
                            ("usesLocation", kind.usesLocation ? .bool(true) : nil),
                        ])
                    }
                )
            ),
        ])
    }
}

extension PushRecord {
    var members: [(String, JSONValue?)] {
        var target: [(String, JSONValue?)]
        switch self.target {
        case .host(let host, let instance):
            target = host.members + [("instance", instance.map { .string($0.rawValue) })]
        case .app(let app): target = [("app", .string(app.rawValue))]
        }
        target += [
            ("id", .string(self.id.description)), ("team", .string(self.team.rawValue)),
            ("key", self.key.map { .string($0.rawValue) }),
            ("contentHash", .string(Base16.text(of: self.contentHash))),
            ("priority", self.priority.map { .count(Int($0.rawValue)) }),
            ("expiration", self.expiration.map { .int($0) }),
            ("collapseID", self.collapseID.map { .text($0.bytes) }),
            ("notBefore", self.notBefore.map { .instant($0) }),
            ("digest", self.digest.map { .text($0) }),
            ("kind", self.kind.map { .string($0.rawValue) }),
            ("match", self.pattern?.json),
            ("attributes", self.attributes.parameters.isEmpty ? nil : .configuration(self.attributes)),
        ]
        return target
    }
}

extension HostRegistration {
    fileprivate var members: [(String, JSONValue?)] {
        self.host.members + [
            ("token", .string(self.token.description)),
            ("replaces", self.replacedToken.map { .string($0.description) }),
            ("revision", .unsigned(self.revision)),
            ("delivery", .string(self.delivery.name)),
            ("locale", self.context.locale.map { .string($0) }),
            ("timeZone", self.context.timeZone.map { .string($0) }),
            ("lease", self.lease.map { .seconds($0) }),
            (
                "instances",
                .array(
                    self.instances.map { instance in
                        .object(of: [
                            ("id", .string(instance.id.rawValue)), ("kind", .string(instance.kind.rawValue)),
                            ("family", .string(instance.family.name)),
                            ("configuration", .configuration(instance.configuration)),
                            ("pushEnabled", .bool(instance.pushEnabled)),
                            ("tags", instance.tags.isEmpty ? nil : .strings(instance.tags)),
                            ("when", instance.when?.json),
                            ("controlToken", instance.controlToken.map { .string($0.description) }),
                        ])
                    }
                )
            ),
        ]
    }
}

extension TimelineReport {
    fileprivate var members: [(String, JSONValue?)] {
        self.host.members + [
            ("instance", .string(self.instance.rawValue)),
            ("reload", self.reload.map { .string($0.description) }),
            ("policy", .of(self.timeline.policy)),
            ("digest", self.timeline.digest.map { .text($0) }),
            ("contentBytes", self.contentBytes.map { .count($0) }),
            (
                "entries",
                .array(
                    self.timeline.entries.map { entry in
                        .object(of: [
                            ("date", .instant(entry.date)),
                            ("score", entry.relevance.map { .double(Double($0.score)) }),
                            ("duration", entry.relevance.map { .seconds($0.duration) }),
                        ])
                    }
                )
            ),
        ]
    }
}

extension ChannelCommand {
    fileprivate var members: [(String, JSONValue?)] {
        switch self {
        case .create(let channel, let app, _):
            [
                ("action", .string("create")), ("app", .string(app.rawValue)),
                ("channel", .string(channel.id.rawValue)), ("pushType", .string(String(describing: channel.pushType))),
                ("storagePolicy", .count(Int(channel.storagePolicy.rawValue))),
            ]
        case .delete(let channel, let app):
            [
                ("action", .string("delete")), ("app", .string(app.rawValue)), ("channel", .string(channel.rawValue)),
            ]
        }
    }
}
