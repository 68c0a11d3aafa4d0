import APNSWire
import HTTPTransport
import HostAPI
import Partitions
import Serving
import TLS
import Testing
import WidgetModel

@Suite struct HostAuthorizerTests {
    private let time = FakeTime()
    private let key: TestKey
    private let authorizer: HostAuthorizer

    init() throws {
        self.key = try TestKey("ABC123DEFG")
        let other = try TestKey("OTHERKEY00", Sports.otherTeam)
        self.authorizer = HostAuthorizer(
            senders: SenderDirectory(keys: [self.key.known(), other.known(Sports.otherApp, number: 1)]),
            clock: self.time.makeClock()
        )
    }

    private func caller(_ authorization: String?) -> Result<Caller, Problem> {
        var request = HTTPRequest(method: "GET", target: "/v1/hosts/00/state")
        if let authorization { request.headers.append("authorization", authorization) }
        do throws(Problem) {
            return .success(try self.authorizer.caller(of: request))
        } catch {
            return .failure(error)
        }
    }

    private func code(_ authorization: String?) -> Problem.Code? {
        guard case .failure(let problem) = self.caller(authorization) else { return nil }
        return problem.code
    }

    @Test func `a host may act for its own token of its own app`() throws {
        let token = Sports.token("phone")
        let caller = try self.caller(try self.key.hostCredential(token)).get()
        #expect(caller.sender == nil)
        #expect(caller.mayAct(for: token, of: Sports.app))
        #expect(!caller.mayAct(for: token, of: Sports.otherApp))
        #expect(!caller.mayAct(for: Sports.token("tablet"), of: Sports.app))
        #expect(!caller.mayAct(for: nil, of: Sports.app))
    }

    @Test func `a back end may act for every host of its apps`() throws {
        let caller = try self.caller(try self.key.providerToken()).get()
        #expect(caller.sender?.team == Sports.team)
        #expect(caller.mayAct(for: Sports.token("phone"), of: Sports.app))
        #expect(caller.mayAct(for: nil, of: Sports.app))
        #expect(!caller.mayAct(for: nil, of: Sports.otherApp))
    }

    @Test(
        arguments: [
            (nil, .missingCredential), ("", .missingCredential), ("bearer", .missingCredential),
            ("basic eDp5", .invalidCredential), ("bearer x.y.z", .invalidCredential), ("bearer", .missingCredential),
        ] as [(String?, Problem.Code)]
    )
    func `without a credential there is no caller`(authorization: String?, code: Problem.Code) {
        #expect(self.code(authorization) == code)
    }

    @Test func `a credential for an app that is not the key's is refused`() throws {
        let token = Sports.token("phone")
        #expect(self.code(try self.key.hostCredential(token, app: Sports.otherApp)) == .invalidCredential)
        #expect(self.code(try self.key.hostCredential(token, team: Sports.otherTeam)) == .invalidCredential)
        #expect(self.code(try TestKey("ABC123DEFG").hostCredential(token)) == .invalidCredential)
        #expect(self.code(try TestKey("UNKNOWN000").hostCredential(token)) == .invalidCredential)
    }

    @Test func `a credential holds in its time, give or take the clocks' difference`() throws {
        let token = Sports.token("phone")
        let credential = try self.key.hostCredential(token, lasting: .hours(2))
        #expect(self.code(credential) == nil)
        self.time.pass(.hours(2) + .minutes(4))
        #expect(self.code(credential) == nil)
        self.time.pass(.minutes(1))
        #expect(self.code(credential) == .expiredCredential)
        let early = try self.key.hostCredential(token, issuedAt: self.time.wall + .minutes(6))
        #expect(self.code(early) == .invalidCredential)
        let long = try self.key.hostCredential(token, issuedAt: self.time.wall, lasting: .days(91))
        #expect(self.code(long) == .invalidCredential)
    }

    @Test func `a provider token holds for an hour`() throws {
        let token = try self.key.providerToken()
        self.time.pass(.hours(1))
        #expect(self.code(token) == nil)
        self.time.pass(.seconds(1))
        #expect(self.code(token) == .expiredCredential)
        #expect(self.code(try self.key.providerToken(Sports.otherTeam)) == .invalidCredential)
    }

    @Test func `a provider token's signature is verified once, by the keys that are in force`() throws {
        let senders = SenderDirectory(keys: [self.key.known()])
        let tokens = VerifiedTokens(senders: senders, clock: self.time.makeClock(), seed: 7)
        let authorizer = HostAuthorizer(senders: senders, tokens: tokens, clock: self.time.makeClock())
        func sender(_ authorization: String) throws(Problem) -> Sender? {
            var request = HTTPRequest(method: "GET", target: "/v1/hosts/00/state")
            request.headers.append("authorization", authorization)
            return try authorizer.caller(of: request).sender
        }
        let token = try self.key.providerToken()
        for _ in 0..<3 {
            #expect(try sender(token)?.team == Sports.team)
            #expect(tokens.count == 1)
        }
        #expect(try sender(try self.key.hostCredential(Sports.token("phone"))) == nil)
        #expect(problem { () throws(Problem) in try sender("bearer a.b.c") }?.code == .invalidCredential)
        #expect(tokens.count == 1)
        try senders.keys.replace { () throws(TLSError) in [] }
        #expect(problem { () throws(Problem) in try sender(token) }?.code == .invalidCredential)
        #expect(tokens.count == 0)
    }

    @Test func `no refusal tells anything of the credential`() throws {
        let credential = try self.key.hostCredential(Sports.token("phone"), app: Sports.otherApp)
        guard case .failure(let problem) = self.caller(credential) else {
            Issue.record("not refused")
            return
        }
        #expect(problem == Problem(.invalidCredential, "host credential: the key is not for hosts of that app"))
    }
}

extension HostAuthorizer {
    /// An authorizer that remembers provider tokens.
    init(senders: SenderDirectory, clock: LogClock) {
        self.init(senders: senders, tokens: VerifiedTokens(senders: senders, clock: clock, seed: 7), clock: clock)
    }
}
