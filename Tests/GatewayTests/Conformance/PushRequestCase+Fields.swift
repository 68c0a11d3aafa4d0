// The rows of one part of Apple's contract. Each has the oddity of the request, the differences of its header list from
// the usual one, and the answer.

extension PushRequestCase {
    static let ids: [PushRequestCase] = [
        PushRequestCase("an id", ["apns-id: \(Self.id)"], "\(Self.ok) id=\(Self.id)"),
        PushRequestCase(
            "an id in capitals, as Foundation writes it",
            ["apns-id: 123E4567-E89B-12D3-A456-4266554400A0"],
            "\(Self.ok) id=123E4567-E89B-12D3-A456-4266554400A0"
        ),
        PushRequestCase(
            "an id in both cases",
            ["apns-id: 123e4567-E89B-12d3-a456-4266554400A0"],
            "\(Self.ok) id=123e4567-E89B-12d3-a456-4266554400A0"
        ),
        PushRequestCase(
            "an id of no UUID version",
            ["apns-id: F4121B12-E0BF-3266-F079-D9253E98BF49"],
            "\(Self.ok) id=F4121B12-E0BF-3266-F079-D9253E98BF49"
        ),
        PushRequestCase(
            "the id of zeros",
            ["apns-id: 00000000-0000-0000-0000-000000000000"],
            "\(Self.ok) id=00000000-0000-0000-0000-000000000000"
        ),
        PushRequestCase("an empty id", ["apns-id: "], "400 BadMessageId"),
        PushRequestCase("an id without hyphens", ["apns-id: 123e4567e89b12d3a4564266554400a0"], "400 BadMessageId"),
        PushRequestCase("an id in braces", ["apns-id: {\(Self.id)}"], "400 BadMessageId"),
        PushRequestCase("an id that is cut short", ["apns-id: \(Self.id.dropLast())"], "400 BadMessageId"),
        PushRequestCase("an id that goes on", ["apns-id: \(Self.id)0"], "400 BadMessageId"),
        PushRequestCase(
            "hyphens elsewhere",
            ["apns-id: 123e45678-e89-12d3-a456-4266554400a0"],
            "400 BadMessageId"
        ),
        PushRequestCase("a letter beyond f", ["apns-id: 123g4567-e89b-12d3-a456-4266554400a0"], "400 BadMessageId"),
        PushRequestCase("a space after it", ["apns-id: \(Self.id) "], "400 BadMessageId"),
        PushRequestCase("a number", ["apns-id: 7"], "400 BadMessageId"),
        PushRequestCase("a URN", ["apns-id: urn:uuid:\(Self.id)"], "400 BadMessageId"),
    ]

    static let priorities: [PushRequestCase] = [
        PushRequestCase("10", ["apns-priority: 10"], "\(Self.ok) priority=10"),
        PushRequestCase("5", ["apns-priority: 5"], "\(Self.ok) priority=5"),
        PushRequestCase("1", ["apns-priority: 1"], "\(Self.ok) priority=1"),
        PushRequestCase("priority 0", ["apns-priority: 0"], "400 BadPriority"),
        PushRequestCase("priority 2", ["apns-priority: 2"], "400 BadPriority"),
        PushRequestCase("priority 6", ["apns-priority: 6"], "400 BadPriority"),
        PushRequestCase("priority 9", ["apns-priority: 9"], "400 BadPriority"),
        PushRequestCase("priority 11", ["apns-priority: 11"], "400 BadPriority"),
        PushRequestCase("priority 100", ["apns-priority: 100"], "400 BadPriority"),
        PushRequestCase("priority -5", ["apns-priority: -5"], "400 BadPriority"),
        PushRequestCase("priority +5", ["apns-priority: +5"], "400 BadPriority"),
        PushRequestCase("priority 05", ["apns-priority: 05"], "400 BadPriority"),
        PushRequestCase("priority 5.0", ["apns-priority: 5.0"], "400 BadPriority"),
        PushRequestCase("a space after the priority", ["apns-priority: 5 "], "400 BadPriority"),
        PushRequestCase("an empty priority", ["apns-priority: "], "400 BadPriority"),
        PushRequestCase("a word", ["apns-priority: high"], "400 BadPriority"),
        PushRequestCase("a digit of another script", ["apns-priority: ٥"], "400 BadPriority"),
    ]

    static let expirations: [PushRequestCase] = [
        PushRequestCase("now or never", ["apns-expiration: 0"], "\(Self.ok) expiration=0"),
        PushRequestCase("a past date", ["apns-expiration: 1"], "\(Self.ok) expiration=1"),
        PushRequestCase("a date", ["apns-expiration: 1793639400"], "\(Self.ok) expiration=1793639400"),
        PushRequestCase("zeros in front", ["apns-expiration: 0001793639400"], "\(Self.ok) expiration=1793639400"),
        PushRequestCase(
            "the last that 64 bits hold",
            ["apns-expiration: 9223372036854775807"],
            "\(Self.ok) expiration=9223372036854775807"
        ),
        PushRequestCase("one more", ["apns-expiration: 9223372036854775808"], "400 BadExpirationDate"),
        PushRequestCase("twenty digits", ["apns-expiration: 10000000000000000000"], "400 BadExpirationDate"),
        PushRequestCase("a negative date", ["apns-expiration: -1"], "400 BadExpirationDate"),
        PushRequestCase("a sign in front", ["apns-expiration: +1793639400"], "400 BadExpirationDate"),
        PushRequestCase("a fraction", ["apns-expiration: 1793639400.5"], "400 BadExpirationDate"),
        PushRequestCase("an exponent", ["apns-expiration: 1e9"], "400 BadExpirationDate"),
        PushRequestCase("a date in words", ["apns-expiration: 2026-11-02T17:00:00Z"], "400 BadExpirationDate"),
        PushRequestCase("hex digits", ["apns-expiration: 0x10"], "400 BadExpirationDate"),
        PushRequestCase("an empty expiration", ["apns-expiration: "], "400 BadExpirationDate"),
        PushRequestCase("a space after the date", ["apns-expiration: 1793639400 "], "400 BadExpirationDate"),
    ]

    static let collapseIDs: [PushRequestCase] = [
        PushRequestCase("a collapse id", ["apns-collapse-id: game-1"], "\(Self.ok) collapse=game-1"),
        PushRequestCase("an empty one, which is none", ["apns-collapse-id: "], Self.ok),
        PushRequestCase(
            "64 bytes",
            ["apns-collapse-id: \(Self.letters(64))"],
            "\(Self.ok) collapse=\(Self.letters(64))"
        ),
        PushRequestCase("65 bytes", ["apns-collapse-id: \(Self.letters(65))"], "400 BadCollapseId"),
        PushRequestCase(
            "64 bytes in 32 letters",
            ["apns-collapse-id: \(Self.umlauts(32))"],
            "\(Self.ok) collapse=\(Self.umlauts(32))"
        ),
        PushRequestCase("66 bytes in 33 letters", ["apns-collapse-id: \(Self.umlauts(33))"], "400 BadCollapseId"),
        PushRequestCase("4,000 bytes", ["apns-collapse-id: \(Self.letters(4000))"], "400 BadCollapseId"),
        PushRequestCase("any characters", ["apns-collapse-id: a/b?c=d e;f"], "\(Self.ok) collapse=a/b?c=d e;f"),
    ]

    private static func letters(_ count: Int) -> String { String(repeating: "c", count: count) }
    private static func umlauts(_ count: Int) -> String { String(repeating: "ü", count: count) }
}
