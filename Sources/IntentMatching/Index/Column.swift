import CKernels

/// A growing array of plain values that grows without being copied once it is large: an `Array` of forty megabytes
/// would stop everything for ten milliseconds each time it doubles, and hold twice what it needs.
///
/// A value as an `Array` is: copies share their memory until one of them changes. This file is the one place in this
/// target that leaves safe element access.
struct Column<Element: BitwiseCopyable & Sendable>: Sendable {
    private var memory: ColumnMemory<Element>?
    private(set) var count = 0

    init() {}

    init(repeating element: Element, count: Int) {
        self.append(repeating: element, count: count)
    }

    /// `count` elements of which every bit is 0. Large ones cost nothing until they are used.
    init(zeros count: Int) {
        self.resize(to: count)
        self.memory?.clear()
        self.count = count
    }

    /// `count` elements of which nobody knows the value.
    init(undefined count: Int) {
        self.resize(to: count)
        self.count = count
    }

    /// Bytes of memory held.
    var byteCount: Int { MemoryLayout<Element>.stride * (self.memory?.capacity ?? 0) }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: self.count), "beyond the column")
            // Sound: memory holds `count` elements, and self keeps it alive.
            return unsafe self.memory.unsafelyUnwrapped.pointer[index]
        }
        set {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: self.count), "beyond the column")
            self.makeUnique()
            // Sound: as above, and nobody else sees this memory.
            unsafe self.memory.unsafelyUnwrapped.pointer[index] = newValue
        }
    }

    /// Fetches an element that is about to be read, if it is there.
    @inline(__always)
    func prefetch(_ index: Int) {
        guard let memory = self.memory, index < self.count else { return }
        // Sound: nothing is read, and the place is within the memory.
        unsafe ckernels_prefetch(memory.pointer + index)
    }

    /// The same for several.
    @inline(__always)
    func prefetch(_ indices: Span<UInt32>) {
        for place in indices.indices { self.prefetch(Int(indices[place])) }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        self.reserve(self.count + 1)
        // Sound: there is room for one more, and nobody else sees this memory.
        unsafe self.memory.unsafelyUnwrapped.pointer[self.count] = element
        self.count += 1
    }

    mutating func append(repeating element: Element, count: Int) {
        guard count > 0 else { return }
        self.reserve(self.count + count)
        // Sound: there is room for `count` more. Elements are plain, so memory has no state to initialise.
        unsafe (self.memory.unsafelyUnwrapped.pointer + self.count).update(repeating: element, count: count)
        self.count += count
    }

    mutating func append(_ elements: Span<Element>) {
        let start = self.count
        self.append(undefined: elements.count)
        self.write(elements, at: start)
    }

    /// Appends so many elements of which nobody knows the value.
    mutating func append(undefined count: Int) {
        self.reserve(self.count + count)
        self.count += count
    }

    mutating func removeLast() {
        precondition(self.count > 0, "an empty column")
        self.count -= 1
        // Gives memory back when three quarters of it have become useless.
        if let memory = self.memory, memory.capacity > 64, self.count * 4 < memory.capacity {
            self.resize(to: self.count * 2)
        }
    }

    mutating func popLast() -> Element? {
        guard self.count > 0 else { return nil }
        let last = self[self.count - 1]
        self.removeLast()
        return last
    }

    mutating func removeAll() {
        self.memory = nil
        self.count = 0
    }

    /// Copies `count` elements from one place to another; the places may overlap.
    mutating func move(from source: Int, to target: Int, count: Int) {
        precondition(source >= 0 && target >= 0 && count >= 0, "before the column")
        precondition(max(source, target) + count <= self.count, "beyond the column")
        guard count > 0 else { return }
        self.makeUnique()
        // Sound: both places lie within the elements, and `update` allows them to overlap.
        unsafe (self.memory.unsafelyUnwrapped.pointer + target).update(
            from: self.memory.unsafelyUnwrapped.pointer + source,
            count: count
        )
    }

    /// Overwrites elements from a place on. Precondition: they are there.
    mutating func write(_ elements: Span<Element>, at place: Int) {
        self.withMutableSpan { target in
            for index in elements.indices { target[place + index] = elements[index] }
        }
    }

    @inline(__always)
    func withSpan<Result>(_ body: (Span<Element>) -> Result) -> Result {
        guard let memory = self.memory else { return body(Span()) }
        // Sound: the memory holds `count` elements and outlives the call.
        return withExtendedLifetime(memory) {
            body(unsafe Span(_unsafeElements: UnsafeBufferPointer(start: memory.pointer, count: self.count)))
        }
    }

    @inline(__always)
    mutating func withMutableSpan<Result>(_ body: (inout MutableSpan<Element>) -> Result) -> Result {
        self.makeUnique()
        guard let memory = self.memory else {
            var empty = MutableSpan<Element>()
            return body(&empty)
        }
        // Sound: as above, and nobody else sees this memory.
        return withExtendedLifetime(memory) {
            let elements = unsafe UnsafeMutableBufferPointer(start: memory.pointer, count: self.count)
            var span = unsafe MutableSpan(_unsafeElements: elements)
            return body(&span)
        }
    }

    // MARK: Memory

    @inline(__always)
    mutating func reserve(_ count: Int) {
        if count <= self.memory?.capacity ?? 0 {
            self.makeUnique()
        } else {
            self.grow(to: count)
        }
    }

    @inline(never)
    private mutating func grow(to count: Int) {
        let capacity = self.memory?.capacity ?? 0
        self.resize(to: max(count, capacity < 4096 ? max(8, 2 * capacity) : capacity + capacity / 8))
    }

    private mutating func resize(to capacity: Int) {
        let capacity = max(8, capacity)
        if isKnownUniquelyReferenced(&self.memory) {
            self.memory?.resize(to: capacity)
        } else {
            self.memory = ColumnMemory(copying: self.memory, count: self.count, capacity: capacity)
        }
    }

    @inline(__always)
    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&self.memory), self.memory != nil { self.copy() }
    }

    @inline(never)
    private mutating func copy() {
        guard let memory = self.memory else { return }
        self.memory = ColumnMemory(copying: memory, count: self.count, capacity: memory.capacity)
    }
}

