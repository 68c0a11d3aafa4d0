import Engine
import Partitions
import WidgetModel

/// The memory that the process takes, and the parts of the registry that teams and apps have.
extension OperatorRoutes {
    /// For `GET /v1/stats`; nil where it is not counted.
    func memorySizes() async throws(Problem) -> JSONValue? {
        guard let registry = self.traffic.registry else { return nil }
        let tables = try await self.tableBytes()
        let (view, refused) = (registry.view, registry.refused)
        return JSONValue.object(of: [
            ("level", .string((view.budget?.level ?? .ample).rawValue)),
            ("usedPercent", .count(view.budget?.usedPercent ?? 0)),
            ("usedBytes", .count(view.budget?.used ?? 0)),
            ("limitBytes", view.budget?.limit.map { .count($0) }),
            ("residentBytes", .count(view.sizes?.resident ?? 0)),
            ("availableBytes", view.sizes?.available.map { .count($0) }),
            ("registryBytes", .count(view.apps.reduce(0) { $0 + $1.usage.bytes })),
            (
                "teams",
                .array(
                    view.teams.map { row in
                        JSONValue.object(
                            of: [("team", .string(row.team.rawValue))] + Self.members(of: row.usage) + [
                                ("hostsMax", row.limits.hosts.map { .count($0.max) }),
                                ("instancesMax", row.limits.instances.map { .count($0.max) }),
                            ]
                        )
                    }
                )
            ),
            ("tables", JSONValue.object(of: EngineTable.allCases.map { ($0.name, .count(tables[$0])) })),
            (
                "refused",
                JSONValue.object(of: [
                    ("hosts", .count(refused.hosts)), ("instances", .count(refused.instances)),
                    ("memory", .count(refused.memory)),
                ])
            ),
        ])
    }

    /// The memory of the engines' tables, of all partitions that are this node's.
    private func tableBytes() async throws(Problem) -> TableBytes {
        try await self.log.askPresent(TablesQuestion()).reduce(into: TableBytes()) { $0 += $1.answer }
    }

    /// The same as metrics.
    func addTables(_ text: inout PrometheusText) async throws(Problem) {
        let tables = try await self.tableBytes()
        text.add(
            "freshet_table_bytes",
            .gauge,
            "Memory that the tables of this gateway's partitions hold.",
            by: "table",
            EngineTable.allCases.map { ($0.name, tables[$0]) }
        )
    }

    private static func members(of usage: RegistryUsage) -> [(String, JSONValue?)] {
        [
            ("hosts", .count(usage.hosts)), ("instances", .count(usage.instances)),
            ("tombstones", .count(usage.tombstones)), ("bytes", .count(usage.bytes)),
        ]
    }

    func addMemory(_ text: inout PrometheusText) {
        guard let registry = self.traffic.registry else { return }
        let (view, refused) = (registry.view, registry.refused)
        if let budget = view.budget {
            text.add(
                "freshet_memory_used_bytes",
                .gauge,
                "Memory of the process, without the memory that the registry has free for reuse.",
                budget.used
            )
            text.add(
                "freshet_memory_used_percent",
                .gauge,
                "The used part of storage.memoryMax in percent; from 100 on, registrations that add hosts or instances are refused.",
                budget.usedPercent
            )
            if let limit = budget.limit {
                text.add("freshet_memory_limit_bytes", .gauge, "storage.memoryMax in bytes.", limit)
            }
        }
        func add(_ name: String, _ help: String, _ value: KeyPath<RegistryUsage, Int>) {
            text.add(
                name,
                .gauge,
                help,
                view.apps.map { row in
                    (
                        labels: [("app", row.app.rawValue), ("team", row.team.rawValue)],
                        value: Double(row.usage[keyPath: value])
                    )
                }
            )
        }
        add("freshet_app_hosts", "Hosts registered, by app and its team.", \.hosts)
        add("freshet_app_instances", "Widget instances registered, by app and its team.", \.instances)
        add("freshet_app_bytes", "The estimated memory of an app's hosts and instances in bytes.", \.bytes)
        text.add(
            "freshet_registrations_refused_total",
            .counter,
            "Registrations that would have added hosts or instances and were refused, by limit.",
            by: "limit",
            [("hosts", refused.hosts), ("instances", refused.instances), ("memory", refused.memory)]
        )
    }
}
