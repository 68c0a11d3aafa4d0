package import WidgetModel

extension HostStreams {
    /// By what right a stream is open.
    package struct Right: Sendable {
        /// The push token that it was opened with, nil for an app's. The stream ends when that stands for the host no more.
        let token: DeviceToken?
        /// Asked with every heartbeat: the stream ends when it does not hold any more.
        let holds: @Sendable () -> Bool

        package init(token: DeviceToken? = nil, holds: @escaping @Sendable () -> Bool = { true }) {
            self.token = token
            self.holds = holds
        }
    }

    /// That a token stands for a host.
    package struct TokenRight: Hashable, Sendable {
        package let token: DeviceToken
        package let host: HostKey
    }
}
