import Storage
package import WidgetModel

/// The registered hosts of an app, or of all, in the order of their numbers.
package struct HostList: EngineList {
    package static let coding = Fields(Self.init, \.app)
    package let app: BundleID?

    package init(of app: BundleID?) { self.app = app }

    package func page(of engine: borrowing Engine, _ part: ListPart) -> ListPage<HostSummary> {
        engine.hosts(part, of: self.app) { engine.summary(ofHost: $0) }
    }
}

/// The registrations that would make an app's hosts again, in the order of the hosts' numbers. A host with several
/// tokens has one for each, so that all of them are bound. Leases are the time that is left.
package struct RegistrationList: EngineList {
    package static let coding = Fields(Self.init, \.app)
    package let app: BundleID

    package init(of app: BundleID) { self.app = app }

    package func page(of engine: borrowing Engine, _ part: ListPart) -> ListPage<[HostRegistration]> {
        engine.hosts(part, of: self.app) { engine.registrations(ofHost: $0) }
    }
}

/// A registered host as lists have it; nil if it is not registered here.
package struct HostSummaryQuestion: HostBoundQuestion {
    package static let coding = Fields(Self.init, \.host)
    package let host: HostKey

    package init(_ host: HostKey) { self.host = host }

    package func answer(from engine: borrowing Engine) -> HostSummary? {
        guard let slot = engine.registry.findHost(self.host), engine.registry[slot].isRegistered else { return nil }
        return engine.summary(ofHost: slot)
    }
}

extension Engine {
    /// The rows that `row` makes of registered hosts.
    fileprivate func hosts<Row: Sendable>(
        _ part: ListPart,
        of app: BundleID?,
        _ row: (HostNumber) -> Row
    ) -> ListPage<Row> {
        let numbers = self.registry.hostNumbers(from: Number(place: part.place), atMost: part.scanMax)
        return ListPage(numbers, end: self.registry.hostEnd, limit: part.limit) { host in
            guard self.registry[host].isRegistered else { return nil }
            return app == nil || app == self.catalogue[self.registry[host].app].id ? row(host) : nil
        }
    }

    fileprivate func registrations(ofHost slot: HostNumber) -> [HostRegistration] {
        let row = self.registry[slot]
        let key = self.hostKey(of: slot)
        let instances = self.registeredInstances(of: slot)
        let context = self.registry.context(of: slot)
        return self.registry.tokens(of: slot).enumerated().map { index, token in
            HostRegistration(
                host: key,
                token: token.token,
                registrant: index == 0 ? .backEnd : .backEndAddingToken,
                revision: row.revision,
                delivery: row.delivery,
                context: context,
                lease: row.leaseEnds.map { max(.seconds(1), $0 - self.time) },
                instances: instances
            )
        }
    }

    fileprivate func summary(ofHost slot: HostNumber) -> HostSummary {
        let row = self.registry[slot]
        return HostSummary(
            host: self.hostKey(of: slot),
            delivery: row.delivery,
            registeredAt: row.registeredAt,
            leaseEnds: row.leaseEnds,
            exemptions: self.exemptions(ofHost: slot),
            isInStandBy: row.isInStandBy,
            isInLowPower: row.isInLowPower,
            instances: Int(row.liveInstances),
            outstanding: self.registry.instances(of: slot).reduce(0) { $0 + self.outstanding(of: $1) }
        )
    }

    private func outstanding(of instance: InstanceNumber) -> Int {
        self.reloads.count(of: self.schedule[active: instance].outstanding)
    }

    /// Why the reloads of a host are not charged at this moment, in the order of raw values.
    func exemptions(ofHost slot: HostNumber) -> [Exemption] {
        let row = self.registry[slot]
        var exemptions: [Exemption] = []
        if row.coldFields.foregroundUntil > self.time { exemptions.append(.appForeground) }
        for session in HostSession.allCases where row.coldFields.sessionsUntil[Int(session.rawValue)] > self.time {
            exemptions.append(session.exemption)
        }
        return exemptions
    }
}
