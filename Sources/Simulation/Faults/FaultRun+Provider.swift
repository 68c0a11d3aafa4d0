import Engine
import Ownership
import Scenarios
import TimelineProviding
import Timelines
import WidgetModel

/// A timeline provider that is down, says when to come back, answers in part, and calls back.
extension FaultRun {
    mutating func send(_ number: Int, _ subjects: [FetchSubject], _ fetcher: SimulatedFetcher) {
        let now = self.clock.now
        if !fetcher.hold.isOver(now, self.now) {
            self.checker.fault("a provider is asked before the instant that it named")
        }
        if case .open = fetcher.machine.planner.breaker.state {
            self.checker.fault("a provider is asked while it is to be left alone")
        }
        fetcher.inFlight.insert(number)
        if fetcher.inFlight.count > fetcher.limits.inFlightMax {
            self.checker.fault("\(fetcher.inFlight.count) requests to a provider are on their way")
        }
        if subjects.isEmpty || subjects.count > fetcher.limits.batchMax {
            self.checker.fault("a provider is asked about \(subjects.count) instances at once")
        }
        self.transmit(.fetch(.ask(number, subjects), start: fetcher.start))
        let answer = TargetHealth.Answer(.failure, status: nil, reason: "no answer in time", at: now)
        let step = FetchStep.answer(number, .failure(answer, retryAfter: nil))
        self.queue.insert(.fetch(step, start: fetcher.start), at: self.now + 10_000)
    }

    /// A request has come to the provider.
    mutating func arrive(_ number: Int, _ subjects: [FetchSubject], start: Int) {
        if self.dice.chance(self.plan.providerTroubles * 0.4) {
            self.providerIsDownUntil = self.now + Int64(self.dice.below(600_000))
        }
        let isDown = self.now < self.providerIsDownUntil
        if isDown || self.dice.chance(self.plan.providerTroubles) {
            let status = isDown ? 503 : 500
            let answer = TargetHealth.Answer(.failure, status: status, reason: "status \(status)", at: self.clock.now)
            let retryAfter: Interval? = self.dice.chance(0.5) ? .seconds(Int64(1 + self.dice.below(300))) : nil
            return self.transmit(.fetch(.answer(number, .failure(answer, retryAfter: retryAfter)), start: start))
        }
        var parts: [ReloadID: FetchPart] = [:]
        var later: [ReloadID: FetchPart] = [:]
        let isPromise = self.dice.chance(self.plan.promises)
        for subject in subjects {
            let part = self.part()
            if self.dice.chance(self.plan.omissions) {
                later[subject.reload] = part
            } else {
                parts[subject.reload] = part
            }
        }
        let answer = FetchAnswer.parts(parts, status: isPromise ? 202 : 200, isPromise: isPromise)
        self.transmit(.fetch(.answer(number, answer), start: start))
        guard isPromise, !later.isEmpty, !self.dice.chance(self.plan.lost) else { return }
        for _ in 0..<(self.dice.chance(self.plan.doubled) ? 2 : 1) {
            self.queue.insert(.fetch(.callBack(later), start: start), at: self.now + 1 + Int64(self.dice.below(90_000)))
        }
    }

    /// The provider's answer about one instance: often what it said before.
    private mutating func part() -> FetchPart {
        if self.dice.chance(self.plan.providerTroubles * 0.3) { return .fault("a fault of the simulation") }
        if self.dice.chance(self.plan.providerTroubles * 0.3) { return .refused("a fault of the simulation") }
        let now = Instant(milliseconds: self.now)
        let hour = Instant(seconds: now.seconds / 3600 * 3600)
        let policy: ReloadPolicy =
            self.dice.chance(0.2) ? .after(now + .seconds(Int64(600 + self.dice.below(7200)))) : .never
        let digest = [UInt8(self.dice.below(3))]
        let timeline = Timeline(entries: [TimelineEntry(date: hour)], policy: policy, digest: digest)
        return .timeline(ProvidedTimeline(timeline: timeline, contents: [digest]))
    }

    mutating func takeAnswer(_ answer: FetchAnswer, to number: Int, _ fetcher: SimulatedFetcher) {
        var answer = answer
        // What comes after the time of a request is no answer any more.
        if fetcher.inFlight.remove(number) != nil, case .failure(_, let retryAfter?) = answer {
            fetcher.hold.extend(by: min(retryAfter, fetcher.limits.retryAfterMax), self.clock.now, self.now)
        }
        if self.mutation == .ignoresRetryAfter, case .failure(let failure, _) = answer {
            answer = .failure(failure, retryAfter: nil)
        }
        fetcher.machine.takeAnswer(answer, to: number, now: self.clock.now)
    }
}
