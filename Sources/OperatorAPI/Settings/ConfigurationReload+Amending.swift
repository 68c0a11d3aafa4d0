import APNSWire
package import Engine
import HTTPTransport
import Logging
package import Partitions
import Serving
package import Settings
import Synchronization
package import WidgetModel

/// A team or an app that operators have changed by a request, beside the file's entry for it.
package struct AmendmentView: Hashable, Sendable {
    package let standing: StandingAmendment
    /// The file's entry; nil if it has none.
    package let file: JSONValue?
    /// The value in force; nil if the entry has ended.
    package let inForce: JSONValue?

    package init(_ standing: StandingAmendment, _ file: GatewayConfiguration) {
        self.standing = standing
        self.file = file.json(of: standing.entry)
        self.inForce = standing.value.flatMap { try? JSONReader().parse(Array($0.utf8)) }
    }

    package var json: JSONValue {
        let (team, app): (String?, String?) =
            switch self.standing.entry {
            case .team(let team): (team.rawValue, nil)
            case .app(let app): (nil, app.rawValue)
            }
        return JSONValue.object(of: [
            ("team", team.map { .string($0) }), ("app", app.map { .string($0) }),
            ("since", .instant(self.standing.since)), ("by", .string(self.standing.source.caller)),
            ("address", .string(self.standing.source.address)), ("request", .string(self.standing.source.request)),
            ("isAsInFile", .bool(self.inForce == self.file)), ("inForce", self.inForce), ("file", self.file),
        ])
    }
}

/// Changes that operators make by requests: they are in the log of every partition, win over the file until they are taken back,
/// and are put in force as a reading of the file is.
extension ConfigurationReload {
    /// The edit that a request asks for.
    package enum Edit: Hashable, Sendable {
        /// The entry, whole.
        case put(JSONValue)
        case end
        /// The file's entry, again.
        case revert
        /// One part of the entry: a key of a team, a kind of an app.
        case putPart(String, JSONValue)
        case endPart(String)

        fileprivate var part: String? {
            switch self {
            case .put, .end, .revert: nil
            case .putPart(let name, _), .endPart(let name): name
            }
        }
    }

    /// The version of the entry that the client says that it knows.
    package struct Condition: Hashable, Sendable {
        package var ifMatch: String?
        package var ifNoneMatch: String?

        package init(ifMatch: String? = nil, ifNoneMatch: String? = nil) {
            (self.ifMatch, self.ifNoneMatch) = (ifMatch, ifNoneMatch)
        }
    }

    /// The result of a request for a change.
    package struct Amended: Sendable {
        /// By paths in the entry; its faults say why nothing was taken.
        package var difference = Difference()
        /// Whether the faults are the entry's alone, whatever else is configured.
        package var isMalformed = false
        /// Its present value, or the one that it would have; nil if there is no such thing.
        package var value: JSONValue?
    }

    /// The changes of operators that stand, the oldest first.
    package func amendments() async throws(Problem) -> [StandingAmendment] {
        try await self.log.askAnyPresent(InForceQuestion()).amendments
    }

    /// An entry that is in force, or a part of it; nil if there is none.
    package func value(of entry: AmendedEntry, part: String? = nil) -> JSONValue? {
        Self.value(self.inForce.json(of: entry), part, entry)
    }

    /// Changes an entry, or a part of it.
    ///
    /// - Parameters:
    ///   - source: The operator who asks for it.
    ///   - condition: The version that the client knows.
    ///   - isDryRun: Whether nothing is taken.
    /// - Throws: ``Problem``: `not-found` if there is nothing to change, `precondition-failed` if it is not as the client knows it,
    ///   `too-large` if there would be too many changes, `too-many` if other gateways change the configuration at the same moment, or the log
    ///   does not take it.
    package func amend(
        _ entry: AmendedEntry,
        _ edit: Edit,
        by source: OperatorSource,
        if condition: Condition = Condition(),
        isDryRun: Bool = false
    ) async throws(Problem) -> Amended {
        try self.beginTurn()
        defer { self.endTurn() }
        for _ in 0..<Self.attemptsMax {
            var plan = try await self.plan(entry, edit, by: source, if: condition)
            guard plan.amended.difference.faults.isEmpty else { return plan.amended }
            guard !isDryRun else {
                plan.amended.difference.orphaned = try await self.orphans(under: plan.merged)
                return plan.amended
            }
            guard let change = plan.change else { return plan.amended }
            guard let orphaned = try await self.append(change) else { continue }
            plan.amended.difference.orphaned = orphaned
            self.putInForce(plan.merged, file: self.file, version: plan.version + 1)
            self.logger.notice(
                "the configuration was changed by a request",
                metadata: ["entry": "\(entry)", "by": "\(source.caller)", "request": "\(source.request)"]
            )
            return plan.amended
        }
        throw Self.overtaken("\(entry)")
    }

