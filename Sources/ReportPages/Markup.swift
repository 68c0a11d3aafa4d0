/// HTML and SVG text in the making: every tag that is opened is closed, and what people wrote is escaped.
struct Markup: Sendable {
    private(set) var text = ""

    /// An attribute's name and value.
    typealias Attribute = (name: String, value: String)

    /// An element with what the body puts into it.
    mutating func element(_ tag: String, _ attributes: [Attribute] = [], _ body: (inout Markup) -> Void) {
        self.open(tag, attributes)
        self.text += ">"
        body(&self)
        self.text += "</\(tag)>"
    }

    /// An element with a text in it.
    mutating func element(_ tag: String, _ attributes: [Attribute] = [], text: String) {
        self.element(tag, attributes) { $0.write(text) }
    }

    /// An element with nothing in it.
    mutating func empty(_ tag: String, _ attributes: [Attribute] = []) {
        self.open(tag, attributes)
        self.text += "/>"
    }

    private mutating func open(_ tag: String, _ attributes: [Attribute]) {
        self.text += "<\(tag)"
        for attribute in attributes { self.text += " \(attribute.name)=\"\(Self.escaped(attribute.value))\"" }
    }

    /// A text between tags.
    mutating func write(_ text: String) { self.text += Self.escaped(text) }

    /// Markup that is whole already.
    mutating func write(raw markup: String) { self.text += markup }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// A coordinate with one decimal at most.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
