import Settings

/// The settings of a verb about the gateway that it talks to. Each has a variable and, except for a token that is good for an hour, a key
/// in a context.
enum GatewaySetting: String, CaseIterable, Sendable {
    /// The listener for operators.
    case server
    /// The listeners for senders and for hosts, where they are not at ``server`` with their usual ports.
    case pushServer, hostServer
    /// How its certificate is believed.
    case ca, serverName
    /// A client certificate and its key.
    case cert, certKey
    /// An operator's token: in a file, itself, or in the gateway's data directory.
    case tokenFile, operatorToken, dataDirectory
    /// The parts from which a sender mints provider tokens, or a minted one.
    case key, kid, team, providerToken

    /// The variable that says it.
    var variable: String { EnvironmentNames.name(of: self.rawValue) }

    /// Whether it is the path of a file or folder.
    var isPath: Bool {
        switch self {
        case .ca, .cert, .certKey, .tokenFile, .dataDirectory, .key: true
        case .server, .pushServer, .hostServer, .serverName, .operatorToken, .kid, .team, .providerToken: false
        }
    }

    /// Those that a context may say.
    static let ofContexts = Self.allCases.filter { $0 != .providerToken }
}

/// One of a gateway's listeners.
enum GatewayListener: Sendable {
    case ops, push, host

    /// The port that it has by default.
    var port: Int {
        switch self {
        case .ops: 9443
        case .push: 2197
        case .host: 8443
        }
    }

    /// The setting that has its address.
    var setting: GatewaySetting {
        switch self {
        case .ops: .server
        case .push: .pushServer
        case .host: .hostServer
        }
    }
}
