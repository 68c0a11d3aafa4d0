import APNSWire
package import HTTPTransport
package import Partitions
package import WidgetModel

extension HTTPResponse {
    /// A JSON answer.
    package init(status: Int = 200, json: JSONValue) {
        self.init(status: status, headers: ["content-type": "application/json"], body: .bytes(json.jsonText))
    }

    /// JSON, a value a line.
    package init(lines: some Sequence<JSONValue>) {
        var text: [UInt8] = []
        for line in lines {
            line.append(to: &text)
            text.append(UInt8(ascii: "\n"))
        }
        let headers: HTTPFields = ["content-type": "application/x-ndjson", "cache-control": "no-store"]
        self.init(status: 200, headers: headers, body: .bytes(text))
    }

    package init(problem: Problem) {
        self.init(
            status: problem.code.status,
            headers: ["content-type": "application/problem+json", "cache-control": "no-store"],
            body: .bytes(problem.json.jsonText)
        )
        if problem.code.status == 401 { self.headers["www-authenticate"] = "Bearer" }
        if let allowed = problem.allowed { self.headers["allow"] = allowed }
        switch problem.code {
        case .unavailable, .overShare: self.headers["retry-after"] = String(Problem.retryAfterSeconds)
        case .storageFull: self.headers["retry-after"] = String(StorageWatch.retryAfterSeconds)
        default: break
        }
        if let seconds = problem.retryAfter { self.headers["retry-after"] = String(seconds) }
    }
}
