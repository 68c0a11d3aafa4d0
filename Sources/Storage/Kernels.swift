import CKernels

/// The loops in C, with their bounds checked. Tests hold them to the same loops in Swift.
package enum Kernels {
    /// Sets the bits of the codes that equal `code`, and clears the others. Precondition: a word for each 64 codes.
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

    /// Sets the bits of the codes whose entry is 1, and clears the others. Precondition: `table` has an entry for every code, 256 here.
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

    /// Copies the rows whose code is one of the four in `wanted` to the front of `out`; returns their number.
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

    /// Copies the rows whose code's entry is 1 to the front of `out`; returns their number. Precondition: room for all,
    /// a code for each row, and an entry for every code of 8 bits.
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
