import Engine
import IntentMatching
package import Partitions
import Serving
import Settings
import WidgetModel

/// How fresh widgets are: which of them are behind, judged by the goal.
extension OperatorRoutes {
    /// The widgets that are behind now. O(kinds), nothing walks over widgets.
    ///
    /// - Parameters:
    ///   - targets: The services that the gateway calls; nil to look at them now.
    ///   - isPresentOnly: Whether only the partitions are asked that are this node's.
    package func behind(
        _ targets: [CalledTarget]? = nil,
        isPresentOnly: Bool = false
    ) async throws(Problem) -> BehindBoard {
        let goal = self.bounds.goal
        let now = self.clock.now()
        let question = BehindQuestion(longerThan: goal.within, now: now)
        let partitions =
            isPresentOnly ? try await self.log.askPresent(question) : try await self.log.askEach(question)
        let troubles = if let targets { DeliveryTroubles(of: targets) } else { await self.troubles() }
        let survey = await self.watch.surveys.latest
        let apps = self.traffic.streams.apps
        return BehindBoard(partitions.map(\.answer), goal: goal, at: now, troubles) { key in
            // Of an app without any stream all hosts are away; which of another's are, the survey counts.
            guard apps.contains(key.app) else { return .max }
            return survey?.sum.kinds.first { $0.app == key.app && $0.kind == key.kind }?.away ?? 0
        }
    }

    private func troubles() async -> DeliveryTroubles { DeliveryTroubles(of: await self.calledTargets()) }

    /// The app and kind of each row with why it is behind, as `GET /v1/instances` lists it.
    func summaries(_ rows: [InstanceSummary]) async -> JSONValue {
        let troubles = rows.contains { $0.behind?.isOut == true } ? await self.troubles() : DeliveryTroubles()
        let reached = self.traffic.streams.reaches(rows.map(\.address.host))
        return .array(
            zip(rows, reached).map { row, isReached in
                let cause = row.behind.map { reason in
                    troubles.cause(of: reason, KindKey(app: row.app, kind: row.kind), isAway: !isReached)
                }
                return Views.summary(row, behind: cause)
            }
        )
    }

    /// Why an instance is behind, as its summary says it.
    func cause(of view: InstanceView) async -> BehindCause? {
        guard let reason = view.behind else { return nil }
        let troubles = reason.isOut ? await self.troubles() : DeliveryTroubles()
        let isReached = self.traffic.streams.reaches([view.address.host])[0]
        return troubles.cause(of: reason, KindKey(app: view.app, kind: view.kind), isAway: !isReached)
    }

    /// Gauges of the widgets that are behind, by app and kind.
    func addBehind(_ text: inout PrometheusText) async throws(Problem) {
        let board = try await self.behind(isPresentOnly: true)
        typealias Row = (labels: [(String, String)], value: Double)
        var (behind, late, oldest, within, burning): ([Row], [Row], [Row], [Row], [Row]) = ([], [], [], [], [])
        for app in self.apps.apps {
            for schema in app.schemas {
                let labels = [("app", app.bundle.rawValue), ("kind", schema.kind.rawValue)]
                let row = board[KindKey(app: app.bundle, kind: schema.kind)]
                guard let share = row.share else { continue }
                behind += BehindCause.allCases.map { (labels + [("reason", $0.rawValue)], Double(row[$0])) }
                late.append((labels, Double(row.late)))
                oldest.append((labels, Double(board.oldestAge(of: row)?.milliseconds ?? 0) / 1000))
                within.append((labels, share))
                burning.append((labels, board.burnRate(of: row)))
            }
        }
        text.add("freshet_widgets_behind", .gauge, "Widgets that do not show the newest data yet, by reason.", behind)
        text.add(
            "freshet_widgets_late",
            .gauge,
            "Widgets that have been behind for longer than the goal allows.",
            late
        )
        text.add(
            "freshet_widgets_behind_oldest_seconds",
            .gauge,
            "The longest time that a widget has been behind, to the minute; 0 if none is behind.",
            oldest
        )
        text.add(
            "freshet_freshness_goal_ratio",
            .gauge,
            "The share of the widgets that must meet the goal.",
            [(labels: [], value: board.goal.fraction)]
        )
        text.add(
            "freshet_freshness_goal_seconds",
            .gauge,
            "The longest time that the goal lets a widget be behind.",
            Int(board.goal.within.milliseconds / 1000)
        )
        text.add(
            "freshet_freshness_within_ratio",
            .gauge,
            "The share of a kind's widgets that meet the goal: not behind, or not for longer than it allows.",
            within
        )
        text.add(
            "freshet_freshness_burn_rate",
            .gauge,
            "The number of a kind's late widgets, divided by the number that the goal allows.",
            burning
        )
    }
}

extension Views {
    /// How many widgets are behind, and why.
    static func behind(_ row: WidgetsBehind, _ board: BehindBoard) -> JSONValue {
        let causes = BehindCause.allCases.filter { row[$0] > 0 }.map { ($0.rawValue, JSONValue.count(row[$0])) }
        return JSONValue.object(of: [
            ("instances", .count(row.instances)),
            ("behind", .count(row.count)),
            ("late", .count(row.late)),
            ("share", row.share.map { .double($0) }),
            ("isMet", row.share.map { _ in .bool(board.goal.isMet(late: row.late, of: row.instances)) }),
            ("oldestSince", row.oldest.map { .instant($0) }),
            ("oldestSeconds", board.oldestAge(of: row).map { .int($0.milliseconds / 1000) }),
            ("reasons", JSONValue.object(of: causes)),
        ])
    }

    /// An app, or a kind of it, that misses the goal.
    private static func missed(
        _ app: BundleID,
        _ kind: WidgetKind?,
        _ row: WidgetsBehind,
        _ board: BehindBoard
    ) -> JSONValue {
        guard case .object(let members) = Self.behind(row, board) else { return .null }
        return JSONValue.object(
            of: [
                ("app", .string(app.rawValue)), ("kind", kind.map { .string($0.rawValue) }),
                ("burnRate", .double(board.burnRate(of: row))),
            ] + members.map { ($0.name, $0.value) }
        )
    }

    /// The goal of freshness, how far it is met, and those who miss it.
    static func freshness(_ board: BehindBoard) -> JSONValue {
        guard case .object(let members) = Self.behind(board.total, board) else { return .null }
        return JSONValue.object(
            of: [
                ("goal", .string(board.goal.text)),
                ("goalShare", .double(board.goal.fraction)),
                ("goalSeconds", .int(board.goal.within.milliseconds / 1000)),
                ("burnRate", .double(board.burnRate(of: board.total))),
                ("missed", .array(board.missed.map { Self.missed($0.app, $0.kind, $0.row, board) })),
            ] + members.map { ($0.name, $0.value) }
        )
    }
}
