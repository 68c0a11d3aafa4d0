import Engine
package import Partitions
package import Serving
import TimelineProviding
package import WidgetModel

/// The content that widgets show, for readers at any gateway. The node of a host's partition keeps it.
extension TimelineProviders: NodeProviders {
    package func contents(of host: HostKey, hasTimelines: Bool) async throws(Problem) -> HostContents {
        guard self.all.keys.contains(where: { $0.app == host.app }) else { return HostContents() }
        let question = ContentsQuestion(host, hasTimelines: hasTimelines)
        return try await self.services.log.ask(question) { () async throws(Problem) in try await self.own(question) }
    }

    package func contents(_ question: ContentsQuestion) async throws(Problem) -> [UInt8] {
        try await self.own(question).encoded
    }

    /// The content of a host whose partition is this node's.
    private func own(_ question: ContentsQuestion) async throws(Problem) -> HostContents {
        guard let state = try await self.services.log.ask(HostStateQuestion(question.host)) else {
            return HostContents()
        }
        // Before the timelines: one that comes meanwhile takes its placeholder's place.
        let placeholders = await self.placeholders(of: state.outstanding)
        let stored = self.services.contents.timelines(of: state.instances.map(\.address))
        let gone = Set(await self.gone(stored))
        let (timelines, now) = (stored.filter { !gone.contains($0.address) }, self.now)
        let entries = timelines.compactMap { timeline in
            timeline.index(at: now).map { ContentTable.Due(timeline: timeline, index: $0) }
        }
        return HostContents(
            drawings: placeholders.map { .placeholder($0) } + entries.map { .entry($0) },
            timelines: question.hasTimelines ? timelines : []
        )
    }

    private func placeholders(of outstanding: [ReloadEffect]) async -> [Placeholder] {
        let added = outstanding.filter { $0.causes.contains(.added) && self.fetches($0) }
        let kinds = Dictionary(grouping: added) { KindKey(app: $0.app, kind: $0.kind) }
        var found: [Placeholder] = []
        for (key, reloads) in kinds { found += await self[key]?.placeholders(of: reloads.map(\.id)) ?? [] }
        return found.sorted { $0.reload.instance < $1.reload.instance }
    }
}
