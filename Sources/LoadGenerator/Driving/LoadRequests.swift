/// The requests of each load, laid out once.
struct LoadRequests {
    private let scene: LoadScene
    private let run: UInt64
    private var templates: [RequestTemplate]
    /// Added to the revisions below, so that a later run's are newer than an earlier one's.
    private let firstRevision: Int
    private var revisions: [Int32]
    private var id = NumberedPushID.text(0, run: 0)
    private var token = Array(repeating: UInt8(ascii: "0"), count: LoadScene.tokenLength)
    private var number: Int64 = 0

    init(_ scene: LoadScene, _ target: LoadTarget, run: UInt64, firstRevision: Int) {
        self.scene = scene
        self.firstRevision = firstRevision
        self.run = run
        let scenario = scene.scenario
        let authorization = ("authorization", "bearer \(target.token)")
        let hasID = scenario.hasHosts || scenario.followed > 0
        self.templates = scenario.loads.map { load in
            let port = load.listener == .push ? target.pushPort : target.hostPort ?? target.pushPort
            let authority = "\(target.serverName):\(port)"
            let length = LoadScene.tokenLength
            var priority: [(name: String, value: String)] = []
            if let number = load.priority { priority = [("apns-priority", "\(number)")] }
            switch load.kind {
            case .pushes:
                return RequestTemplate(
                    method: "POST",
                    authority: authority,
                    path: scenario.path,
                    holeLength: length,
                    headers: [
                        authorization, ("apns-topic", "\(scenario.app).push-type.widgets"),
                        ("apns-push-type", "widgets"),
                    ] + priority,
                    hasID: hasID,
                    body: LoadScene.devicePush
                )
            case .targeted:
                return RequestTemplate(
                    method: "POST",
                    authority: authority,
                    path: "/v1/apps/\(scenario.app)/pushes",
                    headers: [authorization] + priority,
                    hasID: hasID
                )
            case .registrations:
                return RequestTemplate(
                    method: "PUT",
                    authority: authority,
                    path: "/v1/hosts/{}/widgets",
                    holeLength: length,
                    headers: [authorization, ("content-type", "application/json")]
                )
            case .signals, .reconnects:
                return RequestTemplate(
                    method: "POST",
                    authority: authority,
                    path: "/v1/hosts/{}/signals",
                    holeLength: length,
                    headers: [authorization, ("content-type", "application/json")],
                    body: Array("{\"signal\":\"widgetVisible\",\"instance\":\"w0\"}".utf8)
                )
            }
        }
        let registers = scenario.loads.contains { $0.kind == .registrations }
        self.revisions = registers ? Array(repeating: 0, count: scenario.hosts.count) : []
    }

    /// The number of the next operation; it is in the push's id.
    mutating func takeNumber() -> Int64 {
        self.number += 1
        return self.number
    }

    /// Sends a request of a load.
    ///
    /// - Parameters:
    ///   - exchange: Its facts, except for its stream. One that is sent again has the id that it had.
    ///   - connection: Where it goes.
    /// - Returns: False if the connection takes no more requests.
    mutating func send(_ exchange: Exchange, on connection: LoadConnection) -> Bool {
        let (load, subject) = (Int(exchange.load), Int(exchange.subject))
        switch self.scene.scenario.loads[load].kind {
        case .targeted:
            self.templates[load].body = self.scene.targetedPush(self.scene.scenario.loads[load].reach, value: subject)
        case .registrations:
            self.revisions[subject] += 1
            self.fillPath(load, subject)
            self.templates[load].body = self.scene.registration(
                subject,
                revision: self.firstRevision + Int(self.revisions[subject])
            )
        case .pushes, .signals, .reconnects:
            self.fillPath(load, subject)
        }
        if self.templates[load].hasID {
            NumberedPushID.write(exchange.number, run: self.run, into: &self.id)
            let id = self.id
            self.templates[load].setID(id.span)
        }
        return connection.submit(self.templates[load], exchange)
    }

    private mutating func fillPath(_ load: Int, _ host: Int) {
        self.scene.writeToken(host, into: &self.token)
        let token = self.token
        self.templates[load].fillPath(token.span)
    }
}
