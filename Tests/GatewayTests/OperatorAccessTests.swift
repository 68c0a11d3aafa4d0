import Foundation
import HTTPTransport
import OperatorAPI
import Partitions
import Settings
import Testing

@Suite struct OperatorAccessTests {
    private static func code(_ access: OperatorAccess, _ authorization: String?) -> Problem.Code? {
        var request = HTTPRequest(method: "GET", target: "/v1/stats")
        if let authorization { request.headers.append("authorization", authorization) }
        return problem { () throws(Problem) in try access.visitor(of: request) }?.code
    }

    @Test func `everybody may ask where the configuration says so, and nowhere else`() throws {
        let open = try OperatorAccess.knowing([])
        #expect(Self.code(open, nil) == nil)
        #expect(Self.code(open, "bearer x") == nil)
        let closed = try OperatorAccess(GatewayConfiguration.Operators())
        #expect(Self.code(closed, nil) == .missingCredential)
        #expect(Self.code(closed, "bearer x") == .invalidCredential)
    }

    @Test(
        arguments: [
            (nil, .missingCredential), ("", .missingCredential), ("bearer", .missingCredential),
            ("bearer ", .missingCredential), ("first", .missingCredential), ("basic first", .missingCredential),
            ("bearer third", .invalidCredential), ("bearer firs", .invalidCredential),
            ("bearer first ", .invalidCredential), ("bearer First", .invalidCredential),
            ("bearer first", nil), ("Bearer second", nil), ("BEARER first", nil),
        ] as [(String?, Problem.Code?)]
    )
    func `with tokens one of them is wanted, whole`(authorization: String?, code: Problem.Code?) throws {
        #expect(Self.code(try OperatorAccess.knowing(["first", "second"]), authorization) == code)
    }

    // MARK: The gateway's own token

    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "freshet-test-\(UUID().uuidString)").path

        init() throws {
            try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: self.path) }
    }

    private static func set(_ mode: Int, _ file: OperatorTokenFile) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    @Test func `where no token is configured, the gateway makes one that its user alone can read`() throws {
        let folder = try Folder()
        let file = OperatorTokenFile(inDirectory: folder.path)
        let access = try OperatorAccess(GatewayConfiguration.Operators(), ownToken: file)
        #expect(access.tokenFile == "\(folder.path)/operator-token")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let token = try file.read()
        #expect(token.utf8.count == 64)
        #expect(Self.code(access, "bearer \(token)") == nil)
        #expect(Self.code(access, "bearer \(token)0") == .invalidCredential)
        #expect(Self.code(access, nil) == .missingCredential)
        // The next start finds it; another gateway has another one.
        let again = try OperatorAccess(GatewayConfiguration.Operators(), ownToken: file)
        #expect(Self.code(again, "bearer \(token)") == nil)
        let unreachable = OperatorTokenFile(inDirectory: "\(folder.path)/none/none")
        #expect(throws: OperatorTokenFile.FileError.self) { try unreachable.token() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["operator-token"])
    }

    @Test func `the gateway's own token counts where none is configured, and no longer`() throws {
        let folder = try Folder()
        let file = OperatorTokenFile(inDirectory: folder.path)
        var operators = GatewayConfiguration.Operators()
        operators.tokens = [Secret("configured-configured")]
        let access = try OperatorAccess(operators, ownToken: file)
        #expect(access.tokenFile == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        operators.tokens = []
        try access.applySettings(operators)
        let token = try file.read()
        #expect(Self.code(access, "bearer \(token)") == nil)
        #expect(Self.code(access, "bearer configured-configured") == .invalidCredential)
        operators.certificates = [.init(name: .userID("boss"))]
        try access.applySettings(operators)
        #expect(Self.code(access, "bearer \(token)") == nil, "a certificate is no token")
        operators.tokens = [Secret("configured-configured")]
        try access.applySettings(operators)
        #expect(Self.code(access, "bearer \(token)") == .invalidCredential)
        operators = GatewayConfiguration.Operators()
        operators.isOpen = true
        try access.applySettings(operators)
        #expect(Self.code(access, nil) == nil && access.tokenFile == nil)
    }

    @Test(arguments: ["\n", "short\n", "with a space and more\n"])
    func `a file that holds no token is told of, and lets no operator in`(text: String) throws {
        let folder = try Folder()
        let file = OperatorTokenFile(inDirectory: folder.path)
        try text.write(toFile: file.path, atomically: true, encoding: .utf8)
        try Self.set(0o600, file)
        #expect(throws: OperatorTokenFile.FileError.self) {
            try OperatorAccess(GatewayConfiguration.Operators(), ownToken: file)
        }
        var operators = GatewayConfiguration.Operators()
        operators.tokens = [Secret("configured-configured")]
        let access = try OperatorAccess(operators, ownToken: file)
        #expect(throws: OperatorTokenFile.FileError.self) { try access.applySettings(GatewayConfiguration.Operators()) }
        #expect(Self.code(access, "bearer configured-configured") == nil, "who was known is known")
        #expect(Self.code(access, nil) == .missingCredential)
    }

    @Test func `a file that others may read or have put there is told of, and holds no token`() throws {
        let folder = try Folder()
        let file = OperatorTokenFile(inDirectory: folder.path)
        let token = try file.token()
        for (mode, isSecret) in [(0o600, true), (0o640, false), (0o604, false), (0o660, false), (0o400, true)] {
            try Self.set(mode, file)
            #expect((try? file.token()) == (isSecret ? token : nil), "\(String(mode, radix: 8))")
        }
        let other = try Folder()
        let link = OperatorTokenFile(inDirectory: other.path)
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: file.path)
        #expect(throws: OperatorTokenFile.FileError.self) { try link.token() }
    }
}
