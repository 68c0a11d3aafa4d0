import Engine
import TestSupport
import TimelineProviding
import Timelines
import WidgetModel

/// Reloads and timelines to plan with.
enum Fixtures {
    static let start = Instant(seconds: 1_795_262_400)

    static func reload(_ number: Int, position: UInt64 = 1) -> ReloadID {
        ReloadID(
            partition: PartitionID(0),
            position: LogPosition(position),
            instance: InstanceNumber(raw: UInt32(number)),
            check: 7
        )
    }

    static func address(_ number: Int) -> InstanceAddress {
        InstanceAddress(host: HostKey("host-\(number)"), instance: InstanceID("a"))
    }

    static func item(
        _ number: Int,
        visible: Bool = false,
        expires: Interval = .hours(4),
        priority: Priority = .normal,
        issued: Interval = .zero,
        forContent: Bool = false
    ) -> FetchItem {
        FetchItem(
            reload: Self.reload(number),
            address: Self.address(number),
            isVisible: visible,
            expiresAt: Self.start + expires,
            priority: priority,
            issuedAt: Self.start + issued,
            isForContent: forContent
        )
    }

    /// A timeline with an entry at each of these minutes after the start; the contents are what they say.
    static func timeline(_ number: Int, _ entries: [(Int, String)], digest: String = "d") -> StoredTimeline {
        StoredTimeline(
            reload: Self.reload(number),
            address: Self.address(number),
            kind: WidgetKind("scores"),
            family: .systemSmall,
            digest: Array(digest.utf8),
            entries: entries.map { minutes, content in
                StoredTimeline.Entry(
                    date: Self.start + .minutes(Int64(minutes)),
                    relevance: nil,
                    content: Array(content.utf8)
                )
            }
        )
    }
}
