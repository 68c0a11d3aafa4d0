import Storage

/// How a row of a field with arrays holds the codes of its elements: up to three of them in the word itself, more in a
/// block of a store.
///
/// The highest two bits say which: 0 a single code, or 0 for "absent"; 1 two codes of 15 bits, both 0 for the empty
/// array; 2 three codes of 10 bits; 3 where the block starts, whose first element is the number of codes. Codes ascend,
/// each once.
enum ElementWord {
    static let absent: UInt32 = 0
    static let empty: UInt32 = 1 << 30
    /// The highest code there may be.
    static let codeMax: UInt32 = 1 << 30 - 1
    private static let payload: UInt32 = 1 << 30 - 1

    /// Whether the codes are in the store.
    @inline(__always)
    static func isStored(_ word: UInt32) -> Bool { word >> 30 == 3 }

    /// Where the block starts of a word whose codes are in the store.
    @inline(__always)
    static func start(_ word: UInt32) -> UInt32 { word & Self.payload }

    /// The word for ascending codes.
    static func make(_ codes: Span<UInt32>, _ store: inout BlockStore<UInt32>) -> UInt32 {
        switch codes.count {
        case 0: return Self.empty
        case 1: return codes[0]
        case 2 where codes[1] < 1 << 15: return 1 << 30 | codes[0] << 15 | codes[1]
        case 3 where codes[2] < 1 << 10: return 2 << 30 | codes[0] << 20 | codes[1] << 10 | codes[2]
        default:
            let start = store.allocate(codes.count + 1)
            precondition(start <= Self.payload, "a billion elements of one field")
            store.elements[Int(start)] = UInt32(codes.count)
            store.elements.write(codes, at: Int(start) + 1)
            return 3 << 30 | start
        }
    }

    /// Gives back the word's block in the store.
    static func release(_ word: UInt32, _ store: inout BlockStore<UInt32>) {
        guard Self.isStored(word) else { return }
        let start = Self.start(word)
        store.release(start, Int(store.elements[Int(start)]) + 1)
    }

    /// Calls `body` with each code, ascending, until it returns true; returns whether it did.
    ///
    /// - Parameters:
    ///   - word: The word.
    ///   - elements: Those of the store.
    ///   - body: Called with each code.
    @inline(__always)
    static func contains(_ word: UInt32, _ elements: Span<UInt32>, where body: (UInt32) -> Bool) -> Bool {
        switch word >> 30 {
        case 0: return word != 0 && body(word)
        case 1: return word != Self.empty && (body(word >> 15 & 0x7FFF) || body(word & 0x7FFF))
        case 2: return body(word >> 20 & 0x3FF) || body(word >> 10 & 0x3FF) || body(word & 0x3FF)
        default:
            let start = Int(Self.start(word))
            for index in 1..<Int(elements[start]) + 1 where body(elements[start + index]) { return true }
            return false
        }
    }

    /// Whether the word's codes are these, ascending. Precondition: it has some.
    static func equals(_ word: UInt32, _ codes: [UInt32], _ elements: Span<UInt32>) -> Bool {
        var index = 0
        let differs = Self.contains(word, elements) { code in
            guard index < codes.count, codes[index] == code else { return true }
            index += 1
            return false
        }
        return !differs && index == codes.count
    }

    /// The codes, ascending.
    static func codes(_ word: UInt32, _ elements: Span<UInt32>) -> [UInt32] {
        var codes: [UInt32] = []
        _ = Self.contains(word, elements) { code in
            codes.append(code)
            return false
        }
        return codes
    }
}
