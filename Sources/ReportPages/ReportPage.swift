import DashboardPage

/// A report as a page that stands alone: one file with its JSON, the scripts that draw it, and the chart library. It asks for
/// nothing from anywhere.
package struct ReportPage: Sendable {
    /// The kind of report that its JSON is.
    package enum Kind: String, Hashable, Sendable {
        case bench
        case simulation
        case whatIf
    }

    private let kind: Kind
    private let title: String
    private let json: [UInt8]

    /// - Parameters:
    ///   - title: Of the page, for lists of windows and files.
    ///   - json: The report; everything that the page shows is in it.
    package init(_ kind: Kind, title: String, json: [UInt8]) {
        self.kind = kind
        self.title = title
        self.json = json
    }

    /// The modules that make the page, each behind those that it imports. The first ones are the dashboard's.
    private static let modules = [
        PageFile.numbers, PageFile.elements, PageFile.charts, EmbeddedText.parts_js, EmbeddedText.bench_js,
        EmbeddedText.simulation_js, EmbeddedText.what_if_js, EmbeddedText.report_js,
    ]

    /// The page.
    ///
    /// - Parameter chartScript: The text of Chart.js 3; without it there are tables in the place of charts.
    package func text(chartScript: String?) -> String {
        // Names stand between at signs, and nothing that is put in is looked at again.
        EmbeddedText.report_html.split(separator: "@", omittingEmptySubsequences: false).enumerated().map {
            index,
            part in
            guard !index.isMultiple(of: 2) else { return String(part) }
            switch part {
            case "kind": return self.kind.rawValue
            case "chart": return chartScript == nil ? "no" : "yes"
            case "title": return Self.escaped(self.title)
            case "style": return PageFile.style + EmbeddedText.report_css
            case "json": return Self.inert(json: String(decoding: self.json, as: UTF8.self))
            case "library": return Self.inert(script: chartScript ?? "")
            case "script": return Self.inert(script: Self.bundle(Self.modules))
            default: return ""
            }
        }.joined()
    }

    /// Modules as one. Each has a scope of its own, and its exports are there for those behind it; the last one exports
    /// nothing.
    private static func bundle(_ modules: [String]) -> String {
        modules.map { module in
            let lines = module.split(separator: "\n", omittingEmptySubsequences: false).filter {
                !$0.hasPrefix("import ")
            }
            let exported = lines.filter { $0.hasPrefix(Self.export) }.map { $0.dropFirst(Self.export.count) }
            let names = exported.compactMap { declaration in
                // The word behind `function` or `const`.
                let words = declaration.split { !$0.isLetter && !$0.isNumber }
                return words.firstIndex { $0 == "function" || $0 == "const" }.map { words[$0 + 1] }
            }
            let body = lines.map { $0.hasPrefix(Self.export) ? $0.dropFirst(Self.export.count) : $0 }
                .joined(separator: "\n")
            let list = names.joined(separator: ", ")
            return names.isEmpty ? body : "const { \(list) } = (() => {\n\(body)\nreturn { \(list) };\n})();"
        }.joined(separator: "\n")
    }

    private static let export = "export "

    private static func escaped(_ text: String) -> String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")].reduce(text) { text, pair in
            text.split(separator: pair.0, omittingEmptySubsequences: false).joined(separator: pair.1)
        }
    }

    /// JSON in which nothing can end its element.
    private static func inert(json: String) -> String {
        json.split(separator: "<", omittingEmptySubsequences: false).joined(separator: "\\u003c")
    }

    /// A script in which nothing can end its element: in both places the sign can only stand in a literal.
    private static func inert(script: String) -> String {
        [("</script", "<\\/script"), ("<!--", "<\\!--")].reduce(script) { text, pair in
            text.split(separator: pair.0, omittingEmptySubsequences: false).joined(separator: pair.1)
        }
    }
}
