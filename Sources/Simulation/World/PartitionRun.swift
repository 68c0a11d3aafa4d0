package import Engine
import IntentMatching
import Journaling
import Ownership
import Scenarios
import Timelines
package import WidgetModel

/// One partition's part of a run: its engine, its hosts, and their measures.
///
/// Hosts of different partitions never meet, so that partitions can be run side by side, with the same result. A step
/// is one second in which something happens. All that happens in it is one entry of the log, as in a gateway that
/// gathers the requests of one moment: pushes first, then answers, then signals.
package struct PartitionRun: ~Copyable, Sendable {
    let world: SimulatedWorld
    package internal(set) var engine: Engine
    package internal(set) var measures: Measures
    var crowd: Crowd
    /// The records of the entry that is being made.
    private var records = PackedRecords()
    /// Hosts' timers: even ids for the user's acts, odd ones for the charger.
    var hostTimers: TimingWheel
    var answerTimers: TimingWheel
    /// By instance: when a phone asks for the next timeline by itself.
    var phoneTimers: TimingWheel
    var flights: [Flight] = []
    var freeFlights: [Int] = []
    var samples: BudgetSamples
    /// Seconds after the epoch.
    package private(set) var now: Int
    /// The next event of the schedule.
    private var nextEvent = 0
    private var nextStep = 0
    /// How far the gateway's clock is from the true time, in seconds.
    private var clockError = 0
    private var logTime: Int
    private var position = LogPosition.start

    /// A partition's part of a world, before its first step.
    package init(_ world: SimulatedWorld, partition: PartitionID) {
        let scenario = world.scenario
        let start = Instant(seconds: Int64(scenario.start))
        self.world = world
        self.engine = Engine(partition: partition, partitions: scenario.partitions, seed: 0)
        self.crowd = Crowd(world, partition: partition)
        self.measures = Measures(scenario)
        self.hostTimers = TimingWheel(startingAt: start)
        self.answerTimers = TimingWheel(startingAt: start)
        self.phoneTimers = TimingWheel(startingAt: start)
        self.samples = BudgetSamples(instances: self.crowd.instances.count)
        self.now = scenario.start
        self.logTime = scenario.start
        for place in self.crowd.hosts.indices {
            // Within the first hour, since they do not all come at once.
            let at = scenario.start + self.crowd.hosts[place].dice.below(3600)
            self.hostTimers.arm(UInt32(place) << 1, at: Instant(seconds: Int64(at)))
        }
        self.write(.settings(world.settings))
        self.apply()
    }

    package var partition: PartitionID { self.engine.partition }

    /// Runs on, up to an instant or to the scenario's end, whichever is earlier.
    ///
    /// - Parameter second: Seconds after the epoch.
    package mutating func advance(to second: Int) {
        let end = min(second, self.world.scenario.span.upperBound)
        while let next = self.nextInstant, next < end {
            self.now = max(self.now, next)
            self.step()
        }
        self.now = max(self.now, end)
        if self.now == self.world.scenario.span.upperBound { self.finish() }
    }

    /// Seconds after the scenario's start.
    var elapsed: Int { self.now - self.world.scenario.start }

    /// The next second in which anything happens.
    private var nextInstant: Int? {
        var next = Int.max
        let events = self.world.schedule.events
        if self.nextEvent < events.count { next = events[self.nextEvent].at }
        let steps = self.world.scenario.clockSteps
        if self.nextStep < steps.count { next = min(next, self.instant(of: steps[self.nextStep])) }
        if let due = self.hostTimers.nextDue { next = min(next, Int(due.seconds)) }
        if let due = self.answerTimers.nextDue { next = min(next, Int(due.seconds)) }
        if let due = self.phoneTimers.nextDue { next = min(next, Int(due.seconds)) }
        if let due = self.engine.nextTimer {
            // Rounded up: the engine's timers are never early.
            let second = Int((due + .milliseconds(999)).seconds)
            next = min(next, max(self.now, second - self.clockError))
        }
        return next == .max ? nil : next
    }

    private func instant(of step: ClockStep) -> Int {
        self.world.scenario.start + Int(step.at.milliseconds / 1000)
    }

    private mutating func step() {
        let steps = self.world.scenario.clockSteps
        while self.nextStep < steps.count, self.instant(of: steps[self.nextStep]) <= self.now {
            self.clockError += Int(steps[self.nextStep].by.milliseconds / 1000)
            self.nextStep += 1
        }
        while self.nextEvent < self.world.schedule.events.count,
            self.world.schedule.events[self.nextEvent].at <= self.now
        {
            self.happen(self.world.schedule.events[self.nextEvent], number: self.nextEvent)
            self.nextEvent += 1
        }
        let instant = Instant(seconds: Int64(self.now))
        if let due = self.answerTimers.nextDue, due <= instant {
            for slot in self.answerTimers.takeDue(upTo: instant) { self.land(Int(slot)) }
        }
        if let due = self.hostTimers.nextDue, due <= instant {
            for timer in self.hostTimers.takeDue(upTo: instant) {
                if timer & 1 == 0 { self.live(Int(timer >> 1)) } else { self.charge(Int(timer >> 1)) }
            }
        }
        if let due = self.phoneTimers.nextDue, due <= instant {
            for number in self.phoneTimers.takeDue(upTo: instant) { self.reloadByItself(Int(number), isPolicy: true) }
        }
        if self.records.count == 0 { self.write(.tick) }
        self.apply()
    }

    // MARK: Records

    /// Appends a record to the entry that is being made.
    mutating func write(_ record: Record) {
        self.records.append { record.encode(into: &$0) }
    }

    /// Applies the entry and follows up the engine's effects.
    private mutating func apply() {
        self.position = self.position.next
        // A clock that was put back stands still in the log until it has caught up.
        self.logTime = max(self.logTime, self.now + self.clockError)
        let logTime = Instant(seconds: Int64(self.logTime))
        var run = EntryRun(LogEntry(position: self.position, logTime: logTime, packed: self.records.takeAll()))
        do throws(EngineError) {
            try run.finish(&self.engine)
        } catch {
            preconditionFailure("the simulation wrote a record that the engine cannot read: \(error)")
        }
        self.measures.records += run.recordsBegun
        for effect in run.effects.all {
            switch effect {
            case .reload(let reload): self.follow(reload)
            case .push(let push): self.follow(push)
            case .invalidation: continue
            }
        }
    }

    private mutating func finish() {
        for place in self.crowd.instances.indices { self.closeStaleness(of: place) }
        self.measures.takeStatistics(self.engine)
    }
}
