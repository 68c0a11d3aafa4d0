import WidgetModel

extension InstanceAddress {
    /// Where the gateway has it.
    var path: String {
        "/v1/instances/\(self.app.rawValue.percentEncoded)/"
            + "\(self.host.id.rawValue.percentEncoded):\(self.instance.rawValue.percentEncoded)"
    }
}

extension HostKey {
    /// Where the gateway has it.
    var path: String { "/v1/hosts/\(self.app.rawValue.percentEncoded)/\(self.id.rawValue.percentEncoded)" }
}

extension String {
    /// This path with a query of those parameters that have a value.
    func withQuery(_ query: [(String, String?)]) -> String {
        let parameters = query.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded)" } }
        return parameters.isEmpty ? self : "\(self)?\(parameters.joined(separator: "&"))"
    }
}
