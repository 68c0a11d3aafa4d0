import Engine
import Scenarios
import Timelines
import WidgetModel

extension PartitionRun {
    /// How long a look takes, in seconds.
    private static let lookSeconds = 15...60
    /// How long a visit to the app takes, in seconds.
    private static let visitSeconds = 30...240
    /// How often a host on its charger refreshes a widget by itself, in seconds.
    private static let refreshSeconds = 1200

    /// Ends the present phase of a host's user, and begins the next.
    mutating func live(_ place: Int) {
        switch self.crowd.hosts[place].phase {
        case .unregistered:
            self.register(place)
            self.idle(place)
            self.plugIn(place)
        case .idle: self.look(place)
        case .looking:
            self.signal(place) { .widgetHidden($0) }
            let visitChance = self.world.habits[self.crowd.hosts[place].population].visitChance
            if self.crowd.hosts[place].dice.chance(visitChance) {
                self.crowd.hosts[place].phase = .inApp
                self.signal(place, .appForeground)
                self.wake(place, after: self.crowd.hosts[place].dice.among(Self.visitSeconds))
            } else {
                self.idle(place)
            }
        case .inApp:
            self.signal(place, .appBackground)
            self.idle(place)
        }
    }

    private mutating func wake(_ place: Int, after seconds: Int) {
        self.hostTimers.arm(UInt32(place) << 1, at: Instant(seconds: Int64(self.now + seconds)))
    }

    private mutating func register(_ place: Int) {
        let host = self.crowd.hosts[place]
        let clocks = self.world.clocks[host.population][host.zone]
        let scenario = self.world.scenario
        let registration = HostRegistration(
            host: host.id,
            token: DeviceToken(bytes: Array("token-\(host.id)".utf8)),
            revision: 1,
            delivery: self.world.habits[host.population].isPhone ? .apns : .stream,
            context: HostContext(timeZone: clocks.name),
            instances: host.instances.map { number in
                let instance = self.crowd.instances[number]
                let kind = scenario.kinds[instance.kind]
                let value = ParameterValue.string(kind.values[instance.value])
                return InstanceRegistration(
                    id: instance.id,
                    kind: kind.kind,
                    family: .systemSmall,
                    configuration: Configuration([Configuration.Parameter(name: kind.parameter, value: value)])
                )
            }
        )
        self.write(.register(registration))
        for number in host.instances { self.beginStaleness(of: number) }
        guard self.world.habits[host.population].isPhone else { return }
        for number in host.instances { self.reloadByItself(number, isPolicy: false) }
    }

    /// Waits for the next look.
    private mutating func idle(_ place: Int) {
        self.crowd.hosts[place].phase = .idle
        let population = self.crowd.hosts[place].population
        let clocks = self.world.clocks[population][self.crowd.hosts[place].zone]
        let end = self.world.scenario.span.upperBound
        let next = self.world.rates[population].next(
            after: clocks.local(self.now),
            before: clocks.local(end),
            &self.crowd.hosts[place].dice
        )
        let instant = max(self.now + 1, clocks.instant(local: next))
        guard instant < end else { return }
        self.hostTimers.arm(UInt32(place) << 1, at: Instant(seconds: Int64(instant)))
    }

    private mutating func look(_ place: Int) {
        self.crowd.hosts[place].phase = .looking
        self.signal(place) { .widgetVisible($0) }
        for number in self.crowd.hosts[place].instances { self.noteLook(at: number) }
        let tapChance = self.world.habits[self.crowd.hosts[place].population].tapChance
        if self.crowd.hosts[place].dice.chance(tapChance) {
            let instances = self.crowd.hosts[place].instances
            let number = instances.lowerBound + self.crowd.hosts[place].dice.below(instances.count)
            self.signal(place, .appIntent(self.crowd.instances[number].id))
            let population = self.crowd.hosts[place].population
            if self.world.habits[population].isPhone { self.reloadByItself(number, isPolicy: false) }
        }
        self.wake(place, after: self.crowd.hosts[place].dice.among(Self.lookSeconds))
    }

    private mutating func signal(_ place: Int, _ event: HostSignal.Event) {
        self.write(.signal(HostSignal(host: self.crowd.hosts[place].id, event: event)))
    }

    /// A signal for each instance of a host.
    private mutating func signal(_ place: Int, _ event: (InstanceID) -> HostSignal.Event) {
        for number in self.crowd.hosts[place].instances { self.signal(place, event(self.crowd.instances[number].id)) }
    }

    // MARK: On the charger

    /// Arms the timer that puts a host on its charger, if it ever gets there.
    private mutating func plugIn(_ place: Int) {
        let population = self.crowd.hosts[place].population
        guard let night = self.world.scenario.populations[population].rhythm.standBy else { return }
        self.armCharger(place, localHour: night.from)
    }

    private mutating func armCharger(_ place: Int, localHour hour: Int) {
        let host = self.crowd.hosts[place]
        let clocks = self.world.clocks[host.population][host.zone]
        let local = clocks.local(self.now)
        var next = local / 86_400 * 86_400 + hour * 3600
        if next <= local { next += 86_400 }
        let instant = max(self.now + 1, clocks.instant(local: next))
        self.hostTimers.arm(UInt32(place) << 1 | 1, at: Instant(seconds: Int64(instant)))
    }

    /// The host comes to its charger, refreshes there at a rate of its own, or leaves it.
    mutating func charge(_ place: Int) {
        let host = self.crowd.hosts[place]
        guard let night = self.world.scenario.populations[host.population].rhythm.standBy else { return }
        let hour = self.world.clocks[host.population][host.zone].local(self.now) % 86_400 / 3600
        let isNight = hour >= night.from || hour < night.until
        if isNight != host.isInStandBy {
            self.crowd.hosts[place].isInStandBy = isNight
            self.signal(place, .standBy(isNight))
        }
        guard isNight else { return self.armCharger(place, localHour: night.from) }
        for number in host.instances {
            self.signal(place, .reloaded(self.crowd.instances[number].id))
            self.measures.load.noteRequest(at: self.elapsed)
            self.measures.refreshes += 1
            self.show(number, upTo: self.elapsed)
        }
        let refresh = Instant(seconds: Int64(self.now + Self.refreshSeconds))
        self.hostTimers.arm(UInt32(place) << 1 | 1, at: refresh)
    }
}
