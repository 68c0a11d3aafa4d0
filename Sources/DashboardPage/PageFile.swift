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

    private init(_ name: String, _ contentType: String, _ text: String) {
        self.init(name: name, contentType: contentType, bytes: Array(text.utf8))
    }

    /// A module of the page.
    private static func script(_ name: String, _ text: String) -> PageFile {
        PageFile(name, "text/javascript; charset=utf-8", text)
    }

    /// The texts that other pages are made of, too.
    package static var style: String { EmbeddedText.style_css }
    package static var numbers: String { EmbeddedText.numbers_js }
    package static var elements: String { EmbeddedText.elements_js }
    package static var charts: String { EmbeddedText.charts_js }

    /// The page itself. `@files@` and `@chart@` stand where the gateway writes where the other files are, and whether there is a
    /// chart library.
    package static var index: PageFile {
        PageFile("index.html", "text/html; charset=utf-8", EmbeddedText.index_html)
    }

    /// The files that the page loads, but for the chart library, which is not ours.
    package static var all: [PageFile] {
        [
            PageFile("style.css", "text/css; charset=utf-8", EmbeddedText.style_css),
            PageFile("icon.svg", "image/svg+xml", EmbeddedText.icon_svg),
            .script("main.js", EmbeddedText.main_js),
            .script("gateway.js", EmbeddedText.gateway_js),
            .script("live.js", EmbeddedText.live_js),
            .script("elements.js", EmbeddedText.elements_js),
            .script("numbers.js", EmbeddedText.numbers_js),
            .script("charts.js", EmbeddedText.charts_js),
            .script("lists.js", EmbeddedText.lists_js),
            .script("search.js", EmbeddedText.search_js),
            .script("actions.js", EmbeddedText.actions_js),
            .script("advice.js", EmbeddedText.advice_js),
            .script("flow.js", EmbeddedText.flow_js),
            .script("now.js", EmbeddedText.now_js),
            .script("instances.js", EmbeddedText.instances_js),
            .script("instance.js", EmbeddedText.instance_js),
            .script("hosts.js", EmbeddedText.hosts_js),
            .script("host.js", EmbeddedText.host_js),
            .script("pushes.js", EmbeddedText.pushes_js),
            .script("push.js", EmbeddedText.push_js),
            .script("senders.js", EmbeddedText.senders_js),
            .script("apps.js", EmbeddedText.apps_js),
            .script("upstreams.js", EmbeddedText.upstreams_js),
            .script("forecast.js", EmbeddedText.forecast_js),
            .script("cluster.js", EmbeddedText.cluster_js),
            .script("system.js", EmbeddedText.system_js),
        ]
    }
}
