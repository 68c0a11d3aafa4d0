import Engine
import HostAPI
import IntentMatching
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

@Suite struct RegistrationBodyTests {
    private static func read(_ text: String, instancesMax: Int = 2) throws -> (RegistrationBody?, Problem?) {
        var object = try RequestObject(try json(text))
        do throws(Problem) {
            return (try RegistrationBody(&object, apps: Sports.served, instancesMax: instancesMax), nil)
        } catch {
            return (nil, error)
        }
    }

    /// A body with these members beside the app.
    private static func body(_ members: String, instances: String = "[]") -> String {
        #"{"app":"com.example.scores","instances":\#(instances)\#(members.isEmpty ? "" : ",")\#(members)}"#
    }

    /// A body with one instance of which these members are other than usual.
    private static func instance(
        id: String = #""a""#,
        kind: String = #""scores""#,
        family: String = #""systemSmall""#,
        _ more: String = ""
    ) -> String {
        Self.body("", instances: #"[{"id":\#(id),"kind":\#(kind),"family":\#(family)\#(more)}]"#)
    }

    @Test(arguments: [64, 65])
    func `a host has at most 64 environment variants, and each at most 64 values`(count: Int) throws {
        func variants(_ members: [String]) -> String {
            Self.body(#""context":{"environmentVariants":{\#(members.joined(separator: ","))}}"#)
        }
        let values = (0..<count).map { #""\#($0)""# }.joined(separator: ",")
        let (many, manyRefusal) = try Self.read(variants((0..<count).map { #""v\#($0)":["light"]"# }))
        let (long, longRefusal) = try Self.read(variants([#""v":[\#(values)]"#]))
        guard count == 64 else {
            #expect(Place(manyRefusal) == Place(.tooLarge, "context.environmentVariants"))
            #expect(manyRefusal?.detail == "has 65 members, at most 64 are allowed")
            #expect(Place(longRefusal) == Place(.tooLarge, "context.environmentVariants.v"))
            return
        }
        #expect(many?.context.environmentVariants.count == 64)
        #expect(long?.context.environmentVariants.first?.values.count == 64)
        let name = String(repeating: "n", count: 257)
        #expect(try Self.read(variants([#""\#(name.dropLast())":[]"#])).1 == nil)
        let refusal = try Self.read(variants([#""\#(name)":[]"#])).1
        #expect(Place(refusal) == Place(.badRequest, "context.environmentVariants"))
    }

    @Test func `everything that may be said is read`() throws {
        let text = Self.body(
            #"""
            "host":"phone-17","revision":4,"delivery":"stream","lease":604800,"replaces":"AbCd",
            "context":{"displaySize":{"width":170,"height":170.5},"locale":"en-US","timeZone":"America/Los_Angeles",
            "environmentVariants":{"colorScheme":["light","dark"],"empty":[]}}
            """#,
            instances: #"""
                [{"id":"a","kind":"scores","family":"systemSmall","configuration":{"team":"seahawks"},
                "pushEnabled":false,"tags":["beta"],"controlToken":"0102"},
                {"id":"b","kind":"scores","family":"accessoryCircular"}]
                """#
        )
        let body = try #require(try Self.read(text).0)
        #expect(body.app == Sports.app)
        #expect(body.host == HostID("phone-17"))
        #expect(body.revision == 4)
        #expect(body.lease == .days(7))
        #expect(body.replacedToken == DeviceToken(bytes: [0xAB, 0xCD]))
        #expect(
            body.context
                == HostContext(
                    width: 170,
                    height: 170.5,
                    environmentVariants: [
                        HostContext.Variant(name: "colorScheme", values: ["light", "dark"]),
                        HostContext.Variant(name: "empty", values: []),
                    ],
                    locale: "en-US",
                    timeZone: "America/Los_Angeles"
                )
        )
        let team = Configuration([Configuration.Parameter(name: "team", value: .string("seahawks"))])
        #expect(
            body.instances == [
                InstanceRegistration(
                    id: InstanceID("a"),
                    kind: Sports.scores.kind,
                    family: .systemSmall,
                    configuration: team,
                    pushEnabled: false,
                    tags: ["beta"],
                    controlToken: DeviceToken(bytes: [1, 2])
                ),
                InstanceRegistration(
                    id: InstanceID("b"),
                    kind: Sports.scores.kind,
                    family: .accessoryCircular,
                    configuration: Configuration([]),
                    pushEnabled: true
                ),
            ]
        )
    }

    @Test func `app and instances are enough`() throws {
        let body = try #require(try Self.read(Self.body("")).0)
        #expect(body.host == nil)
        #expect(body.revision == 0)
        #expect(body.lease == nil)
        #expect(body.replacedToken == nil)
        #expect(body.context == HostContext())
        #expect(body.instances == [])
    }

    @Test(
        arguments: [
            (#"{"instances":[]}"#, Place(.badRequest, "app")),
            (#"{"app":"com.example.unserved","instances":[]}"#, Place(.badRequest, "app")),
            (#"{"app":"com.example.scores"}"#, Place(.badRequest, "instances")),
            (Self.body("", instances: "{}"), Place(.badRequest, "instances")),
            (Self.body("", instances: "[1]"), Place(.badRequest, "instances[0]")),
            (Self.body(#""hots":"x""#), Place(.badRequest, "hots")),
            (Self.body(#""host":"""#), Place(.badRequest, "host")),
            (Self.body(#""host":"a:b""#), Place(.badRequest, "host")),
            (Self.body(#""host":"a/b""#), Place(.badRequest, "host")),
            (Self.body(#""host":"a b""#), Place(.badRequest, "host")),
            (Self.body(#""host":"ä""#), Place(.badRequest, "host")),
            (Self.body(#""revision":-1"#), Place(.badRequest, "revision")),
            (Self.body(#""revision":1.5"#), Place(.badRequest, "revision")),
            (Self.body(#""revision":9223372036854775808"#), Place(.badRequest, "revision")),
            (Self.body(#""delivery":"apns""#), Place(.notSupported, "delivery")),
            (Self.body(#""lease":0"#), Place(.badRequest, "lease")),
            (Self.body(#""lease":31622401"#), Place(.badRequest, "lease")),
            (Self.body(#""replaces":"abc""#), Place(.badRequest, "replaces")),
            (Self.body(#""context":[]"#), Place(.badRequest, "context")),
            (Self.body(#""context":{"zone":"x"}"#), Place(.badRequest, "context.zone")),
            (Self.body(#""context":{"locale":1}"#), Place(.badRequest, "context.locale")),
            (Self.body(#""context":{"displaySize":{"depth":1}}"#), Place(.badRequest, "context.displaySize.depth")),
            (Self.body(#""context":{"displaySize":{"width":"1"}}"#), Place(.badRequest, "context.displaySize.width")),
            (Self.body(#""context":{"environmentVariants":"x"}"#), Place(.badRequest, "context.environmentVariants")),
            (
                Self.body(#""context":{"environmentVariants":{"scheme":"dark"}}"#),
                Place(.badRequest, "context.environmentVariants.scheme")
            ),
            (
                Self.body(#""context":{"environmentVariants":{"scheme":["dark",1]}}"#),
                Place(.badRequest, "context.environmentVariants.scheme[1]")
            ),
        ] as [(String, Place)]
    )
    func `a fault in what is said of the host names its place`(text: String, place: Place) throws {
        #expect(Place(try Self.read(text).1) == place)
    }

    @Test(
        arguments: [
            (Self.instance(id: #""""#), Place(.badRequest, "instances[0].id")),
            (Self.instance(id: "1"), Place(.badRequest, "instances[0].id")),
            (Self.instance(id: #""a\ndata: x""#), Place(.badRequest, "instances[0].id")),
            (Self.instance(id: #""a\r""#), Place(.badRequest, "instances[0].id")),
            (Self.instance(kind: #""weather""#), Place(.unknownKind, "instances[0].kind")),
            (Self.instance(kind: #""secret""#), Place(.unknownKind, "instances[0].kind")),
            (Self.instance(family: #""huge""#), Place(.badRequest, "instances[0].family")),
            (Self.instance(#","configuration":[]"#), Place(.badConfiguration, "instances[0].configuration")),
            (
                Self.instance(#","configuration":{"team":1}"#),
                Place(.badConfiguration, "instances[0].configuration.team")
            ),
            (
                Self.instance(#","configuration":{"city":"x"}"#),
                Place(.badConfiguration, "instances[0].configuration.city")
            ),
            (Self.instance(#","when":[]"#), Place(.badRequest, "instances[0].when")),
            (Self.instance(#","when":{"$family":"systemSmall"}"#), Place(.badRequest, "instances[0].when.$family")),
            (Self.instance(#","pushEnabled":1"#), Place(.badRequest, "instances[0].pushEnabled")),
            (Self.instance(#","tags":["a",2]"#), Place(.badRequest, "instances[0].tags[1]")),
            (Self.instance(#","controlToken":"xy""#), Place(.badRequest, "instances[0].controlToken")),
            (Self.instance(#","size":1"#), Place(.badRequest, "instances[0].size")),
            (
                Self.body(
                    "",
                    instances: #"[{"id":"a","kind":"scores","family":"systemSmall"},"#
                        + #"{"id":"a","kind":"scores","family":"systemLarge"}]"#
                ),
                Place(.badRequest, "instances[1].id")
            ),
        ] as [(String, Place)]
    )
    func `a fault in an instance names its place`(text: String, place: Place) throws {
        #expect(Place(try Self.read(text).1) == place)
    }

    @Test(arguments: [(127, true), (128, true), (129, false)])
    func `ids of hosts and instances have at most 128 bytes`(length: Int, isTaken: Bool) throws {
        let id = String(repeating: "x", count: length)
        let host = try Self.read(Self.body(#""host":"\#(id)""#))
        let instance = try Self.read(Self.instance(id: #""\#(id)""#))
        #expect(Place(host.1) == (isTaken ? nil : Place(.badRequest, "host")))
        #expect(Place(instance.1) == (isTaken ? nil : Place(.badRequest, "instances[0].id")))
    }

    @Test(arguments: [(1, true), (2, true), (3, false)])
    func `a host has at most so many instances`(count: Int, isTaken: Bool) throws {
        let instances = (0..<count).map { #"{"id":"\#($0)","kind":"scores","family":"systemSmall"}"# }
        let text = Self.body("", instances: "[\(instances.joined(separator: ","))]")
        #expect(Place(try Self.read(text).1) == (isTaken ? nil : Place(.tooLarge, "instances")))
    }

    @Test(arguments: [(1, true), (31_622_400, true), (31_622_401, false)])
    func `a lease is a second to a year`(seconds: Int, isTaken: Bool) throws {
        #expect((try Self.read(Self.body(#""lease":\#(seconds)"#)).1 == nil) == isTaken)
    }
}
