import Engine
import Timelines
import WidgetModel

/// Reasons in plain words.
enum TraceWords {
    static func time(_ instant: Instant) -> String { RFC3339.nearestText(to: instant) }

    static func reason(_ reason: DecisionReason) -> String {
        switch reason {
        case .conforms: "the budget allows it"
        case .exempt: "it is not charged"
        case .pace: "the pace of its budget: too soon after the last reloads"
        case .minimumInterval: "it is less than the minimum interval after another reload"
        case .allowance: "the allowance of the window, or the pushes' share of it, is used up"
        case .notBefore: "its not-before is in the future"
        case .joinsPolicy: "the timeline reloads within minutes anyway, and the push joins that reload"
        case .waitsForAnother: "priority 1 waits for another reload"
        case .exemptInterval: "it is less than 15 s after another reload that was not charged"
        case .joined: "it joins another reload"
        case .collapseID: "a later push with the same collapse id replaced it"
        case .sameDigest: "it already shows that content"
        case .expiration: "its expiration passed"
        case .instanceRemoved: "the widget was removed, or has another kind or family"
        case .hostRemoved: "the host was removed, or its lease ended"
        case .acknowledged: "the host acknowledged it"
        case .unacknowledged: "the host did not acknowledge it in time"
        case .refused: "the host refused it"
        case .pendingLimit: "too many pushes already wait for it"
        case .hidden: "the widget is hidden; the reload is held until it is visible"
        case .systemChange: "the host has just reloaded it by itself"
        case .paused: "the app, the kind or the sender is paused"
        case .cancelled: "it was cancelled"
        case .collateral:
            "collateral: a push to another widget with the same token reloads this one too, and its budget allows it"
        case .collateralOver:
            "collateral: a push to another widget with the same token reloads this one too, beyond its budget"
        case .notPushEnabled: "its host can only be reached by pushes, and it is not push-enabled"
        case .otherEnvironment: "its push token belongs to APNs' other environment"
        case .lowPower: "its host is in low power mode, in which a timeline's own reloads are further apart"
        }
    }

    static func condition(_ condition: MatchVerdict.Condition) -> String {
        let wanted = condition.wanted.shortText
        guard let found = condition.found else { return "\(condition.name) must be \(wanted), but there is none" }
        let has = found.shortText
        return condition.holds
            ? "\(condition.name) = \(has)" : "\(condition.name) must be \(wanted), but is \(has)"
    }

    static func budget(_ view: BudgetView) -> String {
        func share(_ charged: Int, _ most: Int?) -> String { most.map { "\(charged) of \($0)" } ?? "\(charged)" }
        let pushes = "pushes \(share(view.pushesCharged, view.pushAllowance))"
        let limit = view.allowance == nil ? ", no limit" : ""
        return
            "\(share(view.charged, view.allowance)) charged (\(pushes))\(limit), window until \(Self.time(view.windowEnd))"
    }

    /// A record other than a push, in a few words.
    static func record(_ record: Record) -> String {
        switch record {
        case .settings: return "the configuration changed"
        case .configure(let change):
            return change.amendment == nil ? "the configuration changed" : "an operator changed the configuration"
        case .push(let push): return "push \(push.id) of \(push.team.rawValue)"
        case .register(let registration): return "the host registered, revision \(registration.revision)"
        case .unregister(let removal): return removal.token == nil ? "the host was removed" : "a push token was removed"
        case .signal(let signal): return "signal \(signal.name)"
        case .timeline(let report):
            let reload = report.reload.map { " for reload \($0)" } ?? ", by the host itself"
            return "a timeline of \(report.timeline.entries.count) entries came\(reload)"
        case .delivery(let report):
            return switch report.result {
            case .acknowledged: "reload \(report.reload) was acknowledged"
            case .refused(let reason): "reload \(report.reload) was refused: \(reason)"
            }
        case .appReload: return "the app asked for a reload"
        case .invalidate: return "the app invalidated its relevance, placeholder or other data"
        case .order(let order):
            return switch order.action {
            case .pause: "an operator paused an app, a kind or a sender"
            case .resume: "an operator resumed an app, a kind or a sender"
            case .cancel: "an operator cancelled waiting pushes"
            case .grant(let count): "an operator granted \(count) reloads"
            case .reload: "an operator asked for a reload"
            }
        case .audit: return "an operator made a request"
        case .channel: return "a channel changed"
        case .trace(let trace): return "push \(trace.push) is traced as \(trace.context.traceID)"
        case .tick: return "time passed"
        }
    }

    /// An answer in words; nil if it is not worth any.
    static func answer(_ answer: RecordAnswer.Result) -> String? {
        switch answer {
        case .staleRevision(let current): "refused: revision \(current) was already applied"
        case .refused(let refusal): "refused: \(refusal)"
        case .staleGeneration: "discarded: it was made for an earlier configuration of the widget"
        case .timelineRefused(let fault): "refused: \(fault)"
        case .timeline(let findings) where !findings.isEmpty:
            "findings: \(findings.map(\.code).joined(separator: ", "))"
        case .delivery(known: false): "without effect: no such reload was outstanding"
        case .unknownHost: "without effect: the host was not registered"
        case .unknownInstance: "without effect: the host did not show the widget"
        default: nil
        }
    }
}

extension JSONValue {
    /// The value in a few characters, for messages.
    fileprivate var shortText: String {
        switch self {
        case .string(let text): text
        case .array(let elements): "[\(elements.map(\.shortText).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\($0.name): \($0.value.shortText)" }.joined(separator: ", "))}"
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .int(let int): "\(int)"
        case .unsigned(let int): "\(int)"
        case .double(let double): "\(double)"
        }
    }
}
