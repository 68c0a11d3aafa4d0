import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// The context and the requests for a timeline provider, in their order.
@Suite struct ProviderContextTests {
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

    @Test func `the context says what the host said`() {
        let context = TimelineProviderContext(family: .accessoryCircular, host: Self.host)
        #expect(context.displaySize == TimelineProviderContext.DisplaySize(width: 170, height: 180))
        #expect(context.environmentVariants == Self.host.environmentVariants)
        #expect(context.locale == "en-US" && context.timeZone == "America/Los_Angeles")
        #expect(!context.isPreview)
    }

    @Test func `a size that is half told is not told`() {
        #expect(TimelineProviderContext(family: .systemSmall, host: HostContext(width: 10)).displaySize == nil)
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
