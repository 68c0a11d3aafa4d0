package import Engine
import History
import IntentMatching
package import Ownership
package import Timelines
package import WidgetModel

/// The engine's views as JSON, the same on every route.
package enum Views {
    /// A reload as it goes out on an event stream.
    package static func reload(_ reload: ReloadEffect) -> JSONValue {
        JSONValue.object(of: [
            ("id", .string(reload.id.description)),
            ("app", .string(reload.app.rawValue)),
            ("host", .string(reload.host.id.rawValue)),
            ("instance", .string(reload.instance.rawValue)),
            ("kind", .string(reload.kind.rawValue)),
            ("family", .string(reload.family.name)),
            ("causes", .strings(reload.causes.list.map(\.name))),
            ("charged", .bool(reload.isCharged)),
            ("exemption", reload.exemption.map { .string($0.name) }),
            ("push", reload.push.map { .string($0.description) }),
            ("pushes", .count(reload.pushCount)),
            ("issuedAt", .instant(reload.issuedAt)),
            ("expiresAt", .instant(reload.expiresAt)),
        ])
    }

    /// An invalidation, as it goes out on an event stream.
    package static func invalidation(_ invalidation: Invalidation) -> JSONValue {
        JSONValue.object(of: [
            ("app", .string(invalidation.app.rawValue)),
            ("kind", .string(invalidation.kind.rawValue)),
            ("host", invalidation.host.map { .string($0.rawValue) }),
            ("at", .instant(invalidation.at)),
        ])
    }

    package static func relevance(_ relevance: EntryRelevance) -> JSONValue {
        JSONValue.object(of: [
            ("score", .double(Double(relevance.score))),
            ("duration", .double(Double(relevance.duration.milliseconds) / 1000)),
        ])
    }

    package static func finding(_ finding: TimelineFinding) -> JSONValue {
        JSONValue.object(of: [("code", .string(finding.code)), ("message", .string(finding.message))])
    }

    /// One registered instance.
    package static func instance(_ instance: InstanceRegistration) -> JSONValue {
        JSONValue.object(of: [
            ("id", .string(instance.id.rawValue)),
            ("kind", .string(instance.kind.rawValue)),
            ("family", .string(instance.family.name)),
            ("configuration", .configuration(instance.configuration)),
            ("pushEnabled", .bool(instance.pushEnabled)),
            ("tags", .strings(instance.tags)),
            ("when", instance.when?.json),
        ])
    }

    /// A host's registration, as `GET …/widgets` answers it. Tokens are shortened.
    package static func registration(_ host: HostView) -> JSONValue {
        JSONValue.object(of: [
            ("host", .string(host.host.id.rawValue)),
            ("app", .string(host.app.rawValue)),
            ("tokens", .strings(host.tokens.map(\.description))),
            ("revision", .unsigned(host.revision)),
            ("delivery", .string(host.delivery.name)),
            ("registeredAt", .instant(host.registeredAt)),
            ("leaseEnds", host.leaseEnds.map { .instant($0) }),
            ("exemptions", .strings(host.exemptions.map(\.name))),
            ("isInStandBy", host.isInStandBy ? .bool(true) : nil),
            ("isInLowPower", host.isInLowPower ? .bool(true) : nil),
            ("outstandingReloads", .count(host.outstandingReloads)),
            ("instances", .array(host.instances.map { Views.instance($0) })),
        ])
    }

    /// The outcomes by name; only those that occur, in the order of their raw values.
    package static func outcomes(_ counts: OutcomeCounts) -> JSONValue {
        JSONValue.object(
            of: PushOutcome.allCases.map { outcome in
                (outcome.name, counts[outcome] == 0 ? nil : .count(counts[outcome]))
            }
        )
    }

    private static func failures(_ counts: OutcomeCounts) -> JSONValue? {
        let reasons = FailureReason.allCases.filter { counts[$0] > 0 }
        guard !reasons.isEmpty else { return nil }
        return JSONValue.object(of: reasons.map { ($0.name, .count(counts[$0])) })
    }

    /// Why a push waits; nil if it does not.
    private static func waiting(_ waiting: [PushWaiting]) -> JSONValue? {
        guard !waiting.isEmpty else { return nil }
        let sum = waiting.reduce(into: PushWaiting()) { $0 += $1 }
        let reasons = DecisionReason.allCases.map { ($0.name, sum[$0] == 0 ? nil : JSONValue.count(sum[$0])) }
        return JSONValue.object(of: [
            ("reasons", JSONValue.object(of: reasons)),
            ("earliest", sum.earliest.map { .instant($0) }),
            ("latest", sum.latest.map { .instant($0) }),
            ("expiring", .count(sum.expiring)),
            ("sampled", .bool(sum.isSampled)),
        ])
    }

    /// The outcomes of a push, summed over the partitions that applied it.
    ///
    /// - Parameters:
    ///   - record: The push itself, if that is told as well.
    ///   - partitions: How many the gateway has; a push to a device concerns only those that have it.
    package static func push(_ views: [PushView], _ record: PushRecord? = nil, partitions: Int) -> JSONValue? {
        guard let first = views.first else { return nil }
        var counts = OutcomeCounts()
        for view in views { counts += view.counts }
        let matched = views.reduce(0) { $0 + $1.matched }
        let said = record.map { Views.said($0) } ?? []
        // A push for an app is one for every partition, whether it has applied it or not.
        let concerned = first.isForApp ? partitions : views.count
        let head: [(String, JSONValue?)] = [
            ("id", .string(first.id.description)),
            ("team", .string(first.team.rawValue)),
            ("app", first.app.map { .string($0.rawValue) }),
        ]
        let rest: [(String, JSONValue?)] = [
            ("priority", .count(Int(first.priority.rawValue))),
            ("acceptedAt", .instant(first.acceptedAt)),
            ("expiresAt", .instant(first.expiresAt)),
            ("notBefore", first.notBefore.map { .instant($0) }),
            ("matched", .count(matched)),
            ("outcomes", Views.outcomes(counts)),
            ("waiting", Views.waiting(views.compactMap(\.waiting))),
            ("failures", Views.failures(counts)),
            ("failure", views.lazy.compactMap(\.failure).first.map { .string($0.name) }),
            ("isComplete", .bool(views.allSatisfy(\.isComplete) && views.count == concerned)),
            ("repeats", .count(views.map(\.repeats).max() ?? 0)),
            ("appliedBy", .count(views.count(where: \.isApplied))),
            ("partitions", .count(concerned)),
        ]
        return JSONValue.object(of: head + said + rest)
    }

    /// The final outcomes of a push, as its sender is told them.
    package static func receipt(_ receipt: PushReceipt) -> JSONValue {
        var counts = OutcomeCounts()
        for part in receipt.parts { counts += part.counts }
        let first = receipt.parts[0]
        return JSONValue.object(of: [
            ("id", .string(first.id.description)),
            ("team", .string(first.team.rawValue)),
            ("acceptedAt", .instant(first.acceptedAt)),
            ("completedAt", .instant(receipt.completedAt)),
            ("matched", .count(counts.total)),
            ("outcomes", Views.outcomes(counts)),
            ("failures", Views.failures(counts)),
            ("failure", receipt.parts.lazy.compactMap(\.failure).first.map { .string($0.name) }),
        ])
    }

    /// Everything about one instance: `GET /v1/instances/<app>/<host>:<instance>`.
    package static func instance(_ view: InstanceView) -> JSONValue {
        JSONValue.object(of: [
            ("id", .string(view.address.description)),
            ("app", .string(view.app.rawValue)),
            ("kind", .string(view.kind.rawValue)),
            ("family", .string(view.family.name)),
            ("configuration", .configuration(view.configuration)),
            ("pushEnabled", .bool(view.pushEnabled)),
            ("tags", .strings(view.tags)),
            ("generation", .count(view.generation)),
            ("isOrphaned", .bool(view.isOrphaned)),
            ("isVisible", view.isVisible.map { .bool($0) }),
            ("shownEntry", view.shownEntry.map { .instant($0) }),
            ("budget", Views.budget(view.budget)),
            ("timeline", view.timeline.map { Views.timeline($0) }),
            ("pending", .array(view.pending.map(\.json))),
            ("pendingCount", .count(view.pendingCount)),
            ("decidesAt", view.decidesAt.map { .instant($0) }),
            ("waitsFor", view.waitsFor.map { .string($0.name) }),
            ("nextReload", view.nextReload.map { .instant($0) }),
            ("behindSince", view.behindSince.map { .instant($0) }),
            ("outstanding", .array(view.outstanding.map { Views.reload($0) })),
            ("decisions", .array(view.decisions.map { Views.decision($0) })),
            ("ledger", view.ledger.json),
        ])
    }

    /// The order of a Smart Stack.
    package static func stack(_ stack: SmartStack, at now: Instant) -> JSONValue {
        JSONValue.object(of: [
            ("at", .instant(now)),
            (
                "widgets",
                .array(
                    stack.widgets.map { widget in
                        JSONValue.object(of: [
                            ("instance", .string(widget.instance.rawValue)),
                            ("score", .double(Double(widget.score))),
                            ("entry", widget.date.map { .instant($0) }),
                        ])
                    }
                )
            ),
        ])
    }

    /// A configuration that a person might like to have.
    ///
    /// - Parameter description: The words of the kind's recommendation.
    package static func suggestion(_ suggestion: Suggestions.Suggestion, _ description: String?) -> JSONValue {
        JSONValue.object(of: [
            ("kind", .string(suggestion.kind.rawValue)),
            ("configuration", .configuration(suggestion.relevance.configuration)),
            ("description", description.map { .string($0) }),
            ("from", suggestion.relevance.from.map { .instant($0) }),
            ("until", suggestion.relevance.until.map { .instant($0) }),
        ])
    }

    private static func budget(_ view: BudgetView) -> JSONValue {
        JSONValue.object(of: [
            ("policy", .string(view.policy)),
            ("windowStart", .instant(view.windowStart)),
            ("windowEnd", .instant(view.windowEnd)),
            ("allowance", view.allowance.map { .count($0) }),
            ("pushAllowance", view.pushAllowance.map { .count($0) }),
            ("charged", .count(view.charged)),
            ("pushesCharged", .count(view.pushesCharged)),
            ("burst", .count(view.burst)),
            ("intervalSeconds", .count(Int(view.interval.milliseconds / 1000))),
            ("viewsPerDay", .double(Double(view.viewRate) / 256)),
            ("isLearning", .bool(view.isLearning)),
            ("exemptReloads", .count(view.exemptReloads)),
            ("observedReloads", .count(view.observedReloads)),
            ("collateralReloads", view.collateralReloads == 0 ? nil : .count(view.collateralReloads)),
            ("collateralOverReloads", view.collateralOverReloads == 0 ? nil : .count(view.collateralOverReloads)),
            ("lastReload", view.lastReload.map { .instant($0) }),
            (
                "nextConforming",
                JSONValue.object(of: [
                    ("priority10", .instant(view.nextHigh)),
                    ("priority5", .instant(view.nextNormal)),
                    ("policy", .instant(view.nextPolicy)),
                ])
            ),
            ("exemption", view.exemption.map { .string($0.name) }),
        ])
    }

    private static func timeline(_ view: TimelineView) -> JSONValue {
        let policy: JSONValue =
            switch view.policy {
            case .atEnd: .string("atEnd")
            case .never: .string("never")
            case .after(let date): JSONValue.object(of: [("after", .instant(date))])
            }
        return JSONValue.object(of: [
            ("entries", .count(view.entries)),
            ("firstDate", view.firstDate.map { .instant($0) }),
            ("lastDate", view.lastDate.map { .instant($0) }),
            ("policy", policy),
            ("digest", view.digest.map { .string(String(decoding: $0, as: UTF8.self)) }),
            ("receivedAt", .instant(view.receivedAt)),
            ("nextRequest", view.nextRequest.map { .instant($0) }),
            ("findings", .array(view.findings.map { Views.finding($0) })),
        ])
    }

    package static func decision(_ view: DecisionView) -> JSONValue {
        JSONValue.object(of: [
            ("at", .instant(view.at)),
            ("position", .unsigned(view.position.rawValue)),
            ("cause", .string(view.cause.name)),
            ("push", view.push.map { .string($0.description) }),
            ("outcome", .string(view.outcome.name)),
            ("reason", .string(view.reason.name)),
            ("exemption", view.exemption.map { .string($0.name) }),
            ("until", view.until.map { .instant($0) }),
        ])
    }
}
