import Settings
import Testing
import WidgetModel

/// The configuration of certificates.
@Suite struct ConfigurationCertificateTests {
    private func faults(_ text: String) -> [String] {
        do throws(SettingsError) {
            _ = try ConfigurationFile.parse(text, name: "f.yaml")
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test func `every key of client certificates has its place`() throws {
        let configuration = try ConfigurationFile.parse(
            """
            tls: {clientCA: ca.pem, checkInterval: 1m}
            clientCertificates: {unnamed: topics, revocationList: revoked.pem}
            listeners: {push: {priorKnowledge: false}}
            limits: {maxStreamsBeforeToken: 1}
            timeouts: {keepAlive: 10m, keepAliveAnswer: 1m}
            """,
            folders: ConfigurationFile.Folders(file: "/etc/freshet")
        ).configuration
        #expect(configuration.certificateCheck == .minutes(1))
        #expect(configuration.clientCertificates.unnamed == .topics)
        #expect(configuration.clientCertificates.revocationList == "/etc/freshet/revoked.pem")
        #expect(!configuration.listeners.push.acceptsPriorKnowledge)
        #expect(configuration.limits.streamsBeforeTokenMax == 1)
        #expect(configuration.timeouts.keepAlive == .minutes(10))
        #expect(configuration.timeouts.keepAliveAnswer == .minutes(1))
    }

    @Test func `topics can be believed only of certificates that are asked for`() {
        #expect(
            self.faults("clientCertificates: {unnamed: topics}") == [
                "f.yaml:1:31: clientCertificates.unnamed: needs tls.clientCA, without which no client is asked for a "
                    + "certificate"
            ]
        )
        #expect(self.faults("tls: {clientCA: ca.pem}\nclientCertificates: {unnamed: topics}") == [])
    }

    @Test func `a certificate belongs to one team`() {
        let text = """
            tls: {clientCA: ca.pem}
            teams:
              - {id: TEAM1, keys: []}
              - {id: TEAM2, keys: []}
            apps:
              - bundleID: com.example.one
                team: TEAM1
                allowedClientCertificates: [{userID: shared}, {userID: own}]
              - bundleID: com.example.two
                team: TEAM2
                allowedClientCertificates: [{userID: shared}]
              - bundleID: com.example.three
                team: TEAM1
                allowedClientCertificates: [{userID: own}]
            """
        #expect(
            self.faults(text) == [
                "f.yaml:11:33: apps[1].allowedClientCertificates[0]: is also in apps[0], an app of another team; "
                    + "a certificate belongs to one team"
            ]
        )
    }

    @Test func `a limit of streams and a time to look are bounded`() {
        #expect(self.faults("limits: {maxStreamsBeforeToken: 0}").count == 1)
        #expect(self.faults("limits: {maxStreamsBeforeToken: 1}") == [])
        #expect(self.faults("limits: {maxStreamsBeforeToken: 100000}") == [])
        #expect(self.faults("limits: {maxStreamsBeforeToken: 100001}").count == 1)
        #expect(self.faults("tls: {checkInterval: 500ms}").count == 1)
        #expect(self.faults("tls: {checkInterval: 1s}") == [])
        #expect(self.faults("tls: {checkInterval: 25h}").count == 1)
    }
}
