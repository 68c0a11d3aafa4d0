import Timelines
import WidgetModel

extension Engine {
    /// Two looks at an instance that are nearer than this are one view.
    static let viewInterval = Interval.minutes(5)
    /// How long after a change that the system reloads for by itself the app's own wish is met by that reload.
    static let systemChangeCovers = Interval.minutes(5)

    /// Applies a host's signal, and decides waiting instances anew where the signal may matter.
    mutating func signal(_ signal: HostSignal) -> RecordAnswer.Result {
        guard let host = self.registry.findHost(signal.host), self.registry[host].isRegistered else {
            return .unknownHost
        }
        if let id = signal.event.instance {
            let address = InstanceAddress(host: signal.host, instance: id)
            guard let instance = self.registry.liveInstance(address) else { return .unknownInstance }
            self.counters.signals += 1
            self.noteEvent(signal.event, of: instance)
            return .signalled
        }
        if case .entryShown(let reload, let date) = signal.event {
            guard let instance = self.liveInstance(of: reload, on: host) else { return .unknownReload }
            self.counters.signals += 1
            self.acknowledge(reload, showing: date, instance)
            return .signalled
        }
        self.counters.signals += 1
        self.noteEvent(signal.event, on: host)
        return .signalled
    }

    private mutating func noteEvent(_ event: HostSignal.Event, on host: HostNumber) {
        let lapses = self.time + HostSignal.lapse
        switch event {
        case .appForeground: self.registry[host].coldFields.foregroundUntil = lapses
        case .appBackground: self.registry[host].coldFields.foregroundUntil = .distantPast
        case .sessionStarted(let session): self.registry[host].coldFields.sessionsUntil[Int(session.rawValue)] = lapses
        case .sessionEnded(let session):
            self.registry[host].coldFields.sessionsUntil[Int(session.rawValue)] = .distantPast
        case .systemChange(let change): return self.change(change, on: host)
        case .significantLocationChange: return self.move(host)
        case .standBy(let isOn): self.registry[host].isInStandBy = isOn
        case .lowPower(let isOn):
            self.registry[host].isInLowPower = isOn
            if !isOn { self.endLowPower(of: host) }
        case .widgetVisible, .widgetHidden, .appIntent, .animation, .reloaded, .entryShown: return
        }
        var until = self.registry[host].coldFields.foregroundUntil
        for session in HostSession.allCases {
            until = max(until, self.registry[host].coldFields.sessionsUntil[Int(session.rawValue)])
        }
        self.registry[host].exemptUntil = until
        for instance in self.registry.instances(of: host) where self.registry[instance].isLive {
            self.decideIfWaiting(instance)
        }
    }

    private mutating func noteEvent(_ event: HostSignal.Event, of instance: InstanceNumber) {
        switch event {
        case .widgetVisible: self.see(instance)
        case .widgetHidden:
            self.tellVisibility(of: self.registry[instance].host)
            self.schedule[cold: instance].visibleUntil = .distantPast
        case .appIntent: self.want(.appIntent, instance)
        case .reloaded: self.observe(instance)
        default: return
        }
    }

    mutating func decideIfWaiting(_ instance: InstanceNumber) {
        if self.schedule[active: instance].isWaiting {
            self.decide(instance)
        }
    }

    /// Adds a cause of the instance's own and decides it; a host that drives its timelines reloads for it by itself.
    mutating func want(_ cause: ReloadCause, _ instance: InstanceNumber) {
        if self.registry[instance].isHostDriven {
            self.predict(ReloadCauses(cause), instance)
            return self.decide(instance)
        }
        self.schedule[active: instance].waiting.insert(ReloadCauses(cause))
        self.decide(instance)
    }

    /// Notes that the host tells of views from now on. Before, nothing was known of them.
    private mutating func tellVisibility(of host: HostNumber) {
        guard !self.registry[host].tellsVisibility else { return }
        for instance in self.registry.instances(of: host) { self.openWindow(of: instance) }
        self.registry[host].tellsVisibility = true
    }

