import ArgumentParser
import Foundation
import HTTPTransport

/// A gateway's address and the credential for it, as options, variables and contexts say together, the first of them first.
///
/// A context is of one gateway. It counts only where it says which one is talked to, so that no token or key of it is shown to
/// another.
struct GatewayAccess: Sendable {
    /// Values of one origin.
    struct Layer: Sendable {
        enum Origin: Hashable, Sendable {
            case options
            case variables
            case context(String)
        }

        let origin: Origin
        let values: [GatewaySetting: String]

        /// Where a value of it stands, for messages.
        func place(of setting: GatewaySetting) -> String {
            switch self.origin {
            case .options: "the command line"
            case .variables: setting.variable
            case .context(let name): "the context \(name)"
            }
        }
    }

    /// In the order in which they count.
    let layers: [Layer]
    /// The listener's host name or address, and its port.
    let host: String
    let port: Int
    /// Where the address was found: an option, a variable, a context or the default.
    let place: String

    /// - Parameters:
    ///   - listener: The listener that is talked to.
    ///   - options: The settings from the command line.
    ///   - context: The context that it names.
    ///   - environment: The process's variables.
    /// - Throws: `ValidationError` if the address is none, ``ContextFile/ReadError`` if there is no such context.
    init(
        _ listener: GatewayListener,
        options: [GatewaySetting: String] = [:],
        context: String? = nil,
        environment: [String: String]
    ) throws {
        var layers = [Layer(origin: .options, values: options)]
        func isNamed() -> Bool {
            layers.contains { $0.values[listener.setting] != nil || $0.values[.server] != nil }
        }
        let path = ContextFile.path(environment)
        if let context {
            guard !isNamed() else { throw ValidationError("--context gives the gateway's address: leave out --server") }
            layers.append(try Self.layer(context, try ContextFile.read(path), path))
        }
        layers.append(Layer(origin: .variables, values: Self.variables(environment)))
        if !isNamed() {
            let file = try ContextFile.read(path)
            let name = environment[ContextFile.nameVariable].flatMap { $0.isEmpty ? nil : $0 } ?? file.current
            if let name { layers.append(try Self.layer(name, file, path)) }
        }
        self.layers = layers
        (self.host, self.port, self.place) = try Self.address(of: listener, layers)
    }

    private static func layer(
        _ context: String,
        _ file: ContextFile,
        _ path: String
    ) throws(ContextFile.ReadError) -> Layer {
        Layer(origin: .context(context), values: try file.context(context, path).values)
    }

    private static func variables(_ environment: [String: String]) -> [GatewaySetting: String] {
        var values: [GatewaySetting: String] = [:]
        for setting in GatewaySetting.allCases {
            guard let text = environment[setting.variable], !text.isEmpty else { continue }
            values[setting] = text
        }
        return values
    }

    private static func address(
        of listener: GatewayListener,
        _ layers: [Layer]
    ) throws(ValidationError) -> (host: String, port: Int, place: String) {
        for layer in layers {
            if let text = layer.values[listener.setting] {
                let place = layer.place(of: listener.setting)
                guard let found = Self.parse(text) else { throw Self.noAddress(text, place) }
                return (found.host, found.port ?? listener.port, place)
            }
            // Beside the listener that is named, where it is by default.
            if let text = layer.values[.server] {
                let place = layer.place(of: .server)
                guard let found = Self.parse(text) else { throw Self.noAddress(text, place) }
                return (found.host, listener.port, place)
            }
        }
        return ("127.0.0.1", listener.port, "the default")
    }

    private static func noAddress(_ text: String, _ place: String) -> ValidationError {
        ValidationError(
            "\"\(text)\" (\(place)) is not a gateway's address; give one as in https://gateway.example.com:9443"
        )
    }

    private static func parse(_ text: String) -> (host: String, port: Int?)? {
        guard let url = URL(string: text), url.scheme == "https", let host = url.host(), !host.isEmpty,
            url.path.isEmpty || url.path == "/"
        else { return nil }
        return (host.trimmingCharacters(in: ["[", "]"]), url.port)
    }

    // MARK: Values

    /// The value that is in force, and where it is written.
    func value(_ setting: GatewaySetting) -> (text: String, place: String)? {
        for layer in self.layers {
            if let text = layer.values[setting] { return (text, layer.place(of: setting)) }
        }
        return nil
    }

    /// The listener's address, as in `https://127.0.0.1:9443`.
    var url: String { "https://\(self.host.contains(":") ? "[\(self.host)]" : self.host):\(self.port)" }

    /// Whether the gateway is on this machine.
    var isOnThisMachine: Bool {
        self.host == "localhost" || self.host == "::1" || self.host.hasPrefix("127.") && IPAddress(self.host) != nil
    }
}
