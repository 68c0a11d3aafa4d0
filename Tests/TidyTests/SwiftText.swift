/// A Swift file's text with comments and string literals blanked out, so that words can be looked for in the code alone.
///
/// Line breaks stay where they are. Code inside of an interpolation counts as part of its literal.
struct SwiftText {
    let lines: [Substring]
    /// The text as it stands in the file.
    let originalLines: [Substring]

    init(_ text: String) {
        self.originalLines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var scanner = Scanner(Array(text.utf8))
        let code = String(decoding: scanner.blanked(), as: UTF8.self)
        self.lines = code.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Each identifier or keyword of a line.
    static func words(of line: Substring) -> [Substring] {
        line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    }

    private struct Scanner {
        private let bytes: [UInt8]
        private var output: [UInt8]
        private var index = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            self.output = bytes
        }

        private func starts(with text: StaticString, at place: Int) -> Bool {
            let wanted = Array(text.description.utf8)
            guard place + wanted.count <= self.bytes.count else { return false }
            return self.bytes[place..<(place + wanted.count)].elementsEqual(wanted)
        }

        private mutating func blank(_ count: Int) {
            for place in self.index..<Swift.min(self.index + count, self.bytes.count)
            where self.bytes[place] != UInt8(ascii: "\n") {
                self.output[place] = UInt8(ascii: " ")
            }
            self.index = Swift.min(self.index + count, self.bytes.count)
        }

        mutating func blanked() -> [UInt8] {
            while self.index < self.bytes.count {
                switch self.bytes[self.index] {
                case UInt8(ascii: "/") where self.starts(with: "//", at: self.index):
                    while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\n") { self.blank(1) }
                case UInt8(ascii: "/") where self.starts(with: "/*", at: self.index): self.blankComment()
                case UInt8(ascii: "\""): self.blankLiteral(hashes: 0)
                case UInt8(ascii: "#"):
                    var hashes = 0
                    while self.index + hashes < self.bytes.count, self.bytes[self.index + hashes] == UInt8(ascii: "#") {
                        hashes += 1
                    }
                    let isLiteral =
                        self.index + hashes < self.bytes.count && self.bytes[self.index + hashes] == UInt8(ascii: "\"")
                    if isLiteral { self.blankLiteral(hashes: hashes) } else { self.index += hashes }
                default: self.index += 1
                }
            }
            return self.output
        }

        private mutating func blankComment() {
            var depth = 0
            repeat {
                if self.starts(with: "/*", at: self.index) {
                    depth += 1
                    self.blank(2)
                } else if self.starts(with: "*/", at: self.index) {
                    depth -= 1
                    self.blank(2)
                } else {
                    self.blank(1)
                }
            } while depth > 0 && self.index < self.bytes.count
        }

        private mutating func blankLiteral(hashes: Int) {
            self.blank(hashes)
            let isLong = self.starts(with: "\"\"\"", at: self.index)
            let quotes = isLong ? 3 : 1
            self.blank(quotes)
            var depth = 0
            while self.index < self.bytes.count {
                let byte = self.bytes[self.index]
                if byte == UInt8(ascii: "\\"), hashes == 0 {
                    // `\(` opens an interpolation, in which quotes belong to literals of their own.
                    if self.starts(with: "\\(", at: self.index) { depth += 1 }
                    self.blank(2)
                } else if depth > 0, byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")") {
                    depth += byte == UInt8(ascii: "(") ? 1 : -1
                    self.blank(1)
                } else if depth > 0, byte == UInt8(ascii: "\"") {
                    self.blankLiteral(hashes: 0)
                } else if byte == UInt8(ascii: "\""), self.closes(quotes: quotes, hashes: hashes) {
                    self.blank(quotes + hashes)
                    return
                } else if byte == UInt8(ascii: "\n"), !isLong {
                    // No literal of one line: a regular expression or a stray quote.
                    return
                } else {
                    self.blank(1)
                }
            }
        }

        private func closes(quotes: Int, hashes: Int) -> Bool {
            let end = self.index + quotes + hashes
            guard end <= self.bytes.count else { return false }
            let marks = self.bytes[self.index..<(self.index + quotes)].allSatisfy { $0 == UInt8(ascii: "\"") }
            return marks && self.bytes[(self.index + quotes)..<end].allSatisfy { $0 == UInt8(ascii: "#") }
        }
    }
}