    /// The user looks at an instance: its causes that were held until then are decided.
    private mutating func see(_ instance: InstanceNumber) {
        let host = self.registry[instance].host
        self.tellVisibility(of: host)
        self.openWindow(of: instance)
        let wasHidden = self.schedule[cold: instance].visibleUntil <= self.time
        self.schedule[cold: instance].visibleUntil = self.time + HostSignal.lapse
        let last = self.registry[observed: instance].viewedAt
        if wasHidden, last == .distantPast || last + Self.viewInterval <= self.time {
            self.registry[observed: instance].viewedAt = self.time
            self.registry[host].windows.noteView(at: self.time)
            if self.schedule[instance].views < .max { self.schedule[instance].views += 1 }
        }
        if self.registry[observed: instance].awaitsLook {
            self.registry[observed: instance].awaitsLook = false
            if self.registry[instance].isHostDriven {
                self.predict(ReloadCauses(.significantLocationChange), instance)
            } else {
                self.schedule[active: instance].waiting.insert(ReloadCauses(.significantLocationChange))
            }
        }
        if self.schedule[active: instance].heldUntil > self.time {
            let slowed = self.slowedUntil(instance)
            if slowed > self.time {
                self.schedule[active: instance].heldUntil = slowed
            } else {
                self.schedule[active: instance].heldUntil = .distantPast
                self.schedule[active: instance].waiting.insert(ReloadCauses(.becameVisible))
            }
        }
        self.decideIfWaiting(instance)
    }

    /// Ends the hold of instances that only low power held; hidden ones stay held.
    private mutating func endLowPower(of host: HostNumber) {
        for instance in self.registry.instances(of: host) where self.schedule[active: instance].heldUntil > self.time {
            self.openWindow(of: instance)
            if !self.isThinned(instance) { self.schedule[active: instance].heldUntil = .distantPast }
        }
    }

    /// The system reloads every widget of a host by itself; no app needs to ask for that.
    private mutating func change(_ change: SystemChange, on host: HostNumber) {
        for instance in self.registry.instances(of: host) where self.registry[instance].isLive {
            self.registry[observed: instance].systemChangeAt = self.time
            self.want(change.cause, instance)
        }
    }

    /// Widgets that use the location reload when the user next looks at them, now if the user does so already.
    private mutating func move(_ host: HostNumber) {
        for instance in self.registry.instances(of: host) where self.registry[instance].isLive {
            guard self.catalogue[self.registry[instance].kind].usesLocation else { continue }
            if self.schedule[cold: instance].visibleUntil > self.time {
                self.want(.significantLocationChange, instance)
            } else {
                self.registry[observed: instance].awaitsLook = true
            }
        }
    }

    private mutating func acknowledge(_ id: ReloadID, showing date: Instant, _ instance: InstanceNumber) {
        self.registry[content: instance].shownEntry = date
        let reload = self.findReload(id.position, of: instance)
        if let reload { self.acknowledge(reload, of: instance) }
        if let news = self.registry[content: instance].unshown, news.position == id.position {
            self.counters.freshness.record(self.time - news.acceptedAt)
            self.registry[content: instance].unshown = nil
        }
        if reload != nil { self.decide(instance) }
    }

    /// Whether the system has lately made the reload by itself that an app asks for.
    func isCovered(_ instance: InstanceNumber) -> Bool {
        let changedAt = self.registry[observed: instance].systemChangeAt
        return changedAt != .distantPast && changedAt + Self.systemChangeCovers >= self.time
            && self.schedule[active: instance].waiting.isDisjoint(with: .systemChanges)
    }
}

extension ReloadCauses {
    /// Changes after which the system reloads by itself.
    static let systemChanges = SystemChange.allCases.reduce(into: ReloadCauses()) { $0.insert(ReloadCauses($1.cause)) }
    /// The causes that are never charged by themselves.
    static let free = ReloadCauses.systemChanges.union([
        ReloadCauses(.appIntent), ReloadCauses(.significantLocationChange),
    ])

    /// Why a reload for the first of these causes is not charged, nil if it is.
    var exemption: Exemption? {
        switch self.intersection(.free).isEmpty ? ReloadCause.push : self.intersection(.free).first {
        case .appIntent: .appIntent
        case .significantLocationChange: .significantLocationChange
        case .localeChanged: .localeChanged
        case .dynamicTypeChanged: .dynamicTypeChanged
        case .accessibilityChanged: .accessibilityChanged
        case .appearanceChanged: .appearanceChanged
        default: nil
        }
    }
}