/// The memory of a column, freed with the last column that shares it.
///
/// Sound as `Sendable`: it is written only by a column that is its single owner.
@safe private final class ColumnMemory<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    private(set) var pointer: UnsafeMutablePointer<Element>
    private(set) var capacity: Int

    init(copying other: ColumnMemory?, count: Int, capacity: Int) {
        unsafe self.pointer = Self.resize(nil, from: 0, to: capacity)
        self.capacity = capacity
        // Sound: both have room for `count` elements and are not the same.
        if let other { unsafe self.pointer.update(from: other.pointer, count: min(count, capacity)) }
    }

    deinit {
        unsafe ckernels_free(self.pointer, self.capacity * MemoryLayout<Element>.stride)
    }

    /// Precondition: nobody else uses it.
    func resize(to capacity: Int) {
        unsafe self.pointer = Self.resize(self.pointer, from: self.capacity, to: capacity)
        self.capacity = capacity
    }

    /// Sets every bit of memory that was just made to 0.
    func clear() {
        let size = self.capacity * MemoryLayout<Element>.stride
        // New blocks from this size on are zero as they are. Sound: writes the whole block, whose elements are plain.
        if size < 1 << 20 {
            unsafe UnsafeMutableRawPointer(self.pointer).initializeMemory(as: UInt8.self, repeating: 0, count: size)
        }
    }

    private static func resize(
        _ pointer: UnsafeMutablePointer<Element>?,
        from old: Int,
        to capacity: Int
    ) -> UnsafeMutablePointer<Element> {
        let stride = MemoryLayout<Element>.stride
        guard let memory = unsafe ckernels_resize(pointer, old * stride, capacity * stride) else {
            preconditionFailure("out of memory")
        }
        return unsafe memory.assumingMemoryBound(to: Element.self)
    }
}

// MARK: - Bytes and words

