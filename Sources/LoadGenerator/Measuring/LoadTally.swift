import Histogram
package import WidgetModel

/// Everything that a run counts: operations, their answers, their latencies, and how the generator itself did.
///
/// A value without clock and sockets. Instants are nanoseconds after the run's beginning.
package struct LoadTally: Sendable {
    /// Why an operation has failed, as far as it can be told in few words.
    package struct Failure: Hashable, Sendable, Comparable {
        /// The answer's status; 0 where no answer came.
        package let status: Int
        /// `BadDeviceToken`, `too-many`, `stream reset: …`.
        package let reason: String

        package init(status: Int, reason: String) {
            self.status = status
            self.reason = reason
        }

        package static func < (left: Failure, right: Failure) -> Bool {
            (left.status, left.reason) < (right.status, right.reason)
        }
    }

    /// The counts of one load.
    package struct Counts: Sendable {
        package var due = 0
        package var sent = 0
        /// Answered with 2xx.
        package var answered = 0
        package var failures: [Failure: Int] = [:]
        package var stages: [LatencySeries?] = LatencyStage.allCases.map { _ in nil }
        /// Pushes whose decision was read, the instances that they matched, and the outcomes for those.
        package var followed = 0
        package var matched = 0
        package var outcomes: [PushOutcome: Int] = [:]
        /// By interval of the answer.
        package var answeredByInterval: [Int] = []
        /// By interval of the intended instant.
        package var dueByInterval: [Int] = []

        package var failed: Int { self.failures.values.reduce(0, +) }
    }

    /// Nanoseconds of an interval of the series.
    package let interval: Int64
    package private(set) var loads: [Counts]
    /// How late operations were sent for which there was room: the generator's own delay.
    package private(set) var lateness = LatencyHistogram.empty()
    /// Operations that waited because the server had answered too few of those before.
    package private(set) var heldBack = 0
    /// Reloads that came, each once, and how many came again.
    package var reloads = 0
    package var redelivered = 0
    /// Reloads that hosts have acknowledged, and those that the gateway did not take.
    package var acknowledged = 0
    package var refusedAcknowledgements = 0
    /// Connections that were lost while they were wanted.
    package var lostConnections = 0
    /// Times without any connection, in the order in which they began; at most ``outagesMax``.
    package private(set) var outages: [Outage] = []

    /// The most microseconds that the generator may be late and still count as on time: a millisecond.
    package static let lateAfter: UInt64 = 1000
    /// Reasons that are told apart in each load; more are `other`.
    package static let reasonsMax = 64
    /// Outages that are told one by one.
    package static let outagesMax = 1000

    /// Intervals that are told apart; later answers count in the last one.
    package static let intervalsMax = 1200

    /// The interval of a run's series: a sixtieth of it, so that a comparison has enough of them, at least a tenth of a second.
    package static func interval(of length: Int64) -> Int64 { max(100_000_000, length / 60) }

    package init(loads: Int, interval: Int64) {
        self.interval = interval
        self.loads = Array(repeating: Counts(), count: loads)
    }

    /// An operation is due.
    package mutating func due(_ load: Int, at instant: Int64) {
        self.loads[load].due += 1
        Self.count(&self.loads[load].dueByInterval, instant, self.interval)
    }

    /// An operation is sent.
    ///
    /// - Parameters:
    ///   - late: Nanoseconds after the instant at which it was due.
    ///   - wasHeldBack: Whether it had to wait for answers, and not for the generator.
    package mutating func sent(_ load: Int, late: Int64, wasHeldBack: Bool) {
        self.loads[load].sent += 1
        if wasHeldBack { self.heldBack += 1 } else { self.lateness.noteLatency(late) }
    }

    /// An operation has come so far.
    ///
    /// - Parameters:
    ///   - intended: When it was meant to be sent.
    ///   - now: When the stage was reached.
    package mutating func reached(_ stage: LatencyStage, _ load: Int, intended: Int64, at now: Int64) {
        self.loads[load].stages[stage.index, default: self.interval].noteLatency(now - intended, intended: intended)
    }

    /// An operation never came so far.
    package mutating func missed(_ stage: LatencyStage, _ load: Int, intended: Int64) {
        self.loads[load].stages[stage.index, default: self.interval].noteUnreached(intended: intended)
    }

    /// The decision about a push was read.
    package mutating func decided(_ load: Int, matched: Int, outcomes: [PushOutcome: Int]) {
        self.loads[load].followed += 1
        self.loads[load].matched += matched
        self.loads[load].outcomes.merge(outcomes) { $0 + $1 }
    }

    /// An operation was answered with 2xx.
    package mutating func answered(_ load: Int, intended: Int64, at now: Int64) {
        self.loads[load].answered += 1
        Self.count(&self.loads[load].answeredByInterval, now, self.interval)
        self.reached(.accepted, load, intended: intended, at: now)
    }

    /// An operation has failed: it counts as later than all that were answered.
    ///
    /// - Parameter intended: When it was meant to be sent.
    package mutating func failed(_ load: Int, _ failure: Failure, intended: Int64) {
        self.missed(.accepted, load, intended: intended)
        let isKnown = self.loads[load].failures[failure] != nil
        let isRoom = self.loads[load].failures.count < Self.reasonsMax
        let key = isKnown || isRoom ? failure : Failure(status: failure.status, reason: "other")
        self.loads[load].failures[key, default: 0] += 1
    }

    private static func count(_ counts: inout [Int], _ instant: Int64, _ interval: Int64) {
        let index = min(Self.intervalsMax - 1, Int(max(0, instant) / interval))
        if index >= counts.count { counts.append(contentsOf: repeatElement(0, count: index + 1 - counts.count)) }
        counts[index] += 1
    }

    // MARK: Outages

    /// The last connection to a listener is lost.
    package mutating func outageBegan(_ listener: String, at now: Int64) {
        let isOut = self.outages.contains { $0.listener == listener && $0.ended == nil }
        guard !isOut, self.outages.count < Self.outagesMax else { return }
        self.outages.append(Outage(listener: listener, began: now))
    }

    /// There is a connection to a listener again.
    package mutating func outageEnded(_ listener: String, at now: Int64) {
        for index in self.outages.indices where self.outages[index].listener == listener {
            if self.outages[index].ended == nil { self.outages[index].ended = now }
        }
    }

    /// All that was due for a listener is sent.
    package mutating func caughtUp(_ listener: String, at now: Int64) {
        // Asked in each turn: those before one that is caught up are caught up, too.
        for index in self.outages.indices.reversed() where self.outages[index].listener == listener {
            guard self.outages[index].recovered == nil else { return }
            if self.outages[index].ended != nil { self.outages[index].recovered = now }
        }
    }

    // MARK: Sums

    /// A stage's latencies of one load, or of all.
    package func latencies(_ stage: LatencyStage, load: Int? = nil) -> Latencies {
        var sum = Latencies()
        for index in self.loads.indices where load == nil || load == index {
            if let series = self.loads[index].stages[stage.index] { sum.add(series.total) }
        }
        return sum
    }

    package var sent: Int { self.loads.reduce(0) { $0 + $1.sent } }
    package var due: Int { self.loads.reduce(0) { $0 + $1.due } }
    package var answered: Int { self.loads.reduce(0) { $0 + $1.answered } }
    package var failed: Int { self.loads.reduce(0) { $0 + $1.failed } }

    /// The share of requests that the generator sent late although there was room.
    package var behind: Double {
        let late = self.lateness.totalCount - self.onTime
        return self.sent == 0 ? 0 : Double(late) / Double(self.sent)
    }

    private var onTime: UInt64 { self.lateness.count(within: 0...Self.lateAfter) }
}

extension [LatencySeries?] {
    /// A stage's series; one is made where there is none.
    fileprivate subscript(place: Int, default interval: Int64) -> LatencySeries {
        get { self[place] ?? LatencySeries(interval: interval) }
        _modify {
            var series = self[place].take() ?? LatencySeries(interval: interval)
            defer { self[place] = series }
            yield &series
        }
    }
}

extension LatencyStage {
    /// Its place among all of them.
    var index: Int {
        switch self {
        case .accepted: 0
        case .decided: 1
        case .delivered: 2
        case .shown: 3
        }
    }
}
