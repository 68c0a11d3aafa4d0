import Partitions
import Serving
import Synchronization
import Testing
import WidgetModel

@Suite struct RequestObjectTests {
    private static func object(_ text: String, at path: String = "") throws -> RequestObject {
        try RequestObject(try json(text), at: path)
    }

    @Test(
        arguments: [
            ("[]", "", "expected an object, found an array", nil),
            ("12", "lines[3]", "expected an object, found an integer", "lines[3]"),
        ] as [(String, String, String, String?)]
    )
    func `what is no object is refused with its place`(text: String, at: String, detail: String, path: String?) throws {
        let value = try json(text)
        #expect(
            problem { () throws(Problem) in try RequestObject(value, at: at) }
                == Problem(.badRequest, detail, path: path)
        )
    }

    @Test(arguments: [(#"{"a":null}"#, "a"), (#"{"o":{"b":null}}"#, "o.b")])
    func `a null is refused with its place`(text: String, path: String) throws {
        let value = try json(text)
        let found = problem { () throws(Problem) in
            var object = try RequestObject(value)
            _ = try object.object("o")
        }
        #expect(found == Problem(.badRequest, "is null, which means nothing here; leave it out", path: path))
    }

    @Test func `members of every type are read`() throws {
        var object = try Self.object(
            #"{"s":"text","b":true,"i":-3,"d":1.5,"n":2,"a":[1,"x"],"t":["x","y"],"o":{"in":1}}"#
        )
        #expect(try object.string("s") == "text")
        #expect(try object.requiredString("s") == "text")
        #expect(try object.bool("b") == true)
        #expect(try object.int("i", in: -3...3) == -3)
        #expect(try object.double("d") == 1.5)
        #expect(try object.double("n") == 2)
        #expect(try object.array("a", countMax: 2) == [.int(1), .string("x")])
        #expect(try object.strings("t", countMax: 2) == ["x", "y"])
        var inner = try #require(try object.object("o"))
        #expect(inner.path(of: "in") == "o.in")
        #expect(try inner.int("in", in: 0...1) == 1)
        #expect(try object.string("absent") == nil)
        #expect(problem { () throws(Problem) in try object.finish() } == nil)
    }

    /// Few members are compared, more are looked up.
    @Test(arguments: [1, 16, 17, 1000])
    func `a member is found among many, and what was not asked for is refused`(count: Int) throws {
        let members = (0..<count).map { #""m\#($0)":\#($0)"# }
        var object = try Self.object("{\(members.joined(separator: ","))}")
        for number in 0..<count - 1 { #expect(try object.int("m\(number)", in: 0...1000) == Int64(number)) }
        #expect(object.value("absent") == nil)
        #expect(problem { () throws(Problem) in try object.finish() }?.path == "m\(count - 1)")
        #expect(try object.int("m\(count - 1)", in: 0...1000) == Int64(count - 1))
        #expect(problem { () throws(Problem) in try object.finish() } == nil)
    }

    /// A name that counts how often it is compared.
    private struct CountedMember: NamedMember {
        final class Counter: Sendable {
            let count = Atomic(0)
        }

        struct Name: Hashable, Sendable {
            let text: String
            let comparisons: Counter

            static func == (left: Name, right: Name) -> Bool {
                left.comparisons.count.add(1, ordering: .relaxed)
                return left.text == right.text
            }

            func hash(into hasher: inout Hasher) { hasher.combine(self.text) }
        }

        let name: Name
    }

    /// A peer chooses how many members there are; looking each of them up one by one would be their number squared.
    @Test(arguments: [10, 1000, 10_000])
    func `looking a member up takes a few comparisons however many there are`(count: Int) {
        let counter = CountedMember.Counter()
        let members = (0..<count).map {
            CountedMember(name: CountedMember.Name(text: "m\($0)", comparisons: counter))
        }
        let named = NamedMembers(members)
        for member in members { #expect(named.first(named: member.name)?.name.text == member.name.text) }
        #expect(named.first(named: CountedMember.Name(text: "absent", comparisons: counter)) == nil)
        #expect(counter.count.load(ordering: .relaxed) < 16 * count)
    }

    @Test func `a member of the wrong type is refused with both types`() throws {
        var object = try Self.object(#"{"x":{}}"#, at: "signals[1]")
        let faults = [
            problem { () throws(Problem) in try object.string("x") },
            problem { () throws(Problem) in try object.bool("x") },
            problem { () throws(Problem) in try object.int("x", in: 0...1) },
            problem { () throws(Problem) in try object.double("x") },
            problem { () throws(Problem) in try object.array("x", countMax: 1) },
        ]
        let expected = ["a string", "true or false", "an integer", "a number", "an array"]
        #expect(
            faults
                == expected.map { Problem(.badRequest, "expected \($0), found an object", path: "signals[1].x") }
        )
    }

    @Test func `strings in lists are refused with their place`() throws {
        var object = try Self.object(#"{"t":["x",3],"l":["ok","long"]}"#)
        #expect(
            problem { () throws(Problem) in try object.strings("t", countMax: 2) }
                == Problem(.badRequest, "expected a string, found an integer", path: "t[1]")
        )
        #expect(
            problem { () throws(Problem) in try object.strings("l", countMax: 2, bytesMax: 3) }
                == Problem(.badRequest, "is longer than 3 bytes", path: "l[1]")
        )
    }

    @Test func `limits hold at their edge`() throws {
        var object = try Self.object(#"{"s":"äb","e":"","a":[1,2],"i":5}"#)
        #expect(try object.string("s", bytesMax: 3) == "äb")
        #expect(
            problem { () throws(Problem) in try object.string("s", bytesMax: 2) }
                == Problem(.badRequest, "is 3 bytes, at most 2 are allowed", path: "s")
        )
        #expect(
            problem { () throws(Problem) in try object.requiredString("e") }
                == Problem(.badRequest, "must not be empty", path: "e")
        )
        #expect(
            problem { () throws(Problem) in try object.requiredString("none") }
                == Problem(.badRequest, "is required: a string", path: "none")
        )
        #expect(
            problem { () throws(Problem) in try object.array("a", countMax: 1) }
                == Problem(.tooLarge, "has 2 elements, at most 1 are allowed", path: "a")
        )
        #expect(
            problem { () throws(Problem) in try object.int("i", in: 0...4) }
                == Problem(.badRequest, "is 5, expected 0 to 4", path: "i")
        )
    }

    @Test func `an integer of more than 63 bits is a number like others`() throws {
        var object = try Self.object(#"{"i":9223372036854775808}"#)
        #expect(
            problem { () throws(Problem) in try object.int("i", in: 0...Int64.max) }
                == Problem(.badRequest, "is 9223372036854775808, expected 0 to 9223372036854775807", path: "i")
        )
        #expect(try object.double("i") == 0x1p63)
    }

    @Test func `a member that was not asked for is refused and the known ones are named`() throws {
        var object = try Self.object(#"{"kind":"scores","mach":{}}"#)
        _ = try object.string("kind")
        _ = object.value("match")
        #expect(
            problem { () throws(Problem) in try object.finish() }
                == Problem(.badRequest, "is unknown; the members are kind, match", path: "mach")
        )
    }
}