    // MARK: Steps

    /// A change as it is to be logged, and what would be in force with it.
    private struct Plan {
        var amended: Amended
        /// Nil where it is in force already.
        var change: SettingsChange?
        var merged: GatewayConfiguration
        /// That of the settings that it is worked out from.
        let version: Int
    }

    /// Works a change out from all changes that stand; nothing is taken.
    private func plan(
        _ entry: AmendedEntry,
        _ edit: Edit,
        by source: OperatorSource,
        if condition: Condition
    ) async throws(Problem) -> Plan {
        let (all, latest) = try await self.askInForce()
        try self.checkRules(of: all)
        // A change by another gateway that this one has not followed yet would be taken back with the rest of the entry.
        self.follow(latest)
        let (before, file, own) = (self.inForce, self.file, self.ownEngineSettings.value)
        // With the change, all else that this gateway's file says would be in force. A partition with an older version is on its way.
        let others = all.filter { $0.settingsVersion == latest.settingsVersion && $0.settings != own }
        guard others.allSatisfy({ $0.settings == nil }) else {
            throw Problem(
                .preconditionFailed,
                "partitions decide by other settings than this gateway's: give all gateways the same file, reload one, then send this again"
            )
        }
        let standing = latest.amendments
        let current = before.json(of: entry)
        try Self.check(condition, Self.value(current, edit.part, entry))
        let wanted = try Self.edited(current, edit, entry, standing)
        var plan = Plan(amended: Amended(isMalformed: true), merged: before, version: latest.settingsVersion)
        var next = standing
        do {
            let action = try Self.action(wanted, edit, entry, file, current)
            plan.amended.isMalformed = false
            let amendment = Amendment(action, entry, by: source)
            next.takeAmendment(amendment, at: self.clock.now())
            plan.merged = try file.amended(by: next)
            try self.checkFiles(plan.merged)
            if !Self.says(standing[entry], action) {
                let settings = EngineSettings(plan.merged)
                let isUnchanged = all.allSatisfy { $0.settings == settings }
                plan.change = SettingsChange(isUnchanged ? nil : settings, from: plan.version, with: amendment)
            }
        } catch let faults as SettingsError {
            plan.amended.difference.faults = faults.faults
            return plan
        } catch {
            plan.amended.difference.faults = [SettingFault(place: .nowhere, path: "", sentence: "\(error)")]
            return plan
        }
        try Self.check(next, standing, before.limits)
        let after = plan.merged.json(of: entry)
        plan.amended.value = Self.value(after, edit.part, entry)
        plan.amended.difference.changes = Self.changes(current, after)
        return plan
    }

    private static func check(_ condition: Condition, _ value: JSONValue?) throws(Problem) {
        let tag = value.map { EntityTag($0.jsonText, isWeak: false) }
        guard
            EntityTag.allowsChange(of: tag, ifMatch: condition.ifMatch, ifNoneMatch: condition.ifNoneMatch)
        else {
            let now = tag.map { "its tag is now \($0)" } ?? "it no longer exists"
            throw Problem(.preconditionFailed, "it has changed since you read it: \(now); read it again")
        }
    }

