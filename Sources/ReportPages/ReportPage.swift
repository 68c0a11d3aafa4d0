/// A page of figures that stands alone: no script runs in it, and it asks for nothing from anywhere.
///
/// What a report has to say is values (tiles, figures, a table); this makes them look the same in every report.
package struct ReportPage: Sendable {
    /// A number that matters.
    package struct Tile: Sendable {
        let name: String
        let value: String
        let note: String

        package init(name: String, value: String, note: String) {
            self.name = name
            self.value = value
            self.note = note
        }
    }

    package struct Figure: Sendable {
        let title: String
        /// What it shows, in a sentence or two.
        let caption: String
        let chart: Chart
        let isHalf: Bool

        package init(title: String, caption: String, chart: Chart, isHalf: Bool = false) {
            self.title = title
            self.caption = caption
            self.chart = chart
            self.isHalf = isHalf
        }
    }

    package struct Table: Sendable {
        let title: String
        let caption: String
        /// The first is a name, the others are numbers.
        let header: [String]
        let rows: [[String]]

        package init(title: String, caption: String, header: [String], rows: [[String]]) {
            self.title = title
            self.caption = caption
            self.header = header
            self.rows = rows
        }
    }

    /// What made it; above the title.
    let kicker: String
    let title: String
    let about: String
    /// Facts under the title.
    let facts: [String]
    let tiles: [Tile]
    let figures: [Figure]
    let tables: [Table]
    /// How to make it again.
    let colophon: String
    /// The report as JSON, which is in the page for programs.
    let json: [UInt8]

    package init(
        kicker: String,
        title: String,
        about: String,
        facts: [String],
        tiles: [Tile],
        figures: [Figure],
        tables: [Table],
        colophon: String,
        json: [UInt8]
    ) {
        self.kicker = kicker
        self.title = title
        self.about = about
        self.facts = facts
        self.tiles = tiles
        self.figures = figures
        self.tables = tables
        self.colophon = colophon
        self.json = json
    }

    package var text: String {
        var markup = Markup()
        markup.write(raw: "<!DOCTYPE html>\n")
        markup.element("html", [("lang", "en")]) { markup in
            markup.element("head") { markup in
                markup.empty("meta", [("charset", "utf-8")])
                markup.empty("meta", [("name", "viewport"), ("content", "width=device-width, initial-scale=1")])
                markup.empty("meta", [("name", "color-scheme"), ("content", "light dark")])
                markup.empty(
                    "meta",
                    [
                        ("http-equiv", "Content-Security-Policy"),
                        ("content", "default-src 'none'; style-src 'unsafe-inline'"),
                    ]
                )
                markup.element("title", text: "\(self.title) – Freshet")
                markup.element("style") { $0.write(raw: PageStyle.css) }
            }
            markup.element("body") { markup in
                markup.element("main") { markup in self.write(into: &markup) }
            }
        }
        return markup.text + "\n"
    }

    private func write(into markup: inout Markup) {
        markup.element("header") { markup in
            markup.element("p", [("class", "kicker")], text: self.kicker)
            markup.element("h1", text: self.title)
            if !self.about.isEmpty { markup.element("p", [("class", "about")], text: self.about) }
            markup.element("ul", [("class", "facts")]) { markup in
                for fact in self.facts { markup.element("li", text: fact) }
            }
        }
        markup.element("section", [("class", "tiles"), ("aria-label", "Summary")]) { markup in
            for tile in self.tiles {
                markup.element("div", [("class", "tile")]) { markup in
                    markup.element("h2", text: tile.name)
                    markup.element("p", [("class", "value")], text: tile.value)
                    markup.element("p", [("class", "remark")], text: tile.note)
                }
            }
        }
        markup.element("section", [("class", "figures"), ("aria-label", "Charts")]) { markup in
            for figure in self.figures { Self.write(figure, into: &markup) }
        }
        for table in self.tables { Self.write(table, into: &markup) }
        markup.element("footer") { $0.element("p", text: self.colophon) }
        // For programs; "<" is escaped, so that nothing in it can end it.
        let json = String(decoding: self.json, as: UTF8.self).split(separator: "<", omittingEmptySubsequences: false)
        markup.element("script", [("type", "application/json"), ("id", "report")]) { markup in
            markup.write(raw: json.joined(separator: "\\u003c").split(separator: "\n").joined())
        }
    }

    private static func write(_ figure: Figure, into markup: inout Markup) {
        markup.element("figure", [("class", figure.isHalf ? "half" : "whole")]) { markup in
            markup.element("figcaption") { markup in
                markup.element("h2", text: figure.title)
                markup.element("p", text: figure.caption)
            }
            let keys = figure.chart.keys
            if keys.count > 1 {
                markup.element("ul", [("class", "legend")]) { markup in
                    for key in keys {
                        markup.element("li") { markup in
                            markup.element("i", [("class", key.color.rawValue)], text: "")
                            markup.write(key.name)
                        }
                    }
                }
            }
            figure.chart.draw(&markup, title: figure.title)
        }
    }

    private static func write(_ table: Table, into markup: inout Markup) {
        markup.element("section", [("class", "table")]) { markup in
            markup.element("h2", text: table.title)
            markup.element("p", text: table.caption)
            markup.element("div", [("class", "scroll")]) { markup in
                markup.element("table") { markup in
                    markup.element("thead") { markup in
                        markup.element("tr") { markup in
                            for cell in table.header { markup.element("th", [("scope", "col")], text: cell) }
                        }
                    }
                    markup.element("tbody") { markup in
                        for row in table.rows {
                            markup.element("tr") { markup in
                                for (index, cell) in row.enumerated() {
                                    if index == 0 {
                                        markup.element("th", [("scope", "row")], text: cell)
                                    } else {
                                        markup.element("td", text: cell)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
