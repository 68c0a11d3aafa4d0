import APNSWire
import ArgumentParser
import HTTPTransport
import WidgetModel

/// `freshet send`
struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send one push: to a push token, or to every instance of an app that matches.",
        discussion: """
            Use freshet context set to store the gateway's address and the sender's key once.

              freshet send --ca certs/ca.pem --key certs/provider-key.p8 --kid K --team T \\
                --app com.example.scores --push-token 0a1b2c3d
              freshet send --app com.example.scores --kind scores \\
                --match '{"team":["seahawks"]}' --dry-run
              freshet send --app com.example.scores --all --follow
              freshet send --app com.example.scores --bulk pushes.ndjson

            Exit codes: 0 accepted, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var credential: CredentialOptions
    @Option(help: "The app's bundle id.") var app: String
    @Option(help: "A push token in hex. Without it, the push goes to the app, with --kind, --match or --all.")
    var pushToken: String?
    @Option(help: "widgets or controls.") var type = "widgets"
    @Option(help: "1, 5 or 10. Default: the app's.") var priority: UInt8?
    @Option(help: "The time until which the push may wait, in UNIX seconds; 0 for now or never.") var expiration: Int64?
    @Option(help: "A later push with the same collapse id replaces one that waits.") var collapseID: String?
    @Option(help: "The push's apns-id, a UUID. Default: the gateway makes one.") var id: String?
    @Option(help: "Only instances of this kind.") var kind: String?
    @Option(help: "Only instances whose configuration matches, a pattern in JSON.") var match: String?
    @Flag(help: "Every instance of the app, of every kind.") var all = false
    @Option(help: "The name of the content: instances that already show it do not reload.") var digest: String?
    @Option(help: "Values for the conditions of instances, a JSON object.") var attributes: String?
    @Option(help: "The time before which nothing reloads, in UNIX seconds.") var notBefore: Int64?
    @Option(help: "The most instances that the push may match; if it matches more, it is refused. At least 1.")
    var maxMatched: Int?
    @Flag(help: "Show the matching instances and the decisions about them, and send nothing.") var dryRun = false
    @Flag(help: "Wait until the push is complete, and print each change.") var follow = false
    @Option(
        help: "A file of pushes to the app, one per line with its headers and payload (NDJSON); - for standard input."
    )
    var bulk: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if self.follow, self.dryRun { throw ValidationError("give --follow or --dry-run, not both") }
        if let bound = self.maxMatched, bound < 1 { throw ValidationError("--max-matched takes 1 or more") }
        let own: [Any?] = [
            self.pushToken, self.priority, self.expiration, self.collapseID, self.id, self.kind, self.match,
            self.digest, self.attributes,
            self.notBefore, self.maxMatched,
        ]
        guard self.bulk == nil || (own.allSatisfy { $0 == nil } && !self.all && !self.dryRun && !self.follow) else {
            throw ValidationError(
                "with --bulk, the file has everything about the pushes: leave out the other options of a push"
            )
        }
    }

    func run() async throws {
        let access = try self.connection.access(.push, self.credential.settings)
        let token = try self.credential.providerToken(access)
        if let bulk {
            return try await access.withConnection { connection in
                try await BulkSending(app: self.app, file: bulk, token: token).run(on: connection)
            }
        }
        let request = try self.request()
        try await access.withConnection { connection in
            let response = try await connection.send(HTTPClientRequest(request, token: token))
            try self.show(response)
            guard self.follow, let id = response.headers["apns-id"] else { return }
            let isMinted = self.credential.isMinted(access)
            var question = SenderQuestion(id: id, token: token) {
                isMinted ? try self.credential.providerToken(access) : nil
            }
            try await PushFollowing(isJSON: self.json).run { try await question.ask(connection) }
        }
    }

    /// Prints the answer; a refusal ends the verb.
    private func show(_ response: HTTPClientResponse) throws {
        let id = response.headers["apns-id"]
        if response.status == 200 {
            if self.json || self.dryRun {
                let body = response.body.isEmpty ? "{\"apns-id\":\"\(id ?? "")\",\"status\":200}" : response.text
                Output.line(body)
            } else {
                Output.line("accepted \(id ?? "")")
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

    /// The value that an option writes as JSON.
    private static func json(_ text: String?, _ option: String) throws -> JSONValue? {
        guard let text else { return nil }
        do {
            return try JSONReader().parse(Array(text.utf8))
        } catch {
            throw ValidationError("\(option) is not JSON: \(error)")
        }
    }

    private func request() throws -> PushRequest {
        let app = BundleID(self.app)
        var payload = PushPayload.plain
        payload.kind = self.kind.map { WidgetKind($0) }
        payload.digest = self.digest
        payload.match = try Self.json(self.match, "--match")
        payload.attributes = try Self.json(self.attributes, "--attributes")
        payload.notBefore = self.notBefore.map { Instant(seconds: $0) }
        payload.maxMatched = self.maxMatched
        guard let type = PushType(name: self.type) else {
            throw ValidationError("--type takes widgets or controls")
        }
        var request: PushRequest
        if let text = self.pushToken {
            guard let token = DeviceToken(hex: text) else { throw ValidationError("--push-token is not hex") }
            guard !self.all else { throw ValidationError("--all is for a push to an app: leave out --push-token") }
            guard !self.dryRun else {
                throw ValidationError("--dry-run is for a push to an app: leave out --push-token")
            }
            guard self.maxMatched == nil else {
                throw ValidationError("--max-matched is for a push to an app: leave out --push-token")
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
            guard let parsed = PushID(id) else { throw ValidationError("--id is not a UUID") }
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
