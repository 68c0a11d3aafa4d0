import FoundationEssentials
import Settings
import WidgetModel

/// The token that a gateway makes for its operators where the configuration names none: one line in a file that its user alone
/// can read. An account that can read it is the gateway's administrator anyway.
package struct OperatorTokenFile: Sendable {
    /// The file's name in a data directory.
    package static let name = "operator-token"
    private static let randomBytes = 32
    private static let bytesMax = 4096

    package let path: String
    private let folder: String

    /// - Parameter directory: The gateway's data directory; made for its user alone where it is not there.
    package init(inDirectory directory: String) {
        self.folder = directory
        self.path = "\(directory)/\(Self.name)"
    }

    /// Why there is no token.
    package struct FileError: Error, CustomStringConvertible {
        package let description: String
    }

    /// The token in the file, which is made if it is not there.
    ///
    /// - Throws: If it can be neither read nor made, or if others may read or write it: they know the token, or chose it.
    package func token() throws(FileError) -> String {
        // Of the file itself, not of the one that a link leads to.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: self.path) else {
            return try self.make()
        }
        let isFile = attributes[.type] as? FileAttributeType == .typeRegular
        guard isFile, let mode = Self.number(attributes[.posixPermissions]), mode & 0o077 == 0 else {
            let advice = "remove it, and the gateway makes another one, or run chmod 600 on it"
            throw FileError(description: "other users than the gateway's own can use \(self.path); \(advice)")
        }
        // An empty file: a power cut may have left it of one that was just made.
        if Self.number(attributes[.size]) == 0 { return try self.make() }
        return try self.read()
    }

    /// The token in the file.
    package func read() throws(FileError) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: self.path)), data.count <= Self.bytesMax else {
            throw FileError(description: "the operators' token \(self.path) cannot be read; check its owner and mode")
        }
        let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let token = lines.first, token.utf8.count >= GatewayConfiguration.Operators.tokenBytesMin,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw FileError(
                description: "\(self.path) has no token for operators; remove it, and the gateway makes another one"
            )
        }
        return String(token)
    }

    /// Writes a file whole before it has its name, so that half of a token is never found.
    private func make() throws(FileError) -> String {
        let draft = self.path + ".new"
        var random = SystemRandomNumberGenerator()
        let token = Base16.text(of: (0..<Self.randomBytes).map { _ in UInt8.random(in: 0...255, using: &random) })
        do {
            let files = FileManager.default
            if !files.fileExists(atPath: self.folder) {
                let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
                try files.createDirectory(
                    atPath: self.folder,
                    withIntermediateDirectories: false,
                    attributes: attributes
                )
            }
            try? files.removeItem(atPath: draft)
            // The permissions stand before the secret does.
            guard files.createFile(atPath: draft, contents: Data(), attributes: [.posixPermissions: 0o600]) else {
                throw CocoaError(.fileWriteNoPermission)
            }
            try Data("\(token)\n".utf8).write(to: URL(filePath: draft))
            try? files.removeItem(atPath: self.path)
            try files.moveItem(atPath: draft, toPath: self.path)
        } catch {
            let advice = "check that its user may write to \(self.folder)"
            throw FileError(description: "the operators' token \(self.path) cannot be written; \(advice)")
        }
        return token
    }

    /// Takes the file and its folder away, if they are there.
    package func removeFolder() {
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    /// A number among a file's attributes, whatever type it comes in.
    package static func number(_ value: Any?) -> Int? {
        value as? Int ?? (value as? any BinaryInteger).map { Int(clamping: $0) }
    }
}
