package import HTTPTransport
package import Partitions
package import Serving
import TLS

/// Keeps web pages away from the operators' routes.
///
/// A browser sends a request for any page that wants it, with its user's client certificate, and from inside its user's network. Three
/// things tell such a request from an operator's: the browser says from where it is (`Origin`, `Sec-Fetch-Site`); without asking before,
/// which is answered with a refusal here, it sends no body that says it is JSON; and a page that had its own name lead here (DNS rebinding)
/// asks for that name, which is none of the listener's. None of that proves the caller's identity: ``OperatorAccess`` asks for the proof.
package struct OperatorGate: Sendable {
    /// The listener's address, nil for every address of the machine.
    private let address: IPAddress?
    private let certificates: ServerCertificates
    private let names: Shared<Set<String>>

    /// - Parameters:
    ///   - address: Where the listener is bound; `0.0.0.0` and `::` are every address.
    ///   - names: Further names of it.
    ///   - certificates: Has the listener's certificate, for the names in it.
    package init(address: String, names: [String] = [], certificates: ServerCertificates = ServerCertificates()) {
        self.address = ["0.0.0.0", "::"].contains(address) ? nil : IPAddress(address)
        self.names = Shared(Set(names))
        self.certificates = certificates
    }

    /// Goes by other names from now on.
    package func replace(names: [String]) { self.names.set(Set(names)) }

    /// - Throws: `misdirected`, `cross-origin` or `unsupported-media-type`.
    package func check(_ request: HTTPRequest) throws(Problem) {
        let authority = request.authority.lowercased()
        guard let host = Self.host(of: authority), self.isOwn(host) else {
            let name = request.authority.prefix(64)
            throw Problem(
                .misdirected,
                "\"\(name)\" is not a name of this listener; use localhost, its address or a name in its certificate, or "
                    + "add the name to ops.names"
            )
        }
        for field in request.headers.all where field.name == "origin" {
            guard field.value.lowercased() == "https://\(authority)" else { throw Self.foreign }
        }
        if let site = request.headers["sec-fetch-site"], !["same-origin", "none"].contains(site) {
            guard Self.isLinkToPage(request) else { throw Self.foreign }
        }
        guard request.body.isEmpty || Self.isJSON(request.headers["content-type"]) else {
            throw Problem(.unsupportedMediaType, "send the header content-type: application/json with the body")
        }
    }

    private static let foreign = Problem(
        .crossOrigin,
        "a web page of another origin sent this request; operators' routes only answer the dashboard and programs"
    )

    /// Whether the request follows a link from another site to the dashboard, which tells nothing by itself.
    private static func isLinkToPage(_ request: HTTPRequest) -> Bool {
        request.method == "GET" && request.path.isEmpty && request.headers["sec-fetch-mode"] == "navigate"
            && request.headers["sec-fetch-dest"] == "document"
    }

    private static func isJSON(_ contentType: String?) -> Bool {
        let type = contentType?.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        return type.lowercased().split(whereSeparator: { $0 == " " || $0 == "\t" }) == ["application/json"]
    }

    /// The host of an authority in lower case, without brackets; nil if it is none.
    private static func host(of authority: String) -> Substring? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            return authority[authority.index(after: authority.startIndex)..<end]
        }
        return authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first
    }

    private func isOwn(_ host: Substring) -> Bool {
        let certificate = self.certificates.current.first { $0.listener == "ops" }?.certificate
        if let address = IPAddress(host) {
            return self.address == nil || self.address == address
                || certificate?.addresses.contains { IPAddress(networkBytes: $0) == address } ?? false
        }
        let name = String(host)
        let names = certificate?.dnsNames ?? []
        let parent = name.firstIndex(of: ".").map { "*\(name[$0...])" }
        return name == "localhost" || names.contains(name) || parent.map { names.contains($0) } ?? false
            || self.names.value.contains(name)
    }
}
