import DashboardPage
import HTTPTransport
import TLS
import WidgetModel

/// The dashboard page on the ops listener: `GET /` and the files that it loads.
///
/// The files hold nothing that is secret, so that they are served to every client; everything the page shows it asks
/// of the JSON routes, with the operator's token. Files are named after the hash of them all and kept by browsers for good;
/// the page itself is asked for again each time, and answered with 304 while it is the same.
package struct DashboardFiles: Sendable {
    /// A browser lets the page do nothing but load these files and ask this gateway.
    package static let contentSecurityPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The page itself.
    let page: HTTPResponse
    private let version: String
    private let files: [String: HTTPResponse]

    /// - Parameter chartScript: The chart library's text, nil for a page of tables.
    package init(chartScript: [UInt8]?) {
        var files = PageFile.all
        if let chartScript {
            files.append(
                PageFile(name: "chart.js", contentType: "text/javascript; charset=utf-8", bytes: chartScript)
            )
        }
        let version = Self.hash(files.flatMap { Array($0.name.utf8) + [0] + $0.bytes })
        let html = String(decoding: PageFile.index.bytes, as: UTF8.self)
            .replacing("@files@", with: "dashboard/\(version)")
            .replacing("@chart@", with: chartScript == nil ? "no" : "yes")
        let page = Array(html.utf8)
        self.version = version
        self.page = HTTPResponse(
            status: 200,
            headers: Self.headers(PageFile.index.contentType, caching: "no-cache", tag: EntityTag(page, isWeak: false)),
            body: .bytes(page)
        )
        var answers: [String: HTTPResponse] = [:]
        for file in files {
            let caching = "public, max-age=31536000, immutable"
            let headers = Self.headers(file.contentType, caching: caching, tag: EntityTag(file.bytes, isWeak: false))
            answers[file.name] = HTTPResponse(status: 200, headers: headers, body: .bytes(file.bytes))
        }
        self.files = answers
    }

    /// One of the files that it loads; nil if there is none.
    ///
    /// - Parameter path: `["dashboard", version, name]`.
    func file(at path: [String]) -> HTTPResponse? { path[1] == self.version ? self.files[path[2]] : nil }

    private static func headers(_ contentType: String, caching: String, tag: EntityTag) -> HTTPFields {
        [
            "content-type": contentType, "cache-control": caching, "etag": tag.description,
            "content-security-policy": Self.contentSecurityPolicy, "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        ]
    }

    private static func hash(_ bytes: [UInt8]) -> String {
        String(Base16.text(of: Digests.sha256(bytes.span)).prefix(16))
    }
}
