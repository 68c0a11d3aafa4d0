import TestSupport

/// Texts to start from, and small damage to do to them.
enum JSONFuzz {
    static let texts: [[UInt8]] = [
        #"{"aps":{"content-changed":true}}"#,
        #"{"aps":{"content-changed":true},"freshet":{"kind":"scores","match":{"team":["a",{"prefix":"b"}]}}}"#,
        #"[1,-2,3.5,1e10,-0,18446744073709551615,9223372036854775808,true,false,null]"#,
        #"{"a":"\u00e9\ud83d\ude00\n\"","é😀":[{},[],""]}"#,
        #"{"alg":"ES256","kid":"ABC123DEFG","typ":"JWT"}"#,
        #"{"iss":"TEAM123456","iat":"1700000000","x":[[[[]]]]}"#,
    ].map { Array($0.utf8) }

    private static let tokens: [[UInt8]] = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "0", "-", ".", "e", "E+", " ", "\n", "true", "nul",
        "1e999", "99999999999999999999", "\u{FEFF}", "é",
    ].map { Array($0.utf8) }

    static func mutate(_ text: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var text = text
        for _ in 0...(random.next() % 3) {
            let place = Int(random.next() % UInt64(text.count + 1))
            switch random.next() % 6 {
            case 0: text.insert(contentsOf: Self.tokens[Int(random.next() % UInt64(Self.tokens.count))], at: place)
            case 1: if place < text.count { text.remove(at: place) }
            case 2: if place < text.count { text[place] = UInt8(truncatingIfNeeded: random.next()) }
            case 3: text.removeSubrange(place...)
            case 4: text.insert(contentsOf: text.prefix(place), at: place)
            default: text.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
            }
        }
        return text
    }
}
