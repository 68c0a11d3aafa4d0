import WidgetModel

/// Makes ids for new channels: 20 letters and digits, which is base64 of 15 bytes with 119 random bits.
///
/// Without the other two characters of base64 and without padding, since APNSwift puts ids into paths as they are.
enum ChannelIDGenerator {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let length = 20

    static func next() -> ChannelID {
        var system = SystemRandomNumberGenerator()
        let text = (0..<Self.length).map { _ in Self.alphabet[Int.random(in: 0..<Self.alphabet.count, using: &system)] }
        return ChannelID(String(decoding: text, as: UTF8.self))
    }
}
