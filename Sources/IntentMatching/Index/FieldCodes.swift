/// The codes of one row in one field.
struct FieldCodes: Sendable {
    /// The code, or 0 for none; 0 as well if ``isArray``.
    var single: UInt32 = 0
    /// Ascending, each once; none or several.
    var elements: [UInt32] = []
    /// Whether the value is an array of no or several elements. One of a single element is that element.
    var isArray = false
    /// Whether the row has this already, and not counted as used once more.
    var isKept = false

    /// Makes it "absent", its memory kept.
    @inline(__always)
    mutating func reset() {
        self.single = 0
        if self.isArray { self.elements.removeAll(keepingCapacity: true) }
        self.isArray = false
        self.isKept = false
    }

    /// Whether there is no value at all, which an empty array is not.
    var isAbsent: Bool { self.single == 0 && !self.isArray }

    @inline(__always)
    func forEach(_ body: (UInt32) -> Void) {
        if self.isArray {
            for code in self.elements { body(code) }
        } else if self.single != 0 {
            body(self.single)
        }
    }
}
