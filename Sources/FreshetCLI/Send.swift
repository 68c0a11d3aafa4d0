import APNSWire
import ArgumentParser
import HTTPTransport
import WidgetModel

/// `freshet send`
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send one push: to a push token, or to every instance of an app that matches.",
        discussion: """
            freshet send --ca certs/ca.pem --key certs/provider-key.p8 --kid K --team T \\
                --app com.example.scores --push-token 0a1b…
            freshet send … --app com.example.scores --kind scores --match '{"team":["seahawks"]}' --dry-run
            """
    )

    @OptionGroup var server: ServerOptions
    @OptionGroup var credential: CredentialOptions
    @Option(help: "The app's bundle id.") var app: String
    @Option(help: "A push token in hex; without it the push goes to the app, with --kind, --match or --all.")
    var pushToken: String?
    @Option(help: "widgets or controls.") var type = "widgets"
    @Option(help: "1, 5 or 10; the app's default if not given.") var priority: UInt8?
    @Option(help: "UNIX seconds until which the push may wait; 0 means now or never.") var expiration: Int64?
    @Option(help: "A later push with the same id takes the place of one that waits.") var collapseID: String?
    @Option(help: "The push's id, a UUID; the gateway makes one if not given.") var id: String?
    @Option(help: "Only instances of this kind.") var kind: String?
    @Option(help: "Only instances whose configuration matches, a pattern in JSON.") var match: String?
    @Flag(help: "Every instance of the app, of every kind.") var all = false
    @Option(help: "Names the content: instances that show it already are left alone.") var digest: String?
    @Flag(help: "Only say who would be hit and what would be decided.") var dryRun = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let request = try self.request()
        let token = try self.credential.providerToken()
        let response = try await self.server.withConnection { connection in
            try await connection.send(HTTPClientRequest(request, token: token))
        }
        let id = response.headers["apns-id"]
        if response.status == 200 {
            if self.json || self.dryRun {
                let body = response.body.isEmpty ? "{\"apns-id\":\"\(id ?? "")\",\"status\":200}" : response.text
                print(body)
            } else {
                print("accepted \(id ?? "")")
            }
            return
        }
        let answer = PushResponse.parse(status: response.status, id: id, body: response.body.span, reader: JSONReader())
        guard case .refused(let refusal) = answer else { return }
        if self.json {
            print(response.text.isEmpty ? "{\"status\":\(response.status)}" : response.text)
        } else {
            let reason: String =
                switch refusal.reason {
                case .known(let rejection): rejection.rawValue
                case .unknown(let text): text
                case nil: Self.problemCode(response) ?? response.text
                }
            print("refused \(response.status) \(reason)\(refusal.detail.map { ": \($0)" } ?? "")")
        }
        throw ExitCode(2)
    }

    /// The code of a problem, in which some answers have no reason of APNs'.
    private static func problemCode(_ response: HTTPClientResponse) -> String? {
        guard case .string(let code)? = try? JSONReader().parse(response.body)["code"] else { return nil }
        return code
    }

    private func request() throws -> PushRequest {
        let app = BundleID(self.app)
        var payload = PushPayload.plain
        payload.kind = self.kind.map { WidgetKind($0) }
        payload.digest = self.digest
        if let match = self.match {
            do {
                payload.match = try JSONReader().parse(Array(match.utf8))
            } catch {
                throw ValidationError("--match is not JSON: \(error)")
            }
        }
        guard let type = PushType.allCases.first(where: { $0.name == self.type }) else {
            throw ValidationError("--type takes widgets or controls")
        }
        var request: PushRequest
        if let text = self.pushToken {
            guard let token = DeviceToken(hex: text) else { throw ValidationError("--push-token is not hex") }
            guard !self.all else { throw ValidationError("--all goes with a push to an app, without --push-token") }
            guard !self.dryRun else {
                throw ValidationError("--dry-run goes with a push to an app, without --push-token")
            }
            request = .device(token, app: app, type: type, payload: payload)
        } else {
            guard self.all != (self.kind != nil || self.match != nil) else {
                throw ValidationError("a push to an app takes --kind, --match or both, or --all for every instance")
            }
            payload.isForAll = self.all
            request = PushRequest(.app(app, isDryRun: self.dryRun), payload: payload)
        }
        if let id = self.id {
            guard let parsed = PushID(id) else { throw ValidationError("--id is no UUID") }
            request.id = parsed
        }
        if let priority = self.priority {
            guard let parsed = Priority(rawValue: priority) else {
                throw ValidationError("--priority takes 1, 5 or 10")
            }
            request.priority = parsed
        }
        request.expiration = self.expiration
        request.collapseID = self.collapseID
        return request
    }
}

extension HTTPClientRequest {
    /// A push as the transport sends it.
    init(_ push: PushRequest, token: String?) {
        var headers = HTTPFields()
        for header in push.headers(authority: "", token: token.map { Array($0.utf8) })
        where !header.name.hasPrefix(":") {
            headers.append(header.name, header.value)
        }
        self.init(method: "POST", path: push.path, headers: headers, body: push.body)
    }
}
