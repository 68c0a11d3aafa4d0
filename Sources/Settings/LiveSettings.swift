import Synchronization

/// The settings that are in force, for the parts that follow them while the gateway runs.
///
/// A part follows its own settings from its making on, and is told of each change. ``StartSetting/all`` lists the
/// settings that are taken once, at the start; all others have a follower.
package final class LiveSettings: Sendable {
    private struct Follower: Sendable {
        /// Whether its own settings differ; nil if it is told of every reading.
        let hasChange: (@Sendable (_ old: GatewayConfiguration, _ new: GatewayConfiguration) -> Bool)?
        let use: @Sendable (GatewayConfiguration) -> Void
    }

    private struct State {
        var inForce: GatewayConfiguration
        var followers: [Follower] = []
    }

    private let state: Mutex<State>

    /// - Parameter configuration: The configuration that the gateway was started with.
    package init(_ configuration: GatewayConfiguration) {
        self.state = Mutex(State(inForce: configuration))
    }

    /// The configuration that is in force.
    package var inForce: GatewayConfiguration { self.state.withLock { $0.inForce } }

    /// Tells a part of its settings, from now on each time that they have changed.
    ///
    /// - Parameters:
    ///   - part: Gives the part's own settings of a configuration.
    ///   - use: Keeps to it from now on.
    package func follow<Part: Equatable & SendableMetatype>(
        _ part: @escaping @Sendable (GatewayConfiguration) -> Part,
        _ use: @escaping @Sendable (Part) -> Void
    ) {
        self.add(Follower(hasChange: { part($0) != part($1) }, use: { use(part($0)) }))
    }

    /// Tells a part of the configuration each time that it was read, changed or not: it looks at files that stand in it.
    package func followReadings(_ use: @escaping @Sendable (GatewayConfiguration) -> Void) {
        self.add(Follower(hasChange: nil, use: use))
    }

    private func add(_ follower: Follower) { self.state.withLock { $0.followers.append(follower) } }

    /// Whether a part follows any of the settings in which two configurations differ. Those that look at every reading do not count.
    package func isFollowed(_ old: GatewayConfiguration, _ new: GatewayConfiguration) -> Bool {
        let followers = self.state.withLock { $0.followers }
        return followers.contains { $0.hasChange?(old, new) ?? false }
    }

    /// Puts another configuration in force and tells the parts, in the order in which they began to follow.
    ///
    /// Not to be called twice at once: the parts might be told in different orders.
    package func replace(_ configuration: GatewayConfiguration) {
        let (old, followers) = self.state.withLock { state in
            defer { state.inForce = configuration }
            return (state.inForce, state.followers)
        }
        for follower in followers where follower.hasChange?(old, configuration) ?? true { follower.use(configuration) }
    }
}
