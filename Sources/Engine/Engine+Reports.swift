import IntentMatching
import Timelines
import WidgetModel

extension Engine {
    /// A host signals the start or the end of an exemption; what waits is decided anew.
    mutating func signal(_ signal: HostSignal) -> RecordAnswer.Result {
        guard let host = self.hosts.find(signal.host), self.hosts[host].isRegistered else { return .unknownHost }
        self.counters.signals += 1
        let lapses = self.now + HostSignal.lapse.milliseconds
        switch signal.event {
        case .appForeground: self.hosts[host].foregroundUntil = lapses
        case .appBackground: self.hosts[host].foregroundUntil = .min
        case .sessionStarted(let session): self.hosts[host].sessionsUntil[Int(session.rawValue)] = lapses
        case .sessionEnded(let session): self.hosts[host].sessionsUntil[Int(session.rawValue)] = .min
        }
        var until = self.hosts[host].foregroundUntil
        for session in HostSession.allCases {
            until = max(until, self.hosts[host].sessionsUntil[Int(session.rawValue)])
        }
        self.hosts[host].exemptUntil = until
        for instance in self.instances(of: host) where self.instances[instance].isLive {
            if self.instances[instance].pending.count > 0 || !self.instances[instance].waiting.isEmpty {
                self.decide(instance)
            }
        }
        return .signalled
    }

    /// A host reports the timeline that an instance shows now; its policy is the instance's schedule from now on.
    mutating func accept(_ report: TimelineReport) -> RecordAnswer.Result {
        guard let host = self.hosts.find(report.host), self.hosts[host].isRegistered else { return .unknownHost }
        let address = InstanceAddress(host: report.host, instance: report.instance)
        guard let instance = self.liveInstance(address) else { return .unknownInstance }
        do throws(TimelineFault) {
            try report.timeline.validate()
        } catch {
            return .timelineRefused(error)
        }
        var isStale = false
        if let id = report.reload, id.partition == self.partition, id.instance == address {
            if let reload = self.reload(id.position, of: instance) {
                isStale = self.reloads[reload].generation != self.instances[instance].generation
                self.counters.reloadsAcknowledged += 1
                self.end(reload, .acknowledged)
            } else {
                isStale = id.position < self.instances[instance].configuredAt
            }
        }
        if isStale {
            self.counters.timelinesDiscarded += 1
            self.decide(instance)
            return .staleGeneration
        }
        let findings = self.show(report, instance)
        self.decide(instance)
        return .timeline(findings: findings)
    }

    private mutating func show(_ report: TimelineReport, _ instance: UInt32) -> [TimelineFinding] {
        let timeline = report.timeline
        let terms = self.terms(of: instance)
        let before = self.instances[details: instance].timeline
        let isSame = timeline.digest != nil && before?.timeline.digest == timeline.digest
        var context = LintContext()
        context.pace = terms.interval
        context.isReloadedOtherwise = self.instances[instance].pushEnabled
        context.equalDigestsBefore = isSame ? before?.equalDigests ?? 0 : 0
        let findings = timeline.lint(receivedAt: self.time, context: context)
        self.counters.timelinesAccepted += 1
        self.counters.timelineFindings += findings.count
        self.instances[details: instance].timeline = InstanceTable.Shown(
            timeline: timeline,
            receivedAt: self.time,
            findings: findings,
            equalDigests: isSame ? context.equalDigestsBefore + 1 : 1
        )
        if let digest = timeline.digest {
            let team = self.apps.apps[Int(self.hosts[self.instances[instance].host].app)].team
            self.instances[details: instance].confirmedDigest = ContentDigest(team: team, bytes: digest)
            self.instances[details: instance].confirmedBy = self.position
        } else if report.reload == nil {
            // The host reloaded by itself: what it shows now is not known to any sender.
            self.instances[details: instance].confirmedDigest = nil
            self.instances[details: instance].confirmedBy = self.position
        }
        self.instances[instance].waiting.remove(ReloadCauses(.policy))
        self.instances[instance].timelineDue = .max
        if let date = timeline.nextRequest(receivedAt: self.time, pace: terms.interval) {
            let host = self.hosts[self.instances[instance].host].id
            self.instances[instance].timelineDue = (date + Smoothing.offset(host: host, date: date)).milliseconds
        }
        return findings
    }

    /// The app asks for reloads of what matches, whether it is push-enabled or not.
    mutating func accept(_ request: AppReloadRequest) -> RecordAnswer.Result {
        guard let app = self.apps.find(request.app) else { return .appReload(matched: 0) }
        var kind: UInt32?
        if let name = request.kind {
            guard let found = self.apps.findAny(name, of: app) else { return .appReload(matched: 0) }
            kind = found
        }
        let hit: [UInt32]
        if let id = request.host {
            guard let host = self.hosts.find(id), self.hosts[host].isRegistered, self.hosts[host].app == app else {
                return .unknownHost
            }
            hit = self.instances(of: host).filter { instance in
                self.instances[instance].isLive && (kind == nil || self.instances[instance].kind == kind)
                    && (request.pattern.map { self.matches(instance, $0) } ?? true)
            }
        } else {
            hit = self.matching(app: app, kind: kind, request.pattern) + self.matchingSilent(app, kind, request.pattern)
        }
        let digest = request.digest.map { ContentDigest(team: self.apps.apps[Int(app)].team, bytes: $0) }
        var matched = 0
        for instance in hit {
            if let digest, self.shows(instance, digest) {
                self.note(instance, .unchanged, .sameDigest, cause: .appRequest)
                continue
            }
            matched += 1
            self.instances[instance].waiting.insert(ReloadCauses(.appRequest))
            self.instances[instance].hasPendingDigest = digest != nil
            if let digest { self.instances[details: instance].pendingDigest = digest }
            let reloads = self.instances[instance].lastReload
            self.decide(instance)
            if self.instances[instance].lastReload == reloads {
                let row = self.instances[instance]
                self.note(instance, .deferred, row.reason, cause: .appRequest, until: row.decidesAt)
            }
        }
        return .appReload(matched: matched)
    }

    /// The instances that are not push-enabled, which the index does not give. O(instances).
    private func matchingSilent(_ app: UInt32, _ kind: UInt32?, _ pattern: MatchPattern?) -> [UInt32] {
        self.instances.usedSlots().filter { instance in
            let row = self.instances[instance]
            return row.isLive && !row.pushEnabled && self.apps.kinds[Int(row.kind)].app == app
                && (kind == nil || row.kind == kind) && (pattern.map { self.matches(instance, $0) } ?? true)
        }
    }
}
