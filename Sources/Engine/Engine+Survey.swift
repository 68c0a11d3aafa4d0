import Storage
import Timelines
package import WidgetModel

/// The used part of an instance's window, read without opening it.
struct BudgetUse {
    let allowance: Int
    let charged: Int
    let isUnlimited: Bool
    let window: BudgetWindow

    var isExhausted: Bool { !self.isUnlimited && self.charged >= self.allowance }
}

extension Engine {
    /// The part of its allowance that an instance has used. Where its window is over and nothing has opened the next,
    /// nothing is used, and the allowance is taken to be the old one.
    func budgetUse(of instance: InstanceNumber) -> BudgetUse {
        let terms = self.terms(of: instance)
        let isOver = terms.window.end <= self.time
        return BudgetUse(
            allowance: isOver ? terms.allowance : terms.limit,
            charged: isOver ? 0 : self.budget(of: instance).charged(in: terms.window),
            isUnlimited: terms.isUnlimited,
            window: terms.window
        )
    }

    /// A survey of the instances from a number on. O(`count`).
    ///
    /// - Parameter from: From when on policy reloads are counted.
    package func survey(from: Instant, at start: InstanceNumber, count: Int) -> SurveyStep {
        var survey = BudgetSurvey(from: from)
        survey.kinds = self.catalogue.kinds.map { kind in
            BudgetSurvey.KindRow(app: self.catalogue[kind.app].id, kind: kind.name)
        }
        var out: [SurveyStep.OutToHost] = []
        let range = self.registry.instanceNumbers(from: start, atMost: count)
        for instance in range where self.registry[instance].isLive {
            self.count(instance, &survey.kinds[self.registry[instance].kind.index])
            if self.schedule[active: instance].behind == .outToHost {
                let row = self.registry[instance]
                out.append(SurveyStep.OutToHost(kind: row.kind, host: self.hostKey(of: row.host)))
            }
            self.countPolicy(instance, &survey)
        }
        let next = range.upperBound.index < self.registry.instanceEnd ? range.upperBound : nil
        return SurveyStep(survey: survey, out: out, next: next)
    }

    private func count(_ instance: InstanceNumber, _ kind: inout BudgetSurvey.KindRow) {
        let row = self.registry[instance]
        kind.instances += 1
        if row.pushEnabled { kind.pushEnabled += 1 }
        if row.isOrphaned { kind.orphaned += 1 }
        let active = self.schedule[active: instance]
        if active.isWaiting { kind.waiting += 1 }
        kind.waitingPushes += Int(active.pending.count)
        let use = self.budgetUse(of: instance)
        guard !use.isUnlimited else {
            kind.unlimited += 1
            return
        }
        let left = max(0, use.allowance - use.charged)
        kind.charged += use.charged
        kind.allowance += use.allowance
        kind.left[min(BudgetSurvey.leftRows - 1, left * BudgetSurvey.leftRows / max(1, use.allowance))] += 1
        guard left > 0 else {
            kind.exhausted += 1
            kind.exhaustedWithin[0] += 1
            return
        }
        guard use.charged > 0, use.window.end > self.time else { return }
        // At the pace of the window so far.
        let elapsed = max(1, (self.time - use.window.start).milliseconds)
        let lasts = Interval(milliseconds: elapsed / Int64(use.charged) * Int64(left))
        let hours = Int(lasts.milliseconds / Interval.hours(1).milliseconds) + 1
        guard self.time + lasts < use.window.end, hours <= BudgetSurvey.forecastHours else { return }
        kind.exhaustedWithin[hours] += 1
    }

    /// Counts when a timeline's policy asks for the next one: before smoothing, and after.
    private func countPolicy(_ instance: InstanceNumber, _ survey: inout BudgetSurvey) {
        let row = self.registry[instance]
        let due = self.schedule[instance].timelineDue
        guard due != .distantFuture, !row.isHostDriven else { return }
        let planned = (due - survey.from).milliseconds / 1000
        // A smoothed date is never before the asked one, nor more than a slot after it, even with the slot of an earlier policy.
        let slot = BudgetPolicy.smoothingMax.milliseconds / 1000
        guard due >= survey.from, planned < Int64(BudgetSurvey.reloadForecastSeconds) + slot else { return }
        if planned < Int64(BudgetSurvey.reloadForecastSeconds) { survey.planned[Int(planned)] += 1 }
        guard let shown = self.registry[content: instance].timeline else { return }
        let terms = self.terms(of: instance)
        let atEnd = self.catalogue[row.kind].bare.atEnd
        guard
            let date = shown.timeline.nextRequest(receivedAt: shown.receivedAt, pace: terms.interval, atEnd: atEnd)
        else { return }
        let asked = (date - survey.from).milliseconds / 1000
        guard date >= survey.from, asked < Int64(BudgetSurvey.reloadForecastSeconds) else { return }
        survey.asked[Int(asked)] += 1
    }
}
