import APNSWire
import IntentMatching
import Timelines
import WidgetModel

extension GatewayConfiguration {
    mutating func visitApps(_ visitor: inout some SettingsVisitor) {
        let named = self.namedPolicies
        let empty = App(bundleID: BundleID(""), team: TeamID(""))
        visitor.records("apps", &self.apps, empty: empty) { app, visitor in
            app.visit(&visitor, policies: named)
        }
    }
}

extension GatewayConfiguration.App {
    mutating func visit(_ visitor: inout some SettingsVisitor, policies: [BudgetPolicy]) {
        visitor.scalar("bundleID", &self.bundleID, .bundleID, isRequired: true)
        visitor.scalar("team", &self.team, .teamID, isRequired: true)
        visitor.scalars("extraTopics", &self.extraTopics, .topic)
        visitor.scalar("environment", &self.environment, .choice())
        visitor.optional("maxTokenDigits", &self.tokenDigitsMax, .integer(2...1024))
        visitor.scalar("unknownTokens", &self.unknownTokens, .choice())
        let wasStrict = self.isStrict
        visitor.scalar("strict", &self.isStrict, .flag)
        if self.isStrict, !wasStrict { (self.defaultExpiration, self.defaultPriority) = (.days(30), .high) }
        visitor.scalar("defaultExpiration", &self.defaultExpiration, .duration(.zero ... .days(30)))
        visitor.scalar("defaultPriority", &self.defaultPriority, .priority)
        visitor.scalar("developerMode", &self.isDeveloperMode, .flag)
        visitor.optional("maxMatched", &self.matchedMax, .integer(1...1_000_000_000))
        visitor.optional("pushMax", &self.pushMax, .duration(.zero ... .hours(1)))
        visitor.scalar("channels", &self.hasChannels, .flag)
        visitor.scalar("streamLimit", &self.streamLimit, .choice())
        visitor.rate("rateLimit", &self.rateLimit)
        visitor.optional("maxHosts", &self.hostsMax, .registryCount)
        visitor.optional("maxInstances", &self.instancesMax, .registryCount)
        visitor.scalars("origins", &self.origins, .origin)
        self.visitCertificates(&visitor)
        var budget = BudgetChoice(self.budget, named: policies)
        budget.visit("budget", &visitor, named: policies)
        self.budget = budget.policy(named: policies) ?? .widgetkit
        visitor.optionalSection("upstream", &self.upstream, empty: .init()) { $0.visit(&$1) }
        visitor.optionalSection("webhook", &self.webhook, empty: .init()) { $0.visit(&$1) }
        visitor.optionalSection("receipts", &self.receipts, empty: .init()) { $0.visit(&$1) }
        self.visitKinds(&visitor, policies: policies)
    }

    private mutating func visitCertificates(_ visitor: inout some SettingsVisitor) {
        var drafts = self.clientCertificates.map { ClientCertificateDraft($0) }
        visitor.records("allowedClientCertificates", &drafts, empty: ClientCertificateDraft()) { draft, visitor in
            visitor.optional("fingerprint", &draft.fingerprint, .fingerprint)
            visitor.optional("userID", &draft.userID, .label)
            visitor.optionalScalars("topics", &draft.topics, .topic)
            if (draft.fingerprint == nil) == (draft.userID == nil) {
                visitor.fault("", "needs either fingerprint (SHA-256 of the certificate) or userID (the subject's UID)")
            }
        }
        self.clientCertificates = drafts.map(\.certificate)
    }

    private mutating func visitKinds(_ visitor: inout some SettingsVisitor, policies: [BudgetPolicy]) {
        var drafts = self.kinds.map { KindDraft($0, policies: policies, appBudget: self.budget) }
        visitor.records("kinds", &drafts, empty: KindDraft()) { draft, visitor in
            visitor.scalar("kind", &draft.name, .label, isRequired: true)
            draft.budget.visit("budget", &visitor, named: policies)
            visitor.scalar("usesLocation", &draft.usesLocation, .flag)
            visitor.optionalSection("timelineProvider", &draft.timelineProvider, empty: .empty) { $0.visit(&$1) }
            visitor.json("sample", &draft.sample)
            let sampleMax = GatewayConfiguration.Kind.sampleBytesMax
            if let sample = draft.sample, sample.jsonText.count > sampleMax {
                visitor.fault("sample", "is longer than \(sampleMax.grouped) bytes as JSON")
            }
            visitor.records("parameters", &draft.parameters, empty: ParameterDraft()) { parameter, visitor in
                parameter.visit(&visitor)
            }
            draft.buildSchema(&visitor)
        }
        self.kinds = drafts.map { draft in
            var kind = GatewayConfiguration.Kind(
                schema: draft.schema,
                budget: draft.budget.policy(named: policies) ?? self.budget,
                usesLocation: draft.usesLocation,
                sample: draft.sample
            )
            kind.timelineProvider = draft.timelineProvider
            return kind
        }
    }
}

extension SettingType<Priority> {
    static let priority = SettingType(
        phrase: "1, 5 or 10",
        isText: false,
        value: { text in UInt8(text).flatMap { Priority(rawValue: $0) } },
        json: { .int(Int64($0.rawValue)) },
        schema: JSONSchema.choice([.int(1), .int(5), .int(10)])
    )
}

extension SettingType<[UInt8]> {
    static let fingerprint = SettingType(
        phrase: "the 64 hex digits of a certificate's SHA-256 (openssl x509 -noout -fingerprint -sha256)",
        isText: true,
        value: { SettingRules.sha256($0) },
        json: { .string(Base16.text(of: $0)) },
        schema: JSONSchema.anyText
    )
}

