/// Numbers at and beside the ends of their types and of what dates are made of: what a peer sends who looks for a trap.
package enum Extremes {
    /// Of 64 bits with sign: its ends, those of smaller types, and milliseconds and seconds of far dates.
    package static let integers: [Int64] = [
        .min, .min + 1, .min / 1000, -9_223_372_036_855, -62_167_219_200_000, -4_294_967_296, -86_400_000, -1001, -1, 0,
        1,
        999, 1000, 65_535, 65_536, 2_147_483_647, 2_147_483_648, 4_294_967_294, 4_294_967_295, 4_294_967_296,
        253_402_300_799,
        4_102_444_800_000, 4_294_967_294_000, 4_294_967_295_000, 253_402_300_799_999, 9_007_199_254_740_993,
        9_223_372_036_854_775, 9_223_372_036_854_776, .max / 1000 + 1, .max - 1, .max,
    ]
    /// Of 64 bits without sign.
    package static let unsigned: [UInt64] = [
        0, 1, 255, 256, 1 << 31, 1 << 32, 1 << 53 + 1, 1 << 62, 1 << 63, .max - 1, .max,
    ]
    /// Finite numbers that JSON can say.
    package static let doubles: [Double] = [
        -.greatestFiniteMagnitude, -1e300, -0x1p63, -1e18, -0.0, .leastNonzeroMagnitude, 0.5, 1.5, 9.3e15, 0x1p63,
        0x1p64, 1e300,
        .greatestFiniteMagnitude,
    ]
}