extension Span where Element == UInt8 {
    /// Up to eight bytes from `offset` as a little-endian number; bytes beyond the end count as 0.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Sound: RawSpan checks the bounds, and every bit pattern is a number. So are those below.
        if offset + 8 <= self.count {
            return unsafe UInt64(littleEndian: self.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        guard offset < self.count else { return 0 }
        if self.count >= 8 {
            // The last eight bytes, less those that come before.
            let last = self.count - 8
            return unsafe UInt64(littleEndian: self.bytes.unsafeLoadUnaligned(fromByteOffset: last, as: UInt64.self))
                &>> UInt64(8 * (offset - last))
        }
        return self.shortWord &>> UInt64(8 * offset)
    }

    /// All bytes, of which there are one to seven; some are read twice.
    @inline(__always)
    private var shortWord: UInt64 {
        guard self.count >= 4 else {
            let (middle, last) = (self.count / 2, self.count - 1)
            return UInt64(self[0]) | UInt64(self[middle]) &<< UInt64(8 * middle)
                | UInt64(self[last]) &<< UInt64(8 * last)
        }
        let first = unsafe self.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
        let last = unsafe self.bytes.unsafeLoadUnaligned(fromByteOffset: self.count - 4, as: UInt32.self)
        return UInt64(UInt32(littleEndian: first)) | UInt64(UInt32(littleEndian: last)) &<< UInt64(8 * (self.count - 4))
    }

    /// Whether both spans hold the same bytes.
    @inline(__always)
    func equals(_ other: Span<UInt8>) -> Bool {
        guard self.count == other.count else { return false }
        var offset = 0
        while offset < self.count {
            guard self.word(at: offset) == other.word(at: offset) else { return false }
            offset += 8
        }
        return true
    }
}

extension Column<UInt64> {
    /// The bytes of words from the byte `offset` on, each word's lowest byte first.
    func withBytes<Result>(at offset: Int, count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        self.withSpan { words in
            precondition(offset >= 0 && count >= 0 && offset + count <= words.count * 8, "beyond the column")
            // Sound: the bytes lie within the words, and a byte has no alignment and no invalid pattern. The machines
            // this runs on are little-endian, as the words are.
            return unsafe words.withUnsafeBytes { bytes in
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
                return unsafe bytes.withMemoryRebound(to: UInt8.self) { body(unsafe Span(_unsafeElements: $0)) }
            }
        }
    }
}

// MARK: - Kernels

/// The loops in C, with their bounds checked. Tests hold them to the same loops in Swift.
package enum Kernels {
    /// Sets the bits of the codes that equal one. Precondition: a word for each 64 codes.
    package static func equal(_ codes: Span<UInt8>, _ code: UInt32, _ words: inout MutableSpan<UInt64>) {
        // Sound: reads all codes and writes a word for each 64 of them. So are the others below.
        unsafe Self.run(codes, &words) { unsafe ckernels_equal_8($0, $1, code, $2) }
    }

    package static func equal(_ codes: Span<UInt16>, _ code: UInt32, _ words: inout MutableSpan<UInt64>) {
        unsafe Self.run(codes, &words) { unsafe ckernels_equal_16($0, $1, code, $2) }
    }

    package static func equal(_ codes: Span<UInt32>, _ code: UInt32, _ words: inout MutableSpan<UInt64>) {
        unsafe Self.run(codes, &words) { unsafe ckernels_equal_32($0, $1, code, $2) }
    }

    /// Sets the bits of the codes whose entry is 1. Precondition: `table` has an entry for every code, 256 here.
    package static func table(_ codes: Span<UInt8>, _ table: Span<UInt8>, _ words: inout MutableSpan<UInt64>) {
        precondition(table.count >= 1 << 8, "too few entries")
        unsafe Self.run(codes, table, &words) { unsafe ckernels_table_8($0, $1, $2, $3) }
    }

    package static func table(_ codes: Span<UInt16>, _ table: Span<UInt8>, _ words: inout MutableSpan<UInt64>) {
        precondition(table.count >= 1 << 16, "too few entries")
        unsafe Self.run(codes, table, &words) { unsafe ckernels_table_16($0, $1, $2, $3) }
    }

    /// Hands over codes and the words for them as the pointers that a loop takes.
    @inline(__always)
    private static func run<Code: BitwiseCopyable>(
        _ codes: Span<Code>,
        _ words: inout MutableSpan<UInt64>,
        _ loop: (UnsafePointer<Code>, Int, UnsafeMutablePointer<UInt64>) -> Void
    ) {
        precondition(words.count * 64 >= codes.count, "too few words")
        unsafe codes.withUnsafeBufferPointer { codes in
            unsafe words.withUnsafeMutableBufferPointer { words in
                guard let source = codes.baseAddress, let target = words.baseAddress else { return }
                unsafe loop(source, codes.count, target)
            }
        }
    }

    @inline(__always)
    private static func run<Code: BitwiseCopyable>(
        _ codes: Span<Code>,
        _ table: Span<UInt8>,
        _ words: inout MutableSpan<UInt64>,
        _ loop: (UnsafePointer<Code>, Int, UnsafePointer<UInt8>, UnsafeMutablePointer<UInt64>) -> Void
    ) {
        unsafe table.withUnsafeBufferPointer { table in
            guard let table = table.baseAddress else { return }
            unsafe Self.run(codes, &words) { unsafe loop($0, $1, table, $2) }
        }
    }

    /// Writes `base` + i for each set bit i from `place` in `out` on and returns how many there are.
    /// Precondition: room for all bits and 16 more.
    package static func decode(
        _ words: Span<UInt64>,
        base: UInt32,
        into out: inout MutableSpan<UInt32>,
        at place: Int = 0
    ) -> Int {
        precondition(place >= 0 && out.count - place >= words.count * 64 + 16, "too little room")
        // Sound: writes at most one number for each bit, and up to 16 beyond.
        return unsafe words.withUnsafeBufferPointer { words in
            unsafe out.withUnsafeMutableBufferPointer { out in
                guard let source = words.baseAddress, let target = out.baseAddress else { return 0 }
                return unsafe ckernels_decode(source, words.count, base, target + place)
            }
        }
    }

    /// out[place + i] = base + lows[i], modulo 2^32. Precondition: room for all.
    package static func widen(
        _ lows: Span<UInt16>,
        base: UInt32,
        into out: inout MutableSpan<UInt32>,
        at place: Int = 0
    ) {
        precondition(place >= 0 && out.count - place >= lows.count, "too little room")
        unsafe lows.withUnsafeBufferPointer { lows in
            unsafe out.withUnsafeMutableBufferPointer { out in
                guard let source = lows.baseAddress, let target = out.baseAddress else { return }
                unsafe ckernels_widen(source, lows.count, base, target + place)
            }
        }
    }

    /// Copies the rows whose code is one of `wanted`, four codes, to the front of `out`; returns how many they are.
    /// Precondition: room for all, and a code for each row.
    package static func keep(
        _ rows: Span<UInt32>,
        _ codes: Span<UInt8>,
        _ wanted: Span<UInt32>,
        into out: inout MutableSpan<UInt32>
    ) -> Int {
        precondition(wanted.count == 4, "not four codes")
        // Sound: reads all rows, of the codes those that lie within, and four of `wanted`. So are those below.
        return unsafe Self.run(rows, codes, wanted, &out) { unsafe ckernels_keep_8($0, $1, $2, $3, $4, $5) }
    }

    package static func keep(
        _ rows: Span<UInt32>,
        _ codes: Span<UInt16>,
        _ wanted: Span<UInt32>,
        into out: inout MutableSpan<UInt32>
    ) -> Int {
        precondition(wanted.count == 4, "not four codes")
        return unsafe Self.run(rows, codes, wanted, &out) { unsafe ckernels_keep_16($0, $1, $2, $3, $4, $5) }
    }

    package static func keep(
        _ rows: Span<UInt32>,
        _ codes: Span<UInt32>,
        _ wanted: Span<UInt32>,
        into out: inout MutableSpan<UInt32>
    ) -> Int {
        precondition(wanted.count == 4, "not four codes")
        return unsafe Self.run(rows, codes, wanted, &out) { unsafe ckernels_keep_32($0, $1, $2, $3, $4, $5) }
    }

    /// Copies the rows whose code's entry is 1 to the front of `out`; returns how many they are.
    /// Precondition: room for all, a code for each row, and an entry for every code of 8 bits.
    package static func pick(
        _ rows: Span<UInt32>,
        _ codes: Span<UInt8>,
        _ table: Span<UInt8>,
        into out: inout MutableSpan<UInt32>
    ) -> Int {
        precondition(table.count >= 1 << 8, "too few entries")
        return unsafe Self.run(rows, codes, table, &out) { unsafe ckernels_pick_8($0, $1, $2, $3, $4, $5) }
    }

    package static func pick(
        _ rows: Span<UInt32>,
        _ codes: Span<UInt16>,
        _ table: Span<UInt8>,
        into out: inout MutableSpan<UInt32>
    ) -> Int {
        precondition(table.count >= 1 << 16, "too few entries")
        return unsafe Self.run(rows, codes, table, &out) { unsafe ckernels_pick_16($0, $1, $2, $3, $4, $5) }
    }

    @inline(__always)
    private static func run<Code: BitwiseCopyable, Entry: BitwiseCopyable>(
        _ rows: Span<UInt32>,
        _ codes: Span<Code>,
        _ entries: Span<Entry>,
        _ out: inout MutableSpan<UInt32>,
        _ loop: (
            UnsafePointer<UInt32>, Int, UnsafePointer<Code>, Int, UnsafePointer<Entry>, UnsafeMutablePointer<UInt32>
        ) -> Int
    ) -> Int {
        precondition(out.count >= rows.count, "too little room")
        return unsafe rows.withUnsafeBufferPointer { rows in
            unsafe codes.withUnsafeBufferPointer { codes in
                unsafe entries.withUnsafeBufferPointer { entries in
                    unsafe out.withUnsafeMutableBufferPointer { out in
                        guard let source = rows.baseAddress, let codeStart = codes.baseAddress,
                            let entryStart = entries.baseAddress, let target = out.baseAddress
                        else { return 0 }
                        let kept = unsafe loop(source, rows.count, codeStart, codes.count, entryStart, target)
                        precondition(kept >= 0, "a row beyond the column")
                        return kept
                    }
                }
            }
        }
    }

    /// out[place + i] = numbers[i] + difference, modulo 2^32. Precondition: room for all.
    package static func add(
        _ numbers: Span<UInt32>,
        _ difference: UInt32,
        into out: inout MutableSpan<UInt32>,
        at place: Int
    ) {
        precondition(place >= 0 && out.count - place >= numbers.count, "too little room")
        unsafe numbers.withUnsafeBufferPointer { numbers in
            unsafe out.withUnsafeMutableBufferPointer { out in
                guard let source = numbers.baseAddress, let target = out.baseAddress else { return }
                unsafe ckernels_add(source, numbers.count, difference, target + place)
            }
        }
    }
}
