import BasicContainers
import Storage
import WidgetModel

/// A field of a kind's instances with all values that some instance has.
struct ValueField: ~Copyable {
    let field: MatchField
    /// The parameter's name; no parameter has the empty one that family, host and tags have here.
    private let name: [UInt8]
    var dictionary = ValueDictionary()

    init(_ field: MatchField) {
        self.field = field
        self.name = if case .parameter(let text) = field { text.bytes } else { [] }
    }

    /// Whether this is the parameter with just this name.
    @inline(__always)
    func isNamed(_ name: Span<UInt8>) -> Bool {
        guard name.count == self.name.count, name.count > 0 else { return false }
        return self.name.span.equals(name)
    }

    /// Whether there are so many values that look-ups wait for memory; of fewer, all stay in the processor's cache.
    var isCrowded: Bool { self.dictionary.count >= 2048 }

    /// The codes of a value, each used once more.
    mutating func internCodes(of value: ParameterValue, into codes: inout FieldCodes) {
        guard case .array(let elements) = value else {
            codes.single = self.dictionary.internCode(of: value)
            return
        }
        for element in elements { codes.elements.append(self.dictionary.internCode(of: element)) }
        self.makeDistinct(&codes)
    }

    mutating func internCodes(of strings: [String], into codes: inout FieldCodes) {
        for string in strings { codes.elements.append(self.dictionary.internCode(of: string)) }
        self.makeDistinct(&codes)
    }

    /// Makes codes of a batch's keys, each used once more.
    ///
    /// - Parameters:
    ///   - batch: The keys of values of this field.
    ///   - value: Gives the value of a row's element.
    mutating func internCodes(of batch: inout ValueBatch, _ value: (_ row: Int, _ element: Int) -> ParameterValue) {
        if self.isCrowded { self.dictionary.prefetch(batch.keys.span) }
        let count = batch.keys.count
        // Out of the batch and back: an array that is written while it is read is copied.
        var codes: [UInt32] = []
        swap(&codes, &batch.codes)
        codes.append(contentsOf: repeatElement(0, count: count))
        var used = 0
        while true {
            var target = codes.mutableSpan
            used = self.dictionary.internCodes(of: batch.keys.span, from: used, into: &target)
            guard used < count else { break }
            let place = batch.place(of: used)
            codes[used] = self.dictionary.internCode(of: value(place.row, place.element))
            used += 1
        }
        swap(&codes, &batch.codes)
        if !batch.ends.isEmpty { self.makeDistinct(&batch) }
    }

    /// Sorts the codes of each row, and leaves out those that come again.
    private mutating func makeDistinct(_ batch: inout ValueBatch) {
        var start = 0
        var kept = 0
        for row in batch.ends.indices {
            let end = batch.ends[row]
            for index in start..<end {
                // Few, so that each is put into its place among those before.
                let code = batch.codes[index]
                var place = index
                while place > start, batch.codes[place - 1] > code {
                    batch.codes[place] = batch.codes[place - 1]
                    place -= 1
                }
                batch.codes[place] = code
            }
            let first = kept
            for index in start..<end {
                if kept > first, batch.codes[index] == batch.codes[kept - 1] {
                    self.dictionary.release(batch.codes[index])
                } else {
                    batch.codes[kept] = batch.codes[index]
                    kept += 1
                }
            }
            batch.ends[row] = kept
            start = end
        }
        batch.codes.removeLast(batch.codes.count - kept)
    }

    private mutating func makeDistinct(_ codes: inout FieldCodes) {
        if codes.elements.count > 1 {
            codes.elements.sort()
            var kept = 1
            for index in 1..<codes.elements.count {
                if codes.elements[index] == codes.elements[kept - 1] {
                    self.dictionary.release(codes.elements[index])
                } else {
                    codes.elements[kept] = codes.elements[index]
                    kept += 1
                }
            }
            codes.elements.removeLast(codes.elements.count - kept)
        }
        codes.isArray = codes.elements.count != 1
        guard !codes.isArray else { return }
        codes.single = codes.elements[0]
        codes.elements.removeAll(keepingCapacity: true)
    }

    mutating func release(_ value: FieldCodes) {
        if value.isArray {
            for code in value.elements { self.dictionary.release(code) }
        } else if value.single != 0 {
            self.dictionary.release(value.single)
        }
    }
}

extension UniqueArray<ValueField> {
    /// The index of a parameter's field. Constant if it is the expected one, as with configurations of one schema.
    @inline(__always)
    func index(named name: Span<UInt8>, expected: Int = KindSegment.firstParameter) -> Int? {
        if expected < self.count, self[expected].isNamed(name) { return expected }
        for index in KindSegment.firstParameter..<self.count where self[index].isNamed(name) { return index }
        return nil
    }
}
