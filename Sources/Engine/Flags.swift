/// Yes-or-no properties as bits of a number.
extension OptionSet where Element == Self, RawValue: FixedWidthInteger {
    @inline(__always)
    subscript(flag: Self) -> Bool {
        get { self.rawValue & flag.rawValue != 0 }
        set { self = Self(rawValue: newValue ? self.rawValue | flag.rawValue : self.rawValue & ~flag.rawValue) }
    }
}
