import Engine
package import WidgetModel

extension InstanceTrace {
    /// The answer of `GET /v1/instances/<id>/why`.
    package var json: JSONValue {
        .object(of: [
            ("instance", .string(self.address.description)), ("partition", .count(Int(self.partition.rawValue))),
            ("since", .instant(self.since)), ("until", .instant(self.until)),
            ("position", .unsigned(self.position.rawValue)), ("summary", .strings(self.summary)),
            ("budget", self.last.map { Self.json($0.budget) }),
            ("behind", self.cause.map { .string($0.name) }),
            ("behindSince", self.last?.behindSince.map { .instant($0) }),
            ("decidesAt", self.last?.decidesAt.map { .instant($0) }),
            ("outstanding", self.last.map { last in .array(last.outstanding.map { self.json($0) }) }),
            ("pending", self.last.map { last in .array(last.pending.map(\.json)) }),
            ("nextReload", self.last?.nextReload.map { .instant($0) }),
            ("ledger", self.last?.ledger.json),
            ("steps", .array(self.steps.map { self.json($0) })),
            ("pushes", .array(self.pushes.map { self.json($0) })),
            (
                "misses",
                .object(of: [
                    ("count", .count(self.misses.count)),
                    ("repeats", .count(self.misses.repeats)),
                    ("by", .object(of: self.misses.counts.map { ($0.condition, .count($0.count)) })),
                    (
                        "newest",
                        .array(
                            self.misses.newest.map { miss in
                                .object(of: [
                                    ("at", .instant(miss.at)), ("push", .object(of: miss.record.members)),
                                    ("conditions", Self.json(miss.verdict)),
                                ])
                            }
                        )
                    ),
                ])
            ),
            (
                "read",
                .object(of: [
                    ("entries", .count(self.work.entries)), ("records", .count(self.work.records)),
                    ("bytes", .count(self.work.bytes)), ("applied", .count(self.work.applied)),
                    ("droppedSteps", .count(self.work.droppedSteps)),
                ])
            ),
        ])
    }

    /// A reload that is not acknowledged yet.
    private func json(_ reload: ReloadEffect) -> JSONValue {
        .object(of: [
            ("id", .string(self.id(of: reload.id).description)),
            ("causes", .strings(reload.causes.list.map(\.name))),
            ("charged", .bool(reload.isCharged)),
            ("exemption", reload.exemption.map { .string($0.name) }),
            ("push", reload.push.map { .string($0.description) }),
            ("pushes", .count(reload.pushCount)),
            ("issuedAt", .instant(reload.issuedAt)),
            ("expiresAt", .instant(reload.expiresAt)),
        ])
    }

    private func json(_ step: TraceStep) -> JSONValue {
        let record: JSONValue? = step.record.map { record in
            .object(of: [("record", .string(record.name))] + record.members)
        }
        let served: JSONValue? =
            step.reload == nil ? nil : .array(step.served.map { .string($0.id.description) })
        return .object(of: [
            ("at", .instant(step.at)), ("position", .unsigned(step.position.rawValue)),
            ("what", .string(step.record.map { TraceWords.record($0) } ?? "a timer fired")),
            ("record", record),
            ("answer", step.answer.flatMap { TraceWords.answer($0) }.map { .string($0) }),
            ("decisions", .array(step.decisions.map { Self.json($0) })),
            ("reload", step.reload.map { .string(self.id(of: $0.id).description) }),
            ("causes", step.reload.map { .strings($0.causes.list.map(\.name)) }),
            ("serves", served),
            ("ended", step.ended.isEmpty ? nil : .strings(step.ended.map { self.id(of: $0).description })),
            ("before", step.before.map { Self.json($0) }), ("after", step.after.map { Self.json($0) }),
        ])
    }

    private static func json(_ decision: DecisionView) -> JSONValue {
        .object(of: [
            ("cause", .string(decision.cause.name)), ("push", decision.push.map { .string($0.description) }),
            ("outcome", .string(decision.outcome.name)), ("reason", .string(decision.reason.name)),
            ("words", .string(TraceWords.reason(decision.reason))),
            ("exemption", decision.exemption.map { .string($0.name) }), ("until", decision.until.map { .instant($0) }),
        ])
    }

    private func json(_ push: TracedPush) -> JSONValue {
        .object(of: [
            ("at", .instant(push.acceptedAt)), ("position", .unsigned(push.position.rawValue)),
            ("push", .object(of: push.record.members)), ("conditions", Self.json(push.verdict)),
            ("outcome", push.outcome.map { .string($0.name) }),
            (
                "changes",
                .array(
                    push.changes.map { change in
                        .object(of: [
                            ("at", .instant(change.at)), ("position", .unsigned(change.position.rawValue)),
                            ("outcome", .string(change.outcome.name)), ("reason", .string(change.reason.name)),
                            ("until", change.until.map { .instant($0) }),
                            ("reload", change.reload.map { .string(self.id(of: $0).description) }),
                        ])
                    }
                )
            ),
        ])
    }

    private static func json(_ verdict: MatchVerdict) -> JSONValue {
        .array(
            verdict.conditions.map { condition in
                .object(of: [
                    ("name", .string(condition.name)), ("holds", .bool(condition.holds)),
                    ("wanted", condition.wanted), ("found", condition.found),
                ])
            }
        )
    }

    private static func json(_ budget: BudgetView) -> JSONValue {
        .object(of: [
            ("charged", .count(budget.charged)), ("allowance", budget.allowance.map { .count($0) }),
            ("pushesCharged", .count(budget.pushesCharged)),
            ("pushAllowance", budget.pushAllowance.map { .count($0) }),
            ("windowStart", .instant(budget.windowStart)), ("windowEnd", .instant(budget.windowEnd)),
            ("exemptReloads", .count(budget.exemptReloads)), ("observedReloads", .count(budget.observedReloads)),
            ("lastReload", budget.lastReload.map { .instant($0) }),
            ("nextPriority10", .instant(budget.nextHigh)), ("nextPriority5", .instant(budget.nextNormal)),
            ("nextPolicy", .instant(budget.nextPolicy)),
            ("exemption", budget.exemption.map { .string($0.name) }),
        ])
    }
}
