/// One file of the dashboard page.
package struct PageFile: Sendable {
    package let name: String
    package let contentType: String
    package let bytes: [UInt8]

    package init(name: String, contentType: String, bytes: [UInt8]) {
        self.name = name
        self.contentType = contentType
        self.bytes = bytes
    }

    /// A module of the page.
    static func script(_ name: String, _ bytes: [UInt8]) -> PageFile {
        PageFile(name: name, contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }

    /// The page itself. `@files@`, `@chart@` and `@token@` stand where the gateway writes where the other files are,
    /// whether there is a chart library, and whether operators need a token.
    package static var index: PageFile {
        PageFile(name: "index.html", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html)
    }

    /// What the page loads, but for the chart library, which is not ours.
    package static var all: [PageFile] {
        [
            PageFile(name: "style.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.style_css),
            PageFile(name: "icon.svg", contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
            .script("main.js", PackageResources.main_js),
            .script("gateway.js", PackageResources.gateway_js),
            .script("elements.js", PackageResources.elements_js),
            .script("numbers.js", PackageResources.numbers_js),
            .script("charts.js", PackageResources.charts_js),
            .script("advice.js", PackageResources.advice_js),
            .script("now.js", PackageResources.now_js),
            .script("budget.js", PackageResources.budget_js),
            .script("instance.js", PackageResources.instance_js),
            .script("push.js", PackageResources.push_js),
            .script("senders.js", PackageResources.senders_js),
            .script("upstreams.js", PackageResources.upstreams_js),
            .script("hosts.js", PackageResources.hosts_js),
            .script("herd.js", PackageResources.herd_js),
            .script("system.js", PackageResources.system_js),
        ]
    }
}
