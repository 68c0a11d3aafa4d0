package import Engine
package import Partitions
package import WidgetModel

/// The content that timeline providers have brought and can be asked for, in the form for hosts.
package protocol TimelineSource: Sendable {
    /// The time by which entries are shown: the log's.
    var now: Instant { get }
    /// Whether a kind has a timeline provider.
    func hasProvider(of key: KindKey) -> Bool
    /// Whether the gateway fetches the timeline that a reload is for: the host is not told of the reload, but of the entries.
    func fetches(_ reload: ReloadEffect) -> Bool
    /// The content that a host's widgets show, wherever its partition is.
    ///
    /// - Parameter hasTimelines: Whether whole timelines are asked for, with the entries to come.
    func contents(of host: HostKey, hasTimelines: Bool) async throws(Problem) -> HostContents
    /// The answer of a kind's provider: one that is kept and new enough, else the provider's; if it gives none in time, an
    /// old one.
    ///
    /// - Parameter pushed: The kinds of the app that were pushed to: their relevance is asked anew.
    /// - Returns: Nil if there is none at all, or no provider.
    func answer(_ question: GalleryQuestion, _ pushed: PushedKinds) async -> JSONValue?
    /// Lets questions be asked anew, at all nodes.
    func invalidate(_ request: InvalidationRequest)
    /// A kind's provider calls back with timelines that it has promised.
    ///
    /// - Returns: Nil if the kind has no provider.
    func callBack(_ body: JSONValue, of key: KindKey) async throws(Problem) -> CallBack.Result?
}
