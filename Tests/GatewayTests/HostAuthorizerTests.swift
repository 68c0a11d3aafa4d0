import APNSWire
import HTTPTransport
import HostAPI
import Partitions
import Serving
import Synchronization
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

    @Test func `a signature is verified once, by the keys that are in force`() throws {
        let senders = SenderDirectory(keys: [self.key.known()])
        let credentials = VerifiedCredentials(senders: senders, clock: self.time.makeClock(), seed: 7)
        let authorizer = HostAuthorizer(senders: senders, credentials: credentials, clock: self.time.makeClock())
        func code(_ authorization: String) -> Problem.Code? {
            var request = HTTPRequest(method: "GET", target: "/v1/hosts/00/state")
            request.headers.append("authorization", authorization)
            return problem { () throws(Problem) in try authorizer.caller(of: request) }?.code
        }
        /// The answer where nothing may be verified.
        func remembered(_ authorization: String) -> Problem.Code? {
            problem { () throws(Problem) in
                try credentials.credential(in: Array(authorization.utf8)) { () throws(Problem) in
                    throw Problem(.internal, "verified again")
                }
            }?.code
        }
        let token = try self.key.providerToken()
        let credential = try self.key.hostCredential(Sports.token("phone"), lasting: .hours(2))
        for (authorization, count) in [(token, 1), (credential, 2)] {
            #expect(remembered(authorization) == .internal)
            #expect(code(authorization) == nil)
            #expect(remembered(authorization) == nil)
            // Another spelling of the scheme is no other credential.
            #expect(remembered("BEARER  \(authorization.dropFirst("bearer ".count))") == nil)
            #expect(credentials.count == count)
        }
        #expect(code("bearer a.b.c") == .invalidCredential)
        #expect(code(try TestKey("ABC123DEFG").hostCredential(Sports.token("phone"))) == .invalidCredential)
        #expect(credentials.count == 2)

        // Time and rights are checked at each use.
        let foreign = try self.key.hostCredential(Sports.token("phone"), app: Sports.otherApp)
        #expect(code(foreign) == .invalidCredential)
        #expect(remembered(foreign) == .invalidCredential)
        self.time.pass(.hours(1) + .seconds(1))
        #expect(remembered(token) == .expiredCredential)
        #expect(remembered(credential) == nil)
        self.time.pass(.hours(2))
        #expect(remembered(credential) == .expiredCredential)
        #expect(code(credential) == .expiredCredential)

        // Another key of that name knows none of them.
        let later = try self.key.hostCredential(Sports.token("phone"), issuedAt: self.time.wall)
        #expect(code(later) == nil)
        let other = try TestKey("ABC123DEFG")
        try senders.keys.replace { () throws(TLSError) in [other.known()] }
        #expect(code(later) == .invalidCredential)
        #expect(credentials.count == 0)
    }

    @Test func `so many credentials are remembered as the limit says, from its change on`() throws {
        let room = Mutex(2)
        let senders = SenderDirectory(keys: [self.key.known()])
        let credentials = VerifiedCredentials(
            senders: senders,
            clock: self.time.makeClock(),
            capacity: { room.withLock { $0 } },
            seed: 7
        )
        let authorizer = HostAuthorizer(senders: senders, credentials: credentials, clock: self.time.makeClock())
        func show(_ phone: String) throws {
            var request = HTTPRequest(method: "GET", target: "/v1/hosts/00/state")
            request.headers.append("authorization", try self.key.hostCredential(Sports.token(phone)))
            _ = try authorizer.caller(of: request)
        }
        for (phone, count) in [("a", 1), ("b", 2), ("c", 2)] {
            try show(phone)
            #expect(credentials.count == count)
        }
        room.withLock { $0 = 3 }
        for (phone, count) in [("a", 1), ("b", 2), ("c", 3), ("d", 3)] {
            try show(phone)
            #expect(credentials.count == count)
        }
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
    /// An authorizer that remembers the credentials that it has verified.
    init(senders: SenderDirectory, clock: LogClock) {
        let credentials = VerifiedCredentials(senders: senders, clock: clock, seed: 7)
        self.init(senders: senders, credentials: credentials, clock: clock)
    }
}
