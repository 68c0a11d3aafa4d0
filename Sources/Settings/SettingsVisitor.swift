import WidgetModel

/// The required content of a file.
package enum FilePurpose: Hashable, Sendable {
    /// One certificate or more, in PEM.
    case certificates
    /// A private key in PEM.
    case privateKey
    /// A private or a public key in PEM.
    case providerKey
    /// Revoked certificates: lists in PEM, or a fingerprint a line.
    case revocationList
    /// A secret that signatures are made with.
    case secret
    /// Operators' access tokens, one a line.
    case operatorTokens
    /// A token on the first line that the gateway shows to another server.
    case bearerToken
    /// The secret of a user of NATS brokers.
    case brokerSecret
    /// A folder that is made if it is not there.
    case folder
}

/// One walk over all keys of the configuration.
///
/// ``GatewayConfiguration/visit(_:)`` names every key once, with the place of its value; reading a file, reading the
/// environment, printing and listing the keys are visitors. A visitor may change the value it is shown.
protocol SettingsVisitor {
    /// - Parameters:
    ///   - key: The key within the section that is being visited.
    ///   - value: Where the value is, at first the default.
    ///   - type: How it is written.
    ///   - isRequired: Whether there is no default.
    mutating func scalar<Value>(_ key: String, _ value: inout Value, _ type: SettingType<Value>, isRequired: Bool)
    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ type: SettingType<Value>)
    /// The name of a file, relative to the folder of the file that names it.
    mutating func file(_ key: String, _ value: inout String, _ purpose: FilePurpose, isRequired: Bool)
    mutating func optionalFile(_ key: String, _ value: inout String?, _ purpose: FilePurpose)
    mutating func scalars<Value>(_ key: String, _ values: inout [Value], _ type: SettingType<Value>)
    /// A list that is different from none.
    ///
    /// - Parameter mayBeEmpty: Whether a list of nothing means something.
    mutating func optionalScalars<Value>(
        _ key: String,
        _ values: inout [Value]?,
        _ type: SettingType<Value>,
        mayBeEmpty: Bool
    )
    /// Texts that may not stand in the configuration file, and are never printed.
    mutating func secrets(_ key: String, _ values: inout [Secret])
    /// A value of any shape.
    mutating func json(_ key: String, _ value: inout JSONValue?)
    mutating func section(_ key: String, _ body: (inout Self) -> Void)
    mutating func optionalSection<Value>(
        _ key: String,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    )
    /// A list of sections.
    mutating func records<Value>(
        _ key: String,
        _ values: inout [Value],
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    )
    /// A name, or a section in its place.
    mutating func nameOrSection<Value>(
        _ key: String,
        _ name: inout String?,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    )
    /// Reports a fault of the value of a key, a path from the section that is being visited.
    mutating func fault(_ path: String, _ sentence: String)
}

extension SettingsVisitor {
    mutating func scalar<Value>(_ key: String, _ value: inout Value, _ type: SettingType<Value>) {
        self.scalar(key, &value, type, isRequired: false)
    }

    mutating func optionalScalars<Value>(_ key: String, _ values: inout [Value]?, _ type: SettingType<Value>) {
        self.optionalScalars(key, &values, type, mayBeEmpty: false)
    }

    mutating func file(_ key: String, _ value: inout String, _ purpose: FilePurpose) {
        self.file(key, &value, purpose, isRequired: false)
    }

    mutating func fault(_ path: String, _ sentence: String) {}
}
