import IntentMatching
import Timelines
import WidgetModel

extension Engine {
    /// A host reports the timeline that an instance shows now; its policy is the instance's schedule from now on.
    mutating func acceptTimeline(_ report: TimelineReport) -> RecordAnswer.Result {
        guard let host = self.registry.findHost(report.host), self.registry[host].isRegistered else {
            return .unknownHost
        }
        let address = InstanceAddress(host: report.host, instance: report.instance)
        guard let instance = self.registry.liveInstance(address) else { return .unknownInstance }
        do throws(TimelineError) {
            try report.timeline.validate(self.catalogue.limits.timelines)
        } catch {
            return .timelineRefused(error)
        }
        var isStale = false
        if let id = report.reload {
            guard self.liveInstance(of: id, on: host) == instance else { return .unknownReload }
            if let reload = self.findReload(id.position, of: instance) {
                isStale = self.reloads[row: reload].generation != self.registry[instance].generation
                self.acknowledge(reload, of: instance)
            } else {
                isStale = id.position < self.registry[instance].configuredAt
            }
        }
        if isStale {
            self.counters.timelinesDiscarded += 1
            self.decide(instance)
            return .staleGeneration
        }
        // Without a reload that it came from, the host has reloaded by itself.
        if report.reload == nil { self.observe(instance) }
        let findings = self.show(report, instance)
        self.decide(instance)
        return .timeline(findings: findings)
    }

    private mutating func show(_ report: TimelineReport, _ instance: InstanceNumber) -> [TimelineFinding] {
        let timeline = report.timeline
        self.openWindow(of: instance)
        let terms = self.terms(of: instance)
        let before = self.registry[content: instance].timeline
        let isSame = timeline.digest != nil && before?.timeline.digest == timeline.digest
        let kind = self.registry[instance].kind
        let atEnd = self.catalogue[kind].bare.atEnd
        var context = LintContext()
        context.pace = terms.interval
        context.atEnd = atEnd
        context.isReloadedOtherwise = self.registry[instance].pushEnabled
        context.equalDigestsBefore = isSame ? before?.equalDigests ?? 0 : 0
        context.contentBytes = report.contentBytes
        // A host that is reached through a token is not told which reload it is.
        if report.reload == nil, !self.registry[instance].isHostDriven {
            context.unnamedReloads = self.reloads.count(of: self.schedule[active: instance].outstanding)
        }
        let findings = timeline.lint(receivedAt: self.time, context: context, limits: self.catalogue.limits.timelines)
        self.counters.timelinesAccepted += 1
        self.counters.timelineFindings += findings.count
        self.registry[content: instance].timeline = Registry.Shown(
            timeline: timeline,
            receivedAt: self.time,
            findings: findings,
            equalDigests: isSame ? context.equalDigestsBefore + 1 : 1
        )
        if let digest = timeline.digest {
            let team = self.catalogue[self.registry[self.registry[instance].host].app].team
            self.registry[content: instance].confirmedDigest = ContentDigest(team: team, bytes: digest)
            self.registry.setConfirmedBy(of: instance, self.position)
        }
        if self.schedule[instance].isActive {
            self.schedule[active: instance].waiting.remove(ReloadCauses(.policy))
            self.schedule[active: instance].heldUntil = .distantPast
        }
        self.schedule[instance].timelineDue = .distantFuture
        self.schedule[instance].isPolicyPaced = timeline.policy == .atEnd && atEnd == .wwdc21
        if let date = timeline.nextRequest(receivedAt: self.time, pace: terms.interval, atEnd: atEnd) {
            let host = self.hostKey(of: self.registry[instance].host)
            // Smoothing spares hosts that are asked; a host that asks by itself does so when it likes.
            let slot = self.registry[instance].isHostDriven ? .zero : self.catalogue[kind].bare.smoothing
            let offset = Smoothing.offset(host: host, date: date, slot: slot)
            self.schedule[instance].timelineDue = date + offset
        }
        return findings
    }

    /// The app asks for reloads of the matching instances, push-enabled or not.
    ///
    /// - Returns: Nil if the work is queued, see ``AppReloadWork``.
    mutating func acceptAppReload(_ request: AppReloadRequest) -> RecordAnswer.Result? {
        guard let app = self.catalogue.findApp(request.app) else { return .appReload(matched: 0) }
        var kind: KindNumber?
        if let name = request.kind {
            guard let found = self.catalogue.findAnyKind(name, of: app) else { return .appReload(matched: 0) }
            kind = found
        }
        let digest = request.digest.map { ContentDigest(team: self.catalogue[app].team, bytes: $0) }
        var work = AppReloadWork(by: .app(request, app, kind), digest)
        if let id = request.host {
            guard let host = self.registry.findHost(HostKey(app: request.app, id: id)), self.registry[host].isRegistered
            else {
                return .unknownHost
            }
            let matches = self.registry.instances(of: host).filter { instance in
                self.registry[instance].isLive && (kind == nil || self.registry[instance].kind == kind)
                    && (request.pattern.map { self.matches(instance, $0) } ?? true)
            }
            work.add(matches)
            self.work.push(.appReload(work))
        } else {
            work.scan = TableScan(below: self.registry.instanceEnd)
            let cursor = self.cursor(app, kind, request.pattern, nil, order: .ascending)
            self.work.push(.finding(FindingWork(.appReload(work), cursor, request.pattern)))
        }
        return nil
    }

    /// Whether a request is for this instance: an app asks for controls and widgets apart, and an instance that only
    /// pushes reach cannot be asked if it is not push-enabled.
    func isMeant(_ instance: InstanceNumber, by asker: AppReloadWork.Asker) -> Bool {
        let row = self.registry[instance]
        if case .app(let request, _, _) = asker, row.isControl != request.isForControls { return false }
        return row.pushEnabled || !row.isHostDriven
    }

    /// Adds the request of the app, or of an operator, to the waiting causes of an instance.
    ///
    /// - Returns: False if the system has just reloaded it by itself.
    mutating func addRequest(_ instance: InstanceNumber, _ digest: ContentDigest?) -> Bool {
        if self.isCovered(instance) {
            self.noteDecision(instance, .coalesced, .systemChange, cause: .appRequest)
            return false
        }
        self.schedule[active: instance].waiting.insert(ReloadCauses(.appRequest))
        self.schedule[instance].hasPendingDigest = digest != nil
        if let digest { self.registry[content: instance].pendingDigest = digest }
        // It is decided once all have the request, which may be slices later.
        self.settle(instance)
        return true
    }
}
