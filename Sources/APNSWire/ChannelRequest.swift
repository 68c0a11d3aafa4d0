package import WidgetModel

/// A valid request to APNs' broadcast and channel-management services, by its head.
package struct ChannelRequest: Hashable, Sendable {
    package enum Operation: Hashable, Sendable {
        case create
        case read(ChannelID)
        case delete(ChannelID)
        case list
        case broadcast(ChannelID, Message)
    }

    /// How a broadcast is to be delivered.
    package struct Message: Hashable, Sendable {
        /// nil if the sender gave none.
        package let priority: Priority?
        /// UNIX seconds, 0 for "now or never", nil if the sender gave none.
        package let expiration: Int64?

        package init(priority: Priority?, expiration: Int64?) {
            self.priority = priority
            self.expiration = expiration
        }
    }

    package let operation: Operation
    /// The app's number in the ``TopicTable``.
    package let app: Int
    /// `apns-request-id`, or in its absence `apns-id`; nil if the sender gave neither.
    package let id: PushID?
    /// Whether the request has APNSwift's shape; that client needs JSON where APNs answers without a body.
    package let isAlias: Bool
}
