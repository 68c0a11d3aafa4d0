package import WidgetModel

/// A number of a pattern or a configuration in the one form that equal numbers have: 1 and 1.0 are both `.int(1)`.
///
/// Hence `==` and a dictionary tell numbers apart exactly, also integers beyond 2^53 from the doubles next to them.
package enum ExactNumber: ByteCoded, Hashable, Sendable {
    /// Every integer that fits.
    case int(Int64)
    /// Only integers above `Int64.max`.
    case unsigned(UInt64)
    /// Only numbers that are no integer of 64 bits. Finite.
    case double(Double)

    package init(_ int: Int64) {
        self = .int(int)
    }

    package init(_ unsigned: UInt64) {
        self = unsigned > UInt64(Int64.max) ? .unsigned(unsigned) : .int(Int64(unsigned))
    }

    /// Nil for NaN and the infinities.
    package init?(_ double: Double) {
        guard double.isFinite else { return nil }
        // Not `Int64(exactly:)`, which calls libm; a program of pure targets alone does not link it.
        if double >= -0x1p63, double < 0x1p63, Double(Int64(double)) == double {
            self = .int(Int64(double))
        } else if double >= 0x1p63, double < 0x1p64 {
            // Doubles of this size are whole.
            self = .unsigned(UInt64(double))
        } else {
            self = .double(double)
        }
    }

    /// The double that is this very number, or nil if there is none.
    package var exactDouble: Double? {
        let double: Double =
            switch self {
            case .int(let int): Double(int)
            case .unsigned(let unsigned): Double(unsigned)
            case .double(let double): double
            }
        return ExactNumber(double) == self ? double : nil
    }

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .int(let int):
            writer.write(byte: 0)
            writer.write(signed: int)
        case .unsigned(let unsigned):
            writer.write(byte: 1)
            writer.write(fixed64: unsigned)
        case .double(let double): writer.write(tag: 2, double)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        let number: ExactNumber? =
            switch try reader.readByte() {
            case 0: ExactNumber(try reader.readSigned())
            case 1: ExactNumber(try reader.readFixed64())
            case 2: ExactNumber(try reader.readDouble())
            default: nil
            }
        guard let number else { throw .invalid(offset: start) }
        self = number
    }
}

extension ExactNumber: Comparable {
    package static func < (left: ExactNumber, right: ExactNumber) -> Bool {
        switch (left, right) {
        case (.int(let left), .int(let right)): left < right
        case (.unsigned(let left), .unsigned(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.int, .unsigned): true
        case (.unsigned, .int): false
        case (.int(let left), .double(let right)): Self.isLess(left, than: right)
        case (.double(let left), .int(let right)): !Self.isLess(right, than: left)
        // A double that is no integer of 64 bits is far below 2^63 or at least 2^64.
        case (.unsigned, .double(let right)): right >= 0x1p64
        case (.double(let left), .unsigned): left < 0x1p64
        }
    }

    /// Whether an integer is less than a double that equals no integer of 64 bits.
    private static func isLess(_ int: Int64, than double: Double) -> Bool {
        if double >= 0x1p63 { return true }
        if double < -0x1p63 { return false }
        // Cut off towards zero: the integer next to `double` below it if positive, above it if negative.
        let whole = Int64(double)
        return double > 0 ? int <= whole : int < whole
    }
}