    /// Refuses more than there may be, unless it is less than before.
    private static func check(
        _ stands: [StandingAmendment],
        _ standing: [StandingAmendment],
        _ limits: GatewayConfiguration.Limits
    ) throws(Problem) {
        func bytes(_ all: [StandingAmendment]) -> Int { all.reduce(0) { $0 + ($1.value?.utf8.count ?? 0) } }
        if stands.count > max(limits.amendmentsMax, standing.count) {
            throw Problem(
                .tooLarge,
                "\(standing.count) teams and apps are changed, the limit (limits.maxAmendments); copy some into the configuration file and revert them"
            )
        }
        if bytes(stands) > max(limits.amendmentBytesMax, bytes(standing)) {
            throw Problem(
                .tooLarge,
                "changed teams and apps would have \(bytes(stands)) bytes (limits.maxAmendmentBytes); copy some into the configuration file and revert them"
            )
        }
    }

    /// The entry as it is to be; nil for none.
    ///
    /// - Throws: `not-found` if there is nothing to end, to revert, or to put a part into.
    private static func edited(
        _ current: JSONValue?,
        _ edit: Edit,
        _ entry: AmendedEntry,
        _ standing: [StandingAmendment]
    ) throws(Problem) -> JSONValue? {
        switch edit {
        case .put(let value): return entry.named(value)
        case .revert:
            guard standing[entry] != nil else {
                throw Problem(.notFound, "the \(entry) is as in the configuration file")
            }
            return nil
        case .end, .putPart, .endPart: break
        }
        guard let current else { throw Problem(.notFound, "there is no \(entry)") }
        guard let part = edit.part else { return nil }
        let (list, nameKey) = entry.parts
        var parts = current.elements(list)
        let place = parts.firstIndex { $0[nameKey] == .string(part) }
        if case .putPart(_, let value) = edit {
            let named = value.named(nameKey, part)
            guard named[nameKey] == .string(part) else {
                throw Problem(.badRequest, "differs from the name in the path", path: nameKey)
            }
            if let place { parts[place] = named } else { parts.append(named) }
        } else {
            guard let place else { throw Problem(.notFound, "there is no \"\(part)\" of the \(entry)") }
            parts.remove(at: place)
        }
        return current.with(list, .array(parts))
    }

    /// The action to log.
    private static func action(
        _ wanted: JSONValue?,
        _ edit: Edit,
        _ entry: AmendedEntry,
        _ file: GatewayConfiguration,
        _ current: JSONValue?
    ) throws(SettingsError) -> Amendment.Action {
        if edit == .revert { return .revert }
        guard let wanted else { return file.json(of: entry) == nil ? .revert : .end }
        let read = try file.reading(wanted, as: entry, keeping: current)
        return .put(String(decoding: read.jsonText, as: UTF8.self))
    }

    /// Whether an action changes nothing about the standing amendment.
    private static func says(_ standing: StandingAmendment?, _ action: Amendment.Action) -> Bool {
        switch action {
        case .put(let value): standing?.value == value
        case .end: standing.map { $0.value == nil } ?? false
        case .revert: standing == nil
        }
    }

    private static func value(_ whole: JSONValue?, _ part: String?, _ entry: AmendedEntry) -> JSONValue? {
        guard let part else { return whole }
        let (list, nameKey) = entry.parts
        return whole?.elements(list).first { $0[nameKey] == .string(part) }
    }

    /// The differences, by paths in the entry.
    private static func changes(_ old: JSONValue?, _ new: JSONValue?) -> [Difference.Change] {
        func flat(_ value: JSONValue?) -> [String: JSONValue] {
            var keys: [String: JSONValue] = [:]
            if let value { GatewayConfiguration.flatten(value, "", into: &keys) }
            return keys
        }
        let (old, new) = (flat(old), flat(new))
        return Self.differing(old, new).map { key in
            Difference.Change(key: key, old: old[key], new: new[key], takesRestart: false)
        }
    }
}

extension JSONValue {
    /// The elements of a member that is an array.
    fileprivate func elements(_ name: String) -> [JSONValue] {
        guard case .array(let elements) = self[name] else { return [] }
        return elements
    }

    /// An object with another value of a member.
    fileprivate func with(_ name: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.map { $0.name == name ? Member(name: name, value: value) : $0 })
    }
}
