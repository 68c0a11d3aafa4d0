import Engine
import IntentMatching
import Partitions
import Serving
import Settings
import TestSupport
import Testing
import WidgetModel

/// What nodes tell each other beside the log.
@Suite struct AnnouncementTests {
    private static let placeholder = HostEvent.placeholder(
        Placeholder(
            reload: Sports.reload("a").id,
            address: InstanceAddress(host: HostKey("a"), instance: InstanceID("a")),
            kind: Sports.scores.kind,
            family: .systemSmall,
            content: .string("soon")
        )
    )
    private static let announcements: [Announcement] = [
        .drawing(placeholder),
        .pushed([]),
        .pushed([
            Announcement.PushedApp(app: Sports.app, kinds: PushedKinds.Kinds(Sports.scores.kind)),
            Announcement.PushedApp(app: BundleID("b"), kinds: PushedKinds.Kinds(nil)),
        ]),
        .invalidated(InvalidationRequest(.relevance, app: Sports.app, host: HostID("a"))),
        .invalidated(InvalidationRequest(.recommendations, app: Sports.app, kind: Sports.scores.kind)),
    ]

    @Test(arguments: announcements) func `announcements are read as they were written`(announcement: Announcement)
        throws
    {
        let bytes = try #require(announcement.bytes)
        #expect(try Announcement(bytes) == announcement)
        for length in bytes.indices {
            #expect(throws: ByteError.self, "\(length) bytes") { try Announcement(Array(bytes[..<length])) }
        }
    }

    @Test func `what the log tells is not announced, and a newer program's announcement is refused`() {
        #expect(Announcement.drawing(.reload(Sports.reload("a"))).bytes == nil)
        #expect(throws: ByteError.self) { try Announcement([0]) }
        #expect(throws: ByteError.self) { try Announcement([4]) }
    }

    @Test func `kinds that were pushed to here are told once, those of other nodes never`() {
        let pushed = PushedKinds()
        let (here, there) = (PushedKinds.Kinds(Sports.scores.kind), PushedKinds.Kinds(WidgetKind("character")))
        pushed.noteKinds(here)
        pushed.noteElsewhere(there)
        #expect(pushed.takeUntold() == here)
        #expect(pushed.takeUntold().isEmpty)
        // Both are to be asked for again here.
        let noted = pushed.takeNoted()
        #expect(noted.contains(Sports.scores.kind) && noted.contains(WidgetKind("character")))
        // Taking them for this node leaves them for the others.
        pushed.noteKinds(here)
        _ = pushed.takeNoted()
        #expect(pushed.takeUntold() == here)
    }

    @Test(arguments: [(0, []), (1, [1]), (1000, [1000]), (1001, [1000, 1])])
    func `an announcement has a bounded number of apps`(count: Int, sizes: [Int]) {
        var configuration = GatewayConfiguration()
        configuration.apps = (0...count).map {
            GatewayConfiguration.App(bundleID: BundleID("com.example.\($0)"), team: Sports.team)
        }
        let apps = ServedApps(configuration)
        // The last app has had no push.
        for app in apps.apps.prefix(count) { app.pushedKinds.noteKind(nil) }
        let told: [[Announcement.PushedApp]] = apps.takeUntold().map {
            if case .pushed(let apps) = $0 { apps } else { [] }
        }
        #expect(told.map(\.count) == sizes)
        #expect(told.joined().map(\.app) == apps.apps.prefix(count).map(\.bundle))
        #expect(apps.takeUntold().isEmpty)
    }
}
