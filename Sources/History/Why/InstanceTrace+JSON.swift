import Engine
package import WidgetModel

extension InstanceTrace {
    /// The answer of `GET /v1/instances/<id>/why`.
    package var json: JSONValue {
        .members([
            ("instance", .string(self.address.description)), ("partition", .number(Int(self.partition.rawValue))),
            ("since", .at(self.since)), ("until", .at(self.until)), ("position", .unsigned(self.position.rawValue)),
            ("summary", .texts(self.summary)),
            ("budget", self.last.map { Self.json($0.budget) }),
            ("behind", self.cause.map { .string($0.name) }),
            ("behindSince", self.last?.behindSince.map { .at($0) }),
            ("decidesAt", self.last?.decidesAt.map { .at($0) }),
            ("outstanding", self.last.map { last in .array(last.outstanding.map { self.json($0) }) }),
            ("pending", self.last.map { last in .array(last.pending.map(\.json)) }),
            ("nextReload", self.last?.nextReload.map { .at($0) }),
            ("ledger", self.last?.ledger.json),
            ("steps", .array(self.steps.map { self.json($0) })),
            ("pushes", .array(self.pushes.map { self.json($0) })),
            (
                "misses",
                .members([
                    ("count", .number(self.misses.count)),
                    ("repeats", .number(self.misses.repeats)),
                    ("by", .members(self.misses.counts.map { ($0.condition, .number($0.count)) })),
                    (
                        "newest",
                        .array(
                            self.misses.newest.map { miss in
                                .members([
                                    ("at", .at(miss.at)), ("push", .members(miss.record.members)),
                                    ("conditions", Self.json(miss.verdict)),
                                ])
                            }
                        )
                    ),
                ])
            ),
            (
                "read",
                .members([
                    ("entries", .number(self.work.entries)), ("records", .number(self.work.records)),
                    ("bytes", .number(self.work.bytes)), ("applied", .number(self.work.applied)),
                    ("droppedSteps", .number(self.work.droppedSteps)),
                ])
            ),
        ])
    }

    /// A reload that is not acknowledged yet.
    private func json(_ reload: ReloadEffect) -> JSONValue {
        .members([
            ("id", .string(self.id(of: reload.id).description)),
            ("causes", .texts(reload.causes.list.map(\.name))),
            ("charged", .bool(reload.isCharged)),
            ("exemption", reload.exemption.map { .string($0.name) }),
            ("push", reload.push.map { .string($0.description) }),
            ("pushes", .number(reload.pushCount)),
            ("issuedAt", .at(reload.issuedAt)),
            ("expiresAt", .at(reload.expiresAt)),
        ])
    }

    private func json(_ step: TraceStep) -> JSONValue {
        let record: JSONValue? = step.record.map { record in
            .members([("record", .string(record.name))] + record.members)
        }
        let served: JSONValue? =
            step.reload == nil ? nil : .array(step.served.map { .string($0.id.description) })
        return .members([
            ("at", .at(step.at)), ("position", .unsigned(step.position.rawValue)),
            ("what", .string(step.record.map { TraceWords.record($0) } ?? "a timer fired")),
            ("record", record),
            ("answer", step.answer.flatMap { TraceWords.answer($0) }.map { .string($0) }),
            ("decisions", .array(step.decisions.map { Self.json($0) })),
            ("reload", step.reload.map { .string(self.id(of: $0.id).description) }),
            ("causes", step.reload.map { .texts($0.causes.list.map(\.name)) }),
            ("serves", served),
            ("ended", step.ended.isEmpty ? nil : .texts(step.ended.map { self.id(of: $0).description })),
            ("before", step.before.map { Self.json($0) }), ("after", step.after.map { Self.json($0) }),
        ])
    }

    private static func json(_ decision: DecisionView) -> JSONValue {
        .members([
            ("cause", .string(decision.cause.name)), ("push", decision.push.map { .string($0.description) }),
            ("outcome", .string(decision.outcome.name)), ("reason", .string(decision.reason.name)),
            ("words", .string(TraceWords.reason(decision.reason))),
            ("exemption", decision.exemption.map { .string($0.name) }), ("until", decision.until.map { .at($0) }),
        ])
    }

    private func json(_ push: TracedPush) -> JSONValue {
        .members([
            ("at", .at(push.acceptedAt)), ("position", .unsigned(push.position.rawValue)),
            ("push", .members(push.record.members)), ("conditions", Self.json(push.verdict)),
            ("outcome", push.outcome.map { .string($0.name) }),
            (
                "changes",
                .array(
                    push.changes.map { change in
                        .members([
                            ("at", .at(change.at)), ("position", .unsigned(change.position.rawValue)),
                            ("outcome", .string(change.outcome.name)), ("reason", .string(change.reason.name)),
                            ("until", change.until.map { .at($0) }),
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
                .members([
                    ("name", .string(condition.name)), ("holds", .bool(condition.holds)),
                    ("wanted", condition.wanted), ("found", condition.found),
                ])
            }
        )
    }

    private static func json(_ budget: BudgetView) -> JSONValue {
        .members([
            ("charged", .number(budget.charged)), ("allowance", budget.allowance.map { .number($0) }),
            ("pushesCharged", .number(budget.pushesCharged)),
            ("pushAllowance", budget.pushAllowance.map { .number($0) }),
            ("windowStart", .at(budget.windowStart)), ("windowEnd", .at(budget.windowEnd)),
            ("exemptReloads", .number(budget.exemptReloads)), ("observedReloads", .number(budget.observedReloads)),
            ("lastReload", budget.lastReload.map { .at($0) }),
            ("nextPriority10", .at(budget.nextHigh)), ("nextPriority5", .at(budget.nextNormal)),
            ("nextPolicy", .at(budget.nextPolicy)),
            ("exemption", budget.exemption.map { .string($0.name) }),
        ])
    }
}
