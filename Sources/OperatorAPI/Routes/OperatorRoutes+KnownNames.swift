import Engine
import IntentMatching
import Partitions
import Serving
import Settings
import WidgetModel

/// The apps, kinds and senders that a filter may name.
///
/// A misspelt name would find nothing, and an answer without rows would say that nothing happens there. So every question with such a
/// name is refused here, before its handler has it. A name is known if the configuration has it, or if the gateway still has widgets of
/// the app or kind, or pushes of the sender. To a team's key, a name beyond its reach is as unknown as one that does not exist.
extension OperatorRoutes {
    /// How many names a refusal lists.
    private static let namesMax = 20

    /// - Throws: `not-found` with the names that there are.
    func checkNames(_ call: OperatorCall) async throws(Problem) {
        let (app, kind) = (call.query("app"), call.query("kind"))
        if app != nil || kind != nil { try await self.check(app: app, kind: kind) }
        if let sender = call.query("sender") { try await self.check(sender: sender) }
    }

    private func check(app: String?, kind: String?) async throws(Problem) {
        var apps = self.apps.apps.map(\.bundle)
        var kinds = self.apps.apps.flatMap { app in app.schemas.map { KindKey(app: app.bundle, kind: $0.kind) } }
        func isKnown() -> Bool {
            guard let kind else { return apps.contains { $0.rawValue == app } }
            return kinds.contains { $0.kind.rawValue == kind && (app == nil || $0.app.rawValue == app) }
        }
        if isKnown() { return }
        // Widgets outlive the entry of their app or kind in the configuration.
        for row in await self.watch.surveys.current()?.sum.kinds ?? []
        where row.instances > 0 && self.reach.includes(row.app) {
            apps.append(row.app)
            kinds.append(KindKey(app: row.app, kind: row.kind))
        }
        if isKnown() { return }
        if let app, !apps.contains(where: { $0.rawValue == app }) {
            throw Self.unknown("app", app, "there is no app", among: apps.map(\.rawValue))
        }
        let own = kinds.filter { app == nil || $0.app.rawValue == app }.map(\.kind.rawValue)
        let sentence = app.map { "the app \($0) has no kind" } ?? "no app has a kind"
        throw Self.unknown("kind", kind ?? "", sentence, among: own)
    }

    private func check(sender: String) async throws(Problem) {
        var known = self.reach.key.map { [$0.team] } ?? self.settings.reloading?.inForce.teams.map(\.id) ?? []
        if known.contains(where: { $0.rawValue == sender }) { return }
        // A team's pushes outlive its entry in the configuration.
        known += try await self.log.askEach(SendersQuestion()).flatMap(\.answer).map(\.team)
            .filter { self.reach.includes($0) }
        if known.contains(where: { $0.rawValue == sender }) { return }
        throw Self.unknown("sender", sender, "there is no sender", among: known.map(\.rawValue))
    }

    private static func unknown(_ path: String, _ name: String, _ sentence: String, among known: [String]) -> Problem {
        let name = String(name.prefix(64))
        var names = Set(known).sorted()
        // The one that was probably meant comes first.
        if let near = names.closest(to: name) { names = [near] + names.filter { $0 != near } }
        let more = names.count > Self.namesMax ? " and \(names.count - Self.namesMax) more" : ""
        let list = names.isEmpty ? "none" : names.prefix(Self.namesMax).joined(separator: ", ") + more
        return Problem(.notFound, "\(sentence) \"\(name)\"; known are: \(list)", path: path)
    }
}
