package import Engine
package import Journaling
import Ownership
package import WidgetModel

/// One effect of a partition's output log as a line of JSON, as `freshet log outputs` writes it.
package struct EffectText: Sendable {
    package let partition: PartitionID
    /// The output that it is in.
    package let output: OutputPosition
    /// The last entry that the output is about.
    package let through: LogPosition
    /// Its place in the output.
    package let index: Int
    package let effect: Effect

    package var json: JSONValue {
        let head: [(String, JSONValue?)] = [
            ("partition", .count(Int(self.partition.rawValue))), ("output", .unsigned(self.output.rawValue)),
            ("through", .unsigned(self.through.rawValue)), ("index", .count(self.index)),
        ]
        return .object(of: head + self.members)
    }

    private var members: [(String, JSONValue?)] {
        switch self.effect {
        case .reload(let reload):
            [("effect", .string("reload"))] + Self.members(of: reload, isCharged: reload.isCharged)
        case .push(let push):
            [
                ("effect", .string("push")), ("app", .string(push.app.rawValue)),
                (
                    "reloads",
                    .array(
                        push.members.map { .object(of: Self.members(of: $0.reload, isCharged: $0.isCharged)) }
                    )
                ),
            ]
        case .invalidation(let invalidation):
            [("effect", .string("invalidation")), ("app", .string(invalidation.app.rawValue))]
        }
    }

    private static func members(of reload: ReloadEffect, isCharged: Bool) -> [(String, JSONValue?)] {
        [
            ("reload", .string(reload.id.description)), ("app", .string(reload.app.rawValue)),
            ("host", .string(reload.host.id.rawValue)), ("instance", .string(reload.instance.rawValue)),
            ("kind", .string(reload.kind.rawValue)), ("causes", .strings(reload.causes.list.map(\.name))),
            ("charged", .bool(isCharged)), ("exemption", reload.exemption.map { .string($0.name) }),
            ("push", reload.push.map { .string($0.description) }), ("pushes", .count(reload.pushCount)),
            ("issuedAt", .instant(reload.issuedAt)),
        ]
    }
}

extension OutputEntry {
    /// The effects of the output, to be written as lines.
    package func texts(of partition: PartitionID) throws(ByteError) -> [EffectText] {
        try self.record.readEffects().enumerated().map { index, effect in
            EffectText(
                partition: partition,
                output: self.position,
                through: self.record.through,
                index: index,
                effect: effect
            )
        }
    }
}
