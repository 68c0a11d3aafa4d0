import Foundation

/// The standard output: its width, and whether words may be coloured.
struct Screen: Sendable {
    /// The columns of a terminal; nil where output is no terminal, and lines are as long as they are.
    var columns: Int?
    /// Whether words may be coloured.
    var isStyled = false

    /// Standard output as it is.
    static var current: Screen {
        guard isatty(STDOUT_FILENO) == 1 else { return Screen() }
        let environment = ProcessInfo.processInfo.environment
        let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false || environment["TERM"] == "dumb"
        return Screen(columns: Self.windowColumns, isStyled: !isPlain)
    }

    /// The columns of the terminal's window; 80 where it does not say.
    private static var windowColumns: Int {
        var size = winsize()
        // Sound: the struct outlives the call that fills it in.
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// A word as the terminal shows it.
    func show(_ cell: Cell) -> String {
        guard self.isStyled, let code = cell.style.code else { return cell.text }
        return "\u{1B}[\(code)m\(cell.text)\u{1B}[0m"
    }
}

/// A text, and the meaning of its colour.
struct Cell: Hashable, Sendable, ExpressibleByStringInterpolation {
    enum Style: Hashable, Sendable {
        case plain, title, good, warning, bad

        fileprivate var code: String? {
            switch self {
            case .plain: nil
            case .title: "1"
            case .good: "32"
            case .warning: "33"
            case .bad: "31;1"
            }
        }
    }

    var text: String
    var style = Style.plain

    init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }

    init(stringLiteral value: String) { self.init(value) }
}
