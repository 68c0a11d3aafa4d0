import WidgetModel

extension Engine {
    /// The app says that relevance or recommendations are out of date: those who hold them are told to ask anew.
    ///
    /// Relevance is told to each host that shows the kind, in the order of their numbers, but for those behind APNs, where
    /// the app tells WidgetKit itself. Recommendations are told once for each kind, in the order of their names.
    ///
    /// - Returns: Nil if the work is queued, see ``InvalidationWork``.
    mutating func acceptInvalidation(_ request: InvalidationRequest) -> RecordAnswer.Result? {
        guard let app = self.catalogue.findApp(request.app) else { return .invalidated(count: 0) }
        let kinds = self.catalogue[app].kinds.filter { kind in
            self.catalogue[kind].isConfigured
                && (request.kind == nil || request.kind == self.catalogue[kind].name)
        }
        switch request.subject {
        case .recommendations:
            for kind in kinds { self.invalidate(.recommendations, kind, host: nil) }
            return self.countInvalidations(kinds.count)
        case .relevance:
            guard let id = request.host else {
                self.work.push(
                    .invalidation(
                        InvalidationWork(app: app, kinds: kinds, hostsBelow: self.registry.hostNumbers.upperBound.index)
                    )
                )
                return nil
            }
            guard let host = self.registry.findHost(HostKey(app: request.app, id: id)) else { return .unknownHost }
            return self.countInvalidations(self.invalidateRelevance(of: kinds, app: app, host: host))
        }
    }

    /// Tells a host that the relevance of its widgets is out of date, if it is one of the app's.
    ///
    /// - Returns: Of how many kinds.
    mutating func invalidateRelevance(of kinds: [KindNumber], app: AppNumber, host: HostNumber) -> Int {
        // A number that is free keeps its last row, which is not registered.
        guard self.registry[host].isRegistered, self.registry[host].app == app, self.registry[host].delivery != .apns
        else {
            return 0
        }
        let shown = self.registry.liveInstances(of: host)
        var count = 0
        for kind in kinds where shown.contains(where: { self.registry[$0].kind == kind }) {
            self.invalidate(.relevance, kind, host: self.registry.id(of: host))
            count += 1
        }
        return count
    }

    mutating func countInvalidations(_ count: Int) -> RecordAnswer.Result {
        self.counters.invalidations += count
        return .invalidated(count: count)
    }

    private mutating func invalidate(_ subject: InvalidationRequest.Subject, _ kind: KindNumber, host: HostID?) {
        let app = self.catalogue[self.catalogue[kind].app].id
        let name = self.catalogue[kind].name
        if let host { self.combine(ReplayHash.of(host.rawValue, seed: 5)) }
        self.combine(ReplayHash.of(name.rawValue, seed: 6) ^ UInt64(subject.rawValue))
        let invalidation = Invalidation(subject: subject, app: app, kind: name, host: host, at: self.time)
        self.output.effects.append(.invalidation(invalidation))
    }
}
