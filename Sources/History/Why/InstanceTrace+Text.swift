import Engine
import WidgetModel

extension InstanceTrace {
    /// The trace in plain words, a line for each thing that happened.
    package var text: String {
        var lines = ["\(self.address), \(TraceWords.time(self.since)) to \(TraceWords.time(self.until))"]
        lines += self.summary.map { "  " + $0 }
        lines.append("")
        if self.work.droppedSteps > 0 { lines.append("(\(self.work.droppedSteps) earlier steps are not shown)") }
        for step in self.steps { lines += self.lines(of: step) }
        if self.misses.count > 0 {
            lines.append("")
            lines.append("pushes for its app or host that did not match it: \(self.misses.count)")
            lines += self.misses.counts.map { "  \($0.count) because of \($0.condition)" }
            for miss in self.misses.newest.suffix(3) {
                let failed = miss.verdict.failed.map { TraceWords.condition($0) } ?? ""
                lines.append("  \(TraceWords.time(miss.at)) push \(miss.record.id): \(failed)")
            }
        }
        if self.misses.repeats > 0 {
            lines.append("\(self.misses.repeats) repeated pushes were recognised, and did nothing")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// How it stands, in a few sentences.
    package var summary: [String] {
        guard let last = self.last else {
            return [
                self.first == nil && self.steps.isEmpty
                    ? "no host shows it, and no host did" : "no host shows it any longer"
            ]
        }
        var lines = ["\(last.kind.rawValue) of \(last.app.rawValue), \(last.family.name)"]
        lines.append("budget: \(TraceWords.budget(last.budget))")
        if let since = last.behindSince {
            let why = self.cause.map { ": \($0.words)" } ?? ""
            lines.append("behind since \(TraceWords.time(since))\(why)")
        }
        lines.append("last reload: \(last.budget.lastReload.map { TraceWords.time($0) } ?? "never")")
        for pending in last.pending {
            let push = pending.push.map { " \($0)" } ?? ""
            lines.append("waits: \(pending.cause.name)\(push)\(Self.reason(of: pending))")
        }
        for reload in last.outstanding {
            let issued = TraceWords.time(reload.issuedAt)
            lines.append("outstanding since \(issued): reload \(self.id(of: reload.id)), not acknowledged yet")
        }
        if let next = last.timeline?.nextRequest {
            lines.append("its timeline asks for a reload at \(TraceWords.time(next))")
        }
        if last.pending.isEmpty, last.outstanding.isEmpty { lines.append("nothing waits for it") }
        if let next = last.nextReload { lines.append("next possible reload: \(TraceWords.time(next))") }
        lines.append(Self.day(last.ledger))
        return lines
    }

    private static func reason(of pending: PendingView) -> String {
        var text = pending.until.map { " until \(TraceWords.time($0))" } ?? ""
        text += ", since " + TraceWords.reason(pending.reason)
        if let expires = pending.expiresAt { text += "; expires \(TraceWords.time(expires))" }
        return text
    }

    private static func day(_ ledger: DayLedger) -> String {
        let charged = ledger.entries.count(where: \.isCharged)
        let known = ledger.isWhole ? "" : "; there may be more, since not all of that day's decisions are kept"
        let count = ledger.entries.count
        return "last 24 hours: \(count) reload\(count == 1 ? "" : "s"), \(charged) of them charged\(known)"
    }

    private func lines(of step: TraceStep) -> [String] {
        var head = "\(TraceWords.time(step.at)) #\(step.position) "
        head += step.record.map { TraceWords.record($0) } ?? "a timer fired"
        if case .push(let push)? = step.record {
            head += ", priority \(push.priority.map { "\($0.rawValue)" } ?? "by default")"
            if let matchedMax = push.matchedMax { head += ", for at most \(matchedMax) instances of the partition" }
            let traced = self.pushes.first { $0.record == push && $0.position == step.position }
            let conditions = traced?.verdict.conditions.map { TraceWords.condition($0) } ?? []
            if !conditions.isEmpty { head += "; matched: \(conditions.joined(separator: ", "))" }
        }
        if let answer = step.answer.flatMap({ TraceWords.answer($0) }) { head += " (\(answer))" }
        var lines = [head]
        for decision in step.decisions { lines.append("    " + self.line(of: decision, step)) }
        if let before = step.before, let after = step.after, before.charged != after.charged {
            lines.append("    budget: \(before.charged) before, \(TraceWords.budget(after))")
        }
        return lines
    }

    private func line(of decision: DecisionView, _ step: TraceStep) -> String {
        let what = decision.push.map { "push \($0)" } ?? decision.cause.name
        let why = TraceWords.reason(decision.reason)
        switch decision.outcome {
        case .issued:
            let reload = step.reload.map { "reload \(self.id(of: $0.id))" } ?? "a reload"
            let causes = step.reload?.causes.list.map(\.name).joined(separator: ", ") ?? decision.cause.name
            let along = step.served.count > 1 ? ", serving \(step.served.count) pushes" : ""
            let exemption = decision.exemption.map { " (\($0.name))" } ?? ""
            return "\(reload) goes out for \(causes)\(along): \(why)\(exemption)"
        case .deferred:
            let until = decision.until.map { " until \(TraceWords.time($0))" } ?? ""
            return "\(what) is deferred\(until): \(why)"
        default: return "\(what) ends \(decision.outcome.name): \(why)"
        }
    }
}
