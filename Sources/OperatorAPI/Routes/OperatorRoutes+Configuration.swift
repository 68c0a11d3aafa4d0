import HTTPTransport
import Partitions
import Serving
import Settings
import WidgetModel

extension OperatorRoutes {
    /// `GET /v1/config`: the configuration in force without its secrets, and the result of its last reading.
    func configuration(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        guard let reloading = self.settings.reloading, case .object(let members) = Views.report(reloading.report) else {
            throw Problem(.notSupported, "this gateway has no configuration to show")
        }
        let file = reloading.file
        let amendments = try await reloading.amendments().map { AmendmentView($0, file).json }
        let more: [JSONValue.Member] = [
            .init(name: "amendments", value: .array(amendments)),
            .init(name: "configuration", value: ConfigurationFile.json(of: reloading.inForce)),
        ]
        return HTTPResponse(json: .object(members + more))
    }

    /// `GET /v1/config/diff`: the changes, orphans and refusals that reading it again would bring.
    func configurationDifference(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        guard let reloading = self.settings.reloading else {
            throw Problem(.notSupported, "this gateway has no configuration to read")
        }
        return HTTPResponse(json: Views.difference(try await reloading.compare()))
    }

    /// `POST /v1/config/reload`: reads the configuration again; 409 if anything is wrong with it.
    func reloadConfiguration(_: OperatorCall) throws(Problem) -> Change {
        Change { () async throws(Problem) in
            guard let reloading = self.settings.reloading else {
                throw Problem(.notSupported, "this gateway has no configuration to read")
            }
            let report = try await reloading.reload()
            return HTTPResponse(status: report.faults.isEmpty ? 200 : 409, json: Views.report(report))
        }
    }
}
