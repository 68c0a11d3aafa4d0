import Settings
import TestSupport
import Testing

/// Damaged configuration files.
@Suite struct ConfigurationPropertyTests {
    /// A file with everything in it, comments left out.
    private static let whole = ExampleFile.uncommented.split(separator: "\n")
        .filter { !$0.drop { $0 == " " }.hasPrefix("#") }
        .joined(separator: "\n")

    @Test func `the file that is going to be damaged is whole`() throws {
        #expect(try ConfigurationFile.parse(Self.whole).configuration.apps.count == 1)
    }

    /// One of the ways in which people and editors damage a file.
    private static func damage(_ lines: inout [String], using generator: inout SplitMix64) {
        let place = Int.random(in: 0..<lines.count, using: &generator)
        let other = Int.random(in: 0..<lines.count, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: lines.remove(at: place)
        case 1: lines.insert(lines[other], at: place)
        case 2: lines.swapAt(place, other)
        case 3: lines[place] = " " + lines[place]
        case 4: lines[place] = String(lines[place].dropFirst())
        case 5:
            let line = Array(lines[place].unicodeScalars)
            let cut = line.isEmpty ? 0 : Int.random(in: 0..<line.count, using: &generator)
            lines[place] = String(String.UnicodeScalarView(line[..<cut]))
        case 6:
            let marks = [
                "{", "}", "[", "]", ":", "- ", "\"", "'", "&a ", "*a", "!!int ", "|", "\t", "\u{0}", "é", "9e999", "~",
            ]
            lines[place] += marks[Int.random(in: 0..<marks.count, using: &generator)]
        default:
            guard let colon = lines[place].firstIndex(of: ":") else { return }
            let values = [
                "-1", "99999999999999999999", "true", "[]", "{}", "x", "\"\"", "1/0", "0s", "24h", "none", "*a",
            ]
            let value = values[Int.random(in: 0..<values.count, using: &generator)]
            lines[place] = "\(lines[place][...colon]) \(value)"
        }
    }

    @Test(arguments: UInt64(0)..<64)
    func `a damaged file is either a configuration that prints as itself, or faults`(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<20 {
            var lines = Self.whole.split(separator: "\n").map(String.init)
            for _ in 0..<Int.random(in: 1...4, using: &generator) { Self.damage(&lines, using: &generator) }
            let text = lines.joined(separator: "\n")
            do throws(SettingsError) {
                let configuration = try ConfigurationFile.parse(text).configuration
                let printed = ConfigurationFile.text(of: configuration)
                let again = try? ConfigurationFile.parse(printed).configuration
                #expect(again == configuration, "seed \(seed):\n\(text)")
            } catch {
                let isGood = !error.faults.isEmpty && error.faults.allSatisfy { !$0.description.contains("\n") }
                #expect(isGood, "seed \(seed):\n\(error)\n\(text)")
            }
        }
    }
}
