package import Engine
package import Partitions
package import TimelineProviding
package import WidgetModel

/// The content that timeline providers have brought and can be asked for, in the form for hosts.
package protocol TimelineSource: Sendable {
    /// The time by which entries are shown: the log's.
    var now: Instant { get }
    /// Whether a kind has a timeline provider.
    func hasProvider(of key: KindKey) -> Bool
    /// Whether the gateway fetches the timeline that a reload is for: the host is not told of the reload, but of the entries.
    func fetches(_ reload: ReloadEffect) -> Bool
    /// The timelines, with content, that some instances of a partition show.
    func timelines(of addresses: [InstanceAddress]) async -> [StoredTimeline]
    /// The entries of a host's instances that are shown now.
    func shown(by addresses: [InstanceAddress]) async -> [ContentTable.Due]
    /// The placeholders of one host's instances that are new and whose timeline is not there yet.
    ///
    /// - Parameter reloads: The host's outstanding reloads.
    func placeholders(of reloads: [ReloadEffect]) async -> [Placeholder]
    /// The answer of a kind's provider: one that is kept and new enough, else the provider's; if it gives none in time, an
    /// old one.
    ///
    /// - Parameter pushed: The kinds of the app that were pushed to: their relevance is asked anew.
    /// - Returns: Nil if there is none at all, or no provider.
    func answer(_ question: GalleryQuestion, _ pushed: PushedKinds) async -> JSONValue?
    /// Lets a question be asked anew.
    ///
    /// - Parameter kind: Nil for all kinds of the app.
    func invalidate(_ question: ProviderRequest, app: BundleID, kind: WidgetKind?)
    /// A kind's provider calls back with timelines that it has promised.
    ///
    /// - Returns: Nil if the kind has no provider.
    func callBack(_ body: JSONValue, of key: KindKey) async throws(Problem) -> CallBack.Result?
}
