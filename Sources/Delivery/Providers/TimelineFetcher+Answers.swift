import Engine
import Partitions
import Serving
import TimelineProviding
import Timelines
import WidgetModel

/// What comes of a provider's answers.
extension TimelineFetcher {
    /// What a provider is to be asked about.
    struct Wanted {
        /// Reloads that are out.
        var subjects: [FetchSubject] = []
        /// Accepted timelines whose content is not here.
        var shown: [ShownTimeline] = []
    }

    /// A timeline of a provider's answer.
    private struct Provided {
        let timeline: StoredTimeline
        /// Nil if the engine has it already.
        let report: TimelineReport?
        /// The reload whose content is here.
        let before: ReloadID?
    }

    /// Stores and logs the timelines of an answer. An accepted timeline that the provider gives again is not logged again.
    ///
    /// - Returns: The reloads that are not to be asked about again: the engine has taken their timeline, or does not want it.
    func take(_ answer: ProviderAnswer, _ wanted: Wanted) async -> Set<ReloadID> {
        let reloads: [(FetchSubject, Timeline?)] = wanted.subjects.map { ($0, nil) }
        var provided: [Provided] = []
        for (subject, shown) in reloads + wanted.shown.map({ ($0.subject, Optional($0.timeline)) }) {
            switch answer.parts[subject.reload] {
            case .timeline(let timeline):
                let report = timeline.isSame(as: shown) ? nil : timeline.report(subject)
                let before = self.services.contents.timelines(of: [subject.address]).first?.reload
                provided.append(Provided(timeline: timeline.stored(subject), report: report, before: before))
            case .fault(let text): self.note(text, self.services.clock.now())
            case .refused(let text):
                self.timelinesRefused += 1
                self.note(text, self.services.clock.now())
            case nil: continue
            }
        }
        guard !provided.isEmpty else { return [] }
        do {
            let records = try await self.services.contents.write(provided.map(\.timeline))
            do {
                let reports = provided.compactMap(\.report)
                let results = try await self.services.log.append(reports.map { (.timeline($0), $0.host) })
                return self.accept(provided, records, results)
            } catch {
                self.services.contents.release(records)
                throw error
            }
        } catch {
            // Nothing is lost: the reloads are out, and are asked about again.
            self.note("its answer could not be stored: \(error)", self.services.clock.now())
            return []
        }
    }

    private func accept(
        _ provided: [Provided],
        _ records: [UInt64],
        _ results: [RecordAnswer.Result]
    ) -> Set<ReloadID> {
        let now = self.services.clock.now()
        var results = results.makeIterator()
        var answered: Set<ReloadID> = []
        var taken: [(timeline: StoredTimeline, record: UInt64)] = []
        for (item, record) in zip(provided, records) {
            let timeline = item.timeline
            answered.insert(timeline.reload)
            guard item.report != nil else {
                // A reload may have brought another one meanwhile.
                if self.services.contents.timelines(of: [timeline.address]).first?.reload == item.before {
                    taken.append((timeline, record))
                } else {
                    self.services.contents.release([record])
                }
                continue
            }
            switch results.next() {
            case .timeline(let findings):
                taken.append((timeline, record))
                self.services.states.note(findings, of: timeline.address, self.key, at: now)
            case .timelineRefused(let fault):
                answered.remove(timeline.reload)
                self.timelinesRefused += 1
                self.note(fault.description, now)
                self.services.contents.release([record])
            // Configured anew or removed meanwhile: another reload is out, or none is wanted.
            default: self.services.contents.release([record])
            }
        }
        self.services.draw(self.services.contents.accept(taken, at: now).map { .entry($0) })
        return answered
    }

    // MARK: What is wanted

    /// What is still to be asked about of these reloads. Those of other nodes' partitions are asked about there.
    func wanted(of reloads: [ReloadID]) async -> Wanted {
        let own = reloads.filter { self.isOwn($0) }
        let subjects = await self.subjects(of: own)
        let out = Set(subjects.map(\.reload))
        return Wanted(subjects: subjects, shown: await self.lacking(own.filter { !out.contains($0) }))
    }

    /// What is still wanted of this, once the provider has answered.
    func still(_ wanted: Wanted) async -> Wanted {
        let shown = await self.lacking(wanted.shown.map(\.subject.reload))
        return Wanted(subjects: wanted.subjects.filter { self.isOwn($0.reload) }, shown: shown)
    }

    private func isOwn(_ reload: ReloadID) -> Bool {
        Int(reload.partition.rawValue) < self.services.log.partitions && self.services.log.isPresent(reload.partition)
    }

    /// The accepted timelines of these reloads' instances whose content is not here.
    private func lacking(_ reloads: [ReloadID]) async -> [ShownTimeline] {
        let own = reloads.filter { self.isOwn($0) }
        guard !own.isEmpty else { return [] }
        let found = try? await self.services.log.find(ShownTimeline.self, of: own, toleratesSilence: true)
        return self.lacking(own.compactMap { found?[$0] })
    }

    /// Those of the kind whose content is not here.
    func lacking(_ timelines: [ShownTimeline]) -> [ShownTimeline] {
        timelines.filter { shown in
            let key = KindKey(app: shown.subject.app, kind: shown.subject.kind)
            return key == self.key && !self.services.contents.has(shown)
        }
    }

    /// The subjects of those reloads that are still out, in the order of the ids.
    func subjects(of reloads: [ReloadID]) async -> [FetchSubject] {
        let found = try? await self.services.log.find(FetchSubject.self, of: reloads, toleratesSilence: true)
        return reloads.compactMap { found?[$0] }.filter { $0.app == self.key.app && $0.kind == self.key.kind }
    }
}
