import FoundationEssentials
import Settings
import Testing
import Timelines
import WidgetModel

/// Budget policies as files: the presets', and an operator's own.
@Suite struct PolicyFileTests {
    private static let folder: String = {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath().path
        let root = file.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(root)/deploy/policies"
    }()

    @Test func `there is a file for every preset, and no other`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder).sorted()
        #expect(files == BudgetPolicy.presets.map { "\($0.name).yaml" }.sorted())
    }

    @Test(arguments: BudgetPolicy.presets)
    func `a preset's file says what the program does`(preset: BudgetPolicy) throws {
        let text = try String(contentsOfFile: "\(Self.folder)/\(preset.name).yaml", encoding: .utf8)
        #expect(try PolicyFile.parse(text, name: preset.name) == preset)
    }

    private static let own = """
        name: newspaper
        source: our readers
        date: "2026-11-21"
        preset: widgetkit
        rare: 2
        """

    @Test func `a policy starts from a preset and says where it is from`() throws {
        let policy = try PolicyFile.parse(Self.own, name: "newspaper.yaml")
        #expect([policy.name, policy.source, policy.date] == ["newspaper", "our readers", "2026-11-21"])
        #expect([policy.rare, policy.typical, policy.frequent] == [2, 40, 70])
    }

    @Test(
        arguments: [("", .minutes(5)), ("smoothing: 0s", .zero), ("smoothing: 1h", .hours(1))] as [(String, Interval)]
    )
    func `a policy says over which slot its timelines' reloads are spread`(line: String, slot: Interval) throws {
        #expect(try PolicyFile.parse("\(Self.own)\n\(line)", name: "newspaper.yaml").smoothing == slot)
    }

    @Test(arguments: [("", 1, 1), ("lowPower: 2", 2, 1), ("lowPower: 3/2", 3, 2)])
    func `a policy says how much low power slows its timelines down`(line: String, numerator: Int, denominator: Int)
        throws
    {
        let policy = try PolicyFile.parse("\(Self.own)\n\(line)", name: "newspaper.yaml")
        #expect(policy.lowPower == BudgetPolicy.Share(numerator, of: denominator))
    }

    @Test(
        arguments: [
            ("", [""]), ("name: newspaper", ["source", "date"]), (Self.own + "\nburstDivisor: 1", ["burstDivisor"]),
            (Self.own + "\nsmoothing: 3601s", ["smoothing"]), (Self.own + "\nsmoothing: -1s", ["smoothing"]),
            (Self.own + "\nlowPower: 1/2", ["lowPower"]), (Self.own + "\nlowPower: 101", ["lowPower"]),
            (Self.own + "\nlavish: 900", ["lavish"]), (Self.own + "\nfrequent: 3", ["typical"]),
        ] as [(String, [String])]
    )
    func `what is wrong with a file is told with its line`(text: String, paths: [String]) throws {
        let faults = try #require(throws: SettingsError.self) {
            try PolicyFile.parse(text, name: "newspaper.yaml")
        }
        #expect(faults.faults.map(\.path) == paths, "\(faults)")
        #expect(faults.description.hasPrefix("newspaper.yaml"), "\(faults)")
    }

    /// A configuration file in a folder of its own, with the policy's file beside it.
    private static func load(_ files: [String], policy: String = Self.own) throws -> GatewayConfiguration {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-policies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ text: String) throws {
            try text.write(toFile: folder.appending(path: name).path, atomically: true, encoding: .utf8)
        }
        try write("newspaper.yaml", policy)
        let key = "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"
        try write("key.pem", key)
        try write(
            "freshet.yaml",
            """
            listeners: {push: {enabled: false}, host: {enabled: false}, ops: {enabled: false}, health: {enabled: true}}
            teams: [{id: A1B2C3D4E5, keys: [{id: ABC123DEFG, file: key.pem}]}]
            policyFiles: [\(files.joined(separator: ", "))]
            apps:
              - {bundleID: com.example.scores, team: A1B2C3D4E5, budget: newspaper, kinds: [{kind: scores}]}
            """
        )
        return try ConfigurationFile.read(path: folder.appending(path: "freshet.yaml").path, environment: [:])
            .configuration
    }

    @Test func `apps name a policy that is in a file`() throws {
        let configuration = try Self.load(["newspaper.yaml"])
        #expect(configuration.apps.map(\.budget.rare) == [2])
        #expect(configuration.apps[0].kinds.map(\.budget.name) == ["newspaper"])
        #expect(configuration.policies == [])
        #expect(configuration.policy(named: "newspaper")?.source == "our readers")
    }

    @Test func `a file that is not there, says nothing good or takes a name twice is a fault`() throws {
        func sentence(_ files: [String], _ policy: String = Self.own) throws -> String {
            try #require(throws: SettingsError.self) { try Self.load(files, policy: policy) }.description
        }
        #expect(try sentence(["magazine.yaml"]).contains("magazine.yaml does not exist"))
        #expect(try sentence(["newspaper.yaml"], "rare: 2").contains("name: is missing"))
        #expect(try sentence(["newspaper.yaml", "newspaper.yaml"]).contains("which is in use"))
        let preset = Self.own.replacing("name: newspaper", with: "name: trmnl")
        #expect(try sentence(["newspaper.yaml"], preset).contains("which is in use"))
    }
}
