import Engine
import HTTPTransport
import IntentMatching
import Partitions
import Serving
import WidgetModel

/// Bulk export, in the form that an import reads.
extension HostRoutes {
    /// The header that says where the next page begins; there is none on the last.
    package static let nextHeader = "freshet-next"

    /// `GET /v1/apps/<bundle-id>/hosts`: the app's hosts with whole tokens, a registration a line, page by page.
    ///
    /// `limit` counts hosts; one with several tokens has a line for each.
    func exportHosts(_ call: Call<AppAsker>) async throws(Problem) -> HTTPResponse {
        let limit = try self.pageLimit(call)
        let cursor = try call.cursor("from", below: self.log.rowBounds)
        let hosts = RegistrationList(of: call.asker.app.bundle)
        let page = try await self.log.walk(hosts, from: cursor, limit: limit)
        var response = HTTPResponse(lines: page.rows.joined().map { Self.line($0) })
        if let next = page.next { response.headers.append(Self.nextHeader, next) }
        return response
    }

    /// The line of an import that registers the same.
    private static func line(_ registration: HostRegistration) -> JSONValue {
        JSONValue.object(of: [
            ("token", .string(registration.token.hex)),
            ("addToken", registration.registrant == .backEndAddingToken ? .bool(true) : nil),
            ("host", .string(registration.host.id.rawValue)),
            ("app", .string(registration.app.rawValue)),
            ("revision", .unsigned(registration.revision)),
            ("delivery", .string("\(registration.delivery)")),
            ("lease", registration.lease.map { .int(($0.milliseconds + 999) / 1000) }),
            ("context", Self.context(registration.context)),
            ("instances", .array(registration.instances.map { Self.instance($0) })),
        ])
    }

    private static func instance(_ instance: InstanceRegistration) -> JSONValue {
        guard case .object(let members) = Views.instance(instance), let token = instance.controlToken else {
            return Views.instance(instance)
        }
        return .object(members + [JSONValue.Member(name: "controlToken", value: .string(token.hex))])
    }

    private static func context(_ context: HostContext) -> JSONValue? {
        guard context != HostContext() else { return nil }
        return JSONValue.object(of: [
            (
                "displaySize",
                context.width == nil && context.height == nil
                    ? nil
                    : JSONValue.object(of: [
                        ("width", context.width.map { .double($0) }), ("height", context.height.map { .double($0) }),
                    ])
            ),
            (
                "environmentVariants",
                context.environmentVariants.isEmpty
                    ? nil : JSONValue.object(of: context.environmentVariants.map { ($0.name, .strings($0.values)) })
            ),
            ("locale", context.locale.map { .string($0) }),
            ("timeZone", context.timeZone.map { .string($0) }),
        ])
    }
}
