import WidgetModel

extension NumberTag {
    /// A push that waits for an instance, or is served by a reload of it.
    enum Match {}
    /// A push token.
    enum Token {}
    /// The key of a host, or the id and the configuration of an instance.
    enum Text {}
    /// A context that hosts say of themselves.
    enum HostContext {}
}

/// The number of a ``Reloads/Match``.
typealias MatchNumber = Number<NumberTag.Match>
/// The number of a text in a ``TextStore``.
typealias TextNumber = Number<NumberTag.Text>
/// The number of a token.
typealias TokenNumber = Number<NumberTag.Token>