/// A client certificate as the file names it.
private struct ClientCertificateDraft: Sendable {
    var fingerprint: [UInt8]?
    var userID: String?
    var topics: [String]?

    init() {}

    init(_ certificate: GatewayConfiguration.ClientCertificate) {
        switch certificate.name {
        case .fingerprint(let bytes): self.fingerprint = bytes
        case .userID(let text): self.userID = text
        }
        self.topics = certificate.topics
    }

    var certificate: GatewayConfiguration.ClientCertificate {
        // With neither, the fault has been reported and the configuration is never used.
        let name = self.fingerprint.map { GatewayConfiguration.ClientCertificate.Name.fingerprint($0) }
        return .init(name: name ?? .userID(self.userID ?? ""), topics: self.topics)
    }
}

/// A kind as the file writes it, before its parameters are a schema.
private struct KindDraft: Sendable {
    var name = ""
    var budget = BudgetChoice()
    var usesLocation = false
    var timelineProvider: GatewayConfiguration.TimelineProvider?
    var sample: JSONValue?
    var parameters: [ParameterDraft] = []
    /// The schema that ``buildSchema(_:)`` made.
    private(set) var schema = Self.bareSchema(of: "")

    init() {}

    init(_ kind: GatewayConfiguration.Kind, policies: [BudgetPolicy], appBudget: BudgetPolicy) {
        self.name = kind.schema.kind.rawValue
        self.schema = kind.schema
        self.usesLocation = kind.usesLocation
        self.timelineProvider = kind.timelineProvider
        self.sample = kind.sample
        self.budget = kind.budget == appBudget ? BudgetChoice() : BudgetChoice(kind.budget, named: policies)
        self.parameters = kind.schema.parameters.map { ParameterDraft($0) }
    }

    /// Makes the schema; a parameter's fault is reported at the parameter.
    mutating func buildSchema(_ visitor: inout some SettingsVisitor) {
        var schemas: [ParameterSchema] = []
        for (index, draft) in self.parameters.enumerated() where !draft.name.isEmpty {
            switch draft.schema {
            case .success(let schema): schemas.append(schema)
            case .failure(let fault): visitor.fault("parameters[\(index)].\(fault.key)", fault.sentence)
            }
        }
        let kind = WidgetKind(self.name)
        // One fault of a schema is thrown at a time: take its parameter out and look again.
        while true {
            do throws(SchemaError) {
                self.schema = try KindSchema(kind: kind, parameters: schemas)
                return
            } catch {
                let name = error.parameter
                let index = self.parameters.lastIndex { $0.name == name }
                visitor.fault(index.map { "parameters[\($0)]" } ?? "parameters", error.sentence)
                guard let name, let last = schemas.lastIndex(where: { $0.name == name }) else { break }
                schemas.remove(at: last)
            }
        }
        self.schema = Self.bareSchema(of: self.name)
    }

    private static func bareSchema(of name: String) -> KindSchema {
        guard let schema = try? KindSchema(kind: WidgetKind(name)) else {
            preconditionFailure("a kind without parameters has no fault")
        }
        return schema
    }
}

/// A parameter as the file writes it.
private struct ParameterDraft: Sendable {
    var name = ""
    var type = ParameterType.string
    var isArray = false
    var isRequired = false
    var defaultValue: JSONValue?
    var cases: [String] = []

    init() {}

    init(_ schema: ParameterSchema) {
        self.name = schema.name
        self.type = schema.type
        self.isArray = schema.isArray
        self.isRequired = schema.isRequired
        self.defaultValue = schema.defaultValue.map { Self.json($0) }
        self.cases = schema.cases
    }

    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.scalar("name", &self.name, .label, isRequired: true)
        visitor.scalar("type", &self.type, .name(of: ParameterType.allCases.map { ($0.name, $0) }), isRequired: true)
        visitor.scalar("array", &self.isArray, .flag)
        visitor.scalar("required", &self.isRequired, .flag)
        visitor.json("default", &self.defaultValue)
        visitor.scalars("cases", &self.cases, .label)
    }

    struct SettingKeyError: Error {
        let key: String
        let sentence: String
    }

    var schema: Result<ParameterSchema, SettingKeyError> {
        let bare = ParameterSchema(
            self.name,
            self.type,
            isArray: self.isArray,
            isRequired: self.isRequired,
            cases: self.cases
        )
        guard let json = self.defaultValue else { return .success(bare) }
        // A default is read exactly as a configuration of a registration is.
        guard let probe = try? KindSchema(kind: WidgetKind("default"), parameters: [bare]) else {
            return .success(bare)
        }
        let wrapped = JSONValue.object([JSONValue.Member(name: self.name, value: json)])
        do throws(ConfigurationError) {
            let value = try probe.configuration(from: wrapped)[self.name]
            return .success(
                ParameterSchema(
                    self.name,
                    self.type,
                    isArray: self.isArray,
                    isRequired: self.isRequired,
                    defaultValue: value,
                    cases: self.cases
                )
            )
        } catch {
            return .failure(SettingKeyError(key: "default", sentence: error.sentence))
        }
    }

    private static func json(_ value: ParameterValue) -> JSONValue {
        switch value {
        case .string(let string): .string(string)
        case .int(let int): .int(int)
        case .double(let double): .double(double)
        case .bool(let bool): .bool(bool)
        case .date(let date): .string(RFC3339.text(of: date) ?? "")
        case .array(let elements): .array(elements.map { Self.json($0) })
        }
    }
}
