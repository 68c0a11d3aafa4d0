import TestSupport
import Testing
import WidgetModel

/// How hosts, instances and partitions are named, in text and on the disk.
@Suite struct NameTests {
    private static let app = "com.example.scores"

    @Test(
        arguments: [
            // Whole, and where no app is known.
            ("com.example.scores/phone:a", nil, ["com.example.scores", "phone", "a"]),
            ("com.example.scores/phone:a:b", nil, ["com.example.scores", "phone", "a:b"]),
            ("com.example.scores/phone:a/b", nil, ["com.example.scores", "phone", "a/b"]),
            ("com.example.scores/phone::", nil, ["com.example.scores", "phone", ":"]),
            ("com.example.scores/50%25:a", nil, ["com.example.scores", "50%25", "a"]),
            // An accent that nothing stands before, which Swift takes as one character with the colon.
            ("com.example.scores/phone:\u{301}a", nil, ["com.example.scores", "phone", "\u{301}a"]),
            ("phone:a", nil, nil), ("/phone:a", nil, nil), ("com.example.scores/:a", nil, nil),
            ("com.example.scores/phone:", nil, nil), ("com.example.scores/phone", nil, nil), ("/:", nil, nil),
            (":", nil, nil), ("", nil, nil), ("com.example.scores:a/phone", nil, nil),
            // Where the app is known.
            ("phone:a", "com.example.scores", ["com.example.scores", "phone", "a"]),
            ("phone:a/b:c", "com.example.scores", ["com.example.scores", "phone", "a/b:c"]),
            ("com.example.scores/phone:a", "com.example.scores", ["com.example.scores", "phone", "a"]),
            ("com.example.other/phone:a", "com.example.scores", nil), ("/phone:a", "com.example.scores", nil),
            ("com.example.scores/:a", "com.example.scores", nil), ("phone:", "com.example.scores", nil),
            (":a", "com.example.scores", nil), ("phone", "com.example.scores", nil),
        ] as [(String, String?, [String]?)]
    )
    func `an instance's address has an app, a host and an instance`(text: String, app: String?, parts: [String]?) {
        let address = InstanceAddress(text, of: app.map { BundleID($0) })
        #expect(address.map { [$0.app.rawValue, $0.host.id.rawValue, $0.instance.rawValue] } == parts)
        if app == nil, let address { #expect(address.description == text) }
    }

    @Test(
        arguments: [
            ("com.example.scores/phone", nil, ["com.example.scores", "phone"]), ("phone", nil, nil), ("", nil, nil),
            ("/phone", nil, nil), ("com.example.scores/", nil, nil), ("/", nil, nil),
            ("phone", "com.example.scores", ["com.example.scores", "phone"]),
            ("com.example.scores/phone", "com.example.scores", ["com.example.scores", "phone"]),
            ("com.example.other/phone", "com.example.scores", nil), ("/phone", "com.example.scores", nil),
            ("com.example.scores/", "com.example.scores", nil), ("", "com.example.scores", nil),
        ] as [(String, String?, [String]?)]
    )
    func `a host's address has an app and a host`(text: String, app: String?, parts: [String]?) {
        let key = HostKey(address: text[...], of: app.map { BundleID($0) })
        #expect(key.map { [$0.app.rawValue, $0.id.rawValue] } == parts)
        if app == nil, let key { #expect(key.description == text) }
    }

    @Test func `a key's text is read back, and has its zero byte`() {
        let key = HostKey("phone")
        #expect(key.text == "com.example.scores\0phone")
        #expect(HostKey(text: key.text) == key)
        #expect(HostKey(text: "com.example.scores/phone") == nil)
    }

    /// Part of the on-disk format: another value would look for hosts in partitions that do not have them.
    @Test(
        arguments: [
            ("com.example.scores", "phone", 1_663_334_397_380_399_908, 1),
            ("com.example.scores", "phone-17", 11_754_001_007_962_693_089, 10),
            ("com.example.other", "phone", 1_747_771_414_377_192_495, 1), ("a", "b", 13_437_804_106_713_429_921, 11),
            ("", "", 12_036_976_751_835_366_523, 10),
            ("com.example.wetter", "Gerät", 6_529_897_572_530_046_401, 5),
        ] as [(String, String, UInt64, UInt16)]
    )
    func `a host's hash and partition are what they have ever been`(app: String, id: String, hash: UInt64, of16: UInt16)
    {
        let key = HostKey(app: BundleID(app), id: HostID(id))
        #expect(StableHash.of(key) == hash)
        #expect(StableHash.of(key) == StableHash.of(key.text))
        #expect(PartitionID(of: key, among: 16) == PartitionID(of16))
        #expect(PartitionID(of: key, among: 1) == PartitionID(0))
    }

    @Test(
        arguments: [("com.example.scores", 2, 0), ("com.example.other", 1, 0), ("", 4, 2)] as [(String, UInt16, UInt16)]
    )
    func `an app's home is where it has ever been`(app: String, of16: UInt16, of7: UInt16) {
        #expect(PartitionID(homeOf: BundleID(app), among: 16) == PartitionID(of16))
        #expect(PartitionID(homeOf: BundleID(app), among: 7) == PartitionID(of7))
        #expect(PartitionID(homeOf: BundleID(app), among: 1) == PartitionID(0))
    }

    @Test func `behind the last position there is none`() {
        #expect(LogPosition.start.next == LogPosition(1))
        #expect(LogPosition(.max - 1).next == LogPosition(.max))
        #expect(LogPosition(.max).next == LogPosition(.max))
    }
}
