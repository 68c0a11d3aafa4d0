import IntentMatching
import Storage
import WidgetModel

/// The texts that parameters of one name have, by number, as long as there are not too many of them: most are one of a few
/// hundred teams or places, and a number takes two bytes.
///
/// A text that has a number keeps it, and one that came when all were given never gets one. So equal texts have equal codes
/// whenever they come.
struct ParameterTexts: ~Copyable, Sendable {
    /// How many numbers there are: names whose every instance says something else take no more than that many texts.
    static let countMax = 4096
    /// Longer texts get none.
    static let byteCountMax = 64

    private var texts: [String] = []
    private var index = SlotIndex()

    /// Precondition: a number that was given.
    subscript(number: Int) -> String { self.texts[number] }

    /// The number of a text, a new one if it has none.
    ///
    /// - Parameters:
    ///   - text: The text. One that is spelled otherwise is another one, even where Unicode says they are equivalent.
    ///   - seed: Hides from untrusted peers where texts are found; nothing that comes out depends on it.
    /// - Returns: Below ``countMax``; nil if it is too long, or all numbers were given.
    mutating func intern(_ text: String, seed: UInt64) -> Int? {
        guard text.utf8.count <= Self.byteCountMax else { return nil }
        let hash = SeededHash.of(text.utf8.span, seed: seed)
        let found = self.index.find(hash) { (number: UInt32) in self.texts[Int(number)].hasSameBytes(as: text) }
        if let found { return Int(found) }
        guard self.texts.count < Self.countMax else { return nil }
        self.index.insert(UInt32(self.texts.count), hash)
        self.texts.append(text)
        return self.texts.count - 1
    }
}
