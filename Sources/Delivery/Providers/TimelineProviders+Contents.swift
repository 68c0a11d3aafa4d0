package import Engine
package import Partitions
package import Serving
import TimelineProviding
package import WidgetModel

/// The content that widgets show, for readers at any gateway. The node of a host's partition keeps it.
extension TimelineProviders: NodeProviders {
    package func contents(
        of instances: [InstanceAddress],
        _ outstanding: [ReloadEffect],
        at host: HostKey
    ) async throws(Problem) -> HostContents {
        guard self.all.keys.contains(where: { $0.app == host.app }) else { return HostContents() }
        let added = outstanding.filter { $0.causes.contains(.added) && self.fetches($0) }
        let question = ContentsQuestion(timelinesOf: instances, placeholdersOf: added)
        let partition = self.services.log.partition(of: host)
        return try await self.services.log.ask(partition, question) { await self.own(question) }
    }

    package func contents(_ question: ContentsQuestion) async -> [UInt8] { await self.own(question).encoded }

    /// The content of widgets whose partition is this node's.
    private func own(_ question: ContentsQuestion) async -> HostContents {
        // Before the timelines: one that comes meanwhile takes its placeholder's place.
        let placeholders = await self.placeholders(of: question.added)
        let stored = self.services.contents.timelines(of: question.instances)
        let gone = Set(await self.gone(stored))
        return HostContents(timelines: stored.filter { !gone.contains($0.address) }, placeholders: placeholders)
    }

    private func placeholders(of reloads: [ReloadEffect]) async -> [Placeholder] {
        let kinds = Dictionary(grouping: reloads) { KindKey(app: $0.app, kind: $0.kind) }
        var found: [Placeholder] = []
        for (key, reloads) in kinds { found += await self[key]?.placeholders(of: reloads.map(\.id)) ?? [] }
        return found.sorted { $0.reload.instance < $1.reload.instance }
    }
}
