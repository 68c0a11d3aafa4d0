package import WidgetModel

/// The author of a record's request, for `GET /v1/audit`. Decisions do not depend on it.
package struct OperatorSource: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.caller, \.address, \.request)

    /// The name of the operator's token, or of the subject of its certificate.
    package let caller: String
    /// The address that the request came from.
    package let address: String
    /// The id of the request: the client's own, or the gateway's.
    package let request: String

    package init(caller: String, address: String, request: String) {
        self.caller = caller
        self.address = address
        self.request = request
    }
}
