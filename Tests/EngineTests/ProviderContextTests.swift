import Engine
import TestSupport
import Testing
import WidgetModel

/// The context and the requests for a timeline provider, in their order.
@Suite struct ProviderContextTests {
    private typealias Value = TimelineProviderContext.EnvironmentValue

    private static let host = HostContext(
        width: 170,
        height: 180,
        environmentVariants: [
            HostContext.Variant(name: "colorScheme", values: ["light", "dark"]),
            HostContext.Variant(name: "nothing", values: []),
            HostContext.Variant(name: "displayScale", values: ["2", "3"]),
        ],
        locale: "en-US",
        timeZone: "America/Los_Angeles"
    )

    @Test func `the context says what the host said`() throws {
        var scene = Scene()
        var registration = HostRegistration(
            host: HostKey("desk", of: Scene.game),
            token: Scene.token("desk"),
            revision: 1,
            instances: [Scene.character("w1", "panda")]
        )
        registration.context = Self.host
        scene.apply(.register(registration))
        let address = InstanceAddress(host: HostKey("desk", of: Scene.game), instance: InstanceID("w1"))
        let told = scene.engine.providerContext(of: address)
        let context = try #require(told)
        #expect(context == TimelineProviderContext(family: .accessoryCircular, host: Self.host))
        #expect(context.displaySize == TimelineProviderContext.DisplaySize(width: 170, height: 180))
        #expect(!context.isPreview)
        let nobody = InstanceAddress(host: HostKey("desk", of: Scene.game), instance: InstanceID("w9"))
        #expect(scene.engine.providerContext(of: nobody) == nil)
    }

    @Test func `a size that is half told is not told`() {
        #expect(TimelineProviderContext(family: .systemSmall, host: HostContext(width: 10)).displaySize == nil)
    }

    @Test func `an entry is rendered in every environment, the last variant changing fastest`() {
        let context = TimelineProviderContext(family: .systemSmall, host: Self.host)
        let all = [["light", "2"], ["light", "3"], ["dark", "2"], ["dark", "3"]].map {
            [Value("colorScheme", $0[0]), Value("displayScale", $0[1])]
        }
        #expect(context.environments() == all)
        #expect(context.environments(limit: 3) == Array(all.prefix(3)))
        #expect(TimelineProviderContext(family: .systemSmall).environments() == [[]])
    }

    @Test func `a new widget shows a placeholder, then its timeline; a gallery a snapshot`() {
        let placed = TimelineProviderContext(family: .systemSmall)
        let preview = TimelineProviderContext(family: .systemSmall, isPreview: true)
        let added = ReloadCauses([ReloadCauses(.added), ReloadCauses(.push)])
        #expect(ProviderRequest.order(for: added, in: placed) == [.placeholder, .timeline])
        #expect(ProviderRequest.order(for: ReloadCauses(.configured), in: placed) == [.timeline])
        #expect(ProviderRequest.order(for: [], in: preview) == [.placeholder, .snapshot])
    }
}
