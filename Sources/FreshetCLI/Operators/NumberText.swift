/// Numbers as people read them.
enum NumberText {
    /// A number with a name for it, in the singular of one: `1 entry`, `2,000 entries`.
    ///
    /// - Parameter many: The plural; nil for the singular with an s.
    static func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(Self.grouped(number)) \(number == 1 ? one : many ?? one + "s")"
    }

    /// With a comma between each three digits.
    static func grouped(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }
}
