import Foundation

/// Writing beside the answer.
enum Output {
    static func standardError(_ text: String, terminator: String = "\n") {
        FileHandle.standardError.write(Data((text + terminator).utf8))
    }
}
