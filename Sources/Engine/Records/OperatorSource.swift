package import WidgetModel

/// Whose request a record is of, for `GET /v1/audit`. Nothing is decided by it.
package struct OperatorSource: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.caller, \.address, \.request)

    /// The name of the operator's token, or of the subject of its certificate.
    package let caller: String
    /// The address that the request came from.
    package let address: String
    /// What the request goes by: what the client called it, or what the gateway did.
    package let request: String

    package init(caller: String, address: String, request: String) {
        self.caller = caller
        self.address = address
        self.request = request
    }
}
