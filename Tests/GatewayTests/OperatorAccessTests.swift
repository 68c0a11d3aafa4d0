import Gateway
import HTTPTransport
import Testing

@Suite struct OperatorAccessTests {
    private static func check(_ tokens: [String], _ authorization: String?) -> Problem.Code? {
        var request = HTTPRequest(method: "GET", target: "/v1/stats")
        if let authorization { request.headers.append("authorization", authorization) }
        return problem { () throws(Problem) in try OperatorAccess(tokens: tokens).caller(of: request) }?.code
    }

    @Test func `without tokens everybody may ask`() {
        #expect(Self.check([], nil) == nil)
        #expect(Self.check([], "bearer x") == nil)
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
    func `with tokens one of them is wanted, whole`(authorization: String?, code: Problem.Code?) {
        #expect(Self.check(["first", "second"], authorization) == code)
    }
}
