import Foundation

/// The terminal as `top` needs it: keys at once and unseen, on a screen of its own; and as it was, at the end.
///
/// The one place of this program with `unsafe`: termios and the window's size are C structs that C fills in.
struct TerminalMode: Sendable {
    private let saved: [UInt8]

    /// Whether both what is typed and what is shown are a terminal's.
    static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// Takes the terminal; nil if there is none.
    static func enter() -> TerminalMode? {
        guard Self.isTerminal else { return nil }
        var settings = termios()
        // Sound: the struct outlives the call that fills it in.
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        // Sound: the bytes are copied out of a struct without references.
        let saved = unsafe withUnsafeBytes(of: &settings) { unsafe Array($0) }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Sound: the struct outlives the call that reads it.
        guard unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else { return nil }
        Self.write("\u{1B}[?1049h\u{1B}[?25l")
        return TerminalMode(saved: saved)
    }

    /// Gives it back.
    func leave() {
        Self.write("\u{1B}[?25h\u{1B}[?1049l")
        var settings = termios()
        // Sound: as many bytes as the same struct had are copied into one without references.
        unsafe withUnsafeMutableBytes(of: &settings) { bytes in unsafe bytes.copyBytes(from: self.saved) }
        // Sound: the struct outlives the call that reads it.
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Columns and rows of the window; 80 by 24 where it does not say.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        // Sound: the struct outlives the call that fills it in.
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    static func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
